"""The learners of taggers by name, and their options: declared once, for Python, command line and docs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import inf
from numbers import Integral, Real
from typing import Any, ClassVar

from certus.errors import InvalidInput


def option(default: Any, help: str, *, least: float | None = None, most: float = inf) -> Any:
    """Declare an option with its default, what it does, and the least and most it may be."""
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True, kw_only=True)
class Options:
    """What all learners share."""

    name: ClassVar[str]
    about: ClassVar[str]
    exact: ClassVar[bool] = True  # whether tags come with a proof
    shared: ClassVar[bool] = True  # whether labels share the weights of their parts
    agreement_scale: ClassVar[float] = 1.0  # how many times larger than log-probabilities its scores are

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return False

    rare: int = option(10, "Words seen at most this often are rare: unknown words are like them.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        for f in fields(self):
            value, least = getattr(self, f.name), f.metadata["least"]
            if least is None:
                continue
            whole = isinstance(f.default, int)
            if not isinstance(value, Integral if whole else Real):
                raise InvalidInput(f"{f.name} is {value!r}; a {'whole ' if whole else ''}number is needed")
            if not value >= least:
                raise InvalidInput(f"{f.name} is {value}; it must be at least {least:g}")
            if value > f.metadata["most"]:
                raise InvalidInput(f"{f.name} is {value}; it may be {f.metadata['most']:g} at the most")


@dataclass(frozen=True, kw_only=True)
class Features(Options):
    """What learners of feature weights share, which go over the data again and again."""

    min_count: int = option(1, "Features that occur less often are left out.", least=1)
    hash_bits: int = option(
        0, "At most 2^bits features, by a hash kernel; 0 keeps them all apart.", least=0, most=48
    )
    seed: int = option(0, "Of the order in which sentences are seen.", least=0)
    patience: int = option(3, "Stop after this many epochs without a better dev accuracy.", least=1)
    drop: float = option(0.0, "Leave weights smaller than this out of the model.", least=0)
    epochs: int = option(10, "Passes over the training data.", least=1)

    @property
    def total(self) -> int:
        """How many epochs there may be in all."""
        return self.epochs


@dataclass(frozen=True, kw_only=True)
class PrunedCrf(Features):
    """A CRF of any order over lattices pruned by those of lower order (Müller, Schmid and Schütze 2013)."""

    name: ClassVar[str] = "pruned-crf"
    about: ClassVar[str] = "of any order (as crf with --order 2); the best for morphology"
    exact: ClassVar[bool] = False

    order: int = option(2, "How many labels back transitions look.", least=1)
    rate: float = option(0.1, "Learning rate of the first epoch.", least=1e-9)
    decay: float = option(0.3, "In epoch e the rate is rate / (1 + decay e).", least=0)
    l1: float = option(0.0, "L1 penalty, cumulative; weights are then not averaged.", least=0)
    burn_in: int = option(1, "Epochs that averaged weights leave out.", least=0)
    least: float = option(0.03, "Pairs get a weight from gradients at least this large.", least=0)
    wanted: tuple[float, ...] = option(
        (4, 4, 2, 1.5), "Coarse tags, labels, states of order 1, 2, ... to keep a position, on average."
    )

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        from certus._native import MOST_ORDER

        if self.order > MOST_ORDER:
            raise InvalidInput(f"order is {self.order}; orders go up to {MOST_ORDER}")
        if len(self.wanted) < 2 or min(self.wanted) < 1:
            raise InvalidInput(f"wanted is {self.wanted}; at least two numbers, each at least 1, are needed")


@dataclass(frozen=True, kw_only=True)
class Perceptron(Features):
    """The averaged structured perceptron (Collins 2002), decoding exactly (Kaji et al. 2010)."""

    name: ClassVar[str] = "perceptron"
    about: ClassVar[str] = "averaged, decoding exactly; quick to train, proven answers"
    agreement_scale: ClassVar[float] = 6.0

    min_count: int = option(2, "Features that occur less often are left out.", least=1)
    margin: float = option(
        0.4, "How much better than any other the right label must score, in updates of a token.", least=0
    )
    burn_in: int = option(1, "Epochs that averaged weights leave out.", least=0)
    decoder: str = option("auto", "How sentences are decoded in training; any exact method gives the same.")

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.decoder not in ("auto", "viterbi"):
            raise InvalidInput(f"decoder is {self.decoder!r}; auto and viterbi decode in training")


@dataclass(frozen=True, kw_only=True)
class Crf(Features):
    """A first-order CRF over all labels, without pruning."""

    name: ClassVar[str] = "crf"
    about: ClassVar[str] = "first-order, for up to some hundred labels; proven answers"
    shared: ClassVar[bool] = False

    epochs: int = option(30, "Passes over the training data, or iterations of L-BFGS.", least=1)
    algorithm: str = option("sgd", "sgd (L1 penalty, cumulative) or lbfgs.")
    c1: float = option(0.1, "L1 penalty; with lbfgs by OWL-QN.", least=0)
    c2: float = option(0.0, "L2 penalty; of lbfgs alone.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.algorithm not in ("sgd", "lbfgs"):
            raise InvalidInput(f"algorithm is {self.algorithm!r}; there are sgd and lbfgs")
        if self.algorithm == "sgd" and self.c2:
            raise InvalidInput("c2 is a penalty of lbfgs; sgd has c1")

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return self.algorithm == "lbfgs"


@dataclass(frozen=True, kw_only=True)
class LatentCrf(Features):
    """A first-order CRF whose labels have latent states (Morency et al. 2007; Sun & Tsujii 2009)."""

    name: ClassVar[str] = "latent-crf"
    about: ClassVar[str] = "with latent states, for few labels; mostly proven answers"
    exact: ClassVar[bool] = False
    shared: ClassVar[bool] = False

    latent: int = option(4, "Latent states of each label.", least=1)
    epochs: int = option(100, "Iterations of L-BFGS from each beginning.", least=1)
    restarts: int = option(1, "How many times to begin, each time from other weights.", least=1)
    variance: float = option(1.0, "Of the Gaussian prior of weights.", least=1e-9)
    scale: float = option(0.1, "Standard deviation of the weights that training begins from.", least=1e-9)
    seed: int = option(0, "Of the weights that training begins from.", least=0)
    patience: int = option(
        10, "Begin again, or stop, after this many epochs without a better dev accuracy.", least=1
    )
    pair_of: str = option("labels", "What templates of pairs are of: labels, or latent states.")
    inference: str = option("ldi", "How labels are found: ldi, bhp or bmp.")
    steps: int = option(1000, "The most latent paths that ldi looks at; 0 for no limit.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.inference not in ("ldi", "bhp", "bmp"):
            raise InvalidInput(f"inference is {self.inference!r}; there are ldi, bhp and bmp")
        if self.pair_of not in ("labels", "states"):
            raise InvalidInput(f"pair_of is {self.pair_of!r}; pairs are of labels or of states")

    def paired(self, labels: int) -> int:
        """Return how many labels or states features of pairs are of."""
        return labels if self.pair_of == "labels" else labels * self.latent

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return True

    @property
    def total(self) -> int:
        """How many epochs there may be in all."""
        return self.epochs * self.restarts


@dataclass(frozen=True, kw_only=True)
class Hmm(Options):
    """A smoothed hidden Markov model with a suffix model for unknown words (Brants 2000)."""

    name: ClassVar[str] = "hmm"
    about: ClassVar[str] = "a smoothed Markov model, trains in a second; proven answers"
    shared: ClassVar[bool] = False

    suffixes: int = option(10, "The longest ending of rare words to look at.", least=0)


@dataclass(frozen=True, kw_only=True)
class Refinement(Options):
    """A hidden Markov model whose labels have hidden states (Stratos et al. 2013)."""

    name: ClassVar[str] = "refinement"
    about: ClassVar[str] = "a hidden Markov model with hidden states for each label; trains in seconds"
    exact: ClassVar[bool] = False
    shared: ClassVar[bool] = False

    observe: str = option(
        "auto", "The column that is observed, or COLUMN+word; auto: pos+word if there is a pos, else word."
    )
    suffixes: int = option(4, "The longest ending of rare words to look at.", least=0)
    hidden: int = option(8, "Hidden states of each label.", least=1)
    estimator: str = option("spectral", "How hidden states are found: spectral or em.")
    smoothing: float = option(0.1, "Occurrences that are added to those of each label.", least=1e-9)
    smooth_pairs: float = option(20.0, "Of spectral: how strongly pairs of labels are smoothed.", least=0)
    smooth_seen: float = option(5.0, "Of spectral: how strongly observations are smoothed.", least=0)
    restarts: int = option(1, "Of em: how many times to begin, each time elsewhere.", least=1)
    iterations: int = option(100, "Of em: the most iterations from each beginning.", least=1)
    seed: int = option(0, "Of where em begins, and of the random ranges of spectral.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range, and options of the other estimator."""
        super().__post_init__()
        others = {"spectral": ("restarts", "iterations"), "em": ("smooth_pairs", "smooth_seen")}
        if self.estimator not in others:
            raise InvalidInput(f"estimator is {self.estimator!r}; there are spectral and em")
        defaults = {f.name: f.default for f in fields(self)}
        wrong = next((n for n in others[self.estimator] if getattr(self, n) != defaults[n]), None)
        if wrong is not None:
            raise InvalidInput(f"{wrong} is no option of the estimator {self.estimator}: leave it out")


LEARNERS: dict[str, type[Options]] = {
    kind.name: kind for kind in (PrunedCrf, Perceptron, Crf, LatentCrf, Hmm, Refinement)
}


def choose(learner: str, given: dict[str, Any]) -> Options:
    """Make the options of a learner from those a user gave.

    ``crf`` with an order above 1 is a pruned CRF: unpruned ones of higher order are out of reach.
    """
    asked = learner
    if learner == "crf" and given.get("order", 1) > 1:
        learner = PrunedCrf.name
    kind = LEARNERS.get(learner)
    if kind is None:
        raise InvalidInput(f"there is no learner {learner!r}; there are {', '.join(LEARNERS)}")
    known = {f.name for f in fields(kind)}
    if given.get("order") == 1 and "order" not in known:
        given = {name: value for name, value in given.items() if name != "order"}
    unknown = [name for name in given if name not in known]
    if unknown:
        why = "" if learner == asked else f", which {asked} with an order above 1 is"
        raise InvalidInput(
            f"{unknown[0]} is no option of the learner {learner}{why}; those are {', '.join(sorted(known))}"
        )
    return kind(**given)
