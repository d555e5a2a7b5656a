"""The dual of a decomposition: a bound on the optimum at any multipliers, and what the parts chose there.

    L(u) = sum over parts p of  max over its structures y of  score_p(y) + u_p · x_p(y)

where x_p(y) are the indicators of the copies, and the multipliers of the copies of a variable sum to zero.
For structures in agreement the multipliers cancel, so L(u) is at least the best score of any: weak duality.

A branch fixes variables. At 0, the cell is forbidden (``-inf``) in all parts that have it. At 1, each copy
gets a bonus, which is taken off the sum again: with that any bonus gives a bound, and a large one makes a
part choose the cell if it can. One that refuses a bonus of a million times the scores is taken to be unable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certus.errors import InvalidInput
from certus.relax.layout import Floats, Layout, Mask
from certus.relax.oracle import Answer, Oracle

LARGEST = math.ldexp(1.0, 900)  # magnitude of the scores
GRID = 36  # bits below the magnitude of the scores that multipliers keep
POOL = 2_000  # choices of each part that are kept for other branches
REACH = 20  # bits above it that the bonus of a cell fixed at 1 may have


@dataclass(eq=False)
class Branch:
    """Variables fixed at 0 (``off``) and at 1 (``on``), both (V,)."""

    off: Mask
    on: Mask

    def copy(self) -> Branch:
        """Return a branch that can be narrowed without changing this one."""
        return Branch(self.off.copy(), self.on.copy())


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The dual at some multipliers.

    Attributes:
        multipliers: (C,) where it was evaluated.
        dual: a bound on every whole of the branch.
        magnitude: the size of the numbers that were added up, which rounding is relative to.
        answers: what each part chose.
        x: (C,) the indicators of all copies.
        ones: (V,) how many copies of each variable are 1.
        split: (V,) the variables whose copies differ.
    """

    multipliers: Floats
    dual: float
    magnitude: float
    answers: tuple[Answer, ...]
    x: Floats
    ones: Floats
    split: Mask

    @property
    def agree(self) -> bool:
        """Whether the parts agree everywhere: then their structures are the best whole of the branch."""
        return not self.split.any()


class Dual:
    """All parts together.

    Multipliers are kept on a grid, a power of two far below the scores: so those of a variable sum to zero
    without rounding, and on whole-numbered scores every bound is exact.
    """

    def __init__(self, layout: Layout, oracles: Sequence[Oracle]) -> None:
        self.layout, self.oracles = layout, oracles
        self.active: Mask = ~layout.reserve
        self.grid = self.bonus = self.reach = 0.0
        self.pool: list[dict[bytes, tuple[Floats, float]]] = [{} for _ in oracles]

    def set_scale(self, magnitude: float) -> None:
        """Choose the grid of the multipliers by the magnitude of the scores, which leaves them room above."""
        if not magnitude <= LARGEST:
            raise InvalidInput(
                f"the scores of the parts add up to {magnitude:.3g}, more than {LARGEST:.3g}; scale them down"
            )
        exponent = math.frexp(magnitude or 1.0)[1]
        self.grid = math.ldexp(1.0, exponent - GRID)
        self.bonus = math.ldexp(1.0, exponent + 2)
        self.reach = math.ldexp(1.0, exponent + REACH)

    def free(self, branch: Branch) -> Mask:
        """Return which variables are still open: (V,)."""
        return self.active & ~branch.off & ~branch.on

    def snap(self, multipliers: Floats, free: Mask, grid: float | None = None) -> Floats:
        """Round multipliers to the grid so that those of each variable sum to zero; the rest become zero."""
        layout, grid = self.layout, grid or self.grid
        snapped = multipliers.copy()
        near = np.abs(multipliers) < math.ldexp(grid, 53)  # those beyond are on the grid, as all floats there
        snapped[near] = np.rint(multipliers[near] / grid) * grid
        snapped[~free[layout.var]] = 0.0
        rest = layout.total(snapped)
        snapped[layout.first] -= rest
        return snapped

    def compute_deviations(self, x: Floats, ones: Floats, free: Mask) -> Floats:
        """Return how much each copy differs from the mean of its variable: a subgradient (C,)."""
        layout = self.layout
        g = x - (ones / layout.count)[layout.var]
        g[~free[layout.var]] = 0.0
        return g

    def evaluate(self, branch: Branch, multipliers: Floats) -> Evaluation:
        """Ask all parts. Raises Forbidden when the branch leaves a part nothing."""
        evaluation = self._evaluate(branch, multipliers)
        while branch.on.any() and self.bonus < self.reach and self.is_refused(branch, evaluation):
            self.bonus *= 16
            evaluation = self._evaluate(branch, multipliers)
        return evaluation

    def is_refused(self, branch: Branch, evaluation: Evaluation) -> bool:
        """Whether a part does not choose a cell fixed at 1, whatever the bonus."""
        return bool((evaluation.ones[branch.on] < self.layout.count[branch.on]).any())

    def compute_losses(self, branch: Branch, evaluation: Evaluation) -> Floats:
        """Return max-marginals less maxima, (C,): what each copy's part loses by using it, 0 or below.

        Where a part offers no max-marginals it is 0, which is a bound, too.
        """
        asked, active = self._combine(branch, evaluation.multipliers), self.active[self.layout.var]
        losses = np.zeros(self.layout.copies)
        for oracle, own, answer in zip(self.oracles, self.layout.slices, evaluation.answers, strict=True):
            if oracle.has_max_marginals:
                losses[own] = oracle.max_marginals(asked[own], active[own]) - answer.value
        return np.minimum(losses, 0.0)

    def _evaluate(self, branch: Branch, multipliers: Floats) -> Evaluation:
        layout = self.layout
        asked, active = self._combine(branch, multipliers), self.active[layout.var]
        answers = tuple(
            oracle.maximize(asked[own], active[own])
            for oracle, own in zip(self.oracles, layout.slices, strict=True)
        )
        for pool, answer in zip(self.pool, answers, strict=True):
            if len(pool) < POOL:
                pool[answer.x.tobytes()] = (answer.x, answer.score)
        x = np.concatenate([answer.x for answer in answers])
        ones = layout.total(x)
        split = self.active & (ones > 0) & (ones < layout.count)
        bonus = self.bonus * int(branch.on[layout.var].sum())
        dual = sum(answer.value for answer in answers) - bonus
        magnitude = sum(abs(answer.score) + abs(answer.value) for answer in answers) + bonus
        return Evaluation(multipliers, dual, magnitude, answers, x, ones, split)

    def _combine(self, branch: Branch, multipliers: Floats) -> Floats:
        """Return what the parts are asked: multipliers, and what the branch fixes."""
        asked = multipliers.copy()
        asked[branch.off[self.layout.var]] = -np.inf
        asked[branch.on[self.layout.var]] = self.bonus
        return asked
