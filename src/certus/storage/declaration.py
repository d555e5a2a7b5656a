"""What the arrays of a model must be: declared once per kind of model, checked before anything reads them.

A declaration gives each array a type, a shape in named sizes and a range::

    Declaration({
        "words": names("words"),
        "offsets": offsets("words", into="entries"),
        "label": whole("entries", below="labels"),
        "score": reals("entries"),
    }).check(arrays, labels=12)

A size that nobody has given gets its value from the first array that has it; every other one must agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import ModelError
from certus.storage.tensors import DAMAGED

Sizes = dict[str, int]

LARGEST_COUNT = 1 << 40  # of numbers that add up to a size: sums of many do not overflow
LARGEST = 1e30  # of scores: sums of many stay within the range even of float32
ROOM = 1 << 26  # bytes that any model may take beside its file,
TIMES = 64  # or this many times what its arrays take


@dataclass(frozen=True)
class Array:
    """What an array must be; ``whole``, ``reals`` and the like make one.

    Attributes:
        types: that it may have.
        shape: sizes: numbers, names, or sums of products of them such as ``labels+1``.
        least: the smallest value that it may hold; None for any.
        most: the largest value; None for any.
        below: a size that all values are below; None for any.
        rise: by how much at least each value is above the one before; None where they may fall.
        into: the size that its last value must be, for offsets and ends.
        total: the size that its values add up to.
        separator: the byte between the names that it is made of; ``count`` is how many there are.
        count: see ``separator``.
        group: arrays of a group are all there or none of them; without a group, an array must be there.
    """

    types: tuple[str, ...]
    shape: tuple[str, ...]
    least: float | None = None
    most: float | None = None
    below: str | None = None
    rise: int | None = None
    into: str | None = None
    total: str | None = None
    separator: int | None = None
    count: str = ""
    group: str | None = None

    def of_group(self, name: str) -> Array:
        """Return the same, for models that have this group of arrays."""
        return replace(self, group=name)

    def check(self, array: NDArray[Any], sizes: Sizes) -> None:
        """Raise ValueError with what is wrong; new sizes are added."""
        if array.dtype.name not in self.types:
            raise ValueError(f"holds {array.dtype.name}, not {' or '.join(self.types)}")
        if array.ndim != len(self.shape):
            raise ValueError(f"has {array.ndim} dimensions, not {len(self.shape)}")
        for size, found in zip(self.shape, array.shape, strict=True):
            _agree(size, found, sizes)
        if self.separator is not None:
            _agree(self.count, int(np.count_nonzero(array == self.separator)) + 1, sizes)
        if array.size:
            self._check_range(array, sizes)
        if self.rise is not None:
            self._check_rising(array, self.rise, sizes)
        if self.total is not None:
            _agree(self.total, int(array.sum()), sizes)

    def _check_range(self, array: NDArray[Any], sizes: Sizes) -> None:
        if self.least is None and self.most is None and self.below is None:
            return
        least, most = array.min(), array.max()
        if np.isnan(least):
            raise ValueError("holds nan, which is no number")
        if self.least is not None and not least >= self.least:
            raise ValueError(f"holds {least:g}, and nothing below {self.least:g} may be there")
        if self.most is not None and not most <= self.most:
            raise ValueError(f"holds {most:g}, and nothing above {self.most:g} may be there")
        if self.below is not None and not most < measure(self.below, sizes):
            raise ValueError(
                f"holds {most}, and all must be below {measure(self.below, sizes)} ({self.below})"
            )

    def _check_rising(self, array: NDArray[Any], least: int, sizes: Sizes) -> None:
        falls = np.flatnonzero(array[1:] < array[:-1] + least)
        if len(falls):
            at = falls[0]
            raise ValueError(f"goes from {array[at]} to {array[at + 1]} after entry {at}")
        if self.into is not None:
            _agree(self.into, int(array[-1]) if array.size else 0, sizes)


def whole(
    *shape: str, types: str = "int64", least: int = 0, below: str | None = None, total: str | None = None
) -> Array:
    """Declare whole numbers: not below ``least``, and below a size, or adding up to one."""
    most = None if total is None else LARGEST_COUNT
    return Array(tuple(types.split()), shape, least=least, most=most, below=below, total=total)


def reals(*shape: str, types: str = "float32", least: float = -LARGEST, most: float = LARGEST) -> Array:
    """Declare numbers within a range; a ``least`` of -inf allows what is forbidden."""
    return Array(tuple(types.split()), shape, least=least, most=most)


def keys(*shape: str, types: str) -> Array:
    """Declare numbers that may be any, such as hashes."""
    return Array((types,), shape)


def names(count: str, *, separator: str = "\n") -> Array:
    """Declare texts as bytes, ``count`` of them, with a separator between each two."""
    return Array(("uint8",), ("*",), separator=ord(separator), count=count)


def offsets(rows: str, *, into: str, each: int = 0) -> Array:
    """Declare where rows of at least ``each`` entries begin in arrays of size ``into``, and the last end."""
    return Array(("int64",), (f"{rows}+1",), least=0, most=LARGEST_COUNT, rise=each, into=into)


def ends(rows: str, *, into: str) -> Array:
    """Declare where each of some rows ends in an array of size ``into``."""
    return Array(("int64",), (rows,), least=0, most=LARGEST_COUNT, rise=0, into=into)


@dataclass(frozen=True)
class Declaration:
    """What the arrays of a kind of model must be.

    Attributes:
        arrays: by name; others may be there, and nobody reads them.
        work: how many bytes a model of these sizes takes in memory beside its file, as a sum of products.
    """

    arrays: Mapping[str, Array]
    work: str = "0"

    def check(self, arrays: Mapping[str, NDArray[Any]], **given: int) -> Sizes:
        """Return all sizes; raise ModelError for the first array that is not as declared.

        Args:
            arrays: of a model file.
            **given: sizes that the description of the model states.
        """
        sizes: Sizes = dict(given)
        groups = {None} | {declared.group for name, declared in self.arrays.items() if name in arrays}
        for name, declared in self.arrays.items():
            if name not in arrays:
                if declared.group not in groups:
                    continue
                raise ModelError(f"it lacks the array {name!r}")
            try:
                declared.check(arrays[name], sizes)
            except ValueError as error:
                raise ModelError(f"its array {name!r} {error}; {DAMAGED}") from None
        self._check_work(arrays.values(), sizes)
        return sizes

    def _check_work(self, arrays: Iterable[NDArray[Any]], sizes: Sizes) -> None:
        needed, room = measure(self.work, sizes), max(ROOM, TIMES * sum(array.nbytes for array in arrays))
        if needed > room:
            raise ModelError(
                f"a model of its sizes would take {needed:,} bytes, far more than its arrays do; {DAMAGED}"
            )


def measure(expression: str, sizes: Mapping[str, int]) -> int:
    """Return the value of a sum of products of sizes."""
    return sum(
        math.prod(int(factor) if factor.isdecimal() else sizes[factor] for factor in term.split("*"))
        for term in expression.split("+")
    )


def _agree(expression: str, found: int, sizes: Sizes) -> None:
    """Give a size its value, or compare the value that it has; ``*`` may be anything."""
    if expression == "*":
        return
    name, _, more = expression.partition("+")
    if name not in sizes and not name.isdecimal() and "*" not in name and (not more or more.isdecimal()):
        if found < int(more or 0):
            raise ValueError(f"has {found} entries, but at least {more} are needed")
        sizes[name] = found - int(more or 0)
    elif measure(expression, sizes) != found:
        raise ValueError(f"gives {found:,} for {expression}, which is {measure(expression, sizes):,}")
