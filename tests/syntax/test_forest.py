"""The hypergraph of a sentence: what it says of derivations is what the grammar says of trees."""

from __future__ import annotations

import os

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.hypergraph import NoDerivation
from certus.syntax import Grammar, ParseForest
from tests.reference.syntax import Derivation, derivations
from tests.syntax import invented_trees
from tests.syntax.grammars import draw

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "3000"))


@pytest.mark.parametrize("seed", range(4))
def test_questions_are_answered_as_by_enumeration(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(200 + seed)
    equal = 0
    for _ in range(PROBLEMS // 16):
        problem = draw(rng)
        every = derivations(problem.binary, problem.unary, problem.words, problem.sentence, "A")
        scores = sorted((score for score, _ in every), reverse=True)
        forest = problem.grammar.forest(problem.sentence)
        graph = forest.graph
        assert graph.count() == len(scores)
        if not scores:
            assert graph.edges == 0
            with pytest.raises(NoDerivation):
                graph.decode(forest.scores)
            continue
        best, parsed = graph.decode(forest.scores), problem.grammar.parse(problem.sentence)
        assert best.score == parsed.score == scores[0]
        assert forest.tree(best.value) == parsed.value
        several = graph.decode(forest.scores, k=7)
        assert several.scores.tolist() == scores[:7]
        trees = problem.grammar.parse(problem.sentence, k=7)
        assert {
            str(forest.tree(one.value)) for one in several if one.score > scores[min(6, len(scores) - 1)]
        } == {str(one.value) for one in trees if one.score > scores[min(6, len(scores) - 1)]}
        assert graph.log_partition(forest.scores) == pytest.approx(np.logaddexp.reduce(scores))
        _check_tags(problem.grammar, forest, every)
        equal += 1
    assert equal > PROBLEMS // 80
    tally.append(equal)


def _check_tags(grammar: Grammar, forest: ParseForest, every: list[Derivation]) -> None:
    """The marginals and max-marginals of the edges over words are those of tags, summed one by one."""
    graph = forest.graph
    average, most = graph.marginals(forest.scores), graph.max_marginals(forest.scores)
    partition = np.logaddexp.reduce([score for score, _ in every])
    for edge in np.flatnonzero(np.diff(graph.offsets) == 0).tolist():
        node = int(graph.heads[edge])
        position, name = int(forest.begin[node]), grammar.symbols[int(forest.symbols[node])]
        assert forest.end[node] == position + 1
        with_tag = [score for score, tags in every if tags[position] == name]
        assert most.edges[edge] == max(with_tag)
        chance = np.exp(np.logaddexp.reduce(with_tag) - partition)
        assert average.edges[edge] == pytest.approx(chance)


def test_a_threshold_keeps_the_trees_that_reach_it() -> None:
    grammar = Grammar.fit(invented_trees.prepared_trees(100), vertical=1, splits=())
    words = max((tree.words for tree in invented_trees.prepared_trees(40, seed=3)), key=len)
    whole = grammar.forest(words)
    best = grammar.parse(words).score
    close = grammar.forest(words, at_least=best - 1)
    assert close.graph.edges < whole.graph.edges
    expected = [score for score in whole.graph.decode(whole.scores, k=50).scores if score >= best - 1]
    found = close.graph.decode(close.scores, k=50).scores[: len(expected)]
    assert found.tolist() == pytest.approx(expected)
    assert whole.graph.prune(whole.scores).graph.edges == whole.graph.edges


def test_tags_that_are_not_allowed_are_not_there() -> None:
    words = {"B": {"x": 0.0}, "C": {"x": 1.0}}
    grammar = Grammar.of_rules([("A", "A", "A", 0.0)], [("A", "B", 0.0), ("A", "C", 0.0)], words, start="A")
    allowed = np.array([[True, True], [True, False]])
    forest = grammar.forest(["x", "x"], allowed=allowed)
    assert forest.graph.count() == 2
    assert str(forest.tree(forest.graph.decode(forest.scores).value)) == "(A (A (C x)) (A (B x)))"
    with pytest.raises(InvalidInput, match="not a derivation"):
        forest.tree([0, 0])
