"""Solving a corpus problem: iterations, certificates, and branching on what they leave open.

``messages`` (the default) improves multipliers word by word, each best given all others, and only where
pieces of sentences and consensus nodes still disagree; proves nodes region by region; and branches on the few
that are left (native/corpus says how and why). ``subgradient`` is the algorithm of Rush et al. (2012, §6).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from certus import _native
from certus.checks import read_seconds
from certus.corpus.result import Iteration
from certus.errors import InvalidInput

METHODS = ("messages", "subgradient")
_DISAGREEING, _NEAR, _ALL = range(3)
_FEW = 48  # open nodes that are rather branched on than iterated over
_WIDE = 12  # every this many iterations, the neighbours of what disagrees are solved too
_IDLE = 16  # iterations after which nothing new is proven by more of them
_DOUBTS = 0.02  # proving does not pay while more than this share of the pieces disagrees

Progress = Callable[[Iteration], None]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop, and how to go about it.

    Attributes:
        max_iterations: over the corpus.
        seconds: in all; None for as long as it takes.
        memory: gigabytes, about, that lattices and what is undecided of them may take. Where sentences would
            need larger lattices, these stay narrower; what they lack is bounded, and less of it is proven.
        branches: of each component that iterations leave open; 0 never branches.
        method: one of METHODS.
        rate: of the first step of ``subgradient``, in units of the weight ``same``.
        lazy: whether only what may have changed is solved again. The answers are the same without, later.
    """

    max_iterations: int = 200
    seconds: float | None = None
    memory: float = 2.0
    branches: int = 2000
    method: str = "messages"
    rate: float = 0.25
    lazy: bool = True

    def __post_init__(self) -> None:
        """Refuse limits that make no sense."""
        if self.method not in METHODS:
            raise InvalidInput(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")
        if not self.max_iterations >= 0 or not self.branches >= 0:
            raise InvalidInput("max_iterations and branches must not be below 0")
        read_seconds(self.seconds)
        if not self.memory > 0:
            raise InvalidInput(f"memory is {self.memory}; it must be above 0 (gigabytes)")
        if not 0 < self.rate < math.inf:
            raise InvalidInput(f"rate is {self.rate}; it must be above 0")


class Clock:
    """Counts the seconds of a limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = time.perf_counter() + read_seconds(seconds)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._end - time.perf_counter()

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return time.perf_counter() >= self._end


def solve(
    field: _native.Field,
    limits: Limits,
    same: float,
    base: float,
    progress: Progress,
    clock: Clock,
) -> list[Iteration]:
    """Solve a closed field as far as the limits allow; returns what every iteration did.

    Args:
        field: it then holds labels, bounds, and what is still open.
        limits: when to stop.
        same: the weight, which steps are measured in.
        base: what the sentences score by themselves, which bounds leave out.
        progress: is called after each iteration.
        clock: of the limit of seconds.
    """
    if limits.method == "subgradient":
        return _run_subgradient(field, limits, same, base, clock, progress)
    trace: list[Iteration] = []
    _iterate(field, limits, base, clock, trace, progress)
    if limits.branches and field.open_nodes and not clock.is_over:
        began = time.perf_counter()
        field.branch(8, limits.branches, clock.left)
        trace.append(Iteration(base + field.bound(), 0, field.open_nodes, time.perf_counter() - began))
        progress(trace[-1])
    field.improve()  # what is still open gets labels that no word or node alone can better
    return trace


def _iterate(
    field: _native.Field,
    limits: Limits,
    base: float,
    clock: Clock,
    trace: list[Iteration],
    progress: Progress,
) -> None:
    """Iterate until little is left open, or nothing happens any more and branching can go on."""
    idle = 0
    for count in range(limits.max_iterations):
        opened = field.open_nodes
        if clock.is_over or not opened or (limits.branches and count and (opened <= _FEW or idle >= _IDLE)):
            return
        began = time.perf_counter()
        reach = _ALL if not limits.lazy else _NEAR if count % _WIDE == _WIDE - 1 else _DISAGREEING
        solved = field.iterate(reach)
        few = field.disagreeing <= _DOUBTS * field.open_blocks
        left = field.certify() if few or count % _WIDE == 0 else opened
        idle = idle + 1 if left == opened else 0
        trace.append(Iteration(base + field.bound(), solved, left, time.perf_counter() - began))
        progress(trace[-1])


def _run_subgradient(
    field: _native.Field, limits: Limits, same: float, base: float, clock: Clock, progress: Progress
) -> list[Iteration]:
    steps = _native.Subgradient(field, limits.rate * (same or 1.0), limits.lazy)
    trace: list[Iteration] = []
    for _ in range(limits.max_iterations):
        if clock.is_over or not field.open_nodes:
            break
        began = time.perf_counter()
        step = steps.iterate()
        trace.append(Iteration(base + step.bound, step.blocks, step.disagree, time.perf_counter() - began))
        progress(trace[-1])
        if not step.disagree:
            break
    if trace:
        steps.finish()
    return trace
