"""What a run of the refinement benchmark is asked to do, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from certus.errors import InvalidInput

PARTS = ("consistency", "states", "ablation", "words")
_HURRY = 1000  # sentences that a quick run learns from


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        data: the folder that the corpora lie in; None if no part needs one.
        only: names of parts; all if empty.
        quick: little data, few iterations: for a first look, not for figures.
    """

    data: Path | None
    only: frozenset[str] = frozenset()
    quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - set(PARTS))
        if unknown:
            raise InvalidInput(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
        if self.data is None and self.parts != ["consistency"]:
            raise InvalidInput(
                "where are the corpora? Give their folder by --data, or in CERTUS_DATA; only the part "
                "consistency does without"
            )
        if self.data is not None and not self.data.is_dir():
            raise InvalidInput(f"there is no folder {self.data} with data; name one by --data or CERTUS_DATA")

    @property
    def parts(self) -> list[str]:
        """The parts to run."""
        return [part for part in PARTS if not self.only or part in self.only]

    @property
    def limit(self) -> int | None:
        """The most sentences to learn from."""
        return _HURRY if self.quick else None

    @property
    def samples(self) -> tuple[int, ...]:
        """How many sentences are drawn from the known model, one estimate each."""
        return (300, 1_000, 3_000) if self.quick else (300, 1_000, 3_000, 10_000, 30_000, 100_000)

    @property
    def spectral_states(self) -> tuple[int, ...]:
        """Hidden states of spectral models."""
        return (1, 4, 8) if self.quick else (1, 2, 4, 8, 12, 16, 24, 32)

    @property
    def em_states(self) -> tuple[int, ...]:
        """Hidden states of models estimated by EM."""
        return (4, 8) if self.quick else (2, 4, 8, 16, 24, 32)

    @property
    def restarts(self) -> int:
        """Of EM."""
        return 1 if self.quick else 3

    @property
    def iterations(self) -> int:
        """Of each restart of EM."""
        return 30 if self.quick else 200


@dataclass(frozen=True)
class Error:
    """How far the marginals of an estimate are from those of the known model.

    Attributes:
        what: the estimate.
        sentences: it was made from.
        relative: the norm of the difference over the norm of the truth, averaged over samples.
        seconds: to estimate, on average.
    """

    what: str
    sentences: int
    relative: float
    seconds: float


@dataclass(frozen=True)
class Trained:
    """A model that was trained, and how good it is.

    Attributes:
        part: of the benchmark.
        what: unigram, HMM, spectral or EM; or what was changed.
        hidden: states a label.
        dev, test: accuracy in percent.
        seconds: of training, all restarts together, looks at dev left out.
        mended: test sentences that the model gave no positive total, and that were labelled with its memory
            damped or by the plain HMM.
        chosen: of EM, the restart and iteration that dev chose.
        restarts: that the seconds are of.
    """

    part: str
    what: str
    hidden: int
    dev: float
    test: float
    seconds: float
    mended: int = 0
    chosen: tuple[int, int] | None = None
    restarts: int = 1


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    machine: dict[str, Any]
    errors: list[Error] = field(default_factory=list)
    trained: list[Trained] = field(default_factory=list)

    def rows(self, part: str, what: str) -> list[Trained]:
        """Return the models of a part that go by a name, fewest states first."""
        rows = [row for row in self.trained if row.part == part and row.what == what]
        return sorted(rows, key=lambda row: row.hidden)

    def best(self, part: str, what: str, least: int = 1) -> Trained | None:
        """Return the model with at least so many states that is best on dev."""
        rows = [row for row in self.rows(part, what) if row.hidden >= least]
        return max(rows, key=lambda row: row.dev, default=None)

    @property
    def slope(self) -> float | None:
        """Of the logarithm of the error over that of the sample, for the spectral estimate."""
        found = [row for row in self.errors if row.what == "spectral"]
        if len(found) < 2:
            return None
        return float(
            np.polyfit(np.log([row.sentences for row in found]), np.log([row.relative for row in found]), 1)[
                0
            ]
        )
