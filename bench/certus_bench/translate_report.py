"""What ``certus bench translate`` is asked, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from certus.errors import InvalidInput
from certus.translate import AStar, Beam, Lagrangian, Method, OptimalBeam, SearchTrace, Stack
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.translate_systems import check_system

OPTIMAL, RELAXED, PROGRAM = "optimal-beam", "lagrangian", "HiGHS"
DECODERS: dict[str, Method] = {
    OPTIMAL: OptimalBeam(),
    "beam 100": Beam(width=100),
    "beam 1000": Beam(width=1000),
    "beam 100000": Beam(width=100_000),
    "stack 100": Stack(width=100),
    "stack 1000": Stack(width=1000),
    "stack 100, gaps": Stack(width=100, gaps=True),
    "stack 1000, gaps": Stack(width=1000, gaps=True),
    "A*": AStar(pops=200_000),
    RELAXED: Lagrangian(from_zero=True),  # as published
    "lagrangian, started": Lagrangian(),
}
GROUPS = ((1, 10), (11, 20), (21, 30), (31, 1000))
ROUNDS = (0, 5, 10)  # of relaxation after the first bound, which is without multipliers
SHORT = 6  # words of sentences that HiGHS is given
SHORT_COUNT = 5


@dataclass(frozen=True, kw_only=True)
class TranslatePlan:
    """What to translate, and how."""

    data: Path
    languages: tuple[str, ...] = ("fr", "de")
    limits: tuple[int, ...] = (4, 6)
    decoders: tuple[str, ...] = tuple(DECODERS)
    count: int = 300
    seconds: float = 5.0
    part: str = "test2016"
    models: Path | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = next((name for name in self.decoders if name not in DECODERS), None)
        if unknown is not None:
            raise InvalidInput(f"there is no decoder {unknown!r}; there are {', '.join(DECODERS)}")
        for language in self.languages:
            check_system(self.data, language, self.part)


@dataclass(frozen=True)
class Line:
    """One decoder on the sentences of one length.

    Attributes:
        words: the shortest and the longest.
        sentences: how many were translated.
        seconds: of processor time, the mean.
        median: the same, the median.
        certified: the share that was proven optimal, in percent.
        exact: the share whose score is the best, where that is known, in percent.
    """

    system: str
    limit: int
    decoder: str
    words: tuple[int, int]
    sentences: int
    seconds: float
    median: float
    certified: float
    exact: float


@dataclass(frozen=True)
class Gaps:
    """How far bounds are from the optimum.

    Attributes:
        rounds: of relaxation.
        gaps: for each sentence that was proven.
    """

    system: str
    limit: int
    rounds: int
    gaps: list[float]


@dataclass(frozen=True)
class ProgramTimes:
    """HiGHS beside optimal beam search on short sentences.

    Attributes:
        sentences: how many it was given.
        solved: how many it solved.
        theirs: its seconds of processor time in all.
        ours: the same, of optimal beam search.
    """

    sentences: int
    solved: int
    theirs: float
    ours: float


@dataclass
class TranslateReport(BenchmarkReport):
    """What was found.

    Attributes:
        lines: by system, limit, decoder and length.
        parts: the shares of graph, relaxation and beams in the time of optimal beam search, by system.
        gaps: after some rounds.
        program: HiGHS and optimal beam search on short sentences.
        bleu: by system and decoder, where sacrebleu is installed.
        lower: by system, how many sentences a stack decoder or a beam scores higher than optimal beam search.
        first: for each system and limit, the seconds of optimal beam search, sentence by sentence.
        longest: the trace of the longest search, and its system.
    """

    plan: TranslatePlan
    lines: list[Line] = field(default_factory=list)
    parts: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    gaps: list[Gaps] = field(default_factory=list)
    program: dict[str, ProgramTimes] = field(default_factory=dict)
    bleu: dict[str, dict[str, float]] = field(default_factory=dict)
    lower: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[float]] = field(default_factory=dict)
    longest: tuple[str, SearchTrace] | None = None

    def find(self, system: str, limit: int, decoder: str) -> Line | None:
        """Return the line over all lengths."""
        key = system, limit, decoder, (1, 1000)
        return next((x for x in self.lines if (x.system, x.limit, x.decoder, x.words) == key), None)
