"""``certus tag --consistent``: labels for files as a whole, in the format they come in."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from certus.cli.labelled import write_labelled
from certus.cli.options import SENTENCES, TagOptions
from certus.cli.outputs import check_outputs, check_writable
from certus.cli.streams import deliver, open_tagger, read_inputs, sort_out
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.formats import guess, read
from certus.models.loading import locate
from certus.storage.files import check_encoding

if TYPE_CHECKING:
    from certus.corpus import Consistent, Iteration


def run(model: str | None, inputs: list[str], options: TagOptions) -> None:
    """Label all inputs together and write them out; say on stderr what is proven."""
    from certus.corpus import tag

    check_options(options)
    weights = None if options.delta is None else parse_delta(options.delta)
    model, inputs = sort_out(model, inputs)
    check_outputs({"output": options.output}, [locate(model), options.known, *options.text, *inputs])
    if options.output is not None:
        check_writable(options.output, "output")
    tagger = open_tagger(model)
    if options.unproven:
        tagger.proof = False
    sentences = list(read_inputs(inputs, tagger, options))
    form, columns, encoding = options.format, options.columns, options.encoding
    found = tag(
        tagger,
        sentences,
        text=[sentence for name in options.text for sentence in read(name, form, columns, encoding=encoding)],
        delta=weights,
        seconds=options.seconds,
        memory=options.memory,
        threads=options.threads,
        known=None if options.known is None else read_words(options.known, encoding),
        progress=_ProgressLine(),
    )
    if not options.quiet:
        print(summarize(found), file=sys.stderr)
    answered = ((sentence, [answer]) for sentence, answer in zip(sentences, found.taggings, strict=True))
    deliver(write_labelled(tagger.target, answered, 1, options.proof), options.output, encoding)


def check_options(options: TagOptions) -> None:
    """Refuse the options of ``certus tag`` that are about sentences one by one, and files that cannot be."""
    for spelling in options.find_given(SENTENCES):
        raise InvalidInput(
            f"{spelling} does not go with --consistent, which labels all sentences as one problem"
        )
    check_encoding(options.encoding)
    guess.check(options.format, options.columns)


def parse_delta(text: str) -> tuple[float, ...]:
    """Read up to three numbers separated by commas."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise InvalidInput(
            f"--delta is {text!r}; up to three numbers are needed, such as 4 or 4,1,0"
        ) from None


def read_words(path: str, encoding: str) -> Collection[str]:
    """Return the words of a training file."""
    return {word for sentence in read(path, encoding=encoding) for word in sentence.words}


def summarize(found: Consistent) -> str:
    """Say in three lines what was done and what is proven."""
    stats = found.stats
    took, first = stats["solve_seconds"], max(stats["load_seconds"], 1e-9)
    gap = found.bound - found.score
    proven = found.complete and (gap == 0 or gap == math.inf)
    bound = f"at most {found.bound:.10g} is possible" if gap < math.inf else "no bound is known"
    proof = "all proven" if proven else f"{gap:.3g} below the bound"
    rounds = format_count(stats["iterations"], "iteration")
    where = " among the labels that the tagger's pruning leaves" if stats["pruned"] else ""
    return (
        f"{format_count(stats['constrained'], 'unknown word')} in {format_count(stats['nodes'], 'type')} "
        f"that should agree, {format_count(stats['components'], 'component')}; "
        f"{format_count(stats['text_sentences'], 'sentence')} of added text used\n"
        f"{100 * stats['certified']:.1f} % of sentences certified{where}, {proof}; "
        f"{rounds} took {took / first:.2f} of the time of tagging\n"
        f"all labels together score {found.score:.10g}; {bound}"
        + (", and less if --memory were larger" if stats["limited"] and gap else "")
    )


class _ProgressLine:
    """A line on stderr that tells how far it is, if somebody watches."""

    def __init__(self) -> None:
        self._watched, self._count = sys.stderr.isatty(), 0

    def __call__(self, iteration: Iteration) -> None:
        self._count += 1
        if self._watched:
            left = format_count(iteration.open, "type")
            told = f"iteration {self._count}: bound {iteration.bound:.2f}, {left} open"
            end = "\r" if iteration.open else "\r\033[K"
            print(f"\r\033[K{told}", end=end, file=sys.stderr, flush=True)
