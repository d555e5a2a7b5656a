"""What the labels of a word and of its consensus node score together (Rush et al. 2012, §4)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput


@dataclass(frozen=True)
class Agreement:
    """The three weights: ``same >= close >= null >= 0``, in units of the sentence model's scores.

    Attributes:
        same: what a word scores that has the label of its node (δ1).
        close: what it scores if its label is close to that of the node (δ2): in the same group.
        null: what it scores if the node has no label, which turns the node off (δ3).
    """

    same: float
    close: float = 0.0
    null: float = 0.0

    def __post_init__(self) -> None:
        """Refuse weights that would reward disagreement."""
        if not all(math.isfinite(x) for x in (self.same, self.close, self.null)):
            raise InvalidInput(f"the weights {self.same}, {self.close}, {self.null} must be finite numbers")
        if not self.same >= self.close >= self.null >= 0:
            raise InvalidInput(
                f"the weights are {self.same:g}, {self.close:g}, {self.null:g} (same, close, null); they "
                "must not rise, and the last must not be below 0"
            )

    @classmethod
    def of(cls, delta: Agreement | float | Iterable[float]) -> Agreement:
        """Make one of a number, of up to three, or return it as it is."""
        if isinstance(delta, Agreement):
            return delta
        if isinstance(delta, str | bytes):
            raise InvalidInput(f"delta is {delta!r}; up to three numbers are needed")
        values = list(delta) if isinstance(delta, Iterable) else [delta]
        if not 1 <= len(values) <= 3:
            raise InvalidInput(
                f"delta has {len(values)} numbers; same, and if wanted close and null, are needed"
            )
        try:
            return cls(*(float(value) for value in values))
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"delta is {delta!r}; up to three numbers are needed") from None

    def scale(self, factor: float) -> Agreement:
        """Return the weights in other units."""
        return Agreement(self.same * factor, self.close * factor, self.null * factor)


def number_groups(groups: Sequence[Hashable]) -> NDArray[np.int32]:
    """Return a number for each of the groups that labels belong to, from 0."""
    number: dict[Hashable, int] = {}
    return np.fromiter((number.setdefault(group, len(number)) for group in groups), np.int32, len(groups))
