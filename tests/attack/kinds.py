"""The kinds of problems that are attacked, by name; a kind is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from tests.attack.attack import Attack

# name: module of tests.attack, class
_KINDS = {
    "chains": ("chains", "Chains"),
    "wide-chains": ("wide_chains", "WideChains"),
    "latent": ("latent", "LatentChains"),
    "factor-graphs": ("factor_graphs", "FactorGraphs"),
    "decompositions": ("decompositions", "Decompositions"),
    "alignments": ("alignments", "Alignments"),
    "forests": ("forests", "Forests"),
    "phrases": ("phrases", "Phrases"),
    "trees": ("trees", "DependencyTrees"),
    "translation-forests": ("translation_forests", "TranslationForests"),
    "grammars": ("grammars", "Grammars"),
    "corpora": ("corpora", "Corpora"),
    "taggers": ("taggers", "Taggers"),
    "lattices": ("lattices", "Lattices"),
    "parsers": ("parsers", "Parsers"),
    "language-models": ("language_models", "LanguageModels"),
    "certificates": ("certificates", "Certificates"),
    "threads": ("threads", "Threads"),
}
KINDS = tuple(_KINDS)
# How many problems of each kind the tests draw.
SMOKE = {
    "chains": 150,
    "wide-chains": 6,
    "latent": 60,
    "factor-graphs": 80,
    "decompositions": 40,
    "alignments": 60,
    "forests": 60,
    "phrases": 40,
    "trees": 60,
    "translation-forests": 60,
    "grammars": 25,
    "corpora": 15,
    "taggers": 25,
    "lattices": 80,
    "parsers": 60,
    "language-models": 150,
    "certificates": 80,
    "threads": 12,
}


def load_kind(name: str) -> Attack[Any]:
    """Return the attack on a kind of problem; "module:Class" names one that is not in the list."""
    module, kind = _KINDS[name] if name in _KINDS else name.split(":")
    attack: Attack[Any] = getattr(importlib.import_module(f"tests.attack.{module}"), kind)()
    return attack
