"""Constituency parsing: trees, grammars estimated from treebanks, exact parsing, scoring."""

from certus.annotation.penn import escape_words
from certus.annotation.trees import Tree, prepare_tree, remove_functions, remove_traces
from certus.evaluation.evalb import TreeReport, compare
from certus.syntax.constituency.annotate import annotate
from certus.syntax.constituency.binarize import binarize, unbinarize
from certus.syntax.constituency.forest import ParseForest
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.constituency.part import TreePart
from certus.syntax.constituency.pcfg import GrammarOptions
from certus.syntax.joint.parsing import JointParse, JointParser, parse_fixed, parse_jointly

__all__ = [
    "Grammar",
    "GrammarOptions",
    "JointParse",
    "JointParser",
    "ParseForest",
    "Tree",
    "TreePart",
    "TreeReport",
    "annotate",
    "binarize",
    "compare",
    "escape_words",
    "parse_fixed",
    "parse_jointly",
    "prepare_tree",
    "remove_functions",
    "remove_traces",
    "unbinarize",
]
