"""What the benchmark times: Certus's methods, the rivals, and the floor below which no one can go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import METHODS, AStar, KBestAStar, Method, Staggered, Viterbi
from certus.errors import InvalidInput
from certus_bench import rivals
from certus_bench.lattices import Sample
from certus_bench.timing import Call

FLOOR = "reading emissions once"
K = 5


@dataclass(frozen=True)
class Entry:
    """One line of the tables.

    Attributes:
        name: how the tables call it.
        kind: ``certus``, ``rival`` or ``floor``.
        load: sets it up for a sample and returns one call for each sentence.
        scores: turns an answer into the scores of its paths; None if there is nothing to check.
        k: how many paths it is asked for.
        exact: whether its score has to be the best.
        usual: whether it runs without being asked for by name.
        listed: whether it needs transitions of which most share one score.
    """

    name: str
    kind: str
    load: Callable[[Sample], list[Call]]
    scores: Callable[[Sample, int, Any], NDArray[np.float64]] | None
    k: int = 1
    exact: bool = True
    usual: bool = True
    listed: bool = False


def path_score(sample: Sample, index: int, labels: Any) -> NDArray[np.float64]:
    """Score a path in float64, apart from the code under test: (1,)."""
    y = np.asarray(labels)
    nodes = sample.sentences[index][np.arange(len(y)), y].astype(np.float64)
    edges = sample.transitions[y[:-1], y[1:]].astype(np.float64)
    ends = sum(
        float(scores[at]) for scores, at in ((sample.start, y[0]), (sample.end, y[-1])) if scores is not None
    )
    return np.array([nodes.sum() + edges.sum() + ends])


def _claimed(sample: Sample, index: int, answer: Any) -> NDArray[np.float64]:
    """Return the scores an answer of Certus claims, having seen that its best path really has that score."""
    labels, claimed = answer.labels, np.atleast_1d(answer.score if answer.labels.ndim == 1 else answer.scores)
    first = labels[0] if labels.ndim == 2 else labels
    counted = path_score(sample, index, first)[0]
    if not np.isclose(counted, claimed[0], rtol=1e-9, atol=1e-9):
        raise AssertionError(f"claims a score of {claimed[0]!r} for a path that scores {counted!r}")
    return np.asarray(claimed, np.float64)


def decoding(method: str | Method, k: int, sample: Sample) -> list[Call]:
    """Return one decode call for each sentence of a sample."""
    return [partial(sample.chain.decode, emissions, method=method, k=k) for emissions in sample.sentences]


def ours(name: str, method: str | Method, k: int = 1, **about: Any) -> Entry:
    """Make the entry of a method of Certus."""
    return Entry(name, "certus", partial(decoding, method, k), _claimed, k, **about)


def _floor(sample: Sample) -> list[Call]:
    return [emissions.max for emissions in sample.sentences]


def _one_best() -> list[Entry]:
    named = [
        ours(name, name, exact=kind.exact)
        for name, kind in METHODS.items()
        if kind.one and name not in ("viterbi", "staggered", "astar")
    ]
    levels = [
        ours(f"astar ({_level(m)})", AStar(heuristic=m), usual=False)
        for m in ("naive", 0, 6, 9)  # type: tuple[Any, ...]
    ]
    return [
        ours("viterbi", Viterbi(sparse=False)),
        ours("viterbi (listed pairs)", Viterbi(sparse=True), listed=True),
        *named,
        ours("staggered", Staggered()),
        ours("staggered (all columns)", Staggered(columnwise=False)),
        ours("astar", "astar"),
        *levels,
    ]


def _many_best() -> list[Entry]:
    levels = [
        ours(f"kbest-astar ({_level(m)})", KBestAStar(heuristic=m), K, usual=False)
        for m in ("naive", 0, 6, 9)  # type: tuple[Any, ...]
    ]
    return [*(ours(name, name, K) for name, kind in METHODS.items() if kind.many), *levels]


def _level(heuristic: int | str) -> str:
    return heuristic if isinstance(heuristic, str) else f"m={heuristic}"


def entries() -> list[Entry]:
    """Return all there is to time here: k = 1, k = 5, the rivals that are installed, the floor."""
    others = [Entry(name, "rival", load, path_score) for name, load in rivals.installed().items()]
    return [Entry(FLOOR, "floor", _floor, None), *_one_best(), *_many_best(), *others]


def select(names: Sequence[str] | None) -> list[Entry]:
    """Return the entries with these names (those that run by default, if None); a name stands for every k."""
    known = entries()
    if names is None:
        return [entry for entry in known if entry.usual]
    available = {entry.name for entry in known}
    unknown = [name for name in names if name not in available]
    if unknown:
        missing = " is not installed" if unknown[0] in rivals.NAMES else " is unknown"
        raise InvalidInput(f"method {unknown[0]!r}{missing}; choose from: {', '.join(sorted(available))}")
    return [entry for entry in known if entry.name in names]
