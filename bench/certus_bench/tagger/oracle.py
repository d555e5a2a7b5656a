"""What pruning costs: Müller et al.'s table 3 and figure 2, on dev.

Pruned CRFs of order 1 are trained as usual, with twice as many labels kept, and by an oracle that never drops
what is annotated, in training and on dev. The oracle's accuracy is an upper bound on that of an unpruned CRF.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certus.learn.decoder import Allowed, Cells, Decoder, Request
from certus.learn.features.data import Examples, TrainingSet
from certus.learn.pruned_crf import PrunedCrfLearner
from certus_bench.corpora import MORPHOLOGY, select_corpora
from certus_bench.harness.benchmark import Tell
from certus_bench.tagger.learning import make_training_set, read_examples
from certus_bench.tagger.records import PruningCost, TaggerPlan, TaggerReport

SEEDS = 5  # the paper's figures are means of five runs
# Labels to keep per position, and whether the annotated one is always among them.
MODELS = {"oracle, 4 labels": (4.0, True), "4 labels": (4.0, False), "8 labels": (8.0, False)}

Labels = NDArray[np.int32]


def measure_pruning(report: TaggerReport, tell: Tell) -> None:
    """Add what pruning costs to a report."""
    corpora = list(select_corpora(MORPHOLOGY, report.plan.only))
    for n, corpus in enumerate(corpora):
        data, _ = make_training_set(report.plan, corpus, PrunedCrfLearner())
        dev = read_examples(report.plan, corpus, "dev")
        for m, what in enumerate(MODELS):
            for seed in range(2 if report.plan.quick else SEEDS):
                tell(f"oracle: {corpus.name}, {what}, seed {seed}", (n + m / len(MODELS)) / len(corpora))
                report.pruning.append(train_pruned(report.plan, corpus.name, what, data, dev, seed))


def train_pruned(
    plan: TaggerPlan, corpus: str, what: str, data: TrainingSet, dev: Examples, seed: int
) -> PruningCost:
    """Train a model, and count after each epoch in how many sentences pruning drops what is annotated."""
    kept, oracle = MODELS[what]
    learner = PrunedCrfLearner(order=1, wanted=(kept, kept), seed=seed, epochs=plan.limit_epochs(10))
    trainer = learner.start(data, threads=1)
    trainer.keep_gold = oracle
    gold = data.inventory.number_labels(dev.labels)
    lost, lost_on_dev = [], []
    for epoch in range(learner.epochs):
        trainer.epoch(data.order(np.random.default_rng((seed, epoch))))
        weights = trainer.compile()
        decoder = learner.decode_by(data.inventory, data.tagset, weights, data.extractor, None)
        lost.append(100 * trainer.lost)
        candidates = list_candidates(decoder, dev.cells)
        lost_on_dev.append(100 * count_lost(candidates, gold, dev.lengths))
    allowed = add_gold(candidates, gold, dev.lengths) if oracle else None
    # The oracle's answers are the best of what it allows: without a proof, that would be pruned once more.
    answers = (
        decoder.decode(dev.cells, Request(allowed=allowed, prove=prove)).labels for prove in (oracle, True)
    )
    pruned, proven = (100 * float((found == gold).mean()) for found in answers)
    return PruningCost(
        corpus, len(data.inventory), what, seed, pruned, proven, tuple(lost), tuple(lost_on_dev)
    )


def list_candidates(decoder: Decoder, cells: Cells) -> list[Labels]:
    """Return the labels of each token of all sentences that pruning leaves."""
    decoder.set_proof(False)  # which would prune less
    lattices = decoder.search(cells, pruning=1.0, threads=1)
    decoder.set_proof(True)
    found = []
    for n in range(len(cells)):
        lattice = lattices.lattice(n)
        tokens = lattice.begin[1:-1].tolist()  # the first and the last position are boundaries
        found += [np.unique(lattice.label[a:b]) for a, b in pairwise(tokens)]
    return found


def count_lost(candidates: list[Labels], gold: Labels, lengths: NDArray[np.int64]) -> float:
    """Return the share of sentences with known labels some of which are no candidates."""
    there = np.array([label in labels for label, labels in zip(gold.tolist(), candidates, strict=True)])
    known = [part.all() for part in _split(gold >= 0, lengths)]
    lost = [not part.all() for part, whole in zip(_split(there, lengths), known, strict=True) if whole]
    return float(np.mean(lost)) if lost else 0.0


def add_gold(candidates: list[Labels], gold: Labels, lengths: NDArray[np.int64]) -> Allowed:
    """Return the candidates with what is annotated, for each token of each sentence."""
    both = [
        np.union1d(labels, [label] if label >= 0 else []).astype(np.int32)
        for labels, label in zip(candidates, gold.tolist(), strict=True)
    ]
    ends = np.cumsum(lengths).tolist()
    return [[*both[end - length : end]] for end, length in zip(ends, lengths.tolist(), strict=True)]


def _split(values: NDArray[np.bool_], lengths: NDArray[np.int64]) -> Iterator[NDArray[np.bool_]]:
    return iter(np.split(values, np.cumsum(lengths)[:-1]))
