"""The default: the optimiser that certified problems of the kind soonest when all were compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.bundle import Bundle
from certus.relax.optimizers.descent import Descent
from certus.relax.optimizers.optimizer import DualProblem, Optimizer, Stepper
from certus.relax.optimizers.subgradient import Subgradient
from certus.relax.primal import Whole

FEW = 3  # parts, for which a bundle is best
DESCENTS = 20  # iterations of descent before subgradients go on


@dataclass(frozen=True, kw_only=True)
class Auto(Optimizer):
    """A bundle for up to three parts; for more, descent while it lasts, then subgradients.

    One evaluation tells a bundle one choice of each part. Two large parts, such as a parser and a tagger, it
    brings together in half the iterations of any subgradient rule; with dozens of parts its model is poor for
    long, and its quadratic program large. There descent by max-marginals is best, for as long as it falls,
    where the parts offer them. ``certus bench relax`` prints the comparison.
    """

    name: ClassVar[str] = "auto"
    papers: ClassVar[tuple[str, ...]] = ("rush2010", "rush2011")

    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch."""
        oracles = problem.dual.oracles
        if len(oracles) <= FEW:
            return Bundle().start(problem)
        after = Subgradient(rule="inverse").start(problem)
        if all(oracle.has_max_marginals for oracle in oracles):
            return Relay(Descent().start(problem), DESCENTS, after)
        return after


class Relay(Stepper):
    """One stepper for some iterations, or until it stalls; then another, from the best multipliers so far."""

    def __init__(self, first: Stepper, iterations: int, second: Stepper) -> None:
        self.now, self.left, self.second = first, iterations, second
        self.best: Evaluation | None = None

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Pass the evaluation on to the optimiser that runs now."""
        if self.best is None or evaluation.dual < self.best.dual:
            self.best = evaluation
        self.left -= 1
        if self.now is not self.second:
            found = self.now.next(evaluation, whole) if self.left >= 0 else None
            if found is not None:
                self.step = self.now.step
                return found
            self.now, evaluation = self.second, self.best
        found = self.now.next(evaluation, whole)
        self.step = self.now.step
        return found

    def average(self) -> Floats | None:
        """Return what the stepper that runs knows."""
        return self.now.average()
