"""Sentences and numbers of trees that no memory holds are refused before any is taken, or bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certus import DependencyParser
from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph
from certus.syntax import Grammar
from tests.models import invented_treebank


def make_grammar(symbols: int) -> Grammar:
    names = [f"S{n}" for n in range(symbols)]
    binary = [("S0", name, "S0", -1.0) for name in names]
    return Grammar.of_rules(binary, [], {name: {"x": 0.0} for name in names}, start="S0")


@pytest.mark.limits(seconds=60, gigabytes=1)
def test_sentences_that_are_too_long_are_refused_with_what_they_would_take() -> None:
    grammar = make_grammar(1500)
    long = ["x"] * 2000
    message = r"the sentence has 2,000 words, and its chart could take 2\d\.\d GiB"
    part = grammar.part(long)
    for ask in (grammar.parse, grammar.forest, grammar.cover, lambda _: part.maximize({})):
        with pytest.raises(InvalidInput, match=message):
            ask(long)
    with pytest.raises(InvalidInput, match=r"^sentence 1: the sentence has 2,000 words"):
        grammar.parse_batch([["x"], long, ["x"]], threads=2)
    assert grammar.parse(["x"]).optimal


@pytest.mark.limits(seconds=60, gigabytes=1)
def test_many_trees_are_not_allocated_beforehand() -> None:
    grammar = make_grammar(2)
    found = grammar.parse(["x"] * 6, k=10**9)
    assert len(found) == grammar.forest(["x"] * 6).graph.count() > 100
    assert found.exhausted


@pytest.mark.limits(seconds=60, gigabytes=1)
def test_many_derivations_are_not_allocated_beforehand() -> None:
    graph = Hypergraph([0, 0, 1, 1], [0, 0, 0, 1, 2], [0, 0], 1)
    found = graph.decode(np.zeros(4), k=10**9)
    assert len(found) == 4
    assert found.exhausted


@pytest.mark.limits(seconds=60, gigabytes=1)
def test_coarse_parsers_find_trees_that_are_too_large_for_their_charts() -> None:
    """Likely arcs alone make no projective tree of so many words: the best one by bounds has others."""
    templates = "head.upos modifier.upos\ngrandparent.upos modifier.upos\n"
    given: dict[str, Any] = {"projective": "yes", "single_root": "no", "columns": "word upos"}
    parser = DependencyParser(templates=templates, cascade="coarse", epochs=1, hash_bits=16, **given)
    parser.fit(invented_treebank.sentences(60, 1))
    columns: dict[str, list[str]] = {"form": [], "upos": []}
    for sentence in invented_treebank.sentences(1500, 9):
        for name, column in columns.items():
            column += sentence.columns[name]
    words = {name: column[:2000] for name, column in columns.items()}
    found = parser.parse(words, seconds=1)
    assert found.score <= found.bound < np.inf
    assert parser.score(words, found.heads) == pytest.approx(found.score)
