"""Word alignment: links between the words of a sentence pair, from scores of both directions."""

from certus.align.agreement import ADJACENT, FULL, SOFT, Agreement
from certus.align.matrix import align_matrix
from certus.align.solution import Alignment, Link
from certus.align.symmetrize import SYMMETRIZATIONS, symmetrize

__all__ = [
    "ADJACENT",
    "FULL",
    "SOFT",
    "SYMMETRIZATIONS",
    "Agreement",
    "Alignment",
    "Link",
    "align_matrix",
    "symmetrize",
]
