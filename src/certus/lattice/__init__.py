"""Label sequences over states that differ from position to position."""

from certus.lattice.lattices import Arcs, TagLattices, TagPart

__all__ = ["Arcs", "TagLattices", "TagPart"]
