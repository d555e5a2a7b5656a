"""A proximal bundle: remember everything the parts said, and go where the model built of it is low."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certus.errors import InvalidInput
from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.columns import Columns
from certus.relax.optimizers.optimizer import DualProblem, Optimizer, Stepper
from certus.relax.primal import Whole

SOLVED = 1e-9  # of the magnitudes: a fall below this is none,
STUCK = 1e-3  # and one below this share of the gap leads nowhere
GUESS = 1e-3  # of the magnitudes: the gap while no score is known
SEARCH = 24  # attempts at the step
ROUND = (34, 32, 30, 28, 24, 20, 16, 12)  # bits of the grid that rounding tries to do without
ROUGH = 0.02  # of the fall: what it may cost
LESS, MORE, LEAST = 0.8, 1.25, 0.3  # how the level changes when the dual did not fall, and when it did


@dataclass(frozen=True, kw_only=True)
class Bundle(Optimizer):
    """Minimise, instead of the dual, its model from below, near the best multipliers so far.

    Everything a part has chosen is a plane under its term of the dual; the model is the sum over parts of the
    highest of their planes. The next multipliers minimise the model plus the squared distance from the best
    ones, by 2t. That is a small quadratic program over mixtures of each part's choices (Lemaréchal 2001;
    Kiwiel 1990), solved natively; the mixture tends to the solution of the linear relaxation.

    t is chosen by levels (Lemaréchal, Nemirovskii & Nesterov 1995): the model shall fall to the best score
    known, which is where the dual has to go if the relaxation has no gap. Where the model cannot fall that
    far, neither can the dual, and a share of what it can is taken.

    At the dual's minimum several choices of a part are often equally good, and the parts do not agree. So
    every plane but those of the best whole is raised by ``margin`` times its distance from it, as in training
    with a margin: the multipliers then go to where the whole wins in every part, and the parts agree.

    Args:
        level: the share of the way to the best score that the model shall fall, above 0 up to 1. It becomes
            less while the dual does not fall.
        share: the same of what the model can fall, where it cannot reach the best score.
        margin: in shares of the gap, spread over the cells in which choices differ.
        columns: how many choices of each part are kept; those of the mixture always are.
    """

    name: ClassVar[str] = "bundle"
    papers: ClassVar[tuple[str, ...]] = ("lemarechal1995",)
    level: float = 1.0
    share: float = 0.3
    margin: float = 0.03
    columns: int = 100

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("level", "share"):
            if not 0 < getattr(self, name) <= 1:
                raise InvalidInput(f"{name} must be above 0 and at most 1, not {getattr(self, name)!r}")
        if not 0 <= self.margin < 1:
            raise InvalidInput(f"margin must be from 0 to below 1, not {self.margin!r}")
        if self.columns < 2:
            raise InvalidInput(f"a bundle needs at least 2 columns, not {self.columns!r}")

    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch, with what the parts chose in others as far as it is allowed here."""
        return BundleStepper(self, problem)


class BundleStepper(Stepper):
    """The best multipliers so far, the columns, and the step t."""

    def __init__(self, options: Bundle, problem: DualProblem) -> None:
        self.options, self.problem = options, problem
        self.columns = Columns(problem, options.columns)
        self.centre: Floats = np.zeros(0)
        self.best = np.inf
        self.level = options.level
        self.step = self.promised = 0.0
        self.longest = np.inf  # a trusted step

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Add what the parts chose, move the centre if the dual fell, and minimise the model."""
        news = self.columns.add(evaluation.answers)
        if evaluation.dual < self.best:
            self.best, self.centre = evaluation.dual, evaluation.multipliers
            self.level = min(self.options.level, MORE * self.level)
            self.longest *= 4
        else:
            self.level = min(self.options.level, max(LEAST, LESS * self.level))
            if evaluation.dual - self.best > self.promised:  # it rose by more than it was to fall
                self.longest = self.step / 2
        gap = self.best - whole.score if whole else GUESS * evaluation.magnitude
        floor = max(SOLVED * evaluation.magnitude, STUCK * gap)
        if not self.step:
            g = self.problem.subgradient(evaluation)
            self.step = max(gap, floor) / max(float(g @ g), 1e-300)
        gain, wanted = self._compute_gains(whole, gap)
        fall = self.promised = self._fall(gain, wanted, floor)
        if fall <= floor:
            return None
        following = self._round(self.centre - self.step * self.columns.direction(), ROUGH * fall)
        if not news and self.best - self.columns.model(self.columns.values(following)) <= floor:
            return None  # the margin alone moves the multipliers, and showed nothing new
        return following

    def average(self) -> Floats | None:
        """Return the mixture of what the parts chose: in the limit the solution of the linear relaxation."""
        return self.columns.average()

    def _compute_gains(self, whole: Whole | None, gap: float) -> tuple[Floats, float]:
        """Return the columns' values at the centre with the margin, and how far their model is to fall."""
        if whole is None:
            return self.columns.values(self.centre), self.level * gap
        self.columns.add(whole.answers)
        gain = self.columns.values(self.centre)
        apart = self.columns.distances(whole.answers)
        raised = gain + self.options.margin * gap / max(float(apart.mean()), 1.0) * apart
        return raised, self.level * gap + self.columns.model(raised) - self.columns.model(gain)

    def _round(self, multipliers: Floats, slack: float) -> Floats:
        """Return the roundest multipliers nearby that the model likes as well, but for the slack.

        The minimum is often where multipliers are simple, such as halves of whole-numbered scores; only there
        the dual is exactly what it should be.
        """
        dual, free = self.problem.dual, self.problem.free
        snapped = dual.snap(multipliers, free)
        most = self.columns.model(self.columns.values(snapped)) + slack
        for bits in ROUND:
            rounder = dual.snap(multipliers, free, math.ldexp(dual.grid, bits))
            if self.columns.model(self.columns.values(rounder)) <= most:
                return rounder
        return snapped

    def _fall(self, gain: Floats, wanted: float, floor: float) -> float:
        """Choose t so that the model falls as far as wanted, or by its share; return how far it falls."""
        top = self.columns.model(gain)
        short, long = 0.0, np.inf  # steps with which the model falls too little, too much
        fall = before = 0.0
        self.step = min(self.step, self.longest)
        for _ in range(SEARCH):
            fall = top - self.columns.model(self.columns.mix(gain, self.step, 0.01 * floor))
            if fall < 0.9 * wanted and long == np.inf and before and fall < 1.01 * before:
                # A longer step found nothing lower: this is all that the model can fall.
                if fall <= floor:
                    return fall
                wanted, before, long, short = self.options.share * fall, 0.0, self.step, 0.0
                self.step /= 4
            elif fall < 0.9 * wanted:
                if self.step == self.longest:
                    break
                before, short = fall, self.step
                longer = 4 * self.step if long == np.inf else float(np.sqrt(short * long))
                self.step = min(longer, self.longest)
            elif fall > 1.1 * wanted:
                long = self.step
                self.step = self.step / 4 if short == 0 else float(np.sqrt(short * long))
            else:
                break
            if long < 1.05 * short:
                break
        return fall
