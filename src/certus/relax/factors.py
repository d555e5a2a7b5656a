"""What a factor graph is made of: tables and constraints on cells, as the kernels take them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Factor(ABC):
    """Scores of some cells together, or what is demanded of them."""

    cells: list[int]

    @abstractmethod
    def make_part(self, scores: Floats) -> _native.RelaxPart:
        """Return the factor for the kernels, with the scores of its cells that it carries."""

    @abstractmethod
    def score(self, on: Mask) -> float:
        """Return the factor's score where these of its cells are on; -inf where it forbids them."""


@dataclass(frozen=True)
class Table(Factor):
    """Scores of the states of several variables together; ``single`` ones are on or off."""

    shape: list[int]
    single: list[bool]
    table: Floats

    def make_part(self, scores: Floats) -> _native.RelaxPart:
        """Return it for the kernels."""
        return _native.make_table_part(self.shape, np.array(self.single, np.uint8), self.table, scores)

    def score(self, on: Mask) -> float:
        """Return its score."""
        at, cell = 0, 0
        for states, single in zip(self.shape, self.single, strict=True):
            own = on[cell : cell + (1 if single else states)]
            if not single and own.sum() != 1:
                return -math.inf
            at = at * states + int(own[0] if single else np.argmax(own))
            cell += len(own)
        return float(self.table[at])


@dataclass(frozen=True)
class Count(Factor):
    """At least ``least`` and at most ``most`` of the literals are true."""

    negated: list[bool]
    least: int
    most: int

    def make_part(self, scores: Floats) -> _native.RelaxPart:
        """Return it for the kernels."""
        return _native.make_count_part(scores, np.array(self.negated, np.uint8), self.least, self.most)

    def score(self, on: Mask) -> float:
        """Return its score."""
        return 0.0 if self.least <= int((on != self.negated).sum()) <= self.most else -math.inf


@dataclass(frozen=True)
class OrOutput(Factor):
    """The last literal is true exactly where one of the others is."""

    negated: list[bool]

    def make_part(self, scores: Floats) -> _native.RelaxPart:
        """Return it for the kernels."""
        return _native.make_or_output_part(scores, np.array(self.negated, np.uint8))

    def score(self, on: Mask) -> float:
        """Return its score."""
        true = on != self.negated
        return 0.0 if true[:-1].any() == true[-1] else -math.inf


@dataclass(frozen=True)
class Knapsack(Factor):
    """The weights of the true literals sum to no more than a capacity."""

    negated: list[bool]
    weights: list[int]
    capacity: int

    def make_part(self, scores: Floats) -> _native.RelaxPart:
        """Return it for the kernels."""
        return _native.make_knapsack_part(
            scores, np.array(self.negated, np.uint8), self.weights, self.capacity
        )

    def score(self, on: Mask) -> float:
        """Return its score."""
        return 0.0 if int((on != self.negated) @ np.array(self.weights)) <= self.capacity else -math.inf
