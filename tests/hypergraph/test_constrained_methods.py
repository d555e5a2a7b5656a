"""Every method of constrained search gives the answer of enumeration, or a bound that holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus
from certus import Status
from certus.hypergraph import METHODS, Builder, Hypergraph, NoDerivation
from tests.hypergraph.forests import draw
from tests.hypergraph.parses import parse_forest
from tests.hypergraph.test_constrained import Rows, draw_rows, gap, parse_problem
from tests.reference.hypergraph import satisfying, score

EXACT = [method for method in METHODS if method not in ("beam", "lagrangian")]


def draw_bits(rng: np.random.Generator, derivations: list[Any], edges: int) -> tuple[Rows, list[float]]:
    """Constraints with coefficients of 1 and targets of 0 or 1, which signatures keep as bits."""
    rows: Rows = []
    some = derivations[int(rng.integers(len(derivations)))]
    for _ in range(int(rng.integers(1, 5))):
        row = {edge: 1.0 for edge in rng.permutation(edges)[: int(rng.integers(1, edges + 1))].tolist()}
        if sum(row.get(edge, 0) for edge in some) <= 1:
            rows.append(row)
    return rows, [float(sum(row.get(edge, 0) for edge in some)) for row in rows]


def check(found: Any, best: float | None, method: str, constrained: Any, possible: list[Any]) -> None:
    if best is None:
        assert not found.optimal
        assert found.status is Status.INFEASIBLE or method in ("beam", "lagrangian")
        return
    assert found.score <= best <= found.bound
    assert found.optimal == (found.score == found.bound)
    if method in EXACT:
        assert found.optimal
    if found.score > -np.inf:
        assert tuple(found.value) in possible
        assert constrained.is_satisfied(found.value)
    assert (found.trace.dual >= best).all()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_enumeration(method: Any, whole: bool, tally: list[int]) -> None:
    rng = np.random.default_rng([len(method), whole])
    done = proven = 0
    while done < (40 if method == "ilp" else 250):
        p = draw(rng)
        if not p.found:
            continue
        kind = draw_bits if rng.random() < 0.5 else draw_rows
        rows, targets = kind(rng, p.found, p.graph.edges)
        if not whole:
            rows = [{edge: x / 4 for edge, x in row.items()} for row in rows]
            targets = [x / 4 for x in targets]
        constrained = p.graph.with_constraints(rows, targets)
        possible = satisfying(p.found, rows, targets)
        best = max((score(d, p.scores) for d in possible), default=None)
        beam = int(rng.integers(1, 6)) if method == "beam" else None
        found = constrained.decode(p.scores, method=method, infeasible="return", beam=beam)
        check(found, best, method, constrained, possible)
        proven += found.optimal
        done += 1
    assert proven > done / 3
    tally.append(done)


@pytest.mark.parametrize("seed", range(6))
def test_kbest_equals_enumeration(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng([seed, 5])
    done = several = 0
    while done < 60:
        p = draw(rng)
        if not p.found:
            continue
        kind = draw_bits if rng.random() < 0.5 else draw_rows
        rows, targets = kind(rng, p.found, p.graph.edges)
        constrained = p.graph.with_constraints(rows, targets)
        possible = satisfying(p.found, rows, targets)
        truth = sorted((score(d, p.scores) for d in possible), reverse=True)
        k = int(rng.integers(2, 9))
        found = constrained.decode(p.scores, k=k, infeasible="return")
        assert found.scores.tolist() == truth[:k]
        assert found.exhausted == (len(truth) < k)
        assert len({tuple(one.value) for one in found}) == len(found)
        for one in found:
            assert one.optimal
            assert one.score == one.bound
            assert tuple(one.value) in possible
        if not possible:
            with pytest.raises(NoDerivation, match="satisfies the constraints"):
                constrained.decode(p.scores, k=k)
        several += len(found) > 1
        done += 1
    assert several > 10
    tally.append(done)


@pytest.mark.parametrize("method", METHODS)
def test_parses(method: Any) -> None:
    for seed in (3, 11):
        graph, scores, rows, targets = parse_problem(seed)
        constrained = graph.with_constraints(rows, targets)
        best = constrained.decode(scores, method="branching")
        found = constrained.decode(scores, method=method)
        assert best.optimal
        assert found.score <= best.score <= found.bound
        if method in EXACT:
            assert (found.score, found.status) == (best.score, Status.OPTIMAL)
            assert graph.score(scores, found.value) == found.score


def test_kbest_of_parses() -> None:
    graph, scores, rows, targets = parse_problem(2)
    constrained = graph.with_constraints(rows, targets)
    top = constrained.decode(scores, k=20)
    assert top[0].score == constrained.decode(scores).score
    assert (np.diff(top.scores) <= 0).all()
    expected = []
    for derivation in graph.iterate(scores):  # best first, without constraints
        if constrained.is_satisfied(derivation.value):
            expected.append(derivation.score)
        if len(expected) == 20:
            break
    assert top.scores.tolist() == expected


@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("ilp", "lagrangian")])
def test_tiny_scores(method: Any) -> None:
    """Scores times a power of 2 have the same answers, times this power."""
    rng, little = np.random.default_rng(7), 2.0**-966
    for _ in range(150):
        p = draw(rng)
        rows, targets = draw_rows(rng, p.found, p.graph.edges) if p.found else ([], [])
        constrained = p.graph.with_constraints(rows, targets)
        scores = rng.normal(size=p.graph.edges)
        found = constrained.decode(scores, method=method, infeasible="return")
        small = constrained.decode(scores * little, method=method, infeasible="return")
        assert small.status is found.status
        assert small.score == pytest.approx(found.score * little, rel=1e-12, abs=0)


def test_limits_hold_for_every_method() -> None:
    graph, scores, rows, targets = parse_problem(3)
    constrained = graph.with_constraints(rows, targets)
    best = constrained.decode(scores).score
    for method in METHODS:
        if method == "ilp":
            continue
        for limit in (1, 2, 5, 20):
            found = constrained.decode(scores, method=method, max_iterations=limit)
            assert found.score <= best <= found.bound, (method, limit)
    for one in constrained.decode(scores, k=5, seconds=0.0):
        assert one.bound >= one.score
    assert constrained.decode(scores, method="ilp", seconds=1e-9).bound >= best


def test_a_wider_beam_is_no_worse() -> None:
    graph, scores, rows, targets = parse_problem(3)
    constrained = graph.with_constraints(rows, targets)
    best = constrained.decode(scores)
    found = [constrained.decode(scores, method="beam", beam=width) for width in (1, 10, 100, 100_000)]
    assert found[-1].optimal
    assert found[-1].score == best.score
    assert not found[0].optimal
    assert found[0].status in (Status.FEASIBLE, Status.ITERATIONS)
    assert all(one.score <= best.score <= one.bound for one in found)
    assert found[-1].stats["expanded"] > found[0].stats["expanded"]


def test_many_bits() -> None:
    """More constraints than a word has bits: each of 70 places is used once."""
    rng = np.random.default_rng(0)
    builder = Builder()
    for place in range(70):
        for kind in range(3):
            builder.add(
                place + 1, [place] if place else [], score=float(rng.integers(9)), label=(place, kind)
            )
    graph = builder.build(70)
    assert graph.labels is not None
    rows: Rows = [{e: 1.0 for e, (place, _) in enumerate(graph.labels) if place == p} for p in range(70)]
    pair = {e: 1.0 for e, (place, kind) in enumerate(graph.labels) if kind == 0 and place in (3, 69)}
    constrained = graph.with_constraints([*rows, pair], [1] * 71)
    expected = max(
        graph.decode(np.where(mask, builder.scores, -np.inf)).score
        for mask in (_choose(graph, 3, 69), _choose(graph, 69, 3))
    )
    for method in METHODS:
        found = constrained.decode(builder.scores, method=method)
        if method in EXACT:
            assert (found.score, found.optimal) == (expected, True), method


def _choose(graph: Hypergraph, first: int, other: int) -> Any:
    """Which edges are left where the kind 0 is taken in one place and not in another."""
    assert graph.labels is not None
    return np.array([(kind == 0) if p == first else (p != other or kind != 0) for p, kind in graph.labels])


def test_nodes_that_are_used_twice() -> None:
    """A derivation may derive a node twice, each time differently; an integer program counts that, too."""
    builder = Builder()
    builder.add("goal", ["x", "x"])
    builder.add("x", score=3, label="a")
    builder.add("x", score=1, label="b")
    graph = builder.build("goal")
    for method in EXACT:
        found = graph.with_constraints([{1: 1.0}], [1]).decode(builder.scores, method=method)
        assert (found.score, sorted(found.value.tolist())) == (4, [0, 1, 2]), method
    top = graph.with_constraints([{1: 1.0}], [1]).decode(builder.scores, k=5)
    assert [one.value.tolist() for one in top] in ([[0, 1, 2], [0, 2, 1]], [[0, 2, 1], [0, 1, 2]])


def test_conflicts_are_named() -> None:
    graph, scores, row = gap()
    with pytest.raises(NoDerivation, match=r"Constraint 0 has to add up to 5, but .* 0 to 2"):
        graph.with_constraints([row], [5]).decode(scores)
    with pytest.raises(NoDerivation, match=r"Constraint 1 has to add up to 0\.5, but .* other numbers"):
        graph.with_constraints([row, row], [1, 0.5]).decode(scores)
    with pytest.raises(NoDerivation, match="not these together: 0, 2"):
        graph.with_constraints([row, {0: 0.0}, row], [1, 0, 2]).decode(scores)
    with pytest.raises(NoDerivation, match="not these together: 0, 1"):
        graph.with_constraints([row, row], [1, 2]).decode(scores, k=3)


def test_options_are_checked() -> None:
    graph, scores, row = gap()
    constrained = graph.with_constraints([row], [1])
    for options, message in (
        ({"method": "magic"}, "no method 'magic'; there are auto, optimal-beam"),
        ({"beam": 5}, "beam= is for"),
        ({"method": "beam", "beam": 0}, "at least 1"),
        ({"max_nodes": 5}, "max_nodes= is for"),
        ({"method": "ilp", "max_iterations": 5}, "does not reach into HiGHS"),
    ):
        with pytest.raises(certus.InvalidInput, match=message):
            constrained.decode(scores, **options)
    with pytest.raises(certus.InvalidInput, match="k must be"):
        constrained.decode(scores, k=0)


@pytest.mark.parametrize("method", EXACT)
def test_large_whole_numbers(method: Any) -> None:
    """Scores near the limit of exact sums: multipliers cannot be told apart from rounding there."""
    graph, scores, row = gap()
    large = scores * 2.0**44 + np.arange(len(scores))
    found = graph.with_constraints([row], [1]).decode(large, method=method)
    expected = graph.with_constraints([row], [1]).decode(large, method="astar")
    assert found.optimal
    assert found.score == expected.score


def test_forests_with_several_goals() -> None:
    rng = np.random.default_rng(4)
    graph = parse_forest(rng, 6, 3, 7)
    several = Hypergraph(graph.heads, graph.offsets, graph.tails, [int(graph.goals[0]), graph.nodes - 1])
    scores = rng.integers(-5, 6, graph.edges).astype(np.float64)
    row = {e: 1.0 for e in range(0, graph.edges, 2)}
    target = float(sum(row.get(e, 0) for e in several.decode(scores, k=9).values[8].tolist()))
    constrained = several.with_constraints([row], [target])
    answers = {method: constrained.decode(scores, method=method).score for method in EXACT}
    assert len(set(answers.values())) == 1, answers
    assert constrained.decode(scores, k=3)[0].score == answers["astar"]


@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("beam", "ilp")])
@pytest.mark.parametrize("forbidden", [7e288, 1e12, -1e12])
def test_scores_that_constraints_exclude_hide_nothing(method: Any, forbidden: float) -> None:
    """Rounding of multipliers is of the size of the largest score, also of one that no constraint allows."""
    graph = Hypergraph([0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 2, 3, 3], [0, 1, 0], 3, nodes=4)
    for small in (1e-4, 1e-3, 1.0):
        scores = [0.0, forbidden, 0.5, 0.25, small, 2 * small]
        found = graph.with_constraints([{4: 1, 1: 1, 5: 1}], [1]).decode(scores, method=method)
        best = 2 * small
        assert found.bound >= best
        assert not found.optimal or found.score == best
        assert found.optimal or method not in EXACT


@pytest.mark.parametrize("method", EXACT)
def test_rounding_chooses_no_derivation_of_a_signature(method: Any) -> None:
    """Two derivations meet the constraint in the same way; multipliers are of the size of a third's score."""
    if method == "ilp":
        return
    graph = Hypergraph([0, 1, 1, 1], [0, 0, 2, 2, 3], [0, 0, 0], [0, 1], nodes=2)
    scores = [3.5e-113, -1.5e-215, -1.25e-280, 1.75e-31]
    found = graph.with_constraints([{0: -1, 3: 2, 1: 1}], [-1]).decode(scores, method=method)
    assert found.optimal
    assert found.score == found.bound == 7e-113
