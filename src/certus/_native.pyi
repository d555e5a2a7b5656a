"""The compiled kernels. Shapes and types are checked before anything comes here."""

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

class Status(enum.Enum):
    OPTIMAL = ...
    FEASIBLE = ...
    INFEASIBLE = ...
    INVALID = ...

@final
class Conclusion:
    status: Status
    bound: float

def conclude(score: float, bound: float, allowance: float) -> Conclusion: ...

# Ends what threads of Python's own do in the kernels: they enter it, and another thread cancels.
@final
class Cancellation:
    def __init__(self) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *args: object) -> None: ...
    def cancel(self) -> None: ...

# The figures in the papers' tables.
@final
class Counters:
    def __init__(
        self,
        *,
        iterations: int = 0,
        activated: int = 0,
        pruned: int = 0,
        edges: int = 0,
        expanded: int = 0,
    ) -> None: ...
    @property
    def iterations(self) -> int: ...
    @property
    def activated(self) -> int: ...
    @property
    def pruned(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def expanded(self) -> int: ...
    @property
    def stats(self) -> dict[str, int]: ...

# What a sentence came to. Where it is infeasible, `position` is the first that no path reaches; where it is
# invalid, `position` and `label` say where the bad score is.
@final
class Result:
    @property
    def status(self) -> Status: ...
    @property
    def optimal(self) -> bool: ...
    @property
    def found(self) -> int: ...
    @property
    def score(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def position(self) -> int: ...
    @property
    def label(self) -> int: ...
    @property
    def stats(self) -> dict[str, int]: ...

# What a sum over all paths came to; `position` and `label` as in Result.
@final
class Summary:
    @property
    def status(self) -> Status: ...
    @property
    def position(self) -> int: ...
    @property
    def label(self) -> int: ...
    @property
    def log_partition(self) -> float: ...

METHODS: tuple[str, ...]  # the names of the solvers; the place of a name is the number of its solver
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
        first: bool = ...,
        ends: bool = ...,
        listed: int = ...,
        patience: float = ...,
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
    def can_take_all(self, emissions: list[Any], /) -> bool: ...
    def check(self, emissions: NDArray[Any]) -> Result: ...
    def count_paths(self, emissions: NDArray[Any]) -> float: ...
    def decode(self, emissions: NDArray[Any], labels: NDArray[np.int64], method: int) -> Result | None: ...
    def decode_list(
        self,
        emissions: NDArray[Any],
        labels: NDArray[np.int64],
        scores: NDArray[np.float64],
        method: int,
    ) -> Result | None: ...
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
        method: int,
        request: Request,
        threads: int,
        /,
    ) -> list[Result]: ...

@final
class Model32(_Model): ...

@final
class Model64(_Model): ...

# Packed forests. Outcomes are 0 fine, 2 infeasible, 3 invalid (where), 4 out of range, 5 too large.

MOST_DERIVATION_EDGES: int

def first_invalid(scores: NDArray[Any]) -> int: ...

class ForestOutcome(enum.Enum):
    FINE = ...
    INFEASIBLE = ...
    INVALID = ...
    OVERFLOW = ...
    TOO_LARGE = ...
    TOO_MANY = ...

class ForestFault(enum.Enum):
    NONE = ...
    OFFSETS = ...
    HEAD = ...
    TAIL = ...
    GOAL = ...
    CYCLE = ...

class ForestAnswer:
    outcome: ForestOutcome
    where: int
    value: float

@final
class ForestDerivation(ForestAnswer):
    edges: NDArray[np.int64]
    twice: int

@final
class ForestDerivationList(ForestAnswer):
    edges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]

@final
class Forest:
    fault: ForestFault
    where: int
    cycle: list[int]
    in_order: bool
    def __init__(
        self,
        nodes: int,
        heads: NDArray[np.int64],
        offsets: NDArray[np.int64],
        tails: NDArray[np.int64],
        goals: NDArray[np.int64],
    ) -> None: ...
    def viterbi(self, scores: NDArray[Any]) -> ForestDerivation: ...
    def sums(
        self,
        scores: NDArray[Any],
        into: NDArray[np.float64],
        outer: NDArray[np.float64],
        logarithmic: bool,
        outside: bool,
    ) -> ForestAnswer: ...
    def max_marginals(
        self, scores: NDArray[Any], edges: NDArray[np.float64], nodes: NDArray[np.float64]
    ) -> ForestAnswer: ...
    def marginals(
        self, scores: NDArray[Any], edges: NDArray[np.float64], nodes: NDArray[np.float64]
    ) -> ForestAnswer: ...
    def useful(self, scores: NDArray[Any]) -> NDArray[np.uint8]: ...
    def sample(self, scores: NDArray[Any], n: int, seed: int) -> ForestDerivationList: ...
    def stream(self, scores: NDArray[Any]) -> int: ...
    def count(self, scores: NDArray[Any], modulus: int) -> int: ...
    def missing(self, scores: NDArray[Any]) -> int: ...
    def rounding(self, scores: NDArray[Any]) -> float: ...

@final
class ForestDerivations:
    outcome: ForestOutcome
    where: int
    expanded: int
    def __init__(self, forest: Forest, scores: NDArray[Any]) -> None: ...
    def next(self, n: int) -> ForestDerivationList: ...

class ForestMethod(enum.Enum):
    AUTOMATIC = ...
    BRANCHING = ...
    BEAM = ...
    OPTIMAL_BEAM = ...
    STAGED_BEAM = ...
    LAGRANGIAN = ...
    TIGHTENING = ...
    ASTAR = ...

class ForestSearch:
    found: bool
    score: float
    bound: float
    edges: NDArray[np.int64]
    too_large: bool
    iterations: int
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    subproblems: int
    states: int
    fixed: int
    def run(self, units: int, seconds: float = ...) -> bool: ...

@final
class ForestKBestSearch(ForestSearch):
    rest: float
    list: ForestDerivationList
    def __init__(
        self,
        forest: Forest,
        scores: NDArray[Any],
        begin: NDArray[np.int64],
        edges: NDArray[np.int64],
        coefficients: NDArray[np.float64],
        targets: NDArray[np.float64],
        size: int,
        k: int,
    ) -> None: ...

def search_forest(
    forest: Forest,
    scores: NDArray[Any],
    begin: NDArray[np.int64],
    edges: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    targets: NDArray[np.float64],
    method: ForestMethod,
    size: int,
) -> ForestSearch: ...

@final
class ForestCells:
    def __init__(
        self,
        forest: Forest,
        scores: NDArray[np.float64],
        edges: NDArray[np.int64],
        cells: NDArray[np.int64],
        cell_count: int,
    ) -> None: ...
    def maximize(self, adjust: NDArray[np.float64], uses: NDArray[np.uint8]) -> ForestDerivation: ...
    def max_marginals(self, adjust: NDArray[np.float64], out: NDArray[np.float64]) -> ForestAnswer: ...
    @property
    def is_huge(self) -> bool: ...
    def make_part(self) -> RelaxPart: ...
    def use(self, edges: NDArray[np.int64], uses: NDArray[np.uint8]) -> None: ...

class _Paths:
    @property
    def begun(self) -> Result: ...  # whether there is any path, and if not, why
    @property
    def remaining(self) -> float: ...
    def __init__(self, model: _Model, emissions: NDArray[Any]) -> None: ...
    # Writes the next path and returns its score; None where there is no more.
    def next(self, labels: NDArray[np.int64]) -> float | None: ...

@final
class Paths32(_Paths): ...

@final
class Paths64(_Paths): ...

def marginals(model: _Model, emissions: NDArray[Any], out: NDArray[np.float64]) -> Summary: ...
def sample(
    model: _Model, emissions: NDArray[Any], uniforms: NDArray[np.float64], out: NDArray[np.int64]
) -> Summary: ...
def path_scores(
    model: _Model, emissions: NDArray[Any], labels: NDArray[np.int64], out: NDArray[np.float64]
) -> None: ...

@final
class Extractor:
    columns: int
    most: int
    def __init__(
        self,
        program: NDArray[np.int32],
        columns: int,
        frequent: NDArray[np.uint64],
        bits: int = 0,
        seen: NDArray[np.uint64] | None = None,
    ) -> None: ...
    def keys_of_all(
        self, sentences: list[list[list[str]]]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...

def word_keys(words: list[str]) -> NDArray[np.uint64]: ...

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
    def intern(self, sentences: Iterable[Any], name: str = "X") -> Corpus: ...
    def lookup(self, sentences: Iterable[Any], name: str = "X") -> Corpus: ...

@final
class CrfRows:
    """The weights of features with labels that are not 0.

    Those of feature f are at begin[f] up to begin[f + 1] of the other two.
    """

    begin: NDArray[np.int64]  # (features + 1,)
    label: NDArray[np.int32]  # (weights,)
    weight: NDArray[np.float64]  # (weights,)

@final
class CrfMarginals:
    probabilities: NDArray[np.float64]  # (tokens, L)
    log_partitions: NDArray[np.float64]  # (sentences,)

@final
class CrfKBest:
    """The k best label sequences of a sentence, or all where there are fewer, best first."""

    labels: NDArray[np.int64]  # (found, T)
    log_probabilities: NDArray[np.float64]  # (found,)

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
    @property
    def transitions(self) -> NDArray[np.float64]: ...  # (L, L), [from, to]
    def rows(self) -> CrfRows: ...
    def decode(self, corpus: Corpus, threads: int) -> NDArray[np.int64]: ...
    def emissions(self, corpus: Corpus, threads: int) -> NDArray[np.float64]: ...
    def marginals(self, corpus: Corpus, threads: int) -> CrfMarginals: ...
    def decode_kbest(self, corpus: Corpus, sentence: int, k: int) -> CrfKBest: ...
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
    stepped: bool  # whether the last epoch found a step that leads down
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
        corpus: Corpus,
        gold: NDArray[np.int32],
        *,
        min_freq: float,
        all_states: bool,
        all_transitions: bool,
        latent: int = 1,
        pairs: Corpus | None = None,
        pair_features: int = 0,
        shared_pairs: bool = False,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def singles(self) -> int:
        """The size without the features of pairs, whose weights come last."""
    @property
    def parameters(self) -> int: ...
    @property
    def holes(self) -> NDArray[np.int64]: ...
    def objective(
        self, weights: NDArray[np.float64], gradient: NDArray[np.float64], c2: float, threads: int
    ) -> float: ...
    def model(self) -> CrfModel: ...
    def pair_rows(self) -> CrfRows: ...

@final
class CrfPasses:
    """An algorithm that learns in passes over the sentences, in orders of its own."""

    epochs: int
    done: bool
    def epoch(self) -> float: ...
    def finish(self) -> None: ...

def crf_l2sgd(
    trainer: CrfTrainer,
    *,
    c2: float,
    period: int,
    delta: float,
    eta: float,
    rate: float,
    samples: int,
    candidates: int,
    max_trials: int,
    seed: int,
) -> CrfPasses: ...
def crf_sgd(trainer: CrfTrainer, *, c1: float, eta: float, decay: float, seed: int) -> CrfPasses: ...
def crf_perceptron(trainer: CrfTrainer, *, epsilon: float, seed: int) -> CrfPasses: ...
def crf_passive_aggressive(
    trainer: CrfTrainer,
    *,
    type: int,
    c: float,
    error_sensitive: bool,
    averaging: bool,
    epsilon: float,
    seed: int,
) -> CrfPasses: ...
def crf_arow(
    trainer: CrfTrainer, *, variance: float, gamma: float, epsilon: float, seed: int
) -> CrfPasses: ...

@final
class Corpus:
    """Sentences as learners see them: numbered features, and labels."""

    sentences: int
    tokens: int
    features: int
    occurrences: int
    sentence_begin: NDArray[np.int64]  # (sentences + 1,) where each begins, in tokens; read-only
    token_begin: NDArray[np.int64]  # (tokens + 1,) where each begins, in features; read-only
    numbers: NDArray[np.uint32]  # the features of all tokens; read-only
    values: NDArray[np.float64] | None  # what each is multiplied with; None where all are 1; read-only
    def __init__(
        self,
        sentence_begin: NDArray[np.int64],
        token_begin: NDArray[np.int64],
        features: NDArray[np.uint32],
        values: NDArray[np.float64] | None,
    ) -> None: ...

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

@final
class LatentGain:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(
        self, ends: NDArray[np.uint8], begins: NDArray[np.uint8], kind: NDArray[np.int32]
    ) -> None: ...

class LatentInference(enum.Enum):
    LDI = ...
    BHP = ...
    BMP = ...

@final
class LatentRequest:
    seconds: float

    def __init__(
        self,
        *,
        inference: LatentInference,
        k: int = 1,
        steps: int = 0,
        bounded: bool = True,
        share: float = 1.0,
        all: bool = False,
        gain: LatentGain | None = None,
    ) -> None: ...

@final
class LatentAnswer:
    """What a sentence came to."""

    @property
    def status(self) -> Status: ...
    @property
    def position(self) -> int:
        """Where no path goes on, or where the bad score is."""
    @property
    def state(self) -> int:
        """Which state has the bad score."""
    @property
    def labels(self) -> NDArray[np.int32]:
        """(n, T) the label sequences found, most probable first."""
    @property
    def log_probabilities(self) -> NDArray[np.float64]:
        """(n,) how probable each is."""
    @property
    def unseen(self) -> float:
        """The log of a bound on the probability of any sequence that was not found."""
    @property
    def allowance(self) -> float:
        """The gap between this and a log probability that counts as rounding."""
    @property
    def remaining(self) -> float:
        """The probability of all of those together."""
    @property
    def stopped(self) -> bool:
        """Whether the time was over before anything was proven."""
    @property
    def log_partition(self) -> float: ...
    @property
    def gain(self) -> float:
        """What the first sequence gains on average, if there is something to rerank by."""
    @property
    def paths(self) -> int:
        """Latent paths looked at."""
    @property
    def sequences(self) -> int:
        """Label sequences found."""
    @property
    def expanded(self) -> int:
        """Prefixes of labels expanded."""

@final
class LatentModel:
    def __init__(
        self,
        transitions: NDArray[np.float64],
        begin: NDArray[np.int64],
        start: NDArray[np.float64] | None,
        end: NDArray[np.float64] | None,
    ) -> None: ...
    def infer(
        self,
        emissions: NDArray[np.float64],
        first: NDArray[np.int64],
        pairs: NDArray[np.floating[Any]] | None,
        request: LatentRequest,
        threads: int,
    ) -> list[LatentAnswer]:
        """Label sentences."""
    def marginals(
        self,
        emissions: NDArray[np.float64],
        first: NDArray[np.int64],
        pairs: NDArray[np.floating[Any]] | None,
        out: NDArray[np.float64],
        threads: int,
    ) -> list[LatentAnswer]: ...
    def log_probability(
        self,
        emissions: NDArray[np.float64],
        pairs: NDArray[np.floating[Any]] | None,
        labels: NDArray[np.int32],
    ) -> LatentAnswer: ...

# What learners compile: slots, rows and step, which a Tagger takes, and how many features and weights they
# hold; of a CRF also ngram_keys, ngram_weights, ngram_sequences (a row of order + 1 numbers for each n-gram,
# see native/scoring/ngrams.hpp) and thresholds; of a perceptron transition_from, transition_to and
# transition_score, where the boundary is the label after the last.
Compiled: TypeAlias = dict[str, Any]

# What an epoch did. CRF: loss a token; updates, sentences by the lattice they were learned from (coarse
# tags, labels, order 1, 2, ...); kept, the coarse tags a token and the states of each lattice that is
# pruned. Perceptron: errors and wrong, the tokens and sentences that were labelled wrongly before they were
# learned from.
@final
class PrunedCrfEpoch:
    """What an epoch did."""

    loss: float  # the negative log-likelihood per token
    updates: tuple[int, ...]  # sentences updated at coarse tags, labels, states of order 1, 2, ...
    kept: tuple[float, ...]  # coarse tags, then states of order 1, 2, ..., per position after pruning

@final
class PerceptronEpoch:
    """What an epoch did."""

    errors: int  # tokens
    wrong: int  # sentences

@final
class PrunedCrf:
    epochs: int
    keep_gold: bool  # whether pruning never drops what is annotated, as in oracle experiments
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
    def epoch(self, order: NDArray[np.int64]) -> PrunedCrfEpoch: ...
    def compile(self, corpus: Corpus, least: float) -> Compiled: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

@final
class Perceptron:
    epochs: int
    margin: float
    burn_in_epochs: int
    def __init__(self, corpus: Corpus, tagset: Tagset, method: int, pairs: Corpus | None = None) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> PerceptronEpoch: ...
    def compile(
        self, corpus: Corpus, tagset: Tagset, least: float, pairs: Corpus | None = None
    ) -> Compiled: ...
    def degenerate_labels(self) -> dict[str, NDArray[Any]] | None: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

@final
class Tagged:
    """The answers for many sentences, one sentence after the other."""

    labels: NDArray[np.int32]  # [k][T] of each sentence; -1 where fewer than k were found
    found: NDArray[np.int64]  # [sentences]: how many there are, at most k
    scores: NDArray[np.float64]  # [sentences * k]
    bounds: NDArray[np.float64]  # [sentences]
    optimal: NDArray[np.uint8]  # [sentences]
    stopped: NDArray[np.uint8]  # [sentences]: whether the time was over before
    confidences: NDArray[np.float32]  # [tokens], empty unless asked for
    log_partitions: NDArray[np.float64]  # [sentences], empty unless asked for
    log_partition_bounds: NDArray[np.float64]  # the same: of all sequences at most
    roundings: NDArray[np.float64]  # the same: how far log_partitions and scores are off at most, by rounding
    dropped_roundings: NDArray[np.float64]  # the same: how far the logarithm of what was dropped is off
    rounds: NDArray[np.int64]  # [sentences]: how often a cascade was built for the proof
    positions: NDArray[np.int64]  # [sentences]: the first that no path reaches, where none was found

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
        sequences: NDArray[np.unsignedinteger[Any]] | None = None,
    ) -> None: ...
    def weigh_sequences(self, sequences: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.float32]: ...
    def tag(
        self,
        sentences: Sequence[Sequence[Sequence[str]]],
        *,
        k: int = 1,
        confidence: bool = False,
        threads: int = 1,
        allowed: Sequence[Sequence[NDArray[np.int32] | None] | None] | None = None,
        legal: NDArray[np.bool_] | None = None,
        prove: bool = True,
        seconds: float = ...,
        max_iterations: int = ...,
    ) -> Tagged:
        """Label sentences.

        `allowed`: the labels of each token of each sentence, None for all. `legal`, for cascades only (a
        chain gets -inf transitions instead): [before, after] of labels + 1, the last being the sentence's
        boundary. `prove`: whether to bound what a cascade has dropped. `seconds`: after which no further
        search of a sentence begins; `max_iterations`: after how many.
        """
    def emissions(
        self, sentences: Sequence[Sequence[Sequence[str]]], out: NDArray[np.float32], threads: int = 1
    ) -> None: ...

@final
class Lattice:
    """The lattice of a sentence of T tokens; edges into a state come from neighbouring states."""

    begin: NDArray[np.uint32]  # [T + 3]: the first state of each position, boundaries included
    label: NDArray[np.int32]  # [states]: the number of labels at a boundary
    node: NDArray[np.float64]  # [states]
    first_source: NDArray[np.uint32]  # [states]: the state that the first edge into it comes from
    edge_begin: NDArray[np.uint32]  # [states + 1]: the first edge into each state
    edge: NDArray[np.float64]  # [edges]; -inf where there is none

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
    def make_part(self, sentence: int, base: NDArray[np.float64], cells: NDArray[np.int64]) -> RelaxPart: ...
    def lattice(self, sentence: int) -> Lattice: ...
    @property
    def first(self) -> NDArray[np.int64]: ...  # [sentences + 1]: tokens
    @property
    def outside(self) -> NDArray[np.float64]: ...  # [sentences]

@final
class StoredLattices(Lattices):
    @property
    def bytes(self) -> int: ...
    def take_better(self, which: NDArray[np.int64], others: Lattices) -> NDArray[np.uint8]: ...

@final
class ChainLattices(Lattices):
    def __init__(self, chain: Model64, first: NDArray[np.int64], emissions: NDArray[np.float32]) -> None: ...

def search_all(
    tagger: Tagger,
    sentences: Sequence[Sequence[Sequence[str]]],
    pruning: float,
    threads: int,
    bounded: bool = False,
    margins: NDArray[np.float64] | None = None,
) -> StoredLattices: ...

@final
class WrittenTree:
    labels: list[int]  # of the nodes in preorder
    arity: list[int]  # how many children each has, 0 over a word
    tags: list[int]  # of the words
    score: float

@final
class BestTrees:
    trees: list[WrittenTree]
    exhausted: bool
    edges: int

@final
class ParseForest:
    def __init__(
        self,
        heads: NDArray[np.int64],
        offsets: NDArray[np.int64],
        tails: NDArray[np.int64],
        goal: int,
        scores: NDArray[np.float64],
        symbols: NDArray[np.int64],
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
    ) -> None: ...
    heads: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tails: NDArray[np.int64]
    goal: int
    scores: NDArray[np.float64]
    symbols: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

@final
class Syntax:
    def __new__(
        cls,
        start: int,
        tag: NDArray[np.int32],
        label: NDArray[np.int32],
        binary: NDArray[np.int32],
        binary_score: NDArray[np.float64],
        unary: NDArray[np.int32],
        unary_score: NDArray[np.float64],
    ) -> Syntax: ...
    def forest(
        self,
        leaf_first: NDArray[np.int64],
        symbol: NDArray[np.int32],
        score: NDArray[np.float64],
        threshold: float,
    ) -> ParseForest: ...
    def write_tree(self, forest: ParseForest, derivation: NDArray[np.int64]) -> WrittenTree: ...
    def parse(
        self,
        word_first: NDArray[np.int64],
        leaf_first: NDArray[np.int64],
        symbol: NDArray[np.int32],
        score: NDArray[np.float64],
        k: int,
        threads: int,
    ) -> list[BestTrees]: ...

@final
class Parses:
    def __init__(
        self,
        grammar: Syntax,
        leaf_first: NDArray[np.int64],
        symbol: NDArray[np.int32],
        score: NDArray[np.float64],
        tags: int,
    ) -> None: ...
    def maximize(self, adjust: NDArray[np.float64]) -> float: ...
    def maximize_unadjusted(self) -> float: ...
    def write_best(self) -> WrittenTree: ...
    def max_marginals(self, adjust: NDArray[np.float64], out: NDArray[np.float64], exact: bool) -> None: ...
    def make_part(self, tags: int, base: NDArray[np.float64], cells: NDArray[np.int64]) -> RelaxPart: ...
    @property
    def parsed(self) -> int: ...
    @property
    def edges(self) -> int: ...

@final
class DependencyArcs:
    """The candidate arcs of a sentence; native/syntax/dependency/arcs.hpp says how scores lie beside them."""

    def __init__(self, words: int, heads: NDArray[np.int32], modifiers: NDArray[np.int32]) -> None: ...
    @staticmethod
    def all(words: int) -> DependencyArcs: ...
    def __len__(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def heads(self) -> NDArray[np.int32]: ...
    @property
    def modifiers(self) -> NDArray[np.int32]: ...
    @property
    def sibling_offsets(self) -> NDArray[np.int64]: ...
    @property
    def grandparent_offsets(self) -> NDArray[np.int64]: ...
    @property
    def grandsibling_offsets(self) -> NDArray[np.int64]: ...

class DualEnd(enum.Enum):
    PROVEN = ...
    SECONDS = ...
    NODES = ...
    ITERATIONS = ...

@final
class DualResult:
    """How a dual decomposition of trees ended; ``solved`` of ``automata`` were asked anew."""

    @property
    def found(self) -> bool: ...
    @property
    def score(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def end(self) -> DualEnd: ...
    @property
    def iterations(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def fixed(self) -> int: ...
    @property
    def automata(self) -> int: ...
    @property
    def solved(self) -> int: ...

@final
class RankedTrees:
    @property
    def arcs(self) -> NDArray[np.int32]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def exhausted(self) -> bool: ...

@final
class TreeScores32:
    """The scores of a sentence's trees over candidate arcs."""

    def __init__(
        self,
        arcs: DependencyArcs,
        arc_scores: NDArray[np.float32],
        siblings: NDArray[np.float32] | None,
        grandparents: NDArray[np.float32] | None,
        grandsiblings: NDArray[np.float32] | None,
    ) -> None: ...
    def score(self, arc_of: NDArray[np.int32]) -> float: ...
    def decode_projective(self, single_root: bool, arc_of: NDArray[np.int32]) -> float | None: ...
    def projective_max_marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...
    def projective_marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...
    def count_max_marginal_trees(
        self, single_root: bool, arcs: NDArray[np.float64], siblings: NDArray[np.float64]
    ) -> bool: ...
    def decode(
        self,
        single_root: bool,
        seconds: float,
        nodes: int,
        paper_iterations: int,
        arc_of: NDArray[np.int32],
    ) -> DualResult: ...
    def marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...

@final
class TreeScores64:
    """The scores of a sentence's trees over candidate arcs."""

    def __init__(
        self,
        arcs: DependencyArcs,
        arc_scores: NDArray[np.float64],
        siblings: NDArray[np.float64] | None,
        grandparents: NDArray[np.float64] | None,
        grandsiblings: NDArray[np.float64] | None,
    ) -> None: ...
    def score(self, arc_of: NDArray[np.int32]) -> float: ...
    def find_projective(self, single_root: bool, seconds: float, arc_of: NDArray[np.int32]) -> DualResult: ...
    def rank(self, projective: bool, single_root: bool, k: int, seconds: float) -> RankedTrees: ...
    def decode_projective(self, single_root: bool, arc_of: NDArray[np.int32]) -> float | None: ...
    def projective_max_marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...
    def projective_marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...
    def count_max_marginal_trees(
        self, single_root: bool, arcs: NDArray[np.float64], siblings: NDArray[np.float64]
    ) -> bool: ...
    def decode(
        self,
        single_root: bool,
        seconds: float,
        nodes: int,
        paper_iterations: int,
        arc_of: NDArray[np.int32],
    ) -> DualResult: ...
    def pick_freely(self, picked: NDArray[np.uint8], parents: NDArray[np.uint8]) -> float | None: ...
    def marginals(self, single_root: bool, out: NDArray[np.float64]) -> float | None: ...

def vine_max_marginals(
    arcs: DependencyArcs,
    arc_scores: NDArray[np.floating],
    outer: NDArray[np.floating],
    longest: int,
    out: NDArray[np.float64],
) -> float | None: ...
def vine_marginals(
    arcs: DependencyArcs,
    arc_scores: NDArray[np.floating],
    outer: NDArray[np.floating],
    longest: int,
    out: NDArray[np.float64],
) -> float | None: ...
def count_vine_max_marginal_trees(
    arcs: DependencyArcs,
    arc_scores: NDArray[np.floating],
    outer: NDArray[np.floating],
    longest: int,
    out: NDArray[np.float64],
) -> float | None: ...
def max_marginals(model: Model64, emissions: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def spanning_tree(scores: NDArray[np.floating], single: bool, heads: NDArray[np.int64]) -> bool: ...
def decode_spanning_tree(
    scores: NDArray[np.floating], single: bool, heads: NDArray[np.int64]
) -> float | None: ...
def bound_trees(
    scores: NDArray[np.float64], single: bool, heads: NDArray[np.int64], bounds: NDArray[np.float64]
) -> bool: ...
def tree_max_marginals(scores: NDArray[np.float64], single: bool, out: NDArray[np.float64]) -> None: ...
def refinement_marginals(
    begin: NDArray[np.int64],
    start: NDArray[np.float64],
    matrices: NDArray[np.float64],
    matrix: NDArray[np.int64],
    gain: NDArray[np.float64] | None,
    finish: NDArray[np.float64],
    observations: NDArray[np.int64],
    offsets: NDArray[np.int64],
    threads: int,
    out: NDArray[np.float64],
    log_size: NDArray[np.float64],
    sign: NDArray[np.float64],
    drift: NDArray[np.float64],
) -> None: ...
def refinement_path_masses(
    begin: NDArray[np.int64],
    start: NDArray[np.float64],
    matrices: NDArray[np.float64],
    matrix: NDArray[np.int64],
    gain: NDArray[np.float64] | None,
    finish: NDArray[np.float64],
    observations: NDArray[np.int64],
    labels: NDArray[np.int64],
    offsets: NDArray[np.int64],
    threads: int,
    log_size: NDArray[np.float64],
    sign: NDArray[np.float64],
) -> None: ...
def refinement_expectations(
    initial: NDArray[np.float64],
    transition: NDArray[np.float64],
    turned: NDArray[np.float64],
    emission: NDArray[np.float64],
    stop: NDArray[np.float64],
    labels: NDArray[np.int64],
    observations: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    threads: int,
    log_likelihood: NDArray[np.float64],
    posterior: NDArray[np.float64],
    pairs: NDArray[np.float64],
) -> None: ...
def indicator_times(ids: NDArray[np.int32], table: NDArray[np.float64], to: NDArray[np.float64]) -> None: ...
def indicator_transposed_times(
    ids: NDArray[np.int32],
    weight: NDArray[np.float64],
    rows: NDArray[np.float64],
    to: NDArray[np.float64],
) -> None: ...

class AgreedAlignment:
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    score: float
    bound: float
    status: Status
    iterations: int
    nodes: int
    pruned: int

def align_matrices(
    source: NDArray[np.float64],
    target: NDArray[np.float64],
    source_steps: NDArray[np.float64] | None,
    target_steps: NDArray[np.float64] | None,
    adjacent: float,
    apart: float,
    alone: float,
    iterations: int,
    nodes: int,
    seconds: float,
) -> AgreedAlignment: ...

@final
class RelaxedAlignment(AgreedAlignment):
    intersection: NDArray[np.float64]
    space: NDArray[np.float64]
    constraints: int

def align_matrices_relaxed(
    source: NDArray[np.float64],
    target: NDArray[np.float64],
    source_steps: NDArray[np.float64] | None,
    target_steps: NDArray[np.float64] | None,
    adjacent: float,
    iterations: int,
    constrained_iterations: int,
    from_chain: bool,
    step: float,
    seconds: float,
) -> RelaxedAlignment: ...

@final
class DecomposedAlignment(AgreedAlignment):
    backward: NDArray[np.uint8]
    forward: NDArray[np.uint8]

def align_matrices_decomposed(
    source: NDArray[np.float64],
    target: NDArray[np.float64],
    source_steps: NDArray[np.float64] | None,
    target_steps: NDArray[np.float64] | None,
    adjacent: float,
    iterations: int,
    seconds: float,
) -> DecomposedAlignment: ...

@final
class AlignedPair:
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float32]
    score: float
    bound: float
    status: Status
    iterations: int
    nodes: int

@final
class LinkPosteriors:
    forward: NDArray[np.float32]
    backward: NDArray[np.float32]
    forward_null: NDArray[np.float32]
    backward_null: NDArray[np.float32]

@final
class LinkDecoding:
    def __init__(
        self,
        adjacent: float,
        apart: float,
        alone: float,
        null: float,
        iterations: int,
        nodes: int,
        seconds: float,
    ) -> None: ...

@final
class LinkBatch:
    first: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float32]

@final
class AlignmentTrainer:
    def __init__(
        self,
        source: NDArray[np.uint32],
        source_first: NDArray[np.int64],
        target: NDArray[np.uint32],
        target_first: NDArray[np.int64],
        times: NDArray[np.int32],
        source_words: list[str],
        target_words: list[str],
        sparse: float,
        spelling: float,
        stems: float,
        cells_in_memory: int,
        folder: str,
    ) -> None: ...
    def iterate(
        self,
        kind: str,
        null: float,
        tension: float,
        agreement: bool,
        stems: bool,
        count_fertility: bool,
        threads: int,
    ) -> float: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    def export(self, least: float) -> dict[str, NDArray[Any]]: ...

@final
class AlignmentModel:
    def __init__(
        self,
        source_words: list[str],
        target_words: list[str],
        arrays: dict[str, NDArray[Any]],
        sparse: float,
        spelling: float,
        stems: float,
        kind: str,
        null: float,
        tension: float,
        agreement: bool,
    ) -> None: ...
    def choose(
        self, source: list[list[str]], target: list[list[str]], forward: bool, threads: int
    ) -> LinkBatch: ...
    def align(
        self, source: list[list[str]], target: list[list[str]], decoding: LinkDecoding, threads: int
    ) -> list[AlignedPair]: ...
    def find_lexical(self, source: list[str], target: list[str]) -> LinkPosteriors: ...
    def find_posteriors(
        self, source: list[list[str]], target: list[list[str]], threads: int
    ) -> list[LinkPosteriors]: ...

@final
class Field:
    def __init__(
        self,
        group: NDArray[np.int32],
        same: float,
        close: float,
        null: float,
        nodes: int,
        with_outside: bool = True,
    ) -> None: ...
    def add(
        self,
        lattices: Lattices,
        sentence: int,
        token: int,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int32],
        scores: NDArray[np.float64],
        excess: NDArray[np.float64],
    ) -> None: ...
    def merge(self, into: NDArray[np.int64]) -> None: ...
    def close(self) -> None: ...
    def iterate(self, reach: int) -> int: ...
    @property
    def disagreeing(self) -> int: ...  # open blocks that would choose other labels for their nodes
    def certify(self) -> int: ...
    def improve(self) -> None: ...
    def branch(self, iterations: int, limit: int, seconds: float) -> int: ...
    def bound(self) -> float: ...
    def labels(self, out: NDArray[np.int32], scores: NDArray[np.float64]) -> float: ...
    def consensus(self) -> Consensus: ...
    def components(self) -> Components: ...
    @property
    def bytes(self) -> int: ...  # of the undecided pieces
    def open_sentences(self) -> NDArray[np.int64]: ...
    def sentences_outside(self) -> NDArray[np.int64]: ...
    @property
    def open_blocks(self) -> int: ...
    @property
    def open_nodes(self) -> int: ...

@final
class Consensus:
    labels: NDArray[np.int32]  # [nodes]: what is agreed on; the number of labels where that is turned off
    fixed: NDArray[np.uint8]  # [nodes]: whether it is proven

@final
class Components:
    blocks: NDArray[np.int64]  # [components]: how many blocks each has
    nodes: NDArray[np.int64]  # [components]

@final
class SubgradientStep:
    blocks: int  # solved anew
    nodes: int  # solved anew
    disagree: int  # words whose block and node differ
    bound: float

@final
class Subgradient:
    def __init__(self, field: Field, rate: float, lazy: bool) -> None: ...
    def iterate(self) -> SubgradientStep: ...
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
    def maximize(self, which: NDArray[np.int64], u: NDArray[np.float64]) -> NodeChoice: ...

@final
class NodeChoice:
    candidates: NDArray[np.int32]  # [words]: of the nodes asked for; -1 for others
    labels: NDArray[np.int32]  # [nodes asked for]
    scores: NDArray[np.float64]  # [nodes asked for]

class SearchEnd(enum.Enum):
    SEARCHED = ...
    SECONDS = ...
    NODES = ...
    ITERATIONS = ...
    FAILED = ...

class SearchFailure(enum.Enum):
    NONE = ...
    NOT_WHOLE = ...
    TOO_LARGE = ...
    CONTRADICTION = ...
    LOOSE_RESERVES = ...
    PART_ERROR = ...

@final
class SearchTrace:
    def __init__(self) -> None: ...
    @property
    def seconds(self) -> NDArray[np.float64]: ...
    @property
    def dual(self) -> NDArray[np.float64]: ...
    @property
    def bound(self) -> NDArray[np.float64]: ...
    @property
    def primal(self) -> NDArray[np.float64]: ...
    @property
    def score(self) -> NDArray[np.float64]: ...
    @property
    def step(self) -> NDArray[np.float64]: ...
    @property
    def nodes(self) -> NDArray[np.int64]: ...

@final
class SearchProgress:
    iteration: int
    dual: float
    bound: float
    score: float
    nodes: int
    open: int
    seconds: float

class RelaxMethod(enum.Enum):
    AUTO = ...
    SUBGRADIENT = ...
    BUNDLE = ...
    DESCENT = ...
    ADMM = ...

class StepRule(enum.Enum):
    HALVING = ...
    INVERSE = ...
    DECAY = ...
    POLYAK = ...
    KOO = ...
    CHANG = ...

@final
class OptimizerOptions:
    def __init__(
        self,
        method: RelaxMethod,
        *,
        rule: StepRule = ...,
        step: float = 0.0,
        level: float = 1.0,
        share: float = 0.3,
        margin: float = 0.03,
        columns: int = 100,
    ) -> None: ...

@final
class SearchLimits:
    def __init__(
        self,
        *,
        seconds: float,
        nodes: int,
        tolerance: float,
        iterations: int = -1,
        whole: bool = False,
        tighten: bool = True,
    ) -> None: ...
    seconds: float

@final
class CellClasses:
    cells: NDArray[np.int64]
    number: NDArray[np.int64]

def merge_cells(size: int, left: NDArray[np.int64], right: NDArray[np.int64]) -> CellClasses: ...

@final
class PartChoice:
    score: float
    used: NDArray[np.int64]

@final
class RelaxPart:
    @property
    def cells(self) -> int: ...
    def maximize(self, adjust: NDArray[np.float64]) -> PartChoice: ...
    # `with`: in Python a keyword, so by place only
    def max_marginals(
        self, adjust: NDArray[np.float64], used: NDArray[np.float64], without: NDArray[np.float64], /
    ) -> None: ...
    def complete(self, cells: NDArray[np.int64]) -> float: ...

# `oracle`: see certus.relax.oracle.Oracle.
def make_python_part(oracle: object, cells: int) -> RelaxPart: ...
def make_chain_part(model: Model64, emissions: NDArray[np.float64]) -> RelaxPart: ...
def make_bigram_chain_part(
    model: Model64,
    emissions: NDArray[np.float64],
    pairs: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
) -> RelaxPart: ...
def make_tree_part(scores: NDArray[np.float64], words: int, single: bool) -> RelaxPart: ...
def make_state_automata(
    arcs: NDArray[np.float64],
    steps: NDArray[np.float64],
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    words: int,
    states: int,
) -> RelaxPart: ...
def make_matching(
    scores: NDArray[np.float64], rows: int, columns: int, rows_covered: bool, columns_covered: bool
) -> RelaxPart: ...
def make_budget_chain(
    emissions: NDArray[np.float64],
    start: NDArray[np.float64],
    transitions: NDArray[np.float64],
    end: NDArray[np.float64],
    counted: NDArray[np.uint8],
    least: int,
    most: int,
) -> RelaxPart: ...
def make_head_automata(arcs: NDArray[np.float64], siblings: NDArray[np.float64], words: int) -> RelaxPart: ...
def make_table_part(
    shape: list[int], single: NDArray[np.uint8], table: NDArray[np.float64], scores: NDArray[np.float64]
) -> RelaxPart: ...
def make_cluster_part(
    shape: list[int], scopes: list[list[int]], table: NDArray[np.float64], scores: NDArray[np.float64]
) -> RelaxPart: ...
def make_count_part(
    scores: NDArray[np.float64], negated: NDArray[np.uint8], least: int, most: int
) -> RelaxPart: ...
def make_or_output_part(scores: NDArray[np.float64], negated: NDArray[np.uint8]) -> RelaxPart: ...
def make_knapsack_part(
    scores: NDArray[np.float64], negated: NDArray[np.uint8], weights: NDArray[np.int64], capacity: int
) -> RelaxPart: ...

@final
class GraphAnswer:
    states: NDArray[np.int64]
    score: float

@final
class FactorGraph:
    def __init__(
        self,
        scores: NDArray[np.float64],
        cells: NDArray[np.int64],
        states: NDArray[np.int64],
        binary: NDArray[np.uint8],
    ) -> None: ...
    def add_table(
        self, cells: list[int], shape: list[int], single: list[bool], table: NDArray[np.float64]
    ) -> None: ...
    def add_count(self, cells: list[int], negated: list[bool], least: int, most: int) -> None: ...
    def add_or_output(self, cells: list[int], negated: list[bool]) -> None: ...
    def add_knapsack(
        self, cells: list[int], negated: list[bool], weights: list[int], capacity: int
    ) -> None: ...
    def merge(self) -> None: ...
    @property
    def parts(self) -> int: ...
    def part(self, number: int) -> RelaxPart: ...
    def count_entries(self, most: float) -> float: ...
    def eliminate(self, most: float) -> GraphAnswer: ...

@final
class Relaxation:
    def __init__(self) -> None: ...
    def add(self, part: RelaxPart, variables: NDArray[np.int64], weight: float = 1.0) -> None: ...
    def add_graph(self, graph: FactorGraph) -> None: ...
    def link(self, variables: int, reserve: NDArray[np.uint8]) -> None: ...
    def carry_on(self, other: Relaxation, seconds: float, variables: int) -> None: ...
    def run(
        self,
        limits: SearchLimits,
        options: OptimizerOptions,
        progress: Callable[[SearchProgress], None] | None,
    ) -> SearchEnd: ...
    def structure(self, part: int) -> Any: ...
    def used(self, part: int) -> NDArray[np.int64]: ...
    began: bool
    failure: SearchFailure
    failed_part: int
    failed_cell: int
    failure_message: str
    failed_score: float
    failed_dual: float
    @property
    def score(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def allowance(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def fixed(self) -> int: ...
    @property
    def tightened(self) -> int: ...
    @property
    def trace(self) -> SearchTrace: ...
    @property
    def on(self) -> NDArray[np.int8]: ...
    @property
    def multipliers(self) -> NDArray[np.float64]: ...
    @property
    def best_multipliers(self) -> NDArray[np.float64]: ...
    @property
    def average(self) -> NDArray[np.float64]: ...
    @property
    def calls(self) -> NDArray[np.int64]: ...
    @property
    def skipped(self) -> NDArray[np.int64]: ...
    @property
    def completions(self) -> NDArray[np.int64]: ...

@final
class ArcPlan:
    def __init__(self, program: NDArray[np.int32], columns: int, bits: int) -> None: ...
    @property
    def bits(self) -> int: ...
    @property
    def columns(self) -> int: ...

@final
class TreeCorpus:
    def __init__(
        self,
        pruning: ArcPlan,
        plan: ArcPlan,
        sentences: list[list[list[str]]],
        heads: NDArray[np.int32],
        relations: NDArray[np.int32],
    ) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def tokens(self) -> int: ...

@final
class HeadLearner:
    def __init__(
        self, corpus: TreeCorpus, plan: ArcPlan, *, rate: float, trees: bool, single_root: bool
    ) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> float: ...
    def compile(self) -> tuple[NDArray[np.int16], float]: ...
    def weights(self) -> NDArray[np.float32]: ...

# Which arcs of the sentences of a corpus are scored: native/learn/arcs/candidates.hpp.
@final
class ArcCandidates: ...

def choose_candidates(
    corpus: TreeCorpus, plan: ArcPlan, heads: NDArray[np.float32], ratio: float, most: int
) -> ArcCandidates: ...
def learn_lengths(corpus: TreeCorpus, plan: ArcPlan, column: int) -> NDArray[np.uint16]: ...

@final
class HighestThresholds:
    @property
    def words(self) -> NDArray[np.float64]: ...
    @property
    def sentences(self) -> NDArray[np.float64]: ...

@final
class OpenArcs:
    def __init__(
        self,
        corpus: TreeCorpus,
        plan: ArcPlan,
        column: int,
        lengths: NDArray[np.uint16],
        with_trees: bool,
    ) -> None: ...
    def list(self) -> ArcCandidates: ...
    def find_highest_thresholds(
        self,
        plan: ArcPlan,
        weights: NDArray[np.int16],
        *,
        kind: str,
        reach: int,
        posterior: bool,
        single_root: bool,
        step: float,
        each: int,
    ) -> HighestThresholds: ...
    def close(
        self,
        plan: ArcPlan,
        weights: NDArray[np.int16],
        *,
        kind: str,
        reach: int,
        posterior: bool,
        single_root: bool,
        step: float,
        at: float,
    ) -> None: ...

@final
class PassLearner:
    def __init__(
        self,
        open: OpenArcs,
        plan: ArcPlan,
        *,
        kind: str,
        reach: int,
        posterior: bool,
        single_root: bool,
        at: float,
        rate: float,
    ) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> float: ...
    def compile(self) -> tuple[NDArray[np.int16], float]: ...

@final
class ListedArcs:
    @property
    def count(self) -> NDArray[np.int64]: ...
    @property
    def heads(self) -> NDArray[np.int32]: ...
    @property
    def modifiers(self) -> NDArray[np.int32]: ...

@final
class ArcCascade:
    def __init__(self, plan: ArcPlan, column: int, lengths: NDArray[np.uint16]) -> None: ...
    def add(
        self,
        weights: NDArray[np.int16],
        *,
        kind: str,
        reach: int,
        posterior: bool,
        single_root: bool,
        step: float,
        at: float,
    ) -> None: ...
    def prune(self, sentences: list[list[list[str]]], passes: int) -> ListedArcs: ...

@final
class ScoredParts:
    """The arcs of a sentence that are scored, and the scores of all parts over them."""

    @property
    def heads(self) -> NDArray[np.int32]: ...
    @property
    def modifiers(self) -> NDArray[np.int32]: ...
    @property
    def arcs(self) -> NDArray[np.float64]: ...
    @property
    def siblings(self) -> NDArray[np.float64]: ...
    @property
    def grandparents(self) -> NDArray[np.float64]: ...
    @property
    def grandsiblings(self) -> NDArray[np.float64]: ...

@final
class HeadModel:
    def __init__(
        self, plan: ArcPlan, weights: NDArray[np.int16], step: float, *, prior: float, single_root: bool
    ) -> None: ...

@final
class CoarseModel:
    def __init__(
        self, plan: ArcPlan, weights: NDArray[np.int16], step: float, *, scale: float, cap: float
    ) -> None: ...

@final
class LabelModel:
    def __init__(self, plan: ArcPlan, weights: NDArray[np.int16], step: float, relations: int) -> None: ...

@final
class LabelLearner:
    def __init__(
        self,
        corpus: TreeCorpus,
        plan: ArcPlan,
        sentences: list[list[list[str]]],
        *,
        of_root: NDArray[np.uint8],
        of_others: NDArray[np.uint8],
        aggressiveness: float,
    ) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> float: ...
    def compile(self) -> tuple[NDArray[np.int16], float]: ...

@final
class TreeEpoch:
    @property
    def wrong(self) -> int: ...
    @property
    def sentences(self) -> int: ...

@final
class TreeLearner:
    def __init__(
        self,
        corpus: TreeCorpus,
        candidates: ArcCandidates,
        likely: ArcCandidates,
        coarse: list[CoarseModel],
        plan: ArcPlan,
        *,
        of_root: NDArray[np.uint8],
        of_others: NDArray[np.uint8],
        mira: bool,
        from_automata: bool,
        aggressiveness: float,
        relation_cost: float,
        burn_in: int,
        projective: bool,
        single_root: bool,
    ) -> None: ...
    def epoch(self, order: NDArray[np.int64]) -> TreeEpoch: ...
    def compile(self) -> tuple[NDArray[np.int16], float]: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    @property
    def epochs(self) -> int: ...

@final
class ParsedTrees:
    @property
    def count(self) -> NDArray[np.int64]: ...
    @property
    def candidates(self) -> NDArray[np.int64]: ...
    @property
    def heads(self) -> NDArray[np.int32]: ...
    @property
    def relations(self) -> NDArray[np.int32]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def proven(self) -> NDArray[np.uint8]: ...
    @property
    def searched(self) -> NDArray[np.uint8]: ...
    @property
    def exhausted(self) -> NDArray[np.uint8]: ...
    @property
    def iterations(self) -> NDArray[np.int64]: ...
    @property
    def nodes(self) -> NDArray[np.int64]: ...
    @property
    def automata(self) -> NDArray[np.int64]: ...
    @property
    def solved(self) -> NDArray[np.int64]: ...

@final
class ArcModel:
    def __init__(
        self,
        heads: HeadModel | None,
        cascade: ArcCascade | None,
        coarse: CoarseModel | None,
        labels: LabelModel | None,
        plan: ArcPlan,
        weights: NDArray[np.int16],
        step: float,
        of_root: NDArray[np.uint8],
        of_others: NDArray[np.uint8],
    ) -> None: ...
    def parse(
        self,
        sentences: list[list[list[str]]],
        *,
        projective: bool,
        single_root: bool,
        ratio: float,
        most: int,
        k: int,
        seconds: float,
        threads: int,
        paper_iterations: int = 0,
    ) -> ParsedTrees: ...
    def score_parts(self, sentences: list[list[list[str]]], *, ratio: float, most: int) -> ScoredParts: ...
    def score_tree(self, sentences: list[list[list[str]]], heads: NDArray[np.int32]) -> float: ...
    def score_arcs(
        self, sentences: list[list[list[str]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...

# N-grams of one order: native/translate/ngrams.hpp.
@final
class NgramLevel:
    parent: NDArray[np.uint32]
    word: NDArray[np.uint32]
    suffix: NDArray[np.uint32]
    score: NDArray[np.float64]
    backoff: NDArray[np.float64]

@final
class Ngrams:
    @property
    def order(self) -> int: ...
    def level(self, order: int) -> NgramLevel: ...
    def spell(self, word: int) -> str: ...
    def export(self) -> dict[str, NDArray[Any]]: ...

@final
class Discounts:
    @property
    def amounts(self) -> list[float]: ...
    @property
    def counts(self) -> list[int]: ...
    computed: bool

@final
class NgramCounter:
    lines: int
    sentences: int
    tokens: int
    blank: int
    def __init__(self) -> None: ...
    def add_text(self, text: str) -> None: ...
    def add_sentences(self, sentences: list[Any], first: int) -> None: ...
    def count_longer(self) -> None: ...
    def estimate(self) -> Ngrams: ...
    def size(self, order: int) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def discounts(self) -> list[Discounts]: ...

@final
class LanguageModelStep:
    score: float
    state: int
    length: int

@final
class WordScores:
    score: NDArray[np.float64]
    length: NDArray[np.int32]
    unknown: NDArray[np.uint8]

@final
class Likelihood:
    known_score: float
    unknown_score: float
    sentences: int
    tokens: int
    unknown: int
    blank: int
    def __init__(self) -> None: ...

@final
class LanguageModel:
    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None: ...
    @property
    def begin(self) -> int: ...
    def contains(self, word: str) -> bool: ...
    def number(self, words: list[str]) -> NDArray[np.uint32]: ...
    def advance(self, state: int, word: str) -> LanguageModelStep: ...
    def bound(self, context: list[str], word: str) -> float: ...
    def score(self, sentences: list[Any], begin: bool, end: bool) -> NDArray[np.float64]: ...
    def score_words(self, sentence: list[str], begin: bool, end: bool) -> WordScores: ...
    def add_text(self, text: str, total: Likelihood) -> None: ...
    def add_sentences(self, sentences: list[Any], total: Likelihood) -> None: ...

@final
class ArpaReader:
    def __init__(self, unknown: float) -> None: ...
    def add_text(self, text: str) -> None: ...
    def finish(self) -> Ngrams: ...
    @property
    def lines(self) -> int: ...
    @property
    def added(self) -> int: ...

@final
class ArpaWriter:
    def __init__(self, model: LanguageModel) -> None: ...
    def write(self, first: int, last: int) -> bytes: ...

@final
class PhraseDerivation:
    score: float
    options: NDArray[np.int32]

@final
class GapTrace:
    seconds: NDArray[np.float64]
    bound: NDArray[np.float64]
    score: NDArray[np.float64]

@final
class PhraseAnswer:
    best: list[PhraseDerivation]
    bound: float
    status: Status
    exhausted: bool
    rounds: int
    beams: int
    expanded: int
    made: int
    hard: int
    graph_seconds: float
    relaxation_seconds: float
    beam_seconds: float
    timed_out: bool
    trace: GapTrace

@final
class SearchOptions:
    method: str
    k: int
    distinct: bool
    width: int
    seconds: float
    rounds: int
    first_rounds: int
    from_zero: bool
    gaps: bool
    pops: int
    def __init__(self) -> None: ...

@final
class PhraseEdges:
    nodes: int
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    option: NDArray[np.int32]
    cost: NDArray[np.float64]

@final
class PhraseProblem:
    def __init__(
        self,
        model: LanguageModel,
        words: int,
        begin: NDArray[np.int32],
        end: NDArray[np.int32],
        score: NDArray[np.float64],
        first: NDArray[np.int64],
        target: NDArray[np.uint32],
        text: NDArray[np.uint32],
        weight: float,
        distortion: float,
        limit: int,
    ) -> None: ...
    def search(self, forbidden: list[list[int]], options: SearchOptions) -> PhraseAnswer: ...
    def score(self, derivation: list[int]) -> float: ...
    def make_answer(self, options: list[int], is_best: bool, bound: float) -> PhraseAnswer: ...
    def list_edges(self, most: int) -> PhraseEdges: ...
    @property
    def words(self) -> int: ...
    @property
    def uncovered(self) -> int: ...

@final
class FeatureWeights:
    translation: list[float]
    language_model: float
    word: float
    phrase: float
    unknown: float
    distortion: float
    def __init__(self) -> None: ...

@final
class ForcedTerm:
    def __init__(self, begin: int, end: int, target: list[str]) -> None: ...

@final
class TranslationTask:
    def __init__(self, sentence: list[str], forced: list[ForcedTerm]) -> None: ...

@final
class TranslationResult:
    answer: PhraseAnswer
    features: NDArray[np.float64]
    def __len__(self) -> int: ...

@final
class PhraseTranslator:
    def __init__(self, arrays: dict[str, NDArray[Any]], model: LanguageModel) -> None: ...
    def translate(
        self,
        tasks: list[TranslationTask],
        forbidden: list[list[str]],
        weights: FeatureWeights,
        best: int,
        limit: int,
        search: SearchOptions,
        threads: int,
    ) -> list[TranslationResult]: ...
    def list_options(
        self, task: TranslationTask, weights: FeatureWeights, best: int
    ) -> TranslationResult: ...
    def list_phrases(
        self, result: TranslationResult, numbers: Sequence[int]
    ) -> list[tuple[int, int, tuple[str, ...], float]]: ...

class ScoreKind(enum.Enum):
    GUESSED = ...
    PROBABILITY = ...
    LOG10 = ...
    NATURAL = ...

@final
class PhraseTableReader:
    def __init__(self, kind: ScoreKind) -> None: ...
    def add_text(self, text: str) -> None: ...
    def finish(self) -> dict[str, NDArray[Any]]: ...
    @property
    def lines(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def is_logarithmic(self) -> bool: ...

def make_vocabulary(words: list[str], side: str) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint32]]: ...
def extract_phrases(
    source: NDArray[np.uint32],
    source_first: NDArray[np.int64],
    target: NDArray[np.uint32],
    target_first: NDArray[np.int64],
    link_source: NDArray[np.int32],
    link_target: NDArray[np.int32],
    link_first: NDArray[np.int64],
    source_types: int,
    target_types: int,
    longest: int,
    most: int,
) -> dict[str, NDArray[Any]]: ...

@final
class TargetForestDerivation:
    @property
    def score(self) -> float: ...
    @property
    def edges(self) -> NDArray[np.int32]: ...

@final
class TargetForestAnswer:
    @property
    def best(self) -> list[TargetForestDerivation]: ...
    @property
    def bound(self) -> float: ...
    @property
    def status(self) -> Status: ...
    @property
    def exhausted(self) -> bool: ...
    @property
    def beams(self) -> int: ...
    @property
    def items(self) -> int: ...
    @property
    def joined(self) -> int: ...
    @property
    def parts(self) -> int: ...
    @property
    def relaxation_seconds(self) -> float: ...
    @property
    def beam_seconds(self) -> float: ...
    @property
    def timed_out(self) -> bool: ...

@final
class TargetForestProgram:
    @property
    def edges(self) -> int: ...
    @property
    def cost(self) -> NDArray[np.float64]: ...
    @property
    def upper(self) -> NDArray[np.float64]: ...
    @property
    def target(self) -> NDArray[np.float64]: ...
    @property
    def start(self) -> NDArray[np.int32]: ...
    @property
    def row(self) -> NDArray[np.int32]: ...
    @property
    def value(self) -> NDArray[np.float64]: ...

class TargetForestOptions:
    method: str
    k: int
    distinct: bool
    width: int
    items: int
    rounds: int
    paths: bool
    prune: bool
    seconds: float

@final
class TargetForest:
    def __init__(
        self,
        model: LanguageModel,
        nodes: int,
        goal: int,
        heads: NDArray[np.int64],
        scores: NDArray[np.float64],
        first: NDArray[np.int64],
        symbols: NDArray[np.int64],
        weight: float,
    ) -> None: ...
    def search(self, options: TargetForestOptions) -> TargetForestAnswer: ...
    def make_program(self, most: int) -> TargetForestProgram: ...
    def judge_program(self, chosen: NDArray[np.uint8], is_best: bool, bound: float) -> TargetForestAnswer: ...

@final
class GrammarOptions:
    longest: int
    symbols: int
    least_gap: int
    least_count: int
    most: int

@final
class GrammarResult:
    @property
    def answer(self) -> TargetForestAnswer: ...
    @property
    def text(self) -> list[list[str]]: ...
    @property
    def features(self) -> NDArray[np.float64]: ...
    @property
    def edges(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def begin(self) -> list[int]: ...
    @property
    def end(self) -> list[int]: ...

@final
class GrammarTranslator:
    def __init__(self, arrays: dict[str, NDArray[Any]], model: LanguageModel) -> None: ...
    def translate(
        self,
        sentences: list[list[str]],
        weights: FeatureWeights,
        span: int,
        best: int,
        search: TargetForestOptions,
        threads: int,
    ) -> list[GrammarResult]: ...
    def translate_by(
        self,
        sentence: list[str],
        weights: FeatureWeights,
        span: int,
        best: int,
        solve: Callable[[TargetForest], TargetForestAnswer],
    ) -> GrammarResult: ...

def extract_grammar(
    source: list[list[str]],
    target: list[list[str]],
    link_source: NDArray[np.int32],
    link_target: NDArray[np.int32],
    link_first: NDArray[np.int64],
    options: GrammarOptions,
) -> dict[str, NDArray[Any]]: ...
