"""Times calls so that the figures mean something on a machine that does other things, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any, TypeAlias, TypeVar

import numpy as np

Call: TypeAlias = Callable[[], Any]
Answer = TypeVar("Answer")
Check: TypeAlias = Callable[[int, Any], None]

LEAST_CALLS = 3  # however slow, unless one call alone is over the budget
HOPELESS = 10.0  # budgets


@dataclass(frozen=True)
class Spread:
    """The median time of a call in seconds, and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        """Summarise some times."""
        low, median, high = np.quantile(np.asarray(seconds), (0.25, 0.5, 0.75))
        return cls(float(median), float(low), float(high))

    def scale(self, factor: float) -> Spread:
        """Return the same per something else, such as per sentence of a batch."""
        return Spread(self.median * factor, self.low * factor, self.high * factor)


def time_call(call: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return the seconds that a call takes, and its answer."""
    begin = perf_counter()
    answer = call()
    return perf_counter() - begin, answer


def time_processor(call: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return the seconds of processor time that a call takes, and its answer: for calls on one thread."""
    begin = process_time()
    answer = call()
    return process_time() - begin, answer


@dataclass
class Stopwatch:
    """Times one call for each of several inputs, over and over, in turns that a runner hands out.

    The first call of a turn is not counted: it brings code and data back into the caches. Inputs rotate, so
    that no call finds just its own data there. An input's time is the median of its calls; the result is the
    median over inputs, with its quartiles.

    Args:
        calls: one for each input.
        check: is given the index of the input and the answer of each timed call, outside the clock.
        budget: seconds in all. If a call takes longer, it stays the only one.
    """

    calls: Sequence[Call]
    check: Check
    budget: float
    times: list[list[float]] = field(init=False)
    once: bool = field(init=False, default=False)
    _next: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.times = [[] for _ in self.calls]

    def turn(self, share: float = 1.0) -> None:
        """Spend a share of the budget."""
        if self.once:
            return
        begin = perf_counter()
        warm_up = self._clock(0)
        if not self.count and warm_up > self.budget:
            # A first call may prepare what later ones use, so it does not count unless it is hopeless.
            alone = warm_up if warm_up > HOPELESS * self.budget else self._clock(0)
            if alone > self.budget:
                self.times[0].append(alone)
                self.once = True
                return
        enough = self.count + max(1, round(share * LEAST_CALLS))
        while self.count < enough or perf_counter() - begin < share * self.budget:
            index = self._next
            self.times[index].append(self._clock(index))
            self._next = (index + 1) % len(self.calls)

    def _clock(self, index: int) -> float:
        taken, answer = time_call(self.calls[index])
        self.check(index, answer)
        return taken

    @property
    def count(self) -> int:
        """How many calls were timed."""
        return sum(map(len, self.times))

    @property
    def inputs(self) -> int:
        """How many inputs they were."""
        return sum(1 for times in self.times if times)

    @property
    def spread(self) -> Spread:
        """The time of a call, over inputs; over calls if there is one input only."""
        timed = [times for times in self.times if times]
        return Spread.of(timed[0] if len(timed) == 1 else [float(np.median(times)) for times in timed])


def race(watches: Sequence[Stopwatch], turns: int = 3, tick: Callable[[int], None] = lambda _: None) -> None:
    """Let stopwatches take turns, so that a disturbance of the machine does not fall on one alone.

    Args:
        watches: what to time.
        turns: how many times each gets its share of its budget.
        tick: called with the index of a stopwatch before each of its turns.
    """
    for _ in range(turns):
        for index, watch in enumerate(watches):
            tick(index)
            watch.turn(1 / turns)
