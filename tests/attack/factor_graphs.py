"""Factor graphs of tables and constraints, by every optimiser, with and without limits.

Graphs of few assignments are enumerated. Larger ones have factors on neighbouring variables only: there,
assignments to the variables that no later factor looks at are merged, in exact sums of whole numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from certus.relax import OPTIMIZERS, FactorGraph, Literal, Subgradient, Variable
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible, pick
from tests.attack.scores import Regime, draw_regime

MOST = 700  # assignments that are enumerated
SHARE = 1e-11  # of the scores of an assignment that counts as rounding; the library's own share is 8e-12
UNIT = 2**1074  # all floats are whole multiples of its inverse
RULES = ("halving", "inverse", "decay", "polyak", "koo", "chang")
LIMITS: tuple[dict[str, Any], ...] = (
    {"max_nodes": 1},
    {"max_nodes": 2},
    {"max_nodes": 3},
    {"max_nodes": 40},
    {"max_nodes": 60, "tighten": False},
    {"seconds": 1e-6},
    {"seconds": 1e-3},
    {"tighten": False, "seconds": 20},
)
Truthful = tuple[int, int, bool]  # variable, state, negated


@dataclass(frozen=True)
class FactorProblem:
    """Variables and factors.

    Attributes:
        variables: the scores of the states of each; a float for a binary one, which is on or off.
        factors: (kind, literals or axes, more): "table" with its scores in C order, "count" with least and
            most, "or-output", "knapsack" with weights and capacity. A literal is (variable, state, negated);
            an axis is a variable, or a tuple of binary ones of which exactly one is on.
    """

    variables: tuple[Any, ...]
    factors: tuple[tuple[Any, ...], ...]
    integral: bool
    seed: int

    def count_states(self, variable: int) -> int:
        """Return how many states a variable has."""
        scores = self.variables[variable]
        return 2 if isinstance(scores, float) else len(scores)

    def list_own(self, variable: int, state: int) -> float:
        """Return the score of a state."""
        scores = self.variables[variable]
        return float(scores[state]) if not isinstance(scores, float) else scores * state if state else 0.0

    def score_factor(self, number: int, states: Sequence[int]) -> float:
        """Return what a factor adds; -inf where it is broken."""
        kind, over, *more = self.factors[number]
        if kind == "table":
            place = 0
            for axis in over:
                if isinstance(axis, int):
                    place = place * self.count_states(axis) + states[axis]
                    continue
                on = [n for n, variable in enumerate(axis) if states[variable]]
                if len(on) != 1:
                    return -math.inf
                place = place * len(axis) + on[0]
            return float(more[0][place])
        true = [(states[variable] == state) != negated for variable, state, negated in over]
        if kind == "count":
            return 0.0 if more[0] <= sum(true) <= more[1] else -math.inf
        if kind == "or-output":
            return 0.0 if any(true[:-1]) == true[-1] else -math.inf
        weight = sum(itertools.compress(more[0], true))
        return 0.0 if weight <= more[1] else -math.inf

    def is_tiny(self) -> bool:
        """Return whether all scores are too close to the least numbers for multipliers."""
        rows = [[scores] if isinstance(scores, float) else list(scores) for scores in self.variables]
        rows += [list(more[0]) for kind, _, *more in self.factors if kind == "table"]
        return all(abs(x) < 1e-298 or x == -math.inf for row in rows for x in row)

    def list_variables(self, number: int) -> set[int]:
        """Return the variables of a factor."""
        kind, over, *_ = self.factors[number]
        if kind != "table":
            return {variable for variable, _, _ in over}
        return {v for axis in over for v in ([axis] if isinstance(axis, int) else axis)}

    def score(self, states: Sequence[int]) -> Exact | None:
        """Return the score of an assignment."""
        terms = [self.list_own(variable, state) for variable, state in enumerate(states)]
        terms += [self.score_factor(number, states) for number in range(len(self.factors))]
        return add_terms(terms, integral=self.integral, share=SHARE)


@dataclass(frozen=True)
class FrontierTruth(Truth):
    """The best score of a graph whose assignments are too many to list."""

    problem: Any = None
    best: tuple[Exact, ...] = field(default=())

    def find(self, structure: Hashable) -> Exact | None:
        """Return the score of an assignment."""
        exact: Exact | None = self.problem.score(structure)
        return exact

    def list_best(self, k: int) -> list[Exact]:
        """Return the best score."""
        assert k == 1
        return list(self.best)


class FactorGraphs:
    """The best assignment."""

    name = "factor-graphs"

    def draw(self, rng: Random) -> FactorProblem:
        """Return a small graph with any factors, or one of up to 30 variables with narrow ones."""
        regime = draw_regime(rng, largest=260, shares=(0.0, 0.0, 0.05, 0.2))
        large = rng.random() < 0.15
        variables: list[Any] = []
        while len(variables) < (rng.randint(8, 30) if large else rng.randint(1, 6)):
            binary = rng.random() < 0.6
            states = 1 if rng.random() < 0.1 else rng.randint(2, 4)
            made = regime.draw(rng) if binary else tuple(regime.draw(rng) for _ in range(states))
            sizes = [2 if isinstance(v, float) else len(v) for v in [*variables, made]]
            if not large and math.prod(sizes) > MOST:
                break
            variables.append(made)
        problem = FactorProblem(tuple(variables), (), regime.integral, rng.getrandbits(32))
        count = len(variables) if large else rng.randint(0, 5)
        factors = []
        for _ in range(count):
            first = rng.randrange(len(variables))
            near = range(first, min(first + 4, len(variables))) if large else range(len(variables))
            factors.append(_draw_factor(rng, problem, list(near), regime))
        return FactorProblem(tuple(variables), tuple(factors), regime.integral, problem.seed)

    def enumerate(self, problem: FactorProblem) -> Truth:
        """Score all assignments, or merge them from left to right."""
        sizes = [problem.count_states(variable) for variable in range(len(problem.variables))]
        if math.prod(sizes) > MOST:
            best = find_optimum(problem)
            return FrontierTruth({}, 0.0, problem, () if best is None else (best,))
        found = {}
        for states in itertools.product(*map(range, sizes)):
            exact = problem.score(states)
            if exact is not None:
                found[states] = exact
        return Truth(found)

    def ask(self, problem: FactorProblem) -> Iterator[Question]:
        """Ask all optimisers, without limits and with one."""
        rng = Random(problem.seed)
        graph = make_graph(problem)
        optimizers: list[Any] = [*OPTIMIZERS, Subgradient(rule=rng.choice(RULES))]  # type: ignore[arg-type]
        for optimizer in optimizers:
            name = optimizer if isinstance(optimizer, str) else optimizer.rule
            for limits in ({"seconds": 20}, *pick(rng, LIMITS, 2)):
                infeasible = choose_infeasible(rng)
                unlimited = "max_nodes" not in limits and limits.get("seconds", 20) == 20
                yield Question(
                    name if unlimited else f"{name} limited",
                    _make_call(graph, optimizer=optimizer, infeasible=infeasible, **limits),
                    exact=unlimited,
                    may_refuse="scale them up" if problem.is_tiny() else "",
                    infeasible=infeasible,
                )


def find_optimum(problem: FactorProblem) -> Exact | None:
    """Return the best score: assignments that differ in what no later factor sees are merged."""
    members = [problem.list_variables(number) for number in range(len(problem.factors))]
    frontier: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {(): (0, 0)}  # score and size, in units
    for variable in range(len(problem.variables)):
        due = [number for number, own in enumerate(members) if max(own) == variable]
        later = {v for own in members if max(own) > variable for v in own}
        merged: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        for known, (total, size) in frontier.items():
            for state in range(problem.count_states(variable)):
                states = dict(known) | {variable: state}
                row = [states.get(v, 0) for v in range(variable + 1)]
                terms = [problem.list_own(variable, state)]
                terms += [problem.score_factor(number, row) for number in due]
                if -math.inf in terms:
                    continue
                key = tuple((v, s) for v, s in states.items() if v in later)
                units = [int(Fraction(term) * UNIT) for term in terms]
                value = total + sum(units), size + sum(map(abs, units))
                merged[key] = max(value, merged.get(key, value))
        frontier = merged
    if not frontier:
        return None
    best, size = max(frontier.values())
    return Exact(best / UNIT, 0.0 if problem.integral else SHARE * (size / UNIT))


def make_graph(problem: FactorProblem) -> FactorGraph:
    """Return the graph of a problem."""
    graph = FactorGraph()
    made = [
        graph.add_binary(scores) if isinstance(scores, float) else graph.add_variable(scores)
        for scores in problem.variables
    ]
    for kind, over, *more in problem.factors:
        if kind == "table":
            axes: list[Any] = [
                made[axis] if isinstance(axis, int) else [made[v] for v in axis] for axis in over
            ]
            shape = [axis.states if isinstance(axis, Variable) else len(axis) for axis in axes]
            graph.add_table(axes, _nest(list(more[0]), shape))
            continue
        literals = [_make_literal(made[variable], state, negated) for variable, state, negated in over]
        if kind == "count":
            _add_count(graph, literals, *more)
        elif kind == "or-output":
            graph.add_or_output(literals[:-1], literals[-1])
        else:
            graph.add_knapsack(literals, more[0], more[1])
    return graph


def _make_literal(variable: Variable, state: int, negated: bool) -> Any:
    literal: Literal = variable[state]
    return ~literal if negated else literal


def _add_count(graph: FactorGraph, literals: list[Any], least: int, most: int) -> None:
    """Add a count by the method that is named after it, where there is one."""
    if least == most == 1:
        graph.add_exactly_one(literals)
    elif (least, most) == (0, 1):
        graph.add_at_most_one(literals)
    elif (least, most) == (1, len(literals)):
        graph.add_or(literals)
    else:
        graph.add_count(literals, least=least, most=most)


def _draw_factor(rng: Random, problem: FactorProblem, near: list[int], regime: Regime) -> tuple[Any, ...]:
    if rng.random() < 0.45:
        axes: list[Any] = list(pick(rng, near, rng.choice([1, 2, 2, 2, 3])))
        rng.shuffle(axes)
        binary = [v for v in near if isinstance(problem.variables[v], float) and v not in axes]
        if len(binary) > 1 and rng.random() < 0.2:
            axes[rng.randrange(len(axes))] = tuple(binary[:3])
        sizes = [problem.count_states(axis) if isinstance(axis, int) else len(axis) for axis in axes]
        return "table", tuple(axes), tuple(regime.draw(rng) for _ in range(math.prod(sizes)))
    cells = [
        (v, state)
        for v in near
        for state in range(1 if isinstance(problem.variables[v], float) else 0, problem.count_states(v))
    ]
    chosen = rng.sample(cells, min(len(cells), rng.choice([1, 2, 2, 3, 3, 4])))
    literals: tuple[Truthful, ...] = tuple((v, state, rng.random() < 0.3) for v, state in chosen)
    kind = rng.choice(["one", "at-most-one", "or", "count", "or-output", "knapsack"])
    size = len(literals)
    if kind == "or-output" and size > 1:
        return "or-output", literals
    if kind == "knapsack":
        weights = tuple(rng.randint(0, 4) for _ in literals)
        return "knapsack", literals, weights, rng.randint(0, 6)
    least, most = {"one": (1, 1), "at-most-one": (0, 1), "or": (1, size)}.get(kind, (0, size))
    if kind == "count":
        least = rng.randint(0, size)
        most = rng.randint(least, size)
    return "count", literals, least, most


def _nest(flat: list[float], shape: list[int]) -> Any:
    """Return nested lists of a shape."""
    for size in reversed(shape[1:]):
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]  # type: ignore[misc]
    return flat


def _make_call(graph: FactorGraph, **options: Any) -> Callable[[], Any]:
    return lambda: graph.solve(**options)
