"""Joint parsing calls an answer optimal only where nothing in the whole model scores more."""

from __future__ import annotations

import numpy as np
import pytest

from certus import Status
from certus.syntax.joint import parsing
from tests.syntax.joint_problems import best, toy
from tests.syntax.test_joint import assert_is, parser_of


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


def test_lattices_that_lack_all_trees_prove_nothing_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lattice of all tags would be too large, the grammar's best tree is the answer, bounded."""
    monkeypatch.setattr(parsing, "BEARABLE", 0)
    monkeypatch.setattr(parsing, "LOOSER", (0.0,))
    bounded = 0
    for seed in range(400):
        given, weight = toy(seed, pruned=True), 1 + seed % 2
        parser = parser_of(given, weight=weight)
        if parser is None:
            continue
        found, optimum = parser.parse(given.sentence, infeasible="return"), best(given, weight)
        assert (found.status is Status.INFEASIBLE) == (optimum == -np.inf)
        assert found.score <= optimum <= found.bound < np.inf
        if found.status is Status.INFEASIBLE or found.lattice_optimal:
            continue
        bounded += 1
        assert_is(found, given, weight)
        assert found.pruning is None
        assert not found.optimal or found.score == optimum
        assert "proven: no tree with tags scores more" in found.claim
    assert bounded > 5
