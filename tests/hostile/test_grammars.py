"""Grammars whose scores and names are as awkward as they may be: the best tree is still the best."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.syntax import Grammar, Tree, binarize
from certus.syntax.constituency.lexicon import Leaves
from certus.syntax.constituency.pcfg import GrammarOptions
from tests.reference.syntax import derivations, has_positive_cycle, tree_scores

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "3000"))
MAGNITUDES = (5e-324, 1e-300, 1e-45, 1.1e-16, 1e-8, 0.1, 1.0, 3.0, 1e8, 1e16, 1e23, 4e29)
SYMBOLS = ("A", "B", "C")


class Problem:
    """A random grammar with scores of one to three magnitudes, and a sentence."""

    def __init__(self, rng: np.random.Generator) -> None:
        sizes = [0.0, *rng.choice(MAGNITUDES, int(rng.integers(1, 4)))]

        def name() -> str:
            return str(rng.choice(SYMBOLS))

        def score() -> float:
            return float(rng.choice(sizes) * rng.choice([-1, 1, -2, 2, -0.5]))

        binary = {(name(), name(), name()): score() for _ in range(rng.integers(0, 5))}
        self.binary = [(*rule, x) for rule, x in binary.items()]
        self.unary: list[tuple[str, str, float]] = []
        for rule, x in {(name(), name()): score() for _ in range(rng.integers(0, 5))}.items():
            if not has_positive_cycle(make_exact([*self.unary, (*rule, x)])):
                self.unary.append((*rule, x))
        self.words = {s: {w: score() for w in "xy" if rng.random() < 0.7} for s in SYMBOLS}
        self.sentence: list[str] = rng.choice(["x", "y"], int(rng.integers(1, 5))).tolist()
        self.grammar = Grammar.of_rules(self.binary, self.unary, self.words, start="A")

    def enumerate(self) -> list[Any]:
        """Return the scores of all derivations, exactly, the best first."""
        words: Any = {s: {w: Fraction(x) for w, x in found.items()} for s, found in self.words.items()}
        every = derivations(make_exact(self.binary), make_exact(self.unary), words, self.sentence, "A")
        return sorted((score for score, _ in every), reverse=True)

    def score(self, tree: Tree) -> Fraction:
        """Return the score of a tree, exactly."""
        rules: dict[tuple[str, ...], float] = {rule[:-1]: rule[-1] for rule in self.binary}
        rules |= {rule[:-1]: rule[-1] for rule in self.unary}
        rules |= {(tag, word): x for tag, words in self.words.items() for word, x in words.items()}
        return sum((Fraction(rules[used]) for used in tree_scores(tree)), Fraction(0))

    @property
    def rounding(self) -> Fraction:
        """What sums of doubles may be off: a share of all scores that a derivation adds up."""
        scores = [x for *_, x in self.binary] + [x for *_, x in self.unary]
        scores += [x for words in self.words.values() for x in words.values()]
        terms = 6 * len(self.sentence)
        return Fraction(terms**2 * max((abs(x) for x in scores), default=0.0)) / 2**53


def make_exact(rules: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [(*rule[:-1], Fraction(rule[-1])) for rule in rules]


@pytest.mark.parametrize("seed", range(8))
def test_scores_of_all_magnitudes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS // 4):
        problem = Problem(rng)
        scores = problem.enumerate()
        found = problem.grammar.parse(problem.sentence, k=4, infeasible="return")
        assert len(found) == min(len(scores), 4)
        for one, score in zip(found, scores, strict=False):
            assert abs(problem.score(one.value) - score) <= problem.rounding
            assert abs(Fraction(one.score) - score) <= problem.rounding
        if scores:
            best = problem.grammar.parse(problem.sentence)
            assert best.optimal
            assert abs(problem.score(best.value) - scores[0]) <= problem.rounding
            forest = problem.grammar.forest(problem.sentence)
            assert forest.graph.count(forest.scores) == len(scores)
            choice = problem.grammar.part(problem.sentence).maximize({})
            assert abs(Fraction(choice.score) - scores[0]) <= problem.rounding


def test_a_unary_score_that_is_lost_in_rounding() -> None:
    words = {"A": {"z": -5.0}}
    for score in (-1.1e-16, -1e-300, -5e-324, 1.1e-16):
        grammar = Grammar.of_rules([], [("S", "A", score)], words, start="S")
        assert str(grammar.parse(["z"]).value) == "(S (A z))"
        assert len(grammar.parse(["z"], k=3)) == 1
        assert grammar.forest(["z"], at_least=-5.0).graph.count(np.array([-5.0, score])) == 1


def test_a_chain_does_not_go_in_circles_where_rounded_sums_rise() -> None:
    rules = [("A", "C", 1e16 + 2), ("B", "A", 1.0), ("A", "B", -1.0)]
    grammar = Grammar.of_rules([], rules, {"C": {"c": 0.0}}, start="A")
    assert str(grammar.parse(["c"]).value) == "(A (C c))"


def test_a_positive_cycle_is_found_where_rounded_sums_lose_it() -> None:
    rules = [("A", "B", 1e17), ("B", "C", 1.0), ("C", "A", -1e17)]
    with pytest.raises(InvalidInput, match="cycle"):
        Grammar.of_rules([], rules, {"C": {"c": 0.0}}, start="A")


def test_long_chains_of_unary_rules() -> None:
    names = [f"N{n:05}" for n in range(3000)]
    rules = [(a, b, -1.0) for a, b in pairwise(names)]
    grammar = Grammar.of_rules([], rules, {names[-1]: {"x": 0.0}}, start=names[0])
    assert len(list(grammar.parse(["x"]).value.nodes())) == 3000


@pytest.mark.parametrize("name", ["@d", "@", "d^x", "^", "\\d", "a|b", "<d>", "d_"])
def test_names_that_look_like_helpers_are_names(name: str) -> None:
    words = {"N": {"dog": -1.0, "the": -2.0}, name: {"the": -1.0}}
    grammar = Grammar.of_rules([("S", "N", name, 0.0)], [("S", "N", 0.0)], words, start="S")
    assert grammar.tags == sorted(["N", name])
    assert str(grammar.parse(["dog", "the"]).value) == f"(S (N dog) ({name} the))"
    assert grammar.parse(["dog"]).value.tags == ["N"]


@pytest.mark.parametrize("name", ["@d", "@", "d^x", "^", "\\d", "a|b", "<d>", "d_", "@S|N"])
def test_treebanks_with_names_that_look_like_helpers(name: str) -> None:
    tree = Tree.parse(f"(TOP ({name} (N dog) ({name} the) ({name} (N cat) (N man)) (N end)))")
    for direction in ("head", "left", "right"):
        grammar = Grammar.fit([tree], direction=direction, min_hidden=1)
        assert grammar.parse(tree.words).value == tree
        assert grammar.parse(tree.words, k=3)[0].value == tree


def test_symbols_that_trees_leave_out() -> None:
    words = {"N": {"a": 0.0}}
    rules = [("S", "N", "rest", 0.0), ("rest", "N", "N", 0.0)]
    grammar = Grammar.of_rules(rules, [], words, start="S", hidden={"rest"})
    assert str(grammar.parse(["a", "a", "a"]).value) == "(S (N a) (N a) (N a))"
    for hidden in ("N", "S"):
        with pytest.raises(InvalidInput, match=f"the symbol '{hidden}' is left out of trees"):
            Grammar.of_rules(rules, [], words, start="S", hidden={hidden})


def test_binarisation_refuses_what_it_could_not_undo() -> None:
    for text in ("(S (@A (N a) (N b)) (N c) (N d))", "(@S (N a) (N b) (N c))"):
        with pytest.raises(InvalidInput, match=r"begins with '@'.*escape_label"):
            binarize(Tree.parse(text))


def test_a_lexicon_that_errs_is_refused() -> None:
    class Lexicon:
        def __init__(self, symbol: int, score: float) -> None:
            self.leaf = Leaves(np.array([symbol], np.int32), np.array([score]))

        def leaves(self, words: Sequence[str]) -> list[Leaves]:
            return [self.leaf for _ in words]

    grammar = Grammar.of_rules([], [("S", "N", 0.0)], {"N": {"a": 0.0}}, start="S")
    for symbol, score, message in (
        (7, 0.0, "no preterminal"),
        (1, 0.0, "no preterminal"),
        (0, np.nan, "nan"),
    ):
        grammar.lexicon = Lexicon(symbol, score)
        with pytest.raises(InvalidInput, match=message):
            grammar.parse(["a"])


def test_lists_of_trees_are_in_the_order_of_their_scores() -> None:
    large = 2.0**52  # beside it, sums depend on the order of their terms
    grammar = Grammar.of_rules([("A", "A", "B", large)], [("B", "A", 1.0)], {"A": {"x": 1.0}}, start="A")
    scores = grammar.parse(["x"] * 3, k=7).scores.tolist()
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", ["vertical", "min_hidden", "rare", "trusted"])
def test_options_that_are_no_counts_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number"):
        GrammarOptions(**{name: None})  # type: ignore[arg-type]
