"""Every search for derivations against their enumeration."""

from __future__ import annotations

import os
import warnings

import pytest

import certus
from certus.errors import SmoothingWarning
from certus.translate import METHODS, AStar, Beam, Method, OptimalBeam, Stack
from tests.translate.phrase_problems import RandomProblem, make_problem

PROBLEMS = int(os.environ.get("CERTUS_TRANSLATIONS", 300))
EXACT = [OptimalBeam(), AStar(), Beam(width=100_000)]
ANY = [*EXACT, Beam(width=1), Beam(width=3, first_rounds=4), Beam(width=20), Stack(width=2), Stack(gaps=True)]


def draw_problem(seed: int) -> RandomProblem:
    """Return a random problem; its language model is learned from little."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        return make_problem(seed)


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_the_best_derivations_are_those_of_enumeration(first: int) -> None:
    for seed in range(first, min(first + 50, PROBLEMS)):
        problem = draw_problem(seed)
        check_best(problem, seed)
        check_many(problem, seed)


def check_best(problem: RandomProblem, seed: int) -> None:
    made, expected = problem.make(), problem.enumerate()
    for method in ANY:
        answer = made.decode(method=method, infeasible="return")
        best = expected[0][0] if expected else -float("inf")
        assert answer.bound >= best, (seed, method)
        if method in EXACT:
            assert answer.score == best, (seed, method)
            assert answer.optimal == bool(expected), (seed, method)
        if answer.optimal:
            assert answer.score == best == answer.bound, (seed, method)
        if answer.score > -float("inf"):
            derivation = tuple(phrase.number for phrase in answer.phrases)
            assert (answer.score, derivation, answer.text) in expected, (seed, method)
            assert made.score(derivation) == answer.score


def check_many(problem: RandomProblem, seed: int) -> None:
    made, expected = problem.make(), problem.enumerate()
    texts: dict[str, float] = {}
    for score, _, text in expected:
        texts.setdefault(text, score)
    for k in (2, 5):
        for distinct, scores in ((False, [item[0] for item in expected]), (True, list(texts.values()))):
            for method in (OptimalBeam(), AStar()):
                answers = made.decode(k=k, distinct=distinct, method=method, infeasible="return")
                where = seed, k, distinct, method
                assert isinstance(answers, certus.KBest)
                assert [answer.score for answer in answers] == scores[:k], where
                assert all(answer.optimal and answer.bound == answer.score for answer in answers), where
                found = [answer.text if distinct else answer.phrases for answer in answers]
                assert len(set(found)) == len(found), where
                assert answers.exhausted or len(scores) >= k, where


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_relaxation_and_the_integer_program_agree_with_enumeration(first: int) -> None:
    pytest.importorskip("highspy")
    for seed in range(first, first + 20):
        problem = draw_problem(seed)
        expected = problem.enumerate(forbid=False)
        made = problem.make(forbid=False)
        for method in ("ilp", "lagrangian"):
            answer = made.decode(method=method, infeasible="return")
            best = expected[0][0] if expected else -float("inf")
            assert answer.bound >= best
            if method == "ilp" or answer.optimal:
                assert answer.score == best, (seed, method)
            assert not answer.optimal or answer.bound == best


def test_most_relaxations_are_proven() -> None:
    answers = [
        draw_problem(seed).make(forbid=False).decode(method="lagrangian", infeasible="return")
        for seed in range(60)
    ]
    assert sum(answer.optimal for answer in answers) >= 40


def test_every_method_is_tried() -> None:
    tried: set[type[Method]] = {type(method) for method in ANY}
    assert {METHODS[name] for name in METHODS} - tried == {METHODS["ilp"], METHODS["lagrangian"]}
