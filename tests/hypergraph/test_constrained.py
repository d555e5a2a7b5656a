"""The best derivation under constraints equals enumeration, and HiGHS where that cannot reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus
from certus import Status, _native
from certus.hypergraph import Builder, Hypergraph, NoDerivation
from tests.hypergraph.forests import draw
from tests.hypergraph.parses import parse_forest
from tests.reference.cp_sat import solve_programs
from tests.reference.hypergraph import intersected, satisfying, score
from tests.reference.hypergraph_ilp import solve, state
from tests.reference.ilp import translate

Rows = list[dict[int, float]]


def draw_rows(rng: np.random.Generator, derivations: list[Any], edges: int) -> tuple[Rows, list[float]]:
    """Constraints, mostly such as some derivation satisfies."""
    rows: Rows = []
    for _ in range(int(rng.integers(1, 4))):
        chosen = rng.permutation(edges)[: int(rng.integers(1, edges + 1))].tolist()
        rows.append({edge: float(rng.integers(-2, 3)) for edge in chosen})
    some = derivations[int(rng.integers(len(derivations)))]
    targets = [float(sum(row.get(edge, 0) for edge in some)) for row in rows]
    if rng.random() < 0.2:
        targets[0] += float(rng.integers(-2, 3))
    return rows, targets


def check_trace(found: Any, optimum: float) -> None:
    assert (found.trace.dual >= optimum).all()
    assert (np.diff(found.trace.dual) <= 0).all()
    assert (np.diff(found.trace.primal[np.isfinite(found.trace.primal)]) >= 0).all()
    assert (found.trace.primal <= optimum).all()


@pytest.mark.parametrize("seed", range(10))
def test_enumeration(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(seed)
    done = 0
    while done < 120:
        p = draw(rng)
        if not p.found:
            continue
        rows, targets = draw_rows(rng, p.found, p.graph.edges)
        constrained = p.graph.with_constraints(rows, targets)
        possible = satisfying(p.found, rows, targets)
        found = constrained.decode(p.scores, infeasible="return")
        if possible:
            best = max(score(d, p.scores) for d in possible)
            assert (found.score, found.bound, found.status) == (best, best, Status.OPTIMAL), (
                p,
                rows,
                targets,
            )
            assert tuple(found.value) in possible
            assert constrained.is_satisfied(found.value)
            check_trace(found, best)
        else:
            assert found.status is Status.INFEASIBLE, (p, rows, targets)
            with pytest.raises(NoDerivation, match="satisfies the constraints"):
                constrained.decode(p.scores)
        done += 1
    tally.append(done)


@pytest.mark.parametrize("seed", range(6))
def test_real_scores(seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    for _ in range(60):
        p = draw(rng, whole=False)
        if not p.found:
            continue
        rows, targets = draw_rows(rng, p.found, p.graph.edges)
        possible = satisfying(p.found, rows, targets)
        found = p.graph.with_constraints(rows, targets).decode(p.scores, infeasible="return")
        if not possible:
            assert found.status is Status.INFEASIBLE
            continue
        best = max(score(d, p.scores) for d in possible)
        assert found.score == pytest.approx(best, rel=1e-13, abs=1e-13)
        assert found.optimal
        assert (found.trace.dual >= best - 1e-12).all()


def parse_problem(seed: int) -> tuple[Hypergraph, Any, Rows, list[float]]:
    """So many uses of some rules in a parse: loose relaxations are common."""
    rng = np.random.default_rng(seed)
    graph = parse_forest(rng, 9, 4, 12)
    scores = np.round(rng.normal(size=graph.edges) * 8)
    assert graph.labels is not None
    rules = sorted({label for label in graph.labels if label})
    used: list[dict[int, float]] = []
    some = graph.decode(scores, k=500).values[int(rng.integers(500))]
    for rule in rng.permutation(len(rules))[:4]:
        used.append({e: 1.0 for e, label in enumerate(graph.labels) if label == rules[rule]})
    targets = [float(sum(row.get(e, 0) for e in some.tolist())) for row in used]
    return graph, scores, used, targets


@pytest.mark.parametrize("seed", range(8))
def test_parses_against_highs(seed: int) -> None:
    graph, scores, rows, targets = parse_problem(seed)
    found = graph.with_constraints(rows, targets).decode(scores, infeasible="return")
    optimum = solve(graph, scores, rows, targets)
    assert optimum is not None
    assert found.score == pytest.approx(optimum, abs=1e-6)
    assert found.optimal
    check_trace(found, found.score)


def test_parses_against_a_second_referee() -> None:
    problems = [parse_problem(seed) for seed in range(8, 16)]
    optima = solve_programs([translate(state(*problem)) for problem in problems])
    for (graph, scores, rows, targets), optimum in zip(problems, optima, strict=True):
        found = graph.with_constraints(rows, targets).decode(scores)
        assert found.score == optimum
        assert found.optimal


def draw_shared(rng: np.random.Generator) -> Hypergraph:
    """A forest in which derivations use nodes several times: far more derivations than can be listed."""
    heads: list[int] = [0, 0, 0, 1, 1, 1]
    tails: list[tuple[int, ...]] = [()] * 6
    for head in range(2, 8):
        for _ in range(3):
            heads.append(head)
            tails.append(tuple(rng.integers(max(0, head - 3), head, int(rng.integers(1, 4))).tolist()))
    offsets = np.cumsum([0, *map(len, tails)])
    return Hypergraph(heads, offsets, [t for tail in tails for t in tail], 7)


def few_uses(rng: np.random.Generator, graph: Hypergraph, scores: Any, rows: int) -> tuple[Rows, list[float]]:
    """Constraints on how often groups of edges are used, such as a poor derivation satisfies."""
    group = rng.integers(rows + 2, size=graph.edges)
    used: Rows = [{int(e): 1.0 for e in np.flatnonzero(group == r)} for r in range(rows)]
    some = graph.sample(scores * 0.02, seed=rng)[0]
    return used, [float(sum(row.get(e, 0) for e in some.tolist())) for row in used]


@pytest.mark.parametrize("shared", [False, True])
def test_an_intersected_program(shared: bool) -> None:
    """With no patience the search splits at once (where nodes are not used twice), and finds the same."""
    nodes = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graph = draw_shared(rng) if shared else parse_forest(rng, 7, 3, 7)
        scores = rng.integers(-9, 10, graph.edges).astype(np.float64)
        rows, targets = few_uses(rng, graph, scores, 2)
        if sum(targets) > 30:  # the reference would take long
            continue
        optimum = intersected(graph, scores, rows, targets)
        assert optimum is not None
        constrained = graph.with_constraints(rows, targets)
        found = constrained.decode(scores)
        assert found.optimal
        assert found.score == found.bound == optimum, seed
        assert graph.score(scores, found.value) == optimum
        assert constrained.is_satisfied(found.value)
        check_trace(found, optimum)
        hasty = _native.search_forest(
            graph.native, scores, *constrained.constraints.arrays, _native.ForestMethod.BRANCHING, 4
        )
        assert hasty.run(10**6)
        assert hasty.score == hasty.bound == optimum, seed
        assert (hasty.dual >= optimum).all()
        nodes += hasty.subproblems
    assert nodes >= 40


def gap() -> tuple[Hypergraph, Any, Any]:
    """Two halves that can be x or y; one x is asked for, but xx and yy score more: a loose relaxation."""
    builder = Builder()
    for pair, value in (("xx", 2), ("yy", 2), ("xy", 0), ("yx", -1)):
        builder.add("goal", [(0, pair[0]), (1, pair[1])], score=value, label=pair)
    for half in (0, 1):
        for kind in "xy":
            builder.add((half, kind), label=kind)
    graph = builder.build("goal")
    assert graph.labels is not None
    return graph, builder.scores, {e: 1 for e, label in enumerate(graph.labels) if label == "x"}


def test_a_gap_is_closed() -> None:
    graph, scores, row = gap()
    found = graph.with_constraints([row], [1]).decode(scores, method="branching")
    assert (found.score, found.bound, found.optimal) == (0, 0, True)
    assert graph.labels is not None
    assert graph.labels[found.value[0]] == "xy"
    assert found.trace.dual[0] > 0
    assert found.stats["nodes"] >= 1


def test_limits_are_honest() -> None:
    graph, scores, rows, targets = parse_problem(3)
    constrained = graph.with_constraints(rows, targets)
    best = constrained.decode(scores)
    assert best.optimal
    for limit in range(1, best.stats["iterations"]):
        found = constrained.decode(scores, max_iterations=limit)
        assert found.status is Status.ITERATIONS
        assert found.score <= best.score <= found.bound
        assert len(found.trace) == found.stats["iterations"] == limit
        assert (found.value.size == 0) == (found.score == -np.inf)
    assert constrained.decode(scores, seconds=0.0).status in (Status.SECONDS, Status.OPTIMAL)
    few = constrained.decode(scores, method="branching", max_nodes=0)
    assert few.status in (Status.NODES, Status.OPTIMAL)
    many = constrained.decode(scores, method="branching", seconds=100, max_nodes=10**9, max_iterations=10**9)
    assert many.optimal


def test_the_same_each_time() -> None:
    graph, scores, rows, targets = parse_problem(5)
    constrained = graph.with_constraints(rows, targets)
    one, two = constrained.decode(scores), constrained.decode(scores)
    assert one.value.tolist() == two.value.tolist()
    assert one.trace.dual.tolist() == two.trace.dual.tolist()


def test_rows_as_arrays() -> None:
    graph, scores, row = gap()
    arrays = (np.array([0, len(row)]), np.array(list(row)), np.ones(len(row)))
    one = graph.with_constraints([row], [1]).decode(scores)
    two = graph.with_constraints(arrays, np.array([1])).decode(scores.astype(np.float32))
    assert (one.score, one.value.tolist()) == (two.score, two.value.tolist())
    none = graph.with_constraints([], []).decode(scores)
    assert none.score == graph.decode(scores).score
    assert "1 constraints" in repr(graph.with_constraints([row], [1]))


@pytest.mark.parametrize(
    ("rows", "targets", "message"),
    [
        ([{0: 1.0}], [1, 2], "1 constraints, but 2 targets"),
        ([{99: 1.0}], [1], "constraint 0 names edge 99, but edges go from 0 to 7"),
        ([{0: np.inf}], [1], r"coefficients\[0\] is inf"),
        ([{0: 1.0}], [np.nan], r"targets\[0\] is nan"),
        ([{0.5: 1.0}], [1], "whole numbers"),
        ([[1, 2]], [1], "constraint 0 must be a mapping"),
        (([0, 2], [1], [1.0]), [1], "end at 1"),
        (([0, 1], [1], [1.0, 2.0]), [1], "1 edges, but 2 coefficients"),
        ([{0: "a"}], [1], "must be numbers"),
    ],
)
def test_refusals(rows: Any, targets: Any, message: str) -> None:
    graph, _, _ = gap()
    with pytest.raises(certus.InvalidInput, match=message):
        graph.with_constraints(rows, targets)


def test_forbidden_from_the_start() -> None:
    graph, scores, row = gap()
    nothing = np.full(len(scores), -np.inf)
    with pytest.raises(NoDerivation, match="cannot be derived"):
        graph.with_constraints([row], [1]).decode(nothing)
    found = graph.with_constraints([row], [1]).decode(nothing, infeasible="return")
    assert (found.status, len(found.trace), found.stats["nodes"]) == (Status.INFEASIBLE, 0, 0)
    with pytest.raises(certus.InvalidInput, match=r"scores\[2\] is nan"):
        graph.with_constraints([row], [1]).decode(np.where(np.arange(8) == 2, np.nan, scores))
