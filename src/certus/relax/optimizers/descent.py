"""Block coordinate descent: every part tells what each of its cells is worth, and the worth is evened out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certus.errors import InvalidInput
from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.optimizer import DualProblem, Optimizer, Stepper
from certus.relax.primal import Whole

LESS, MORE = 0.5, 1.3  # how the share changes when the dual did not fall, and when it did
LEAST = 1e-3  # the share at which the descent has stalled


@dataclass(frozen=True, kw_only=True)
class Descent(Optimizer):
    """Move the max-marginals of the copies of each variable towards their mean.

    For one variable at a time, making them equal minimises the dual exactly (Globerson & Jaakkola 2007;
    Kolmogorov 2006); here all variables move at once, by a share that shrinks when the dual rises. Needs
    parts that offer ``max_marginals``; each iteration asks them for the maxima and for these. Like all
    coordinate descent it may stall above the minimum, where another optimiser has to go on.

    Args:
        share: of the way to the mean, at first; above 0 up to 1.
    """

    name: ClassVar[str] = "descent"
    papers: ClassVar[tuple[str, ...]] = ("globerson2007",)
    share: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not 0 < self.share <= 1:
            raise InvalidInput(f"share must be above 0 and at most 1, not {self.share!r}")

    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch."""
        lacking = [oracle.name for oracle in problem.dual.oracles if not oracle.has_max_marginals]
        if lacking:
            raise InvalidInput(
                f"descent needs parts with max_marginals(adjust), which {', '.join(lacking[:5])} has not; "
                'use "auto", "bundle" or "subgradient"'
            )
        return DescentStepper(self, problem)


class DescentStepper(Stepper):
    """The share and the best dual so far."""

    def __init__(self, options: Descent, problem: DualProblem) -> None:
        self.problem = problem
        self.step = options.share
        self.best = np.inf
        self.far = 0.0  # what cells that no structure uses are taken to be below the best

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Take a step from where the parts were asked last."""
        dual, problem = self.problem.dual, self.problem
        layout = dual.layout
        fell = evaluation.dual < self.best
        self.best = min(self.best, evaluation.dual)
        self.step = min(MORE * self.step, 1.0) if fell else LESS * self.step
        if self.step < LEAST:
            return None
        self.far = self.far or evaluation.magnitude
        losses = np.maximum(dual.compute_losses(problem.branch, evaluation), -self.far)
        move = (layout.total(losses) / layout.count)[layout.var] - losses
        move[~problem.free[layout.var]] = 0.0
        if not move.any():
            return None
        return dual.snap(evaluation.multipliers + self.step * move, problem.free)
