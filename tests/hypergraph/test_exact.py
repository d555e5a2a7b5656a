"""Every answer about a forest equals what enumeration of its derivations gives."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import certus
from certus.hypergraph import NoDerivation
from tests.hypergraph.forests import Problem, draw
from tests.reference.hypergraph import log_sum, outside, score, uses

SEEDS = range(10)
PROBLEMS = 120


def problems(seed: int, *, whole: bool = True) -> list[Problem]:
    rng = np.random.default_rng([seed, whole])
    return [draw(rng, whole=whole) for _ in range(PROBLEMS)]


@pytest.mark.parametrize("seed", SEEDS)
def test_viterbi(seed: int, tally: list[int]) -> None:
    for p in problems(seed):
        for scores in (p.scores, p.scores.astype(np.float32)):
            found = p.graph.decode(scores, infeasible="return", certificate=True)
            assert certus.verify((p.graph, scores), found).proven
            if not p.found:
                assert found.status is certus.Status.INFEASIBLE
                with pytest.raises(NoDerivation):
                    p.graph.decode(scores)
                continue
            best = max(score(d, p.scores) for d in p.found)
            assert found.score == found.bound == best, p
            assert tuple(found.value) in p.found
            assert p.graph.score(scores, found.value) == best
            assert found.optimal
    tally.append(PROBLEMS)


@pytest.mark.parametrize("seed", SEEDS)
def test_kbest(seed: int, tally: list[int]) -> None:
    for p in problems(seed):
        ranked = sorted((score(d, p.scores) for d in p.found), reverse=True)
        for k in (2, 3, len(p.found) + 2):
            found = p.graph.decode(p.scores, k=k, infeasible="return")
            assert found.scores.tolist() == ranked[:k], p
            assert found.exhausted == (len(p.found) < k)
            listed = [tuple(d.tolist()) for d in found.values]
            assert len(set(listed)) == len(listed)
            assert set(listed) <= set(p.found)
            assert [score(d, p.scores) for d in listed] == ranked[:k]
        if p.found:
            some = [s.score for s in islice(p.graph.iterate(p.scores), 4)]
            assert some == ranked[:4]
            assert sum(1 for _ in p.graph.iterate(p.scores)) == len(p.found)
    tally.append(PROBLEMS)


@pytest.mark.parametrize("seed", SEEDS)
def test_real_scores_to_the_end(seed: int) -> None:
    """All derivations, in order, where sums are rounded."""
    for p in problems(seed, whole=False)[:40]:
        ranked = sorted((score(d, p.scores) for d in p.found), reverse=True)
        found = p.graph.decode(p.scores, k=len(p.found) + 2, infeasible="return")
        assert {tuple(d.tolist()) for d in found.values} == set(p.found)
        assert found.scores.tolist() == ranked
        assert [s.score for s in found] == pytest.approx(ranked, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_max_marginals(seed: int, tally: list[int]) -> None:
    for p in problems(seed):
        if not p.found:
            with pytest.raises(NoDerivation):
                p.graph.max_marginals(p.scores)
            continue
        found = p.graph.max_marginals(p.scores)
        edges, nodes = np.full(p.graph.edges, -np.inf), np.full(p.graph.nodes, -np.inf)
        for d in p.found:
            total = score(d, p.scores)
            for edge in d:
                edges[edge] = max(edges[edge], total)
                node = p.forest.edges[edge][0]
                nodes[node] = max(nodes[node], total)
        assert found.edges.tolist() == edges.tolist(), p
        assert found.nodes.tolist() == nodes.tolist(), p
        assert found.score == edges.max()
    tally.append(PROBLEMS)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums(seed: int) -> None:
    for p in problems(seed, whole=False):
        assert p.graph.log_partition(p.scores) == pytest.approx(
            log_sum([score(d, p.scores) for d in p.found]), rel=1e-12, abs=1e-12
        )
        assert p.graph.outside(p.scores) == pytest.approx(outside(p.forest, p.scores), rel=1e-11, abs=1e-11)
        if not p.found:
            with pytest.raises(NoDerivation):
                p.graph.marginals(p.scores)
            continue
        found = p.graph.marginals(p.scores)
        weights = np.exp([score(d, p.scores) - found.log_partition for d in p.found])
        edges, nodes = np.zeros(p.graph.edges), np.zeros(p.graph.nodes)
        for d, weight in zip(p.found, weights, strict=True):
            by_edge, by_node = uses(d, p.forest)
            for edge, times in by_edge.items():
                edges[edge] += times * weight
            for node, times in by_node.items():
                nodes[node] += times * weight
        assert found.edges == pytest.approx(edges, abs=1e-10), p
        assert found.nodes == pytest.approx(nodes, abs=1e-10), p
        inside = p.graph.inside(p.scores)
        known = np.isfinite(inside)
        expected = np.exp(inside + p.graph.outside(p.scores) - found.log_partition)[known]
        assert found.nodes[known] == pytest.approx(expected, abs=1e-10)
        assert found.probability(score(p.found[0], p.scores)) == pytest.approx(weights[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_and_use(seed: int, tally: list[int]) -> None:
    for p in problems(seed):
        assert p.graph.count(p.scores) == len(p.found), p
        used = {edge for d in p.found for edge in d}
        assert np.flatnonzero(p.graph.useful(p.scores)).tolist() == sorted(used)
    tally.append(PROBLEMS)


@pytest.mark.parametrize("seed", SEEDS)
def test_pruning(seed: int, tally: list[int]) -> None:
    """What reaches the threshold stays, and every edge that stays is on something that reaches it."""
    rng = np.random.default_rng(seed)
    for p in problems(seed):
        ranked = sorted((score(d, p.scores) for d in p.found), reverse=True)
        if not ranked:
            with pytest.raises(NoDerivation):
                p.graph.prune(p.scores)
            continue
        threshold = ranked[int(rng.integers(len(ranked)))] if rng.random() < 0.8 else -np.inf
        kept = [d for d in p.found if score(d, p.scores) >= threshold]
        small = p.graph.prune(p.scores, threshold)
        assert small.edges.tolist() == sorted({edge for d in kept for edge in d}), p
        scores = p.scores[small.edges]
        all_of_it = small.graph.decode(scores, k=small.graph.count() + 1)
        mapped = {tuple(small.edges[d].tolist()) for d in all_of_it.values}
        assert set(kept) <= mapped <= set(p.found)
        assert [h for h, _ in p.forest.edges] == p.graph.heads.tolist()
        assert small.nodes[small.graph.heads].tolist() == p.graph.heads[small.edges].tolist()
        with pytest.raises(certus.InvalidInput, match="above the best score"):
            p.graph.prune(p.scores, ranked[0] + 1)
    tally.append(PROBLEMS)


@pytest.mark.parametrize("seed", SEEDS)
def test_pruning_is_safe_where_sums_are_rounded(seed: int) -> None:
    for p in problems(seed, whole=False):
        for d in p.found[:20]:
            small = p.graph.prune(p.scores, score(d, p.scores))
            assert set(d) <= set(small.edges.tolist()), (p, d)


def test_samples_have_the_right_frequencies() -> None:
    rng = np.random.default_rng(5)
    p = next(q for q in iter(lambda: draw(rng, whole=False), None) if 5 <= len(q.found) <= 12)
    n = 20000
    drawn = p.graph.sample(p.scores, n, seed=3)
    log_z = p.graph.log_partition(p.scores)
    seen = {d: 0 for d in p.found}
    for edges in drawn:
        seen[tuple(edges.tolist())] += 1
    for d, times in seen.items():
        probability = np.exp(score(d, p.scores) - log_z)
        assert abs(times / n - probability) < 5 * np.sqrt(probability / n) + 1e-4
    again = p.graph.sample(p.scores, n, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(drawn, again, strict=True))
