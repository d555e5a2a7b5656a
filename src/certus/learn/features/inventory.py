"""The labels of a tagger and what they are made of.

A label's score is the sum over its units: its coarse tag, itself, and each of its other parts, such as the
morphological attributes (Müller, Schmid and Schütze 2013, §2.4-2.5, who have all attributes together in place
of the label itself). What is learned of ``Case=Nom`` serves every label that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native

Parts: TypeAlias = Callable[[str], list[str]]


class Inventory:
    """Labels by number, and the units of each.

    Args:
        labels: the names, in the order of their numbers.
        parts: what a label is made of, the coarse tag first; None for labels that share nothing.

    Attributes:
        labels: the names.
        number: the number of each name.
        table: (labels, width) the units of each label, the coarse tag first, then -1.
        groups: how many coarse tags there are; they are the first units.
        units: how many units there are.
    """

    def __init__(self, labels: Sequence[str], parts: Parts | None = None) -> None:
        self.labels = list(labels)
        self.number = {label: number for number, label in enumerate(self.labels)}
        made_of = [[label] if parts is None else parts(label) for label in self.labels]
        coarse = sorted({pieces[0] for pieces in made_of})
        # Coarse tags first, as the kernels want them; then labels in order, which makes them fast.
        named = [("coarse", tag) for tag in coarse] + [("label", label) for label in self.labels]
        units = {unit: number for number, unit in enumerate(named)}
        rows = [
            [units.setdefault(unit, len(units)) for unit in _name_units(label, pieces)]
            for label, pieces in zip(self.labels, made_of, strict=True)
        ]
        if len(coarse) == len(self.labels):  # coarse tags tell all labels apart: nothing is shared
            rows = [row[:1] for row in rows]
        self.groups = len(coarse)
        self.units = 1 + max((unit for row in rows for unit in row), default=-1)
        self.table = np.full((len(rows), max(map(len, rows), default=1)), -1, np.int32)
        for number, row in enumerate(rows):
            self.table[number, : len(row)] = row

    def to_native(self) -> _native.Tagset:
        """Return it as the kernels take it."""
        return _native.Tagset(self.table, self.groups, self.units)

    def number_labels(self, labels: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of labels; -1 for one that is not here."""
        get = self.number.get
        return np.fromiter((get(label, -1) for label in labels), np.int32, len(labels))

    def __len__(self) -> int:
        return len(self.labels)


def _name_units(label: str, pieces: Sequence[str]) -> list[tuple[str, str]]:
    """Name the units of a label: each kind apart, so that equal names of different kinds stay different."""
    return [
        ("coarse", pieces[0]),
        ("label", label),
        *(("part", piece) for piece in dict.fromkeys(pieces[1:])),
    ]
