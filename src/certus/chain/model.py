"""The scores that all sentences share: transitions, start and end, prepared once for the kernels."""

from __future__ import annotations

from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native, checks
from certus.chain.sparse import SparseTransitions
from certus.chain.transitions import TransitionsLike, as_transitions
from certus.checks import Floats, Mask, Precision, Scores
from certus.errors import InvalidInput

Kernels: TypeAlias = "_native.Model32 | _native.Model64"
Labels: TypeAlias = NDArray[np.int64]  # (T,) label ids


class ChainModel:
    """Transition, start and end scores, as the kernels want them in each precision.

    Attributes:
        transitions: (L, L) or (T-1, L, L) scores [from, to], or SparseTransitions.
        labels: L, how many there are.
        start: (L,) scores of the first label, or None.
        end: (L,) scores of the last label, or None.
        prior: (L,) how probable each label is, or None.
    """

    def __init__(
        self,
        transitions: TransitionsLike,
        start: Scores | None = None,
        end: Scores | None = None,
        *,
        prior: Scores | None = None,
    ) -> None:
        self.transitions = as_transitions(transitions)
        self.labels: int = self.transitions.shape[-1]
        if self.labels == 0:
            raise InvalidInput("transitions have no labels: the label set is empty")
        precision = self.transitions.dtype
        self.start = checks.as_vector("start", start, self.labels, precision)
        self.end = checks.as_vector("end", end, self.labels, precision)
        self.prior = checks.as_vector("prior", prior, self.labels)
        others = [x.dtype for x in (self.start, self.end) if x is not None]
        # NumPy's own object for the type, which unpickled arrays need not have: it is compared by identity.
        self.dtype: Precision = checks.DOUBLE if checks.DOUBLE in (precision, *others) else checks.SINGLE
        self._kernels: dict[Precision, Kernels] = {}

    def prepare(self, dtype: Precision) -> Kernels:
        """Return the scores as the kernels hold them; they live as long as this model."""
        known = self._kernels.get(dtype)
        if known is None:
            known = self._kernels.setdefault(dtype, self._make_kernels(dtype))
        return known

    def as_sentence(self, emissions: Scores, name: str = "emissions") -> Floats:
        """Return the scores of a sentence, (T, L), as the kernels take them."""
        scores = checks.as_emissions(emissions, self.labels, self.dtype, name)
        self._check_length(len(scores))
        return scores

    def mask_sentence(
        self, emissions: Scores, allowed: Mask, name: str = "emissions", mask_name: str = "allowed"
    ) -> Floats:
        """Return the scores of a sentence, (T, L), with -inf for the labels that are not allowed."""
        scores = checks.as_emissions(emissions, self.labels, self.dtype, name)
        checks.check_finite(name, scores)
        mask = checks.as_mask(mask_name, allowed, scores.shape)
        return np.ascontiguousarray(np.where(mask, scores, scores.dtype.type(-np.inf)))

    def refuse_scores(self, scores: Floats, position: int, label: int, name: str = "emissions") -> NoReturn:
        """Raise the error for a score that the kernels do not take: not a number, or too large to add up."""
        if not np.isfinite(scores[position, label]):
            checks.refuse(name, (position, label), scores)
        tr, sparse = self.transitions, isinstance(self.transitions, SparseTransitions)
        steps = tr.scores if isinstance(tr, SparseTransitions) else tr
        listed = {"the scores of transitions" if sparse else "transitions": steps}
        checks.refuse_sums(len(scores), {name: scores, **listed, "start": self.start, "end": self.end})

    def _check_length(self, length: int) -> None:
        shape = self.transitions.shape
        if len(shape) == 3 and length > 0 and shape[0] != length - 1:
            raise InvalidInput(
                f"emissions have {length} positions, so transitions of each position need shape "
                f"({length - 1}, {self.labels}, {self.labels}), not {shape}"
            )

    def _make_kernels(self, dtype: Precision) -> Kernels:
        def cast(x: Floats | None) -> Floats | None:
            return None if x is None else np.ascontiguousarray(x, dtype)

        kind = _native.Model32 if dtype == checks.SINGLE else _native.Model64
        tr = self.transitions
        start, end = cast(self.start), cast(self.end)
        if isinstance(tr, SparseTransitions):
            listed = np.ascontiguousarray(tr.scores, dtype)
            made = kind(tr.labels, tr.default, tr.origin, tr.target, listed, start, end)
        else:
            # Sentences of one position have no transitions: (0, L, L).
            matrices = np.ascontiguousarray(tr if len(tr) else np.zeros(tr.shape[1:]), dtype)
            shared = matrices.ndim == 2
            made = kind(matrices[None] if shared else matrices, shared, start, end)
        if self.prior is not None:
            made.rank(np.argsort(-self.prior, kind="stable"))
        return made
