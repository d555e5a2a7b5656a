"""Hand parts and their layout to the kernels: native parts as they are, others through an oracle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from certus import _native
from certus.part import Choice, NativePart, Part
from certus.relax.layout import Block, Floats, Ints, Layout
from certus.relax.oracle import Oracle


@dataclass(frozen=True, eq=False)
class Entry:
    """One part as it was handed over.

    Attributes:
        part: what was added to the decomposition.
        native: whether its cells are all those of its spaces, one space after the other; else its copies.
        begin: the first of its cells among those of all parts.
        shapes: of its spaces.
        blocks: its copies.
        kernel: what the kernels have of it.
    """

    part: Any
    native: bool
    begin: int
    shapes: dict[str, tuple[int, ...]]
    blocks: tuple[Block, ...]
    kernel: _native.RelaxPart | None = None

    def list_cells(self, block: Block) -> Ints:
        """Return the numbers of a block's copies, among the cells of all parts."""
        if not self.native:
            start = self.blocks[0].where.start
            return np.arange(self.begin + block.where.start - start, self.begin + block.where.stop - start)
        return self.begin + _find_starts(self.shapes)[block.space] + block.cells


@dataclass(frozen=True, eq=False)
class Links:
    """How a part is linked.

    Attributes:
        variables: (cells,) the variable of each of its cells, -1 where no agreement names it.
        copies: (copies,) the cell of each copy that the kernels have of it.
    """

    variables: Ints
    copies: Ints


@dataclass(frozen=True, eq=False)
class Assembly:
    """The parts, with all cells linked to variables."""

    relaxation: _native.Relaxation
    entries: list[Entry]

    def read_choice(self, number: int) -> Choice:
        """Return what a part chose in the best whole."""
        entry, structure = self.entries[number], self.relaxation.structure(number)
        if not entry.native:
            choice: Choice = structure
        elif structure is not None:
            choice = entry.part.read_structure(structure)
        else:
            cells = self.relaxation.used(number).astype(np.int64)  # of the kind that NumPy prints plainly
            choice = entry.part.make_choice(cells, entry.kernel)
        return choice

    def read_average(self, number: int) -> dict[str, Floats]:
        """Return the averaged indicators of a part's shared spaces, NaN where a cell is not shared."""
        average, entry = self.relaxation.average, self.entries[number]
        arrays: dict[str, Floats] = {}
        if len(average):
            for block in entry.blocks:
                array = arrays.setdefault(block.space, np.full(block.shape, np.nan))
                array.reshape(-1)[block.cells] = average[entry.list_cells(block)]
        return arrays


def assemble(
    parts: Sequence[Part],
    names: Sequence[str],
    weights: Sequence[float],
    spaces: Sequence[dict[str, tuple[int, ...]]],
    layout: Layout,
    *,
    integral: bool,
    fixed: Mapping[int, bool] | None = None,
) -> Assembly:
    """Hand all parts over to the kernels; ``fixed`` variables get a part of their own that keeps them so."""
    relaxation = _native.Relaxation()
    entries: list[Entry] = []
    begin, variables = 0, len(layout.reserve)
    for number, (part, blocks) in enumerate(zip(parts, layout.blocks, strict=True)):
        made = _make_native(part)
        entry = Entry(part, made is not None, begin, spaces[number], blocks, made)
        if made is None:
            made = _native.make_python_part(
                oracle := Oracle(part, names[number], weights[number], blocks, integral=integral), oracle.size
            )
            linked = layout.var[layout.slices[number]]
        else:
            linked = _link_cells(entry, layout, made.cells)
            if not _covers(blocks, made.cells):
                alone = linked < 0
                linked[alone] = variables + np.arange(alone.sum())
                variables += int(alone.sum())
        relaxation.add(made, linked, weights[number])
        entries.append(entry)
        begin += made.cells
    fix_variables(relaxation, fixed or {})
    reserve = np.zeros(variables, np.uint8)
    reserve[: len(layout.reserve)] = layout.reserve
    relaxation.link(variables, reserve)
    return Assembly(relaxation, entries)


def fix_variables(relaxation: _native.Relaxation, fixed: Mapping[int, bool]) -> None:
    """Add a part for each variable that is fixed; before the variables are linked."""
    for variable, on in fixed.items():
        part = _native.make_count_part(np.zeros(1), np.zeros(1, np.uint8), int(on), int(on))
        relaxation.add(part, np.array([variable], np.int64))


def list_links(
    part: Part, shapes: dict[str, tuple[int, ...]], blocks: tuple[Block, ...], layout: Layout
) -> Links:
    """Return which variables the cells of a part are, all spaces one after the other."""
    entry = Entry(part, True, 0, shapes, blocks)
    linked = _link_cells(entry, layout, sum(map(math.prod, shapes.values())))
    if _make_native(part) is not None:
        return Links(linked, np.arange(len(linked)))
    return Links(linked, np.concatenate([np.empty(0, np.int64), *map(entry.list_cells, blocks)]))


def has_max_marginals(part: Part) -> bool:
    """Whether a part can tell how good its structures are that use a cell."""
    return callable(getattr(part, "max_marginals", None))


def _make_native(part: Part) -> _native.RelaxPart | None:
    """Return the kernels' version of a part, if its own class has one and nothing was changed below it."""
    if "maximize" in getattr(part, "__dict__", ()):
        return None
    for kind in type(part).__mro__:
        if "make_native" in vars(kind):
            return cast("NativePart", part).make_native()
        if "maximize" in vars(kind):
            return None
    return None


def _link_cells(entry: Entry, layout: Layout, cells: int) -> Ints:
    """Return the variable of each cell of a native part, -1 for those that no agreement names.

    A cell of an agreement that is also held in reserve is not linked twice: a reserve follows from the rest.
    """
    if _covers(entry.blocks, cells):
        return layout.var[entry.blocks[0].where]
    linked = np.full(cells, -1, np.int64)
    for block in sorted(entry.blocks, key=lambda block: block.reserve):
        where = entry.list_cells(block) - entry.begin
        new = linked[where] < 0
        linked[where[new]] = layout.var[block.where][new]
    return linked


def _covers(blocks: tuple[Block, ...], cells: int) -> bool:
    """Whether a part has a single block, which is all of its cells."""
    return len(blocks) == 1 and blocks[0].all and not blocks[0].reserve and len(blocks[0].cells) == cells


def _find_starts(shapes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    starts, size = {}, 0
    for name, shape in shapes.items():
        starts[name] = size
        size += math.prod(shape)
    return starts
