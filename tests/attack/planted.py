"""An attack on solvers that lie, crash and hang, to see that each is found."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from certus import Solution, Status
from tests.attack.attack import Exact, Question, Truth


@dataclass(frozen=True)
class PlantedProblem:
    """The number of the defect."""

    defect: int


class Planted:
    """Every fifth problem is answered honestly; the others meet a lie, an error, a crash and a hang."""

    name = "planted:Planted"

    def draw(self, rng: Random) -> PlantedProblem:
        """Return one of them."""
        return PlantedProblem(rng.randrange(5))

    def enumerate(self, problem: PlantedProblem) -> Truth:
        """Two structures are allowed."""
        return Truth({(0,): Exact(1.0, 0.0), (1,): Exact(2.0, 0.0)})

    def ask(self, problem: PlantedProblem) -> Iterator[Question]:
        """Ask the solver of the defect."""
        yield Question(f"solver {problem.defect}", lambda: solve(problem.defect), exact=True)


def solve(defect: int) -> Solution[tuple[int, ...]]:
    """Return the best structure, or fail in one of four ways."""
    if defect == 1:
        return Solution((0,), 1.0, 1.0, Status.OPTIMAL)
    if defect == 2:
        raise ZeroDivisionError("planted")
    if defect == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if defect == 4:
        time.sleep(600)
    return Solution((1,), 2.0, 2.0, Status.OPTIMAL)
