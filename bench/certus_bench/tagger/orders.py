"""Trains pruned CRFs of several orders: Müller et al.'s tables 2 and 6, on dev."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from certus.errors import CertusError
from certus_bench.tagger.corpora import MORPHOLOGY, POS, chosen
from certus_bench.tagger.job import Job, run
from certus_bench.tagger.plan import Plan, Report

ORDERS = (1, 2, 3)
UNPRUNED = "CRF 1"
# Tags to keep a position: more than there are in the tag sets of table 2. Thresholds then sink to the least
# there is, a probability of one in a million.
_EVERYTHING = (1000.0, 1000.0, 1000.0)

Tell = Callable[[str, float], None]


def measure(report: Report, tell: Tell) -> None:
    """Add models of every order to a report."""
    wanted = list(jobs(report.plan))
    for n, job in enumerate(wanted):
        tell(f"orders: {job.corpus}, {job.what}", n / len(wanted))
        try:
            report.orders.append(run(report.plan, job))
        except CertusError as error:  # the other models can still be had
            report.fail([str(error)])


def jobs(plan: Plan) -> Iterator[Job]:
    """Yield what to train: orders 1 to 3 of everything, and the unpruned CRF where that can be done."""
    for corpus in chosen(POS, plan.only):
        yield pruned(plan, corpus.name, 1, what=UNPRUNED, wanted=_EVERYTHING)
        yield from (pruned(plan, corpus.name, order) for order in ORDERS)
    for corpus in chosen(MORPHOLOGY, plan.only):
        yield from (pruned(plan, corpus.name, order) for order in ORDERS)


def pruned(
    plan: Plan,
    corpus: str,
    order: int,
    *,
    what: str | None = None,
    wanted: tuple[float, ...] | None = None,
    learn: str = "learn",
    part: str = "dev",
) -> Job:
    """Describe a pruned CRF, with the options that a user gets who asks for nothing else."""
    options: dict[str, object] = {"order": order, "epochs": plan.epochs(10)}
    if wanted is not None:
        options["wanted"] = wanted
    return Job(
        corpus=corpus,
        what=what or f"PCRF {order}",
        learner="pruned-crf",
        options=options,
        learn=learn,
        part=part,
        limit=plan.limit,
        seconds=plan.seconds,
    )
