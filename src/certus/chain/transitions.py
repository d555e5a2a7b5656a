"""What people give as transitions, and what is refused."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import checks
from certus.chain.sparse import SciPyMatrix, SparseTransitions, as_sparse
from certus.checks import Floats, Scores
from certus.errors import InvalidInput

Transitions: TypeAlias = Floats | SparseTransitions
# (L, L) [from, to] or (T-1, L, L) scores, or sparse ones.
TransitionsLike: TypeAlias = Scores | SparseTransitions | SciPyMatrix


def as_transitions(transitions: TransitionsLike) -> Transitions:
    """Return checked transitions that nobody can edit: an array, or sparse ones if so given or too large."""
    if isinstance(transitions, SparseTransitions):
        checks.check_finite("the scores of transitions", transitions.scores)
        checks.check_finite("the default of transitions", np.array([transitions.default]))
        return transitions
    if isinstance(transitions, SciPyMatrix):
        return as_transitions(SparseTransitions.from_scipy(transitions))
    sparse = as_sparse(transitions)
    if sparse is not None:
        return as_transitions(sparse)
    array = checks.as_array("transitions", transitions)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise InvalidInput(f"transitions must have shape (L, L) or (T-1, L, L), not {array.shape}")
    checks.check_finite("transitions", array)
    return checks.freeze(array)


def restrict_transitions(transitions: Transitions, legal: NDArray[np.bool_]) -> Transitions:
    """Forbid the pairs of labels where ``legal``, (L, L), is False."""
    if isinstance(transitions, SparseTransitions):
        return transitions.restrict(legal)
    return checks.seal(np.where(legal, transitions, transitions.dtype.type(-np.inf)))
