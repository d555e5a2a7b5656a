"""Why a sentence has no tree."""

from __future__ import annotations

import numpy as np

from certus.checks import Floats
from certus.errors import Infeasible, describe_infeasible


def explain_infeasible(arcs: Floats, projective: bool, single_root: bool) -> Infeasible:
    """Return the error that names the word without a head; ``position`` counts words from 1."""
    word, reason = find_reason(arcs, projective, single_root)
    advice = "Look for -inf in the scores of its heads"
    return Infeasible(describe_infeasible(f"no tree is possible: {reason}", advice), position=word)


def find_reason(arcs: Floats, projective: bool, single_root: bool) -> tuple[int | None, str]:
    """Return the first word that cannot hang on the root, counted from 1, and what keeps it from that."""
    possible = arcs > -np.inf
    for word, heads in enumerate(possible, 1):
        if not heads.any():
            return word, f"word {word} has no head"
    reached = np.zeros(len(arcs) + 1, bool)
    reached[0] = True
    while True:
        grown = possible[:, reached].any(axis=1)
        if (grown == reached[1:]).all():
            break
        reached[1:] |= grown
    if not reached.all():
        word = int(np.flatnonzero(~reached)[0])
        return word, f"no path of arcs leads from the root to word {word}"
    wants = [
        *(["no arcs cross"] if projective else []),
        *(["one word hangs on the root"] if single_root else []),
    ]
    return None, "every word has a head, but none of the trees is possible" + (
        f" in which {' and '.join(wants)}" if wants else ": a part of each is forbidden"
    )
