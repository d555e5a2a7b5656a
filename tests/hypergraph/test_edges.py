"""What is odd, wrong, huge or empty: the answer is right, or an error says what to do."""

from __future__ import annotations

import pickle
import threading
from itertools import islice
from typing import Any

import numpy as np
import pytest

import certus
from certus.hypergraph import Builder, Cyclic, Hypergraph, NoDerivation


def doubling(depth: int) -> Hypergraph:
    """Node v + 1 is derived from two of node v: derivations double in size at every step."""
    heads = [0, 0, *range(1, depth + 1)]
    tails = [v for v in range(depth) for _ in range(2)]
    offsets = [0, 0, *range(0, 2 * depth + 1, 2)]
    return Hypergraph(heads, offsets, tails, depth)


def test_one_node() -> None:
    graph = Hypergraph([0], [0, 0], [], 0)
    best = graph.decode([2.5])
    assert (best.value.tolist(), best.score, best.optimal) == ([0], 2.5, True)
    assert graph.count() == 1
    assert graph.marginals([2.5]).edges.tolist() == [1]
    assert graph.outside([2.5]).tolist() == [0]
    assert best.stats["edges"] == 1


def test_no_edges() -> None:
    graph = Hypergraph([], [0], [], 0)
    assert (graph.nodes, graph.edges, graph.count()) == (1, 0, 0)
    with pytest.raises(
        NoDerivation, match=r"the goal 0 cannot be derived: 0 has no edges\. A leaf needs one"
    ):
        graph.decode([])
    assert graph.decode([], infeasible="return").status is certus.Status.INFEASIBLE
    assert len(graph.decode([], k=3, infeasible="return")) == 0


def test_where_a_derivation_fails() -> None:
    builder = Builder()
    builder.add("S", ["NP", "VP"])
    builder.add("NP")
    builder.add("VP", ["V"])
    graph = builder.build("S")
    with pytest.raises(NoDerivation, match="'V', which it needs, has no edges") as caught:
        graph.decode(np.zeros(3))
    assert caught.value.node == "V"
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), NoDerivation)
    assert isinstance(caught.value, certus.Infeasible)
    builder.add("V")
    forbidden = np.array([0, -np.inf, 0, 0])
    for ask in ("decode", "marginals", "max_marginals", "sample", "prune"):
        with pytest.raises(
            NoDerivation, match="'NP', which it needs, is forbidden: its only edge has a score"
        ):
            getattr(builder.build("S"), ask)(forbidden)
    with pytest.raises(NoDerivation, match="none of the 2 goals can be derived: 'NP', which 'S' needs, is"):
        builder.build("S", "NP").decode(forbidden)


@pytest.mark.parametrize("nodes", [[0], [0, 1], [3, 1, 4, 0, 2]])
def test_cycles_are_named(nodes: list[int]) -> None:
    heads, tails = nodes, [*nodes[1:], nodes[0]]
    with pytest.raises(Cyclic, match="has a cycle, each node derived from the next") as caught:
        Hypergraph([*heads, 5], [*range(len(heads) + 1), len(heads)], tails, 5)
    found = caught.value.nodes
    assert sorted(found) == sorted(nodes)
    follows = dict(zip(heads, tails, strict=True))
    assert all(follows[a] == b for a, b in zip(found, [*found[1:], found[0]], strict=True))
    assert isinstance(caught.value, certus.InvalidInput)
    assert pickle.loads(pickle.dumps(caught.value)).nodes == found


def test_cycles_by_name_and_long_ones() -> None:
    builder = Builder()
    for i in range(20):
        builder.add(f"n{i}", [f"n{(i + 1) % 20}"])
    with pytest.raises(Cyclic, match=r"'n0' <- 'n1' .* <- \(12 more\) <- 'n0'"):
        builder.build("n0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [], 0), "one item more than there are edges: 2, not 1"),
        (([0], [0, 1], [], 0), "offsets end at 1, but there are 0 tails"),
        (([0, 1], [0, 2, 1], [0], 0), r"offsets\[2\] is 1; offsets start at 0 and never fall"),
        (([0], [1, 1], [0], 0), r"offsets\[0\] is 1"),
        (([-1], [0, 0], [], 0), r"heads\[0\] is -1, but nodes go from 0 to 0"),
        (([1, 1], [0, 0, 1], [-7], 1), r"tails\[0\] \(of edge 1\) is -7, but nodes go from 0 to 1"),
        (([0], [0, 0], [], []), "needs a goal"),
        (([0], [0, 0], [], [0, 0]), "goal 0 is given twice"),
        (([0], [0, 0], [], -1), "goal -1 does not exist"),
        (([0.5], [0, 0], [], 0), "heads must hold whole numbers"),
        (([[0]], [0, 0], [], 0), "heads must be one-dimensional"),
    ],
)
def test_impossible_arrays(arguments: Any, message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        Hypergraph(*arguments)


def test_other_refusals() -> None:
    with pytest.raises(certus.InvalidInput, match=r"heads\[0\] is 4, but nodes go from 0 to 1"):
        Hypergraph([4], [0, 0], [], 0, nodes=2)
    with pytest.raises(certus.InvalidInput, match="at least 1, not 0"):
        Hypergraph([0], [0, 0], [], 0, nodes=0)
    with pytest.raises(certus.InvalidInput, match="labels must hold one item for each of 1, not 2"):
        Hypergraph([0], [0, 0], [], 0, labels=["a", "b"])
    graph = Hypergraph([0, 0], [0, 0, 0], [], 0)
    with pytest.raises(certus.InvalidInput, match=r"shape \(2,\), one for each edge, not \(3,\)"):
        graph.decode(np.zeros(3))
    for bad in (np.nan, np.inf):
        for ask in (
            "decode",
            "inside",
            "outside",
            "marginals",
            "max_marginals",
            "prune",
            "useful",
            "count",
            "sample",
        ):
            with pytest.raises(certus.InvalidInput, match=rf"scores\[1\] is {bad}"):
                getattr(graph, ask)(np.array([0, bad]))
        with pytest.raises(certus.InvalidInput, match=r"scores\[1\]"):
            graph.decode(np.array([0, bad], np.float32), k=2)
        with pytest.raises(certus.InvalidInput, match=r"scores\[1\]"):
            next(graph.iterate([0, bad]))
    with pytest.raises(certus.InvalidInput, match="k must be"):
        graph.decode([0, 0], k=0)
    with pytest.raises(certus.InvalidInput, match="threshold must be a score"):
        graph.prune([0, 0], np.nan)


def test_a_string_is_not_a_list_of_tails() -> None:
    with pytest.raises(certus.InvalidInput, match=r"write \['NP'\]"):
        Builder().add("S", "NP")
    with pytest.raises(certus.InvalidInput, match="the goal 'X' is not a node"):
        Builder().build("X")


def test_derivations_that_double() -> None:
    """2^60 edges in a derivation: sums and counts are fine, and what cannot be written down is refused."""
    graph = doubling(60)
    scores = np.array([0.0, 1.0, *[0.0] * 60])
    assert graph.max_marginals(scores).score == 2.0**60
    assert graph.marginals(np.zeros(62)).nodes[0] == 2.0**60
    for ask in (
        graph.decode,
        graph.sample,
        lambda s: graph.decode(s, k=2),
        lambda s: next(graph.iterate(s)),
    ):
        with pytest.raises(certus.InvalidInput, match="more than 16,777,216 edges"):
            ask(scores)
    with pytest.raises(certus.InvalidInput, match="more than 16,777,216 edges"):
        graph.with_constraints([{1: 1}], [3]).decode(scores)
    with pytest.raises(certus.InvalidInput, match=r"about 3\.47e\+17 digits"):
        graph.count()
    assert doubling(4).count() == 2**16
    assert doubling(10).count() == 2**1024
    assert len(doubling(10).decode(scores[:12]).value) == 2**11 - 1


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_beyond_the_range_of_doubles(sign: int) -> None:
    graph = doubling(3)
    with pytest.raises(certus.InvalidInput, match="beyond the range of float64"):
        graph.decode(np.full(5, sign * 1e308))


def test_large_counts_are_exact() -> None:
    """Bracketings of n words: Catalan numbers."""
    builder = Builder()
    n = 80
    for i in range(n):
        builder.add((i, i + 1))
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            for k in range(i + 1, i + width):
                builder.add((i, i + width), [(i, k), (k, i + width)])
    catalan = 1
    for i in range(n - 1):
        catalan = catalan * 2 * (2 * i + 1) // (i + 2)
    assert builder.build((0, n)).count() == catalan > 2**128


def test_deep_forests_need_no_stack() -> None:
    n = 200_000
    heads = np.repeat(np.arange(n), 2)
    offsets = np.concatenate([[0, 0], np.arange(2 * n - 1)])
    tails = np.repeat(np.arange(n - 1), 2)
    for order in (np.arange(n), np.arange(n)[::-1].copy()):
        graph = Hypergraph(order[heads], offsets, order[tails], int(order[-1]))
        scores = np.tile([0.0, -1.0], n)
        assert graph.decode(scores).score == 0
        assert [s.score for s in islice(graph.iterate(scores), 3)] == [0, -1, -1]
        assert graph.log_partition(np.zeros(2 * n)) == pytest.approx(n * np.log(2))


def test_an_edge_with_many_tails() -> None:
    n = 1000
    heads = [*np.repeat(np.arange(n), 2), n]
    graph = Hypergraph(heads, [*np.zeros(2 * n + 1, int), n], np.arange(n), n)
    scores = np.append(np.tile([0.0, -1.0], n), 0)
    found = graph.max_marginals(scores)
    assert found.edges[:4].tolist() == [0, -1, 0, -1]
    assert graph.outside(scores)[0] == pytest.approx((n - 1) * np.log1p(np.exp(-1)))
    assert graph.decode(scores, k=3).scores.tolist() == [0, -1, -1]


def test_extreme_weights() -> None:
    """Weights that a float64 cannot hold beside one another."""
    graph = Hypergraph([0, 0, 1, 1], [0, 0, 0, 1, 2], [0, 0], 1)
    found = graph.marginals([0, 1e4, -1e4, -1e4 + 1])
    assert found.edges == pytest.approx([0, 1, 1 / (1 + np.e), np.e / (1 + np.e)])
    assert found.log_partition == pytest.approx(np.logaddexp(0, 1), abs=1e-9)


def test_arrays_stay_as_they_are() -> None:
    heads, offsets, tails = np.array([1, 0]), np.array([0, 1, 1]), np.array([0])
    graph = Hypergraph(heads, offsets, tails, 1)
    heads[0] = 0
    assert graph.heads.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        graph.heads[0] = 0
    scores = np.array([1.0, 2.0])
    search = graph.iterate(scores)
    assert next(search).score == 3
    scores.flags.writeable = False
    assert graph.decode(scores[::-1]).score == 3
    assert graph.decode([1, 2]).score == 3
    again = pickle.loads(pickle.dumps(graph))
    assert again.decode(scores).value.tolist() == graph.decode(scores).value.tolist()
    assert repr(graph) == "Hypergraph(2 nodes, 2 edges, goal 1)"


def test_labels_names_and_folding() -> None:
    builder = Builder()
    builder.add("S", ["A", "B", "A"], label="s", score=1)
    builder.add("A", label="a", score=2)
    builder.add("B", ["A"], label="b", score=3)
    graph = builder.build("S")
    best = graph.decode(builder.scores)
    assert graph.labels is not None
    assert [graph.labels[e] for e in best.value] == ["s", "a", "b", "a", "a"]
    assert best.score == 1 + 2 + 3 + 2 + 2
    tree = graph.fold(best.value, lambda edge, parts: (graph.labels[edge], *parts))  # type: ignore[index]
    assert tree == ("s", ("a",), ("b", ("a",)), ("a",))
    assert graph.names == ("S", "A", "B")
    assert repr(graph).endswith("goal 'S')")
    assert repr(builder) == "Builder(3 nodes, 3 edges)"
    for wrong, message in (
        ([0, 1, 2, 1], "edge 0 is not followed"),
        ([1], "not a derivation of the goal"),
        ([0, 9], "edges from 0 to 2"),
        ([], "not a derivation of the goal"),
    ):
        with pytest.raises(certus.InvalidInput, match=message):
            graph.score(builder.scores, wrong)


def test_threads_share_a_forest() -> None:
    rng = np.random.default_rng(0)
    graph = doubling(8)
    scores = [rng.integers(-9, 9, graph.edges).astype(float) for _ in range(40)]
    expected = [graph.decode(s).score for s in scores]
    found: list[float] = [0.0] * len(scores)

    def work(first: int) -> None:
        for i in range(first, len(scores), 4):
            found[i] = graph.decode(scores[i]).score

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
