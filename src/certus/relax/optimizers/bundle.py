"""A proximal bundle: remember everything the parts said, and go where the model built of it is lowest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certus.errors import InvalidInput
from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.columns import Columns
from certus.relax.optimizers.optimizer import Optimizer, Problem, Stepper
from certus.relax.primal import Whole

SOLVED = 1e-9  # of the magnitudes: a fall below this is none
GUESS = 1e-3  # of the magnitudes: the gap while no score is known
SEARCH = 24  # attempts at the step


@dataclass(frozen=True, kw_only=True)
class Bundle(Optimizer):
    """Minimise, instead of the dual, its model from below, near the best multipliers so far.

    Everything a part has chosen is a plane under its term of the dual; the model is the sum over parts of the
    highest of their planes. The next multipliers minimise the model plus the squared distance from the best
    ones, by 2t. That is a small quadratic program over mixtures of each part's choices (Lemaréchal 2001;
    Kiwiel 1990), solved natively; the mixture converges to the solution of the linear relaxation.

    t is chosen so that the model's drop reaches from the best dual the share ``level`` of the way to the best
    score (Lemaréchal, Nemirovskii & Nesterov 1995): where the relaxation has no gap, that is where it has to
    go. Where the model cannot drop that far, neither can the dual, and the share is taken of what it can.

    Args:
        level: the share of the way, above 0 up to 1.
        columns: how many choices of each part are kept; those of the mixture always are.
    """

    name: ClassVar[str] = "bundle"
    level: float = 1.0
    margin: float = 0.1
    share: float = 0.3
    columns: int = 100

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not 0 < self.level <= 1:
            raise InvalidInput(f"level must be above 0 and at most 1, not {self.level!r}")
        if self.columns < 2:
            raise InvalidInput(f"a bundle needs at least 2 columns, not {self.columns!r}")

    def start(self, problem: Problem) -> Stepper:
        """Begin in a branch, with what the parts chose in others as far as it is allowed here."""
        return BundleStepper(self, problem)


class BundleStepper(Stepper):
    """The best multipliers so far, the columns, and the step t."""

    def __init__(self, options: Bundle, problem: Problem) -> None:
        self.options, self.problem = options, problem
        self.columns = Columns(problem, options.columns)
        self.centre: Floats | None = None
        self.best = np.inf
        self.step = 0.0

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Add what the parts chose, move the centre if the dual fell, and minimise the model."""
        self.columns.add(evaluation.answers)
        if whole is not None:
            self.columns.add(whole.answers)
        if evaluation.dual < self.best:
            self.best, self.centre = evaluation.dual, evaluation.multipliers
        assert self.centre is not None
        floor = SOLVED * evaluation.magnitude
        gap = self.best - whole.score if whole else GUESS * evaluation.magnitude
        if not self.step:
            g = self.problem.subgradient(evaluation)
            self.step = max(gap, floor) / max(float(g @ g), 1e-300)
        gain = self.columns.values(self.centre)
        top = self.columns.model(gain)
        if whole is not None:
            apart = self.columns.distances(whole.answers)
            margin = self.options.margin * gap / max(apart.mean(), 1.0)
            gain = gain + margin * apart
        inflated = self.columns.model(gain)
        if self._reach(gain, inflated - top + gap, floor) <= floor:
            return None
        moved = self.centre - self.step * self.columns.direction()
        return self.problem.dual.snap(moved, self.problem.free)

    def average(self) -> Floats | None:
        """Return the mixture of what the parts chose: in the limit the solution of the linear relaxation."""
        return self.columns.average()

    def _reach(self, gain: Floats, gap: float, floor: float) -> float:
        """Choose t so that the model falls by the share of the gap; return by how much it falls."""
        top = self.columns.model(gain)
        wanted = self.options.level * gap
        short, long = 0.0, np.inf  # steps with which the model falls too little, too much
        before = 0.0
        for _ in range(SEARCH):
            slopes = self.columns.mix(gain, self.step, 1e-3 * floor)
            fall = top - self.columns.model(slopes)
            if fall < 0.9 * wanted:
                short = self.step
                if long == np.inf and before and fall < 1.01 * before:
                    # Longer steps find nothing lower: this is all the model can fall.
                    wanted, before = self.options.share * fall, 0.0
                    long, short = self.step, 0.0
                    if fall <= floor:
                        return fall
                    self.step /= 4
                    continue
                before = fall
                self.step = 4 * self.step if long == np.inf else float(np.sqrt(short * long))
            elif fall > 1.1 * wanted:
                long = self.step
                self.step = self.step / 4 if short == 0 else float(np.sqrt(short * long))
            else:
                break
            if long < 1.05 * short:
                break
        return fall
