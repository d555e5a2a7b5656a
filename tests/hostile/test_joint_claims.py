"""Joint parsing calls an answer optimal only where nothing in the whole model scores more."""

from __future__ import annotations

from certus import Status
from tests.syntax.joint_problems import best, toy
from tests.syntax.test_joint import parser_of


def test_what_a_pruned_lattice_proves_is_not_claimed_of_the_whole_model() -> None:
    beaten = 0
    for seed in range(150):
        given = toy(seed, pruned=True)
        parser = parser_of(given)
        if parser is None:
            continue
        found, optimum = parser.parse(given.sentence, infeasible="return"), best(given)
        assert found.bound >= optimum
        if found.tree is None:
            continue
        assert found.lattice_optimal
        assert found.score == found.lattice_bound
        if found.optimal:
            assert found.score == found.bound == optimum
        else:
            assert found.status is Status.FEASIBLE
        beaten += found.score < optimum
    assert beaten


def test_without_pruning_the_whole_model_is_proven() -> None:
    for seed in range(60):
        given = toy(seed, pruned=True)
        parser = parser_of(given, pruning=0.0)
        found = None if parser is None else parser.parse(given.sentence, infeasible="return")
        if found is not None and found.tree is not None:
            assert found.optimal
            assert found.score == found.bound == best(given)
