"""What is told of latent models: the paper's tables and figures, the claims, a picture."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

from rich.console import Group
from rich.text import Text

from certus_bench.harness import pictures
from certus_bench.harness.claims import Claim, divide, get_figure, subtract
from certus_bench.harness.tables import add_title, make_table, warn_of_quick
from certus_bench.latent.records import FEW, MANY, STEPS, LatentReport, TaskReport
from certus_bench.latent.tasks import TASKS

EQUAL = 0.1  # points of F1 by which LDI-A and LDI-E may differ


def make_claims(report: LatentReport) -> list[Claim]:
    """Return every claim with what the report says about it.

    A quick run learns too little to say anything about quality, the time of learning, or that of inference
    beside BHP: the less sure a model is, the longer LDI takes.
    """
    return [
        claim for name in TASKS for claim in _claim_of_task(name, report.find_task(name), report.plan.quick)
    ]


def _claim_of_task(name: str, found: TaskReport | None, quick: bool) -> Iterator[Claim]:
    def get(way: str, figure: str) -> float | None:
        return get_figure(found.find_row(way) if found and not quick else None, figure)

    difference = subtract(get("LDI-A", "f1"), get("LDI-E", "f1"))
    apart = None if difference is None else abs(difference)
    yield Claim(f"{name}: LDI-A and LDI-E differ, F1", EQUAL, False, apart, "points")
    for better, worse, by in (
        ("LDI-E", "BHP", 0.01),
        ("LDI-E", "BMP", 0.01),
        ("BHP", "CRF", 0.01),
        ("BMP", "CRF", 0.01),
        ("LDI-E", "CRF", 0.3 if name == "np" else 0.01),
        ("LDI-A + MBR", "LDI-A", 0.01),
        ("100 best + MBR", "LDI-A", 0.01),
    ):
        gain = subtract(get(better, "f1"), get(worse, "f1"))
        yield Claim(f"{name}: {better} above {worse}, F1", by, True, gain, "points")
    ratio = divide(get("LDI-A", "seconds"), get("BHP", "seconds"))
    yield Claim(f"{name}: time of LDI-A (n={FEW}) over that of BHP", 2, False, ratio)
    mass, label = (found.find_point(bound, MANY) if found else None for bound in ("mass", "label"))
    ratio = divide(get_figure(mass, "paths"), get_figure(label, "paths"))
    yield Claim(f"{name}: fewer latent paths by the label bound, n={MANY:,}", 1, True, ratio)
    ratio = divide(get_figure(label, "seconds"), get_figure(mass, "seconds"))
    yield Claim(f"{name}: time of the label bound over that of the mass, n={MANY:,}", 1, False, ratio)
    minutes = divide(found.seconds.get("latent") if found and not quick else None, 60)
    yield Claim(f"{name}: learning", TASKS[name].minutes, False, minutes, "min")


_SHOWN = (1, 10, 100, 400, 800, 2000)  # latent paths whose mass is printed


def lay_out(report: LatentReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    if report.plan.quick:
        yield warn_of_quick("quality and times say little")
    for task in report.tasks:
        if task.priors:
            yield _lay_out_priors(task)
            continue
        yield _lay_out_ways(task)
        yield _lay_out_tests(task)
        if report.plan.seeds > 1:
            yield _lay_out_seeds(task)
            yield _lay_out_seed_tests(task)
        yield _lay_out_curves(task)
        yield _describe_concentration(task)


def _lay_out_ways(task: TaskReport) -> Group:
    """Tables 3, 4 and 5 of the paper."""
    table = make_table("", "S.A.", "Pre.", "Rec.", "F1", "seconds", "exact %", "paths", "prefixes")
    for row in task.rows:
        figures = (f"{x:.2f}" for x in (row.sentences, row.precision, row.recall, row.f1, row.seconds))
        table.add_row(row.name, *figures, f"{row.exact:.1f}", f"{row.paths:,.1f}", f"{row.prefixes:,.1f}")
    learned = ", ".join(
        f"{name} {task.seconds[name]:.0f} s ({task.iterations[name]} iterations)" for name in task.seconds
    )
    table.caption = (
        f"{task.learned:,} sentences to learn from, {task.measured:,} to test; {task.states} latent states, "
        f"{task.features:,} features" + (f"; learning: {learned}" if learned else "")
    )
    return add_title(f"{task.task}: {task.title}", table)


def _lay_out_priors(task: TaskReport) -> Group:
    """Lay out which prior is best."""
    table = make_table("variance", "CRF", "LDI-A")
    for prior in task.priors:
        table.add_row(f"{prior.variance:g}", f"{prior.crf:.2f}", f"{prior.latent:.2f}")
    table.caption = f"{task.learned:,} sentences to learn from, {task.measured:,} held out of them"
    return add_title(f"{task.task}: F1 on held-out sentences", table)


def _lay_out_tests(task: TaskReport) -> Group:
    """McNemar's test (section 5.1 of the paper)."""
    table = make_table("first", "second", "only first", "only second", "p")
    for test in task.tests:
        table.add_row(
            test.first, test.second, f"{test.only_first:,}", f"{test.only_second:,}", f"{test.p:.2g}"
        )
    return add_title(f"{task.task}: sentences that only one of two labels without a mistake", table)


def _lay_out_seeds(task: TaskReport) -> Group:
    """Means and standard deviations over latent models that began from other weights."""
    table = make_table("", "F1, mean", "deviation", "least", "most", "above BHP", "above BMP")
    for name, scores in task.scores.items():
        shown = (mean(scores), stdev(scores), min(scores), max(scores))
        above = (
            sum(a > b for a, b in zip(scores, task.scores[other], strict=True)) for other in ("BHP", "BMP")
        )
        table.add_row(name, *(f"{x:.2f}" for x in shown), *(f"{n} of {len(scores)}" for n in above))
    return add_title(f"{task.task}: F1 of latent models from {len(scores)} seeds", table)


def _lay_out_seed_tests(task: TaskReport) -> Group:
    """McNemar's test for each of these models."""
    table = make_table("first", "second", "only first : only second, and p, by seed")
    for tests in zip(*task.seed_tests, strict=True):
        shown = (f"{test.only_first:,} : {test.only_second:,} ({test.p:.2g})" for test in tests)
        table.add_row(tests[0].first, tests[0].second, ", ".join(shown))
    return add_title(f"{task.task}: sentences without a mistake, latent models from each seed", table)


def _lay_out_curves(task: TaskReport) -> Group:
    """Figures 4 and 5 of the paper, by both bounds."""
    head = (
        f"{what}, {bound}" for what in ("F1", "exact %", "paths", "seconds") for bound in ("mass", "label")
    )
    table = make_table("n", *head)
    for steps in STEPS:
        rows = [task.find_point(bound, steps) for bound in ("mass", "label")]
        cells = [
            "–" if row is None else f"{getattr(row, what):,.{digits}f}"
            for what, digits in (("f1", 2), ("exact", 1), ("paths", 1), ("seconds", 2))
            for row in rows
        ]
        table.add_row(f"{steps:,}", *cells)
    return add_title(f"{task.task}: LDI stopped after n latent paths", table)


def _describe_concentration(task: TaskReport) -> Text:
    """Figure 2 of the paper."""
    shown = [n for n in _SHOWN if n <= len(task.concentration)]
    masses = ", ".join(f"{n:,}: {100 * task.concentration[n - 1]:.1f} %" for n in shown)
    return Text(f"{task.task}: mass of the best latent paths, on average: {masses}\n")


_COLOURS = {"mass": pictures.RED, "label": pictures.TEAL}
_NAMES = {"mass": "stopped by the mass that remains (the paper)", "label": "by the label bound, too"}
_CURVES = {
    "f1": "F1 (%)",
    "exact": "proven best (%)",
    "paths": "latent paths per sentence",
    "seconds": "seconds in all",
}


def paint(report: LatentReport) -> Any:
    """Draw a row for each task: LDI over the number of steps, and how concentrated probability is."""
    count = len(report.tasks)
    figure = pictures.make_figure(16, 3.1 * count + 0.4, dpi=120)
    rows = figure.subplots(count, len(_CURVES) + 1, squeeze=False)
    for axes, task in zip(rows, report.tasks, strict=True):
        for panel, (what, label) in zip(axes, _CURVES.items(), strict=False):
            _draw_curve(panel, task, what)
            pictures.dress_axes(
                panel, f"{task.task}: {label}", "n, the most latent paths", size=10, legend=False
            )
        mass = [100 * x for x in task.concentration]
        axes[-1].plot(range(1, len(mass) + 1), mass, color=pictures.BLUE)
        axes[-1].set_ylim(0, 100)
        title = f"{task.task}: mass of best paths (%)"
        pictures.dress_axes(axes[-1], title, "best latent paths", size=10, legend=False)
    figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
    return figure


def _draw_curve(axes: Any, task: TaskReport, what: str) -> None:
    for bound in ("mass", "label"):
        points = [(p.steps, getattr(p.row, what)) for p in task.points if p.bound == bound]
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=_COLOURS[bound], marker="o", markersize=3.5, label=_NAMES[bound])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if what == "paths":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if what == "seconds":
        axes.set_ylim(bottom=0)
