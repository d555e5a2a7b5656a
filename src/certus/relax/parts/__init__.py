"""Parts that are ready to use: label sequences, spanning trees, and small constraints."""

from __future__ import annotations

from certus.chain.part import ChainPart
from certus.relax.parts.automata import HeadAutomata
from certus.relax.parts.constraints import AtMostOne, Budget, ExactlyOne, TablePart
from certus.relax.parts.tree import TreePart

__all__ = ["AtMostOne", "Budget", "ChainPart", "ExactlyOne", "HeadAutomata", "TablePart", "TreePart"]
