"""``certus bench tagger``: trained taggers, measured part by part."""

from __future__ import annotations

from collections.abc import Callable

from certus_bench.corpora import CORPORA, LARGE, MORPHOLOGY, POS, select_corpora
from certus_bench.harness.benchmark import Benchmark, Tell, keep_quiet, tell_part
from certus_bench.harness.environment import describe_machine
from certus_bench.tagger.claims import make_claims
from certus_bench.tagger.decoders import measure_decoders
from certus_bench.tagger.job import CRFSUITE, find_crfsuite
from certus_bench.tagger.learning import measure_training
from certus_bench.tagger.oracle import measure_pruning
from certus_bench.tagger.orders import measure_orders
from certus_bench.tagger.proofs import PROVEN, measure_proofs
from certus_bench.tagger.records import TaggerPlan, TaggerReport, make_plan
from certus_bench.tagger.report import lay_out, paint
from certus_bench.tagger.tasks import is_wanted, list_jobs, measure_tasks

__all__ = ["BENCHMARK", "run"]

_MEASURES: dict[str, Callable[[TaggerReport, Tell], None]] = {
    "decoders": measure_decoders,
    "training": measure_training,
    "orders": measure_orders,
    "oracle": measure_pruning,
    "proofs": measure_proofs,
    "tasks": measure_tasks,
}


def run(plan: TaggerPlan, tell: Tell = keep_quiet) -> TaggerReport:
    """Measure what a plan asks for."""
    check_corpora(plan)
    version = find_crfsuite()
    report = TaggerReport(plan, describe_machine({CRFSUITE: version} if version else {}))
    for n, part in enumerate(plan.parts):
        _MEASURES[part](report, tell_part(tell, n / len(plan.parts), (n + 1) / len(plan.parts)))
    return report


def check_corpora(plan: TaggerPlan) -> None:
    """Make sure that all data are there, before an hour is spent on half of them."""
    large, trained = [*select_corpora(LARGE, plan.only)], [*select_corpora((*POS, *MORPHOLOGY), plan.only)]
    tested = [CORPORA[name] for name in {job.corpus for job in list_jobs(plan)} if is_wanted(plan, name)]
    proven = [*select_corpora(PROVEN, plan.only)]
    pruned = [*select_corpora(MORPHOLOGY, plan.only)]
    needed = {
        "decoders": large,
        "training": large,
        "orders": trained,
        "oracle": pruned,
        "proofs": proven,
        "tasks": tested,
    }
    for part in plan.parts:
        for corpus in needed[part]:
            second = ("test",) if part in ("tasks", "proofs") else ("dev",) if corpus.dev else ()
            for name in ("train", *second):
                corpus.file(plan.data, name)


BENCHMARK = Benchmark(
    name="tagger", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
