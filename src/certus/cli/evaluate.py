"""``certus evaluate``: how good a predicted file is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.options import EvaluateOptions
from certus.errors import InvalidInput
from certus.evaluation import (
    F1,
    Accuracy,
    Difference,
    EvaluationReport,
    Share,
    SpanReport,
    compare,
    measure_differences,
)
from certus.formats import read
from certus.formats.brackets import looks_bracketed

if TYPE_CHECKING:
    from certus.annotation.sentence import Sentence


def run(gold: str, predicted: str, options: EvaluateOptions) -> None:
    """Compare files and print what is found."""
    train, against, format = options.train, options.against, options.format
    _check_stdin(gold, predicted, train, against)
    # Trees beside a tagged file are compared by their tags alone.
    trees = looks_bracketed(gold) and (predicted == "-" or looks_bracketed(predicted))
    if format == "brackets" or (format is None and options.columns is None and trees):
        from certus.cli.trees import run as compare_trees

        compare_trees(gold, predicted, options)
        return

    def read_sentences(path: str) -> Iterator[Sentence]:
        return read(path, format, options.columns, encoding=options.encoding)

    known = None if train is None else {word for sentence in read_sentences(train) for word in sentence.words}
    report = compare(read_sentences(gold), read_sentences(predicted), known)
    other = None if against is None else compare(read_sentences(gold), read_sentences(against), known)
    tested = [] if other is None else measure_differences(report, other)
    if options.json:
        print(json.dumps(_as_dict(report, other, tested), indent=1))
    else:
        console = Console()
        show(report, console if console.is_terminal else Console(width=120))
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
    console.print(Text(f"{report.sentences:,} sentences, {report.tokens:,} tokens", "dim"))
    console.print(_lay_out_accuracies(list(report.accuracies.values())))
    for spans in report.spans.values():
        console.print(_lay_out_spans(spans))


def _lay_out_accuracies(rows: list[Accuracy]) -> Table:
    """Lay out one row per column; known and unknown words only where they were told apart."""
    apart = any(row.known.total or row.unknown.total for row in rows)
    table = _make_table(
        "", "accuracy %", "95 % interval", *(("known", "unknown") if apart else ()), "sentences"
    )
    for row in rows:
        low, high = row.tokens.interval
        cells = [f"{100 * low:.2f}–{100 * high:.2f}"]
        cells += [_format_share(row.known), _format_share(row.unknown)] if apart else []
        table.add_row(row.name, Text(_format_share(row.tokens), "bold"), *cells, _format_share(row.sentences))
    if apart and rows:
        table.caption = f"{rows[0].unknown.total:,} of the tokens are words not seen in training"
    return table


def _lay_out_spans(report: SpanReport) -> Table:
    table = _make_table(f"{report.name} spans", "F1 %", "precision", "recall", "gold", "predicted", "correct")
    rows: list[tuple[str, F1]] = list(report.types.items())
    for name, part in [*rows, ("all", report.total)]:
        figures = (f"{100 * figure:.2f}" for figure in (part.precision, part.recall))
        counts = (f"{count:,}" for count in (part.gold, part.predicted, part.correct))
        bold = "bold" if part is report.total else ""
        table.add_row(Text(name or "(no type)", bold), Text(f"{100 * part.f1:.2f}", bold), *figures, *counts)
    return table


def _lay_out_differences(rows: list[Difference], predicted: str, against: str) -> Table:
    table = _make_table("", predicted, against, "difference", "p")
    for row in rows:
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
