"""The measures of the CoNLL 2018 shared task, counted by hand, and the alignment of words."""

from __future__ import annotations

import io

import pytest

from certus.errors import FormatError
from certus.evaluation import AlignedScore, compare
from certus.evaluation.conll18 import is_tree, keep_universal
from certus.evaluation.report import EvaluationReport
from certus.formats import Sentence, read


def conllu(text: str, name: str = "gold.conllu") -> list[Sentence]:
    """Read sentences whose lines are: id form lemma upos xpos feats head deprel."""
    lines = ["\t".join([*line.split(), "_", "_"]) if line else "" for line in text.split("\n")]
    stream = io.BytesIO("\n".join(lines).encode())
    stream.name = name
    return list(read(stream))


GOLD = """\
1 The the DET DT Definite=Def|Style=Old 2 det
2 owls owl NOUN NNS Number=Plur 4 nsubj:pass
3 were be AUX VBD Mood=Ind 4 aux:pass
4 seen see VERB VBN Tense=Past 0 root
5 at at ADP IN _ 6 case
6 night night NOUN NN Number=Sing 4 obl
7 . . PUNCT . _ 4 punct
"""


def judge(*changes: tuple[str, str]) -> dict[str, AlignedScore]:
    text = GOLD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    report = compare(conllu(GOLD), conllu(text))
    assert report.universal is not None
    return report.universal.scores


def count(scores: dict[str, AlignedScore]) -> dict[str, int]:
    return {name: row.correct for name, row in scores.items()}


ALL = {name: 7 for name in ["Tokens", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS"]}
RIGHT = {**ALL, "Sentences": 1, "CLAS": 3, "MLAS": 3, "BLEX": 3}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (("The the", "The the"), {}),
        (("nsubj:pass", "nsubj"), {}),  # subtypes do not count
        (("Style=Old", "Style=New"), {}),  # nor do features that are not universal
        (("Number=Plur", "Number=Sing"), {"UFeats": 6, "AllTags": 6, "MLAS": 2}),
        (("DET DT", "PRON DT"), {"UPOS": 6, "AllTags": 6, "MLAS": 2}),  # a function word spoils its head
        (("VBN", "VBD"), {"XPOS": 6, "AllTags": 6}),
        (("seen see", "seen saw"), {"Lemmas": 6, "BLEX": 2}),
        (("The the", "The _"), {"Lemmas": 6}),
        (("6 case", "4 case"), {"UAS": 6, "LAS": 6, "MLAS": 1}),  # wanted by one head, unwanted by the other
        (("4 obl", "2 nmod"), {"UAS": 6, "LAS": 6, "CLAS": 2, "MLAS": 2, "BLEX": 2}),
        (("4 punct", "6 punct"), {"UAS": 6, "LAS": 6}),
    ],
)
def test_measures(change: tuple[str, str], wrong: dict[str, int]) -> None:
    assert count(judge(change)) == {**RIGHT, **wrong}


def test_content_words_are_those_of_each_file() -> None:
    clas = judge(("4 obl", "4 case"))["CLAS"]
    assert (clas.correct, clas.predicted, clas.gold, clas.aligned) == (2, 2, 3, 3)
    assert (clas.precision, clas.recall, clas.aligned_accuracy) == (1.0, 2 / 3, 2 / 3)


def test_a_lemma_that_the_gold_file_leaves_out_is_right() -> None:
    report = compare(conllu(GOLD.replace("seen see", "seen _")), conllu(GOLD))
    assert report.universal is not None
    assert report.universal.scores["Lemmas"].correct == 7


def test_universal_features() -> None:
    assert keep_universal("Typo=Yes|Number=Sing|Case=Nom") == "Case=Nom|Number=Sing"
    assert keep_universal("_") == ""


def test_columns_that_the_gold_file_leaves_out() -> None:
    bare = "1 a _ X _ _ _ _\n2 b _ X _ _ _ _\n"
    report = compare(conllu(bare), conllu(bare.replace("X", "Y", 1)))
    assert report.universal is not None
    assert list(report.universal.scores) == ["Tokens", "Sentences", "Words", "UPOS", "AllTags"]


def test_trees_that_are_none_are_counted_and_their_words_judged() -> None:
    for old, new in (("0 root", "2 root"), ("4 obl", "0 obl"), ("4 obl", "9 obl"), ("4 obl", "_ obl")):
        report = compare(conllu(GOLD), conllu(GOLD.replace(old, new)))
        assert report.universal is not None
        assert (report.universal.malformed, report.universal.scores["UAS"].correct) == (1, 6)
    nowhere = GOLD.replace("4 obl", "_ obl")
    report = compare(conllu(nowhere), conllu(nowhere))
    assert report.universal is not None
    assert report.universal.scores["UAS"].correct == 6


@pytest.mark.parametrize(
    ("heads", "wanted"),
    [([0], True), ([2, 0, 2], True), ([2, 1, 0], False), ([0, 0], False), ([1], False), ([0, 2], False),
     ([2, 3, 4, 0], True), ([2, 3, 1, 0], False), ([0, -1], False)],
)  # fmt: skip
def test_trees(heads: list[int], wanted: bool) -> None:
    assert is_tree(heads) is wanted


def lay_out(tokens: str) -> str:
    """Write tokens as CoNLL-U; a=b,c is the multiword token a of the words b and c, / ends a sentence."""
    lines, number = [], 0
    for token in tokens.split():
        form, _, parts = token.partition("=")
        if token == "/":
            lines.append("")
            number = 0
            continue
        words = parts.split(",") if parts else [form]
        if parts:
            lines.append(f"{number + 1}-{number + len(words)} {form} _ _ _ _ _ _")
        for word in words:
            number += 1
            lines.append(f"{number} {word} {word} X _ _ {number - 1} {'dep' if number > 1 else 'root'}")
    return "\n".join(lines) + "\n"


def compare_tokens(gold: str, predicted: str) -> EvaluationReport:
    return compare(conllu(lay_out(gold)), conllu(lay_out(predicted), "out.conllu"))


@pytest.mark.parametrize(
    ("gold", "predicted", "tokens", "words"),
    [
        ("ab c", "a bc", 0, 0),
        ("ab c d", "a b c d", 2, 2),
        ("don't=do,n't go", "do n't go", 1, 3),
        ("do n't go", "don't=do,n't go", 1, 3),
        ("don't=do,n't go", "don't go", 2, 1),
        ("im=in,dem Haus", "im Haus", 2, 1),
        ("im=in,dem Haus", "im=In,das Haus", 2, 2),
        ("ab=x,y cd=z,w", "abcd=x,z,y,w", 0, 3),
        ("abc=a,b,c de=d,e", "a bcd=b,c,d e", 0, 5),
        ("a b / c d", "a b c d", 4, 4),
        ("a b c / d", "a / b c d", 4, 4),
    ],
)
def test_words_are_aligned_by_their_characters(gold: str, predicted: str, tokens: int, words: int) -> None:
    report = compare_tokens(gold, predicted)
    assert report.universal is not None
    found = count(report.universal.scores)
    assert (found["Tokens"], found["Words"]) == (tokens, words)
    assert bool(report.accuracies) is report.has_same_words


def test_sentences_that_are_cut_elsewhere() -> None:
    report = compare_tokens("a b / c d / e", "a b c / d / e")
    assert report.universal is not None
    sentences = report.universal.scores["Sentences"]
    assert (sentences.correct, sentences.predicted, sentences.gold) == (1, 3, 3)
    # d depends on c in the gold file and is a root in the other; c is a root in the gold file only.
    assert report.universal.scores["UAS"].correct == 3
    assert report.sentences == 3


def test_heads_are_followed_through_the_alignment() -> None:
    report = compare_tokens("ab c d", "a b c d")
    assert report.universal is not None
    # c depends on a word that is not aligned, d on c.
    assert report.universal.scores["UAS"].correct == 1
    assert report.universal.scores["LAS"].aligned == 2


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            "a b / c",
            "a b / d",
            "gold.conllu:4: 'c' stands here, but 'd' stands at out.conllu:4: the",
        ),
        ("a bc d", "a b x d", "gold.conllu:2: 'bc' stands here, but 'x' stands at out.conllu:3"),
        ("a b / c", "a b", "gold.conllu:4: this sentence, 'c', is missing in the predicted file, which ends"),
        ("a b c", "a b", "gold.conllu:3: the predicted file ends before 'c', with the sentence at out.conl"),
        ("a b", "a b c", "gold.conllu:2: the gold file ends after this word, but 'c' stands at out.conllu:3"),
    ],
)
def test_texts_that_differ(gold: str, predicted: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        compare_tokens(gold, predicted)
    assert str(caught.value).startswith(message)
