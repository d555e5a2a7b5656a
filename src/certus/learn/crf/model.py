"""First-order conditional random fields over sparse features: training and inference on arrays.

For labels y of a sentence whose token t has the features f with values v::

    score(y) = sum over t, f of v · state[f, y_t]  +  sum over t >= 1 of transition[y_{t-1}, y_t]
    P(y) = exp(score(y)) / Z

Only pairs seen in training have a weight, unless asked otherwise; what has none scores 0. There are no
weights for the start and the end of a sentence: features can say where they are. The formulas of the loss and
of its gradient stand in native/learn/crf/objective.hpp, those of the sum over label sequences in
crf_chain.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.chain.methods import limit_k
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.learn.crf.algorithms import LBFGS, Algorithm, Passes, check_least
from certus.learn.progress import Progress
from certus.learn.trainer import Arrays, Trainer
from certus.learn.training import train

Floats = NDArray[np.float64]


class ItemCorpus:
    """Sentences of tokens of numbered features, in four arrays.

    Args:
        sentence_begin: (sentences + 1,) where each sentence begins, in tokens, and where the last ends.
        token_begin: (tokens + 1,) where each token begins, in features, and where the last ends.
        features: (n,) feature numbers; the same one twice in a token counts twice.
        values: (n,) what each feature is multiplied with; None where all are 1.
    """

    def __init__(
        self,
        sentence_begin: ArrayLike,
        token_begin: ArrayLike,
        features: ArrayLike,
        values: ArrayLike | None = None,
    ) -> None:
        self.sentence_begin = _check_offsets("sentence_begin", sentence_begin)
        self.token_begin = _check_offsets("token_begin", token_begin)
        self.features = _check_features(features)
        self.values = None if values is None else np.ascontiguousarray(values, np.float64)
        if self.sentence_begin[-1] != self.tokens:
            raise InvalidInput(
                f"sentence_begin ends at token {self.sentence_begin[-1]}, but there are {self.tokens} tokens"
            )
        if self.token_begin[-1] != len(self.features):
            raise InvalidInput(
                f"token_begin ends at feature {self.token_begin[-1]}, but there are {len(self.features)}"
            )
        if self.values is not None:
            self._check_values(self.values)
        self.native = _native.Corpus(self.sentence_begin, self.token_begin, self.features, self.values)

    @classmethod
    def of_native(cls, native: _native.Corpus) -> ItemCorpus:
        """Make one of a corpus that the kernels made, whose arrays are used where they lie."""
        made = cls.__new__(cls)
        made.native, made.values = native, native.values
        made.sentence_begin, made.token_begin = native.sentence_begin, native.token_begin
        made.features = native.numbers
        return made

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.sentence_begin) - 1

    @property
    def tokens(self) -> int:
        """How many there are in all sentences."""
        return len(self.token_begin) - 1

    def _check_values(self, values: Floats) -> None:
        if values.shape != self.features.shape:
            raise InvalidInput(f"there are {len(self.features)} features, but values of shape {values.shape}")
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            token = int(np.searchsorted(self.token_begin, wrong[0], "right")) - 1
            sentence = int(np.searchsorted(self.sentence_begin, token, "right")) - 1
            raise InvalidInput(
                f"sentence {sentence}, token {token - self.sentence_begin[sentence]}: feature "
                f"{self.features[wrong[0]]} has the value {values[wrong[0]]}; values must be finite numbers"
            )


class ChainCRF:
    """Trained weights, ready for any number of sentences.

    Args:
        row_begin: (features + 1,) where the weights of each feature begin, and where the last ends.
        row_label: (weights,) their labels, increasing within a feature.
        row_weight: (weights,).
        transitions: (L, L) weights [from, to].
    """

    def __init__(
        self, row_begin: ArrayLike, row_label: ArrayLike, row_weight: ArrayLike, transitions: ArrayLike
    ) -> None:
        self.row_begin = _check_offsets("row_begin", row_begin)
        self.row_label = np.ascontiguousarray(row_label, np.int32)
        self.row_weight = np.ascontiguousarray(row_weight, np.float64)
        self.transitions = np.ascontiguousarray(transitions, np.float64)
        self._check()
        self._native = _native.CrfModel.of(
            self.labels, self.row_begin, self.row_label, self.row_weight, self.transitions
        )

    @classmethod
    def of_native(cls, model: _native.CrfModel) -> ChainCRF:
        """Make one of the weights that a native model holds."""
        return cls(**_list_weights(model))

    @property
    def labels(self) -> int:
        """How many there are."""
        return len(self.transitions)

    @property
    def features(self) -> int:
        """How many the model knows."""
        return len(self.row_begin) - 1

    def emissions(self, corpus: ItemCorpus, *, threads: int = 1) -> Floats:
        """Score every label at every token by its features: (tokens, L)."""
        self._accepts(corpus, threads)
        return self._native.emissions(corpus.native, threads)

    def decode(self, corpus: ItemCorpus, *, threads: int = 1) -> NDArray[np.int64]:
        """Find the best labels of every sentence: (tokens,)."""
        self._accepts(corpus, threads)
        return self._native.decode(corpus.native, threads)

    def marginals(self, corpus: ItemCorpus, *, threads: int = 1) -> _native.CrfMarginals:
        """Compute ``probabilities`` P(y_t = y), (tokens, L), and ``log_partitions`` log Z, (sentences,)."""
        self._accepts(corpus, threads)
        return self._native.marginals(corpus.native, threads)

    def decode_kbest(self, corpus: ItemCorpus, sentence: int, k: int) -> _native.CrfKBest:
        """Find the k best ``labels`` of a sentence, (n, T), and their ``log_probabilities``, (n,).

        n is k, or the number of label sequences where there are fewer.
        """
        self._accepts(corpus, 1)
        check_count("k", k)
        if not 0 <= sentence < corpus.sentences:
            raise InvalidInput(f"sentence {sentence} is not one of the {corpus.sentences} of the corpus")
        length = int(corpus.sentence_begin[sentence + 1] - corpus.sentence_begin[sentence])
        return self._native.decode_kbest(corpus.native, sentence, limit_k(k, self.labels, length))

    def predict(
        self, vocabulary: _native.CrfVocabulary, X: Any, names: tuple[str, ...], threads: int
    ) -> list[list[str]]:
        """Go from features by name to the names of the best labels, without a stop at Python in between."""
        return self._native.predict(vocabulary, X, names, threads)

    def _check(self) -> None:
        if (
            self.transitions.ndim != 2
            or self.transitions.shape[0] != self.transitions.shape[1]
            or not self.labels
        ):
            raise InvalidInput(f"transitions must have shape (L, L), not {self.transitions.shape}")
        count = int(self.row_begin[-1])
        if self.row_label.shape != (count,) or self.row_weight.shape != (count,):
            raise InvalidInput(
                f"row_begin tells of {count} weights, but row_label has shape {self.row_label.shape} "
                f"and row_weight {self.row_weight.shape}"
            )
        if not (np.isfinite(self.row_weight).all() and np.isfinite(self.transitions).all()):
            raise InvalidInput("a weight is not finite")
        if count and not (self.row_label.min() >= 0 and self.row_label.max() < self.labels):
            raise InvalidInput(f"row_label has a label outside of 0 to {self.labels - 1}")
        steps = np.diff(self.row_label)
        starts = self.row_begin[1:-1]
        inside = np.ones(max(count - 1, 0), bool)
        inside[starts[(starts > 0) & (starts < count)] - 1] = False
        if (steps[inside] <= 0).any():
            raise InvalidInput("the labels of a feature are not increasing in row_label")

    def _accepts(self, corpus: ItemCorpus, threads: int) -> None:
        check_count("threads", threads)
        if len(corpus.features) and int(corpus.features.max()) >= self.features:
            raise InvalidInput(
                f"feature {corpus.features.max()} is unknown to a model of {self.features} features; "
                "leave out what was not in training"
            )

    def __reduce__(self) -> Any:
        return ChainCRF, (self.row_begin, self.row_label, self.row_weight, self.transitions)

    def __repr__(self) -> str:
        return f"ChainCRF({self.labels} labels, {self.features} features, {len(self.row_weight)} weights)"


def train_crf(
    corpus: ItemCorpus,
    gold: ArrayLike,
    *,
    labels: int,
    features: int,
    algorithm: Algorithm | None = None,
    min_freq: float = 0.0,
    all_possible_states: bool = False,
    all_possible_transitions: bool = False,
    threads: int = 1,
    seed: int = 0,
    measure: Callable[[ChainCRF], float] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> ChainCRF:
    """Train a CRF.

    The same corpus, options and seed give the same weights to the last digit, whatever the threads.

    Args:
        corpus: the sentences.
        gold: (tokens,) their labels, numbered from 0.
        labels: how many labels there are.
        features: how many features there are.
        algorithm: one of ``certus.learn.crf.algorithms``, LBFGS() by default.

    Other args:
        min_freq: how often a feature and a label, or two labels in a row, have to be seen together to be
            given a weight; features count by the size of their values.
        all_possible_states: give every feature a weight with every label, seen together or not. What was not
            seen has a frequency of 0: as in CRFsuite, a ``min_freq`` above 0 leaves it out.
        all_possible_transitions: give every two labels a weight, seen in a row or not; likewise.
        threads: for L-BFGS; the other algorithms learn from one sentence after the other.
        seed: decides the order of the sentences, for the algorithms that shuffle them.
        measure: called with the model after each iteration; what it returns is the ``dev`` of the progress.
        progress: called after each iteration; training ends where it returns True.
    """
    trainer = make_trainer(
        corpus,
        gold,
        labels=labels,
        features=features,
        min_freq=min_freq,
        all_possible_states=all_possible_states,
        all_possible_transitions=all_possible_transitions,
    )
    check_count("threads", threads)
    check_count("seed", seed, least=0)
    algorithm = algorithm or LBFGS()
    outcome = train(
        ItemTrainer(trainer, algorithm.begin(trainer, threads, seed)),
        epochs=algorithm.max_iterations,
        order=lambda _: np.empty(0, np.int64),  # algorithms shuffle sentences themselves
        measure=None if measure is None else lambda weights: measure(ChainCRF(**weights)),
        progress=progress or (lambda _: None),
    )
    return ChainCRF(**outcome.weights)


class ItemTrainer(Trainer):
    """A first-order CRF that one of the algorithms trains."""

    def __init__(self, weights: _native.CrfTrainer, passes: Passes) -> None:
        self._weights, self._passes = weights, passes

    @property
    def epochs(self) -> int:
        """How many iterations were done."""
        return self._passes.epochs

    @property
    def done(self) -> bool:
        """Whether the algorithm has converged."""
        return self._passes.done

    def epoch(self, order: NDArray[np.int64]) -> float | None:
        """Do an iteration; the algorithm has an order of its own."""
        return self._passes.epoch()

    def finish(self) -> None:
        """Put the final weights in place."""
        self._passes.finish()

    def compile(self) -> Arrays:
        """Return the weights as ``ChainCRF`` takes them."""
        return _list_weights(self._weights.model())


def _list_weights(model: _native.CrfModel) -> Arrays:
    rows = model.rows()
    return {
        "row_begin": rows.begin,
        "row_label": rows.label,
        "row_weight": rows.weight,
        "transitions": model.transitions,
    }


def make_trainer(
    corpus: ItemCorpus,
    gold: ArrayLike,
    *,
    labels: int,
    features: int,
    min_freq: float = 0.0,
    all_possible_states: bool = False,
    all_possible_transitions: bool = False,
    latent: int = 1,
    pairs: ItemCorpus | None = None,
    pair_features: int = 0,
    shared_pairs: bool = False,
) -> _native.CrfTrainer:
    """Check a labelled corpus and lay out the weights it gives rise to; see train_crf.

    With ``latent`` states per label, each state of a label has weights of its own, for all that the label has
    a weight for. ``pairs`` are features, numbered from 0 by themselves, that have a weight for each two
    labels in a row that they were seen with, or, unless these are to be shared, for each two states of such
    labels; those of a sentence's first token count for nothing. The weights of both kinds are found by LBFGS
    alone.
    """
    check_count("labels", labels)
    check_count("latent", latent)
    check_count("features", features, least=0)
    check_least("min_freq", min_freq, 0)
    ids = np.asarray(gold)
    if ids.shape != (corpus.tokens,):
        raise InvalidInput(f"there are {corpus.tokens} tokens, but gold labels of shape {ids.shape}")
    if corpus.tokens == 0:
        raise InvalidInput("there is nothing to learn from: the corpus has no tokens")
    if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= labels:
        raise InvalidInput(f"gold labels must be whole numbers from 0 to {labels - 1}")
    if len(corpus.features) and int(corpus.features.max()) >= features:
        raise InvalidInput(f"feature {corpus.features.max()} is not one of {features}, numbered from 0")
    if pairs is not None:
        _check_pairs(corpus, pairs, pair_features)
    return _native.CrfTrainer(
        labels,
        features,
        corpus.native,
        np.ascontiguousarray(ids, np.int32),
        min_freq=min_freq,
        all_states=bool(all_possible_states),
        all_transitions=bool(all_possible_transitions),
        latent=latent,
        pairs=None if pairs is None else pairs.native,
        pair_features=pair_features,
        shared_pairs=shared_pairs,
    )


def _check_pairs(corpus: ItemCorpus, pairs: ItemCorpus, features: int) -> None:
    check_count("pair_features", features, least=0)
    if not np.array_equal(corpus.sentence_begin, pairs.sentence_begin):
        raise InvalidInput("the features of pairs are of other sentences than the others")
    if len(pairs.features) and int(pairs.features.max()) >= features:
        raise InvalidInput(f"pair feature {pairs.features.max()} is not one of {features}, numbered from 0")


def _check_offsets(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.ascontiguousarray(values, np.int64)
    if array.ndim != 1 or len(array) == 0 or array[0] != 0 or (np.diff(array) < 0).any():
        raise InvalidInput(f"{name} must be a row of whole numbers that begins with 0 and never falls")
    return array


def _check_features(values: ArrayLike) -> NDArray[np.uint32]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInput(
            f"features must be a row of whole numbers, not {array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or array.max() >= 2**32 - 1):
        raise InvalidInput("feature numbers must be from 0 to 2^32 - 2")
    return np.ascontiguousarray(array, np.uint32)
