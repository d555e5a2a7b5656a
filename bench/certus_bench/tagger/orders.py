"""Trains pruned CRFs of several orders: Müller et al.'s tables 2 and 6, on dev."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from certus.errors import CertusError
from certus.formats import Target
from certus.learn.features.data import choose_templates
from certus_bench.corpora import MORPHOLOGY, POS, CorpusFiles, select_corpora
from certus_bench.harness.benchmark import Tell
from certus_bench.tagger.job import Job, run_job
from certus_bench.tagger.records import SeedScores, TaggerPlan, TaggerReport

ORDERS = (1, 2, 3)
UNPRUNED = "CRF 1"
DICTIONARY = "PCRF 2, seen"
# Tags to keep per position: more than there are in the tag sets of table 2. Thresholds then sink to the least
# there is, a probability of one in a million.
_EVERYTHING = (1000.0, 1000.0, 1000.0)


def measure_orders(report: TaggerReport, tell: Tell) -> None:
    """Add models of every order to a report."""
    wanted = list(list_jobs(report.plan))
    for n, job in enumerate(wanted):
        tell(f"orders: {job.corpus}, {job.what}", n / len(wanted))
        try:
            found = [run_job(report.plan, _change_seed(job, seed)) for seed in range(report.plan.seeds)]
        except CertusError as error:  # the other models can still be had
            report.fail([str(error)])
            continue
        report.orders.append(found[0])
        if len(found) > 1:
            report.seeds.append(SeedScores(job.corpus, job.what, tuple(row.accuracy for row in found)))


def _change_seed(job: Job, seed: int) -> Job:
    return job if seed == 0 else replace(job, options={**job.options, "seed": seed}, seconds=0.0)


def list_jobs(plan: TaggerPlan) -> Iterator[Job]:
    """Yield what to train: orders 1 to 3 of everything, and the unpruned CRF where that can be done."""
    for corpus in select_corpora(POS, plan.only):
        yield describe_pruned_crf(plan, corpus.name, 1, what=UNPRUNED, wanted=_EVERYTHING)
        yield from (describe_pruned_crf(plan, corpus.name, order) for order in ORDERS)
    for corpus in select_corpora(MORPHOLOGY, plan.only):
        yield from (describe_pruned_crf(plan, corpus.name, order) for order in ORDERS)
        templates = add_dictionary(plan, corpus)
        yield describe_pruned_crf(plan, corpus.name, 2, what=DICTIONARY, templates=templates)


def add_dictionary(plan: TaggerPlan, corpus: CorpusFiles) -> str:
    """Return the templates that suit a corpus, and what each word was seen with (the paper's section 2.5)."""
    target = Target(corpus.target)
    sentences = list(corpus.read(plan.data, "learn", plan.limit))
    labels = {label for sentence in sentences for label in target.labels(sentence)}
    return f"{choose_templates(tuple(sentences[0].columns), target, labels)}\nseen(word[0])"


def describe_pruned_crf(
    plan: TaggerPlan,
    corpus: str,
    order: int,
    *,
    what: str | None = None,
    wanted: tuple[float, ...] | None = None,
    templates: str | None = None,
    learn: str = "learn",
    part: str = "dev",
    epochs: int = 10,
    model: str | None = None,
    seconds: float | None = None,
) -> Job:
    """Describe a pruned CRF, with the options that a user gets who asks for nothing else."""
    options: dict[str, object] = {"order": order, "epochs": plan.limit_epochs(epochs)}
    if wanted is not None:
        options["wanted"] = wanted
    if templates is not None:
        options["templates"] = templates
    return Job(
        corpus=corpus,
        what=what or f"PCRF {order}",
        learner="pruned-crf",
        options=options,
        learn=learn,
        part=part,
        limit=plan.limit,
        seconds=plan.seconds if seconds is None else seconds,
        model=model,
    )
