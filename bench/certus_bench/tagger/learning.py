"""Times the training of perceptrons by the exact decoder inside: Kaji et al.'s table 3."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from certus.formats import Target
from certus.learn.feature_learner import FeatureLearner
from certus.learn.features.data import Examples, TrainingSet, choose_templates, compile_templates
from certus.learn.perceptron import PerceptronLearner, PerceptronTrainer
from certus_bench.corpora import LARGE, CorpusFiles, select_corpora
from certus_bench.harness.benchmark import Tell
from certus_bench.tagger.records import Learning, TaggerPlan, TaggerReport

EPOCHS = 10
DECODERS = ("viterbi", "carpediem", "staggered", "auto")
_PIECES = 4  # of an epoch, each of which slow decoding is timed on
_PATIENCE = 20.0  # seconds for one decoder on one corpus, after which its time is extrapolated
_STEP = 16  # sentences before the first look at the clock

Lengths = NDArray[np.int64]


def measure_training(report: TaggerReport, tell: Tell) -> None:
    """Add the times of learning to a report."""
    corpora = list(select_corpora(LARGE, report.plan.only))
    for n, corpus in enumerate(corpora):
        tell(f"training: features of {corpus.name}", n / len(corpora))
        data, examples = make_training_set(report.plan, corpus, PerceptronLearner())
        tell(f"training: {corpus.name}", (n + 0.5) / len(corpora))
        report.training += time_learning(report.plan, corpus, data, examples.lengths)


def read_examples(plan: TaggerPlan, corpus: CorpusFiles, part: str) -> Examples:
    """Read a part of a corpus, with the columns that features look at."""
    target = Target(corpus.target)
    columns = compile_templates(choose_templates(_list_columns(plan, corpus), target)).columns
    return Examples(corpus.read(plan.data, part, plan.limit), target, columns)


def make_training_set(
    plan: TaggerPlan, corpus: CorpusFiles, learner: FeatureLearner
) -> tuple[TrainingSet, Examples]:
    """Return numbered features and labels of what is learned from, and those sentences."""
    target, examples = Target(corpus.target), read_examples(plan, corpus, "learn")
    numbered = TrainingSet(
        examples,
        learner.list_labels(target, sorted(set(examples.labels))),
        compile_templates(choose_templates(_list_columns(plan, corpus), target, examples.labels)),
        rare=learner.rare,
        hash_bits=learner.hash_bits,
        min_count=learner.min_count,
    )
    return numbered, examples


def _list_columns(plan: TaggerPlan, corpus: CorpusFiles) -> tuple[str, ...]:
    return tuple(next(iter(corpus.read(plan.data, "learn", 1))).columns)


@dataclass
class _Clock:
    """What one way of decoding took, and for how much."""

    seconds: float = 0.0  # of the processor, extrapolated to all sentences of the pieces so far
    measured: int = 0  # sentences that were learned from


def time_learning(
    plan: TaggerPlan, corpus: CorpusFiles, data: TrainingSet, lengths: Lengths
) -> list[Learning]:
    """Time the epochs of perceptrons that decode in different ways.

    All of them go through the same training: it is cut into pieces, and each begins every piece with the
    weights that ``auto`` has then. ``auto`` learns from everything; where another is slow, the first
    sentences of each piece stand for all of it, by the number of tokens.
    """
    learners = [PerceptronLearner(epochs=plan.limit_epochs(EPOCHS), decoder=name) for name in DECODERS]
    trainers = [learner.start(data, threads=1) for learner in learners]
    clocks = [_Clock() for _ in DECODERS]
    epochs, seed = learners[0].epochs, learners[0].seed
    orders = [data.order(np.random.default_rng((seed, epoch))) for epoch in range(epochs)]
    patience = _PATIENCE * (0.1 if plan.quick else 1.0) / (_PIECES * epochs)
    for piece in (piece for order in orders for piece in np.array_split(order, _PIECES)):
        state = trainers[-1].state()
        for name, trainer, clock in zip(DECODERS, trainers, clocks, strict=True):
            if name != "auto":
                trainer.restore(state)
            _time_piece(trainer, piece, lengths, np.inf if name == "auto" else patience, clock)
    return [
        Learning(
            corpus=corpus.name,
            labels=len(data.inventory),
            decoder=name,
            epochs=epochs,
            seconds=clock.seconds,
            measured=clock.measured,
            needed=sum(map(len, orders)),
        )
        for name, clock in zip(DECODERS, clocks, strict=True)
    ]


def _time_piece(
    trainer: PerceptronTrainer, piece: Lengths, lengths: Lengths, patience: float, clock: _Clock
) -> None:
    """Learn from the sentences of a piece for as long as there is patience."""
    done, seconds, step = 0, 0.0, _STEP if np.isfinite(patience) else len(piece)
    while done < len(piece) and (not done or seconds < patience):
        begin = process_time()
        trainer.epoch(piece[done : done + step])
        seconds += process_time() - begin
        done, step = min(done + step, len(piece)), 2 * step
    clock.measured += done
    clock.seconds += seconds * int(lengths[piece].sum()) / max(1, int(lengths[piece[:done]].sum()))
