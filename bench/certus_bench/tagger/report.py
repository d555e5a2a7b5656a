"""What is told of trained taggers: the papers' tables, the claims, a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import mean, stdev
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from certus.chain import METHODS
from certus_bench.entries import FLOOR
from certus_bench.harness import pictures
from certus_bench.harness.tables import add_title, format_number, make_table, warn_of_quick
from certus_bench.referee import Row
from certus_bench.tagger.decoders import SMALL
from certus_bench.tagger.records import (
    Learning,
    ProofCost,
    PruningCost,
    SeedScores,
    Startup,
    TaggerReport,
    TrainedTagger,
)

_BEAM = "beam"
_ITERATIVE = ("auto", "staggered", "iterative")  # what goes over a lattice more than once


def _lay_out_speeds(rows: Sequence[Row], k: int) -> Group:
    """Lay out the speed of every decoder, a column for each corpus (Kaji 1 and 4, Huang 4 and 5)."""
    title = f"decoders on trained lattices, k={k}: sentences per second, median [quartiles over sentences]"
    shown = [row for row in rows if row.k == k and is_usual(row)]
    return add_title(
        title, _arrange_by_corpus(shown, _format_speed, "* so slow that one call on one sentence had to do")
    )


def is_usual(row: Row) -> bool:
    """Whether a method is asked for what it is made for: those for many paths find one as well."""
    return row.k > 1 or row.method not in METHODS or METHODS[row.method].one


def _lay_out_rounds(rows: Sequence[Row]) -> Group:
    """Lay out rounds over the lattice, and labels activated per token (Kaji 2, Huang 3)."""
    title = "rounds per sentence, and labels activated per token where labels are: means"
    shown = [row for row in rows if row.method.startswith(_ITERATIVE) and row.k in (1, 5) and is_usual(row)]
    return add_title(title, _arrange_by_corpus(shown, _format_rounds, "", with_k=True))


def _lay_out_over_k(rows: Sequence[Row], corpus: str) -> Group:
    """Lay out sentences per second as k grows (Huang's figure 4)."""
    shown = [row for row in rows if row.lattice == corpus]
    ks = sorted({row.k for row in shown})
    many = list(dict.fromkeys(row.method for row in shown if row.k > 1))
    table = make_table("method", *(f"k={k}" for k in ks))
    for method in many:
        found = {row.k: row for row in shown if row.method == method}
        table.add_row(method, *(_format_speed(found[k]) if k in found else Text("–", "dim") for k in ks))
    return add_title(f"{corpus}: sentences per second for the k best", table)


def _arrange_by_corpus(
    rows: Sequence[Row], cell: Callable[[Row], Text], note: str, with_k: bool = False
) -> Table:
    corpora = {row.lattice: row for row in rows}
    names = [f"{name}\nL={row.labels:,} T={row.length}" for name, row in corpora.items()]
    table = make_table("method", *names)
    for method, k in dict.fromkeys((_generalize(row.method), row.k) for row in rows):
        found = {row.lattice: row for row in rows if (_generalize(row.method), row.k) == (method, k)}
        cells = [cell(found[name]) if name in found else Text("–", "dim") for name in corpora]
        style = "dim" if method == FLOOR else "cyan"
        table.add_row(Text(f"{method}, k={k}" if with_k else method, style), *cells)
    if note and any(row.once for row in rows):
        table.caption = note
    return table


def _generalize(method: str) -> str:
    """Put beams of different widths into one line; the cells name the width."""
    return _BEAM if method.startswith(f"{_BEAM} (") else method


def _format_speed(row: Row) -> Text:
    spread = row.spread
    text = Text(_format_rate(spread.median), "bold" if row.method == "auto" else "")
    width = f" {row.method[len(_BEAM) + 1 :]}" if row.method.startswith(f"{_BEAM} (") else ""
    quartiles = "*" if row.once else f" [{_format_rate(spread.high)}–{_format_rate(spread.low)}]"
    return text.append(f"{width}{quartiles}", "not bold dim")


def _format_rounds(row: Row) -> Text:
    text = Text(f"{row.stats['iterations']:.2f}")
    activated = row.stats.get("activated", 0) / row.stats.get("tokens", row.length)
    return text.append(f" ({activated:.1f})", "dim") if activated else text


def _format_rate(seconds: float) -> str:
    return format_number(1 / seconds)


def _lay_out_learning(rows: Sequence[Learning]) -> Group:
    """Seconds that a perceptron learns for (Kaji 3)."""
    decoders = list(dict.fromkeys(row.decoder for row in rows))
    table = make_table("corpus", "labels", "epochs", *decoders)
    for corpus in dict.fromkeys(row.corpus for row in rows):
        found = {row.decoder: row for row in rows if row.corpus == corpus}
        first = next(iter(found.values()))
        cells = (_format_learning(found[name], first.seconds) for name in decoders)
        table.add_row(corpus, f"{first.labels:,}", str(first.epochs), *cells)
    if any(row.extrapolated for row in rows):
        table.caption = "* extrapolated from so many sentences, spread over all epochs"
    return add_title(
        f"processor seconds that a perceptron learns, by the decoder inside, and how many times faster than "
        f"{decoders[0]}; features are ready",
        table,
    )


def _format_learning(row: Learning, dense: float) -> Text:
    text = Text(format_number(row.seconds), "bold" if row.decoder == "auto" else "")
    ratio = "" if row.seconds == dense else f" {dense / row.seconds:.3g}×"
    mark = f" * ({row.measured:,} of {row.needed:,})" if row.extrapolated else ""
    return text.append(ratio + mark, "not bold dim")


def _lay_out_models(rows: Sequence[TrainedTagger], title: str) -> Group:
    """TrainedTagger models, by corpus: how good, how fast, how large."""
    places = {corpus: n for n, corpus in enumerate(dict.fromkeys(row.corpus for row in rows))}
    table = make_table(
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
            _format_percent(row.unknown),
            _format_percent(row.f1),
            format_number(row.seconds),
            format_number(row.tokens_per_second),
            "–" if row.sentences_per_second is None else format_number(row.sentences_per_second),
            f"{row.megabytes:.0f}",
        )
    return add_title(title, table)


def _lay_out_seeds(rows: Sequence[SeedScores]) -> Group:
    """Lay out means over seeds, and how often a model beats the first one of its corpus, seed by seed."""
    table = make_table("corpus", "model", "seeds", "accuracy %", "least", "most", "above the first")
    first = rows[0]
    for row in rows:
        first = first if row.corpus == first.corpus else row
        scores, pairs = row.accuracies, zip(row.accuracies, first.accuracies, strict=True)
        table.add_row(
            row.corpus,
            row.what,
            str(len(scores)),
            f"{mean(scores):.2f} ± {stdev(scores):.2f}",
            f"{min(scores):.2f}",
            f"{max(scores):.2f}",
            "–" if row is first else f"{sum(a > b for a, b in pairs)} of {len(scores)}",
        )
    return add_title("orders of CRFs from several seeds, on dev", table)


def _lay_out_pruning(rows: Sequence[PruningCost]) -> Group:
    """Lay out what pruning costs (Müller et al. 3): means over seeds, and their standard deviations."""
    table = make_table("corpus", "labels", "kept", "seeds", "accuracy %", "proven %")
    for (corpus, what), several in _group_seeds(rows).items():
        figures = ([getattr(row, name) for row in several] for name in ("accuracy", "proven"))
        cells = (f"{mean(x):.2f} ± {stdev(x):.2f}" for x in figures)
        table.add_row(corpus, f"{several[0].labels:,}", what, str(len(several)), *cells)
    return add_title("pruned CRFs of order 1, with and without an oracle, on dev", table)


def _lay_out_lost(rows: Sequence[PruningCost]) -> Group:
    """Lay out how often pruning drops what is annotated (Müller et al., figure 2): means over seeds."""
    epochs = max(len(row.lost) for row in rows)
    table = make_table("corpus", "kept", "part", *map(str, range(1, epochs + 1)))
    for (corpus, what), several in _group_seeds(rows).items():
        for part, name in (("train", "lost"), ("dev", "lost_on_dev")):
            by_epoch = zip(*(getattr(row, name) for row in several), strict=True)
            table.add_row(corpus, what, part, *(f"{mean(x):.1f}" for x in by_epoch))
    return add_title("percent of sentences whose labels pruning dropped, by epoch", table)


def _group_seeds(rows: Sequence[PruningCost]) -> dict[tuple[str, str], list[PruningCost]]:
    grouped: dict[tuple[str, str], list[PruningCost]] = {}
    for row in rows:
        grouped.setdefault((row.corpus, row.what), []).append(row)
    return grouped


def _lay_out_proofs(rows: Sequence[ProofCost]) -> Group:
    """Proven answers of pruned CRFs, and the time and memory that they take."""
    table = make_table(
        "corpus",
        "labels",
        "order",
        "sentences",
        "proven %",
        "bounded %",
        "µs/token",
        "unproven",
        "ratio",
        "MB",
        "more %",
    )
    for row in rows:
        table.add_row(
            row.corpus,
            f"{row.labels:,}",
            str(row.order),
            f"{row.sentences:,}",
            f"{row.proven:.2f}",
            f"{row.finite:.2f}",
            f"{1e6 * row.proven_token:.2f}",
            f"{1e6 * row.unproven_token:.2f}",
            f"{row.ratio:.2f}×",
            f"{row.megabytes:.1f}",
            f"{row.more:.1f}",
        )
    return add_title("proofs of pruned CRFs, on test; processor time, one thread", table)


def _format_percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _describe_startup(found: Startup) -> Text:
    """Say how long the command takes to its first label."""
    low, median, high = (1000 * x for x in (found.spread.low, found.spread.median, found.spread.high))
    return Text(
        f"certus tag, from start to first label ({found.model}): {median:.0f} ms [{low:.0f}–{high:.0f}]\n"
    )


def lay_out(report: TaggerReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    rows = report.decoders
    if report.plan.quick:
        yield warn_of_quick("accuracy and training times say nothing")
    for k in sorted({row.k for row in rows if row.k <= 5}):
        yield _lay_out_speeds(rows, k)
    if any(row.k > 1 for row in rows):
        yield _lay_out_rounds(rows)
        if any(row.lattice == SMALL for row in rows):
            yield _lay_out_over_k(rows, SMALL)
    if report.training:
        yield _lay_out_learning(report.training)
    if report.orders:
        yield _lay_out_models(report.orders, "orders of CRFs, on dev")
    if report.seeds:
        yield _lay_out_seeds(report.seeds)
    if report.pruning:
        yield _lay_out_pruning(report.pruning)
        yield _lay_out_lost(report.pruning)
    if report.proofs:
        yield _lay_out_proofs(report.proofs)
    if report.tasks:
        yield _lay_out_models(report.tasks, "tasks, on test")
    if report.startup:
        yield _describe_startup(report.startup)


_COLOURS = {
    "auto": "#0b7a75",
    "viterbi": "#3d5a98",
    "viterbi-astar": "#3d5a98",
    "staggered": "#8f6bb3",
    "iterative-viterbi-astar": "#8f6bb3",
    "carpediem": "#e08e45",
    "kbest-astar": "#d1495b",
    "kbest-viterbi": "#a3a380",
    "iterative-astar": "#d1495b",
    FLOOR: "#bdbdbd",
}


_OVER_K = ("auto", "viterbi-astar", "iterative-viterbi-astar", "kbest-astar", "kbest-viterbi")


def paint(report: TaggerReport) -> Any:
    """Draw the speeds of decoders, over the label set and over k."""
    rows = report.decoders
    if not rows:
        raise pictures.NothingToDraw("the run timed no decoder")
    figure = pictures.make_figure(10.5, 4.6)
    left, right = figure.subplots(1, 2)
    _draw_panel(left, [row for row in rows if row.k == 1 and is_usual(row)], "labels", "the best sequence")
    over_k = [row for row in rows if row.lattice == SMALL and row.method in _OVER_K]
    _draw_panel(right, over_k, "k", f"the k best, {SMALL}")
    return figure


def _draw_panel(axes: Any, rows: list[Row], over: str, title: str) -> None:
    """Draw a line for each method."""
    for method in (name for name in _COLOURS if any(row.method == name for row in rows)):
        points = sorted((getattr(row, over), 1 / row.spread.median) for row in rows if row.method == method)
        xs, ys = zip(*points, strict=True)
        width, style = 3.0 if method == "auto" else 1.6, ":" if method == FLOOR else "-"
        axes.plot(
            xs, ys, style, color=_COLOURS[method], linewidth=width, marker="o", markersize=4, label=method
        )
    pictures.make_logarithmic(axes, (getattr(row, over) for row in rows))
    pictures.dress_axes(axes, f"Trained models: {title}", over, "sentences per second, one core")
