"""Times every way to decode a chain: ``certus bench chain``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from certus_bench import whole
from certus_bench.entries import Entry, select
from certus_bench.environment import machine
from certus_bench.lattices import Sample, draw
from certus_bench.plan import Plan, Report, Row, Size
from certus_bench.referee import Referee, Witness
from certus_bench.timing import Stopwatch, race

Tell = Callable[[str, float], None]  # what is being done, and the share of all that is done


def run(plan: Plan | None = None, tell: Tell = lambda _, __: None) -> Report:
    """Time what a plan asks for.

    Args:
        plan: what to do; the default takes some minutes.
        tell: called with a line about what is being timed and the share of the work that is done.
    """
    plan = plan or Plan()
    chosen = select(plan.methods)
    report = Report(plan, machine(plan))
    cells = [(lattice, size) for lattice in plan.lattices for size in plan.sizes]
    share = 0.8 if plan.whole else 1.0
    for n, (lattice, size) in enumerate(cells):
        sample = draw(lattice, *size, sentences=plan.sentences, seed=plan.seed, dtype=plan.dtype)

        def step(name: str, part: float, n: int = n, lattice: str = lattice, size: Size = size) -> None:
            tell(f"{lattice} {size[0]}×{size[1]}: {name}", share * (n + part) / len(cells))

        _time(report, sample, lattice, chosen, step)
    if plan.whole:
        whole.run(report, lambda name, part: tell(name, share + (1 - share) * part))
    return report


def _time(report: Report, sample: Sample, lattice: str, chosen: Sequence[Entry], step: Tell) -> None:
    """Time the chosen entries on one sample, all in turns."""
    able = [entry for entry in chosen if sample.listed or not entry.listed]
    referee = Referee(sample, f"{lattice} {sample.labels}×{sample.length}")
    witnesses = [Witness(referee, entry) for entry in able]
    watches = []
    for entry, witness in zip(able, witnesses, strict=True):
        step(f"preparing {entry.name}", 0.0)
        watches.append(Stopwatch(entry.load(sample), witness, report.plan.seconds))
    race(watches, tick=lambda index: step(able[index].name, index / len(able)))
    for entry, witness, watch in zip(able, witnesses, watches, strict=True):
        report.rows.append(row_of(lattice, sample, entry, witness, watch))
    report.fail(referee.failures)


def row_of(lattice: str, sample: Sample, entry: Entry, witness: Witness, watch: Stopwatch) -> Row:
    """Return what was measured of one way to decode."""
    return Row(
        lattice=lattice,
        labels=sample.labels,
        length=sample.length,
        method=entry.name,
        kind=entry.kind,
        k=entry.k,
        spread=watch.spread,
        calls=watch.count,
        sentences=watch.inputs,
        once=watch.once,
        stats=witness.stats,
    )
