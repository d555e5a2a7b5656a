"""``certus evaluate`` for alignments."""

from __future__ import annotations

import json

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.options import EvaluateOptions
from certus.errors import InvalidInput
from certus.evaluation.links import AerDifference, LinkReport, compare_links, compare_reports
from certus.evaluation.phrases import compare_phrases
from certus.formats.pharaoh import read_links


def run(gold: str, predicted: str, options: EvaluateOptions) -> None:
    """Compare files of links and print what is found."""
    if options.train is not None or options.judge is not None:
        raise InvalidInput("alignments are compared without --train and --judge; leave them out")

    def judge(path: str) -> LinkReport:
        encoding = options.encoding
        return compare_links(read_links(gold, encoding=encoding), read_links(path, encoding=encoding))

    report = judge(predicted)
    phrases = None
    if options.details:
        right, guess = (list(read_links(path, encoding=options.encoding)) for path in (gold, predicted))
        phrases = compare_phrases(right, guess)
    other = None if options.against is None else judge(options.against)
    tested = None if other is None else compare_reports(report, other)
    if options.json:
        found = report.as_dict()
        if phrases is not None:
            found["phrases"] = phrases.as_dict()
        if other is not None and tested is not None:
            found["against"] = other.as_dict()
            found["difference"] = {
                "aer": tested.difference, "low": tested.low, "high": tested.high, "p": tested.p
            }  # fmt: skip
        print(json.dumps(found, indent=1))
        return
    console = Console()
    rows = {predicted: report} if other is None else {predicted: report, str(options.against): other}
    console = console if console.is_terminal else Console(width=120)
    show(rows, tested, console)
    if phrases is not None:
        figures = (f"{100 * x:.2f}" for x in (phrases.f1, phrases.precision, phrases.recall))
        console.print(
            "phrase pairs of {}: F1 {} %, precision {}, recall {}; {:,} predicted, {:,} gold".format(
                predicted, *figures, phrases.predicted, phrases.gold
            )
        )


def show(reports: dict[str, LinkReport], tested: AerDifference | None, console: Console) -> None:
    """Print the figures of reports."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    table.add_column("" if len(reports) > 1 else "pairs")
    for name in ("AER %", "F1 %", "precision", "recall", "predicted", "sure"):
        table.add_column(name, justify="right")
    for name, report in reports.items():
        figures = (f"{100 * x:.2f}" for x in (report.f1, report.precision, report.recall))
        predicted, _, _, sure = report.totals
        first = name if len(reports) > 1 else f"{len(report.counts):,}"
        table.add_row(first, Text(f"{100 * report.aer:.2f}", "bold"), *figures, f"{predicted:,}", f"{sure:,}")
    if tested is not None:
        table.caption = (
            f"difference of AER {100 * tested.difference:+.2f}, 95 % between {100 * tested.low:+.2f} and "
            f"{100 * tested.high:+.2f}, p {tested.p:.4f} (paired bootstrap over pairs, 10,000 samples)"
        )
    console.print(table)
