"""``certus evaluate`` for bracketed trees."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.options import EvaluateOptions
from certus.errors import InvalidInput
from certus.evaluation.evalb import SHORT, Brackets, TreeReport, compare
from certus.formats import brackets
from certus.storage.files import name_of


def run(gold: str, predicted: str, options: EvaluateOptions) -> None:
    """Compare files of trees and print what is found."""
    if options.train is not None or options.against is not None or options.judge is not None:
        raise InvalidInput("trees are compared without --train, --against and --judge; leave them out")
    encoding = options.encoding
    right = brackets.read(gold, encoding=encoding)
    found = brackets.read_answers(predicted, encoding=encoding)
    report = compare(right, found, sources=(name_of(gold), name_of(predicted)))
    if options.json:
        print(json.dumps(report.as_dict(), indent=1))
    else:
        console = Console()
        show(report, console if console.is_terminal else Console(width=120))


def show(report: TreeReport, console: Console) -> None:
    """Print the figures of a report."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    table.add_column("trees", justify="right")
    for name in ("F1 %", "precision", "recall", "exact", "tags", "crossing", "none", "at most 2"):
        table.add_column(name, justify="right")
    table.add_row(*_format_brackets(report.total))
    if report.short.sentences < report.total.sentences:
        table.add_row(*_format_brackets(report.short))
        table.caption = f"in the second row, sentences of at most {SHORT} words"
    console.print(table)
    for fault in describe_faults(report):
        console.print(Text(fault))


def describe_faults(report: TreeReport) -> Iterator[str]:
    """Yield a sentence about the trees that count as wrong as a whole, if there are any."""
    if report.failed:
        one = "1 sentence has" if len(report.failed) == 1 else f"{len(report.failed):,} sentences have"
        yield f"{one} no tree and count{'s' * (len(report.failed) == 1)} as wrong: {_list_few(report.failed)}"
    if report.mismatched:
        one = "1 tree is" if len(report.mismatched) == 1 else f"{len(report.mismatched):,} trees are"
        number, reason = next(iter(report.mismatched.items()))
        few = _list_few(list(report.mismatched))
        yield f"{one} over other words and count{'s' * (len(report.mismatched) == 1)} as wrong: {few}"
        yield f"in tree {number}, {reason}"


def _list_few(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")


def _format_brackets(found: Brackets) -> list[Text | str]:
    figures = (found.spans.precision, found.spans.recall, found.exact.accuracy, found.tags.accuracy)
    few = (found.no_crossing.accuracy, found.few_crossing.accuracy)
    return [
        f"{found.sentences:,}",
        Text(f"{100 * found.f1:.2f}", "bold"),
        *(f"{100 * figure:.2f}" for figure in figures),
        f"{found.crossing / max(found.sentences, 1):.2f}",
        *(f"{100 * figure:.2f}" for figure in few),
    ]
