"""Measures what the proofs of pruned CRFs cost, on test: every answer is proven, or is bounded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from certus.errors import CertusError
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus.storage import model_file
from certus_bench.corpora import CORPORA, select_corpora
from certus_bench.harness.benchmark import Tell
from certus_bench.tagger.job import run_job
from certus_bench.tagger.orders import ORDERS, describe_pruned_crf
from certus_bench.tagger.records import ProofCost, TaggerPlan, TaggerReport

PROVEN = ("ewt", "bosque", "szeged", "talbanken", "czech", "polish", "basque")
EPOCHS = 5
_TURNS = 3
_FOR_PROOFS = "ngram_sequences"  # the array of model files that nothing else needs


def measure_proofs(report: TaggerReport, tell: Tell) -> None:
    """Add what proofs cost to a report, for every order."""
    wanted = [(corpus.name, order) for corpus in select_corpora(PROVEN, report.plan.only) for order in ORDERS]
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "model.certus"
        for n, (corpus, order) in enumerate(wanted):
            tell(f"proofs: {corpus}, PCRF {order}", n / len(wanted))
            try:
                train(report.plan, corpus, order, path)
                report.proofs.append(measure_proof(report.plan, corpus, order, path))
            except CertusError as error:  # the other models can still be had
                report.fail([str(error)])


def train(plan: TaggerPlan, corpus: str, order: int, path: Path) -> None:
    """Train a model on all of train, and save it."""
    job = describe_pruned_crf(
        plan, corpus, order, learn="train", part="test", epochs=EPOCHS, model=str(path), seconds=0.0
    )
    run_job(plan, job)


def measure_proof(plan: TaggerPlan, corpus: str, order: int, path: Path) -> ProofCost:
    """Tag test with proofs and without, in turns, in one call each and on one thread."""
    tagger = load(str(path))
    assert isinstance(tagger, Tagger)
    sentences = list(CORPORA[corpus].read(plan.data, "test"))
    cells = [[sentence.column(name) for name in tagger.columns] for sentence in sentences]
    tokens = sum(map(len, sentences))
    least = {False: np.inf, True: np.inf}
    for _ in range(_TURNS):
        for proof in least:
            tagger.proof = proof
            begin = process_time()
            found = tagger.decode(cells)
            least[proof] = min(least[proof], process_time() - begin)
    arrays = model_file.read(path).arrays
    whole = sum(array.nbytes for array in arrays.values())
    return ProofCost(
        corpus=corpus,
        order=order,
        labels=len(tagger.labels),
        sentences=len(sentences),
        proven=float(100 * np.mean(found.optimal)),
        finite=float(100 * np.mean(np.isfinite(found.bounds))),
        unproven_token=least[False] / tokens,
        proven_token=least[True] / tokens,
        megabytes=whole / 1e6,
        more=100 * arrays[_FOR_PROOFS].nbytes / (whole - arrays[_FOR_PROOFS].nbytes),
    )
