"""Latent-dynamic inference against the enumeration of all latent paths, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import certus
from certus import Status, _native
from certus.errors import Infeasible
from certus.latent import LDI, LatentChain
from certus.latent.solution import make_solutions
from tests.latent.chains import Problem, draw

LITTLE = 1e-12


def problems(seed: int, count: int, **options: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [draw(rng, **options) for _ in range(count)]


@pytest.mark.parametrize("bound", ["label", "mass"])
@pytest.mark.parametrize("least", [0, 1])
def test_it_is_the_best_of_all_label_sequences(bound: str, least: int) -> None:
    rng = np.random.default_rng(least)
    for problem in problems(least, 1000, least=least):
        chain, truth = problem.chain(), problem.truth()
        asked = rng.random() < 0.2
        found = chain.decode(
            problem.scores, inference=LDI(bound=bound), infeasible="return", certificate=asked
        )
        if asked:
            verdict = certus.verify((chain, problem.scores), found)
            assert verdict.epsilon is not None
            assert verdict.epsilon < LITTLE  # scores are logarithms of fractions, rounded
        if not truth:
            assert found.status is Status.INFEASIBLE
            continue
        labels = tuple(found.labels.tolist())
        assert truth[labels] == max(truth.values())
        assert found.status is Status.OPTIMAL
        assert found.bound == found.score
        assert found.probability == pytest.approx(float(truth[labels]), rel=LITTLE)
        assert found.remaining <= 1 - found.probability + LITTLE


@pytest.mark.parametrize("bound", ["label", "mass"])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_bound_is_never_below_the_truth_when_stopped_early(bound: str, steps: int) -> None:
    proven = early = 0
    for problem in problems(steps, 600, least=1, most=9):
        truth = problem.truth()
        found = problem.chain().decode(problem.scores, inference=LDI(steps=steps, bound=bound))
        best = max(truth.values())
        assert found.stats["paths"] <= steps
        assert math.exp(found.bound) >= float(best) * (1 - LITTLE)
        assert found.probability == pytest.approx(float(truth[tuple(found.labels.tolist())]), rel=LITTLE)
        if found.optimal:
            assert truth[tuple(found.labels.tolist())] == best
            proven += 1
        early += not found.optimal
    assert proven
    assert early or (bound == "label" and steps > 1)


@pytest.mark.parametrize("bound", ["label", "mass"])
def test_a_belief_about_what_remains_stops_sooner_but_proves_nothing(bound: str) -> None:
    """Equation 9 of the paper: with a share below 1, the answer may be wrong, and is then not proven."""
    sooner = unproven = wrong = 0
    for problem in problems(11, 600, least=1, most=9):
        truth, chain = problem.truth(), problem.chain()
        exact = chain.decode(problem.scores, inference=LDI(bound=bound))
        found = chain.decode(problem.scores, inference=LDI(bound=bound, share=0.05))
        best, own = max(truth.values()), truth[tuple(found.labels.tolist())]
        assert found.stats["paths"] <= exact.stats["paths"]
        assert math.exp(found.bound) >= float(best) * (1 - LITTLE)
        assert own == best or not found.optimal
        sooner += found.stats["paths"] < exact.stats["paths"]
        unproven, wrong = unproven + (not found.optimal), wrong + (own != best)
    assert sooner
    assert unproven
    assert wrong


def test_the_label_bound_never_takes_more_latent_paths_than_the_mass() -> None:
    fewer = 0
    for problem in problems(7, 500, least=1, most=9):
        chain = problem.chain()
        paths = [
            chain.decode(problem.scores, inference=LDI(bound=bound)).stats["paths"]
            for bound in ("label", "mass")
        ]
        assert paths[0] <= paths[1]
        fewer += paths[0] < paths[1]
    assert fewer > 100


@pytest.mark.parametrize("bound", ["label", "mass"])
def test_the_k_best_are_the_k_best(bound: str) -> None:
    for problem in problems(3, 500):
        truth = problem.truth()
        ranked = sorted(truth.values(), reverse=True)
        for k in (2, 3, 1000):
            found = problem.chain().decode(
                problem.scores, k=k, inference=LDI(bound=bound), infeasible="return"
            )
            assert [truth[tuple(one.labels.tolist())] for one in found] == ranked[:k]
            assert found.exhausted == (len(ranked) < k)
            assert len({tuple(one.labels.tolist()) for one in found}) == len(found)
            assert all(one.optimal and one.bound == one.score for one in found)


def test_some_of_the_k_best_may_be_proven_where_others_are_not() -> None:
    mixed = 0
    for problem in problems(11, 300, least=1, most=30):
        truth = problem.truth()
        ranked = sorted(truth.values(), reverse=True)
        found = problem.chain().decode(problem.scores, k=4, inference=LDI(steps=4, bound="mass"))
        for rank, one in enumerate(found):
            if one.optimal:
                assert truth[tuple(one.labels.tolist())] == ranked[rank]
            assert math.exp(one.bound) >= float(ranked[rank]) * (1 - LITTLE)
        assert len(found) == len(ranked) or not found.exhausted
        mixed += len({one.optimal for one in found}) > 1
    assert mixed


def test_ties_everywhere_end_at_once() -> None:
    """A model that tells nothing apart: a bound that is met but for rounding is met."""
    chain = LatentChain(np.zeros((9, 9)), 3)
    found = chain.decode(np.zeros((30, 9)), inference=LDI(steps=50))
    assert found.optimal
    assert found.score == pytest.approx(-30 * math.log(3))


def test_one_state_a_label_is_a_plain_chain() -> None:
    for problem in problems(5, 500, latent=1, most=3):
        plain = problem.chain().hidden
        order = np.argsort(problem.owner)
        found = problem.chain().decode(problem.scores, infeasible="return")
        best = plain.decode(problem.scores, infeasible="return")
        assert found.status is best.status
        if best.position is not None:
            assert found.position == best.position
            continue
        score = plain.score(problem.scores, order[found.labels])
        assert score == pytest.approx(best.score, rel=LITTLE)
        marginals = plain.marginals(problem.scores)
        assert found.score == pytest.approx(best.score - marginals.log_partition, abs=1e-10)


def test_scores_that_span_thousands_lose_nothing() -> None:
    """Weights far outside of what doubles hold: log space, with the same answers as shifted ones."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        problem = draw(rng, least=1)
        chain, scores = problem.chain(), problem.scores
        shifts = rng.choice([0.0, 2000.0, -2000.0], (len(scores), 1))
        plain, moved = chain.decode(scores), chain.decode(scores + shifts)
        assert moved.score == pytest.approx(plain.score, abs=1e-9)
        assert (moved.labels == plain.labels).all() or moved.score == pytest.approx(plain.score)
        wide = scores * 400
        found = chain.decode(wide)
        best = chain.hidden.decode(wide)
        assert found.optimal
        assert found.score >= best.score - chain.hidden.marginals(wide).log_partition - 1e-6


def test_a_way_that_looks_hopeless_may_be_the_only_one() -> None:
    """State 0 is out of reach of doubles at each position, and all that may come last."""
    scores = np.zeros((6, 4))
    scores[:, :2] = -500.0
    scores[-1, 2:] = -np.inf
    transitions = np.zeros((4, 4))
    transitions[2:, :2] = -np.inf
    found = LatentChain(transitions, 2).decode(scores)
    assert found.labels.tolist() == [0] * 6
    assert found.probability == pytest.approx(1.0)
    assert found.optimal


def test_what_is_infeasible_says_where() -> None:
    scores = np.zeros((3, 4))
    scores[1, :] = -np.inf
    chain = LatentChain(np.zeros((4, 4)), 2)
    with pytest.raises(Infeasible) as raised:
        chain.decode(scores)
    assert raised.value.position == 1
    found = chain.decode(scores, infeasible="return")
    assert found.status is Status.INFEASIBLE
    assert found.position == 1
    assert len(chain.decode(scores, k=3, infeasible="return")) == 0


def test_no_tokens_have_one_label_sequence() -> None:
    found = LatentChain(np.zeros((4, 4)), 2).decode(np.empty((0, 4)))
    assert found.labels.tolist() == []
    assert found.probability == 1.0
    assert found.optimal


def test_batches_and_threads_change_nothing() -> None:
    rng = np.random.default_rng(8)
    transitions = rng.normal(size=(12, 12)) * 2
    chain = LatentChain(transitions, 3)
    sentences = [rng.normal(size=(length, 12)) * 2 for length in rng.integers(0, 12, 60)]
    one_by_one = [chain.decode(sentence) for sentence in sentences]
    for threads in (1, 2, 5):
        together = chain.decode_batch(sentences, threads=threads)
        for one, other in zip(one_by_one, together, strict=True):
            assert (one.labels == other.labels).all()
            assert (one.score, one.bound, one.remaining) == (other.score, other.bound, other.remaining)
            assert one.stats == other.stats


def test_sequences_have_their_exact_probabilities() -> None:
    for problem in problems(13, 300, least=1):
        truth = problem.truth()
        found = problem.chain().sequences(problem.scores, steps=7)
        paths = list(islice(problem.chain().hidden.iterate(problem.scores), 8))
        assert found.paths == min(7, len(paths))
        if len(paths) < 8 or paths[6].score > paths[7].score + LITTLE:  # else either could be the seventh
            owners = {tuple(problem.owner[path.labels].tolist()) for path in paths[:7]}
            assert {tuple(y) for y in found.labels.tolist()} == owners
        mass = Fraction(0)
        for labels, probability in found:
            assert probability == pytest.approx(float(truth[tuple(labels.tolist())]), rel=LITTLE)
            mass += truth[tuple(labels.tolist())]
        assert found.remaining == pytest.approx(float(1 - mass), abs=LITTLE)
        assert (np.diff(found.probabilities) <= 0).all()


@pytest.mark.parametrize("bound", ["label", "mass"])
def test_there_may_be_fewer_than_k(bound: str) -> None:
    """One label with very many latent paths has one label sequence."""
    chain = LatentChain(np.zeros((4, 4)), 4)
    (found,) = chain.decode(np.zeros((30, 4)), k=5, inference=LDI(bound=bound))
    assert found.optimal
    assert found.probability == pytest.approx(1.0)


def test_the_model_is_not_asked_twice_about_what_it_forgot() -> None:
    """A long sentence that the mass cannot settle in a thousand paths, and the label bound can."""
    rng = np.random.default_rng(21)
    chain = LatentChain(rng.normal(size=(12, 12)), 4)
    scores = rng.normal(size=(40, 12))
    by_mass = chain.decode(scores, inference=LDI(steps=1000, bound="mass"))
    by_label = chain.decode(scores, inference=LDI(steps=1000))
    assert not by_mass.optimal
    assert by_label.optimal
    assert by_label.score >= by_mass.score
    assert by_label.stats["paths"] < 1000


@pytest.mark.parametrize("status", [_native.Status.OPTIMAL, _native.Status.FEASIBLE])
def test_score_and_bound_decide_what_is_proven(status: _native.Status) -> None:
    """What the search says of itself decides nothing: ranks are proven where their bound is their score."""
    for unseen, proven in [(-3.0, [True, True]), (-1.5, [True, False]), (-0.5, [False, False])]:
        answer: Any = SimpleNamespace(
            status=status,
            labels=np.array([[0], [1]]),
            log_probabilities=np.array([-1.0, -2.0]),
            unseen=unseen,
            allowance=1e-12,
            remaining=0.1,
            gain=0.0,
            paths=2,
            sequences=2,
            expanded=0,
        )
        found = make_solutions(answer, 2, LDI())
        assert [one.optimal for one in found] == proven
        assert [one.bound for one in found] == [max(-1.0, unseen), max(-2.0, unseen)]


def test_every_status_follows_from_score_and_bound() -> None:
    rng = np.random.default_rng(11)
    statuses = set()
    for _ in range(200):
        problem = draw(rng)
        limited = LDI(steps=int(rng.integers(1, 4)))
        for k in (1, 3):
            found = problem.chain().decode(problem.scores, k=k, inference=limited, infeasible="return")
            for one in found if isinstance(found, certus.KBest) else [found]:
                if one.status is not Status.INFEASIBLE:
                    assert one.optimal == (one.bound == one.score)
                    statuses.add(one.status)
    assert statuses == {Status.OPTIMAL, Status.FEASIBLE}
