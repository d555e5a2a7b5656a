"""The certificate of a chain: potentials, the best score of what follows each label at each position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certus.chain.model import ChainModel, Labels
from certus.chain.sparse import SparseTransitions
from certus.checks import Floats
from certus.solution import LabelSolution, Status
from certus.verification import Certificate, Problem, certify, make_problem


def state_problem(model: ChainModel, scores: Floats) -> Problem:
    """Return a sentence as a problem that ``certus.verify`` takes."""
    transitions = model.transitions
    dense = transitions.to_dense() if isinstance(transitions, SparseTransitions) else transitions
    data = {"emissions": scores, "transitions": dense, "start": model.start, "end": model.end}
    return make_problem("chain", {name: array for name, array in data.items() if array is not None})


def certify_labels(model: ChainModel, scores: Floats, found: LabelSolution[Labels]) -> Certificate:
    """Return the certificate of a sentence's answer."""
    answer = None if found.status is Status.INFEASIBLE else found.value.tolist()
    return certify_answer(state_problem(model, scores), answer)


def certify_answer(problem: Problem, labels: list[int] | None) -> Certificate:
    """Return the certificate of labels; None where no labels are possible."""
    return certify(problem, labels, {"potentials": list_numbers(_find_potentials(problem))})


def list_numbers(array: NDArray[np.float64]) -> list[list[float | None]]:
    """Return a matrix as lists of numbers, with None for -inf, as certificates have them."""
    return [[None if number == -np.inf else number for number in row] for row in array.tolist()]


def _find_potentials(problem: Problem) -> NDArray[np.float64]:
    """Return the best score of what follows each label at each position, (T, L)."""
    emissions, transitions = problem.data["emissions"], problem.data["transitions"]
    length, labels = emissions.shape
    potentials = np.zeros((length, labels))
    for t in range(length - 1, 0, -1):
        step = transitions if transitions.ndim == 2 else transitions[t - 1]
        worth = emissions[t] + potentials[t]
        if t == length - 1 and "end" in problem.data:
            worth = worth + problem.data["end"]
        potentials[t - 1] = (step + worth).max(axis=1)
    return potentials
