"""What an estimate stands on, label by label: samples, ranks, conditions. Nothing is mended in silence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Block:
    """One of the two blocks that the spectral estimator inverts for each label.

    Attributes:
        rank: hidden states that it supports, of those asked for.
        sizes: how many features of its two sides the samples have.
        singular: its singular values, largest first, the constant (1) left out.
    """

    rank: int
    sizes: tuple[int, int]
    singular: NDArray[np.float64]

    @property
    def condition(self) -> float:
        """The largest singular value that is used over the smallest; 1 if none is."""
        used = self.singular[: self.rank - 1]
        return float(max(1.0, used[0]) / min(1.0, used[-1])) if len(used) else 1.0


@dataclass(frozen=True)
class LabelReport:
    """What the estimate of a label stands on.

    Attributes:
        label: its name.
        samples: how often it occurs.
        past: the block of future and past, whose rank is the number of the label's hidden states.
        present: the block of present and destiny; both blocks are None where no moments are inverted.
        problem: what is less than was asked for and what to change; empty if nothing.
    """

    label: str
    samples: int
    past: Block | None = None
    present: Block | None = None
    problem: str = ""

    @property
    def hidden(self) -> int | None:
        """How many hidden states the label has, if that was estimated."""
        return None if self.past is None else self.past.rank


@dataclass(frozen=True)
class Diagnostics:
    """What an estimate stands on.

    Attributes:
        labels: by label, in the order of their ids.
        objective: by restart, after each iteration of EM; empty for other estimates.
        chosen: the restart and iteration of the model that EM returns.
    """

    labels: tuple[LabelReport, ...]
    objective: tuple[tuple[float, ...], ...] = ()
    chosen: tuple[int, int] | None = field(default=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is less than was asked for, each with the label and what to change."""
        return tuple(report.problem for report in self.labels if report.problem)

    def __str__(self) -> str:
        """List the problems, or say that there are none."""
        return "\n".join(self.problems) or "no label has less to go by than was asked for"


def explain_past(label: str, samples: int, hidden: int, block: Block, tolerance: float) -> str:
    """Say why a label has fewer hidden states than asked for, and what to change."""
    if block.rank >= hidden:
        return ""
    head = f"label {label!r} has {block.rank} of {hidden} hidden states: "
    if samples < hidden:
        return head + (
            f"it occurs {say_times(samples)}, fewer than its hidden states; lower hidden, or add sentences "
            "that have it"
        )
    if min(block.sizes) < hidden:
        return head + (
            f"its features of the future or the past have rank {min(block.sizes)} at most; lower hidden, or "
            "give features that take more different values"
        )
    return head + (
        f"the block of its future and past is singular beyond that (singular value "
        f"{_find_next_singular(block):.2g}, below the tolerance {tolerance:g}); lower hidden, or give "
        "features of future and past that tell more about each other"
    )


def explain_present(label: str, block: Block, tolerance: float) -> str:
    """Say when nothing about the hidden state shows in the observation, and what to change.

    A smaller rank than ``hidden`` alone is no problem here: a label with few observations has no more.
    """
    if block.rank > 1 or block.sizes[0] <= 1:
        return ""
    return (
        f"label {label!r}: the block of its present and destiny is singular (singular value "
        f"{_find_next_singular(block):.2g}, below the tolerance {tolerance:g}), so its hidden states emit "
        "alike; give features of destiny that tell more about the observation"
    )


def say_times(count: int) -> str:
    """Say how often."""
    return "once" if count == 1 else f"{count} times"


def _find_next_singular(block: Block) -> float:
    """Return the largest singular value that is not used."""
    rest = block.singular[block.rank - 1 :]
    return float(rest[0]) if len(rest) else 0.0
