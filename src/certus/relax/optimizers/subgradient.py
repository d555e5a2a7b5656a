"""Subgradient descent with the step rules of the papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from certus.errors import InvalidInput
from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.optimizer import DualProblem, Optimizer, Stepper
from certus.relax.primal import Whole

RULES = ("halving", "inverse", "decay", "polyak")


@dataclass(frozen=True, kw_only=True)
class Subgradient(Optimizer):
    """Move every copy's multiplier against its deviation from the mean of its variable.

    With two parts this is figure 1 of Rush et al. (2010), u <- u - step · (y - z); with more it is the update
    of Komodakis et al. (2007).

    Args:
        rule: how the step shrinks. With t the number of times that the dual rose from one iteration to the
            next:
            ``halving``: step / 2^t (Rush et al. 2010, appendix B);
            ``inverse``: step / (1 + t) (Koo et al. 2010, appendix A.1);
            ``decay``: step · 0.95^k after k iterations, whatever the dual does;
            ``polyak``: (dual - best score) / ||subgradient||^2, times ``step`` if one is given. Where no
            score is known yet, the target is an estimate that drops as the dual does.
        step: the first step. None: 0.5 for halving, as in the paper; for the others the gap after the first
            iteration, as Koo et al. have it, by the number of copies in disagreement.
    """

    name: ClassVar[str] = "subgradient"
    papers: ClassVar[tuple[str, ...]] = ("komodakis2007", "koo2010", "rush2010")
    rule: Literal["halving", "inverse", "decay", "polyak"] = "halving"
    step: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.rule not in RULES:
            raise InvalidInput(f"unknown step rule {self.rule!r}; choose one of: {', '.join(RULES)}")
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0):
            raise InvalidInput(f"step must be a number above zero, not {self.step!r}")

    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch."""
        return SubgradientStepper(self, problem)


class SubgradientStepper(Stepper):
    """The state of a descent: how often the dual rose, and its value before."""

    def __init__(self, options: Subgradient, problem: DualProblem) -> None:
        self.options, self.problem = options, problem
        self.first: float | None = options.step
        if options.rule == "halving" and self.first is None:
            self.first = 0.5
        self.rises = self.iterations = 0
        self.last = self.best = np.inf

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Take a step; stop when it is too small to change anything."""
        g = self.problem.subgradient(evaluation)
        square = float(g @ g)
        if square == 0:
            return None
        # Duals in a circle do not rise: only the paper's own rule takes that literally.
        self.rises += evaluation.dual > self.last - (self.options.rule != "halving") * self.problem.dual.grid
        self.iterations += 1
        self.last, self.best = evaluation.dual, min(self.best, evaluation.dual)
        self.step = self._length(evaluation, whole, square)
        if self.step < self.problem.dual.grid:
            return None
        # A variable of two copies that differ deviates by 1/2 each: twice that is the paper's y - z.
        return self.problem.dual.snap(evaluation.multipliers - 2 * self.step * g, self.problem.free)

    def _length(self, evaluation: Evaluation, whole: Whole | None, square: float) -> float:
        if self.options.rule == "polyak":
            return (self.options.step or 1.0) * self._gap(evaluation, whole) / (2 * square)
        if self.first is None:
            self.first = self._gap(evaluation, whole) / (2 * square)
        if self.options.rule == "halving":
            return self.first * 0.5**self.rises
        if self.options.rule == "inverse":
            return self.first / (1 + self.rises)
        return self.first * 0.95 ** (self.iterations - 1)

    def _gap(self, evaluation: Evaluation, whole: Whole | None) -> float:
        """Return how far the dual is above where it should go; a thousandth of its size if nobody knows."""
        if whole is not None:
            return max(evaluation.dual - whole.score, 0.0)
        return 1e-3 * evaluation.magnitude / (1 + self.rises)
