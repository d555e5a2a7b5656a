"""Exact agreement over scores of one's own."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.align.agreement import FULL, Agreement, read_agreement
from certus.align.solution import Alignment
from certus.checks import Scores, as_array, check_count, check_finite, check_infeasible
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.solution import OnInfeasible, Status

LARGEST = 1e12  # of scores: sums of many keep enough digits for a proof


def align_matrix(
    forward: Scores,
    backward: Scores | None = None,
    *,
    null: Scores | tuple[Scores, Scores] = 0.0,
    agreement: Agreement | str = FULL,
    forward_steps: Scores | None = None,
    backward_steps: Scores | None = None,
    max_iterations: int = 100,
    max_nodes: int = 1_000_000,
    seconds: float | None = None,
    infeasible: OnInfeasible = "raise",
) -> Alignment:
    """Return the best pair of alignments that agree, and a proof.

    Each target word chooses a source word or nothing by ``forward``, each source word a target word or
    nothing by ``backward``; ``agreement`` says what it costs where the two differ. The score is the sum of
    all choices, those for nothing included, and of these costs (Chang et al. 2014).

    Args:
        forward: (I, J) scores of links, as a target word j sees source word i. NumPy or torch; ``-inf``
            forbids a link.
        backward: (I, J) scores of the same links as source words see them; ``forward`` by default, for one
            matrix of similarities.
        null: what it scores to choose nothing: a number, or two arrays, (J,) for target words and (I,) for
            source words.
        agreement: "full" (the same links in both directions), "adjacent", "soft", or an Agreement.

    Other args:
        forward_steps: (I + 1, I + 1) scores of choices of neighbouring target words, from and to; 0 is
            nothing, and stands before the first word; source word i is i + 1.
        backward_steps: (J + 1, J + 1) of source words.
        max_iterations: of each ascent of the bound.
        max_nodes: of branching.
        seconds: the most time it may take; None for no limit. An answer that is not proven by then has a
            ``bound`` above its ``score``.
        infeasible: whether a pair without any allowed alignment raises Infeasible, or returns one with that
            status.

    Example:
        >>> certus.align.align_matrix([[0.9, 0.1], [0.2, 0.8]], null=0.3).links
        ((0, 0), (1, 1))
    """
    check_infeasible(infeasible)
    check_count("max_iterations", max_iterations)
    check_count("max_nodes", max_nodes, least=0)
    prices = read_agreement(agreement)
    seen = _read_matrix("forward", forward)
    other = seen if backward is None else _read_matrix("backward", backward)
    if other.shape != seen.shape:
        raise InvalidInput(f"forward has shape {seen.shape}, but backward {other.shape}")
    sources, targets = seen.shape
    nothing = null if isinstance(null, tuple) and len(null) == 2 else (null, null)
    found = _native.align_matrices(
        _add_null(other, "null[1]", nothing[1]),
        _add_null(seen.T, "null[0]", nothing[0]),
        _read_steps("backward_steps", backward_steps, targets + 1),
        _read_steps("forward_steps", forward_steps, sources + 1),
        prices.adjacent,
        prices.apart,
        prices.alone,
        max_iterations,
        max_nodes,
        limit_seconds(seconds),
    )
    return _make_alignment(found, infeasible)


def _make_alignment(found: _native.AgreedAlignment, infeasible: OnInfeasible) -> Alignment:
    status = Status.of_native(found.status)
    if status is Status.INFEASIBLE and infeasible == "raise":
        raise Infeasible(
            describe_infeasible(
                "no pair of alignments that agree is possible",
                "Look for words whose links are all -inf, and let them choose nothing (null)",
            )
        )
    links = {(i, j - 1) for i, j in enumerate(found.source.tolist()) if j}
    links |= {(i - 1, j) for j, i in enumerate(found.target.tolist()) if i}
    counters = {"iterations": found.iterations, "nodes": found.nodes, "pruned": found.pruned}
    return Alignment(tuple(sorted(links)), found.score, found.bound, status, counters)


def _read_matrix(name: str, value: Scores) -> NDArray[np.float64]:
    array = as_array(name, value)
    if array.ndim != 2:
        raise InvalidInput(f"{name} must have two dimensions, source and target words, not {array.ndim}")
    return _check_scores(name, array)


def _check_scores(name: str, array: NDArray[np.floating]) -> NDArray[np.float64]:
    check_finite(name, array)
    made = np.ascontiguousarray(array, np.float64)
    if made.size and np.abs(np.where(np.isneginf(made), 0, made)).max() > LARGEST:
        raise InvalidInput(f"{name} holds scores beyond {LARGEST:g}; scale them down, and forbid by -inf")
    return made


def _add_null(choices: NDArray[np.float64], name: str, null: Scores) -> NDArray[np.float64]:
    """Return the choices of words with that of nothing before them."""
    array = as_array(name, null)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != len(choices)):
        raise InvalidInput(f"{name} must be a number, or have shape ({len(choices)},), not {array.shape}")
    column = np.broadcast_to(_check_scores(name, np.atleast_1d(array)), (len(choices),))
    return np.ascontiguousarray(np.concatenate([column[:, None], choices], axis=1))


def _read_steps(name: str, steps: Scores | None, values: int) -> NDArray[np.float64] | None:
    if steps is None:
        return None
    array = _read_matrix(name, steps)
    if array.shape != (values, values):
        raise InvalidInput(f"{name} must have shape ({values}, {values}), not {array.shape}")
    return array


def limit_seconds(seconds: float | None) -> float:
    """Return a limit of time as kernels take it."""
    if seconds is None:
        return 1e9
    if not seconds >= 0 or math.isinf(seconds):
        raise InvalidInput(f"seconds is {seconds}; a number that is not negative is needed, or None")
    return float(seconds)
