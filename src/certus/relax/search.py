"""The solve: minimise the dual; where a gap stays, narrow, tighten, and at last branch."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from certus import _native
from certus.part import Forbidden
from certus.relax.dual import Branch, Dual, Evaluation
from certus.relax.errors import Inconsistent
from certus.relax.fixing import find_impossible
from certus.relax.layout import Floats, Layout, Mask
from certus.relax.optimizers import DualProblem, Optimizer
from certus.relax.oracle import SLACK, Answer, Oracle
from certus.relax.primal import Completer, Whole
from certus.relax.trace import Trace

ROOT, NODE = 200, 40  # iterations of a relaxation when the caller sets no limit
PATIENCE = 30  # iterations without a better dual before something else is tried


@dataclass(frozen=True)
class Limits:
    """When to stop; ``iterations`` of all branches together, None for the usual ones of each."""

    iterations: int | None
    seconds: float | None
    nodes: int
    tolerance: float
    whole: bool


@dataclass(frozen=True)
class Progress:
    """Where a solve stands, as it is reported while it runs."""

    iteration: int
    dual: float
    bound: float
    score: float
    nodes: int
    open: int
    seconds: float


@dataclass(eq=False)
class Node:
    """A branch with the best bound on its wholes, and the multipliers that proved it."""

    branch: Branch
    bound: float
    multipliers: Floats
    average: Floats | None = None


class Stop(Exception):
    """A limit was hit; the message names it."""


class Search:
    """One solve. The state is public to the code that makes a solution of it, at any time."""

    def __init__(
        self,
        layout: Layout,
        oracles: Sequence[Oracle],
        optimizer: Optimizer,
        limits: Limits,
        tighten: bool,
        watch: Callable[[Progress], None] | None,
    ) -> None:
        self.layout, self.optimizer, self.limits = layout, optimizer, limits
        self.tighten, self.watch = tighten, watch
        self.dual = Dual(layout, oracles)
        self.primal = Completer(self.dual)
        self.trace = Trace()
        self.nodes = self.fixed = self.tightened = 0
        self.bound = np.inf
        self.proven = False
        self.average: Floats | None = None
        self.final: Evaluation | None = None
        self._began = time.perf_counter()
        self._open: list[tuple[float, int, Node]] = []
        self._number = itertools.count()

    def run(self) -> None:
        """Search until the answer is proven (or that there is none). Raises Stop at a limit."""
        none = np.zeros(self.layout.variables, bool)
        self._push(Node(Branch(none, none.copy()), np.inf, np.zeros(self.layout.copies)))
        while self._open:
            node = heapq.heappop(self._open)[2]
            if self._is_closed(node.bound):
                break
            if self.nodes >= self.limits.nodes:
                self._push(node)
                raise Stop("nodes")
            self.nodes += 1
            try:
                self._explore(node)
            except BaseException:
                self._push(node)  # its bound still counts
                raise
        self.proven = True
        self.bound = self.primal.score

    def _push(self, node: Node) -> None:
        heapq.heappush(self._open, (-node.bound, next(self._number), node))

    def _explore(self, node: Node) -> None:
        """Bound a branch; if that does not settle it, narrow it until only splitting it is left."""
        while True:
            try:
                last = self._minimize(node)
            except Forbidden:
                return  # the branch holds no whole
            if last is None:
                return
            if self._narrow(node) or self._tighten(node):
                continue
            return self._split(node, last)

    def _minimize(self, node: Node) -> Evaluation | None:
        """Minimise the dual in a branch. Return the last evaluation, or None if the branch is settled."""
        free = self.dual.free(node.branch)
        stepper = self.optimizer.start(DualProblem(self.dual, node.branch, free))
        multipliers = self.dual.snap(node.multipliers, free)
        total, best, since = np.zeros(self.layout.copies), np.inf, 0
        for count in itertools.count(1):
            evaluation = self.dual.evaluate(node.branch, multipliers)
            self.final = evaluation
            total += evaluation.x
            if evaluation.dual < best - 1e-3 * max(best - self.primal.score, 0.0):
                since = 0
            since += 1
            if evaluation.dual < best:
                best, node.multipliers = evaluation.dual, multipliers
            if self._settle(node, evaluation, stepper.step):
                return None
            self._check_limits()
            following = stepper.next(evaluation, self.primal.best)
            node.average = self.average = _prefer_undecided(stepper.average(), total / count)
            if following is None or self._enough(count, since):
                return evaluation
            multipliers = following
        raise AssertionError("unreachable")

    def _enough(self, count: int, since: int) -> bool:
        """Whether it is time to try something else than more iterations."""
        if self.limits.iterations is None:
            if count >= (ROOT if self.nodes == 1 else NODE):
                return True
        elif self.limits.nodes == 1:
            return False
        return since > PATIENCE

    def _settle(self, node: Node, evaluation: Evaluation, step: float) -> bool:
        """Note what an evaluation shows; return whether the branch is done."""
        if not self.trace:
            self.dual.set_scale(evaluation.magnitude)
        score, refused = math.nan, self.dual.is_refused(node.branch, evaluation)
        if refused:  # the branch holds no whole
            node.bound = -np.inf
        elif evaluation.agree:
            self._check_reserves(evaluation.answers)
            score = sum(answer.score for answer in evaluation.answers)
            self.primal.offer(Whole(score, evaluation.answers))
            node.bound = min(node.bound, score)
        else:
            node.bound = min(node.bound, self._round_down(evaluation))
            if not self._is_closed(node.bound):
                score = self.primal.propose(evaluation)
                if self.primal.best is not None and score == self.primal.score:
                    self._check_reserves(self.primal.best.answers)
        self._note(node, evaluation, score, step)
        return refused or evaluation.agree or self._is_closed(node.bound, evaluation.magnitude)

    def _is_closed(self, bound: float, magnitude: float = 0.0) -> bool:
        """Whether a bound leaves nothing better than the best score, but for rounding."""
        return bound <= self.primal.score + self.limits.tolerance * magnitude

    def _round_down(self, evaluation: Evaluation) -> float:
        """Return the dual; of whole-numbered scores the whole number below it, but for rounding."""
        if not self.limits.whole:
            return evaluation.dual
        return math.floor(evaluation.dual + SLACK * evaluation.magnitude)

    def _note(self, node: Node, evaluation: Evaluation, score: float, step: float) -> None:
        """Add an iteration to the trace, with the bound that holds for all branches together."""
        others = -self._open[0][0] if self._open else -np.inf
        narrowed = node.branch.off.any() or node.branch.on.any()
        here = max(evaluation.dual, self.primal.score) if narrowed else evaluation.dual
        dual = max(here, others)
        if self.primal.score > dual + SLACK * (evaluation.magnitude + abs(self.primal.score)):
            raise Inconsistent(
                f"a whole scores {self.primal.score:.9g}, more than the bound of {dual:.9g} that the parts' "
                "maxima prove: some part does not maximise, or its score is not that of its structure"
            )
        self.bound = min(self.bound, max(node.bound, others, self.primal.score))
        trace = self.trace
        trace.dual.append(max(dual, self.primal.score))
        trace.bound.append(self.bound)
        trace.primal.append(score)
        trace.best.append(self.primal.score)
        trace.step.append(step)
        trace.node.append(self.nodes - 1)
        trace.seconds.append(time.perf_counter() - self._began)
        if self.watch is not None:
            now = (len(trace), dual, self.bound, self.primal.score, self.nodes, len(self._open))
            self.watch(Progress(*now, trace.seconds[-1]))

    def _check_limits(self) -> None:
        _native.check_interrupt()  # for threads that another one may have cancelled
        if self.limits.iterations is not None and len(self.trace) >= self.limits.iterations:
            raise Stop("iterations")
        if self.limits.seconds is not None and time.perf_counter() - self._began >= self.limits.seconds:
            raise Stop("seconds")

    def _check_reserves(self, answers: Sequence[Answer]) -> None:
        if self.layout.reserve.any():
            ones = self.layout.total(np.concatenate([answer.x for answer in answers]))
            if (self.layout.reserve & (ones > 0) & (ones < self.layout.count)).any():
                self._refuse_reserves()

    def _refuse_reserves(self) -> NoReturn:
        raise Inconsistent(
            "the parts agree on every shared cell, but not on those given to tighten: these have to follow "
            "from the agreement. Use agree for them instead"
        )

    def _narrow(self, node: Node) -> bool:
        """Forbid the cells that no better whole uses; return whether there were any."""
        if not self.tighten or self.primal.best is None:
            return False
        score, whole = self.primal.score, self.limits.whole
        found = find_impossible(self.dual, node.branch, node.multipliers, score, whole=whole)
        if not found.any():
            return False
        node.branch.off |= found
        self.fixed += int(found.sum())
        return True

    def _tighten(self, node: Node) -> bool:
        """Switch on the reserves that the averaged choices violate; return whether there were any."""
        layout = self.layout
        held = layout.reserve & ~self.dual.active
        if not self.tighten or not held.any() or node.average is None:
            return False
        mean = layout.total(node.average) / layout.count
        apart = np.abs(node.average - mean[layout.var]) > 1e-3
        loose = held & (layout.total(apart.astype(np.float64)) > 0)
        if not loose.any():
            return False
        self.dual.active = self.dual.active | loose
        self.tightened += int(loose.sum())
        return True

    def _split(self, node: Node, last: Evaluation) -> None:
        """Replace a branch by two: a variable at 0, and at 1."""
        if self.limits.nodes == 1:
            self._push(node)
            raise Stop("nodes")
        chosen = self._choose_disputed(node, last)
        for side in ("off", "on"):
            branch = node.branch.copy()
            getattr(branch, side)[chosen] = True
            self._push(Node(branch, node.bound, node.multipliers))

    def _choose_disputed(self, node: Node, last: Evaluation) -> int:
        """Choose the variable whose average is furthest from being decided, among those in dispute."""
        layout = self.layout
        average = last.x if node.average is None else node.average
        mean = layout.total(average) / layout.count
        spread = layout.total((average - mean[layout.var]) ** 2) / layout.count
        open_: Mask = self.dual.free(node.branch) & ~layout.reserve
        if not open_.any():
            self._refuse_reserves()
        doubt = np.where(open_, mean * (1 - mean) + spread + 1e-6 * last.split, -1.0)
        return int(np.argmax(doubt))


def _prefer_undecided(mixture: Floats | None, average: Floats) -> Floats:
    """Return the mixture that an optimiser knows if it leaves anything open, else the average so far."""
    if mixture is not None and ((mixture > 0.01) & (mixture < 0.99)).any():
        return mixture
    return average
