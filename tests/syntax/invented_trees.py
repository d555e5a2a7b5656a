"""An invented treebank: sentences of a small grammar, with function tags and traces."""

from __future__ import annotations

import numpy as np

from certus.syntax import Tree, prepare_tree

_NOUNS = ["dog", "park", "bird", "tree", "house", "garden", "stone", "owl"]
_VERBS = ["sees", "hears", "likes", "finds", "greets"]
_PLACES = ["in", "near", "behind"]


def trees(count: int, seed: int = 0) -> list[Tree]:
    """Return random trees."""
    rng = np.random.default_rng(seed)
    return [Tree.parse(_sentence(rng)) for _ in range(count)]


def _one(rng: np.random.Generator, words: list[str]) -> str:
    return words[int(rng.integers(len(words)))]


def _noun_phrase(rng: np.random.Generator, function: str = "", depth: int = 0) -> str:
    adjective = " (JJ old)" if rng.random() < 0.3 else ""
    simple = f"(DT the){adjective} (NN {_one(rng, _NOUNS)})"
    if depth < 2 and rng.random() < 0.3:
        place = f"(PP (IN {_one(rng, _PLACES)}) {_noun_phrase(rng, '', depth + 1)})"
        return f"(NP{function} (NP {simple}) {place})"
    return f"(NP{function} {simple})"


def _sentence(rng: np.random.Generator) -> str:
    parts = [f"(VBZ {_one(rng, _VERBS)})", _noun_phrase(rng)]
    if rng.random() < 0.5:
        parts.append(f"(PP-LOC (IN {_one(rng, _PLACES)}) {_noun_phrase(rng)})")
    if rng.random() < 0.2:
        parts.append("(NP-TMP (NN today))")
    if rng.random() < 0.2:
        parts.append("(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB sing))))")
    return f"( (S {_noun_phrase(rng, '-SBJ-1')} (VP {' '.join(parts)}) (. .)))"


def prepared_trees(count: int, seed: int = 0) -> list[Tree]:
    """Return random trees without function tags and traces."""
    return [tree for tree in map(prepare_tree, trees(count, seed)) if tree is not None]
