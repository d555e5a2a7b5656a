"""Ways to set the weights of a first-order CRF, one class each, with their options.

Options are named as in CRFsuite, and their defaults are CRFsuite's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, Protocol

import numpy as np

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput

LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


def check_least(name: str, value: float, least: float) -> None:
    """Refuse an option that is not a number, or below the least that makes sense."""
    if not isinstance(value, (int, float)) or not isfinite(value) or value < least:
        raise InvalidInput(f"{name} must be a number of at least {least:g}, not {value!r}")


def check_above_zero(name: str, value: float) -> None:
    """Refuse an option that is not a positive number."""
    if not isinstance(value, (int, float)) or not isfinite(value) or value <= 0:
        raise InvalidInput(f"{name} must be a number above 0, not {value!r}")


class Passes(Protocol):
    """An algorithm at work."""

    @property
    def epochs(self) -> int:
        """How many iterations were done."""

    @property
    def done(self) -> bool:
        """Whether another iteration would be of no use."""

    def epoch(self) -> float | None:
        """Do an iteration, or a pass over all sentences; return the loss, None if no step leads down."""

    def finish(self) -> None:
        """Put the final weights in place, where those of the last iteration are not the final ones."""


class Algorithm(ABC):
    """How weights are found; made with its options, which are checked at once."""

    name: ClassVar[str]
    max_iterations: int

    @abstractmethod
    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Return what sets the trainer's weights, an iteration at a time."""


class _Iterations:
    """L-BFGS at work, whose iterations look at all sentences, in whatever order."""

    def __init__(self, native: _native.CrfLbfgs) -> None:
        self._native = native

    @property
    def epochs(self) -> int:
        return self._native.epochs

    @property
    def done(self) -> bool:
        return self._native.done

    def epoch(self) -> float | None:
        objective = self._native.epoch(np.empty(0, np.int64))
        return objective if self._native.stepped else None

    def finish(self) -> None:
        """Do nothing: the weights of the last iteration are the final ones."""


@dataclass(frozen=True, kw_only=True)
class LBFGS(Algorithm):
    """Limited-memory BFGS on loss + c1·|w|₁ + c2·|w|²; OWL-QN (Andrew & Gao 2007) where c1 > 0.

    Args:
        c1: coefficient of the L1 term.
        c2: coefficient of the L2 term.
        max_iterations: stop after this number of iterations.

    Other args:
        num_memories: how many past steps approximate the Hessian.
        epsilon: stop where the gradient's norm is at most this share of the weights' norm (or of 1).
        period: look back this number of iterations to see
        delta: whether the loss still falls by more than this share of itself; 0 for period: do not look.
        linesearch: ``MoreThuente`` brackets a step and zooms in by cubic interpolation until the strong Wolfe
            conditions hold, as Moré and Thuente's search does, though by Nocedal and Wright's algorithms
            3.5 and 3.6; ``Backtracking`` halves or lengthens until the Wolfe conditions hold;
            ``StrongBacktracking`` until the strong ones do. OWL-QN has a search of its own.
        max_linesearch: the largest number of evaluations in one search.
    """

    name: ClassVar[str] = "lbfgs"
    c1: float = 0.0
    c2: float = 1.0
    max_iterations: int = 2**31 - 1
    num_memories: int = 6
    epsilon: float = 1e-5
    period: int = 10
    delta: float = 1e-5
    linesearch: str = "MoreThuente"
    max_linesearch: int = 20

    def __post_init__(self) -> None:
        for name in ("c1", "c2", "epsilon", "delta"):
            check_least(name, getattr(self, name), 0)
        for name, least in (("max_iterations", 0), ("num_memories", 1), ("period", 0), ("max_linesearch", 1)):
            check_count(name, getattr(self, name), least=least)
        if self.linesearch not in LINE_SEARCHES:
            raise InvalidInput(
                f"linesearch must be one of {', '.join(LINE_SEARCHES)}, not {self.linesearch!r}"
            )

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Go downhill from the trainer's weights; the seed plays no part."""
        return _Iterations(self.start(trainer, threads))

    def start(self, trainer: _native.CrfTrainer, threads: int) -> _native.CrfLbfgs:
        """Return what does one iteration at a time, and can be kept in between."""
        return _native.CrfLbfgs(
            trainer,
            c1=self.c1,
            c2=self.c2,
            memories=self.num_memories,
            epsilon=self.epsilon,
            period=self.period,
            delta=self.delta,
            search=LINE_SEARCHES.index(self.linesearch),
            max_trials=self.max_linesearch,
            threads=threads,
        )


@dataclass(frozen=True, kw_only=True)
class L2SGD(Algorithm):
    """Stochastic gradient descent on loss + c2·|w|², after Pegasos (Shalev-Shwartz et al. 2007).

    The weights are those of the best pass.

    Args:
        c2: coefficient of the L2 term.
        max_iterations: passes over the corpus.

    Other args:
        period: look back this number of passes to see
        delta: whether the loss still falls by more than this share of itself; 0 for period: do not look.
        calibration_eta: the first learning rate tried on a sample before training,
        calibration_rate: the factor between one tried and the next,
        calibration_samples: the size of the sample, in sentences,
        calibration_candidates: how many rates that lower the loss to find, upwards and then downwards,
        calibration_max_trials: and how many rates to try at most.
    """

    name: ClassVar[str] = "l2sgd"
    c2: float = 1.0
    max_iterations: int = 1000
    period: int = 10
    delta: float = 1e-6
    calibration_eta: float = 0.1
    calibration_rate: float = 2.0
    calibration_samples: int = 1000
    calibration_candidates: int = 10
    calibration_max_trials: int = 20

    def __post_init__(self) -> None:
        check_least("c2", self.c2, 0)
        check_least("delta", self.delta, 0)
        check_above_zero("calibration_eta", self.calibration_eta)
        if not self.calibration_rate > 1:
            raise InvalidInput(f"calibration_rate must be above 1, not {self.calibration_rate!r}")
        check_count("max_iterations", self.max_iterations, least=0)
        check_count("period", self.period, least=0)
        for name in ("calibration_samples", "calibration_candidates", "calibration_max_trials"):
            check_count(name, getattr(self, name))

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Calibrate the rate, then pass over the corpus in orders that the seed decides; on one thread."""
        return _native.crf_l2sgd(
            trainer,
            c2=self.c2,
            period=self.period,
            delta=self.delta,
            eta=self.calibration_eta,
            rate=self.calibration_rate,
            samples=self.calibration_samples,
            candidates=self.calibration_candidates,
            max_trials=self.calibration_max_trials,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class SGD(Algorithm):
    """Stochastic gradient descent with a cumulative L1 penalty (Tsuruoka, Tsujii & Ananiadou 2009).

    Sparse weights in about as many passes as the perceptron needs. The k-th sentence of a corpus of N is
    learnt at the rate eta·decay^(k/N).

    Args:
        c1: coefficient of the L1 term.
        max_iterations: passes over the corpus.

    Other args:
        calibration_eta: the learning rate at the start.
        decay: what is left of it after a pass.
    """

    name: ClassVar[str] = "sgd"
    c1: float = 0.1
    max_iterations: int = 30
    calibration_eta: float = 0.1
    decay: float = 0.85

    def __post_init__(self) -> None:
        check_least("c1", self.c1, 0)
        check_above_zero("calibration_eta", self.calibration_eta)
        check_above_zero("decay", self.decay)
        if self.decay > 1:
            raise InvalidInput(f"decay must be at most 1, not {self.decay!r}")
        check_count("max_iterations", self.max_iterations, least=0)

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Pass over the corpus in orders that the seed decides; on one thread."""
        return _native.crf_sgd(
            trainer,
            c1=self.c1,
            eta=self.calibration_eta,
            decay=self.decay,
            seed=seed,
        )

    def start(self, trainer: _native.CrfTrainer, threads: int) -> _native.CrfSgd:
        """Return what does one pass at a time, and can be kept in between; it works on one thread."""
        return _native.CrfSgd(trainer, c1=self.c1, eta=self.calibration_eta, decay=self.decay)


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptron(Algorithm):
    """The averaged structured perceptron (Collins 2002), decoding exactly.

    Args:
        max_iterations: passes over the corpus.
        epsilon: stop where the share of wrong labels, averaged over sentences, is below this.
    """

    name: ClassVar[str] = "ap"
    max_iterations: int = 100
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, least=0)
        check_least("epsilon", self.epsilon, 0)

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Pass over the corpus in orders that the seed decides; on one thread."""
        return _native.crf_perceptron(
            trainer,
            epsilon=self.epsilon,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class PassiveAggressive(Algorithm):
    """Passive-aggressive learning (Crammer et al. 2006, section 8), decoding exactly.

    Args:
        max_iterations: passes over the corpus.
        c: how much one sentence may change; for types 1 and 2.

    Other args:
        pa_type: 0 without slack, 1 for steps of at most c, 2 for steps damped by 1/(2c).
        error_sensitive: ask for a margin of √(wrong labels) rather than 1.
        averaging: take the average of the weights over all sentences.
        epsilon: stop where the loss, averaged over sentences, is below this.
    """

    name: ClassVar[str] = "pa"
    max_iterations: int = 100
    pa_type: int = 1
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, least=0)
        check_least("epsilon", self.epsilon, 0)
        check_above_zero("c", self.c)
        if self.pa_type not in (0, 1, 2):
            raise InvalidInput(f"pa_type must be 0, 1 or 2, not {self.pa_type!r}")

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Pass over the corpus in orders that the seed decides; on one thread."""
        return _native.crf_passive_aggressive(
            trainer,
            type=self.pa_type,
            c=self.c,
            error_sensitive=bool(self.error_sensitive),
            averaging=bool(self.averaging),
            epsilon=self.epsilon,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class AROW(Algorithm):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009) with a diagonal covariance.

    Args:
        max_iterations: passes over the corpus.
        variance: of every weight at the start.
        gamma: how little a sentence counts against what was learnt before.

    Other args:
        epsilon: stop where the loss, averaged over sentences, is below this.
    """

    name: ClassVar[str] = "arow"
    max_iterations: int = 100
    variance: float = 1.0
    gamma: float = 1.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, least=0)
        check_least("epsilon", self.epsilon, 0)
        check_above_zero("variance", self.variance)
        check_above_zero("gamma", self.gamma)

    def begin(self, trainer: _native.CrfTrainer, threads: int, seed: int) -> Passes:
        """Pass over the corpus in orders that the seed decides; on one thread."""
        return _native.crf_arow(
            trainer,
            variance=self.variance,
            gamma=self.gamma,
            epsilon=self.epsilon,
            seed=seed,
        )


ALGORITHMS: dict[str, type[Algorithm]] = {
    kind.name: kind for kind in (LBFGS, L2SGD, SGD, AveragedPerceptron, PassiveAggressive, AROW)
}
