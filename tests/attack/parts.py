"""Random parts of decompositions, each with all of its structures: the cells used, and the score."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from certus.chain import Chain
from certus.relax import parts as library
from tests.attack.scores import Regime
from tests.attack.trees import list_trees

Cell = tuple[str, int]  # space, and index into it when it is flattened
Structure = tuple[tuple[int, ...], frozenset[Cell], list[float]]  # value, cells used, terms of the score


@dataclass(frozen=True)
class PartProblem:
    """A part: its kind and what it is made of."""

    kind: str
    given: tuple[Any, ...]

    def make(self) -> Any:
        """Return the part of the library."""
        return _MAKERS[self.kind][0](*self.given)

    def list_structures(self) -> Iterator[Structure]:
        """Yield everything that the part may choose; terms may be -inf."""
        yield from _MAKERS[self.kind][1](*self.given)


def draw_part(rng: Random, regime: Regime) -> PartProblem:
    """Return a part with few structures."""
    kind = rng.choice(list(_MAKERS))
    size = rng.randint(1, 5)
    scores = regime.draw_array(rng, (size,))
    if kind in ("chain", "bigram-chain", "sequence-budget"):
        length, labels = rng.choice([(1, 3), (2, 2), (2, 3), (3, 2), (4, 2)])
        given: tuple[Any, ...] = (
            regime.draw_array(rng, (labels, labels)),
            regime.draw_array(rng, (length, labels)),
            *(regime.draw_array(rng, (labels,)) if rng.random() < 0.3 else np.zeros(labels) for _ in "se"),
        )
        if kind == "sequence-budget":
            most = rng.randint(0, length)
            counted = sorted(rng.sample(range(labels), rng.randint(1, labels)))
            given += (counted, most, rng.randint(0, most))
        return PartProblem(kind, given)
    if kind == "tree":
        words = rng.randint(1, 3)
        return PartProblem(kind, (regime.draw_array(rng, (words, words + 1)), rng.random() < 0.5))
    if kind == "table":
        shape = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 3)))
        return PartProblem(kind, (regime.draw_array(rng, shape),))
    if kind == "matching":
        table = regime.draw_array(rng, (rng.randint(1, 3), rng.randint(1, 3)))
        return PartProblem(kind, (table, rng.random() < 0.4, rng.random() < 0.3))
    if kind == "automata":
        words = rng.choice([1, 2, 2, 3])
        arcs = regime.draw_array(rng, (words, words + 1))
        return PartProblem(
            kind, (arcs, regime.draw_array(rng, (words + 1, words + 2, words + 1), share=0.02))
        )
    negated = np.array([rng.random() < 0.3 for _ in range(size)], bool)
    if kind == "budget":
        return PartProblem(kind, (scores, rng.randint(0, size)))
    if kind == "knapsack":
        return PartProblem(
            kind, (scores, [rng.randint(0, 3) for _ in range(size)], rng.randint(0, 5), negated)
        )
    if kind == "or-output" and size == 1:
        return PartProblem("or", (scores, negated))
    return PartProblem(kind, (scores, negated) if kind in ("or", "or-output") else (scores,))


def _list_labels(transitions: Any, emissions: Any, start: Any, end: Any) -> Iterator[Structure]:
    length, labels = emissions.shape
    for path in itertools.product(range(labels), repeat=length):
        terms = [float(emissions[t, y]) for t, y in enumerate(path)]
        terms += [float(transitions[a, b]) for a, b in itertools.pairwise(path)]
        terms += [float(start[path[0]]), float(end[path[-1]])]
        cells = [("labels", t * labels + y) for t, y in enumerate(path)]
        yield path, frozenset(cells), terms


def _list_bigrams(transitions: Any, emissions: Any, start: Any, end: Any) -> Iterator[Structure]:
    labels = len(transitions)
    for path, cells, terms in _list_labels(transitions, emissions, start, end):
        pairs = [
            ("bigrams", (t * labels + a) * labels + b) for t, (a, b) in enumerate(itertools.pairwise(path))
        ]
        yield path, cells | set(pairs), terms


def _list_budgeted(
    transitions: Any, emissions: Any, start: Any, end: Any, counted: Sequence[int], most: int, least: int
) -> Iterator[Structure]:
    for path, cells, terms in _list_labels(transitions, emissions, start, end):
        if least <= sum(label in counted for label in path) <= most:
            yield path, cells, terms


def _list_spanning(scores: Any, single_root: bool) -> Iterator[Structure]:
    words = len(scores)
    for heads in list_trees(words, False, single_root):
        cells = [("heads", i * (words + 1) + head) for i, head in enumerate(heads)]
        yield heads, frozenset(cells), [float(scores[i, head]) for i, head in enumerate(heads)]


def _list_tables(scores: Any) -> Iterator[Structure]:
    for place in itertools.product(*map(range, scores.shape)):
        yield place, frozenset((str(a), s) for a, s in enumerate(place)), [float(scores[place])]


def _list_matchings(scores: Any, cover_rows: bool, cover_columns: bool) -> Iterator[Structure]:
    rows, columns = scores.shape
    for chosen in itertools.product(range(-1, columns), repeat=rows):
        used = [c for c in chosen if c >= 0]
        if len(set(used)) < len(used) or (cover_rows and -1 in chosen):
            continue
        if not cover_columns or len(used) == columns:
            pairs = [(r, c) for r, c in enumerate(chosen) if c >= 0]
            cells = frozenset(("cells", r * columns + c) for r, c in pairs)
            yield chosen, cells, [float(scores[r, c]) for r, c in pairs]


def _list_automata(arcs: Any, siblings: Any) -> Iterator[Structure]:
    words = len(arcs)
    free = [(i, h) for i in range(words) for h in range(words + 1) if h != i + 1]
    for chosen in itertools.product((0, 1), repeat=len(free)):
        used = {pair for pair, on in zip(free, chosen, strict=True) if on}
        terms = [float(arcs[i, h]) for i, h in used]
        for head in range(words + 1):
            own = sorted(i + 1 for i, h in used if h == head)
            for side in ([m for m in reversed(own) if m < head], [m for m in own if m > head]):
                terms += [float(siblings[head, a, b]) for a, b in itertools.pairwise([words + 1, *side])]
        grid = tuple(int((i, h) in used) for i in range(words) for h in range(words + 1))
        yield grid, frozenset(("heads", i * (words + 1) + h) for i, h in used), terms


def _list_subsets(scores: Any, accept: Callable[[Sequence[int]], bool]) -> Iterator[Structure]:
    for on in itertools.product((0, 1), repeat=len(scores)):
        if accept(on):
            cells = tuple(cell for cell, bit in enumerate(on) if bit)
            used = frozenset(("cells", cell) for cell in cells)
            yield cells, used, [float(scores[cell]) for cell in cells]


def _negate(on: Sequence[int], negated: Any) -> list[bool]:
    return [bool(bit) != bool(flip) for bit, flip in zip(on, negated, strict=True)]


def _list_or_outputs(scores: Any, negated: Any) -> Iterator[Structure]:
    def accept(on: Sequence[int]) -> bool:
        true = _negate(on, negated)
        return any(true[:-1]) == true[-1]

    return _list_subsets(scores, accept)


def _list_knapsacks(scores: Any, weights: Any, capacity: int, negated: Any) -> Iterator[Structure]:
    def accept(on: Sequence[int]) -> bool:
        return bool(sum(itertools.compress(weights, _negate(on, negated))) <= capacity)

    return _list_subsets(scores, accept)


def _make_chain(transitions: Any, emissions: Any, start: Any, end: Any) -> Any:
    return library.ChainPart(Chain(transitions, start, end), emissions)


def _make_bigrams(transitions: Any, emissions: Any, start: Any, end: Any) -> Any:
    return library.ChainPart(Chain(transitions, start, end), emissions, bigrams=True)


def _make_budgeted(
    transitions: Any, emissions: Any, start: Any, end: Any, counted: Sequence[int], most: int, least: int
) -> Any:
    return library.SequenceBudget(transitions, emissions, counted, most, least=least, start=start, end=end)


_MAKERS: dict[str, tuple[Callable[..., Any], Callable[..., Iterator[Structure]]]] = {
    "chain": (_make_chain, _list_labels),
    "bigram-chain": (_make_bigrams, _list_bigrams),
    "sequence-budget": (_make_budgeted, _list_budgeted),
    "tree": (lambda scores, single: library.TreePart(scores, single_root=single), _list_spanning),
    "table": (library.TablePart, _list_tables),
    "matching": (
        lambda scores, rows, columns: library.Matching(scores, cover_rows=rows, cover_columns=columns),
        _list_matchings,
    ),
    "automata": (library.HeadAutomata, _list_automata),
    "one": (library.ExactlyOne, lambda scores: _list_subsets(scores, lambda on: sum(on) == 1)),
    "at-most-one": (library.AtMostOne, lambda scores: _list_subsets(scores, lambda on: sum(on) <= 1)),
    "budget": (library.Budget, lambda scores, most: _list_subsets(scores, lambda on: sum(on) <= most)),
    "or": (
        library.Or,
        lambda scores, negated: _list_subsets(scores, lambda on: any(_negate(on, negated))),
    ),
    "or-output": (library.OrOutput, _list_or_outputs),
    "knapsack": (library.Knapsack, _list_knapsacks),
}


def measure(part: PartProblem) -> float:
    """Return the largest sum of magnitudes of a structure."""
    sums = [math.fsum(map(abs, terms)) for _, _, terms in part.list_structures() if -math.inf not in terms]
    return max(sums, default=0.0)
