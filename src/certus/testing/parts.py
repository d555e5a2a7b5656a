"""Checks of parts of decompositions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.part import Choice, Forbidden, Part
from certus.testing.failure import CheckFailed, demand
from certus.verification.exact import Grid
from certus.verification.parts import KINDS

Indicators = Mapping[str, NDArray[Any]]
Structure = tuple[float, Indicators]  # the score of a structure, and what it uses of each space
Adjustment = dict[str, NDArray[np.float64]]
CLOSE = 1e-9  # of the numbers added up: more than rounding, less than a mistake


def check_part(
    part: Part, structures: Sequence[Structure] | None = None, *, trials: int = 100, seed: int = 0
) -> None:
    """Check that a part maximises, under random adjustments, forbidden cells included.

    Without ``structures``, an answer is held against all answers before it: under the adjustments of now none
    of those may be worth more, and none may be left where the part says that nothing is; nor may it have been
    worth more where something else was returned before. With all structures of a small part, every answer is
    compared with the best of them, and so are completions of any cells. ``complete``, ``state_part`` and
    ``max_marginals``, which may be bounds, are checked where the part has them.

    Args:
        part: with ``spaces`` and ``maximize``.
        structures: all that the part has, with their scores and indicators; those of -inf are not allowed.

    Other args:
        trials: how many adjustments to try.
        seed: of the adjustments.

    Raises:
        CheckFailed: something does not hold.
    """
    shapes = {name: tuple(int(size) for size in shape) for name, shape in part.spaces.items()}
    known = [(float(score), used) for score, used in structures or () if score > -np.inf]
    check, rng = _PartCheck(part, shapes, known, complete=structures is not None), np.random.default_rng(seed)
    check.try_adjustment({})
    check.try_adjustment({name: np.zeros(shape) for name, shape in shapes.items()})
    for trial in range(trials):
        forbidden = (0.0, 0.2, 0.6)[trial % 3]
        check.try_adjustment({name: _draw(rng, shape, forbidden) for name, shape in shapes.items()})
        if structures is not None:
            check.try_completion(_draw_cells(rng, shapes, known))


def _draw(rng: np.random.Generator, shape: tuple[int, ...], forbidden: float) -> NDArray[np.float64]:
    values = rng.integers(-8, 9, shape).astype(np.float64)
    values[rng.random(shape) < forbidden] = -np.inf
    return values


def _draw_cells(
    rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]], known: Sequence[Structure]
) -> dict[str, NDArray[np.int8]]:
    """Return the cells of a structure, often with one of them changed; or any cells at all."""
    if not known or rng.random() < 0.2:
        return {name: rng.integers(0, 2, shape).astype(np.int8) for name, shape in shapes.items()}
    used = known[int(rng.integers(len(known)))][1]
    cells = {name: np.array(used[name], np.int8) for name in shapes}
    for array in cells.values():
        if array.size and rng.random() < 0.5:
            array.reshape(-1)[int(rng.integers(array.size))] ^= 1
    return cells


class _PartCheck:
    """What is known of a part so far."""

    def __init__(
        self, part: Part, shapes: dict[str, tuple[int, ...]], known: list[Structure], *, complete: bool
    ) -> None:
        self.part, self.shapes, self.known, self.complete = part, shapes, known, complete
        self.name = type(part).__name__
        self.answered: list[tuple[Adjustment, float]] = []  # adjustments, and the maximum that was returned

    def try_adjustment(self, adjust: Adjustment) -> None:
        """Ask for one maximum, and compare it with everything that is known."""
        given = {name: array.copy() for name, array in adjust.items()}
        best, worth = max((self._value(one, adjust) for one in self.known), default=-np.inf), -np.inf
        choice = None
        try:
            choice = self.part.maximize(given)
            demand(isinstance(choice, Choice), f"{self.name} returned no certus.relax.Choice")
        except Forbidden:
            demand(best == -np.inf, f"{self.name} says that nothing is left, but a structure worth {best} is")
        if choice is not None:
            worth = self._read(choice, adjust)
            slack = CLOSE * (1 + abs(worth))
            demand(worth >= best - slack, f"{self.name} returned {worth}, but a structure is worth {best}")
            if self.complete:
                demand(worth <= best + slack, f"{self.name} returned {worth}, more than the best, {best}")
            self._check_completion(choice, adjust, worth)
        self.answered.append((adjust, worth))
        same = all(np.array_equal(given[name], adjust[name]) for name in adjust)
        demand(same, f"{self.name} changed the adjustments that it was given")
        self._check_marginals(adjust, choice, worth)
        self._check_statement(adjust, worth)

    def _value(self, one: Structure, adjust: Adjustment) -> float:
        return one[0] + sum(float(adjust[name][np.asarray(one[1][name]) > 0].sum()) for name in adjust)

    def _read(self, choice: Choice, adjust: Adjustment) -> float:
        """Return what a choice is worth, and remember it."""
        demand(np.isfinite(choice.score), f"{self.name} returned a structure that scores {choice.score}")
        for name, shape in self.shapes.items():
            array = np.asarray(choice.indicators.get(name))
            demand(
                array.shape == shape, f"{self.name} returned indicators of {name!r} of shape {array.shape}"
            )
            demand(np.isin(array, (0, 1)).all(), f"{self.name} returned indicators that are neither 0 nor 1")
        one = float(choice.score), {name: np.array(choice.indicators[name]) for name in self.shapes}
        worth = self._value(one, adjust)
        demand(worth > -np.inf, f"{self.name} used a cell that was forbidden")
        if not self.complete:
            self._compare_with_answers(one)
            self.known.append(one)
        elif not any(self._is_same(one, other) for other in self.known):
            raise CheckFailed(f"{self.name} returned a structure that it does not have, with that score")
        return worth

    def _compare_with_answers(self, one: Structure) -> None:
        """Demand that no earlier maximum is below what a structure would have been worth there."""
        for adjust, worth in self.answered:
            value = self._value(one, adjust)
            earlier = "that nothing was left" if worth == -np.inf else f"a maximum of {worth}"
            demand(
                value <= worth + CLOSE * (1 + abs(value)) or value == worth,
                f"{self.name} contradicts itself: it said {earlier} where this structure is worth {value}",
            )

    def _is_same(self, one: Structure, other: Structure) -> bool:
        close = abs(one[0] - other[0]) <= CLOSE * (1 + abs(one[0]))
        return close and all(np.array_equal(one[1][name], other[1][name]) for name in self.shapes)

    def _check_completion(self, choice: Choice, adjust: Adjustment, worth: float) -> None:
        """Demand of a completion what is demanded of a maximum, and that it uses just the cells given."""
        complete = getattr(self.part, "complete", None)
        if not callable(complete):
            return
        found = complete(choice.indicators)
        demand(found is not None, f"{self.name} does not complete a structure that it returned")
        own = self._read_completion(found, choice.indicators)
        slack = CLOSE * (1 + abs(choice.score) + abs(worth))
        demand(own[0] >= choice.score - slack, f"{self.name} completes worse")
        demand(self._value(own, adjust) <= worth + slack, f"{self.name} completes with more than the maximum")

    def _read_completion(self, found: Choice, asked: Indicators) -> Structure:
        used = {name: np.asarray(found.indicators.get(name)) for name in self.shapes}
        same = all(np.array_equal(used[name], asked[name]) for name in self.shapes)
        demand(same, f"{self.name} completes with other cells than those it was given")
        return float(found.score), used

    def try_completion(self, asked: dict[str, NDArray[np.int8]]) -> None:
        """Ask for the completion of any cells, and compare it with all structures."""
        complete = getattr(self.part, "complete", None)
        if not callable(complete):
            return
        scores = [
            score
            for score, used in self.known
            if all(np.array_equal(used[name], asked[name]) for name in self.shapes)
        ]
        found = complete({name: array.copy() for name, array in asked.items()})
        demand(found is None or scores, f"{self.name} completes cells that no structure has")
        demand(found is not None or not scores, f"{self.name} does not complete a structure that it has")
        if found is not None:
            own, best = self._read_completion(found, asked), max(scores)
            close = abs(own[0] - best) <= CLOSE * (1 + abs(best))
            demand(close, f"{self.name} completes with {own[0]}, but the best of these cells scores {best}")

    def _check_marginals(self, adjust: Adjustment, choice: Choice | None, worth: float) -> None:
        find = getattr(self.part, "max_marginals", None)
        if not callable(find) or choice is None:
            return
        slack = CLOSE * (1 + abs(worth))
        for name, values in find(adjust).items():
            most = float(np.max(values, initial=-np.inf))
            demand(most <= worth + slack, f"a max-marginal of {name!r} is {most}, above the maximum, {worth}")
            for one in [*self.known, (choice.score, choice.indicators)]:
                own = np.asarray(values)[np.asarray(one[1][name]) > 0]
                least = float(np.min(own, initial=np.inf))
                value = self._value(one, adjust)
                demand(least >= value - slack, f"a max-marginal of {name!r} is {least}, below {value}")

    def _check_statement(self, adjust: Adjustment, worth: float) -> None:
        """Let the checker of certificates maximise what the part states itself to be."""
        state = getattr(self.part, "state_part", None)
        stated = state() if callable(state) else None
        if stated is None or stated["kind"] == "trees":  # whose maxima the checker knows by duals alone
            return
        plain = KINDS[stated["kind"]](stated)
        rows = [adjust.get(name, np.zeros(shape)) for name, shape in self.shapes.items()]
        flat = np.concatenate([np.empty(0), *(row.reshape(-1) for row in rows)])
        demand(plain.cells == len(flat), f"{self.name} states {plain.cells} cells, but has {len(flat)}")
        large = float(2.0**40)  # more than any score: what is forbidden is never worth it
        extra = np.where(np.isneginf(flat), -large, flat).tolist()
        grid = Grid(plain.list_numbers(), extra)
        plain.lift(grid)
        found = grid.lower(plain.maximize([grid.lift(x) or 0 for x in extra], None, grid))
        value = -np.inf if found is None or found < -large / 2 else float(found)
        slack = CLOSE * (1 + abs(worth)) if np.isfinite(worth) else 0.0
        demand(value == worth or abs(value - worth) <= slack, f"{self.name} states a part worth {value}")
