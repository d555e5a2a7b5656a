"""From the arrays of many sentences to what the kernels take: checked, sentences end to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import checks as inputs
from certus.checks import Mask, Scores
from certus.errors import InvalidInput
from certus.ragged import Ragged, offsets_of

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def gather_scores(
    emissions: Sequence[Scores], owner: Ints, labels: int, allowed: Sequence[Mask] | None
) -> Ragged[np.float64]:
    """Put the scores of states end to end, (tokens, H), with -inf for labels that are not allowed."""
    each: list[NDArray[np.floating]] = [
        inputs.as_emissions(scores, len(owner), inputs.DOUBLE, _name_of("emissions", n, emissions))
        for n, scores in enumerate(emissions)
    ]
    if allowed is not None:
        if len(allowed) != len(each):
            raise InvalidInput(f"allowed is for {len(allowed)} sentences, but there are {len(each)}")
        masks = [inputs.as_mask("allowed", m, (len(x), labels)) for m, x in zip(allowed, each, strict=True)]
        each = [np.where(m[:, owner], x, -np.inf) for m, x in zip(masks, each, strict=True)]
    return Ragged(np.concatenate([np.empty((0, len(owner))), *each]), offsets_of([len(x) for x in each]))


def gather_pairs(pairs: Sequence[Scores], offsets: Ints, states: int, labels: int) -> Floats:
    """Put the scores of pairs end to end: (tokens, n, n), row t those of the step into token t.

    n is the number of labels where all sentences have scores of labels, else that of states. The row of the
    first token of a sentence is zero.
    """
    lengths = np.diff(offsets).tolist()
    if len(pairs) != len(lengths):
        raise InvalidInput(f"pairs is for {len(pairs)} sentences, but there are {len(lengths)}")
    each = [inputs.as_array(_name_of("pairs", n, pairs), given) for n, given in enumerate(pairs)]
    count = labels if {own.shape[1:] for own in each} == {(labels, labels)} else states
    out = np.zeros((int(offsets[-1]), count, count))
    for n, (own, begin, length) in enumerate(zip(each, offsets.tolist(), lengths, strict=False)):
        name, wanted = _name_of("pairs", n, pairs), (max(length - 1, 0), count, count)
        if own.shape != wanted:
            raise InvalidInput(
                f"{name} must have shape (T-1, H, H), here {wanted}: one matrix of states, or in all "
                f"sentences of labels, for each step; it has {own.shape}"
            )
        inputs.check_finite(name, own)
        out[begin + 1 : begin + length] = own
    return out


def find_owners(latent: int | ArrayLike, states: int) -> Ints:
    """Return the label of each state, (H,), given as their number per label or as themselves."""
    given = np.asarray(latent)
    if given.dtype.kind not in "iu":
        raise InvalidInput(f"latent must be a whole number, or the label of each state, not {latent!r}")
    if given.ndim == 0:
        if given < 1 or states % int(given):
            raise InvalidInput(
                f"{states} states cannot be shared out by {given} to a label; latent must divide their number"
            )
        return np.arange(states) // int(given)
    if given.shape != (states,):
        raise InvalidInput(f"latent must have shape ({states},), the label of each state, not {given.shape}")
    if given.min() < 0:
        raise InvalidInput(f"latent[{int(given.argmin())}] is {given.min()}; labels are numbered from 0")
    empty = np.flatnonzero(np.bincount(given) == 0)
    if len(empty):
        raise InvalidInput(f"label {empty[0]} has no latent state; every label from 0 on needs one")
    return given.astype(np.int64)


def _name_of(argument: str, n: int, given: Sequence[Scores]) -> str:
    return argument if len(given) == 1 else f"{argument}[{n}]"
