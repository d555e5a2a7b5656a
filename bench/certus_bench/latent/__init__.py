"""``certus bench latent``: latent-dynamic CRFs on the tasks of Sun & Tsujii (2009), tables and figures."""

from __future__ import annotations

from certus_bench.harness.benchmark import Benchmark, Tell, keep_quiet, tell_part
from certus_bench.harness.environment import describe_machine
from certus_bench.latent.measuring import compare_priors, measure_task
from certus_bench.latent.records import LatentPlan, LatentReport, make_plan
from certus_bench.latent.report import lay_out, make_claims, paint

__all__ = ["BENCHMARK", "run"]


def run(plan: LatentPlan, tell: Tell = keep_quiet) -> LatentReport:
    """Measure what a plan asks for."""
    report = LatentReport(plan, describe_machine({}))
    for n, task in enumerate(plan.tasks):
        step = tell_part(tell, n / len(plan.tasks), (n + 1) / len(plan.tasks))
        measure = compare_priors if plan.variances else measure_task
        report.tasks.append(measure(plan, task, step))
    return report


BENCHMARK = Benchmark(
    name="latent", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
