"""Parts of which the kernels do all the work: one space, and structures that are the cells they use."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_magnitudes
from certus.errors import InvalidInput
from certus.part import LARGEST, Adjustments, Choice, Forbidden, check_adjustments

Floats = NDArray[np.float64]


class KernelPart(ABC):
    """A part with one space; subclasses say which, make the kernel, and read a value from the cells used."""

    space: str = "cells"
    nothing: str = "nothing is left"  # the message where the adjustments forbid all

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the space."""

    @abstractmethod
    def make_native(self) -> _native.RelaxPart:
        """Return a new kernel."""

    @abstractmethod
    def _make_value(self, used: NDArray[np.int8]) -> Any:
        """Return the value of a choice from its indicators."""

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """The one space, by its name."""
        return {self.space: self.shape}

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the structure of these cells; its score is -inf where there is none."""
        return self._choose(cells, native.complete(cells))

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best structure."""
        found = self.make_native().maximize(self._flatten(adjust))
        if found.score == -np.inf:
            raise Forbidden(self.nothing)
        return self._choose(found.used, found.score)

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Return the structure that the indicators spell, if they spell one."""
        choice = self.make_choice(np.flatnonzero(np.asarray(indicators[self.space])), self.make_native())
        return choice if np.isfinite(choice.score) else None

    def max_marginals(self, adjust: Adjustments) -> dict[str, Floats]:
        """Return for each cell the best value of a structure that uses it, or a bound on it."""
        size = math.prod(self.shape)
        best, without = np.empty(size), np.empty(size)
        self.make_native().max_marginals(self._flatten(adjust), best, without)
        return {self.space: best.reshape(self.shape)}

    def _flatten(self, adjust: Adjustments) -> Floats:
        check_adjustments(self.spaces, adjust)
        if self.space not in adjust:
            return np.zeros(math.prod(self.shape))
        return np.ascontiguousarray(adjust[self.space], np.float64).reshape(-1)

    def _choose(self, cells: NDArray[np.int64], score: float) -> Choice:
        used = np.zeros(self.shape, np.int8)
        used.reshape(-1)[cells] = 1
        return Choice(self._make_value(used), score, {self.space: used})


def read_scores(what: str, scores: ArrayLike, shape: tuple[int, ...] | None = None) -> Floats:
    """Return scores as a new array, or say where they are not numbers to add, or what their shape must be."""
    array: Floats = np.array(scores, np.float64, order="C")
    if shape is not None and array.shape != shape:
        raise InvalidInput(f"{what} need the shape {shape}, not {array.shape}")
    if array.size and not array.max() < np.inf:  # NaN is not, either
        place = tuple(int(i) for i in np.argwhere(~(array < np.inf))[0])
        raise InvalidInput(f"{what} must be numbers to add: at {place} they hold {array[place]}")
    check_magnitudes(what, array, LARGEST)
    return array
