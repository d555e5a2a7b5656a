"""Constituency parsing: trees, grammars estimated from treebanks, exact parsing, scoring."""

from certus.syntax.grammar import Grammar
from certus.syntax.part import TreePart
from certus.syntax.trees import Tree

__all__ = ["Grammar", "Tree", "TreePart"]
