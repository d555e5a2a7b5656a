"""Factor graphs: variables, tables and constraints; the best assignment, with proof."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count, check_infeasible, read_seconds
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.part import LARGEST
from certus.relax.assembly import fix_variables
from certus.relax.certificate import Stated, certify_whole
from certus.relax.cycles import Pairs, find_pairs
from certus.relax.cycles import tighten as tighten_cycles
from certus.relax.errors import Inconsistent, Interrupted, describe_too_large
from certus.relax.factors import Count, Factor, Floats, Knapsack, OrOutput, Table
from certus.relax.optimizers import Auto, Optimizer, choose
from certus.relax.parts.logic import LARGEST_TABLE
from certus.relax.variables import AnyLiteral, Assignment, Axis, Literal, Variable
from certus.solution import OnInfeasible, Status, conclude
from certus.verification import Problem, make_problem

TOLERANCE = 1e-12
AT_ONCE = 1 << 18  # entries of all tables on the way: graphs so narrow are solved by elimination,
NARROW = 1 << 22  # and these as well where the search takes more than
FEW_NODES = 30
MANY_NODES = 50  # after which other graphs get clusters on cycles
ALMOST = 1e-9  # seconds: no time is left
_LIMITS = {
    _native.SearchEnd.SEARCHED: Status.FEASIBLE,
    _native.SearchEnd.SECONDS: Status.SECONDS,
    _native.SearchEnd.NODES: Status.NODES,
}


class FactorGraph:
    """Variables, the scores of their states, and factors on several of them: tables and constraints.

    The best assignment is that with the highest sum of scores among those that meet all constraints.
    ``solve`` finds it and proves it, natively: the dual of the linear relaxation is minimised by coordinate
    descent (Kolmogorov 2006; Globerson & Jaakkola 2007) and a proximal bundle (Swoboda & Kolmogorov 2019),
    variables are fixed by bounds, and where a gap stays the search branches, and joins the tables on cycles
    that contradict each other (Sontag et al. 2008).
    """

    papers: ClassVar[tuple[str, ...]] = ("kolmogorov2006", "globerson2007", "swoboda2019", "sontag2008")

    def __init__(self) -> None:
        self._variables: list[Variable] = []
        self._scores: list[float] = []
        self._factors: list[Factor] = []
        self._whole: set[int] = set()  # variables of several states that some table keeps to exactly one
        self._cells: set[int] = set()  # those that factors have
        self._largest = 0.0  # the sum of the largest magnitudes of all tables
        self._pairs = 0  # tables of two variables with several states each

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order in which they were added."""
        return tuple(self._variables)

    @property
    def factors(self) -> int:
        """How many factors there are."""
        return len(self._factors)

    def add_variable(self, scores: ArrayLike) -> Variable:
        """Add a variable that has one of several states; ``scores`` are theirs, -inf forbids."""
        values = _as_scores("scores of a variable", scores)
        if values.ndim != 1 or not len(values):
            raise InvalidInput(f"scores of a variable need the shape (states,), not {values.shape}")
        return self._add(values.tolist(), binary=False)

    def add_binary(self, score: float = 0.0) -> Variable:
        """Add a variable that is on or off; ``score`` counts where it is on."""
        value = _as_scores("the score of a binary variable", score)
        if value.ndim:
            raise InvalidInput(f"the score of a binary variable is one number, not {score!r}")
        return self._add([float(value)], binary=True)

    def add_table(self, variables: Sequence[Axis], scores: ArrayLike) -> None:
        """Add scores of the states of several variables together.

        Args:
            variables: one or more, each once. A list of binary variables stands for one that has them as its
                states: exactly one of them is on.
            scores: an array with an axis for each variable, as long as it has states; -inf forbids.
        """
        table = _as_scores("scores of a table", scores)
        axes = [self._read_axis(axis) for axis in variables]
        shape = tuple(states for _, states, _ in axes)
        if table.shape != shape or not shape:
            raise InvalidInput(f"scores of this table need the shape {shape}, not {table.shape}")
        cells = [cell for own, _, _ in axes for cell in own]
        if len(set(cells)) < len(cells):
            raise InvalidInput("a table has each of its variables once; this one names a variable twice")
        single = [one for _, _, one in axes]
        self._whole.update(v.index for v in variables if isinstance(v, Variable) and not v.binary)
        self._largest += float(np.abs(table[np.isfinite(table)]).max(initial=0.0))
        self._pairs += len(axes) == 2 and not any(single)
        self._add_factor(Table(cells, list(shape), single, table.reshape(-1)))

    def add_exactly_one(self, literals: Iterable[AnyLiteral]) -> None:
        """Demand that exactly one of the literals is true."""
        self.add_count(literals, least=1, most=1)

    def add_at_most_one(self, literals: Iterable[AnyLiteral]) -> None:
        """Demand that at most one of the literals is true."""
        self.add_count(literals, most=1)

    def add_or(self, literals: Iterable[AnyLiteral]) -> None:
        """Demand that at least one of the literals is true."""
        self.add_count(literals, least=1)

    def add_count(self, literals: Iterable[AnyLiteral], *, least: int = 0, most: int | None = None) -> None:
        """Demand that from ``least`` to ``most`` (None: all) of the literals are true: a budget."""
        given = self._read_literals(literals)
        most = len(given) if most is None else most
        for name, value in (("least", least), ("most", most)):
            check_count(name, value, least=0)
        self._add_factor(Count(*_split(given), least, min(most, len(given))))

    def add_or_output(self, inputs: Iterable[AnyLiteral], output: AnyLiteral) -> None:
        """Demand that ``output`` is true exactly where at least one of the inputs is."""
        self._add_factor(OrOutput(*_split(self._read_literals([*inputs, output]))))

    def add_knapsack(self, literals: Iterable[AnyLiteral], weights: Sequence[int], capacity: int) -> None:
        """Demand that the weights of the true literals, whole numbers, sum to at most ``capacity``."""
        given = self._read_literals(literals)
        check_count("capacity", capacity, least=0)
        if len(weights) != len(given):
            raise InvalidInput(f"there are {len(given)} literals, but {len(weights)} weights")
        for weight in weights:
            check_count("a weight", weight, least=0)
        capacity = min(int(capacity), sum(map(int, weights)))
        if len(given) * capacity > LARGEST_TABLE:
            raise InvalidInput(
                f"a knapsack of {len(given)} literals with a capacity of {capacity} needs a table of "
                f"{len(given) * capacity} numbers; the most is {LARGEST_TABLE}: divide the weights"
            )
        known = [min(int(weight), capacity + 1) for weight in weights]  # what never fits weighs too much
        self._add_factor(Knapsack(*_split(given), known, capacity))

    def _add_factor(self, factor: Factor) -> None:
        self._factors.append(factor)
        self._cells.update(factor.cells)

    def score(self, states: ArrayLike) -> float:
        """Return the score of an assignment, one state per variable; -inf where it breaks a constraint."""
        given = np.asarray(states)
        if given.shape != (len(self._variables),) or not np.issubdtype(given.dtype, np.integer):
            raise InvalidInput(f"states must be {len(self._variables)} whole numbers, one per variable")
        on = self._find_on(given)
        scores = np.array(self._scores)
        return float(scores[on].sum() + sum(factor.score(on[factor.cells]) for factor in self._factors))

    def _find_on(self, states: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which cells are on where variables have these states."""
        on = np.zeros(len(self._scores), bool)
        for variable, state in zip(self._variables, states.tolist(), strict=True):
            literal = variable[state]
            on[literal.cell] = not literal.negated
        return on

    def solve(
        self,
        *,
        seconds: float | None = None,
        max_nodes: int | None = None,
        optimizer: str | Optimizer = "auto",
        tighten: bool = True,
        tolerance: float = TOLERANCE,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Assignment:
        """Find the best assignment and prove it, unless a limit is hit, which the status says.

        Args:
            seconds: the most time.
            max_nodes: the most branches; 1 never branches. What is searched depth first at the multipliers
                of a branch is part of that branch.

        Other args:
            optimizer: one of ``certus.relax.OPTIMIZERS``, by name or as an object with options. ``auto``
                sweeps over the factors, which suits most graphs best.
            tighten: whether clusters of three variables are added on cycles of tables that contradict each
                other, where 50 branches did not suffice (certus/relax/cycles.py).
            tolerance: the gap, in shares of the magnitudes added up, that counts as rounding.
            infeasible: whether constraints that nothing meets raise Infeasible or return an assignment with
                that status.
            certificate: whether the answer comes with the numbers that prove it, for ``certus.verify``.
        """
        found = self._solve(seconds, max_nodes, choose(optimizer), tighten, tolerance, infeasible)
        if certificate:
            structures = self._list_structures(found.value) if len(found.value) else None
            found.certificate = certify_whole(self._state(), structures, found.bound)
        return found

    def state_problem(self) -> Problem:
        """Return the factor graph as plain data, the problem that certificates of its answers are about."""
        return self._state().problem

    def _state(self) -> Stated:
        parts = [
            {**factor.state_part(own), "links": np.array(factor.cells, np.int64)}
            for factor, own in self._share_scores()
        ]
        problem = make_problem("decomposition", {"parts": parts, "variables": len(self._scores)})

        def relax(fixed: Mapping[int, bool]) -> _native.Relaxation:
            return self._relax(self._make_graph(), fixed)

        return Stated(problem, relax, [np.arange(len(part["links"])) for part in parts])

    def _list_structures(self, states: NDArray[np.int64]) -> list[list[int]]:
        """Return the states of each table, and the cells that are on of each other factor."""
        on = self._find_on(states)
        return [factor.list_structure(on[factor.cells]) for factor, _ in self._share_scores()]

    def _solve(
        self,
        seconds: float | None,
        max_nodes: int | None,
        optimizer: Optimizer,
        tighten: bool,
        tolerance: float,
        infeasible: OnInfeasible,
    ) -> Assignment:
        check_infeasible(infeasible)
        limit = read_seconds(seconds)
        if max_nodes is not None:
            check_count("max_nodes", max_nodes)
        if not self._variables:
            raise InvalidInput("there is nothing to solve: add variables first")
        began = perf_counter()
        nodes = sys.maxsize if max_nodes is None else max_nodes
        graph = self._make_graph()
        entries = graph.count_entries(NARROW) if nodes > FEW_NODES else math.inf
        if entries <= AT_ONCE and isinstance(optimizer, Auto):
            return self._eliminate(graph, None, infeasible)
        narrow = entries <= NARROW
        loose = tighten and self._pairs > 2 and not narrow and nodes > MANY_NODES

        def find_time_left() -> float:
            return max(limit - (perf_counter() - began), ALMOST)

        tried: list[_native.Relaxation] = []

        def search(relaxation: _native.Relaxation, nodes: int) -> _native.SearchEnd:
            tried.append(relaxation)
            limits = _native.SearchLimits(seconds=find_time_left(), nodes=nodes, tolerance=tolerance)
            end = relaxation.run(limits, optimizer.native, None)
            _check_failure(relaxation)
            return end

        try:
            graph.merge()
            relaxation = self._relax(graph)
            end = search(relaxation, FEW_NODES if narrow else MANY_NODES if loose else nodes)
            if narrow and end is _native.SearchEnd.NODES:
                return self._eliminate(graph, relaxation, infeasible)
            if loose and end is _native.SearchEnd.NODES:
                tightened = self._tighten(search, lambda: find_time_left() <= ALMOST)
                if find_time_left() > ALMOST:
                    tightened.carry_on(relaxation, perf_counter() - began, len(self._scores))
                    end, relaxation = search(tightened, nodes), tightened
                else:
                    end = _native.SearchEnd.SECONDS
        except KeyboardInterrupt as error:
            begun = [relaxation for relaxation in tried if relaxation.began]
            if not begun:
                raise
            raise Interrupted(self._read_best(begun)) from error
        return self._read_answer(relaxation, end, infeasible)

    def _read_best(self, tried: Sequence[_native.Relaxation]) -> Assignment:
        """Return the best answer and the least bound of searches that were interrupted."""
        best = max(tried, key=lambda relaxation: relaxation.score)
        bound = min(relaxation.bound for relaxation in tried)
        return Assignment(self._read_states(best.on), best.score, bound, Status.STOPPED, best)

    def _tighten(
        self,
        search: Callable[[_native.Relaxation, int], _native.SearchEnd],
        is_over: Callable[[], bool],
    ) -> _native.Relaxation:
        """Return the relaxation with clusters on cycles, or without where there are none that help."""
        pairs = Pairs([v.states for v in self._variables], [v.cell for v in self._variables])
        find_pairs(pairs, self._factors)
        graph = self._make_graph()
        root = self._relax(graph)
        search(root, 1)
        factors = list(self._share_scores())
        tightened = tighten_cycles(pairs, graph, factors, root.multipliers, len(self._scores), is_over)
        return self._relax(graph) if tightened is None else tightened

    def _eliminate(
        self, graph: _native.FactorGraph, tried: _native.Relaxation | None, infeasible: OnInfeasible
    ) -> Assignment:
        best = graph.eliminate(NARROW)
        if not len(best.states):
            return self._refuse(tried, infeasible)
        return Assignment(best.states, best.score, best.score, Status.OPTIMAL, tried)

    def _read_answer(
        self, answer: _native.Relaxation, end: _native.SearchEnd, infeasible: OnInfeasible
    ) -> Assignment:
        status, bound = conclude(answer.score, answer.bound, _LIMITS[end], allowance=answer.allowance)
        if status is Status.INFEASIBLE:
            return self._refuse(answer, infeasible)
        return Assignment(self._read_states(answer.on), answer.score, bound, status, answer)

    def _refuse(self, answer: _native.Relaxation | None, infeasible: OnInfeasible) -> Assignment:
        if infeasible == "raise":
            raise Infeasible(
                describe_infeasible(
                    "no assignment meets all constraints",
                    "Look for constraints that contradict each other",
                )
            )
        nothing = np.empty(0, np.int64)
        return Assignment(nothing, -math.inf, -math.inf, Status.INFEASIBLE, answer)

    def _read_states(self, on: NDArray[np.int8]) -> NDArray[np.int64]:
        if not len(on):
            return np.empty(0, np.int64)
        return np.array(
            [on[v.cell] if v.binary else np.argmax(on[v.cell : v.cell + v.states]) for v in self._variables],
            np.int64,
        )

    def _share_scores(self) -> Iterator[tuple[Factor, Floats]]:
        """Yield every factor with the scores it carries: that of a cell goes to the first that has it."""
        given, scores = np.zeros(len(self._scores), bool), np.array(self._scores)
        for factor in [*self._factors, *self._complete()]:
            yield factor, np.where(given[factor.cells], 0.0, scores[factor.cells])
            given[factor.cells] = True

    def _make_graph(self) -> _native.FactorGraph:
        """Hand everything to the kernels."""
        scores = np.array(self._scores)
        if not self._largest + float(np.abs(scores[np.isfinite(scores)]).sum()) <= LARGEST:
            raise InvalidInput(f"the scores sum to more than {LARGEST:.3g}, too much to add; scale them down")
        variables = self._variables
        graph = _native.FactorGraph(
            scores,
            np.array([v.cell for v in variables], np.int64),
            np.array([v.states for v in variables], np.int64),
            np.array([v.binary for v in variables], np.uint8),
        )
        for factor in itertools.chain(self._factors, self._complete()):
            factor.add_to(graph)
        return graph

    def _relax(
        self, graph: _native.FactorGraph, fixed: Mapping[int, bool] | None = None
    ) -> _native.Relaxation:
        """Return the relaxation by factors; ``fixed`` cells get a part of their own that keeps them so."""
        relaxation = _native.Relaxation()
        relaxation.add_graph(graph)
        fix_variables(relaxation, fixed or {})
        relaxation.link(len(self._scores), np.zeros(len(self._scores), np.uint8))
        return relaxation

    def _complete(self) -> Iterable[Factor]:
        """Yield what keeps variables to one state, and carries scores, where no factor does."""
        for v in self._variables:
            if v.binary and v.cell not in self._cells:
                yield Count([v.cell], [False], 0, 1)
            elif not v.binary and v.index not in self._whole:
                yield Count(list(range(v.cell, v.cell + v.states)), [False] * v.states, 1, 1)

    def _add(self, scores: list[float], *, binary: bool) -> Variable:
        variable = Variable(len(self._variables), 2 if binary else len(scores), len(self._scores), binary)
        self._variables.append(variable)
        self._scores.extend(scores)
        return variable

    def _check(self, variable: object) -> None:
        if not isinstance(variable, Variable) or self._variables[variable.index : variable.index + 1] != [
            variable
        ]:
            raise InvalidInput(
                f"{variable!r} is not a variable of this factor graph; use what add_... returned"
            )

    def _read_axis(self, axis: Axis) -> tuple[list[int], int, bool]:
        """Return the cells and the number of states of an axis, and whether it is one cell, on or off."""
        for variable in [axis] if isinstance(axis, Variable) else axis:
            self._check(variable)
        if isinstance(axis, Variable):
            cells = [axis.cell] if axis.binary else list(range(axis.cell, axis.cell + axis.states))
            return cells, axis.states, axis.binary
        if not axis or not all(variable.binary for variable in axis):
            raise InvalidInput("the states of an axis are binary variables, at least one")
        return [variable.cell for variable in axis], len(axis), False

    def _read_literals(self, literals: Iterable[AnyLiteral]) -> list[Literal]:
        given = [self._read_literal(literal) for literal in literals]
        if not given:
            raise InvalidInput("a constraint needs at least one literal")
        if len({literal.cell for literal in given}) < len(given):
            raise InvalidInput(
                "a constraint has each literal once; this one names a variable or a state twice"
            )
        return given

    def _read_literal(self, literal: AnyLiteral) -> Literal:
        if isinstance(literal, Variable):
            self._check(literal)
            return literal[1] if literal.binary else self._refuse_states(literal)
        if not isinstance(literal, Literal) or not 0 <= literal.cell < len(self._scores):
            raise InvalidInput(
                f"{literal!r} is not a literal: a binary variable, variable[state], or ~ of one"
            )
        return literal

    def _refuse_states(self, variable: Variable) -> Literal:
        raise InvalidInput(
            f"variable {variable.index} has {variable.states} states; a literal says which: variable[state]"
        )


def _check_failure(relaxation: _native.Relaxation) -> None:
    """Raise what ended a search that could not go on."""
    failure = relaxation.failure
    if failure is _native.SearchFailure.TOO_LARGE:
        raise describe_too_large(relaxation.failed_score)
    if failure is not _native.SearchFailure.NONE:
        raise Inconsistent(f"the search of a factor graph failed: {failure.name}")


def _split(literals: list[Literal]) -> tuple[list[int], list[bool]]:
    return [literal.cell for literal in literals], [literal.negated for literal in literals]


def _as_scores(what: str, scores: ArrayLike) -> Floats:
    try:
        values = np.array(scores, np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must be numbers, not {scores!r}") from None
    if np.isnan(values).any() or (values == np.inf).any():
        raise InvalidInput(f"{what} must be numbers to add: NaN and +inf are not")
    return values
