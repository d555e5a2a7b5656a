"""Labels by expression, their parts, and the way back."""

from __future__ import annotations

import io

import pytest

from certus.errors import FormatError, InvalidInput
from certus.formats import Sentence, Target, build, read
from tests.formats.samples import CHUNKS, CONLLU

ODD = ["|", "\\", "a|b", "a\\", "\\|", "||", "_", "x", "a\\|b\\"]


def owls() -> Sentence:
    return next(read(io.StringIO(CONLLU), format="conllu"))


@pytest.mark.parametrize(
    ("expression", "labels"),
    [
        ("upos", ["AUX", "PART", "VERB"]),
        ("word", ["Do", "n't", "feed"]),
        ("upos+feats", ["AUX|Mood=Imp|VerbForm=Fin", "PART", "VERB|VerbForm=Inf"]),
        ("upos | deprel | offset", ["AUX|aux|+2", "PART|advmod|+1", "VERB|root|root"]),
        ("feats|upos", [r"Mood=Imp\|VerbForm=Fin|AUX", "_|PART", "VerbForm=Inf|VERB"]),
        ("upos+feats|xpos", [r"AUX\|Mood=Imp\|VerbForm=Fin|VB", "PART|RB", r"VERB\|VerbForm=Inf|VB"]),
    ],
)
def test_labels(expression: str, labels: list[str]) -> None:
    target = Target(expression)
    assert target.labels(owls())[:3] == labels
    filled = target.fill(owls(), target.labels(owls()))
    assert filled == {name: owls().columns[name] for name in target.fields}


def test_joint_columns() -> None:
    first = next(read(io.StringIO(CHUNKS), format="columns"))
    target = Target("pos|chunk")
    assert target.labels(first)[:2] == ["DT|B-NP", "#|I-NP"]
    assert target.fill(first, target.labels(first)) == {n: first.columns[n] for n in ("pos", "chunk")}


@pytest.mark.parametrize(
    ("expression", "label", "parts"),
    [
        ("upos", "NOUN", ["upos=NOUN"]),
        ("xpos", "NN|UTR|SIN", ["xpos=NN", "xpos=UTR", "xpos=SIN"]),
        ("upos+feats", "NOUN|Case=Nom|Number=Sing", ["upos=NOUN", "Case=Nom", "Number=Sing"]),
        ("upos+feats", "PUNCT", ["upos=PUNCT"]),
        ("pos+feats", "IZE|ABS|PL", ["pos=IZE", "feats=ABS", "feats=PL"]),
        ("feats", "N;SG;INS", ["feats=N", "feats=SG", "feats=INS"]),
        ("feats", "Case=Nom|Number=Sing", ["Case=Nom", "Number=Sing"]),
        ("feats", "_", ["feats=_"]),
        ("pos|chunk", "NN|B-NP", ["pos=NN", "chunk=B-NP"]),
        ("upos|deprel|offset", "NOUN|obj|-2", ["upos=NOUN", "deprel=obj", "offset=-2"]),
        ("upos+feats|xpos", r"X\|A=b|N\|S", ["upos=X", "A=b", "xpos=N|S"]),
        ("xpos", "=", ["xpos=="]),
    ],
)
def test_parts(expression: str, label: str, parts: list[str]) -> None:
    assert Target(expression).parts(label) == parts


@pytest.mark.parametrize(
    "expression", ["upos|xpos", "upos|xpos|lemma", "upos+feats", "lemma|upos+feats|xpos"]
)
def test_bars_inside_values_survive(expression: str) -> None:
    words = [f"w{i}" for i in range(len(ODD) ** 2)]
    one = [a for a in ODD for _ in ODD]
    two = [b for _ in ODD for b in ODD]
    sentence = build(words, {"upos": one, "xpos": two, "feats": two, "lemma": one[::-1]})
    target = Target(expression)
    labels = target.labels(sentence)
    assert target.fill(sentence, labels) == {name: sentence.columns[name] for name in target.fields}
    assert len(set(labels)) == len(set(zip(*(sentence.columns[n] for n in target.fields), strict=True)))
    assert all(target.parts(label) for label in labels)


def test_heads_outside_the_sentence_become_the_root() -> None:
    filled = Target("offset").fill(build(["a", "b", "c"]), ["+1", "-2", "+1"])
    assert filled == {"head": ["2", "0", "0"]}


@pytest.mark.parametrize("head", ["_", "4", "-1", "x"])
def test_heads_that_are_none(head: str) -> None:
    sentence = build(["a", "b", "c"], {"head": ["0", head, "1"]})
    with pytest.raises(FormatError, match=f"<words>:2: the head is '{head}'; a number from 0 to 3"):
        Target("offset").labels(sentence)


def test_missing_columns_are_named_with_their_place() -> None:
    second = list(read(io.StringIO(CHUNKS), format="columns"))[1]
    with pytest.raises(
        FormatError, match="<stream>:7: there is no column 'upos'; the columns are form, pos, chunk"
    ):
        Target("upos").labels(second)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "lacks a column name"),
        ("upos+", "lacks a column name"),
        ("a+b+c", r"'\+' joins one tag with its features"),
        ("upos|upos", "uses a column twice"),
        ("head|offset", "uses a column twice"),
        ("word|form", "uses a column twice"),
    ],
)
def test_expressions_that_mean_nothing(expression: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Target(expression)


def test_labels_of_another_target() -> None:
    sentence = build(["a"])
    with pytest.raises(InvalidInput, match=r"'A' is no label of target 'upos\|xpos'"):
        Target("upos|xpos").fill(sentence, ["A"])
    with pytest.raises(InvalidInput, match="'far' is no offset"):
        Target("offset").fill(sentence, ["far"])
    with pytest.raises(InvalidInput, match="2 labels for 1 tokens"):
        Target("upos").fill(sentence, ["A", "B"])


def test_targets_are_equal_by_expression() -> None:
    assert Target("upos + feats") == Target("upos+feats") != Target("upos")
    assert len({Target("upos"), Target(" upos")}) == 1
    assert repr(Target("pos | chunk")) == "Target('pos|chunk')"
