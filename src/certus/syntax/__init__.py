"""Constituency parsing: trees, grammars estimated from treebanks, exact parsing, scoring."""

from certus.syntax.annotate import annotate
from certus.syntax.binarize import binarize, unbinarize
from certus.syntax.evalb import TreeReport, compare
from certus.syntax.grammar import Grammar
from certus.syntax.joint import JointParse, JointParser, parse_fixed, parse_jointly
from certus.syntax.part import TreePart
from certus.syntax.pcfg import Options
from certus.syntax.penn import penn_words
from certus.syntax.trees import Tree, prepared, without_functions, without_traces

__all__ = [
    "Grammar",
    "JointParse",
    "JointParser",
    "Options",
    "Tree",
    "TreePart",
    "TreeReport",
    "annotate",
    "binarize",
    "compare",
    "parse_fixed",
    "parse_jointly",
    "penn_words",
    "prepared",
    "unbinarize",
    "without_functions",
    "without_traces",
]
