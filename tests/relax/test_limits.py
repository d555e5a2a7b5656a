"""How large scores may be, and structures that a part cannot give back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import certus
from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph
from certus.relax import Decomposition, FactorGraph, Part, PartFailed
from certus.relax.parts import (
    Budget,
    ChainPart,
    ExactlyOne,
    HeadAutomata,
    Matching,
    TablePart,
    TreePart,
)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: ExactlyOne([0.0, x]),
        lambda x: Budget([x, 0.0], 1),
        lambda x: TablePart([[0.0, x], [0.0, 0.0]]),
        lambda x: TreePart([[0.0, 0.0, x], [0.0, 0.0, 0.0]]),
        lambda x: HeadAutomata(np.zeros((1, 2)), np.full((2, 3, 2), x)),
        lambda x: Matching([[0.0, x]]),
        lambda x: ChainPart(certus.Chain(np.zeros((2, 2))), [[0.0, x]]),
        lambda x: ChainPart(certus.Chain([[0.0, x], [0.0, 0.0]]), np.zeros((3, 2))),
        lambda x: ChainPart(
            certus.Chain(certus.SparseTransitions(2, [0], [1], [x], default=0.0)), np.zeros((3, 2))
        ),
    ],
)
def test_scores_have_one_limit_chosen_or_not(make: Callable[[float], Part]) -> None:
    """Beyond 2^900 they are refused where they are given, of either sign; up to there they are taken."""
    for large in (1e272, -1e272):
        with pytest.raises(InvalidInput, match=r"up to 8.45e\+270 here"):
            make(large)
    for fine in (1e270, -1e270, -np.inf):
        make(fine)


def test_factor_graphs_have_the_same_limit() -> None:
    for large in (1e272, -1e272):
        graph = FactorGraph()
        graph.add_variable([0.0, large])
        with pytest.raises(InvalidInput, match=r"more than 8.45e\+270"):
            graph.solve()
    graph = FactorGraph()
    graph.add_variable([0.0, -1e270])
    assert graph.solve().score == 0


def test_a_derivation_that_uses_a_cell_twice_ends_the_search_with_what_was_found() -> None:
    """A native part says which cell its structure uses twice, as no 0/1 indicator could."""
    graph = Hypergraph(
        [0, 1, 2, 2], [0, 0, 0, 2, 4], [0, 1, 0, 0], 2
    )  # the goal over both nodes, or one twice
    space = (2,), np.array([0, 1]), np.array([0, 1])
    for twice, wanted in ((0.0, False), (3.0, True)):
        d = Decomposition()
        forest = d.add(graph.part(np.array([0.0, 0.0, 1.0, twice]), {"cells": space}), "forest")
        budget = d.add(Budget([0.0, 0.0], 2))
        d.agree((forest, "cells"), (budget, "cells"))
        if wanted:
            with pytest.raises(PartFailed, match=r"forest: .*twice") as caught:
                d.solve()
            assert caught.value.solution is not None
        else:
            assert d.solve().score == 1
