"""Trees, their preparation, and their transformations, which lose nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from certus.annotation.trees import add_root, remove_functions, remove_traces, strip_functions
from certus.errors import InvalidInput
from certus.syntax import Tree, annotate, binarize, escape_words, prepare_tree, unbinarize
from certus.syntax.constituency.annotate import SPLITS, escape_label, strip_marks
from certus.syntax.constituency.binarize import DIRECTIONS
from certus.syntax.constituency.heads import find_head, find_head_leaf

LABELS = ["S", "NP", "VP", "PP", "A^B", "@X", "a|b", "x\\", "ADVP|PRT", "NP-TMP", "_", "<>"]
TAGS = ["NN", "IN", "VBZ", "POS", "CC", "-LRB-", "PRP$", "^", "@"]
WORDS = ["dog", "of", "is", "'s", "but", "%", "@", "and"]


def draw(rng: np.random.Generator, depth: int = 4) -> Tree:
    """Draw a tree of any shape: unary chains, wide nodes, labels with every special character."""
    if depth == 0 or rng.random() < 0.25:
        return Tree(TAGS[int(rng.integers(len(TAGS)))], [WORDS[int(rng.integers(len(WORDS)))]])
    count = int(rng.choice([1, 1, 2, 2, 3, 4, 6]))
    return Tree(LABELS[int(rng.integers(len(LABELS)))], [draw(rng, depth - 1) for _ in range(count)])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("horizontal", [None, 0, 1, 2])
def test_transformations_lose_nothing(direction: str, horizontal: int | None) -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        tree = draw(rng)
        vertical = int(rng.integers(1, 4))
        splits = [name for name in SPLITS if rng.random() < 0.5]
        made = binarize(annotate(tree, vertical, splits), direction, horizontal)
        assert unbinarize(made) == remove_functions(tree)
        assert made.words == tree.words
        assert all(len(node.children) <= 2 for node in made.nodes())
        assert Tree.parse(str(made)) == made


def test_what_hidden_labels_tell() -> None:
    tree = Tree.parse("(NP^S (DT a) (JJ b) (NN c) (PP (IN d)))")
    assert str(binarize(tree, "right", 1)) == "(NP^S (DT a) (@NP^S|DT (JJ b) (@NP^S|JJ (NN c) (PP (IN d)))))"
    assert str(binarize(tree, "left", 1)) == "(NP^S (@NP^S|PP (@NP^S|NN (DT a) (JJ b)) (NN c)) (PP (IN d)))"
    assert str(binarize(tree, "head", 2)) == (
        "(NP^S (DT a) (@NP^S<NN_JJ (JJ b) (@NP^S>NN_PP (NN c) (PP (IN d)))))"
    )
    some = binarize(tree, "right", 2, known={"@NP^S|DT"})
    assert str(some) == "(NP^S (DT a) (@NP^S|DT (JJ b) (@NP^S| (NN c) (PP (IN d)))))"


def test_annotation() -> None:
    tree = Tree.parse("(TOP (S (NP (NP (NN dog) (POS 's))) (VP (VBZ is) (NP-TMP (NN today)))))")
    assert str(annotate(tree, 2)) == (
        "(TOP (S^TOP (NP^S (NP^NP (NN dog) (POS 's))) (VP^S (VBZ is) (NP^VP (NN today)))))"
    )
    assert " ".join(node.label for node in annotate(tree, 1, list(SPLITS)).nodes()) == (
        "TOP S^v NP^U^RR NP^P^B NN^NP POS^NP VP^VBF^v VBZ^VP^BE NP^U^TMP^B NN^NP"
    )
    with pytest.raises(InvalidInput, match="no split 'owl'"):
        annotate(tree, 1, ["owl"])
    with pytest.raises(InvalidInput, match="no direction 'up'"):
        binarize(tree, "up")


def test_labels_are_escaped() -> None:
    for label in LABELS + TAGS:
        assert strip_marks(escape_label(label)) == label
        assert strip_marks(escape_label(label) + "^mark^other") == label


def test_preparation() -> None:
    tree = Tree.parse(
        "( (S (NP-SBJ-1 (-LRB- -LRB-) (NN x)) (VP=2 (VB go) (S (NP (-NONE- *-1)) (VP (-NONE- *))))))"
    )
    assert str(prepare_tree(tree)) == "(TOP (S (NP (-LRB- -LRB-) (NN x)) (VP (VB go))))"
    assert str(prepare_tree(tree, functions=True)).count("-SBJ-1") == 1
    assert "-NONE-" in str(prepare_tree(tree, traces=True))
    assert remove_traces(Tree.parse("(NP (-NONE- *))")) is None
    assert prepare_tree(Tree.parse("( (NP (-NONE- *)))")) is None
    assert [strip_functions(x) for x in ("NP-SBJ-1", "NP=2", "-LRB-", "PRP$", "-", "ADVP|PRT-CLR")] == [
        "NP",
        "NP",
        "-LRB-",
        "PRP$",
        "-",
        "ADVP|PRT",
    ]
    assert str(add_root(Tree.parse("(NN x)"))) == "(TOP (NN x))"
    assert add_root(add_root(tree)) == add_root(tree)


def test_heads() -> None:
    assert find_head("NP", ["DT", "NN", "PP"]) == 1
    assert find_head("NP", ["NP", "POS"]) == 1
    assert find_head("NP", ["NP", "CC", "NP"]) == 0
    assert find_head("VP", ["MD", "VP"]) == 0
    assert find_head("PP", ["IN", "NP"]) == 0
    assert find_head("PP", [",", "NP"]) == 1
    assert find_head("XX", [",", "A", "B"]) == 1
    assert find_head("NP", [","]) == 0
    assert find_head_leaf(Tree.parse("(S (NP (NN a)) (VP (VBZ b) (NP (NN c))))")).word == "b"


def test_trees() -> None:
    tree = Tree.parse("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    assert (tree.words, tree.tags) == (["the", "dog", "barks"], ["DT", "NN", "VBZ"])
    assert tree.spans() == [("S", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert eval(repr(tree), {"Tree": Tree}) == tree
    assert len({tree, Tree.parse(str(tree))}) == 1
    assert tree != Tree.parse("(S (NP (DT the) (NN dog) (VP (VBZ barks))))")
    assert tree != "tree"
    assert Counter(node.label for node in tree.nodes())["NP"] == 1


def test_deep_trees() -> None:
    deep = Tree.parse("(A " * 20_000 + "(B c)" + ")" * 20_000)
    assert deep.words == ["c"]
    assert len(deep.spans()) == 20_000
    assert Tree.parse(str(deep)) == deep


def test_drawing() -> None:
    tree = Tree.parse("(S (NP (DT the) (NN dog)) (LONGLABEL (VBZ x)) (. .))")
    assert tree.pretty().split("\n") == [
        "            S",
        "   ╭────────┴─┬──────╮",
        "   NP     LONGLABEL  │",
        " ╭─┴──╮       │      │",
        " DT   NN     VBZ     .",
        "the  dog      x      .",
    ]
    assert Tree("NN", ["dog"]).pretty() == " NN\ndog"
    picture = Tree.parse("(S (X <&>))").svg()
    assert picture.startswith("<svg ")
    assert "&lt;&amp;&gt;" in picture


def test_words_of_the_treebank() -> None:
    words = ["He", "said", "(", '"', "a(b)", '"', ")", "[", "]", "{", "}", "“", "”", "’"]
    found = " ".join(escape_words(words))
    assert found == "He said -LRB- `` a-LRB-b-RRB- '' -RRB- -LRB- -RRB- -LCB- -RCB- `` '' '"
