"""The compiled kernels. Shapes and types are checked before anything comes here.

Statuses are 0 optimal, 1 feasible, 2 infeasible, 3 invalid. Where one is infeasible, `position` is the first
position that no path reaches; where it is invalid, `position` and `label` say where the bad score is.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

# status, found (or label), score, bound, position, then the five counters
Result: TypeAlias = tuple[int, int, float, float, int, int, int, int, int, int]

METHODS: tuple[str, ...]
MOST_ORDER: int

@final
class Request:
    def __init__(
        self,
        *,
        k: int = 1,
        width: int = ...,
        heuristic: int = ...,
        columnwise: bool = ...,
        sparse: bool = ...,
    ) -> None: ...

class _Model:
    @overload
    def __init__(
        self, matrices: NDArray[Any], shared: bool, start: NDArray[Any] | None, end: NDArray[Any] | None
    ) -> None: ...
    @overload
    def __init__(
        self,
        labels: int,
        fallback: float,
        origin: NDArray[np.int64],
        target: NDArray[np.int64],
        score: NDArray[Any],
        start: NDArray[Any] | None,
        end: NDArray[Any] | None,
    ) -> None: ...
    def rank(self, order: NDArray[np.int64], /) -> None: ...
    def takes(self, emissions: list[Any], /) -> bool: ...
    def decode(self, emissions: NDArray[Any], labels: NDArray[np.int64], method: int) -> Result | None: ...
    def decode_with(
        self,
        emissions: NDArray[Any],
        labels: NDArray[np.int64],
        scores: NDArray[np.float64],
        method: int,
        request: Request,
    ) -> Result: ...
    def decode_many(
        self,
        emissions: list[NDArray[Any]],
        labels: NDArray[np.int64],
        scores: NDArray[np.float64],
        bounds: NDArray[np.float64],
        results: NDArray[np.int64],
        method: int,
        request: Request,
        threads: int,
        /,
    ) -> None: ...

@final
class Model32(_Model): ...

@final
class Model64(_Model): ...

class _Paths:
    status: int
    position: int
    label: int
    remaining: float
    def __init__(self, model: _Model, emissions: NDArray[Any]) -> None: ...
    def next(self, labels: NDArray[np.int64]) -> tuple[bool, float]: ...

@final
class Paths32(_Paths): ...

@final
class Paths64(_Paths): ...

def marginals(
    model: _Model, emissions: NDArray[Any], probabilities: NDArray[np.float64]
) -> tuple[int, int, int, float]: ...
def sample(
    model: _Model, emissions: NDArray[Any], uniforms: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[int, int, int]: ...
def path_scores(
    model: _Model, emissions: NDArray[Any], labels: NDArray[np.int64], scores: NDArray[np.float64]
) -> None: ...

@final
class Extractor:
    columns: int
    most: int
    def __init__(
        self, program: NDArray[np.int32], columns: int, frequent: NDArray[np.uint64], bits: int = 0
    ) -> None: ...
    def keys(self, columns: list[list[str]]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
    def keys_of_all(
        self, sentences: list[list[list[str]]]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...

def word_keys(words: list[str]) -> NDArray[np.uint64]: ...

# A corpus: sentence_begin, token_begin, feature, value (None where all values are 1).
CrfArrays: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64] | None
]

@final
class CrfCorpus:
    def __init__(
        self,
        sentence_begin: NDArray[np.int64],
        token_begin: NDArray[np.int64],
        feature: NDArray[np.uint32],
        value: NDArray[np.float64] | None,
    ) -> None: ...

@final
class CrfVocabulary:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, text: bytes, begin: NDArray[np.int64]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def text(self) -> bytes: ...
    @property
    def begin(self) -> NDArray[np.int64]: ...
    def only(self, at: NDArray[np.int64]) -> CrfVocabulary: ...
    def intern(self, sentences: Iterable[Any], name: str = "X") -> CrfArrays: ...
    def lookup(self, sentences: Iterable[Any], name: str = "X") -> CrfArrays: ...

@final
class CrfModel:
    @staticmethod
    def of(
        labels: int,
        begin: NDArray[np.int64],
        label: NDArray[np.int32],
        weight: NDArray[np.float64],
        transitions: NDArray[np.float64],
    ) -> CrfModel: ...
    def rows(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
    def decode(self, corpus: CrfCorpus, threads: int) -> NDArray[np.int64]: ...
    def emissions(self, corpus: CrfCorpus, threads: int) -> NDArray[np.float64]: ...
    def marginals(
        self, corpus: CrfCorpus, threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def best(
        self, corpus: CrfCorpus, sentence: int, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def predict(
        self, vocabulary: CrfVocabulary, sentences: Iterable[Any], names: tuple[str, ...], threads: int
    ) -> list[list[str]]: ...

@final
class CrfSgd:
    def __init__(self, trainer: CrfTrainer, *, c1: float, eta: float, decay: float) -> None: ...
    @property
    def epochs(self) -> int: ...
    @property
    def done(self) -> bool: ...
    def epoch(self, order: NDArray[np.int64]) -> float: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

class CrfLbfgs:
    def __init__(
        self,
        trainer: CrfTrainer,
        *,
        c1: float,
        c2: float,
        memories: int,
        epsilon: float,
        period: int,
        delta: float,
        search: int,
        max_trials: int,
        threads: int,
    ) -> None: ...
    @property
    def epochs(self) -> int: ...
    @property
    def done(self) -> bool: ...
    def epoch(self, order: NDArray[np.int64]) -> float: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

class CrfTrainer:
    weights: NDArray[np.float64]
    def __init__(
        self,
        labels: int,
        features: int,
        corpus: CrfCorpus,
        gold: NDArray[np.int32],
        *,
        min_freq: float,
        all_states: bool,
        all_transitions: bool,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def holes(self) -> NDArray[np.int64]: ...
    def objective(
        self, weights: NDArray[np.float64], gradient: NDArray[np.float64], c2: float, threads: int
    ) -> float: ...
    def model(self) -> CrfModel: ...
    def lbfgs(
        self,
        *,
        c1: float,
        c2: float,
        max_iterations: int,
        memories: int,
        epsilon: float,
        period: int,
        delta: float,
        search: int,
        max_trials: int,
        threads: int,
        report: Callable[[int, float], bool],
    ) -> int: ...
    def l2sgd(
        self,
        *,
        c2: float,
        max_iterations: int,
        period: int,
        delta: float,
        eta: float,
        rate: float,
        samples: int,
        candidates: int,
        max_trials: int,
        seed: int,
        report: Callable[[int, float], bool],
    ) -> None: ...
    def sgd(
        self,
        *,
        c1: float,
        max_iterations: int,
        eta: float,
        decay: float,
        seed: int,
        report: Callable[[int, float], bool],
    ) -> None: ...
    def perceptron(
        self, *, max_iterations: int, epsilon: float, seed: int, report: Callable[[int, float], bool]
    ) -> None: ...
    def passive_aggressive(
        self,
        *,
        type: int,
        c: float,
        error_sensitive: bool,
        averaging: bool,
        max_iterations: int,
        epsilon: float,
        seed: int,
        report: Callable[[int, float], bool],
    ) -> None: ...
    def arow(
        self,
        *,
        variance: float,
        gamma: float,
        max_iterations: int,
        epsilon: float,
        seed: int,
        report: Callable[[int, float], bool],
    ) -> None: ...

@final
class Corpus:
    """Sentences as learners see them: numbered features, and labels."""

    sentences: int
    tokens: int
    features: int
    occurrences: int
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]: ...

def number_features(
    keys: NDArray[np.uint64],
    ends: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    labels: NDArray[np.int32],
    least: int,
) -> Corpus:
    """Leave out features that occur fewer than `least` times."""

def compile_rows(
    corpus: Corpus,
    units: int,
    begin: NDArray[np.int64],
    unit: NDArray[np.int32],
    weight: NDArray[np.float64],
    least: float,
) -> Compiled: ...

@final
class Tagset:
    """Row y of `parts` holds the units of label y, its coarse tag (one of `groups`) first, padded with -1."""

    labels: int
    groups: int
    units: int
    def __init__(self, parts: NDArray[np.int32], groups: int, units: int) -> None: ...

# What learners compile: slots, rows and step, which a Tagger takes, and how many features and weights they
# hold; of a CRF also ngram_keys, ngram_weights and thresholds; of a perceptron transition_from,
# transition_to and transition_score, where the boundary is the label after the last.
Compiled: TypeAlias = dict[str, Any]

# What an epoch did. CRF: loss a token; updates, sentences by the lattice they were learned from (coarse
# tags, labels, order 1, 2, ...); kept, the coarse tags a token and the states of each lattice that is
# pruned. Perceptron: errors and wrong, the tokens and sentences that were labelled wrongly before they were
# learned from.
Report: TypeAlias = dict[str, Any]

@final
class PrunedCrf:
    epochs: int
    def __init__(
        self,
        corpus: Corpus,
        tagset: Tagset,
        *,
        order: int,
        rate: float,
        decay: float,
        l1: float,
        burn_in: int,
        least: float,
        wanted: Sequence[float],
    ) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> Report: ...
    def compile(self, corpus: Corpus, least: float) -> Compiled: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

@final
class Perceptron:
    epochs: int
    margin: float
    burn_in_epochs: int
    def __init__(self, corpus: Corpus, tagset: Tagset, method: int) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> Report: ...
    def compile(self, corpus: Corpus, tagset: Tagset, least: float) -> Compiled: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

# labels [k][T] a sentence, -1 where there are fewer than k; found; scores [k]; bounds; optimal; confidences
# [T] and log-partitions, both empty unless asked for; positions: the first that no path reaches where found
# is 0
Tagged: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.float32],
    NDArray[np.float64],
    NDArray[np.int64],
]

@final
class Tagger:
    def __init__(
        self,
        extractor: Extractor,
        tagset: Tagset,
        slots: NDArray[np.uint64],
        rows: NDArray[np.uint32],
        step: float,
    ) -> None: ...
    def use_chain(self, chain: Model32) -> None: ...
    def use_cascade(
        self,
        order: int,
        keys: NDArray[np.uint64],
        weights: NDArray[np.float32],
        thresholds: Sequence[float],
    ) -> None: ...
    def tag(
        self,
        sentences: Sequence[Sequence[Sequence[str]]],
        *,
        k: int = 1,
        confidence: bool = False,
        threads: int = 1,
        allowed: Sequence[Sequence[NDArray[np.int32] | None] | None] | None = None,
        legal: NDArray[np.bool_] | None = None,
    ) -> Tagged:
        """Label sentences.

        `allowed`: the labels of each token of each sentence, None for all. `legal`, for cascades only (a
        chain gets -inf transitions instead): [before, after] of labels + 1, the last being the sentence's
        boundary.
        """
    def emissions(self, columns: Sequence[Sequence[str]], out: NDArray[np.float32]) -> None: ...

class Lattices:
    """Label sequences of many sentences; adjustments are added at ascending token numbers."""

    def decode(
        self,
        which: NDArray[np.int64],
        tokens: NDArray[np.int64],
        adjust: NDArray[np.float64],
        labels: NDArray[np.int32],
        scores: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def max_marginals(
        self,
        sentence: int,
        tokens: NDArray[np.int64],
        adjust: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    def arcs(
        self, sentence: int
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.float64],
    ]: ...
    def shape(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...

@final
class CascadeLattices(Lattices): ...

@final
class ChainLattices(Lattices):
    def __init__(self, chain: Model64, first: NDArray[np.int64], emissions: NDArray[np.float32]) -> None: ...

def search_all(
    tagger: Tagger, sentences: Sequence[Sequence[Sequence[str]]], pruning: float, threads: int
) -> CascadeLattices: ...
def emissions_of_all(
    tagger: Tagger, sentences: Sequence[Sequence[Sequence[str]]], out: NDArray[np.float32], threads: int
) -> None: ...

@final
class Field:
    def __init__(
        self, group: NDArray[np.int32], same: float, close: float, null: float, nodes: int, window: float
    ) -> None: ...
    def add(
        self,
        lattices: Lattices,
        sentence: int,
        token: int,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int32],
        scores: NDArray[np.float64],
        pruned: NDArray[np.uint8],
    ) -> None: ...
    def merge(self, into: NDArray[np.int64]) -> None: ...
    def close(self) -> None: ...
    def iterate(self, reach: int) -> int: ...
    def torn(self) -> int: ...
    def certify(self) -> int: ...
    def improve(self) -> None: ...
    def branch(self, iterations: int, limit: int) -> int: ...
    def bound(self) -> float: ...
    def labels(self, out: NDArray[np.int32], scores: NDArray[np.float64]) -> float: ...
    def nodes(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]: ...
    def components(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def open_sentences(self) -> NDArray[np.int64]: ...
    def size(self) -> tuple[int, int]: ...

@final
class Subgradient:
    def __init__(self, field: Field, rate: float, lazy: bool) -> None: ...
    def iterate(self) -> tuple[int, int, int, float]: ...
    def finish(self) -> None: ...

@final
class Mrf:
    def __init__(
        self,
        group: NDArray[np.int32],
        same: float,
        close: float,
        null: float,
        nodes: int,
        node_of: NDArray[np.int64],
        candidates: NDArray[np.int64],
        labels: NDArray[np.int32],
        seen_nodes: NDArray[np.int64],
        seen_labels: NDArray[np.int32],
        seen_counts: NDArray[np.float64],
    ) -> None: ...
    def maximize(
        self, which: NDArray[np.int64], u: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]: ...
