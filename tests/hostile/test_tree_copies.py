"""Copies of grammars, forests and trees answer as these do; pictures are what their names say."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph
from certus.models.parser import ConstituencyParser
from certus.solution import KBest, Solution
from certus.syntax import Grammar, Tree
from tests.syntax import chunk_trees

WAYS: list[Callable[[object], object]] = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
WORDS = ["x", "x", "y"]


def make_grammar() -> Grammar:
    words = {"@A": {"x": -1.0}, "B^c": {"x": -2.0, "y": 0.0}}
    binary = [("S", "@A", "rest", 0.0), ("rest", "@A", "B^c", -1.0), ("rest", "B^c", "B^c", -2.0)]
    return Grammar.of_rules(binary, [("S", "rest", -3.0)], words, start="S", hidden={"rest"})


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_grammars_and_what_they_return(way: Callable[[object], object]) -> None:
    fitted = Grammar.fit(chunk_trees.trees(30, 1))
    for grammar, words in ((make_grammar(), WORDS), (fitted, ["lo", "ka"])):
        other = way(grammar)
        assert isinstance(other, Grammar)
        wanted = grammar.parse(words, k=4, infeasible="return")
        found = other.parse(words, k=4, infeasible="return")
        assert [str(one.value) for one in found] == [str(one.value) for one in wanted]
        assert found.scores.tolist() == wanted.scores.tolist()
        again = way(wanted)
        assert isinstance(again, KBest)
        assert [str(one.value) for one in again] == [str(one.value) for one in wanted]


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_forests(way: Callable[[object], object]) -> None:
    forest = make_grammar().forest(WORDS)
    other = way(forest)
    assert isinstance(other, type(forest))
    best, same = forest.graph.decode(forest.scores), other.graph.decode(other.scores)
    assert best.score == same.score
    assert str(other.tree(same.value)) == str(forest.tree(best.value)) == "(S (@A x) (@A x) (B^c y))"
    solution = way(best)
    assert isinstance(solution, Solution)
    assert (solution.score, solution.status, solution.stats) == (best.score, best.status, best.stats)


def parse(parser: ConstituencyParser) -> Solution[Tree]:
    return parser.parse(["lo", "ka"], cover=True)


def test_parsers_in_processes_that_share_nothing() -> None:
    parser = ConstituencyParser().fit(chunk_trees.trees(30, 1))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map(parse, [parser])
    wanted = parse(parser)
    assert (found.value, found.score, found.status) == (wanted.value, wanted.score, wanted.status)


def test_pictures_are_what_their_names_say(tmp_path: Path) -> None:
    graph = Hypergraph([0, 1], [0, 0, 1], [0], 1)
    for name, begin in (("g.svg", "<svg"), ("g.dot", "digraph"), ("g.gv", "digraph"), ("G.SVG", "<svg")):
        graph.draw(tmp_path / name, scores=np.zeros(2))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)
    for name in ("g.png", "g.pdf", "g"):
        with pytest.raises(InvalidInput, match=r"pictures are \.svg, or \.dot and \.gv"):
            graph.draw(tmp_path / name)
        assert not (tmp_path / name).exists()
