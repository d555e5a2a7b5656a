"""The best trees are the best trees: held against every derivation of thousands of small problems."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from certus.errors import Infeasible, InvalidInput
from certus.relax import Forbidden
from certus.solution import KBest, Solution, Status
from certus.syntax import Grammar, Tree
from tests.reference.syntax import chains, derivations, tree_scores
from tests.syntax.grammars import Problem, draw

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "3000"))


def all_of(problem: Problem) -> list[tuple[float, tuple[str, ...]]]:
    return derivations(problem.binary, problem.unary, problem.words, problem.sentence, "A")


def score_of(problem: Problem, tree: Tree) -> float:
    """Score a tree rule by rule, and refuse it if it is none of the grammar's."""
    rules: dict[tuple[str, ...], float] = {(a, b, c): x for a, b, c, x in problem.binary}
    rules |= {(a, b): x for a, b, x in problem.unary}
    rules |= {(tag, word): x for tag, words in problem.words.items() for word, x in words.items()}
    return sum(rules[used] for used in tree_scores(tree))


@pytest.mark.parametrize("seed", range(8))
def test_best_and_k_best(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(seed)
    equal = 0
    for _ in range(PROBLEMS // 8):
        problem = draw(rng)
        scores = sorted((score for score, _ in all_of(problem)), reverse=True)
        best = problem.grammar.parse(problem.sentence, infeasible="return")
        assert isinstance(best, Solution)
        if not scores:
            assert best.status is Status.INFEASIBLE
            assert best.value is None
            assert len(problem.grammar.parse(problem.sentence, k=7, infeasible="return")) == 0
            continue
        assert best.optimal
        assert best.value is not None
        assert best.score == best.bound == scores[0] == score_of(problem, best.value)
        assert best.value.words == problem.sentence
        several = problem.grammar.parse(problem.sentence, k=7)
        assert isinstance(several, KBest)
        assert several.scores.tolist() == scores[:7]
        assert several.exhausted == (len(scores) < 7)
        assert [score_of(problem, one.value) for one in several] == scores[:7]
        assert len({str(one.value) for one in several}) == len(several)
        assert several[0].value == best.value
        equal += 1
    assert equal > PROBLEMS // 40
    tally.append(equal)


@pytest.mark.parametrize("seed", range(4))
def test_parts(seed: int, tally: list[int]) -> None:
    """A part answers as enumeration does, call after call, whatever the adjustments."""
    rng = np.random.default_rng(100 + seed)
    equal = 0
    for _ in range(PROBLEMS // 16):
        problem = draw(rng, 4)
        every = all_of(problem)
        grammar = problem.grammar
        tag = {name: n for n, name in enumerate(grammar.tags)}
        part = grammar.part(problem.sentence)
        shape = part.spaces["tags"]
        assert shape == (len(problem.sentence), len(grammar.tags))
        size = float(rng.choice([1, 3, 40]))
        adjust = np.zeros(shape)
        asked = rng.integers(0, 24)  # when it is asked for the best without adjustments, if at all
        for call in range(12):
            if call == asked:
                assert part.find_best_score() == max((x for x, _ in every), default=-np.inf)
                assert part.find_best_score() == max((x for x, _ in every), default=-np.inf)
            adjust = adjust + np.rint(rng.normal(size=shape) * size)
            now = np.where(rng.random(shape) < rng.choice([0, 0, 0.2]), -np.inf, adjust)
            scored = [(x + sum(now[i, tag[t]] for i, t in enumerate(a)), a) for x, a in every]
            best = max((x for x, _ in scored), default=-np.inf)
            if best == -np.inf:
                with pytest.raises(Forbidden):
                    part.maximize({"tags": now})
                continue
            choice = part.maximize({"tags": now})
            chosen = choice.indicators["tags"]
            assert choice.score + np.where(chosen, now, 0).sum() == best
            assert choice.score == score_of(problem, choice.value)
            assert chosen.sum(1).tolist() == [1] * len(problem.sentence)
            assert choice.value.tags == [grammar.tags[n] for n in chosen.argmax(1)]
            exact = np.full(shape, -np.inf)
            for x, a in scored:
                for i, t in enumerate(a):
                    exact[i, tag[t]] = max(exact[i, tag[t]], x)
            assert (part.max_marginals({"tags": now}, exact=True)["tags"] == exact).all()
            bounds = part.max_marginals({"tags": now})["tags"]
            assert (bounds >= exact).all()
            assert bounds.max() == best
            equal += 1
    assert equal > PROBLEMS // 20
    tally.append(equal)


def test_the_best_chain_of_unary_rules_counts() -> None:
    words = {"D": {"x": 0.0}}
    rules = [("A", "B", -1.0), ("B", "D", -1.0), ("A", "D", -3.0), ("B", "A", 0.0), ("D", "A", 1.0)]
    grammar = Grammar.of_rules([], rules, words, start="A")
    best = grammar.parse(["x"])
    assert str(best.value) == "(A (B (D x)))"
    assert best.score == -2 == chains(rules)["A", "D"]
    assert len(grammar.parse(["x"], k=5)) == 1


def test_positive_cycles_are_refused() -> None:
    for rules in ([("A", "B", 1.0), ("B", "A", 0.0)], [("A", "A", 0.5)], [("A", "B", 2.0), ("B", "A", -1.5)]):
        with pytest.raises(InvalidInput, match="cycle through 'A'"):
            Grammar.of_rules([], rules, {"B": {"x": 0.0}}, start="A")
    Grammar.of_rules([], [("A", "B", 2.0), ("B", "A", -2.0)], {"B": {"x": 0.0}}, start="A")


def test_bad_scores_and_sentences_are_refused() -> None:
    words = {"B": {"x": 0.0}}
    for score in (np.nan, np.inf, -np.inf, 1e31):
        with pytest.raises(InvalidInput, match="binary rule A B B has the score"):
            Grammar.of_rules([("A", "B", "B", score)], [], words, start="A")
        with pytest.raises(InvalidInput, match="the word 'x' has the score"):
            Grammar.of_rules([("A", "B", "B", 0.0)], [], {"B": {"x": score}}, start="A")
    grammar = Grammar.of_rules([("A", "B", "B", 0.0)], [], words, start="A")
    with pytest.raises(InvalidInput, match="at least one word"):
        grammar.parse([])
    with pytest.raises(InvalidInput, match="not a string"):
        grammar.parse("x x")
    with pytest.raises(InvalidInput, match="at least 1"):
        grammar.parse(["x"], k=0)
    part = grammar.part(["x", "x"])
    with pytest.raises(InvalidInput, match="shape"):
        part.maximize({"tags": np.zeros((1, 1))})
    with pytest.raises(InvalidInput, match=r"\[1, 0\] is nan"):
        part.maximize({"tags": np.array([[0.0], [np.nan]])})


def test_an_unparsable_sentence_is_covered_if_asked() -> None:
    grammar = Grammar.of_rules(
        [("A", "B", "B", 0.0), ("C", "B", "C", 0.0)], [], {"B": {"x": 0.0}, "C": {"y": 0.0}}, start="A"
    )
    assert grammar.parse(["x", "y", "x", "y"], infeasible="return").value is None
    covered = grammar.parse(["x", "y", "x", "y"], cover=True)
    assert covered.status is Status.INFEASIBLE
    assert str(covered.value) == "(A (C (B x) (C y)) (C (B x) (C y)))"
    assert grammar.cover(["x", "unheard"]) is None
    assert grammar.parse(["x", "unheard"], infeasible="return").status is Status.INFEASIBLE
    assert grammar.parse(["x", "unheard"], cover=True, infeasible="return").value is None


def test_a_sentence_without_a_tree_is_refused_unless_asked_for() -> None:
    grammar = Grammar.of_rules([("A", "B", "B", 0.0)], [], {"B": {"x": 0.0}}, start="A")
    with pytest.raises(Infeasible, match="the word 'y' at position 1 has no tag") as caught:
        grammar.parse(["x", "y"], cover=True)
    assert caught.value.position == 1
    with pytest.raises(
        Infeasible, match="sentence 1: the sentence has no tree: no derivation from 'A'"
    ) as caught:
        grammar.parse_batch([["x", "x"], ["x", "x", "x"]])
    assert (caught.value.sentence, caught.value.position) == (1, None)
    with pytest.raises(Infeasible):
        grammar.parse(["x"], k=3)
    with pytest.raises(InvalidInput, match='infeasible must be "raise" or "return"'):
        grammar.parse(["x"], infeasible="ignore")  # type: ignore[call-overload]


def test_batches_and_threads_answer_alike() -> None:
    rng = np.random.default_rng(5)
    problem = draw(rng)
    sentences = [["xyz"[int(rng.integers(3))] for _ in range(int(rng.integers(1, 12)))] for _ in range(30)]
    alone = [problem.grammar.parse(words, infeasible="return") for words in sentences]
    for threads in (1, 3):
        together = problem.grammar.parse_batch(sentences, threads=threads, infeasible="return")
        assert [(s.score, s.value) for s in together] == [(s.score, s.value) for s in alone]


def test_long_sentences() -> None:
    """Longer than the bits of a word, so that sets of widths take several."""
    grammar = Grammar.of_rules(
        [("A", "A", "B", -1.0), ("A", "B", "A", -2.0)], [("A", "B", -1.0)], {"B": {"x": 0.0}}, start="A"
    )
    for length in (62, 63, 64, 65, 127, 128, 150):
        best = grammar.parse(["x"] * length)
        assert best.score == -float(length)
        assert best.value.words == ["x"] * length


@pytest.mark.parametrize("length", [62, 64, 65, 127, 129, 150])
def test_rare_symbols_in_long_sentences(length: int) -> None:
    """Two symbols that are side by side once, or nowhere, where bits of a word tell places apart."""
    grammar = Grammar.of_rules(
        [("A", "A", "B", -1.0), ("A", "B", "A", -2.0), ("C", "Y", "Z", -3.0)],
        [("A", "C", -1.0)],
        {"B": {"x": 0.0, "y": -50.0, "z": -50.0}, "Y": {"y": 0.0}, "Z": {"z": 0.0}},
        start="A",
    )
    for place in (0, 1, 60, 63, 64, 100, length - 2):
        if place + 2 > length:
            continue
        words = ["x"] * length
        words[place], words[place + 1] = "y", "z"
        best = grammar.parse(words)
        assert best.score == -4.0 - 2.0 * place - (length - 2 - place)
        assert best.value.words == words
    if length > 65:
        words = ["x"] * length
        words[0], words[65] = "y", "z"  # as if side by side, but for the 64 words between them
        assert grammar.parse(words, infeasible="return").value is None


def test_big_scores_are_exact_too() -> None:
    """What single precision cannot tell apart is told apart in double precision."""
    big = 2.0**30
    words = {"B": {"x": big}, "C": {"x": big + 1}, "D": {"x": big - 1}}
    grammar = Grammar.of_rules([("A", "A", "A", big)], [("A", s, 0.0) for s in "BCD"], words, start="A")
    best = grammar.parse(["x"] * 6)
    assert best.score == 6 * (big + 1) + 5 * big
    assert Counter(best.value.tags) == {"C": 6}
    several = grammar.parse(["x"] * 2, k=4)
    assert (several.scores - 3 * big).tolist() == [2, 1, 1, 0]
