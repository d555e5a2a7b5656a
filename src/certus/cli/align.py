"""``certus align``: the links of sentence pairs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING

from certus.align.drawing import draw_links
from certus.align.solution import Alignment
from certus.align.symmetrize import SYMMETRIZATIONS
from certus.cli.align_files import check_picture, write_phrases, write_pictures
from certus.cli.options import AlignOptions
from certus.cli.outputs import check_outputs
from certus.cli.streams import deliver, is_typed
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.formats.parallel import BARS, SentencePair, parse_pair, read_pairs
from certus.models.aligner import Aligner
from certus.models.loading import load
from certus.storage.files import check_encoding, open_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 256  # pairs aligned together


def run(model: str, inputs: list[str], options: AlignOptions) -> None:
    """Align the inputs and write links out."""
    check_encoding(options.encoding)
    if options.method not in ("exact", *SYMMETRIZATIONS):
        known = ", ".join(["exact", *SYMMETRIZATIONS])
        raise InvalidInput(f"there is no --method {options.method}; there are {known}")
    names = inputs or ["-"]
    beside = {"draw": options.draw, "phrases": options.phrases}
    outputs = {"output": options.output, **{what: path for what, path in beside.items() if path is not None}}
    check_outputs(outputs, [model, *names])
    check_picture(options.draw)
    aligner = open_aligner(model)
    waiting = is_typed(names)
    tally = Tally()
    found = align_pairs(aligner, read_inputs(names, options), options, 1 if waiting else BATCH, tally)
    with ExitStack() as stack:
        if options.phrases is not None:
            found = write_phrases(
                found, stack.enter_context(open_atomically(options.phrases)), options.max_phrase
            )
        if options.draw is not None:
            found = write_pictures(
                found, stack.enter_context(open_atomically(options.draw)), options.draw, aligner
            )
        deliver(write_alignments(found, options), options.output, options.encoding, waiting)
    if not options.quiet:
        print(tally.summarize(options.method), file=sys.stderr)


def open_aligner(path: str) -> Aligner:
    """Open an aligner, and nothing else."""
    model = load(path)
    if not isinstance(model, Aligner):
        raise InvalidInput(f"{path} holds no aligner; train one with certus train aligner")
    return model


def read_inputs(names: Sequence[str], options: AlignOptions) -> Iterator[SentencePair]:
    """Read pairs: a text with ``|||``, one file of pairs, or a file for each side."""
    if len(names) == 1 and BARS in names[0]:
        yield parse_pair(names[0], "<argument>")
    elif len(names) <= 2:
        for pair in read_pairs(*names, encoding=options.encoding, skip=options.skip):
            if pair.fault is not None:
                print(f"skipped: {pair.fault}", file=sys.stderr)
            yield pair
    else:
        raise InvalidInput(f"give one file of pairs or two files, source and target, not {len(names)} files")


class Tally:
    """Counts what was aligned."""

    def __init__(self) -> None:
        self.pairs = self.links = self.proven = self.empty = self.skipped = 0

    def add(self, pair: SentencePair, answer: Alignment) -> None:
        """Count a pair, or a line that could not be read."""
        if pair.fault is not None:
            self.skipped += 1
            return
        self.pairs += 1
        self.links += len(answer.links)
        self.proven += answer.optimal
        self.empty += not (pair.source and pair.target)

    def summarize(self, method: str) -> str:
        """Say it in a line."""
        text = f"{format_count(self.pairs, 'pair')}, {format_count(self.links, 'link')}"
        if method == "exact":
            text += f", {self.proven:,} proven optimal"
        text += f", {self.empty:,} with an empty side" if self.empty else ""
        return text + (f"; {format_count(self.skipped, 'line')} skipped" if self.skipped else "")


def align_pairs(
    aligner: Aligner, pairs: Iterator[SentencePair], options: AlignOptions, batch: int, tally: Tally
) -> Iterator[tuple[SentencePair, Alignment]]:
    """Align pairs in batches."""
    while several := list(islice(pairs, batch)):
        answers = aligner.align_batch(
            [pair.source for pair in several],
            [pair.target for pair in several],
            method=options.method,
            seconds=options.seconds,
            threads=options.threads,
        )
        for pair, answer in zip(several, answers, strict=True):
            tally.add(pair, answer)
            yield pair, answer


def write_alignments(found: Iterable[tuple[SentencePair, Alignment]], options: AlignOptions) -> Iterator[str]:
    """Write one line of links per pair, or a grid; if asked, after score, bound and status."""
    for pair, answer in found:
        before = f"{answer.score:.6g}\t{answer.bound:.6g}\t{answer.status.value}\t" if options.scores else ""
        if options.pretty:
            yield before + ("\n" if before else "")
            yield draw_links(pair.source, pair.target, answer.links) + "\n"
        elif options.probabilities and answer.probabilities is not None:
            links = zip(answer.links, answer.probabilities.tolist(), strict=True)
            yield before + " ".join(f"{i}-{j}:{p:.3f}" for (i, j), p in links) + "\n"
        else:
            yield f"{before}{answer}\n"
