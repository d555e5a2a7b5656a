"""Subgradient descent with a step of its own for every variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certus.errors import InvalidInput
from certus.relax.dual import Evaluation
from certus.relax.layout import Floats
from certus.relax.optimizers.optimizer import Optimizer, Problem, Stepper
from certus.relax.primal import Whole


@dataclass(frozen=True, kw_only=True)
class Adaptive(Optimizer):
    name: ClassVar[str] = "adaptive"
    step: float | None = None
    grow: float = 1.5
    shrink: float = 0.5
    decay: float = 1.0

    def start(self, problem: Problem) -> Stepper:
        """Begin in a branch."""
        return AdaptiveStepper(self, problem)


class AdaptiveStepper(Stepper):
    def __init__(self, options: Adaptive, problem: Problem) -> None:
        self.options, self.problem = options, problem
        copies = problem.dual.layout.copies
        self.steps: Floats | None = None
        self.last = np.zeros(copies)
        self.k = 0

    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        g = self.problem.subgradient(evaluation)
        square = float(g @ g)
        if square == 0:
            return None
        self.k += 1
        o = self.options
        if self.steps is None:
            gap = evaluation.dual - whole.score if whole else 1e-3 * evaluation.magnitude
            first = o.step or gap / (2 * square)
            self.steps = np.full(len(g), first)
        now = np.sign(g)
        same = now * self.last
        self.steps[same > 0] *= o.grow
        self.steps[same < 0] *= o.shrink
        self.last = np.where(now != 0, now, self.last)
        self.step = float(self.steps[g != 0].mean())
        if self.step < self.problem.dual.grid:
            return None
        return self.problem.dual.snap(evaluation.multipliers - 2 * o.decay**self.k * self.steps * g, self.problem.free)
