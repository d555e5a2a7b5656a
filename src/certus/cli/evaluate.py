"""``certus evaluate``: how good a predicted file is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.bleu import looks_plain
from certus.cli.options import EvaluateOptions
from certus.errors import FormatError, InvalidInput
from certus.evaluation import (
    F1,
    AttachmentReport,
    Difference,
    EvaluationReport,
    Share,
    SpanReport,
    UniversalReport,
    compare,
    compare_attachment,
    measure_differences,
)
from certus.formats import read
from certus.formats.brackets import looks_bracketed
from certus.formats.pharaoh import looks_linked

if TYPE_CHECKING:
    from certus.annotation.sentence import Sentence


def run(gold: str, predicted: str, options: EvaluateOptions) -> None:
    """Compare files and print what is found."""
    train, against, format = options.train, options.against, options.format
    _check_stdin(gold, predicted, train, against)
    if format is None and options.columns is None and looks_linked(gold):
        from certus.cli.links import run as compare_alignments

        compare_alignments(gold, predicted, options)
        return
    if options.bleu or (format is None and options.columns is None and looks_plain(gold, predicted)):
        from certus.cli.bleu import run as compare_translations

        compare_translations(gold, predicted, options)
        return
    # Trees beside a tagged file are compared by their tags alone.
    trees = looks_bracketed(gold) and (predicted == "-" or looks_bracketed(predicted))
    if format == "brackets" or (format is None and options.columns is None and trees):
        from certus.cli.trees import run as compare_trees

        compare_trees(gold, predicted, options)
        return

    def read_sentences(path: str) -> Iterator[Sentence]:
        return read(path, format, options.columns, encoding=options.encoding)

    known = None if train is None else {word for sentence in read_sentences(train) for word in sentence.words}
    judged = None if options.judge is None else options.judge.replace(",", " ").split()

    def judge(path: str) -> EvaluationReport:
        try:
            return compare(read_sentences(gold), read_sentences(path), known, judged=judged)
        except FormatError as error:
            first = None if gold == "-" else next(iter(read_sentences(gold)), None)
            if first is None or first.layout.format not in ("text", "raw"):
                raise
            hint = f"{error.reason}. Translations are compared by --bleu"
            raise FormatError(hint, error.source, error.line) from None

    report = judge(predicted)
    other = None if against is None else judge(against)
    tested = [] if other is None else measure_differences(report, other)
    details = None
    if options.details:
        details = compare_attachment(read_sentences(gold), read_sentences(predicted))
    if options.json:
        more = {} if details is None else {"attachment": details.as_dict()}
        print(json.dumps(_as_dict(report, other, tested) | more, indent=1))
    else:
        console = Console()
        show(report, console if console.is_terminal else Console(width=120))
        for table in () if details is None else _lay_out_attachment(details):
            console.print(table)
        if other is not None:
            console.print(_lay_out_differences(tested, predicted, str(against)))


def _check_stdin(gold: str, predicted: str, train: str | None, against: str | None) -> None:
    """Refuse to read stdin twice; the gold file is read again for each prediction."""
    again = gold if against is not None else None
    if [gold, again, predicted, train, against].count("-") > 1:
        raise InvalidInput("stdin (-) can be read once only; give the other files by name")


def _as_dict(
    report: EvaluationReport, other: EvaluationReport | None, tested: list[Difference]
) -> dict[str, object]:
    found = report.as_dict()
    if other is not None:
        found["against"] = other.as_dict()
        found["differences"] = [
            {"name": d.name, "first": d.first, "second": d.second, "difference": d.difference, "p": d.p}
            for d in tested
        ]
    return found


def show(report: EvaluationReport, console: Console) -> None:
    """Print the tables of a report."""
    sentences, tokens = _count(report.sentences, "sentence"), _count(report.tokens, "token")
    console.print(Text(f"{sentences}, {tokens}", "dim"))
    if report.accuracies:
        console.print(_lay_out_accuracies(report))
    for spans in report.spans.values():
        if spans.name not in report.copied:
            console.print(_lay_out_spans(spans))
    if report.universal is not None and any(row.columns for row in report.universal.scores.values()):
        console.print(_lay_out_universal(report, report.universal))
    for note in describe_doubts(report):
        console.print(Text(note))


def describe_doubts(report: EvaluationReport) -> Iterator[str]:
    """Yield what a reader has to know before the figures can be trusted."""
    if report.copied:
        yield (
            f"{_join(report.copied)}: the same as in the gold file for every token, so copied and not judged "
            "(--judge NAMES judges columns all the same)."
        )
    if report.is_identical:
        yield "All columns are the same as in the gold file, so nothing tells which of them were predicted."
    if report.empty:
        yield f"{_join(report.empty)}: empty in the predicted file, so not judged."
    if not report.has_same_words:
        yield "The words or sentences of the two files differ; words are aligned by their characters."
    if report.universal is not None and (malformed := report.universal.malformed):
        yield (
            f"{malformed:,} of the predicted trees {'has' if malformed == 1 else 'have'} a cycle, several "
            "roots or a head outside of the sentence; their words are judged one by one."
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)


def _lay_out_accuracies(report: EvaluationReport) -> Table:
    """Lay out one row per column; known and unknown words only where they were told apart."""
    rows = list(report.accuracies.values())
    apart = any(row.known.total or row.unknown.total for row in rows)
    names = ["accuracy %", "95 % interval", *(("known", "unknown") if apart else ()), "sentences"]
    table = _make_table("", *names, *_head_of_copied(report))
    for row in rows:
        low, high = row.tokens.interval
        cells = [_format_share(row.tokens), f"{100 * low:.2f}–{100 * high:.2f}"]
        cells += [_format_share(row.known), _format_share(row.unknown)] if apart else []
        cells.append(_format_share(row.sentences))
        _add_row(table, row.name, cells, report, row.columns)
    if apart and rows:
        table.caption = f"{rows[0].unknown.total:,} of the tokens are words not seen in training"
    return table


def _lay_out_universal(report: EvaluationReport, universal: UniversalReport) -> Table:
    """Lay out the measures of the shared task; tokens, sentences and words only where they differ."""
    table = _make_table("CoNLL 2018", "F1 %", "precision", "recall", "aligned", *_head_of_copied(report))
    differ = any(row.f1 < 1 for row in universal.scores.values() if not row.columns)
    for name, row in universal.scores.items():
        if row.columns or differ:
            figures = [row.f1, row.precision, row.recall, row.aligned_accuracy]
            cells = ["–" if math.isnan(figure) else f"{100 * figure:.2f}" for figure in figures]
            _add_row(table, name, cells, report, row.columns)
    return table


def _head_of_copied(report: EvaluationReport) -> list[str]:
    return ["copied from gold"] if report.copied else []


def _add_row(
    table: Table, name: str, cells: list[str], report: EvaluationReport, columns: Sequence[str]
) -> None:
    """Add the figures of a measure, and which of its columns are copied; if all of them are, no figures.

    A measure of columns that were not predicted at all is left out.
    """
    if not set(report.empty).isdisjoint(columns):
        return
    copied = report.list_copied(columns)
    if copied and len(copied) == len(columns):
        cells = ["–"] * len(cells)
    ending = [_join(copied)] if report.copied else []
    table.add_row(name, Text(cells[0], "bold"), *cells[1:], *ending)


def _lay_out_spans(report: SpanReport) -> Table:
    table = _make_table(f"{report.name} spans", "F1 %", "precision", "recall", "gold", "predicted", "correct")
    rows: list[tuple[str, F1]] = list(report.types.items())
    for name, part in [*rows, ("all", report.total)]:
        figures = (f"{100 * figure:.2f}" for figure in (part.precision, part.recall))
        counts = (f"{count:,}" for count in (part.gold, part.predicted, part.correct))
        bold = "bold" if part is report.total else ""
        table.add_row(Text(name or "(no type)", bold), Text(f"{100 * part.f1:.2f}", bold), *figures, *counts)
    return table


def _lay_out_attachment(report: AttachmentReport) -> Iterator[Table]:
    """Lay out a table for each way to group words."""
    groups = {
        "relation": report.relations,
        "words in the sentence": report.lengths,
        "words to the head": report.distances,
        "gold tree": report.trees,
    }
    for name, rows in groups.items():
        table = _make_table(name, "words", "UAS", "LAS", "full LAS")
        for key, row in rows.items():
            shares = (f"{100 * share:.2f}" for share in (row.uas, row.las, row.full_las))
            table.add_row(key, f"{row.words:,}", *shares)
        yield table


def _lay_out_differences(rows: list[Difference], predicted: str, against: str) -> Table:
    table = _make_table("", predicted, against, "difference", "p")
    for row in rows:
        if row.first == row.second == 1.0:  # copied from the gold file by both
            continue
        p = Text(f"{row.p:.4f}", "bold green" if row.p < 0.05 else "")
        table.add_row(
            row.name, f"{100 * row.first:.2f}", f"{100 * row.second:.2f}", _format_difference(row), p
        )
    table.caption = "approximate randomisation over sentences, 10,000 trials"
    return table


def _format_difference(row: Difference) -> str:
    return f"{100 * row.difference:+.2f}"


def _format_share(share: Share) -> str:
    return f"{100 * share.accuracy:.2f}" if share.total else "–"


def _make_table(first: str, *names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    table.add_column(first, no_wrap=True)
    for name in names:
        table.add_column(name, justify="right")
    return table
