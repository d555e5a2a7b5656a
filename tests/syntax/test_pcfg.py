"""Grammars estimated from trees: relative frequencies, words never seen, and what is best under them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.syntax import Grammar, GrammarOptions, Tree, binarize, prepare_tree
from certus.syntax.constituency.lexicon import Lexicon
from certus.syntax.constituency.pcfg import count, transform_trees
from certus.syntax.constituency.signatures import make_signatures
from tests.syntax import invented_trees

PLAIN: dict[str, Any] = {
    "vertical": 1,
    "splits": (),
    "direction": "right",
    "horizontal": None,
    "min_hidden": 1,
}


def fitted(trees: list[Tree], **given: Any) -> Grammar:
    return Grammar.fit([tree for tree in (prepare_tree(t, functions=True) for t in trees) if tree], **given)


def test_rules_are_relative_frequencies() -> None:
    texts = ["(TOP (S (A x) (B y) (C z)))"] * 3 + ["(TOP (S (A x)))"]
    grammar = Grammar.fit(map(Tree.parse, texts), **PLAIN)
    binary, binary_scores, unary, unary_scores = grammar.rules
    name = grammar.symbols
    found = {tuple(name[s] for s in rule): x for rule, x in zip(binary, binary_scores, strict=True)}
    assert found == {("S", "A", "@S|A"): math.log(3 / 4), ("@S|A", "B", "C"): 0.0}
    found = {tuple(name[s] for s in rule): x for rule, x in zip(unary, unary_scores, strict=True)}
    assert found == {("TOP", "S"): 0.0, ("S", "A"): math.log(1 / 4)}
    assert grammar.tags == ["A", "B", "C"]
    assert set(grammar.labels) == {"A", "B", "C", "S", "TOP"}


def test_scores_are_those_of_the_rules() -> None:
    """The score of the best tree is what its rules and words add up to."""
    trees = [tree for tree in map(prepare_tree, invented_trees.trees(60)) if tree]
    options = GrammarOptions(vertical=2, splits=(), direction="head", horizontal=1, min_hidden=1)
    grammar = Grammar.fit(trees, options)
    counts = count(transform_trees(trees, options))
    for tree in trees[:10]:
        best = grammar.parse(tree.words)
        total = 0.0
        for node in transform_trees([best.value], options)[0].nodes():
            if node.is_tag:
                symbols, scores = grammar.lexicon.leaves([node.word])[0]
                total += dict(zip((grammar.symbols[s] for s in symbols), scores, strict=True))[node.label]
            else:
                rule = (node.label, *(child.label for child in node.trees))
                seen = counts.binary[rule] if len(rule) == 3 else counts.unary[rule]  # type: ignore[index]
                total += math.log(seen / counts.symbols[node.label])
        assert best.score == pytest.approx(total)
        gold = transform_trees([tree], options)[0]
        assert best.optimal
        assert gold.words == best.value.words


def test_parsing_new_sentences() -> None:
    grammar = fitted(invented_trees.trees(200))
    new = [tree for tree in map(prepare_tree, invented_trees.trees(40, seed=9)) if tree]
    found = grammar.parse_batch([tree.words for tree in new])
    assert sum(answer.value == tree for answer, tree in zip(found, new, strict=True)) > 20
    for words in (["zebras"], ["The", "Zorg-7", "xyzzies", "42", "."], ["(", "the", "dog"]):
        answer = grammar.parse(words, cover=True)
        assert answer.value.words == words


def test_rare_hidden_labels_tell_less() -> None:
    trees = [Tree.parse("(TOP (S (A a) (B b) (C c) (D d)))")] * 5
    trees.append(Tree.parse("(TOP (S (D d) (B b) (C c) (A a)))"))
    fine = transform_trees(trees, GrammarOptions(**{**PLAIN, "horizontal": 2}))
    assert fine[5] == binarize(trees[5], "right", 2)
    coarse = transform_trees(trees, GrammarOptions(**{**PLAIN, "horizontal": 2, "min_hidden": 5}))
    assert coarse[0] == fine[0]
    assert str(coarse[5]) == "(TOP (S (D d) (@S| (B b) (@S|B (C c) (A a)))))"


def test_words() -> None:
    seen = {"dog": {0: 30}, "owl": {0: 1}, "runs": {1: 3, 2: 1}, "walks": {1: 1}, "Bob": {3: 2}}
    tags = np.array([0, 1, 1, 2, -1], np.int32)  # 1 and 2 refine the same tag
    lexicon = Lexicon(seen, tags, rare=5, trusted=20)
    dog, runs, new = lexicon.leaves(["dog", "runs", "jumps"])
    assert dog[0].tolist() == [0]
    assert dog[1][0] == pytest.approx(math.log(30 / 31))
    assert runs[0].tolist() == [0, 1, 2, 3]
    assert runs[1].argmax() in (1, 2)
    chances = dict(zip(new[0].tolist(), np.exp(new[1]).tolist(), strict=True))
    assert chances[1] > chances[0]  # it ends like runs and walks
    assert lexicon.size == 38
    again = Lexicon.from_arrays(lexicon.words, lexicon.to_arrays(), tags, rare=5, trusted=20)
    for word in ("dog", "runs", "jumps", "Rob"):
        (symbols, scores), (others, same) = lexicon.leaves([word])[0], again.leaves([word])[0]
        assert (symbols.tolist(), scores.tolist()) == (others.tolist(), same.tolist())
    capital = lexicon.leaves(["Runs", "Runs"])
    assert capital[0][1].tolist() == runs[1].tolist()  # a sentence begins with a capital
    assert capital[1][1].tolist() != runs[1].tolist()


def test_signatures() -> None:
    assert make_signatures("walking")[0] == "lower/ing"
    assert make_signatures("IBM")[0] == "CAPS"
    assert make_signatures("1,234.5")[0] == "none/num"
    assert make_signatures("mid-1990s")[0] == "lower/mix/dash"
    assert make_signatures("Walking", first=True)[0] == "First/ing"
    assert make_signatures("%")[0] == "none"
    assert make_signatures("walking") == ("lower/ing", "lower/ng", "lower/g", "lower")
    assert make_signatures("walk") == ("lower", "lower/lk", "lower/k")
    assert make_signatures("I", first=True) == ("First",)


def test_refusals() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"vertical": 0}, "vertical must be a whole number of at least 1, not 0"),
        ({"splits": ["owl"]}, "no split 'owl'"),
        ({"direction": "up"}, "no direction 'up'"),
        ({"word_prior": 0}, "word_prior is 0"),
        ({"owls": 3}, "no option 'owls'"),
    ]
    for given, message in cases:
        with pytest.raises(InvalidInput, match=message):
            Grammar.fit(invented_trees.trees(2), **given)
    with pytest.raises(InvalidInput, match="nothing to learn from"):
        Grammar.fit([])
