"""Thousands of random joint problems against enumeration, for every optimiser and step rule."""

from __future__ import annotations

import os

import numpy as np
import pytest

from certus.relax import Auto, Bundle, Descent, NoAgreement, Optimizer, Subgradient
from certus.solution import Status
from tests.reference.relax import MarginalPart
from tests.relax.problems import MAKERS, Joint, same_space

PROBLEMS = min(int(os.environ.get("CERTUS_PROBLEMS", 200)), 200)
OPTIMIZERS: list[Optimizer] = [
    Auto(),
    Bundle(),
    Bundle(level=0.5, margin=0.0, columns=4),
    *(Subgradient(rule=rule) for rule in ("halving", "inverse", "decay", "polyak")),
    Subgradient(rule="polyak", step=1.5),
]


def check(joint: Joint, optimizer: Optimizer, **options: object) -> int:
    """The certified answer is the optimum, and every bound on the way is at least it."""
    optimum = joint.optimum
    d, handles = joint.decomposition()
    s = d.solve(optimizer=optimizer, infeasible="return", **options)  # type: ignore[arg-type]
    if optimum == -np.inf:
        assert s.status is Status.INFEASIBLE
        assert not s.value
        return 0
    assert s.optimal
    assert s.score == s.bound == optimum
    assert min(s.trace.dual) >= optimum
    assert min(s.trace.bound) >= optimum
    assert max(s.trace.best) == optimum
    assert sum(w * s.scores[h] for w, h in zip(joint.weights, handles, strict=True)) == optimum
    chosen = [s.value[h] for h in handles]
    assert all(
        len(
            {tuple(joint.parts[p].indicators[name][chosen[p]].reshape(-1)[cells]) for p, name, cells in sides}
        )
        == 1
        for sides in joint.agreements
    )
    return int(s.stats["iterations"])


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_certified_is_best(optimizer: Optimizer, maker: type) -> None:
    rng = np.random.default_rng(1)
    worked = sum(check(maker(rng), optimizer) > 1 for _ in range(PROBLEMS // 2))
    assert worked > PROBLEMS // 10  # not all problems are trivial


def test_descent_where_all_parts_have_max_marginals() -> None:
    rng = np.random.default_rng(2)
    for _ in range(PROBLEMS // 2):
        joint = same_space(rng)
        joint.parts = [MarginalPart(part.scores, part.indicators) for part in joint.parts]
        check(joint, Descent())


def test_without_tightening_branching_does_it_alone() -> None:
    rng = np.random.default_rng(3)
    for _ in range(PROBLEMS):
        check(same_space(rng), Auto(), tighten=False)


def test_whole_numbers_close_gaps() -> None:
    rng = np.random.default_rng(4)
    iterations = {False: 0, True: 0}
    for _ in range(PROBLEMS // 4):
        joint = same_space(rng)
        joint.weights = [1.0] * len(joint.parts)
        for whole in iterations:
            iterations[whole] += check(joint, Subgradient(), integral=whole)
    assert iterations[True] < iterations[False]


def test_real_numbers_are_exact_but_for_rounding() -> None:
    rng = np.random.default_rng(5)
    for _ in range(PROBLEMS):
        joint = same_space(rng)
        for part in joint.parts:
            part.scores = rng.normal(0, 10.0 ** rng.integers(-6, 7), len(part.scores))
        optimum = joint.optimum
        s = joint.decomposition()[0].solve(infeasible="return")
        if optimum == -np.inf:
            assert s.status is Status.INFEASIBLE
            continue
        assert s.optimal
        slack = 1e-12 * sum(np.abs(part.scores).max() for part in joint.parts) * max(joint.weights)
        assert s.score == pytest.approx(optimum, abs=slack)
        assert min(s.trace.dual) >= optimum - slack


@pytest.mark.parametrize(
    "limit", [{"max_iterations": 2}, {"max_nodes": 1}, {"max_iterations": 3, "max_nodes": 2}]
)
def test_what_a_limit_leaves_is_honest(limit: dict[str, int]) -> None:
    rng = np.random.default_rng(6)
    ended = set()
    for _ in range(PROBLEMS):
        joint = same_space(rng)
        optimum = joint.optimum
        s = joint.decomposition()[0].solve(infeasible="return", **limit)  # type: ignore[arg-type]
        ended.add(s.status)
        assert s.score <= optimum <= s.bound or s.status is Status.INFEASIBLE
        assert s.stats["iterations"] <= limit.get("max_iterations", 1000)
        assert s.stats["nodes"] <= limit.get("max_nodes", 1000)
        if s.optimal:
            assert s.score == optimum
        if s.status in (Status.ITERATIONS, Status.NODES):
            assert s.limit == s.status.value
    assert (Status.ITERATIONS if "max_iterations" in limit else Status.NODES) in ended


def test_infeasible_is_an_error_of_its_own() -> None:
    one, two = np.zeros((2, 1, 2, 2), np.int8)
    one[0, 0, 0], two[0, 0, 1] = 1, 1
    one[0, 1, 0], two[0, 1, 1] = 1, 1
    d, _ = Joint(
        [MarginalPart([1.0], {"t": one}), MarginalPart([1.0], {"t": two})],
        [[(0, "t", np.arange(4)), (1, "t", np.arange(4))]],
        [1.0, 1.0],
    ).decomposition()
    with pytest.raises(NoAgreement, match="agree on every shared cell") as caught:
        d.solve()
    assert caught.value.solution is not None
    assert caught.value.solution.status is Status.INFEASIBLE
    assert caught.value.solution.score == -np.inf
