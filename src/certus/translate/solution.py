"""What a translation comes back as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.solution import KBest, Solution, Status, Work, conclude

MARGIN = 1e-9  # relative to scores: sums of the same numbers in another order differ by less


class TranslatedPhrase(NamedTuple):
    """A span of source words and the target words that it became; ends are excluded."""

    source_begin: int
    source_end: int
    target: tuple[str, ...]
    number: int  # of the phrase, among those that were offered


@dataclass(frozen=True)
class SearchTrace:
    """What a search knew after each round of relaxation and after each beam.

    Attributes:
        seconds: since the search began.
        bound: no derivation scores more.
        score: of the best derivation (the k-th best, if k were asked for); -inf before there is one.
    """

    seconds: NDArray[np.float64]
    bound: NDArray[np.float64]
    score: NDArray[np.float64]


@dataclass(frozen=True)
class SearchTimes:
    """Where the seconds of a search went."""

    graph: float
    relaxation: float
    beam: float


class Translation(Solution[tuple[TranslatedPhrase, ...]]):
    """A translation, with its proof: ``score <= optimum <= bound``.

    Attributes:
        features: what its score is a weighted sum of, by name; empty for problems without a phrase table.
        trace: how the bound fell and the score rose.
        times: where the seconds went.
    """

    __slots__ = ("features", "times", "trace")

    def __init__(
        self,
        phrases: tuple[TranslatedPhrase, ...],
        score: float,
        bound: float,
        status: Status,
        counters: Work | None = None,
        *,
        features: Mapping[str, tuple[float, ...]] | None = None,
        trace: SearchTrace | None = None,
        times: SearchTimes | None = None,
    ) -> None:
        super().__init__(phrases, score, bound, status, counters)
        self.features = dict(features or {})
        self.trace = trace
        self.times = times

    @property
    def phrases(self) -> tuple[TranslatedPhrase, ...]:
        """The phrases, in the order of the target."""
        return self.value

    @property
    def words(self) -> list[str]:
        """The target words."""
        return [word for phrase in self.value for word in phrase.target]

    @property
    def text(self) -> str:
        """The target words, with blanks between them."""
        return " ".join(self.words)

    @property
    def alignment(self) -> str:
        """The spans of phrases as Moses writes them, ends included: ``0-1=0-2 3=3``."""
        parts, place = [], 0
        for phrase in self.value:
            end = place + len(phrase.target)
            sides = (phrase.source_begin, phrase.source_end), (place, end)
            parts.append("=".join(str(b) if e == b + 1 else f"{b}-{e - 1}" for b, e in sides))
            place = end
        return " ".join(parts)

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        return f"Translation({self.text!r}, score={self.score:.6g}, {proof})"


def make_counters(found: _native.PhraseAnswer) -> dict[str, int]:
    """Return what a search counted."""
    return {name: getattr(found, name) for name in ("rounds", "beams", "expanded", "made", "hard")}


class Searched(Protocol):
    """What searches over phrases and over forests tell."""

    @property
    def bound(self) -> float:
        """Nothing that was not seen scores more."""

    @property
    def timed_out(self) -> bool:
        """Whether time ended the search."""


def judge(found: Searched, score: float) -> tuple[Status, float]:
    """Return how a derivation stands, and its bound: nothing that was not seen may score more than it."""
    limit = Status.SECONDS if found.timed_out else Status.FEASIBLE
    return conclude(score, found.bound, limit, allowance=MARGIN * abs(score))


def make_translations(
    found: _native.PhraseAnswer,
    phrases: Iterable[tuple[TranslatedPhrase, ...]],
    features: Iterable[Mapping[str, tuple[float, ...]] | None],
) -> KBest[Translation]:
    """Return all derivations that a search found, best first."""
    counters = make_counters(found)
    trace = SearchTrace(
        np.array(found.trace.seconds), np.array(found.trace.bound), np.array(found.trace.score)
    )
    times = SearchTimes(found.graph_seconds, found.relaxation_seconds, found.beam_seconds)
    made = []
    for one, used, described in zip(found.best, phrases, features, strict=True):
        status, bound = judge(found, one.score)
        made.append(
            Translation(
                used, one.score, bound, status, counters, features=described, trace=trace, times=times
            )
        )
    return KBest(made, exhausted=found.exhausted)
