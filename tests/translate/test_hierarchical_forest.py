"""Every search of translation forests against the enumeration of their derivations."""

from __future__ import annotations

import os
import random
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import certus
from certus.errors import Infeasible, InvalidInput, SmoothingWarning
from certus.hypergraph import Hypergraph
from certus.translate import (
    FOREST_METHODS,
    CoarseToFine,
    CubePruning,
    Exhaustive,
    ForestBeam,
    ForestLagrangian,
    ForestMethod,
    ForestProgram,
    ForestTightening,
    TranslationForest,
    decode_forest,
)
from tests.reference.translation_forest import Derivation, score_derivations
from tests.translate.phrase_problems import make_model

PROBLEMS = int(os.environ.get("CERTUS_FORESTS", 300))
EXACT: list[ForestMethod] = [CoarseToFine(), ForestBeam(), Exhaustive()]
LAGRANGIAN: list[ForestMethod] = [ForestLagrangian(), ForestLagrangian(paths=False, rounds=20)]
ANY: list[ForestMethod] = [*EXACT, CubePruning(width=1), CubePruning(width=3), CubePruning(width=100_000)]


@dataclass(frozen=True)
class RandomForest:
    """A forest, everything that its derivations score, and the same for the solvers."""

    graph: Hypergraph
    targets: list[list[str | int]]
    scores: list[float]
    model: certus.LanguageModel
    weight: int

    def make(self) -> TranslationForest:
        """Return it as the solvers take it."""
        return TranslationForest(self.graph, self.scores, self.targets, self.model, weight=self.weight)

    def enumerate(self) -> list[tuple[float, Derivation, str]]:
        """Return all derivations, best first."""
        return score_derivations(self.graph, self.targets, self.scores, self.score_words, self.weight)

    def score_words(self, words: list[str]) -> float:
        """Return the log probability of a sentence."""
        return self.model.score(words) if self.weight else 0.0


def make_forest(seed: int) -> RandomForest:
    """Return a random forest of a few nodes; every edge has up to three words and two tails.

    In two of three forests every derivation has words.
    """
    rng = random.Random(seed)
    least = 1 if seed % 3 else 0
    vocabulary = [f"w{n}" for n in range(5)] + ["unseen"]
    nodes = rng.choice([1, 2, 3, 4, 5])
    heads: list[int] = []
    tails: list[list[int]] = []
    targets: list[list[str | int]] = []
    for node in range(nodes):
        for _ in range(rng.choice([1, 2, 2, 3])):
            below = rng.choices(range(node), k=rng.choice([0, 1, 1, 2])) if node else []
            count = max(rng.choice([0, 1, 1, 2, 3]), 0 if below else least)
            side: list[str | int] = [*rng.choices(vocabulary, k=count), *range(len(below))]
            rng.shuffle(side)
            heads.append(node)
            tails.append(below)
            targets.append(side)
    if rng.random() < 0.1:  # a node without edges
        nodes += 1
        targets[0] = [*targets[0], len(tails[0])]
        tails[0] = [*tails[0], nodes - 1]
    scores = [float(rng.randint(-6, 3)) if rng.random() < 0.95 else -float("inf") for _ in heads]
    offsets = np.cumsum([0, *map(len, tails)])
    goal = rng.sample(range(nodes), 2) if nodes > 1 and rng.random() < 0.2 else max(heads)
    flat = [one for part in tails for one in part]
    graph = Hypergraph(heads, offsets, flat, goal, nodes=nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        return RandomForest(graph, targets, scores, make_model(seed), rng.choice([0, 1, 1, 2]))


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_the_best_derivations_are_those_of_enumeration(first: int) -> None:
    for seed in range(first, min(first + 50, PROBLEMS)):
        forest = make_forest(seed)
        expected = forest.enumerate()
        if len(expected) > 3000:
            continue
        check_best(forest, expected, seed)
        check_many(forest, expected, seed)


def check_best(forest: RandomForest, expected: list[tuple[float, Derivation, str]], seed: int) -> None:
    made = forest.make()
    best = expected[0][0] if expected else -float("inf")
    for method in ANY:
        answer = made.decode(method=method, infeasible="return")
        assert answer.bound >= best, (seed, method)
        if method in EXACT:
            assert answer.score == best, (seed, method)
            assert answer.optimal == bool(expected), (seed, method)
        if answer.optimal:
            assert answer.score == best == answer.bound, (seed, method)
        if answer.score > -float("inf"):
            assert (answer.score, answer.edges, answer.text) in expected, (seed, method)


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_relaxations_of_leaves_are_bounds(first: int) -> None:
    proven = 0
    for seed in range(first, min(first + 50, PROBLEMS)):
        forest = make_forest(seed)
        expected = forest.enumerate()
        if seed % 3 == 0 or seed % 5 > 2 or len(expected) > 3000:  # everything has words; orders 1, 2, 3
            continue
        for method in LAGRANGIAN:
            check_answer(forest.make().decode(method=method, infeasible="return"), expected, (seed, method))
        proven += forest.make().decode(method="lagrangian", infeasible="return").optimal
    assert proven >= 10


TIGHTENING: list[ForestMethod] = [ForestTightening(), ForestTightening(rounds=5000, prune=False)]


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_tightening_proves_everything(first: int) -> None:
    for seed in range(first, min(first + 50, PROBLEMS)):
        forest = make_forest(seed)
        expected = forest.enumerate()
        if seed % 3 == 0 or seed % 5 > 2 or len(expected) > 3000:  # everything has words; orders 1, 2, 3
            continue
        for method in TIGHTENING:
            answer = forest.make().decode(method=method, infeasible="return")
            check_answer(answer, expected, (seed, method))
            assert answer.optimal == bool(expected), (seed, method)


def make_reordered_forest(seed: int) -> RandomForest:
    """Return a forest of words in any order, where the words before a leaf are often mistaken for others."""
    rng = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(5)]
    heads, tails = [], []
    targets: list[list[str | int]] = []
    for node in range(5):
        sides: list[list[str | int]] = [[rng.choice(vocabulary)] for _ in range(3)]
        below = [[], [], [], [0, 1], [2, 3]][node]
        if below:
            sides = [[0, 1], [1, 0], [0, rng.choice(vocabulary), 1]]
        for side in sides:
            heads.append(node)
            tails.append(below)
            targets.append(side)
    offsets = np.cumsum([0, *map(len, tails)])
    graph = Hypergraph(heads, offsets, [one for part in tails for one in part], 4, nodes=5)
    scores = [float(rng.randint(-1, 1)) for _ in heads]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        return RandomForest(graph, targets, scores, make_model(seed), 3)


def test_words_are_divided_where_the_relaxation_is_not_tight() -> None:
    parts = []
    for seed in range(200):
        if seed % 5 not in (1, 2):
            continue
        forest = make_reordered_forest(seed)
        expected = forest.enumerate()
        relaxed = forest.make().decode(method=ForestLagrangian())
        check_answer(relaxed, expected, (seed, "lagrangian"))
        for method in TIGHTENING:
            answer = forest.make().decode(method=method)
            assert answer.optimal, (seed, method)
            check_answer(answer, expected, (seed, method))
            parts.append(answer.stats["parts"])
    assert max(parts) > 2


def test_programs_find_the_best_derivations() -> None:
    pytest.importorskip("highspy")
    solved = 0
    for seed in range(150):
        forest = make_forest(seed)
        expected = forest.enumerate()
        if seed % 3 == 0 or len(expected) > 3000:
            continue
        try:
            answer = forest.make().decode(method="ilp", infeasible="return")
        except InvalidInput:  # a derivation may have a node twice
            continue
        solved += 1
        assert answer.optimal == bool(expected), seed
        check_answer(answer, expected, (seed, "ilp"))
        relaxed = forest.make().decode(method=ForestProgram(relaxed=True), infeasible="return")
        check_answer(relaxed, expected, (seed, "lp"))
    assert solved >= 20


def check_answer(
    answer: certus.translate.ForestDerivation, expected: list[tuple[float, Derivation, str]], where: object
) -> None:
    """Judge an answer that need not be proven; programs know scores up to a millionth."""
    best = expected[0][0] if expected else -float("inf")
    assert answer.bound >= best - 1e-6, where
    if answer.optimal:
        assert answer.score == pytest.approx(best, abs=1e-6), where
    if answer.score > -float("inf"):
        assert (answer.score, answer.edges, answer.text) in expected, where


def check_many(forest: RandomForest, expected: list[tuple[float, Derivation, str]], seed: int) -> None:
    made = forest.make()
    texts: dict[str, float] = {}
    for score, _, text in expected:
        texts.setdefault(" ".join("?" if word == "unseen" else word for word in text.split()), score)
    for k in (2, 5):
        for distinct, scores in ((False, [item[0] for item in expected]), (True, list(texts.values()))):
            answers = made.decode(k=k, distinct=distinct, infeasible="return")
            where = seed, k, distinct
            assert isinstance(answers, certus.KBest)
            assert [answer.score for answer in answers] == scores[:k], where
            assert all(answer.optimal and answer.bound == answer.score for answer in answers), where
            found = [answer.text if distinct else answer.edges for answer in answers]
            assert len(set(found)) == len(found), where
            assert answers.exhausted or len(scores) >= k, where


def test_every_method_is_tried() -> None:
    assert set(FOREST_METHODS.values()) == {
        type(method) for method in [*ANY, *LAGRANGIAN, *TIGHTENING, ForestProgram()]
    }


def test_no_time_gives_an_honest_gap() -> None:
    for seed in range(40):
        forest = make_forest(seed)
        expected = forest.enumerate()
        answer = forest.make().decode(method=ForestBeam(items=1), infeasible="return")
        assert answer.bound >= (expected[0][0] if expected else -float("inf"))


@pytest.mark.parametrize("method", FOREST_METHODS)
def test_forests_may_be_deep(method: str) -> None:
    """A derivation of 100,000 edges, one below the other, is found without a deep stack of calls."""
    count = 100_000 if method != "ilp" else 50
    offsets = np.concatenate([[0], np.arange(count)])
    graph = Hypergraph(np.arange(count), offsets, np.arange(count - 1), count - 1)
    targets: list[list[str | int]] = [["a"], *([0, "b" if edge % 2 else "a"] for edge in range(count - 1))]
    found = TranslationForest(graph, np.zeros(count), targets, make_model(7)).decode(method=method)
    assert found.optimal
    assert found.edges == tuple(range(count - 1, -1, -1))
    assert found.words[:4] == ["a", "a", "b", "a"]


def test_labels_of_a_graph_are_its_target_sides() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        model = certus.LanguageModel(order=2).fit([["the", "house"], ["at", "home"]])
    graph = Hypergraph([0, 0, 1], [0, 0, 0, 1], [0], 1, labels=[("house",), ("home",), ("the", 0)])
    answer = decode_forest(graph, [0, 0, 0], None, model)
    assert isinstance(answer, certus.translate.ForestDerivation)
    assert (answer.text, answer.edges, answer.optimal) == ("the house", (2, 0), True)


def test_what_makes_no_sense_is_refused() -> None:
    forest = make_forest(1)
    graph, model = forest.graph, forest.model
    with pytest.raises(InvalidInput, match="target sides for"):
        TranslationForest(graph, forest.scores, [], model)
    with pytest.raises(InvalidInput, match="each once"):
        TranslationForest(graph, forest.scores, [[*side, 7] for side in forest.targets], model)
    with pytest.raises(InvalidInput, match="list of words"):
        TranslationForest(Hypergraph([0], [0, 0], [], 0), [0], ["word"], model)
    with pytest.raises(InvalidInput, match="there is no method"):
        forest.make().decode(method="nothing")
    with pytest.raises(Infeasible):
        TranslationForest(Hypergraph([0], [0, 0], [], 0), [-np.inf], [["word"]], model).decode()
