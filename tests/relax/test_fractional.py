"""The fractional examples of the papers: seen as gaps, and closed by tightening or by branching."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from certus.relax import Auto, Decomposition, Inconsistent, JointSolution, Optimizer, Subgradient
from certus.solution import Status
from tests.reference.relax import ListedPart

A, B, C = range(3)


def sequences(tags: list[tuple[int, ...]], labels: int, scores: list[float]) -> ListedPart:
    """A part over tag sequences that shows its tags, and its bigrams in reserve."""
    length = len(tags[0])
    single = np.zeros((len(tags), length, labels), np.int8)
    pairs = np.zeros((len(tags), length - 1, labels, labels), np.int8)
    for n, row in enumerate(tags):
        for t, tag in enumerate(row):
            single[n, t, tag] = 1
        for t, pair in enumerate(itertools.pairwise(row)):
            pairs[(n, t, *pair)] = 1
    return ListedPart(scores, {"tags": single, "bigrams": pairs})


def rush2010() -> tuple[ListedPart, ListedPart, float, float]:
    """Appendix A: the best mixtures agree in expectation at 0, but no parse and tag sequence do."""
    every = list(itertools.product((A, B), repeat=3))
    tagger = [0.0 if tags in ((A, A, A), (A, B, B)) else -1.0 for tags in every]
    parser = [0.0 if tags in ((A, A, B), (A, B, A)) else -1.0 for tags in every]
    return sequences(every, 2, tagger), sequences(every, 2, parser), -1.0, 0.0


def tutorial() -> tuple[ListedPart, ListedPart, float, float]:
    """Rush & Collins (2011), section 5: three parses, three tag sequences."""
    trees = sequences([(A, A), (B, B), (C, C)], 3, [1.0, 1.0, 2.0])
    tags = sequences([(A, B), (B, A), (C, C)], 3, [1.0, 1.0, -2.0])
    return trees, tags, 0.0, 2.0


def solve(
    example: tuple[ListedPart, ListedPart, float, float], reserve: bool, **options: object
) -> JointSolution:
    one, two, *_ = example
    d = Decomposition()
    a, b = d.add(one), d.add(two)
    d.agree((a, "tags"), (b, "tags"))
    if reserve:
        d.agree_lazily((a, "bigrams"), (b, "bigrams"))
    return d.solve(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("optimizer", [Auto(), Subgradient(rule="inverse")], ids=["auto", "subgradient"])
@pytest.mark.parametrize("example", [rush2010(), tutorial()], ids=["rush2010", "tutorial"])
class TestFractional:
    def test_the_relaxation_has_a_gap(
        self, example: tuple[ListedPart, ListedPart, float, float], optimizer: Optimizer
    ) -> None:
        s = solve(example, False, max_nodes=1, max_iterations=300, tighten=False, optimizer=optimizer)
        _, _, optimum, relaxed = example
        assert s.status in (Status.NODES, Status.ITERATIONS)
        assert s.score == optimum  # found, but not proven
        assert s.bound == pytest.approx(relaxed, abs=2e-3)
        assert s.bound >= relaxed  # no multipliers do better
        average = np.concatenate([arrays["tags"] for arrays in s.average.values()])
        assert ((average > 0.1) & (average < 0.9)).any()

    def test_reserves_close_it_without_branching(
        self, example: tuple[ListedPart, ListedPart, float, float], optimizer: Optimizer
    ) -> None:
        s = solve(example, True, max_nodes=1, optimizer=optimizer, integral=True)
        assert s.optimal
        assert s.score == s.bound == example[2]
        assert s.stats["nodes"] == 1
        assert 0 < s.stats["tightened"] < np.prod(example[0].spaces["bigrams"])  # only where it is loose

    def test_branching_closes_it(
        self, example: tuple[ListedPart, ListedPart, float, float], optimizer: Optimizer
    ) -> None:
        s = solve(example, False, tighten=False, optimizer=optimizer)
        assert s.optimal
        assert s.score == s.bound == example[2]
        assert s.stats["nodes"] > 1


def test_reserves_are_not_adjusted_before_they_are_needed() -> None:
    asked: list[set[str]] = []

    class Watched(ListedPart):
        def maximize(self, adjust):  # type: ignore[no-untyped-def]
            asked.append(set(adjust))
            return super().maximize(adjust)

    one, two, *rest = rush2010()
    example = (Watched(one.scores, one.indicators), two, *rest)
    assert solve(example, True).optimal  # type: ignore[arg-type]
    assert asked[0] == {"tags"}
    assert {"tags", "bigrams"} in asked


def test_reserves_have_to_follow() -> None:
    one, two, *_ = rush2010()
    wrong: NDArray[np.int8] = two.indicators["bigrams"][::-1].copy()
    two = ListedPart(two.scores, {"tags": two.indicators["tags"], "bigrams": wrong})
    with pytest.raises(Inconsistent, match="follow from the agreement"):
        solve((one, two, 0, 0), True, optimizer=Subgradient())
