"""Times the training of perceptrons with dense and with fast exact decoding: Kaji et al.'s table 3."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from certus.formats import Target
from certus.learn.features.data import Examples, TrainingSet, choose_templates, compile_templates
from certus.learn.perceptron import PerceptronLearner
from certus_bench.corpora import LARGE, CorpusFiles, select_corpora
from certus_bench.harness.benchmark import Tell
from certus_bench.tagger.records import Learning, TaggerPlan, TaggerReport

EPOCHS = 10
DECODERS = ("auto", "viterbi")
_PATIENCE = 30.0  # seconds after which slow decoding is extrapolated
_STEP = 20  # sentences between two looks at the clock

Lengths = NDArray[np.int64]


def measure_training(report: TaggerReport, tell: Tell) -> None:
    """Add the times of learning to a report."""
    corpora = list(select_corpora(LARGE, report.plan.only))
    for n, corpus in enumerate(corpora):
        tell(f"training: features of {corpus.name}", n / len(corpora))
        data, lengths = make_training_set(report.plan, corpus)
        for decoder in DECODERS:
            tell(f"training: {corpus.name}, {decoder}", (n + 0.5) / len(corpora))
            report.training.append(time_learning(report.plan, corpus, data, lengths, decoder))


def make_training_set(plan: TaggerPlan, corpus: CorpusFiles) -> tuple[TrainingSet, Lengths]:
    """Return numbered features and labels, the same work whatever the decoder, and lengths of sentences."""
    target = Target(corpus.target)
    first = next(iter(corpus.read(plan.data, "learn", 1)))
    templates = compile_templates(choose_templates(tuple(first.columns), target))
    examples = Examples(corpus.read(plan.data, "learn", plan.limit), target, templates.columns)
    learner = PerceptronLearner()
    inventory = learner.list_labels(target, sorted(set(examples.labels)))
    numbered = TrainingSet(
        examples,
        inventory,
        templates,
        rare=learner.rare,
        hash_bits=learner.hash_bits,
        min_count=learner.min_count,
    )
    return numbered, examples.lengths


def time_learning(
    plan: TaggerPlan, corpus: CorpusFiles, data: TrainingSet, lengths: Lengths, decoder: str
) -> Learning:
    """Time the epochs of a perceptron.

    ``auto`` learns from everything, for its time depends on how much the weights already know. Dense decoding
    takes the same time whatever the weights, so if it is slow, some sentences stand for all: the time is then
    extrapolated by the number of tokens.
    """
    learner = PerceptronLearner(epochs=plan.limit_epochs(EPOCHS), decoder=decoder)
    trainer = learner.start(data, threads=1)
    orders = [data.order(np.random.default_rng((learner.seed, epoch))) for epoch in range(learner.epochs)]
    whole = np.concatenate(orders)
    patience = np.inf if decoder == "auto" else _PATIENCE * (0.1 if plan.quick else 1.0)
    measured, begin = 0, perf_counter()
    while not measured or (measured < len(whole) and perf_counter() - begin < patience):
        trainer.epoch(whole[measured : measured + _STEP])
        measured = min(measured + _STEP, len(whole))
    seconds = perf_counter() - begin
    return Learning(
        corpus=corpus.name,
        labels=len(data.inventory),
        decoder=decoder,
        epochs=learner.epochs,
        seconds=seconds * int(lengths[whole].sum()) / int(lengths[whole[:measured]].sum()),
        measured=measured,
        needed=len(whole),
    )
