"""Word alignment: links between the words of a sentence pair, from scores of both directions."""

from certus.align.agreement import ADJACENT, FULL, SOFT, Agreement
from certus.align.drawing import draw_links, draw_page, draw_svg
from certus.align.matrix import align_matrix
from certus.align.methods import METHODS, DualDecomposition, Exact, ViterbiRelaxation
from certus.align.solution import Alignment, AlignmentTrace, Link
from certus.align.symmetrize import SYMMETRIZATIONS, symmetrize
from certus.annotation.phrases import PhrasePair, extract_phrases

__all__ = [
    "ADJACENT",
    "FULL",
    "METHODS",
    "SOFT",
    "SYMMETRIZATIONS",
    "Agreement",
    "Alignment",
    "AlignmentTrace",
    "DualDecomposition",
    "Exact",
    "Link",
    "PhrasePair",
    "ViterbiRelaxation",
    "align_matrix",
    "draw_links",
    "draw_page",
    "draw_svg",
    "extract_phrases",
    "symmetrize",
]
