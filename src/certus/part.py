"""What a part of a decomposition is: anything that maximises its own score plus an adjustment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import CertusError, InvalidInput

Adjustments = Mapping[str, NDArray[np.float64]]
LARGEST = math.ldexp(1.0, 900)  # magnitude of the scores, as native/relax/dual.hpp has it,
SMALLEST = math.ldexp(1.0, -1000)  # and the least, where not all are 0


class Forbidden(CertusError):
    """A part has no structure left: the adjustments forbid all."""


@dataclass(frozen=True)
class Choice:
    """What a part chose.

    Attributes:
        value: the structure itself: labels, a tree, ...
        score: of the structure, without the adjustments.
        indicators: by the name of the space, a 0/1 array: what of it the structure uses.
    """

    value: Any
    score: float
    indicators: Mapping[str, NDArray[Any]]


def check_adjustments(spaces: Mapping[str, tuple[int, ...]], adjust: Adjustments) -> None:
    """Refuse adjustments that a part with these spaces cannot add: their names, shapes, NaN and +inf."""
    for name, values in adjust.items():
        if name not in spaces:
            raise InvalidInput(f"there is no space {name!r}; this part has {', '.join(spaces) or 'none'}")
        array = np.asarray(values)
        if array.shape != tuple(spaces[name]):
            raise InvalidInput(f"adjust[{name!r}] must have shape {tuple(spaces[name])}, not {array.shape}")
        if array.size and not array.max() < np.inf:  # NaN is not, either
            place = tuple(int(i) for i in np.argwhere(~(array < np.inf))[0])
            cell = ", ".join(map(str, place))
            raise InvalidInput(
                f"adjust[{name!r}][{cell}] is {array[place]}; it must be finite, or -inf to forbid"
            )


class Part(Protocol):
    """A model that can maximise itself plus an adjustment."""

    @property
    def spaces(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the indicator arrays that it shares, by name."""

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return a structure with the highest score plus adjustments.

        A structure's adjustment is the sum of ``adjust[name] * indicators[name]`` over names and cells. Names
        may be missing: nothing is adjusted there. ``-inf`` forbids a cell. Where nothing is allowed any more,
        raise ``certus.relax.Forbidden``.
        """


class NativePart(Part, Protocol):
    """A part that the kernels can maximise without Python.

    It has ``make_choice`` where the cells that a structure uses say all of it, else ``read_structure``.
    """

    def make_native(self) -> _native.RelaxPart | None:
        """Return a new copy for the kernels, whose cells are those of the spaces, one after the other.

        None where there is none for this part: then it is asked by ``maximize``.
        """

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the best structure that uses these cells and no others; they are numbered as above.

        ``native`` is what make_native returned, and the kernels have used.
        """

    def read_structure(self, structure: Any) -> Choice:
        """Return what the kernels found, as a choice."""

    def describe_used_twice(self, cell: int) -> str:
        """Say of a cell, numbered as above, that a structure uses it twice, which no part may do."""
