"""The intersected dynamic program and the integer program equal brute force; the linear one bounds it."""

from __future__ import annotations

import numpy as np
import pytest

from certus.syntax.joint.parsing import JointParser
from certus_bench.joint_arrays import JointArrays, Pair, write_arrays
from certus_bench.joint_program import solve_program
from tests.reference import intersected
from tests.syntax.joint_problems import Toy, best, toy, trees


def packed(given: Toy, weight: float = 1.0) -> JointArrays | None:
    """The problem as arrays; None where the models have no tag in common."""
    grammar = given.grammar()
    if not set(grammar.tags) & set(given.tagger.labels):
        return None
    parser = JointParser(grammar, given.tagger, weight=weight)  # type: ignore[arg-type]
    return write_arrays(next(parser.problems(given.sentence)))


def assert_pair(pair: Pair, given: JointArrays, wanted: float) -> None:
    """The edges are a tree, and its words have the tags of the pair."""
    assert pair.score == pytest.approx(wanted, abs=1e-6)
    forest = given.forest
    heads = set(forest.head[pair.edges].tolist())
    used = {0, *forest.left[pair.edges].tolist(), *forest.right[pair.edges].tolist()} - {-1}
    assert len(heads) == len(pair.edges)
    leaves = used - heads
    words = [n for n, node in enumerate(forest.word) if node in leaves]
    assert len(words) == len(leaves) == given.length
    assert [pair.tags[forest.position[n]] for n in words] == forest.tag[words].tolist()


@pytest.mark.parametrize("block", range(10))
def test_the_intersected_program_equals_brute_force(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        given, weight = toy(seed), 1 + seed % 2
        problem, wanted = packed(given, weight), best(given, weight)
        if problem is None:
            continue
        pair = intersected.solve(problem)
        if wanted == -np.inf:
            assert pair is None
            continue
        assert pair is not None
        assert pair.score == wanted
        assert_pair(pair, problem, wanted)
        names = problem.tags
        tags = tuple(int(names[tag][1:]) for tag in pair.tags)
        assert trees(given)[tags] + weight * given.sequences[tags] == wanted


@pytest.mark.parametrize("seed", range(50))
def test_highs_equals_brute_force(seed: int) -> None:
    given = toy(seed)
    problem, wanted = packed(given), best(given)
    if problem is None:
        return
    whole = solve_program(problem, integer=True)
    relaxed = solve_program(problem, integer=False)
    if wanted == -np.inf:
        assert whole is None
        return
    assert whole is not None
    assert relaxed is not None
    assert whole.pair is not None
    assert_pair(whole.pair, problem, wanted)
    assert relaxed.score >= wanted - 1e-6
    if relaxed.pair is not None:
        assert_pair(relaxed.pair, problem, wanted)
