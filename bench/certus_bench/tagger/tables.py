"""Lays out what the tagger benchmark found, in the shape of the papers' tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from certus.chain import METHODS
from certus_bench.entries import FLOOR
from certus_bench.plan import Row
from certus_bench.report import titled
from certus_bench.tagger.plan import Learning, Startup, Trained

_BEAM = "beam"
_ITERATIVE = ("auto", "staggered", "iterative")  # what goes over a lattice more than once


def speeds(rows: Sequence[Row], k: int) -> Group:
    """Sentences a second of every decoder, a column for each corpus (Kaji 1 and 4, Huang 4 and 5)."""
    title = f"decoders on trained lattices, k={k}: sentences a second, median [quartiles over sentences]"
    chosen = [row for row in rows if row.k == k and usual(row)]
    return titled(title, _by_corpus(chosen, _speed, "* so slow that one call on one sentence had to do"))


def usual(row: Row) -> bool:
    """Whether a method is asked for what it is made for: those for many paths find one as well."""
    return row.k > 1 or row.method not in METHODS or METHODS[row.method].one


def rounds(rows: Sequence[Row]) -> Group:
    """Lay out rounds over the lattice, and labels activated a token (Kaji 2, Huang 3)."""
    title = "rounds a sentence, and labels activated a token where labels are: means"
    chosen = [row for row in rows if row.method.startswith(_ITERATIVE) and row.k in (1, 5) and usual(row)]
    return titled(title, _by_corpus(chosen, _rounds, "", with_k=True))


def over_k(rows: Sequence[Row], corpus: str) -> Group:
    """Sentences a second as k grows (Huang's figure 4)."""
    chosen = [row for row in rows if row.lattice == corpus]
    ks = sorted({row.k for row in chosen})
    many = list(dict.fromkeys(row.method for row in chosen if row.k > 1))
    table = _table("method", *(f"k={k}" for k in ks))
    for method in many:
        found = {row.k: row for row in chosen if row.method == method}
        table.add_row(method, *(_speed(found[k]) if k in found else Text("–", "dim") for k in ks))
    return titled(f"{corpus}: sentences a second for the k best", table)


def _by_corpus(rows: Sequence[Row], cell: object, note: str, with_k: bool = False) -> Table:
    assert callable(cell)
    corpora = {row.lattice: row for row in rows}
    names = [f"{name}\nL={row.labels:,} T={row.length}" for name, row in corpora.items()]
    table = _table("method", *names)
    for method, k in dict.fromkeys((_general(row.method), row.k) for row in rows):
        found = {row.lattice: row for row in rows if (_general(row.method), row.k) == (method, k)}
        cells = [cell(found[name]) if name in found else Text("–", "dim") for name in corpora]
        style = "dim" if method == FLOOR else "cyan"
        table.add_row(Text(f"{method}, k={k}" if with_k else method, style), *cells)
    if note and any(row.once for row in rows):
        table.caption = note
    return table


def _general(method: str) -> str:
    """Put beams of different widths into one line; the cells name the width."""
    return _BEAM if method.startswith(f"{_BEAM} (") else method


def _speed(row: Row) -> Text:
    spread = row.spread
    text = Text(_per_second(spread.median), "bold" if row.method == "auto" else "")
    width = f" {row.method[len(_BEAM) + 1 :]}" if row.method.startswith(f"{_BEAM} (") else ""
    quartiles = "*" if row.once else f" [{_per_second(spread.high)}–{_per_second(spread.low)}]"
    return text.append(f"{width}{quartiles}", "not bold dim")


def _rounds(row: Row) -> Text:
    text = Text(f"{row.stats['iterations']:.2f}")
    activated = row.stats.get("activated", 0) / row.length
    return text.append(f" ({activated:.1f})", "dim") if activated else text


def _per_second(seconds: float) -> str:
    return number(1 / seconds)


def number(value: float) -> str:
    """Write a number with three digits that count, or whole."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def learning(rows: Sequence[Learning]) -> Group:
    """Seconds that a perceptron learns for (Kaji 3)."""
    table = _table("corpus", "labels", "epochs", "auto", "viterbi", "ratio")
    for corpus in dict.fromkeys(row.corpus for row in rows):
        found = {row.decoder: row for row in rows if row.corpus == corpus}
        fast, dense = found["auto"], found["viterbi"]
        mark = f" * ({dense.measured:,} of {dense.needed:,})" if dense.extrapolated else ""
        table.add_row(
            corpus,
            f"{fast.labels:,}",
            str(fast.epochs),
            number(fast.seconds),
            Text(number(dense.seconds)).append(mark, "dim"),
            f"{dense.seconds / fast.seconds:.3g}×",
        )
    if any(row.extrapolated for row in rows):
        table.caption = (
            "* extrapolated from so many sentences: dense decoding takes the same time for each token"
        )
    return titled("seconds that a perceptron learns, by the decoder inside; features are ready", table)


def models(rows: Sequence[Trained], title: str) -> Group:
    """Trained models, by corpus: how good, how fast, how large."""
    places = {corpus: n for n, corpus in enumerate(dict.fromkeys(row.corpus for row in rows))}
    table = _table(
        "corpus",
        "labels",
        "model",
        "accuracy %",
        "unknown",
        "F1",
        "training s",
        "tokens/s",
        "sentences/s",
        "MB",
    )
    before = ""
    for row in sorted(rows, key=lambda row: places[row.corpus]):
        if before and row.corpus != before:
            table.add_section()
        before = row.corpus
        table.add_row(
            row.corpus,
            f"{row.labels:,}",
            Text(row.what + (" (quoted)" if row.quoted else ""), "yellow" if row.quoted else "cyan"),
            f"{row.accuracy:.2f}",
            _percent(row.unknown),
            _percent(row.f1),
            number(row.seconds),
            number(row.tokens_per_second),
            "–" if row.sentences_per_second is None else number(row.sentences_per_second),
            f"{row.megabytes:.0f}",
        )
    return titled(title, table)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def startup(found: Startup) -> Text:
    """Say how long the command takes to its first label."""
    low, median, high = (1000 * x for x in (found.spread.low, found.spread.median, found.spread.high))
    return Text(
        f"certus tag, from start to first label ({found.model}): {median:.0f} ms [{low:.0f}–{high:.0f}]\n"
    )


def _table(first: str, *names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for name in names:
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    return table
