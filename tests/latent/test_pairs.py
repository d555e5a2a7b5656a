"""Scores of two states in a row: latent chains whose every step is another, against brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import certus
from certus import InvalidInput, Status
from certus.latent import BHP, BMP, LDI, LatentChain
from tests.latent.chains import Problem, draw, logs

LITTLE = 1e-12


def problems(seed: int, count: int, *, most: int = 4, huge: bool = False, **options: int) -> list[Problem]:
    """Draw problems with weights of pairs; ``huge`` ones have some that span more than numbers can hold."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        problem = draw(rng, most=most, **options)
        length, states = problem.emissions.shape
        pairs = rng.integers(options.get("least", 0), most + 1, (length - 1, states, states)).astype(object)
        if huge:
            pairs[rng.random(pairs.shape) < 0.5] *= 10**250
        problem.pairs = pairs
        out.append(problem)
    return out


def scores_of(problem: Problem) -> Any:
    assert problem.pairs is not None
    flat = [math.log(w) if w else -math.inf for w in problem.pairs.ravel().tolist()]
    return np.array(flat).reshape(problem.pairs.shape)


@pytest.mark.parametrize("bound", ["label", "mass"])
@pytest.mark.parametrize(("least", "huge"), [(0, False), (1, False), (0, True), (1, True)])
def test_ldi_is_the_best_of_all_label_sequences(bound: str, least: int, huge: bool) -> None:
    for problem in problems(least, 500, least=least, huge=huge):
        chain, truth, pairs = problem.chain(), problem.truth(), scores_of(problem)
        found = chain.decode(problem.scores, pairs=pairs, inference=LDI(bound=bound), infeasible="return")
        if not truth:
            assert found.status is Status.INFEASIBLE
            continue
        labels = tuple(found.labels.tolist())
        assert found.status is Status.OPTIMAL
        # Numbers of 250 digits are known to 16 of them: a sequence may be the best but for rounding.
        best = max(truth.values())
        assert truth[labels] == best if not huge else truth[labels] >= best * (1 - LITTLE)
        assert found.probability == pytest.approx(float(truth[labels]), rel=1e-10)


@pytest.mark.parametrize("steps", [1, 2])
def test_the_bound_is_never_below_the_truth_when_stopped_early(steps: int) -> None:
    early = 0
    for problem in problems(steps, 300, least=1, most=9):
        truth = problem.truth()
        found = problem.chain().decode(
            problem.scores, pairs=scores_of(problem), inference=LDI(steps=steps, bound="mass")
        )
        assert math.exp(found.bound) >= float(max(truth.values())) * (1 - LITTLE)
        assert not found.optimal or truth[tuple(found.labels.tolist())] == max(truth.values())
        early += not found.optimal
    assert early


def test_the_k_best_marginals_and_probabilities() -> None:
    for problem in problems(3, 300):
        chain, truth, pairs = problem.chain(), problem.truth(), scores_of(problem)
        ranked = sorted(truth.values(), reverse=True)
        found = chain.decode(problem.scores, pairs=pairs, k=5, infeasible="return")
        assert [truth[tuple(one.labels.tolist())] for one in found] == ranked[:5]
        if not truth:
            continue
        at_each = np.zeros((len(problem.emissions), chain.labels))
        for labels, probability in truth.items():
            at_each[np.arange(len(labels)), labels] += float(probability)
            known = chain.log_probability(problem.scores, labels, pairs=pairs)
            assert math.exp(known) == pytest.approx(float(probability), rel=1e-11)
        assert chain.marginals(problem.scores, pairs=pairs).probabilities == pytest.approx(at_each, abs=1e-12)
        several = chain.sequences(problem.scores, 1000, pairs=pairs)
        assert several.probabilities.sum() == pytest.approx(1)


def test_the_best_path_and_the_best_points() -> None:
    for problem in problems(4, 300, least=1):
        chain, pairs = problem.chain(), scores_of(problem)
        steps = logs(problem.transitions) + pairs
        ends = (None if x is None else logs(x) for x in (problem.start, problem.end))
        single = len(problem.emissions) == 1
        hidden = certus.Chain(logs(problem.transitions) if single else steps, *ends)
        path = chain.decode(problem.scores, pairs=pairs, inference=BHP())
        through = hidden.decode(problem.scores, allowed=chain.owner == path.labels[:, None])
        assert through.score == pytest.approx(hidden.decode(problem.scores).score, abs=1e-12)
        points = chain.decode(problem.scores, pairs=pairs, inference=BMP())
        marginals = chain.marginals(problem.scores, pairs=pairs).probabilities
        rows = np.arange(len(points.labels))
        assert marginals[rows, points.labels] == pytest.approx(marginals.max(1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_and_transitions_are_one_sum(dtype: type) -> None:
    rng = np.random.default_rng(5)
    for problem in [draw(rng) for _ in range(200)]:
        length, states = problem.emissions.shape
        bare = Problem(problem.emissions, np.ones((states, states), int), problem.owner)
        whole = Problem(problem.emissions, problem.transitions, problem.owner)
        moves: Any = rng.integers(-9, 9, (states, states)).astype(dtype)  # whole numbers: the same in both
        expected = LatentChain(moves, bare.owner).decode(bare.scores, infeasible="return")
        pairs = np.repeat(moves[None], length - 1, 0)
        found = bare.chain().decode(bare.scores, pairs=pairs, infeasible="return")
        assert found.labels.tolist() == expected.labels.tolist()
        assert found.score == expected.score
        nothing = np.zeros((length - 1, states, states), dtype)
        plain = whole.chain().decode(whole.scores, infeasible="return")
        same = whole.chain().decode(whole.scores, pairs=nothing, infeasible="return")
        assert same.labels.tolist() == plain.labels.tolist()
        assert same.score == pytest.approx(plain.score, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_of_labels_are_those_of_all_their_states(dtype: type) -> None:
    rng = np.random.default_rng(8)
    for problem in [draw(rng, latent=2) for _ in range(200)]:
        chain, length = problem.chain(), len(problem.emissions)
        own: Any = rng.integers(-5, 5, (length - 1, chain.labels, chain.labels)).astype(dtype)
        spread = own[:, chain.owner[:, None], chain.owner]
        for k in (1, 3):
            mine = chain.decode(problem.scores, pairs=own, k=k, infeasible="return")
            same = chain.decode(problem.scores, pairs=spread, k=k, infeasible="return")
            for one, other in zip(*((x,) if k == 1 else x for x in (mine, same)), strict=True):
                assert one.labels.tolist() == other.labels.tolist()
                assert one.score == other.score


def test_a_batch_is_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(6)
    chain = LatentChain(rng.normal(size=(6, 6)), 2, names=["O", "B-X", "I-X"])
    lengths = [4, 0, 1, 7, 2]
    emissions = [rng.normal(size=(n, 6)) for n in lengths]
    pairs = [rng.normal(size=(max(n - 1, 0), 6, 6)) for n in lengths]
    legal = certus.bio(["O", "B-X", "I-X"])
    for allowed in (None, legal):
        together = chain.decode_batch(emissions, pairs=pairs, threads=2, allowed=allowed)
        for one, x, own in zip(together, emissions, pairs, strict=True):
            alone = chain.decode(x, pairs=own, allowed=allowed)
            assert alone.labels.tolist() == one.labels.tolist()
            assert alone.score == one.score
            assert allowed is None or legal.accepts(one.labels.tolist())


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (
            np.zeros((3, 2, 2)),
            r"pairs must have shape \(T-1, H, H\), here \(2, 2, 2\): one matrix",
        ),
        (np.zeros((2, 2)), r"it has \(2, 2\)"),
        (np.full((2, 2, 2), np.nan), r"pairs\[0, 0, 0\] is nan"),
        (np.full((2, 2, 2), np.inf), r"pairs\[0, 0, 0\] is \+?inf"),
    ],
)
def test_what_cannot_be_is_refused(pairs: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LatentChain(np.zeros((2, 2)), 1).decode(np.zeros((3, 2)), pairs=pairs)
    with pytest.raises(InvalidInput, match="pairs is for 1 sentences, but there are 2"):
        LatentChain(np.zeros((2, 2)), 1).decode_batch([np.zeros((3, 2))] * 2, pairs=[np.zeros((2, 2, 2))])
