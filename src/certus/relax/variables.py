"""What a factor graph is stated in, and what it answers: variables, literals, assignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.solution import Solution, Status


@dataclass(frozen=True)
class Literal:
    """That a binary variable is on, or that a variable has a state; ``~literal`` is the opposite."""

    cell: int
    negated: bool = False

    def __invert__(self) -> Literal:
        return Literal(self.cell, not self.negated)


@dataclass(frozen=True)
class Variable:
    """A variable of a FactorGraph; ``variable[state]`` says that it has a state.

    A binary one stands for "it is on" itself wherever a literal is wanted, and ``~variable`` for "it is off".
    """

    index: int
    states: int
    cell: int
    binary: bool

    def __getitem__(self, state: int) -> Literal:
        if not 0 <= state < self.states:
            raise InvalidInput(
                f"variable {self.index} has no state {state}; its states go from 0 to {self.states - 1}"
            )
        if self.binary:
            return Literal(self.cell, state == 0)
        return Literal(self.cell + state)

    def __invert__(self) -> Literal:
        if not self.binary:
            raise InvalidInput(f"variable {self.index} has {self.states} states; say which: ~variable[state]")
        return Literal(self.cell, True)


AnyLiteral: TypeAlias = Literal | Variable
Axis: TypeAlias = Variable | Sequence[Variable]  # of a table


class Assignment(Solution[NDArray[np.int64]]):
    """``score <= optimum <= bound``.

    Attributes:
        value: the state of each variable, in the order in which they were added; of a binary one, 0 or 1.
            Empty while no assignment was found.
        trace: how the search stood, step by step: arrays ``seconds``, ``bound``, ``score``, ``nodes``;
            empty where dynamic programming needed none.
    """

    __slots__ = ("trace",)
    papers: ClassVar[tuple[str, ...]] = ("kolmogorov2006", "globerson2007", "swoboda2019")

    def __init__(
        self,
        value: NDArray[np.int64],
        score: float,
        bound: float,
        status: Status,
        answer: _native.Relaxation | None,
    ) -> None:
        work = {"nodes": answer.nodes if answer else 0, "fixed": answer.fixed if answer else 0}
        super().__init__(value, score, bound, status, work)
        self.trace = answer.trace if answer else _native.SearchTrace()

    def __getitem__(self, variable: Variable) -> int:
        """Return the state of a variable."""
        return int(self.value[variable.index])
