"""Label sequences over states that differ from position to position."""

from certus.lattice.lattices import Arcs, TagLattices, TagPart
from certus.lattice.model import SequenceModel

__all__ = ["Arcs", "SequenceModel", "TagLattices", "TagPart"]
