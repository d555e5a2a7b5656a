"""What an optimiser of the dual is: options, and a stepper that turns evaluations into multipliers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from certus.relax.dual import Branch, Dual, Evaluation
from certus.relax.layout import Floats, Mask
from certus.relax.primal import Whole


@dataclass(frozen=True, eq=False)
class DualProblem:
    """What a stepper may know of the branch it minimises in.

    Attributes:
        dual: the parts and their copies.
        branch: the variables that are fixed.
        free: (V,) the variables whose multipliers may move.
    """

    dual: Dual
    branch: Branch
    free: Mask

    def allows(self, part: int, x: Floats) -> bool:
        """Whether a choice of a part fits what the branch fixes."""
        layout = self.dual.layout
        var = layout.var[layout.slices[part]]
        return not (x[self.branch.off[var]] > 0).any() and not (x[self.branch.on[var]] == 0).any()

    def subgradient(self, evaluation: Evaluation) -> Floats:
        """Return the deviations of the copies from agreement (C,)."""
        return self.dual.compute_deviations(evaluation.x, evaluation.ones, self.free)


class Stepper(ABC):
    """One minimisation of the dual in one branch.

    Attributes:
        step: the length of the last step, for the trace.
    """

    step: float = 0.0

    @abstractmethod
    def next(self, evaluation: Evaluation, whole: Whole | None) -> Floats | None:
        """Return the multipliers (C,) to try next, or None when the dual is at its minimum.

        ``whole`` is the best whole so far, None if none is known.
        """

    def average(self) -> Floats | None:
        """Return the averaged indicators (C,) that belong to the dual's minimum, if the method knows them."""
        return None


@dataclass(frozen=True, kw_only=True)
class Optimizer(ABC):
    """A way to minimise the dual. Subclasses add options as fields and explain themselves."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS

    @abstractmethod
    def start(self, problem: DualProblem) -> Stepper:
        """Begin in a branch."""
