"""What a factor graph is made of: tables and constraints on cells, as the kernels take them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

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
    def add_to(self, graph: _native.FactorGraph) -> None:
        """Hand the factor to the kernels; it carries the scores of its cells that none before it does."""

    @abstractmethod
    def state_part(self, scores: Floats) -> dict[str, Any]:
        """Return the factor as plain data, for certificates, with the scores of its cells that it carries."""

    def list_structure(self, on: Mask) -> list[int]:
        """Return what is on as certificates have it."""
        cells: list[int] = np.flatnonzero(on).tolist()
        return cells

    @abstractmethod
    def score(self, on: Mask) -> float:
        """Return the factor's score where these of its cells are on; -inf where it forbids them."""


@dataclass(frozen=True)
class Table(Factor):
    """Scores of the states of several variables together; ``single`` ones are on or off."""

    shape: list[int]
    single: list[bool]
    table: Floats

    def add_to(self, graph: _native.FactorGraph) -> None:
        """Hand it to the kernels."""
        graph.add_table(self.cells, self.shape, self.single, self.table)

    def state_part(self, scores: Floats) -> dict[str, Any]:
        """Return it as plain data."""
        shape, single = np.array(self.shape, np.int64), np.array(self.single, np.int64)
        return {"kind": "table", "shape": shape, "single": single, "table": self.table, "scores": scores}

    def list_structure(self, on: Mask) -> list[int]:
        """Return the state of each variable."""
        states, cell = [], 0
        for size, single in zip(self.shape, self.single, strict=True):
            own = on[cell : cell + (1 if single else size)]
            states.append(int(own[0] if single else np.argmax(own)))
            cell += len(own)
        return states

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

    def add_to(self, graph: _native.FactorGraph) -> None:
        """Hand it to the kernels."""
        graph.add_count(self.cells, self.negated, self.least, self.most)

    def state_part(self, scores: Floats) -> dict[str, Any]:
        """Return it as plain data."""
        negated = np.array(self.negated, np.int64)
        return {"kind": "count", "scores": scores, "negated": negated, "least": self.least, "most": self.most}

    def score(self, on: Mask) -> float:
        """Return its score."""
        return 0.0 if self.least <= int((on != self.negated).sum()) <= self.most else -math.inf


@dataclass(frozen=True)
class OrOutput(Factor):
    """The last literal is true exactly where one of the others is."""

    negated: list[bool]

    def add_to(self, graph: _native.FactorGraph) -> None:
        """Hand it to the kernels."""
        graph.add_or_output(self.cells, self.negated)

    def state_part(self, scores: Floats) -> dict[str, Any]:
        """Return it as plain data."""
        return {"kind": "or-output", "scores": scores, "negated": np.array(self.negated, np.int64)}

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

    def add_to(self, graph: _native.FactorGraph) -> None:
        """Hand it to the kernels."""
        graph.add_knapsack(self.cells, self.negated, self.weights, self.capacity)

    def state_part(self, scores: Floats) -> dict[str, Any]:
        """Return it as plain data."""
        negated, weights = np.array(self.negated, np.int64), np.array(self.weights, np.int64)
        return {
            "kind": "knapsack",
            "scores": scores,
            "negated": negated,
            "weights": weights,
            "capacity": self.capacity,
        }

    def score(self, on: Mask) -> float:
        """Return its score."""
        return 0.0 if int((on != self.negated) @ np.array(self.weights)) <= self.capacity else -math.inf
