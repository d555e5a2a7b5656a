"""``certus tag --consistent``: labels for files as a whole, in the format they come in."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from certus.cli.labelled import texts
from certus.cli.tag import deliver, open_tagger, sort_out, sources
from certus.errors import InvalidInput
from certus.formats import guess, read
from certus.storage.files import check_encoding

if TYPE_CHECKING:
    from certus.corpus import Consistent, Iteration


def run(
    model: str | None,
    inputs: list[str],
    *,
    text: Sequence[str] = (),
    delta: str | None = None,
    known: str | None = None,
    threads: int = 1,
    format: str | None = None,
    columns: str | None = None,
    encoding: str = "utf-8",
    output: str | None = None,
) -> None:
    """Label all inputs together and write them out; say on stderr what is proven."""
    from certus.corpus import tag

    check_encoding(encoding)
    guess.check(format, columns)
    weights = None if delta is None else parse_delta(delta)
    model, inputs = sort_out(model, inputs)
    tagger = open_tagger(model)
    sentences = list(sources(inputs, format, columns, encoding))
    more = [sentence for name in text for sentence in read(name, format, columns, encoding=encoding)]
    found = tag(
        tagger,
        sentences,
        text=more,
        delta=weights,
        threads=threads,
        known=None if known is None else words_of(known, encoding),
        progress=_Line(),
    )
    print(summary(found), file=sys.stderr)

    def labelled() -> Iterator[str]:
        for sentence, answer in zip(sentences, found.taggings, strict=True):
            yield from texts(tagger.target, sentence, [answer], 1)

    deliver(labelled(), output, encoding)


def check(**others: Any) -> None:
    """Refuse the options of ``certus tag`` that are about sentences one by one."""
    usual = {"k": 1, "confidence": False, "legal": None, "dictionary": None, "inference": None, "steps": 0}
    wrong = next((name for name, value in others.items() if value != usual[name]), None)
    if wrong is not None:
        option = "-k" if wrong == "k" else f"--{wrong}"
        raise InvalidInput(
            f"{option} does not go with --consistent, which labels all sentences as one problem"
        )


def parse_delta(text: str) -> tuple[float, ...]:
    """Read up to three numbers separated by commas."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise InvalidInput(
            f"--delta is {text!r}; up to three numbers are needed, such as 4 or 4,1,0"
        ) from None


def words_of(path: str, encoding: str) -> Collection[str]:
    """Return the words of a training file."""
    return {word for sentence in read(path, encoding=encoding) for word in sentence.words}


def summary(found: Consistent) -> str:
    """Say in two lines what was done and what is proven."""
    stats = found.stats
    took, first = stats["solve_seconds"], max(stats["load_seconds"], 1e-9)
    proof = "all proven" if found.complete else f"{found.bound - found.score:.3g} below the bound"
    rounds = f"{stats['iterations']} iteration{'s' if stats['iterations'] != 1 else ''}"
    where = " among the labels that the tagger's pruning leaves" if stats["pruned"] else ""
    return (
        f"{stats['constrained']:,} unknown words in {stats['nodes']:,} types that should agree, "
        f"{stats['components']:,} components; {stats['text_sentences']:,} sentences of added text used\n"
        f"{100 * stats['certified']:.1f} % of sentences certified{where}, {proof}; "
        f"{rounds} took {took / first:.2f} of the time of tagging"
    )


class _Line:
    """A line on stderr that tells how far it is, if somebody watches."""

    def __init__(self) -> None:
        self._watched, self._count = sys.stderr.isatty(), 0

    def __call__(self, iteration: Iteration) -> None:
        self._count += 1
        if self._watched:
            told = f"iteration {self._count}: bound {iteration.bound:.2f}, {iteration.open} types open"
            end = "\r" if iteration.open else "\r\033[K"
            print(f"\r\033[K{told}", end=end, file=sys.stderr, flush=True)
