"""How a caller names cells of a space, and what is refused."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput
from certus.relax.layout import Ints

Indices: TypeAlias = NDArray[np.integer]


def as_cells(cells: ArrayLike | None, shape: tuple[int, ...], what: str) -> Ints:
    """Return cells as indices into the flattened space.

    Takes None for all, a boolean mask of the space's shape, (n,) indices into the flattened space, or
    (n, dimensions) coordinates.
    """
    size = math.prod(shape)
    if cells is None:
        return np.arange(size, dtype=np.int64)
    try:
        array = np.asarray(cells)
    except ValueError:
        array = np.empty(0, object)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype == np.bool_:
        if array.shape != shape:
            raise InvalidInput(f"{what}: a mask of cells needs the shape {shape}, not {array.shape}")
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim not in (1, 2):
        raise InvalidInput(
            f"{what}: cells must be indices (n,) into the flattened space, coordinates (n, {len(shape)}), or "
            f"a mask of shape {shape}"
        )
    if array.ndim == 2:
        return _flatten_coordinates(array, shape, what)
    return _check_indices(array, size, shape, what)


def _check_indices(array: Indices, size: int, shape: tuple[int, ...], what: str) -> Ints:
    bad = (array < 0) | (array >= size)
    if bad.any():
        raise InvalidInput(
            f"{what}: there is no cell {array[bad][0]}; a space of shape {shape} has cells 0 to {size - 1}"
        )
    cells: Ints = array.astype(np.int64)
    return cells


def _flatten_coordinates(array: Indices, shape: tuple[int, ...], what: str) -> Ints:
    if array.shape[1] != len(shape):
        raise InvalidInput(
            f"{what}: coordinates need {len(shape)} numbers per cell, as the shape is {shape}, "
            f"not {array.shape[1]}"
        )
    bad = ((array < 0) | (array >= np.array(shape))).any(axis=1)
    if bad.any():
        place = tuple(int(i) for i in array[bad][0])
        raise InvalidInput(f"{what}: there is no cell {place} in a space of shape {shape}")
    cells: Ints = np.ravel_multi_index(tuple(array.T.astype(np.int64)), shape).astype(np.int64)
    return cells
