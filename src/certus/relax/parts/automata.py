"""Head automata as parts: which words modify which heads, under scores of what comes before on a side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.relax.parts.kernel import Floats, KernelPart, read_scores


class _Automata(KernelPart):
    """Cells (n, n + 1), word by head; a word's own column is never used."""

    space = "heads"
    nothing = "the automata accept nothing that is left"
    arcs: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell for each head of each word."""
        return self.arcs.shape

    def _make_value(self, used: NDArray[np.int8]) -> NDArray[np.int8]:
        return used


class HeadAutomata(_Automata):
    """For each head and side, the best sequence of modifiers under sibling scores (Koo et al. 2010).

    Space ``heads`` as in TreePart, (n, n + 1); here a word may have any number of heads, also none. ``value``
    of a choice is the array of indicators.

    Args:
        arcs: (n, n + 1) of each head for each word, as in TreePart; -inf forbids. A word's own column is
            never used.
        siblings: (n + 1, n + 2, n + 1) [head, the modifier before, modifier] of two modifiers in a row on one
            side of a head, from the head outwards; words count from 1, 0 is the root as a head, and n + 1 as
            the modifier before stands for none.
    """

    def __init__(self, arcs: ArrayLike, siblings: ArrayLike) -> None:
        self.arcs = read_scores("scores of arcs", arcs)
        self.siblings = read_scores("scores of siblings", siblings)
        n = len(self.arcs)
        if self.arcs.shape != (n, n + 1) or self.siblings.shape != (n + 1, n + 2, n + 1):
            raise InvalidInput(
                "head automata of n words need arcs of shape (n, n + 1) and siblings of shape "
                f"(n + 1, n + 2, n + 1); got {self.arcs.shape} and {self.siblings.shape}"
            )
        self.arcs[np.arange(n), np.arange(1, n + 1)] = -np.inf

    def make_native(self) -> _native.RelaxPart:
        """Return the automata for the kernels."""
        return _native.make_head_automata(self.arcs.reshape(-1), self.siblings.reshape(-1), len(self.arcs))

    def state_part(self) -> dict[str, Any]:
        """Return the automata as plain data, for certificates."""
        return {"kind": "siblings", "arcs": self.arcs, "siblings": self.siblings}


class StateAutomata(_Automata):
    """For each head and side, an automaton with states of your own that reads the modifiers outwards.

    Passing the words from the head outwards, an automaton leaves a word alone, and stays in its state for 0,
    or takes it as a modifier and goes to a state, for the score of the step. With the last modifier as the
    state, this is ``HeadAutomata``, which is quicker; states may as well count modifiers, remember whether
    there is a subject, or what else a grammar says of a head. Space and value as there.

    Args:
        arcs: (n, n + 1) of each head for each word; -inf forbids. A word's own column is never used.
        steps: (n + 1, 2, S, S, n + 1) [head, side, state before, state after, modifier]: side 0 is the left;
            words count from 1, and 0 is the root as a head. -inf forbids.

    Other args:
        start: (n + 1, 2, S) of the states to begin in; only state 0, for 0, by default.
        stop: (n + 1, 2, S) of the states to end in; any, for 0, by default.
    """

    def __init__(
        self,
        arcs: ArrayLike,
        steps: ArrayLike,
        *,
        start: ArrayLike | None = None,
        stop: ArrayLike | None = None,
    ) -> None:
        self.arcs, self.steps = read_scores("scores of arcs", arcs), read_scores("scores of steps", steps)
        n = len(self.arcs)
        states = self.steps.shape[2] if self.steps.ndim == 5 else 0
        if (
            self.arcs.shape != (n, n + 1)
            or states == 0
            or self.steps.shape != (n + 1, 2, states, states, n + 1)
        ):
            raise InvalidInput(
                "automata of S states for n words need arcs of shape (n, n + 1) and steps of shape "
                f"(n + 1, 2, S, S, n + 1) with S > 0; got {self.arcs.shape} and {self.steps.shape}"
            )
        self.arcs[np.arange(n), np.arange(1, n + 1)] = -np.inf
        shape = (n + 1, 2, states)
        first = np.full(shape, -np.inf)
        first[:, :, 0] = 0.0
        self.start = read_scores("scores of start states", first if start is None else start, shape)
        self.stop = read_scores("scores of stop states", np.zeros(shape) if stop is None else stop, shape)

    def make_native(self) -> _native.RelaxPart:
        """Return the automata for the kernels."""
        return _native.make_state_automata(
            self.arcs.reshape(-1),
            self.steps.reshape(-1),
            self.start.reshape(-1),
            self.stop.reshape(-1),
            len(self.arcs),
            self.steps.shape[2],
        )
