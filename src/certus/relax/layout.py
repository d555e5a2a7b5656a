"""Which cells of which parts are the same variable.

A *copy* is one cell of one part's indicator space; copies that have to agree form a *variable*. Agreement
is transitive, so ``a = b`` and ``b = c`` make one variable with three copies. All arrays over copies lie one
part after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Member:
    """One side of an agreement: some cells of a space of a part, as indices into the flattened array.

    ``all`` says that these are all cells of the space, in order.
    """

    part: int
    space: str
    cells: Ints
    all: bool = False


@dataclass(frozen=True)
class Group:
    """Members whose cells agree one by one; a reserve is switched on only where the relaxation is loose."""

    members: tuple[Member, ...]
    reserve: bool = False


@dataclass(frozen=True)
class Block:
    """The copies of one part in one of its spaces.

    Attributes:
        space: the name of the space, and ``shape`` its shape.
        cells: (n,) where the copies lie in the flattened array.
        where: which of all copies these are.
        reserve: whether they belong to agreements held in reserve.
        all: whether these are all cells of the space, in order.
    """

    space: str
    shape: tuple[int, ...]
    cells: Ints
    where: slice
    reserve: bool
    all: bool


@dataclass(frozen=True)
class Layout:
    """All copies and variables of a decomposition.

    Attributes:
        blocks: by part, its blocks.
        slices: by part, which of all copies are its own.
        var: (C,) the variable of each copy.
        reserve: (V,) whether the variable is held in reserve.
    """

    blocks: tuple[tuple[Block, ...], ...]
    slices: tuple[slice, ...]
    var: Ints
    reserve: Mask


def lay_out(shapes: Sequence[dict[str, tuple[int, ...]]], groups: Sequence[Group]) -> Layout:
    """Give numbers to copies and variables; ``shapes`` are the spaces of each part."""
    starts: dict[tuple[int, str], int] = {}
    size = 0
    for part, spaces in enumerate(shapes):
        for name, shape in spaces.items():
            starts[part, name] = size
            size += math.prod(shape)
    known = _number_spaces(shapes, starts, groups)
    if known is not None:
        return _arrange_all(shapes, starts, known)
    return _arrange(shapes, starts, size, *_find_classes(starts, size, groups))


def _number_spaces(
    shapes: Sequence[dict[str, tuple[int, ...]]],
    starts: dict[tuple[int, str], int],
    groups: Sequence[Group],
) -> Ints | None:
    """Return the variables where all spaces agree as a whole, each in one group, as most often; else None."""
    group_of = {
        (m.part, m.space): n for n, g in enumerate(groups) if not g.reserve for m in g.members if m.all
    }
    if not starts or not len(group_of) == len(starts) == sum(len(group.members) for group in groups):
        return None
    numbers: dict[int, Ints] = {}
    known = 0
    for (part, name), group in ((key, group_of[key]) for key in starts):
        if group not in numbers:
            numbers[group] = np.arange(known, known := known + math.prod(shapes[part][name]))
    return np.concatenate([numbers[group_of[key]] for key in starts])


def _find_classes(
    starts: dict[tuple[int, str], int], size: int, groups: Sequence[Group]
) -> tuple[Ints, Ints, Mask]:
    """Return for each copy its cell (numbered over all spaces), its variable, and whether it is a reserve."""
    cells, variables, reserves = [], [], []
    known = 0
    kinds = (False, True) if any(group.reserve for group in groups) else (False,)
    for reserve in kinds:
        pairs = [
            (
                starts[g.members[0].part, g.members[0].space] + g.members[0].cells,
                starts[m.part, m.space] + m.cells,
            )
            for g in groups
            if g.reserve is reserve
            for m in g.members[1:]
        ]
        used, label = _merge(size, pairs)
        cells.append(used)
        variables.append(label + known)
        reserves.append(np.full(len(used), reserve))
        if len(kinds) > 1:
            known += int(label.max(initial=-1)) + 1
    if len(kinds) == 1:
        return cells[0], variables[0], reserves[0]
    return np.concatenate(cells), np.concatenate(variables), np.concatenate(reserves)


def _merge(size: int, pairs: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the cells that occur in pairs and, for each, the number of the class the pairs put it in."""
    if not pairs:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if len(pairs) == 1:
        left, right = pairs[0]
    else:
        left = np.concatenate([a for a, _ in pairs])
        right = np.concatenate([b for _, b in pairs])
    # A class of one cell (a cell that agrees with itself) constrains nothing, and is left out.
    classes = _native.merge_cells(size, left, right)
    return classes.cells, classes.number


def _arrange(
    shapes: Sequence[dict[str, tuple[int, ...]]],
    starts: dict[tuple[int, str], int],
    size: int,
    cells: Ints,
    variables: Ints,
    reserve: Mask,
) -> Layout:
    """Order the copies by part, by space, those in reserve last, and by cell; cut them into blocks."""
    if len(cells) == size and not reserve.any():
        return _arrange_all(shapes, starts, variables)
    keys = list(starts)
    firsts = np.array([*starts.values(), size], np.int64)
    # Spaces without cells begin where the next one does: no cell is theirs.
    space = np.searchsorted(firsts, cells, side="right") - 1
    if reserve.any():
        order = np.lexsort((cells, reserve, space))
        cells, variables, reserve, space = cells[order], variables[order], reserve[order], space[order]
    kind = 2 * space + reserve
    inner = np.flatnonzero(kind[1:] != kind[:-1]) + 1
    cuts = [0, *inner.tolist(), len(kind)] if len(kind) else []
    blocks: list[list[Block]] = [[] for _ in shapes]
    for begin, end in itertools.pairwise(cuts):
        which, held = divmod(int(kind[begin]), 2)
        part, name = keys[which]
        own = cells[begin:end] - firsts[which]
        whole = end - begin == firsts[which + 1] - firsts[which]
        blocks[part].append(Block(name, shapes[part][name], own, slice(begin, end), bool(held), whole))
    held_back = np.zeros(int(variables.max(initial=-1)) + 1, bool)
    held_back[variables] = reserve
    return Layout(tuple(map(tuple, blocks)), _make_slices(blocks), variables, held_back)


def _arrange_all(
    shapes: Sequence[dict[str, tuple[int, ...]]], starts: dict[tuple[int, str], int], variables: Ints
) -> Layout:
    """Do the same where every cell of every space is shared: they are in order already."""
    blocks: list[list[Block]] = [[] for _ in shapes]
    for (part, name), begin in starts.items():
        shape = shapes[part][name]
        if count := math.prod(shape):
            where = slice(begin, begin + count)
            blocks[part].append(Block(name, shape, np.arange(count), where, False, True))
    held_back = np.zeros(int(variables.max(initial=-1)) + 1, bool)
    return Layout(tuple(map(tuple, blocks)), _make_slices(blocks), variables, held_back)


def _make_slices(blocks: list[list[Block]]) -> tuple[slice, ...]:
    slices, done = [], 0
    for own in blocks:
        end = own[-1].where.stop if own else done
        slices.append(slice(done, end))
        done = end
    return tuple(slices)
