"""The problem of agreement: what each word of both sides may choose, and what it costs to differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.align.agreement import Agreement, read_agreement
from certus.checks import Scores, as_array, check_finite
from certus.errors import InvalidInput

LARGEST = 1e12  # of scores: sums of many keep enough digits for a proof

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AgreementProblem:
    """Scores of the choices of words; 0 is nothing, and stands before the first word.

    Attributes:
        source: (I, J + 1) of source words among target words.
        target: (J, I + 1) of target words among source words.
        source_steps: (J + 1, J + 1) of choices of neighbouring source words, from and to; None for 0.
        target_steps: (I + 1, I + 1) of target words.
        agreement: what it costs where the two differ.
    """

    source: Floats
    target: Floats
    source_steps: Floats | None
    target_steps: Floats | None
    agreement: Agreement


def read_problem(
    forward: Scores,
    backward: Scores | None,
    null: Scores | tuple[Scores, Scores],
    forward_steps: Scores | None,
    backward_steps: Scores | None,
    agreement: Agreement | str,
) -> AgreementProblem:
    """Check the arguments of ``align_matrix`` and lay them out as kernels take them."""
    prices = read_agreement(agreement)
    seen = _read_matrix("forward", forward)
    other = seen if backward is None else _read_matrix("backward", backward)
    if other.shape != seen.shape:
        raise InvalidInput(f"forward has shape {seen.shape}, but backward {other.shape}")
    sources, targets = seen.shape
    nothing = null if isinstance(null, tuple) and len(null) == 2 else (null, null)
    return AgreementProblem(
        _add_null(other, "null[1]", nothing[1]),
        _add_null(seen.T, "null[0]", nothing[0]),
        _read_steps("backward_steps", backward_steps, targets + 1),
        _read_steps("forward_steps", forward_steps, sources + 1),
        prices,
    )


def _read_matrix(name: str, value: Scores) -> Floats:
    array = as_array(name, value)
    if array.ndim != 2:
        raise InvalidInput(f"{name} must have two dimensions, source and target words, not {array.ndim}")
    return _check_scores(name, array)


def _check_scores(name: str, array: NDArray[np.floating]) -> Floats:
    check_finite(name, array)
    made = np.ascontiguousarray(array, np.float64)
    if made.size and np.abs(np.where(np.isneginf(made), 0, made)).max() > LARGEST:
        raise InvalidInput(f"{name} holds scores beyond {LARGEST:g}; scale them down, and forbid by -inf")
    return made


def _add_null(choices: Floats, name: str, null: Scores) -> Floats:
    """Return the choices of words with that of nothing before them."""
    array = as_array(name, null)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != len(choices)):
        raise InvalidInput(f"{name} must be a number, or have shape ({len(choices)},), not {array.shape}")
    column = np.broadcast_to(_check_scores(name, np.atleast_1d(array)), (len(choices),))
    return np.ascontiguousarray(np.concatenate([column[:, None], choices], axis=1))


def _read_steps(name: str, steps: Scores | None, values: int) -> Floats | None:
    if steps is None:
        return None
    array = _read_matrix(name, steps)
    if array.shape != (values, values):
        raise InvalidInput(f"{name} must have shape ({values}, {values}), not {array.shape}")
    return array
