"""Times ways to decode side by side, and compares every answer with the best score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import Viterbi
from certus_bench.entries import Entry
from certus_bench.harness.timing import Spread, Stopwatch, race
from certus_bench.lattices import Sample

Size = tuple[int, int]  # labels, length


@dataclass(frozen=True)
class Row:
    """The time of one method on one kind of lattice of one size: a cell of the tables."""

    lattice: str  # the kind, or the corpus whose sentences these are
    labels: int
    length: int
    method: str
    kind: str  # that of the entry: ``certus``, ``rival`` or ``floor``
    k: int
    spread: Spread  # seconds per call; the median over sentences and the quartiles
    calls: int  # how many were timed, over how many ``sentences``
    sentences: int
    once: bool  # whether the method was so slow that one call had to do
    # counters of the search, and tokens: means over sentences
    stats: dict[str, float] = field(default_factory=dict)

    @property
    def size(self) -> Size:
        """Labels and length."""
        return self.labels, self.length


def find_seconds(rows: Sequence[Row], **wanted: Any) -> float | None:
    """Return the median time of the row whose fields have these values, or None if it was not timed."""
    fits = (row for row in rows if all(getattr(row, name) == value for name, value in wanted.items()))
    return next((row.spread.median for row in fits), None)


class Referee:
    """Knows the best scores of a sample's sentences.

    The best score comes from the dense Viterbi sweep, the k best ones from Viterbi A*. Integer scores have to
    be met exactly, others up to what rounding in the precision of the sample can do to a path.
    """

    def __init__(self, sample: Sample, where: str) -> None:
        self.sample = sample
        self.where = where
        self.failures: list[str] = []
        self._wrong: set[str] = set()
        self._best: dict[tuple[int, int], Any] = {}
        emissions = sample.sentences[0]
        largest = float(np.abs(emissions).max() + np.abs(sample.transitions).max())
        rounding = 2 * len(emissions) ** 2 * largest * np.finfo(emissions.dtype).eps
        self.tolerance = 0.0 if sample.whole_numbers else rounding

    def prepare(self, ks: Iterable[int]) -> None:
        """Find the best scores of all sentences.

        A dense sweep between two timed calls would leave nothing of theirs in the caches.
        """
        for k in sorted(set(ks)):
            for index in range(len(self.sample.sentences)):
                self.best(index, k)

    def best(self, index: int, k: int) -> Any:
        """Return the k best scores of a sentence, best first."""
        if (index, k) not in self._best:
            emissions = self.sample.sentences[index]
            if k == 1:
                found = self.sample.chain.decode(emissions, method=Viterbi(sparse=False))
                self._best[index, k] = np.array([found.score])
            else:
                self._best[index, k] = self.sample.chain.decode(emissions, method="viterbi-astar", k=k).scores
        return self._best[index, k]

    def judge(self, entry: Entry, index: int, answer: Any) -> None:
        """Note what is wrong with an answer, if anything is."""
        if entry.scores is None:
            return
        name = entry.name if entry.k == 1 else f"{entry.name} (k={entry.k})"
        try:
            scores = entry.scores(self.sample, index, answer)
        except (AssertionError, IndexError) as error:
            self._note(name, index, str(error))
            return
        if entry.exact:
            self.compare(name, index, scores)
        else:
            self.enclose(name, index, float(scores[0]), answer.bound)

    def compare(self, name: str, index: int, scores: NDArray[np.float64]) -> None:
        """Note scores that are not the best."""
        best = self.best(index, len(scores))
        if len(scores) != len(best):
            self._note(name, index, f"{len(scores)} paths, but there are {len(best)}")
            return
        off = np.abs(scores - best)
        if not off.max() <= self.tolerance:
            worst = int(off.argmax())
            self._note(name, index, f"score {scores[worst]:.6f}, but the best is {best[worst]:.6f}")

    def enclose(self, name: str, index: int, score: float, bound: float) -> None:
        """Note a score and a bound that the best score does not lie between."""
        best = self.best(index, 1)[0]
        if not score - self.tolerance <= best <= bound + self.tolerance:
            self._note(name, index, f"the best score, {best:.6f}, is not in [{score:.6f}, {bound:.6f}]")

    def _note(self, name: str, index: int, what: str) -> None:
        """Keep the first thing that is wrong with a method."""
        if name not in self._wrong:
            self._wrong.add(name)
            self.failures.append(f"{name}, {self.where}, sentence {index}: {what}")


class Witness:
    """Shows a referee the answers of one entry, and keeps the counters of the first one to each sentence."""

    def __init__(self, referee: Referee, entry: Entry) -> None:
        self._judge = partial(referee.judge, entry)
        self._sentences = referee.sample.sentences
        self._counters: dict[int, dict[str, int]] = {}

    def __call__(self, index: int, answer: Any) -> None:
        """Take a timed answer."""
        self._judge(index, answer)
        if index not in self._counters and hasattr(answer, "stats"):
            self._counters[index] = {**answer.stats, "tokens": len(self._sentences[index])}

    @property
    def stats(self) -> dict[str, float]:
        """The mean of each counter over sentences."""
        if not self._counters:
            return {}
        names = next(iter(self._counters.values()))
        return {name: float(np.mean([c[name] for c in self._counters.values()])) for name in names}


def time_entries(
    sample: Sample,
    lattice: str,
    where: str,
    able: Sequence[Entry],
    seconds: float,
    tick: Callable[[int], None] = lambda _: None,
) -> tuple[list[Row], list[str]]:
    """Time entries on one sample, all in turns; return the rows and what was wrong.

    Args:
        sample: the sentences.
        lattice: what the rows call them.
        where: what failures call them.
        able: the entries that can decode the sample.
        seconds: the budget of each.
        tick: called with the index of an entry before each of its turns.
    """
    referee = Referee(sample, where)
    referee.prepare(entry.k for entry in able if entry.scores)
    witnesses = [Witness(referee, entry) for entry in able]
    watches = [
        Stopwatch(entry.load(sample), witness, seconds)
        for entry, witness in zip(able, witnesses, strict=True)
    ]
    race(watches, tick=tick)
    rows = [
        Row(
            lattice, sample.labels, sample.length, entry.name, entry.kind, entry.k, watch.spread, watch.count,
            watch.inputs, watch.once, witness.stats,
        )
        for entry, witness, watch in zip(able, witnesses, watches, strict=True)
    ]  # fmt: skip
    return rows, referee.failures
