"""Labelled sentences as people read them: words, tags, confidence, proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from certus.annotation.sentence import Sentence
from certus.annotation.tagging import Tagging
from certus.annotation.targets import Target
from certus.cli.labelled import append_missing_columns, lay_out_columns, refuse_infeasible
from certus.cli.standard import make_printable


def show_labelled(target: Target, answered: Iterable[tuple[Sentence, Sequence[Tagging]]]) -> Iterator[str]:
    """Yield each answer of each sentence as a table, one line per word, with a line about how good it is.

    Args:
        target: what the labels are of.
        answered: sentences as they were read, each with its answers, best first.
    """
    for sentence, answers in answered:
        refuse_infeasible(sentence, answers)
        place = append_missing_columns(lay_out_columns(sentence, target), target, confident=False)
        for rank, answer in enumerate(answers, 1):
            columns = [sentence.words, *target.fill(place, answer.labels).values()]
            sure = answer.confidence or []
            columns.append([f"{p:4.0%}" for p in sure] or [""] * len(sentence))
            before = f"{rank}. " if len(answers) > 1 else ""
            yield f"{_lay_out(columns)}  {before}{describe_proof(answer)}\n\n"


def _lay_out(columns: Sequence[Sequence[str]]) -> str:
    """Return lines whose fields stand below one another; nothing stands for the "_" of files."""
    shown = [["" if cell == "_" else make_printable(cell) for cell in column] for column in columns]
    widths = [max(map(_measure_width, column)) for column in shown]
    lines = []
    for cells in zip(*shown, strict=True):
        padded = (c + " " * (w - _measure_width(c)) for c, w in zip(cells, widths, strict=True) if w)
        lines.append("  " + "  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _measure_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # takes longer to import than a sentence to tag

    return cell_len(text)


def describe_proof(answer: Tagging) -> str:
    """Say how good an answer is known to be."""
    score = f"score {answer.score:.6g}, {answer.claim}"
    if answer.probability is None or answer.probability_interval is None:
        return score
    least, most = (f"{p:.1%}" for p in answer.probability_interval)
    return f"probability {most if least == most else f'{least} to {most}'}, {score}"
