"""Turns the bytes of a fuzzer into choices: the same bytes always make the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Choices:
    """Bytes that are used up choice by choice; when none are left, every choice is the first."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """Return the next bytes, with zeros where there are too few."""
        taken = self._data[self._at : self._at + count]
        self._at += len(taken)
        return taken.ljust(count, b"\0")

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to limit - 1."""
        return int.from_bytes(self.take(1 if limit <= 256 else 4), "little") % limit

    def pick(self, items: Sequence[T]) -> T:
        """Return one of some items."""
        return items[self.below(len(items))]

    def numbers(self, dtype: np.dtype[np.generic], *shape: int) -> NDArray[np.generic]:
        """Return an array of any bits."""
        size = int(np.prod(shape)) * dtype.itemsize
        return np.frombuffer(self.take(size), dtype).reshape(shape).copy()
