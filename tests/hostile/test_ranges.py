"""Scores over the whole range of floats, against exact arithmetic: nothing false is proven.

Scores are whole multiples of 2^-1074, so that Python's integers hold every sum without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus import _native
from certus.chain import METHODS
from certus.chain.part import ChainPart
from certus.latent import LatentChain
from certus.lattice import TagLattices

MANY = [name for name, method in METHODS.items() if method.many]
SINGLE, DOUBLE = np.float32, np.float64
HUGE = {SINGLE: float(np.finfo(SINGLE).max), DOUBLE: float(np.finfo(DOUBLE).max)}
REFUSED = "may add up beyond the range of float64"
ROUNDINGS = 8  # of the largest magnitude, for each position: what an answer may be off by


@dataclass
class Problem:
    """Any scores: emissions (T, L), transitions (L, L) or (T-1, L, L), start and end (L,)."""

    emissions: NDArray[Any]
    transitions: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]

    @property
    def chain(self) -> Any:
        return certus.Chain(self.transitions, self.start, self.end)

    def largest(self) -> Fraction:
        """The largest finite magnitude."""
        arrays = (self.emissions, self.transitions, self.start, self.end)
        return max(Fraction(float(np.abs(np.where(np.isinf(x), 0, x)).max(initial=0))) for x in arrays)

    def can_overflow(self) -> bool:
        """Whether the documented rule refuses the scores in float64."""
        size = [Fraction(float(np.abs(np.where(np.isinf(x), 0, x)).max(initial=0))) for x in self.parts()]
        total = len(self.emissions) * size[0] + (len(self.emissions) - 1) * size[1] + 2 * max(size[2:])
        return total * 16 > Fraction(HUGE[DOUBLE]) * Fraction(999, 1000)

    def parts(self) -> tuple[NDArray[Any], ...]:
        return self.emissions, self.transitions, self.start, self.end

    def tolerance(self) -> Fraction:
        unit = Fraction(float(np.finfo(self.emissions.dtype).eps)) / 2
        return ROUNDINGS * len(self.emissions) * unit * self.largest()

    def score(self, path: Any) -> Fraction | None:
        """The exact score of a path, or None where it is forbidden."""
        steps = np.broadcast_to(self.transitions, (max(len(path) - 1, 0), *self.transitions.shape[-2:]))
        terms = [float(self.start[path[0]]), float(self.end[path[-1]])]
        terms += [float(self.emissions[t, y]) for t, y in enumerate(path)]
        terms += [float(steps[t, path[t], path[t + 1]]) for t in range(len(path) - 1)]
        return None if -np.inf in terms else sum(map(Fraction, terms), Fraction(0))

    def best(self, k: int) -> list[Fraction]:
        """The k best scores, exactly."""
        length, labels = self.emissions.shape
        scores = [self.score(path) for path in product(range(labels), repeat=length)]
        return sorted((score for score in scores if score is not None), reverse=True)[:k]

    def best_of_many(self) -> Fraction | None:
        """The best score, exactly, by a dynamic program over integers."""
        nodes = as_integers(self.emissions)
        nodes[0] += as_integers(self.start)
        nodes[-1] += as_integers(self.end)
        links = as_integers(np.broadcast_to(self.transitions, (len(nodes) - 1, *self.transitions.shape[-2:])))
        best = nodes[0]
        for link, node in zip(links, nodes[1:], strict=True):
            best = (best[:, None] + link).max(axis=0) + node
        return None if best.max() < NEVER // 2 else Fraction(best.max(), UNIT)


UNIT, NEVER = 2**1074, -(2**5000)


def as_integers(values: NDArray[Any]) -> Any:
    """The same as multiples of the smallest number; what is forbidden is beyond all of their sums."""
    each = [NEVER if x == -np.inf else int(Fraction(x) * UNIT) for x in np.ravel(values).tolist()]
    whole = np.empty(len(each), object)
    whole[:] = each
    return whole.reshape(np.shape(values))


def random_problem(rng: np.random.Generator, dtype: Any, labels: int | None = None) -> Problem:
    """A problem whose scores mix a few magnitudes, from the smallest numbers to the largest."""
    length, labels = int(rng.integers(1, 5)), labels or int(rng.integers(1, 5))
    lowest, highest = (-149, 127) if dtype is SINGLE else (-1074, 1023)
    near = rng.integers(lowest, highest + 1, 1) + np.array([0, -30])
    choice = [near, rng.integers(lowest, highest + 1, 3), np.array([highest, 0]), np.array([lowest, highest])]
    exponents = np.clip(choice[rng.integers(len(choice))], lowest, highest)

    def draw(shape: tuple[int, ...]) -> NDArray[Any]:
        sizes = np.ldexp(rng.choice([1.0, 1.5, rng.random()], shape), rng.choice(exponents, shape))
        sizes = np.where(rng.random(shape) < 0.05, HUGE[dtype], sizes)
        values = np.where(rng.random(shape) < 0.5, -1, 1) * np.minimum(sizes, HUGE[dtype])
        values = np.where(rng.random(shape) < 0.1, 0, values)
        return np.where(rng.random(shape) < rng.choice([0, 0.3]), -np.inf, values).astype(dtype)

    shape = (labels, labels) if rng.random() < 0.7 else (max(length - 1, 0), labels, labels)
    zeros = np.zeros(labels, dtype)
    ends = [draw((labels,)) if rng.random() < 0.5 else zeros for _ in range(2)]
    return Problem(draw((length, labels)), draw(shape), *ends)


def check_answer(problem: Problem, found: Any, best: list[Fraction], rank: int = 0) -> None:
    exact = problem.score(found.labels)
    assert exact is not None
    tolerance = problem.tolerance()
    assert abs(Fraction(found.score) - exact) <= tolerance
    assert abs(best[rank] - exact) <= tolerance or (not found.optimal and exact < best[rank])
    assert Fraction(found.bound) >= best[rank] - tolerance


def decode(problem: Problem, **options: Any) -> Any:
    """Decode, or return None where the scores are refused as the rule says."""
    try:
        return problem.chain.decode(problem.emissions, infeasible="return", **options)
    except certus.InvalidInput as error:
        check_refusal(problem, error)
        return None


def check_refusal(problem: Problem, error: certus.InvalidInput) -> None:
    assert REFUSED in str(error)
    assert problem.emissions.dtype == DOUBLE
    assert problem.can_overflow()


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_nothing_false_is_proven(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(120):
        problem = random_problem(rng, dtype)
        best = problem.best(1)
        for method in METHODS:
            found = decode(problem, method=method)
            if found is None:
                refused += 1
            elif best:
                assert found.status is not certus.Status.INFEASIBLE
                check_answer(problem, found, best)
            else:
                assert found.status is certus.Status.INFEASIBLE
    assert refused > 0 or dtype is SINGLE


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_lists_are_complete(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem = random_problem(rng, dtype)
        k = int(rng.integers(2, 9))
        best = problem.best(k)
        for method in MANY:
            found = decode(problem, method=method, k=k)
            if found is None:
                continue
            assert len(found) == len(best)
            assert len(set(map(tuple, found.labels.tolist()))) == len(best)
            for rank, one in enumerate(found):
                check_answer(problem, one, best, rank)


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_many_labels(dtype: Any) -> None:
    """More labels than the dense sweep is for, so that ``auto`` prunes."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        problem = random_problem(rng, dtype, labels=200)
        best = problem.best_of_many()
        for method in METHODS:
            found = decode(problem, method=method)
            if found is None:
                continue
            assert (found.status is certus.Status.INFEASIBLE) == (best is None)
            if best is not None:
                check_answer(problem, found, [best])


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_sums_over_paths(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        problem = random_problem(rng, dtype)
        possible = bool(problem.best(1))
        try:
            marginals = problem.chain.marginals(problem.emissions)
            drawn = problem.chain.sample(problem.emissions, 3, seed=1)
            listed = next(problem.chain.iterate(problem.emissions))
        except certus.InvalidInput as error:
            check_refusal(problem, error)
            continue
        except certus.Infeasible:
            assert not possible
            continue
        assert possible
        assert np.isfinite(marginals.log_partition)
        assert marginals.probabilities.sum(axis=1) == pytest.approx(1)
        assert problem.score(listed.labels) is not None
        assert all(problem.score(path) is not None for path in drawn)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
@pytest.mark.parametrize("labels", [3, 300])
def test_sums_beyond_the_type_are_never_answered_wrongly(method: str, dtype: Any, labels: int) -> None:
    """Single precision is decoded in double; double is refused, naming the largest score."""
    emissions = np.zeros((3, labels), dtype)
    emissions[:, 1] = [0.9 * HUGE[dtype], 0.9 * HUGE[dtype], -0.9 * HUGE[dtype]]
    emissions[1, 2] = -HUGE[dtype]
    chain = certus.Chain(np.zeros((labels, labels), dtype))
    if dtype is SINGLE:
        found = chain.decode(emissions, method=method)
        assert found.labels[:2].tolist() == [1, 1]
        assert found.labels[2] != 1
        assert found.score == 2 * float(emissions[0, 1])
        assert chain.decode_batch([emissions, emissions], method=method)[1].score == found.score
    else:
        with pytest.raises(certus.InvalidInput, match=rf"{REFUSED}: emissions\[1, 2\] is -1.79.*3 positions"):
            chain.decode(emissions, method=method)
        with pytest.raises(certus.InvalidInput, match=rf"{REFUSED}: emissions\[1\]\[1, 2\]"):
            chain.decode_batch([emissions * 0, emissions], method=method)


LARGE = np.array([[0, -1.2e308], [1.1e308, 0]])
ZEROS = np.zeros((4, 2))
REFUSALS: dict[str, Any] = {
    "transitions": lambda: certus.Chain(LARGE).decode(ZEROS),
    "of each position": lambda: certus.Chain(np.stack([LARGE] * 3)).decode(ZEROS),
    "sparse": lambda: certus.Chain(certus.SparseTransitions(2, [0], [1], [1e308])).decode(ZEROS),
    "default": lambda: certus.Chain(certus.SparseTransitions(2, [], [], [], default=1e308)).decode(ZEROS),
    "start": lambda: certus.Chain(ZEROS[:2], start=LARGE[0]).decode(ZEROS),
    "end": lambda: certus.Chain(ZEROS[:2], end=LARGE[0]).decode(ZEROS),
    "k": lambda: certus.Chain(LARGE).decode(ZEROS, k=3),
    "batch": lambda: certus.Chain(LARGE).decode_batch([ZEROS, ZEROS], threads=2),
    "marginals": lambda: certus.Chain(LARGE).marginals(ZEROS),
    "sample": lambda: certus.Chain(LARGE).sample(ZEROS),
    "paths": lambda: next(certus.Chain(LARGE).iterate(ZEROS)),
    "score": lambda: certus.Chain(LARGE).score(ZEROS, [1, 0, 1, 0]),
    "automaton": lambda: certus.Chain(LARGE).decode(ZEROS, allowed=certus.bio(["O", "B-X"])),
    "mask": lambda: certus.Chain(LARGE).decode(ZEROS, allowed=np.ones((4, 2), bool)),
    "latent": lambda: LatentChain(LARGE, 1).decode(ZEROS),
    "latent marginals": lambda: LatentChain(LARGE, 1).marginals(ZEROS),
    "latent labels": lambda: LatentChain(LARGE, 1).log_probability(ZEROS, [0, 0, 0, 0]),
    "latent pairs": lambda: LatentChain(LARGE / 2, 1).decode(ZEROS, pairs=np.full((3, 2, 2), -1.5e308)),
}


@pytest.mark.parametrize("where", REFUSALS)
def test_sums_beyond_double_are_refused_everywhere(where: str) -> None:
    with pytest.raises(certus.InvalidInput, match=REFUSED):
        REFUSALS[where]()


def test_parts_are_made_of_scores_that_leave_room_for_multipliers() -> None:
    with pytest.raises(
        certus.InvalidInput, match=r"transitions\[0, 1\] is .*; the magnitudes of scores go up to"
    ):
        ChainPart(certus.Chain(LARGE), ZEROS)


def test_adjustments_beyond_the_range_are_refused() -> None:
    model: Any = certus.Chain(ZEROS[:2]).prepare(np.dtype(DOUBLE))
    native = _native.ChainLattices(model, np.array([0, 4]), np.zeros((4, 2), np.float32))
    lattices = TagLattices(native, ["a", "b"])
    adjust = np.zeros((4, 2))
    adjust[2, 1] = 1.5e308
    with pytest.raises(certus.InvalidInput, match=r"adjust is 1.5e\+308 for label 'b' at token 2; .* beyond"):
        lattices.decode(tokens=np.arange(4), adjust=adjust)
    with pytest.raises(certus.InvalidInput, match="beyond"):
        lattices.max_marginals(0, adjust)
    with pytest.raises(certus.InvalidInput, match="masked"):
        lattices.max_marginals(0, np.ma.masked_greater(adjust, 1))
    assert lattices.decode(tokens=np.arange(4), adjust=adjust / 1e10)[0][2] == 1


def test_one_position_needs_no_sums_of_transitions() -> None:
    assert certus.Chain(LARGE).decode([[0, 1]]).labels.tolist() == [1]


def test_forbidden_is_not_large() -> None:
    never = np.full((4, 2), -np.inf)
    with pytest.raises(certus.Infeasible):
        certus.Chain(LARGE).decode(never)


@pytest.mark.parametrize("value", [-1e30, -1e300, float(np.finfo(DOUBLE).min) / 1e4])
def test_large_numbers_that_stand_for_forbidden_do_no_harm(value: float) -> None:
    rng = np.random.default_rng(5)
    chain = certus.Chain(np.where(rng.random((8, 8)) < 0.5, value, rng.normal(size=(8, 8))))
    emissions = rng.normal(size=(6, 8))
    scores = np.asarray(chain.transitions)
    transitions = np.where(scores == value, -np.inf, scores)
    for method in METHODS:
        wanted = certus.Chain(transitions).decode(emissions, method=method)
        assert chain.decode(emissions, method=method).labels.tolist() == wanted.labels.tolist()
