"""The default: the optimiser that certified problems of the kind soonest when all were compared."""

from __future__ import annotations

from collections.abc import Sequence
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
TURN = 20  # iterations of each of the others before the next one goes on


@dataclass(frozen=True, kw_only=True)
class Auto(Optimizer):
    """A bundle for up to three parts; for more, descent and two kinds of subgradients in turn.

    One evaluation tells a bundle one choice of each part. Two large parts, such as a parser and a tagger, it
    brings together in half the iterations of any subgradient rule; with dozens of parts its model is poor for
    long, and its quadratic program large. There descent by max-marginals is best, for as long as it falls,
    where the parts offer them; then which steps do better depends on the problem, so they take turns, each
    from the best multipliers of all. ``certus bench relax`` prints the comparison.
    """

    name: ClassVar[str] = "auto"
    papers: ClassVar[tuple[str, ...]] = ("rush2010", "rush2011")

    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch."""
        oracles = problem.dual.oracles
        if len(oracles) <= FEW:
            return Bundle().start(problem)
        ways: list[Optimizer] = [Subgradient(rule="inverse"), Subgradient()]
        if all(oracle.has_max_marginals for oracle in oracles):
            ways.insert(0, Descent())
        return Relay([way.start(problem) for way in ways])


class Relay(Stepper):
    """Steppers in turn, each from the best multipliers that any of them found; one that ends is left out."""

    def __init__(self, steppers: Sequence[Stepper]) -> None:
        self.steppers = list(steppers)
        self.left = TURN
        self.best: Evaluation | None = None

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Pass the evaluation on to the stepper whose turn it is."""
        if self.best is None or evaluation.dual < self.best.dual:
            self.best = evaluation
        while self.steppers:
            now = self.steppers[0]
            if self.left > 0:
                self.left -= 1
                found = now.next(evaluation, whole)
                self.step = now.step
                if found is not None:
                    return found
                del self.steppers[0]
            else:
                self.steppers.append(self.steppers.pop(0))
            self.left, evaluation = TURN, self.best
        return None

    def average(self) -> Floats | None:
        """Return what the stepper knows whose turn it is."""
        return self.steppers[0].average() if self.steppers else None
