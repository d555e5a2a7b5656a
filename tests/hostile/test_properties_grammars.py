"""Grammars over the whole range of floats: every answer is held against exact sums of all derivations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certus import InvalidInput, Status
from certus.syntax import Grammar, Tree
from tests.hostile.exact import Exact, Terms, as_units, describe_terms
from tests.hostile.strategies import Draw, draw_values
from tests.reference.syntax import chains, derivations, tree_scores

DOUBLE = np.dtype(np.float64)
LARGEST = 1e30  # what a grammar takes
WORDS = ("x", "y")
MOST = 2000  # derivations of a problem


@dataclass(frozen=True)
class Problem:
    """Rules with their scores, and a sentence."""

    binary: dict[tuple[str, str, str], float]
    unary: dict[tuple[str, str], float]
    words: dict[tuple[str, str], float]
    sentence: tuple[str, ...]

    @property
    def rules(self) -> dict[tuple[str, ...], float]:
        every = chain(self.binary.items(), self.unary.items(), self.words.items())
        return {tuple(rule): score for rule, score in every}

    def make_grammar(self) -> Grammar:
        lexicon: dict[str, dict[str, float]] = {}
        for (tag, word), score in self.words.items():
            lexicon.setdefault(tag, {})[word] = score
        return Grammar.of_rules(
            [(*rule, score) for rule, score in self.binary.items()],
            [(*rule, score) for rule, score in self.unary.items()],
            lexicon,
            start="A",
        )

    def describe(self) -> Terms:
        """A derivation has fewer terms than words, branches and the longest chains above each of them."""
        terms = describe_terms([np.array([0.0, *self.rules.values()])])
        return Terms(self.count_terms() * terms.magnitude, terms.grain)

    def count_terms(self) -> int:
        return (2 * len(self.sentence) - 1) * (1 + len({s for rule in self.unary for s in rule}))

    def measure_cycles(self) -> int:
        """Return the best score of a cycle of unary rules, in units; far below any where there is none."""
        nothing = -(2**5000)
        best = chains([(*rule, as_units(score)) for rule, score in self.unary.items()])
        closed = [
            as_units(score) + (0 if child == parent else int(best.get((child, parent), nothing)))
            for (parent, child), score in self.unary.items()
        ]
        return max(closed, default=nothing)

    def list_sums(self) -> list[int]:
        """The exact scores of all derivations, best first."""
        units = {rule: as_units(score) for rule, score in self.rules.items()}
        lexicon: dict[str, dict[str, int]] = {}
        for tag, word in self.words:
            lexicon.setdefault(tag, {})[word] = units[tag, word]
        found = derivations(
            [(*rule, units[rule]) for rule in self.binary],
            [(*rule, units[rule]) for rule in self.unary],
            lexicon,
            self.sentence,
            "A",
        )
        return sorted((int(score) for score, _ in found), reverse=True)

    def score_exactly(self, tree: Tree) -> int:
        """Add up the rules of a tree; KeyError where one of them is none of the grammar's."""
        return sum(as_units(self.rules[used]) for used in tree_scores(tree))


@st.composite
def draw_problem(draw: Draw) -> Problem:
    symbols = draw(st.sampled_from([("A",), ("A", "B"), ("A", "B", "C"), ("A", "B", "@C")]))
    values = [x for x in draw(draw_values(DOUBLE)) if abs(x) <= LARGEST] or [0.0, -1e30, 1e-300]
    score, symbol = st.sampled_from(values), st.sampled_from(symbols)
    binary = draw(st.dictionaries(st.tuples(symbol, symbol, symbol), score, max_size=4))
    unary = draw(st.dictionaries(st.tuples(symbol, symbol), score, max_size=3))
    words = draw(st.dictionaries(st.tuples(symbol, st.sampled_from(WORDS)), score, min_size=1, max_size=4))
    sentence = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
    return Problem(binary, unary, words, tuple(sentence))


def check_tree(problem: Problem, tree: Tree, score: float, right: int, exact: Exact) -> None:
    """A tree has the words of the sentence and rules of the grammar, which add up to what they should."""
    told = f"{tree} {score}\n{problem}"
    assert tuple(tree.words) == problem.sentence, told
    total = problem.score_exactly(tree)
    assert abs(total - right) <= exact.rounding, told
    assert abs(as_units(score) - total) <= exact.rounding, told


def check_answers(problem: Problem, compared: dict[str, int]) -> None:
    exact = Exact({}, problem.describe(), 2 * problem.count_terms())
    compared["examples"] += 1
    try:
        grammar = problem.make_grammar()
    except InvalidInput as error:
        if problem.measure_cycles() < -exact.rounding and "@" not in str(error):
            exact.check_refusal(error, problem)
        compared["refused"] += 1
        return
    assert problem.measure_cycles() <= exact.rounding, f"a cycle pays, but the grammar is taken: {problem}"
    sums = problem.list_sums()
    if len(sums) > MOST:
        return
    best = grammar.parse(problem.sentence, infeasible="return")
    several = grammar.parse(problem.sentence, k=7, infeasible="return")
    compared["answers"] += 2
    if not sums:
        assert best.status is Status.INFEASIBLE, f"{best!r}\n{problem}"
        assert len(several) == 0
        compared["infeasible"] += 2
        return
    assert best.optimal, f"{best!r}\n{problem}"
    assert best.score == best.bound
    assert len(several) == min(7, len(sums)), f"{several!r}\n{problem}"
    assert several.scores.tolist() == sorted(several.scores.tolist(), reverse=True)
    assert len({str(one.value) for one in several}) == len(several), f"{several!r}\n{problem}"
    assert best.value is not None
    check_tree(problem, best.value, best.score, sums[0], exact)
    for one, right in zip(several, sums, strict=False):
        check_tree(problem, one.value, one.score, right, exact)
    compared["proven"] += 2


def test_trees_over_all_floats(compared: dict[str, int]) -> None:
    @given(draw_problem())
    def check(problem: Problem) -> None:
        check_answers(problem, compared)

    check()
