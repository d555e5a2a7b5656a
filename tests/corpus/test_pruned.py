"""Corpora that a pruned CRF labels: proofs are about all label sequences, however much was pruned."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from certus.corpus import Agreement, Consistent, tag
from certus.solution import Status
from tests.learn.problems import Problem, Sentence, features
from tests.learn.test_pruned_proofs import random_thresholds, whole_numbers


class ToyTagger:
    """As much of a Tagger as agreement across sentences needs; all words are unknown to it."""

    columns = ("form",)
    known = np.zeros(0, np.uint32)
    agreement_scale = 1.0

    def __init__(self, problem: Problem, thresholds: list[float], *, proof: bool = True) -> None:
        self.labels = self.coarse_labels = list("abcdef"[: problem.crf.labels])
        self.native, self.proof = problem.tagger(thresholds), proof

    def search(
        self,
        cells: Any,
        *,
        pruning: float = 1.0,
        threads: int = 1,
        margins: NDArray[np.float64] | None = None,
    ) -> _native.Lattices:
        return _native.search_all(self.native, cells, pruning, threads, self.proof, margins)


def find_best(
    problem: Problem,
    sentences: list[Sentence],
    found: Consistent,
    delta: Agreement,
    scored: list[dict[tuple[int, ...], float]] | None = None,
) -> float:
    """The best score of all labels of sentences and nodes; ``scored``: those to choose from."""
    labels = problem.crf.labels
    if scored is None:
        scored = [problem.crf.all_scores(features(sentence)) for sentence in sentences]
    keys = list(found.consensus)
    best = -np.inf
    for z in product(range(labels + 1), repeat=len(keys)):
        of = dict(zip(keys, z, strict=True))
        total = 0.0
        for words, scores in zip(sentences, scored, strict=True):
            held = [(t, of[word]) for t, word in enumerate(words) if word in of]
            total += max(s + sum(agree(y[t], c, labels, delta) for t, c in held) for y, s in scores.items())
        best = max(best, total)
    return best


def agree(word: int, node: int, labels: int, delta: Agreement) -> float:
    """What a word's label and its node's score together; labels differ in their groups."""
    return delta.null if node == labels else delta.same if word == node else 0.0


def find_best_with(
    problem: Problem, sentences: list[Sentence], found: Consistent, delta: Agreement, held: int
) -> float:
    """The same with one sentence held to the labels that were found for it."""
    kept = [problem.crf.all_scores(features(sentence)) for sentence in sentences]
    numbers = tuple("abcdef".index(name) for name in found.labels[held])
    kept[held] = {numbers: kept[held][numbers]}
    return find_best(problem, sentences, found, delta, kept)


def label(problem: Problem, tagger: Any, delta: Agreement) -> tuple[Consistent, float]:
    sentences = [problem.sentence(1, 4) for _ in range(3)]
    found = tag(tagger, sentences, delta=delta, known=(), suffixes=())
    return found, find_best(problem, sentences, found, delta)


@pytest.mark.parametrize("few", [0, 2])  # lattices are wide at first, or narrow
def test_answers_are_those_of_brute_force(few: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.corpus.problem.FEW", few)
    proven = 0
    for seed in range(200):
        problem = whole_numbers(seed, 1 + seed % 3, labels=2 + seed % 3)
        tagger = ToyTagger(problem, random_thresholds(problem))
        null = float(seed % 2 and seed % 5 > 1)
        found, best = label(problem, tagger, Agreement(float(seed % 5), null, null))
        assert found.score <= best <= found.bound < np.inf
        if found.optimal:
            assert found.score == best == found.bound
            assert found.certified.all()
        proven += found.optimal
    assert proven >= 195


def test_branches_judge_sentences_by_the_labels_that_nodes_have_now() -> None:
    """What a sentence scored in one branch was taken for its score in the next, and a worse answer proven."""
    problem = whole_numbers(9000393, 1, labels=2)
    found, best = label(problem, ToyTagger(problem, random_thresholds(problem)), Agreement(3.0, 1.0, 1.0))
    assert found.optimal
    assert found.score == best == 61


def test_without_proof_nothing_is_claimed() -> None:
    """The answer may then be worse than the best, and the bound is infinite."""
    worse = 0
    for seed in range(100):
        problem = whole_numbers(seed, 2, labels=4)
        tagger = ToyTagger(problem, [0.3, 0.3, 0.3], proof=False)
        found, best = label(problem, tagger, Agreement(2.0))
        assert found.score <= best
        assert found.optimal == (found.bound < np.inf)
        assert found.optimal or found.status is Status.FEASIBLE
        assert not found.optimal or found.score == best
        worse += found.score < best
    assert worse > 10


def test_a_limit_of_time_counts_from_the_start() -> None:
    """Sentences are then searched for their best labels only, once, and the bound holds all the same."""
    unproven = 0
    for seed in range(100):
        problem = whole_numbers(seed, 1 + seed % 3, labels=2 + seed % 3)
        tagger: Any = CountingTagger(problem, random_thresholds(problem))
        sentences = [problem.sentence(1, 4) for _ in range(3)]
        found = tag(tagger, sentences, delta=3.0, known=(), suffixes=(), seconds=0)
        best = find_best(problem, sentences, found, Agreement(3.0))
        assert tagger.asked == [3]
        assert not tagger.margins[0].any()
        assert found.score <= best <= found.bound < np.inf
        assert not found.optimal or found.score == best
        unproven += not found.optimal
    assert unproven > 10


@pytest.mark.parametrize("chunk", [1, 2, 128])  # sentences that are searched at a time
def test_a_limit_of_memory_leaves_bounds_that_hold(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lattices stay narrower then, and what they lack is bounded; nothing is proven that is not so."""
    monkeypatch.setattr("certus.corpus.problem.CHUNK", chunk)
    monkeypatch.setattr("certus.corpus.problem.AGAIN", 1)
    unproven = limited = 0
    for seed in range(200):
        problem = whole_numbers(seed, 1 + seed % 3, labels=2 + seed % 3)
        tagger: Any = ToyTagger(problem, [0.3] * (1 + problem.crf.order))
        sentences = [problem.sentence(1, 4) for _ in range(3)]
        memory = (1e-9, 1e-6, 3e-6)[seed % 3]  # no lattice at all, one or two, some
        found = tag(tagger, sentences, delta=3.0, known=(), suffixes=(), memory=memory)
        best = find_best(problem, sentences, found, Agreement(3.0))
        assert found.score <= best <= found.bound < np.inf
        assert not found.optimal or found.score == best == found.bound
        unproven += not found.optimal
        limited += found.stats["limited"]
    assert limited > 20
    assert unproven > 0


@pytest.mark.parametrize("memory", [1e-9, 1e-6, 1.0])
def test_sentences_say_what_is_proven_of_them(memory: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their scores add up, bounds hold whatever types agree on, and proven labels are part of an optimum."""
    monkeypatch.setattr("certus.corpus.problem.CHUNK", 1)
    delta, proven, others = Agreement(3.0, 1.0, 1.0), 0, 0
    for seed in range(100):
        problem = whole_numbers(seed, 1 + seed % 3, labels=2 + seed % 3)
        tagger: Any = ToyTagger(problem, [0.3] * (1 + problem.crf.order))
        sentences = [problem.sentence(1, 4) for _ in range(3)]
        found = tag(tagger, sentences, delta=delta, known=(), suffixes=(), memory=memory)
        best = find_best(problem, sentences, found, delta)
        assert sum(answer.score for answer in found.taggings) == found.score
        for n, answer in enumerate(found.taggings):
            assert answer.score <= answer.bound < np.inf
            alone = find_best(problem, sentences[n : n + 1], found, delta)
            if answer.optimal:
                assert answer.score == answer.bound
                assert find_best_with(problem, sentences, found, delta, n) == best
                assert answer.claim.startswith("proven")
            else:
                assert answer.bound >= alone
                assert answer.claim.startswith("not proven")
            proven, others = proven + answer.optimal, others + (not answer.optimal)
    assert proven > 100
    assert others > 0 or memory == 1.0


def test_close_labels_count_in_the_scores_of_sentences() -> None:
    for seed in range(100):
        problem = whole_numbers(seed, 1, labels=4)
        sentences = [problem.sentence(1, 4) for _ in range(4)]
        tagger: Any = ToyTagger(problem, random_thresholds(problem))
        found = tag(
            tagger, sentences, delta=(5, 3, 1), known=(), suffixes=(), groups=lambda name: name in "ab"
        )
        assert sum(answer.score for answer in found.taggings) == found.score


class CountingTagger(ToyTagger):
    """Remembers how many sentences it was asked to search each time, and how far."""

    def search(self, cells: Any, **options: Any) -> _native.Lattices:
        self.asked = [*getattr(self, "asked", []), len(cells)]
        self.margins = [*getattr(self, "margins", []), options["margins"]]
        return super().search(cells, **options)


def test_only_sentences_that_might_need_more_are_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.corpus.problem.FEW", 2)
    again = 0
    for seed in range(200):
        problem = whole_numbers(seed, 2, labels=3)
        tagger = CountingTagger(problem, [0.3, 0.3, 0.3])
        found, _ = label(problem, tagger, Agreement(4.0))
        assert tagger.asked[0] == 3
        assert (len(tagger.asked) > 1) == (found.stats.get("widened", 0) > 0)
        assert max(tagger.asked[1:], default=0) <= found.stats.get("widened", 0)
        again += sum(tagger.asked[1:]) < 3 * len(tagger.asked[1:])
    assert again > 10


def test_better_lattices_are_of_the_same_sentences() -> None:
    problem = whole_numbers(1, 2, labels=3)
    tagger = ToyTagger(problem, [0.3, 0.3, 0.3])
    one: Any = tagger.search([[["a", "b"]], [["a"]]])
    other = tagger.search([[["a"]]])
    for which in ([0], [2], [-1], [0, 1]):
        with pytest.raises(ValueError, match="sentences"):
            one.take_better(np.array(which), other)
    assert not one.take_better(np.array([1]), other).any()  # it lacks as much
