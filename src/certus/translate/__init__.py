"""Translation by phrases with its proof, and the language models that it and others use."""

from certus.translate.hierarchical_forest import ForestDerivation, TranslationForest, decode_forest
from certus.translate.hierarchical_methods import (
    FOREST_METHODS,
    CoarseToFine,
    CubePruning,
    Exhaustive,
    ForestBeam,
    ForestLagrangian,
    ForestMethod,
    ForestProgram,
    ForestTightening,
)
from certus.translate.kneser_ney import Estimate, estimate_ngrams
from certus.translate.methods import (
    METHODS,
    AStar,
    Beam,
    Lagrangian,
    Method,
    OptimalBeam,
    Program,
    Stack,
)
from certus.translate.problem import Phrase, PhraseProblem
from certus.translate.scores import Perplexity, Step, WordScore
from certus.translate.solution import SearchTimes, SearchTrace, TranslatedPhrase, Translation
from certus.translate.terms import Terms, read_terms
from certus.translate.text import Text, add_texts, read_texts
from certus.translate.weights import Weights

__all__ = [
    "FOREST_METHODS",
    "METHODS",
    "AStar",
    "Beam",
    "CoarseToFine",
    "CubePruning",
    "Estimate",
    "Exhaustive",
    "ForestBeam",
    "ForestDerivation",
    "ForestLagrangian",
    "ForestMethod",
    "ForestProgram",
    "ForestTightening",
    "Lagrangian",
    "Method",
    "OptimalBeam",
    "Perplexity",
    "Phrase",
    "PhraseProblem",
    "Program",
    "SearchTimes",
    "SearchTrace",
    "Stack",
    "Step",
    "Terms",
    "Text",
    "TranslatedPhrase",
    "Translation",
    "TranslationForest",
    "Weights",
    "WordScore",
    "add_texts",
    "decode_forest",
    "estimate_ngrams",
    "read_terms",
    "read_texts",
]
