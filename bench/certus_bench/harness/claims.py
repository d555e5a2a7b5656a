"""What Certus promises, held against what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A figure, mostly a ratio of two times, and what it has to be."""

    text: str  # what is claimed, with the size it is claimed for
    needed: float  # the limit
    least: bool  # whether the limit is the least (or, if False, the most) that the figure may be
    measured: float | None  # None if the run did not measure what it takes
    unit: str = "×"  # of both; × for a ratio

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None if it was not measured."""
        if self.measured is None:
            return None
        return self.measured >= self.needed if self.least else self.measured <= self.needed

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, and whether it holds."""
        return {**asdict(self), "holds": self.holds}


def divide(numerator: float | None, denominator: float | None) -> float | None:
    """Return a ratio; None where a figure is unknown, or 0 below the line."""
    return numerator / denominator if numerator is not None and denominator else None


def subtract(more: float | None, less: float | None) -> float | None:
    """Return a difference; None where a figure is unknown."""
    return more - less if more is not None and less is not None else None


def get_figure(record: Any, name: str) -> float | None:
    """Return a figure of a record; None where there is no record."""
    return None if record is None else getattr(record, name)
