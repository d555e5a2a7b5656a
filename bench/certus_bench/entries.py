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
from certus_bench.harness.timing import Call
from certus_bench.lattices import Sample

FLOOR = "reading emissions once"
K = 5


@dataclass(frozen=True)
class Entry:
    """One line of the tables."""

    name: str  # how the tables call it
    kind: str  # ``certus``, ``rival`` or ``floor``
    load: Callable[[Sample], list[Call]]  # sets it up for a sample and returns one call for each sentence
    # turns an answer into the scores of its paths; None if there is nothing to check
    scores: Callable[[Sample, int, Any], NDArray[np.float64]] | None
    k: int = 1  # how many paths it is asked for
    exact: bool = True  # whether its score has to be the best
    usual: bool = True  # whether it runs without being asked for by name
    listed: bool = False  # whether it needs transitions of which most share one score


def score_path(sample: Sample, index: int, labels: Any) -> NDArray[np.float64]:
    """Score a path in float64, apart from the code under test: (1,)."""
    y = np.asarray(labels)
    nodes = sample.sentences[index][np.arange(len(y)), y].astype(np.float64)
    edges = sample.transitions[y[:-1], y[1:]].astype(np.float64)
    ends = sum(
        float(scores[at]) for scores, at in ((sample.start, y[0]), (sample.end, y[-1])) if scores is not None
    )
    return np.array([nodes.sum() + edges.sum() + ends])


def _check_claimed(sample: Sample, index: int, answer: Any) -> NDArray[np.float64]:
    """Return the scores an answer of Certus claims, having seen that its best path really has that score."""
    labels, claimed = answer.labels, np.atleast_1d(answer.score if answer.labels.ndim == 1 else answer.scores)
    first = labels[0] if labels.ndim == 2 else labels
    counted = score_path(sample, index, first)[0]
    if not np.isclose(counted, claimed[0], rtol=1e-9, atol=1e-9):
        raise AssertionError(f"claims a score of {claimed[0]!r} for a path that scores {counted!r}")
    return np.asarray(claimed, np.float64)


def prepare_calls(method: str | Method, k: int, sample: Sample) -> list[Call]:
    """Return one decode call for each sentence of a sample."""
    return [partial(sample.chain.decode, emissions, method=method, k=k) for emissions in sample.sentences]


def enter_method(name: str, method: str | Method, k: int = 1, **about: Any) -> Entry:
    """Make the entry of a method of Certus."""
    return Entry(name, "certus", partial(prepare_calls, method, k), _check_claimed, k, **about)


def _read_once(sample: Sample) -> list[Call]:
    return [emissions.max for emissions in sample.sentences]


def _list_one_best() -> list[Entry]:
    named = [
        enter_method(name, name, exact=kind.exact)
        for name, kind in METHODS.items()
        if kind.one and name not in ("viterbi", "staggered", "astar")
    ]
    levels = [
        enter_method(f"astar ({_name_level(m)})", AStar(heuristic=m), usual=False)
        for m in ("naive", 0, 3, 6, 9)  # type: tuple[Any, ...]
    ]
    return [
        enter_method("viterbi", Viterbi(sparse=False)),
        enter_method("viterbi (listed pairs)", Viterbi(sparse=True), listed=True),
        *named,
        enter_method("staggered", Staggered()),
        enter_method("staggered (all columns)", Staggered(columnwise=False)),
        enter_method("astar", "astar"),
        *levels,
    ]


def _list_many_best() -> list[Entry]:
    levels = [
        enter_method(f"kbest-astar ({_name_level(m)})", KBestAStar(heuristic=m), K, usual=False)
        for m in ("naive", 0, 3, 6, 9)  # type: tuple[Any, ...]
    ]
    return [*(enter_method(name, name, K) for name, kind in METHODS.items() if kind.many), *levels]


def _name_level(heuristic: int | str) -> str:
    return heuristic if isinstance(heuristic, str) else f"m={heuristic}"


def list_entries() -> list[Entry]:
    """Return all there is to time here: k = 1, k = 5, the rivals that are installed, the floor."""
    others = [Entry(name, "rival", load, score_path) for name, load in rivals.list_installed().items()]
    return [Entry(FLOOR, "floor", _read_once, None), *_list_one_best(), *_list_many_best(), *others]


def select_entries(names: Sequence[str] | None) -> list[Entry]:
    """Return the entries with these names (those that run by default, if None); a name stands for every k."""
    known = list_entries()
    if names is None:
        return [entry for entry in known if entry.usual]
    available = {entry.name for entry in known}
    unknown = [name for name in names if name not in available]
    if unknown:
        missing = " is not installed" if unknown[0] in rivals.NAMES else " is unknown"
        raise InvalidInput(f"method {unknown[0]!r}{missing}; choose from: {', '.join(sorted(available))}")
    return [entry for entry in known if entry.name in names]
