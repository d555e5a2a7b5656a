"""The ready parts against enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph
from certus.relax import Forbidden
from certus.relax.parts import (
    AtMostOne,
    Budget,
    ChainPart,
    ExactlyOne,
    HeadAutomata,
    Knapsack,
    Matching,
    Or,
    OrOutput,
    SequenceBudget,
    StateAutomata,
    TablePart,
    TreePart,
)

Structure = tuple[float, dict[str, NDArray[np.int8]]]
Rng = np.random.Generator


def whole(rng: Rng, shape: tuple[int, ...], forbid: float = 0.15) -> NDArray[np.float64]:
    scores = rng.integers(-5, 6, shape).astype(np.float64)
    scores[rng.random(shape) < forbid] = -np.inf
    return scores


def chain(rng: Rng) -> tuple[Any, list[Structure]]:
    length, labels = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    model = certus.Chain(whole(rng, (labels, labels)), start=whole(rng, (labels,)), end=whole(rng, (labels,)))
    emissions = whole(rng, (length, labels))
    found = []
    for y in itertools.product(range(labels), repeat=length):
        used = np.eye(labels, dtype=np.int8)[list(y)]
        found.append((float(model.score(emissions, np.array(y))), {"labels": used}))
    return ChainPart(model, emissions), found


def bigram_chain(rng: Rng) -> tuple[Any, list[Structure]]:
    _, found = part, structures = chain(rng)
    for _, used in structures:
        labels = used["labels"].argmax(axis=1)
        pairs = np.zeros((len(labels) - 1, *[used["labels"].shape[1]] * 2), np.int8)
        pairs[np.arange(len(labels) - 1), labels[:-1], labels[1:]] = 1
        used["bigrams"] = pairs
    return ChainPart(part._chain, part._emissions, bigrams=True), found


def sparse_chain(rng: Rng) -> tuple[Any, list[Structure]]:
    labels = 3
    pairs = np.argwhere(rng.random((labels, labels)) < 0.5)
    values = rng.integers(-4, 5, len(pairs)).astype(np.float64)
    sparse = certus.SparseTransitions(
        labels, pairs[:, 0], pairs[:, 1], values, default=float(rng.integers(-2, 2))
    )
    model, emissions = certus.Chain(sparse), whole(rng, (3, labels))
    found = []
    for y in itertools.product(range(labels), repeat=3):
        used = np.eye(labels, dtype=np.int8)[list(y)]
        found.append((float(model.score(emissions, np.array(y))), {"labels": used}))
    return ChainPart(model, emissions), found


def _is_tree(heads: tuple[int, ...]) -> bool:
    for word in range(len(heads)):
        seen, node = set(), word + 1
        while node and node not in seen:
            seen.add(node)
            node = heads[node - 1]
        if node:
            return False
    return True


TREES = {n: [h for h in itertools.product(range(n + 1), repeat=n) if _is_tree(h)] for n in range(5)}


def tree(rng: Rng) -> tuple[Any, list[Structure]]:
    n, single = int(rng.integers(0, 5)), bool(rng.integers(2))
    scores = whole(rng, (n, n + 1))
    found = []
    for heads in TREES[n]:
        if not single or heads.count(0) == 1:
            used = np.zeros((n, n + 1), np.int8)
            used[np.arange(n), list(heads)] = 1
            found.append((float(scores[np.arange(n), list(heads)].sum()), {"heads": used}))
    return TreePart(scores, single_root=single and n > 0), found if n else [
        (0.0, {"heads": np.zeros((0, 1), np.int8)})
    ]


def _subsets(scores: NDArray[np.float64], sizes: Iterable[int]) -> list[Structure]:
    found = []
    for size in sizes:
        for cells in itertools.combinations(range(len(scores)), size):
            used = np.zeros(len(scores), np.int8)
            used[list(cells)] = 1
            found.append((float(scores[list(cells)].sum()), {"cells": used}))
    return found


def exactly_one(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, (int(rng.integers(1, 5)),), 0.3)
    return ExactlyOne(scores), _subsets(scores, [1])


def at_most_one(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, (int(rng.integers(1, 5)),))
    return AtMostOne(scores), _subsets(scores, [0, 1])


def budget(rng: Rng) -> tuple[Any, list[Structure]]:
    scores, most = whole(rng, (int(rng.integers(1, 6)),)), int(rng.integers(0, 7))
    return Budget(scores, most), _subsets(scores, range(min(most, len(scores)) + 1))


def _filter(scores: NDArray[np.float64], accepts: Callable[[NDArray[np.bool_]], bool]) -> list[Structure]:
    every = _subsets(scores, range(len(scores) + 1))
    return [(score, used) for score, used in every if accepts(used["cells"] > 0)]


def disjunction(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, (int(rng.integers(1, 5)),), 0.3)
    negated = rng.random(len(scores)) < 0.4
    return Or(scores, negated), _filter(scores, lambda on: bool((on != negated).any()))


def or_output(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, (int(rng.integers(2, 6)),), 0.3)
    negated = rng.random(len(scores)) < 0.4

    def accepts(on: NDArray[np.bool_]) -> bool:
        true = on != negated
        return bool(true[:-1].any() == true[-1])

    return OrOutput(scores, negated), _filter(scores, accepts)


def knapsack(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, (int(rng.integers(1, 6)),))
    negated = rng.random(len(scores)) < 0.3
    weights, capacity = rng.integers(0, 6, len(scores)).tolist(), int(rng.integers(0, 9))
    part = Knapsack(scores, weights, capacity, negated)
    return part, _filter(scores, lambda on: bool((on != negated) @ np.array(weights) <= capacity))


def table(rng: Rng) -> tuple[Any, list[Structure]]:
    scores = whole(rng, tuple(rng.integers(1, 4, int(rng.integers(1, 4)))), 0.3)
    found = []
    for place in np.ndindex(*scores.shape):
        used = {str(a): np.eye(n, dtype=np.int8)[place[a]] for a, n in enumerate(scores.shape)}
        found.append((float(scores[place]), used))
    return TablePart(scores), found


def automata(rng: Rng) -> tuple[Any, list[Structure]]:
    """Every set of arcs, also with several heads of a word; siblings are in a row on one side of a head."""
    n = int(rng.integers(0, 3))
    arcs, siblings = whole(rng, (n, n + 1)), whole(rng, (n + 1, n + 2, n + 1))
    places = [(m, h) for m in range(1, n + 1) for h in range(n + 1) if m != h]
    found = []
    for bits in itertools.product((0, 1), repeat=len(places)):
        used, score = np.zeros((n, n + 1), np.int8), 0.0
        chosen = [place for place, bit in zip(places, bits, strict=True) if bit]
        for head in range(n + 1):
            for right in (False, True):
                before = n + 1
                own = sorted(m for m, h in chosen if h == head and (m > h) is right)
                for m in own if right else reversed(own):
                    used[m - 1, head] = 1
                    score += arcs[m - 1, head] + siblings[head, before, m]
                    before = m
        found.append((float(score), {"heads": used}))
    return HeadAutomata(arcs, siblings), found


def _list_sides(places: list[tuple[int, int]], words: int) -> Iterable[tuple[int, int, list[int]]]:
    """Of each head and side the modifiers, from the head outwards."""
    for head in range(words + 1):
        left = sorted((m for m, h in places if h == head and m < h), reverse=True)
        right = sorted(m for m, h in places if h == head and m > h)
        yield head, 0, left
        yield head, 1, right


def state_automata(rng: Rng) -> tuple[Any, list[Structure]]:
    n, states = int(rng.integers(0, 3)), int(rng.integers(1, 4))
    arcs, steps = whole(rng, (n, n + 1)), whole(rng, (n + 1, 2, states, states, n + 1))
    start, stop = whole(rng, (n + 1, 2, states)), whole(rng, (n + 1, 2, states))
    places = [(m, h) for m in range(1, n + 1) for h in range(n + 1) if m != h]
    found = []
    for bits in itertools.product((0, 1), repeat=len(places)):
        chosen = [place for place, bit in zip(places, bits, strict=True) if bit]
        used, score = np.zeros((n, n + 1), np.int8), 0.0
        for head, side, own in _list_sides(chosen, n):
            best = -np.inf
            for path in itertools.product(range(states), repeat=len(own) + 1):
                sum_ = start[head, side, path[0]] + stop[head, side, path[-1]]
                for i, m in enumerate(own):
                    sum_ += arcs[m - 1, head] + steps[head, side, path[i], path[i + 1], m]
                best = max(best, float(sum_))
            score += best
            for m in own:
                used[m - 1, head] = 1
        found.append((float(score), {"heads": used}))
    return StateAutomata(arcs, steps, start=start, stop=stop), found


def matching(rng: Rng) -> tuple[Any, list[Structure]]:
    rows, columns = (int(size) for size in rng.integers(0, 4, 2))
    scores = whole(rng, (rows, columns), 0.25)
    cover_rows, cover_columns = (bool(bit) for bit in rng.integers(0, 2, 2))
    found = []
    for partner in itertools.product(range(-1, columns), repeat=rows):
        taken = [j for j in partner if j >= 0]
        if len(set(taken)) < len(taken) or (cover_rows and -1 in partner):
            continue
        if cover_columns and len(taken) < columns:
            continue
        used = np.zeros((rows, columns), np.int8)
        for i, j in enumerate(partner):
            if j >= 0:
                used[i, j] = 1
        found.append((float(scores[used > 0].sum()), {"cells": used}))
    return Matching(scores, cover_rows=cover_rows, cover_columns=cover_columns), found


def sequence_budget(rng: Rng) -> tuple[Any, list[Structure]]:
    length, labels = int(rng.integers(0, 5)), int(rng.integers(1, 4))
    transitions, emissions = whole(rng, (labels, labels)), whole(rng, (length, labels))
    start, end = whole(rng, (labels,)), whole(rng, (labels,))
    counted = np.flatnonzero(rng.random(labels) < 0.5).tolist()
    least = int(rng.integers(0, 3))
    most = least + int(rng.integers(0, 3))
    found = []
    for y in itertools.product(range(labels), repeat=length):
        if least <= sum(label in counted for label in y) <= most:
            score = float(emissions[np.arange(length), list(y)].sum()) if y else 0.0
            score += sum(float(transitions[a, b]) for a, b in itertools.pairwise(y))
            score += float(start[y[0]] + end[y[-1]]) if y else 0.0
            found.append((score, {"labels": np.eye(labels, dtype=np.int8)[list(y)].reshape(length, labels)}))
    part = SequenceBudget(transitions, emissions, counted, most, least=least, start=start, end=end)
    return part, found


MAKERS = (
    chain,
    bigram_chain,
    sparse_chain,
    tree,
    exactly_one,
    at_most_one,
    budget,
    table,
    automata,
    state_automata,
    matching,
    sequence_budget,
    disjunction,
    or_output,
    knapsack,
)
BOUNDING = Matching  # its max-marginals are bounds, by reduced costs


def forest(rng: Rng) -> tuple[Any, list[Structure]]:
    """A goal over some of several nodes, each with one edge per label."""
    length, labels = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    scores, goals = whole(rng, (length, labels)), int(rng.integers(1, 3))
    above = whole(rng, (goals,))
    sizes = rng.integers(0, length + 1, goals).tolist()
    below = [sorted(rng.permutation(length)[:size].tolist()) for size in sizes]
    heads = [*np.repeat(np.arange(length), labels).tolist(), *[length] * goals]
    offsets = np.cumsum([0, *[0] * (length * labels), *map(len, below)])
    graph = Hypergraph(heads, offsets, [tail for tails in below for tail in tails], length)
    cells = np.arange(length * labels)
    space = (length, labels), cells, cells
    part = graph.part(np.concatenate([scores.reshape(-1), above]), {"cells": space})
    found: list[Structure] = []
    for top, tails in zip(above, below, strict=True):
        for y in itertools.product(range(labels), repeat=len(tails)):
            used = np.zeros((length, labels), np.int8)
            used[tails, list(y)] = 1
            found.append((float(top + scores[used > 0].sum()), {"cells": used}))
    best: dict[bytes, Structure] = {}
    for structure in found:  # of derivations with the same cells, the best
        key = structure[1]["cells"].tobytes()
        best[key] = max(best.get(key, structure), structure, key=lambda pair: pair[0])
    return part, list(best.values())


def values(structures: list[Structure], adjust: dict[str, NDArray[np.float64]]) -> list[float]:
    return [score + sum(float(adjust[n][x > 0].sum()) for n, x in used.items()) for score, used in structures]


@pytest.mark.parametrize("maker", [*MAKERS, forest])
def test_parts_maximise(maker: Callable[[Rng], tuple[Any, list[Structure]]]) -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        part, structures = maker(rng)
        adjust = {name: whole(rng, shape) for name, shape in part.spaces.items()}
        worth = values(structures, adjust)
        best = max(worth, default=-np.inf)
        if best == -np.inf:
            with pytest.raises(Forbidden):
                part.maximize(adjust)
            continue
        found = part.maximize(adjust)
        assert found.score + sum(float(adjust[n][x > 0].sum()) for n, x in found.indicators.items()) == best
        assert any(
            score == found.score and all((used[n] == found.indicators[n]).all() for n in used)
            for score, used in structures
        )
        marginals = part.max_marginals(adjust)
        for name in marginals:
            shape = part.spaces[name]
            expected = np.full(shape, -np.inf)
            for value, (_, used) in zip(worth, structures, strict=True):
                expected = np.where(used[name] > 0, np.maximum(expected, value), expected)
            bounds = isinstance(part, BOUNDING)
            assert (marginals[name] >= expected if bounds else marginals[name] == expected).all()
        if hasattr(part, "complete"):
            completed = part.complete(found.indicators)
            assert completed.score == found.score


@pytest.mark.parametrize("maker", MAKERS)
def test_kernels_maximise_as_parts_do(maker: Callable[[Rng], tuple[Any, list[Structure]]]) -> None:
    """The native version: its maximum, its choice, bounds with and without each cell, and completion."""
    rng = np.random.default_rng(10)
    compared = 0
    for _ in range(200):
        part, structures = maker(rng)
        native = part.make_native()
        if native is None:
            continue
        adjust = {name: whole(rng, shape) for name, shape in part.spaces.items()}
        flat = np.concatenate([array.reshape(-1) for array in adjust.values()])
        cells = [np.concatenate([x.reshape(-1) for x in used.values()]) for _, used in structures]
        worth = values(structures, adjust)
        found = native.maximize(flat)
        best = max(worth, default=-np.inf)
        compared += 1
        if best == -np.inf:
            assert found.score == -np.inf
            continue
        assert found.score + float(flat[found.used].sum()) == best
        assert part.make_choice(found.used, native).score == found.score == native.complete(found.used)
        within, without = np.empty(len(flat)), np.empty(len(flat))
        native.max_marginals(flat, within, without)
        for value, used in zip(worth, cells, strict=True):
            assert (within[used > 0] >= value).all()
            assert (without[used == 0] >= value).all()
        assert (within[found.used] == best).all()
    assert compared > 100


@pytest.mark.parametrize("maker", MAKERS)
def test_names_may_be_missing(maker: Callable[[Rng], tuple[Any, list[Structure]]]) -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        part, structures = maker(rng)
        best = max((score for score, _ in structures), default=-np.inf)
        if best > -np.inf:
            assert part.maximize({}).score == best


def test_what_does_not_spell_a_structure_is_not_completed() -> None:
    part = ChainPart(certus.Chain(np.zeros((2, 2))), np.zeros((3, 2)))
    assert part.complete({"labels": np.zeros((3, 2), np.int8)}) is None
    heads = np.zeros((2, 3), np.int8)
    heads[0, 2] = heads[1, 1] = 1  # a circle
    assert TreePart(np.zeros((2, 3))).complete({"heads": heads}) is None


def test_long_trees_are_quick() -> None:
    scores = np.random.default_rng(9).normal(size=(400, 401))
    found = TreePart(scores, single_root=True).maximize({})
    assert (found.value == 0).sum() == 1
    assert _is_tree(tuple(found.value))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TreePart(np.zeros((3, 3))), r"shape \(n, n \+ 1\)"),
        (lambda: TreePart(np.array([[np.nan, 0.0]])), "head 0 for word 0 is nan"),
        (lambda: ExactlyOne([]), r"shape \(n,\)"),
        (lambda: AtMostOne([np.inf]), "numbers to add"),
        (lambda: Budget([1.0], -1), "a budget is a whole number"),
        (lambda: TablePart(3.0), "an axis for each variable"),
        (lambda: TablePart([[np.nan]]), "NaN"),
        (lambda: HeadAutomata(np.zeros((2, 3)), np.zeros((3, 3, 3))), r"\(n \+ 1, n \+ 2, n \+ 1\)"),
        (lambda: HeadAutomata(np.zeros((1, 2)), np.full((2, 3, 2), np.nan)), "siblings must be numbers"),
        (lambda: ChainPart(certus.Chain(np.zeros((2, 2))), np.full((1, 2), np.nan)), "emissions"),
        (lambda: StateAutomata(np.zeros((1, 2)), np.zeros((2, 2, 1, 2, 2))), r"\(n \+ 1, 2, S, S, n \+ 1\)"),
        (lambda: StateAutomata(np.zeros((1, 2)), np.zeros((2, 2, 0, 0, 2))), "S > 0"),
        (
            lambda: StateAutomata(np.zeros((1, 2)), np.zeros((2, 2, 1, 1, 2)), start=np.zeros(3)),
            r"start states need the shape \(2, 2, 1\)",
        ),
        (lambda: Matching(np.zeros(3)), r"\(rows, columns\)"),
        (lambda: Or([]), "n of at least 1"),
        (lambda: Or([1.0], [True, False]), "negated must be 1 booleans"),
        (lambda: OrOutput([1.0]), "n of at least 2"),
        (lambda: Knapsack([1.0], [1, 2], 3), "1 cells, but 2 weights"),
        (lambda: Knapsack([1.0], [-1], 3), "a weight must be a whole number"),
        (lambda: Knapsack([1.0] * 1000, [10**6] * 1000, 10**6), "divide the weights"),
        (lambda: Matching([[0.0, np.inf]]), r"at \(0, 1\) they hold inf"),
        (lambda: SequenceBudget(np.zeros((2, 2)), np.zeros((3, 2)), [2], 1), "no label 2 to count"),
        (lambda: SequenceBudget(np.zeros((2, 2)), np.zeros((3, 2)), [1], -1), "most is a whole number"),
        (lambda: SequenceBudget(np.zeros((2, 2)), np.zeros((3, 2)), [1], 1, least=2), "cannot both hold"),
        (lambda: SequenceBudget(np.zeros((3, 3)), np.zeros((3, 2)), [1], 1), r"need the shape \(2, 2\)"),
    ],
)
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


@pytest.mark.parametrize("maker", [*MAKERS, forest])
def test_adjustments_that_cannot_be_added(maker: Callable[[Rng], tuple[Any, list[Structure]]]) -> None:
    rng, tried = np.random.default_rng(11), 0
    for _ in range(30):
        part, _ = maker(rng)
        for name, shape in part.spaces.items():
            for bad in (np.nan, np.inf):
                adjust = np.zeros(shape)
                if adjust.size:
                    adjust.reshape(-1)[-1] = bad
                    tried += 1
                    for ask in (part.maximize, part.max_marginals):
                        with pytest.raises(InvalidInput, match=rf"adjust\['{name}'\]\[.*\] is {bad}"):
                            ask({name: adjust})
            with pytest.raises(InvalidInput, match=rf"adjust\['{name}'\] must have shape"):
                part.maximize({name: np.zeros((*shape, 2))})
        with pytest.raises(InvalidInput, match="there is no space 'nowhere'"):
            part.maximize({"nowhere": np.zeros(3)})
    assert tried


def test_knapsacks_of_huge_weights() -> None:
    assert Knapsack([1.0, 2.0], [10**30, 3], 5).maximize({}).score == 2.0
