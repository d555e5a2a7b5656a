"""Parts that are ready to use: label sequences, spanning trees, and small constraints."""

from __future__ import annotations

from certus.chain.part import ChainPart
from certus.relax.parts.automata import HeadAutomata, StateAutomata
from certus.relax.parts.budget_chain import SequenceBudget
from certus.relax.parts.constraints import AtMostOne, Budget, ExactlyOne, TablePart
from certus.relax.parts.logic import Knapsack, Or, OrOutput
from certus.relax.parts.matching import Matching
from certus.relax.parts.tree import TreePart

__all__ = [
    "AtMostOne",
    "Budget",
    "ChainPart",
    "ExactlyOne",
    "HeadAutomata",
    "Knapsack",
    "Matching",
    "Or",
    "OrOutput",
    "SequenceBudget",
    "StateAutomata",
    "TablePart",
    "TreePart",
]
