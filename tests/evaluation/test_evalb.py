"""Scores of trees on cases counted by hand."""

from __future__ import annotations

import io

import pytest

from certus.errors import FormatError, InvalidInput
from certus.formats import brackets
from certus.syntax import Tree, compare

GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ runs) (PRT (RP up)) (PP (IN in) (NP (NN rain)))) (. .)))"


def figures(gold: str, predicted: str) -> tuple[int, int, int]:
    spans = compare([Tree.parse(gold)], [Tree.parse(predicted)]).total.spans
    return spans.correct, spans.predicted, spans.gold


def test_the_same() -> None:
    report = compare([Tree.parse(GOLD)] * 2, [Tree.parse(GOLD)] * 2)
    assert report.total.f1 == 1
    assert (report.total.exact.correct, report.total.sentences) == (2, 2)
    assert report.total.spans.gold == 12
    assert (report.total.tags.correct, report.total.tags.total) == (12, 12)
    assert (report.total.crossing, report.total.no_crossing.correct) == (0, 2)


def test_one_wrong_attachment() -> None:
    other = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ runs) (PRT (RP up))) (PP (IN in) (NP (NN rain))) (. .)))"
    assert figures(GOLD, other) == (5, 6, 6)  # the VP is too short


def test_conventions() -> None:
    # Function tags and traces are taken off, roots do not count, PRT is ADVP.
    other = (
        "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ runs) (ADVP (RP up)) "
        "(PP (IN in) (NP (NN rain) (NP (-NONE- *))))) (. .)))"
    )
    assert figures(GOLD, other) == (6, 6, 6)
    # Punctuation does not count, wherever it is attached, nor do constituents over nothing else.
    assert figures("(S (NP (NN a) (, ,)) (VP (VB b)))", "(S (NP (NN a)) (, ,) (VP (VB b)))") == (3, 3, 3)
    assert figures("(S (NP (NN a)) (, ,))", "(S (NP (NN a)) (X (, ,)))") == (2, 2, 2)
    # A wrong tag for punctuation changes nothing: the gold tag decides.
    assert figures("(S (NP (NN a)) (, ,))", "(S (NP (NN a) (NN ,)))") == (2, 2, 2)


def test_doubled_constituents_count_as_often_as_they_occur() -> None:
    assert figures("(S (NP (NP (NN a))))", "(S (NP (NN a)))") == (2, 2, 3)
    assert figures("(S (NP (NN a)))", "(S (NP (NP (NN a))))") == (2, 3, 2)


def test_crossing_and_tags() -> None:
    gold = Tree.parse("(S (X (A a) (B b)) (C c) (D d))")
    found = Tree.parse("(S (A a) (Y (Q b) (Z (C c) (D d))))")
    report = compare([gold], [found]).total
    assert report.crossing == 1  # Y overlaps X, Z does not
    assert (report.no_crossing.correct, report.few_crossing.correct) == (0, 1)
    assert (report.tags.correct, report.tags.total) == (3, 4)
    assert report.as_dict()["exact"] == 0


def test_long_sentences_are_counted_apart() -> None:
    long = Tree.parse("(S " + "(A a) " * 41 + ")")
    report = compare([long, Tree.parse(GOLD)], [long, Tree.parse(GOLD)])
    assert (report.total.sentences, report.short.sentences) == (2, 1)
    assert report.as_dict()["at most 40 words"]["sentences"] == 1


def test_refusals() -> None:
    tree = Tree.parse(GOLD)
    with pytest.raises(InvalidInput, match="predicted ones end before tree 2"):
        compare([tree, tree], [tree])
    with pytest.raises(InvalidInput, match="gold ones end before tree 2"):
        compare([tree], [tree, tree])
    with pytest.raises(InvalidInput, match=r"end before tree 2 in out\.mrg, and there are 3 in gold\.mrg"):
        compare([tree] * 3, [tree], sources=("gold.mrg", "out.mrg"))
    with pytest.raises(InvalidInput, match="tree 1 has no words"):
        compare([Tree.parse("(S (-NONE- *))")], [tree])


def test_a_tree_that_failed_or_is_over_other_words_counts_as_wrong() -> None:
    tree, other = Tree.parse(GOLD), Tree.parse("(S (NP (DT the) (NN dog)) (. .))")
    renamed = Tree.parse(GOLD.replace("rain", "snow"))
    report = compare([tree] * 5, [tree, None, other, Tree.parse("(S (-NONE- *))"), renamed])
    assert report.failed == [2, 4]
    assert report.mismatched == {
        3: "word 3 is 'runs' in the gold tree and '.' in the predicted one",
        5: "word 6 is 'rain' in the gold tree and 'snow' in the predicted one",
    }
    spans = report.total.spans
    assert (spans.correct, spans.predicted, spans.gold) == (6, 6 + 2 + 6, 30)
    assert (report.total.exact.correct, report.total.exact.total) == (1, 5)
    assert (report.total.tags.correct, report.total.tags.total) == (6, 30)
    assert (report.total.no_crossing.correct, report.total.few_crossing.total) == (1, 5)
    assert report.as_dict()["failed"] == [2, 4]


def test_trees_that_a_parser_did_not_find_are_read() -> None:
    text = f"{GOLD}\n(())\n( ())\n(TOP (S))\n(TOP (S (NP) (NN a)))\n"
    found = list(brackets.read_answers(io.StringIO(text)))
    assert found == [Tree.parse(GOLD), None, None, None, Tree.parse("(TOP (S (NN a)))")]
    with pytest.raises(FormatError, match="never closed"):
        list(brackets.read_answers(io.StringIO("(S (NN a)")))
