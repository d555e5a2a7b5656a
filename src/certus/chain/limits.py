"""How long a list of paths can get, and what is refused because it would not fit in memory."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from certus.chain.method import Method
from certus.chain.methods import limit_k
from certus.chain.model import ChainModel, Kernels
from certus.checks import Floats
from certus.errors import InvalidInput

_BYTES = 100  # for each position of a path: its label, and the search for those that differ from it there
_WAY = 16  # for each of the k ways to a label that some methods keep
_LITTLE = 1 << 28  # what nobody needs to be asked for
_NOTHING = 1 << 22  # what is not worth counting paths for


def is_short_list(k: int, length: int) -> bool:
    """Whether a list of k > 1 paths of so many positions is so short that no paths have to be counted."""
    return k > 1 and k * length * _BYTES <= _NOTHING


def limit_list(
    k: int, model: ChainModel, kernels: Kernels, sentences: Sequence[Floats], method: Method
) -> int:
    """Return k, or the number of paths of the sentence that has most of them, if lists of k would be long.

    Lists that would not fit in the memory of this machine are refused.
    """
    if k == 1:
        return 1
    lengths = [len(scores) for scores in sentences]
    tokens = sum(lengths)
    if not tokens:
        return 1
    each = tokens * (_BYTES + (_WAY * model.labels if method.keeps_ways else 0))
    if k * each <= _NOTHING:
        return k
    most = limit_k(k, model.labels, max(lengths))
    if most * each <= _LITTLE:
        return most
    # Few of all label sequences may be possible; counting them takes about as long as one best path.
    paths = max(kernels.count_paths(scores) for scores in sentences if len(scores))
    most = most if paths >= most else max(1, math.ceil(paths))
    if most * each > _find_memory():
        raise InvalidInput(
            f"k = {k} asks for up to {most:,} label sequences of {tokens:,} positions, which need about "
            f"{_describe(most * each)} of memory, more than this machine has; "
            "Chain.paths yields them one by one"
        )
    return most


def _find_memory() -> int:
    """Return the bytes of this machine's memory, or a guess where it cannot be known."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 33


def _describe(size: int) -> str:
    return f"{size / 2**30:,.0f} GiB" if size >= 2**30 else f"{size / 2**20:,.0f} MiB"
