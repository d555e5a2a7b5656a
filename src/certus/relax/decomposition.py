"""State the parts and where they agree; get the best whole, with its proof."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from certus import _native
from certus.checks import check_count, check_infeasible, read_seconds
from certus.errors import InvalidInput
from certus.part import NativePart, Part
from certus.relax.assembly import Assembly, assemble, has_max_marginals
from certus.relax.cells import as_cells
from certus.relax.certificate import Stated, certify_whole, list_structure, state_whole
from certus.relax.errors import Inconsistent, Interrupted, NoAgreement, PartFailed, describe_too_large
from certus.relax.layout import Group, Layout, Member, lay_out
from certus.relax.optimizers import Optimizer, choose
from certus.relax.progress import Progress, Watch, start_watch
from certus.relax.solution import ByPart, Handle, JointSolution
from certus.relax.trace import Trace
from certus.solution import OnInfeasible, Status, conclude
from certus.verification import Problem

# A part, one of its spaces, and perhaps some of the cells there.
Side: TypeAlias = tuple[Handle, str] | tuple[Handle, str, ArrayLike | None]

NODES = 1000  # where nothing else limits a search
MANY_NODES = sys.maxsize
TOLERANCE = 1e-12
_LIMITS = {
    _native.SearchEnd.SEARCHED: Status.FEASIBLE,
    _native.SearchEnd.ITERATIONS: Status.ITERATIONS,
    _native.SearchEnd.SECONDS: Status.SECONDS,
    _native.SearchEnd.NODES: Status.NODES,
    None: Status.STOPPED,
}
_Failure = _native.SearchFailure


class Decomposition:
    """Parts that are easy alone, and the cells on which they have to agree.

    The best whole is the structures, one per part, that agree and whose scores have the highest sum.
    ``solve`` minimises the Lagrangian dual (Rush et al. 2010; Rush & Collins 2011), which needs nothing of a
    part but its maximum under adjusted scores, and proves the answer where it can; where the relaxation has a
    gap, it fixes cells, switches on reserves (``agree_lazily``) and branches until the answer is proven.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2010", "rush2011")

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._handles: list[Handle] = []
        self._weights: list[float] = []
        self._spaces: list[dict[str, tuple[int, ...]]] = []
        self._groups: list[Group] = []

    @property
    def parts(self) -> tuple[Handle, ...]:
        """The handles of all parts, in the order they were added."""
        return tuple(self._handles)

    def add(self, part: Part, name: str | None = None, *, weight: float = 1.0) -> Handle:
        """Add a part; return the handle by which ``agree`` and the solution know it.

        Args:
            part: anything with ``spaces`` and ``maximize`` (see certus.relax.Part).

        Other args:
            name: for messages and for ``solution.value[name]``; the class and a number by default.
            weight: how much the part's score counts in the sum.
        """
        spaces = _read_spaces(part)
        if not (isinstance(weight, int | float | np.number) and math.isfinite(weight) and weight > 0):
            raise InvalidInput(f"the weight of a part must be a number above zero, not {weight!r}")
        name = f"{type(part).__name__}-{len(self._parts)}" if name is None else name
        if any(handle.name == name for handle in self._handles):
            raise InvalidInput(f"there is a part named {name!r} already; names must differ")
        handle = Handle(len(self._parts), name)
        self._parts.append(part)
        self._handles.append(handle)
        self._weights.append(float(weight))
        self._spaces.append(spaces)
        return handle

    def agree(self, *sides: Side) -> None:
        """Demand that spaces of two or more parts have the same indicators.

        Each side is ``(part, name)``, or ``(part, name, cells)`` for some of the cells, in the order in which
        they correspond: indices into the flattened space, coordinates (n, dimensions), or a mask.
        """
        self._groups.append(self._group(sides, reserve=False))

    def agree_lazily(self, *sides: Side) -> None:
        """Hold an agreement in reserve: it is enforced only where, and when, the relaxation is loose.

        It has to follow from the other agreements, such as that of tag bigrams from that of tags; the parts
        return these indicators always, but their adjustments only when some of the cells are switched on.
        """
        self._groups.append(self._group(sides, reserve=True))

    def solve(
        self,
        *,
        max_iterations: int | None = None,
        seconds: float | None = None,
        optimizer: str | Optimizer = "auto",
        max_nodes: int | None = None,
        tighten: bool = True,
        integral: bool = False,
        tolerance: float = TOLERANCE,
        progress: bool | Callable[[Progress], None] | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> JointSolution:
        """Find the best whole and prove it, unless a limit is hit, which the status says.

        Args:
            max_iterations: the most iterations (each asks every part at most once for the dual), over all
                branches. None: no limit but those of time and nodes; a relaxation is left for branching after
                200 iterations, in a branch after 40.
            seconds: the most time; None for no limit. Parts of your own are not ended halfway: it is looked
                at between calls.
            optimizer: one of ``certus.relax.OPTIMIZERS``, by name or as an object with options.

        Other args:
            max_nodes: the most branches; 1 never branches. By default 1,000, and where ``seconds`` are given
                as many as fit into them.
            tighten: whether cells are fixed by bounds and reserves switched on.
            integral: promise that all scores (times weights) are whole numbers, so that bounds may be rounded
                down. A score that is not is refused.
            tolerance: the gap, in shares of the magnitudes added up, that counts as rounding.
            progress: True for a line on stderr, or a function that gets a Progress each iteration.
            infeasible: whether parts that cannot agree raise NoAgreement or return a solution with that
                status.
            certificate: whether the answer comes with the numbers that prove it, for ``certus.verify``; all
                parts have to be known to the checker.
        """
        began = perf_counter()
        limit = read_seconds(seconds)
        nodes = max_nodes if max_nodes is not None else NODES if limit == math.inf else MANY_NODES
        limits = _check_limits(max_iterations, limit, nodes, tolerance, integral, tighten)
        check_infeasible(infeasible)
        chosen = choose(optimizer)
        self._check_optimizer(chosen)
        names = [handle.name for handle in self._handles]
        assembly = assemble(
            self._parts, names, self._weights, self._spaces, self._layout(), integral=integral
        )
        try:
            with start_watch(progress) as watch:
                limits.seconds = max(limits.seconds - (perf_counter() - began), 1e-9)
                solution = self._run(assembly, limits, chosen, watch)
        finally:
            del assembly  # which refers to the parts, and an error that one of them raised to this frame
        if solution.status is Status.INFEASIBLE and infeasible == "raise":
            raise NoAgreement(solution)
        if certificate:
            known = solution.score > -math.inf
            structures = (
                [list_structure(solution.value[handle]) for handle in self._handles] if known else None
            )
            solution.certificate = certify_whole(self._state(), structures, solution.bound)
        return solution

    def state_problem(self) -> Problem:
        """Return the decomposition as plain data, the problem that certificates of its answers are about."""
        return self._state().problem

    def _state(self) -> Stated:
        names = [handle.name for handle in self._handles]
        return state_whole(self._parts, names, self._weights, self._spaces, self._layout())

    def _check_optimizer(self, optimizer: Optimizer) -> None:
        lacking = [
            handle.name
            for handle, part in zip(self._handles, self._parts, strict=True)
            if optimizer.needs_max_marginals and not has_max_marginals(part)
        ]
        if lacking:
            raise InvalidInput(
                f"{optimizer.name} needs parts with max_marginals(adjust), which {', '.join(lacking[:5])} "
                'has not; use "auto", "bundle" or "subgradient"'
            )

    def _run(
        self, assembly: Assembly, limits: _native.SearchLimits, optimizer: Optimizer, watch: Watch | None
    ) -> JointSolution:
        """Search; an error that ends the search takes the best answer so far with it."""
        relaxation = assembly.relaxation
        told = None if watch is None else lambda now: watch(_read_progress(now))
        try:
            end = relaxation.run(limits, optimizer.native, told)
            self._check_failure(relaxation)
        except PartFailed as error:
            error.solution = self._solution(assembly, None)
            raise
        except KeyboardInterrupt as error:
            if not relaxation.began:
                raise
            raise Interrupted(self._solution(assembly, None)) from error
        else:
            return self._solution(assembly, end)
        finally:
            del assembly, relaxation

    def _check_failure(self, relaxation: _native.Relaxation) -> None:
        """Say what the parts returned that cannot be."""
        if relaxation.failure is _Failure.NOT_WHOLE:
            name = self._handles[relaxation.failed_part].name
            raise Inconsistent(
                f"part {name} has a score that is not a whole number, but integral=True promised that",
                name,
            )
        if relaxation.failure is _Failure.TOO_LARGE:
            raise describe_too_large(relaxation.failed_score)
        if relaxation.failure is _Failure.CONTRADICTION:
            raise Inconsistent(
                f"a whole scores {relaxation.failed_score:.9g}, more than the bound of "
                f"{relaxation.failed_dual:.9g} that the parts' maxima prove: some part does not maximise, or "
                "its score is not that of its structure"
            )
        if relaxation.failure is _Failure.PART_ERROR:
            number = relaxation.failed_part
            name, part = self._handles[number].name, cast("NativePart", self._parts[number])
            cell = relaxation.failed_cell
            what = relaxation.failure_message if cell < 0 else part.describe_used_twice(cell)
            raise PartFailed(f"part {name}: {what}; the best answer so far is in this error's solution", name)
        if relaxation.failure is _Failure.LOOSE_RESERVES:
            raise Inconsistent(
                "the parts agree on every shared cell, but not on those given to tighten: these have to "
                "follow from the agreement. Use agree for them instead"
            )

    def _solution(self, assembly: Assembly, end: _native.SearchEnd | None) -> JointSolution:
        """Read what a search found; ``end`` is None where an error ended it."""
        found = assembly.relaxation
        known = found.score > -math.inf
        status, bound = conclude(found.score, found.bound, _LIMITS[end], allowance=found.allowance)
        proven = status in (Status.OPTIMAL, Status.INFEASIBLE)
        choices = [assembly.read_choice(number) for number in range(len(self._parts))] if known else []
        pairs = list(zip(self._handles, choices, strict=False))
        trace = _read_trace(found.trace)
        return JointSolution(
            ByPart({handle: choice.value for handle, choice in pairs}),
            found.score,
            bound,
            status,
            indicators=ByPart({handle: choice.indicators for handle, choice in pairs}),
            scores=ByPart({handle: float(choice.score) for handle, choice in pairs}),
            average=ByPart({h: assembly.read_average(h.index) for h in self._handles}),
            trace=trace,
            limit=None if proven or status is Status.FEASIBLE else status.value,
            calls=self._sort_by_part(found.calls.tolist()),
            skipped=self._sort_by_part(found.skipped.tolist()),
            completions=self._sort_by_part(found.completions.tolist()),
            work={
                "iterations": len(trace),
                "nodes": found.nodes,
                "fixed": found.fixed,
                "tightened": found.tightened,
            },
        )

    def _sort_by_part(self, counts: Iterable[int]) -> ByPart[int]:
        return ByPart(zip(self._handles, counts, strict=True))

    def _layout(self) -> Layout:
        if not self._parts:
            raise InvalidInput("there are no parts to solve: add them first")
        return lay_out(self._spaces, self._groups)

    def _group(self, sides: tuple[Side, ...], reserve: bool) -> Group:
        if len(sides) < 2:
            raise InvalidInput(
                "an agreement needs two sides or more, each (part, name) or (part, name, cells)"
            )
        members = tuple(self._member(side) for side in sides)
        sizes = [len(member.cells) for member in members]
        if len(set(sizes)) > 1:
            shapes = [self._spaces[m.part][m.space] for m in members]
            told = ", ".join(
                f"{self._handles[m.part].name} {m.space!r} {shape}: {size} cells"
                for m, shape, size in zip(members, shapes, sizes, strict=True)
            )
            raise InvalidInput(f"the sides of an agreement need as many cells each; got {told}")
        shapes = [self._spaces[m.part][m.space] for m in members]
        if all(len(side) == 2 for side in sides) and len(set(shapes)) > 1:
            told = ", ".join(
                f"{self._handles[m.part].name} {m.space!r} {s}" for m, s in zip(members, shapes, strict=True)
            )
            raise InvalidInput(
                f"the spaces of an agreement need the same shape; got {told}. To say which cells correspond, "
                "give (part, name, cells)"
            )
        return Group(members, reserve)

    def _member(self, side: Side) -> Member:
        if not isinstance(side, tuple | list) or len(side) not in (2, 3):
            raise InvalidInput(f"a side of an agreement is (part, name) or (part, name, cells), not {side!r}")
        handle, space = side[0], side[1]
        if not isinstance(handle, Handle) or self._handles[handle.index : handle.index + 1] != [handle]:
            known = ", ".join(handle.name for handle in self._handles) or "none yet"
            raise InvalidInput(
                f"{handle!r} is not a part of this decomposition; use what add returned. "
                f"The parts are: {known}"
            )
        spaces = self._spaces[handle.index]
        if space not in spaces:
            known = ", ".join(f"{name!r} {shape}" for name, shape in spaces.items()) or "none"
            raise InvalidInput(f"part {handle.name} has no space {space!r}; its spaces are: {known}")
        what = f"part {handle.name}, space {space!r}"
        cells = side[2] if len(side) == 3 else None
        return Member(handle.index, space, as_cells(cells, spaces[space], what), all=cells is None)


def _read_spaces(part: object) -> dict[str, tuple[int, ...]]:
    """Read the spaces of a part, or say why it cannot be one."""
    if not callable(getattr(part, "maximize", None)):
        raise InvalidInput(f"a part needs a method maximize(adjust); {type(part).__name__} has none")
    spaces = getattr(part, "spaces", None)
    if not isinstance(spaces, Mapping):
        raise InvalidInput(
            f"a part needs spaces, the shapes of its indicator arrays by name, such as "
            f'{{"tags": (5, 12)}}; {type(part).__name__} has {spaces!r}'
        )
    return {name: _read_shape(shape, name, part) for name, shape in spaces.items()}


def _read_shape(shape: Iterable[int], name: str, part: object) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in shape)
    except (TypeError, ValueError):
        sizes = (-1,)
    if any(size < 0 for size in sizes):
        raise InvalidInput(
            f"space {name!r} of {type(part).__name__} has the shape {shape!r}: not a tuple of sizes"
        )
    return sizes


def _check_limits(
    iterations: int | None, seconds: float, nodes: int, tolerance: float, integral: bool, tighten: bool
) -> _native.SearchLimits:
    for name, value in (("max_iterations", iterations), ("max_nodes", nodes)):
        if value is not None or name == "max_nodes":
            check_count(name, value)
    if not 0 <= tolerance < 1e-6:
        raise InvalidInput(f"tolerance is a share for rounding, from 0 to 1e-6, not {tolerance!r}")
    return _native.SearchLimits(
        seconds=seconds,
        nodes=int(nodes),
        tolerance=tolerance,
        iterations=-1 if iterations is None else int(iterations),
        whole=integral,
        tighten=tighten,
    )


def _read_progress(now: _native.SearchProgress) -> Progress:
    return Progress(now.iteration, now.dual, now.bound, now.score, now.nodes, now.open, now.seconds)


def _read_trace(trace: _native.SearchTrace) -> Trace:
    return Trace(
        dual=trace.dual.tolist(),
        bound=trace.bound.tolist(),
        primal=trace.primal.tolist(),
        best=trace.score.tolist(),
        step=trace.step.tolist(),
        node=(trace.nodes - 1).tolist(),
        seconds=trace.seconds.tolist(),
    )
