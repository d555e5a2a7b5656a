"""A label sequence with a budget as a part: only so many positions have some of the labels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.relax.parts.kernel import KernelPart, read_scores


class SequenceBudget(KernelPart):
    """Label sequences in which ``least`` to ``most`` positions have a counted label: space ``labels`` (T, L).

    A summary of at most 50 words, a tagging with one verb: what no chain can say. Viterbi over labels and
    counts, O(T · most · L^2); ``value`` of a choice is the array of labels.

    Args:
        transitions: (L, L) [from, to].
        emissions: (T, L).
        counted: the labels that count.
        most: how many positions may have one of them.

    Other args:
        least: how many have to.
        start: (L,) of the first label; nothing by default.
        end: (L,) of the last label.
    """

    space = "labels"
    nothing = "no label sequence within the budget is left"

    def __init__(
        self,
        transitions: ArrayLike,
        emissions: ArrayLike,
        counted: Iterable[int],
        most: int,
        *,
        least: int = 0,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> None:
        self.emissions = read_scores("emissions", emissions)
        if self.emissions.ndim != 2 or self.emissions.shape[1] == 0:
            raise InvalidInput(f"emissions need the shape (T, L) with L > 0, not {self.emissions.shape}")
        labels = self.emissions.shape[1]
        self.transitions = read_scores("transitions", transitions, (labels, labels))
        nothing = np.zeros(labels)
        self.start = read_scores("start scores", nothing if start is None else start, (labels,))
        self.end = read_scores("end scores", nothing if end is None else end, (labels,))
        self.counted = sorted({_check_label(label, labels) for label in counted})
        for name, value in (("most", most), ("least", least)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise InvalidInput(f"{name} is a whole number of at least 0, not {value!r}")
        if least > most:
            raise InvalidInput(f"at least {least} and at most {most} positions cannot both hold")
        self.least, self.most = int(least), int(most)

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell for each label of each position."""
        return self.emissions.shape

    def make_native(self) -> _native.RelaxPart:
        """Return the sequences for the kernels."""
        counted = np.zeros(self.emissions.shape[1], np.uint8)
        counted[self.counted] = 1
        return _native.make_budget_chain(
            self.emissions.reshape(-1),
            self.start,
            self.transitions.reshape(-1),
            self.end,
            counted,
            min(self.least, len(self.emissions) + 1),
            min(self.most, len(self.emissions)),
        )

    def _make_value(self, used: NDArray[np.int8]) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = used.argmax(axis=1).astype(np.int64)
        return labels


def _check_label(label: int, labels: int) -> int:
    if isinstance(label, bool) or not isinstance(label, int | np.integer) or not 0 <= label < labels:
        raise InvalidInput(f"there is no label {label!r} to count: labels go from 0 to {labels - 1}")
    return int(label)
