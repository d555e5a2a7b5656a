"""Counts that can be checked by hand, and files that do not fit together."""

from __future__ import annotations

import io
import json
import math

import pytest

from certus.errors import FormatError, InvalidInput
from certus.evaluation import EvaluationReport, Share, compare
from certus.formats import Sentence, build, read, replace


def columns(text: str, name: str = "gold.txt", names: str = "word pos chunk") -> list[Sentence]:
    stream = io.BytesIO(text.encode())
    stream.name = name
    return list(read(stream, columns=names))


GOLD = "The DT B-NP\nowls NNS I-NP\nsleep VBP B-VP\n\nThey PRP B-NP\nwake VBP B-VP\n"
GUESS = "The DT B-NP\nowls NN I-NP\nsleep VBP I-NP\n\nThey PRP B-NP\nwake VBP B-VP\n"


def test_columns_sentences_and_spans() -> None:
    report = compare(columns(GOLD), columns(GUESS))
    assert (report.sentences, report.tokens) == (2, 5)
    assert list(report.accuracies) == ["pos", "chunk", "pos|chunk"]
    pos = report.accuracies["pos"]
    assert (pos.tokens, pos.sentences, pos.by_sentence) == (Share(4, 5), Share(1, 2), [2, 2])
    assert pos.accuracy == 0.8
    assert report.accuracies["pos|chunk"].tokens == Share(3, 5)
    assert pos.known == pos.unknown == Share()
    chunk = report.spans["chunk"]
    assert list(report.spans) == ["chunk"]
    assert (chunk.total.correct, chunk.total.predicted, chunk.total.gold) == (2, 3, 4)
    assert (chunk.total.precision, chunk.total.recall) == (2 / 3, 0.5)
    assert chunk.total.f1 == pytest.approx(4 / 7)
    assert {kind: (f.correct, f.predicted, f.gold) for kind, f in chunk.types.items()} == {
        "NP": (1, 2, 2),
        "VP": (1, 1, 2),
    }
    assert chunk.by_sentence == [(0, 1), (2, 2)]


def test_known_and_unknown_words() -> None:
    pos = compare(columns(GOLD), columns(GUESS), {"The", "They", "sleep"}).accuracies["pos"]
    assert (pos.known, pos.unknown) == (Share(3, 3), Share(1, 2))
    nothing = compare(columns(GOLD), columns(GUESS), []).accuracies["pos"]
    assert (nothing.known, nothing.unknown) == (Share(0, 0), Share(4, 5))


def tree() -> Sentence:
    words = ["Owls", "sleep", "well"]
    fields = {
        "upos": ["NOUN", "VERB", "ADV"],
        "feats": ["Number=Plur", "_", "_"],
        "head": ["2", "0", "2"],
        "deprel": ["nsubj", "root", "advmod"],
    }
    return build(words, fields)


def test_attachment_and_features() -> None:
    fields = {
        "upos": ["NOUN", "NOUN", "ADV"],
        "feats": ["Number=Sing", "_", "_"],
        "head": ["2", "0", "1"],
        "deprel": ["obj", "root", "advmod"],
    }
    report = compare([tree()], [replace(tree(), fields)])
    hits = {name: row.tokens.correct for name, row in report.accuracies.items()}
    assert hits == {"upos": 2, "feats": 2, "deprel": 2, "upos+feats": 1, "UAS": 2, "LAS": 1}


def test_columns_that_are_empty_in_the_gold_file_are_left_out() -> None:
    bare = build(["a", "b"], {"upos": ["X", "Y"]})
    report = compare([bare], [replace(bare, {"xpos": ["P", "Q"]})])
    assert list(report.accuracies) == ["upos"]
    assert "upos" in compare([tree()], [replace(tree(), {"upos": ["_"] * 3})]).accuracies


def test_a_column_of_tags_that_turns_out_to_be_none_has_no_spans() -> None:
    first, second = "a B-X\n\nb NN\n", "a B-X\n\nb B-X\n"
    assert not compare(columns(first, names="word tag"), columns(second, names="word tag")).spans
    assert compare(columns(second, names="word tag"), columns(first, names="word tag")).spans


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (GUESS.replace("They", "We"), "gold.txt:5: 'They' stands here, but 'We' stands at guess.txt:5"),
        (GUESS.replace("They PRP B-NP\n", ""), "gold.txt:5: 'They' stands here, but 'wake' stands at guess"),
        (
            GUESS + "up RP O\n",
            "gold.txt:6: the sentence ends after this word, but 'up' stands at guess.txt:7",
        ),
        (
            GUESS.replace("wake VBP B-VP\n", ""),
            "gold.txt:6: 'wake' stands here, but the sentence ends at gue",
        ),
        (
            GUESS.split("\n\n")[0],
            "gold.txt:5: this sentence, 'They wake', is missing in the predicted file, wh",
        ),
        (
            GUESS + "\nIt PRP O\n",
            "guess.txt:8: this sentence, 'It', is missing in the gold file, which ends w",
        ),
    ],
)
def test_files_that_do_not_fit_together(guess: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        compare(columns(GOLD), columns(guess, "guess.txt"))
    assert str(caught.value).startswith(message)


def test_the_place_where_the_shorter_file_ends() -> None:
    with pytest.raises(FormatError, match=r"which ends with the sentence at short\.txt:1"):
        compare(columns(GOLD), columns(GUESS.split("\n\n")[0], "short.txt"))


def test_nothing_to_compare() -> None:
    with pytest.raises(FormatError, match=r"no column to compare with b: this file has form, pos"):
        compare(columns("a X\n", "a", "word pos"), columns("a X\n", "b", "word tag"))
    with pytest.raises(InvalidInput, match="no sentence"):
        compare([], [])


def test_intervals() -> None:
    low, high = Share(80, 100).interval
    assert (round(low, 4), round(high, 4)) == (0.7112, 0.8666)  # Wilson's formula worked by hand
    assert Share(5, 5).interval[1] == 1.0
    assert Share(0, 5).interval[0] == 0.0
    assert math.isnan(Share().accuracy)
    assert math.isnan(Share().interval[0])


def test_reports_become_json() -> None:
    found = json.loads(json.dumps(compare(columns(GOLD), columns(GUESS), {"The"}).as_dict(), allow_nan=False))
    assert found["accuracy"]["pos"]["accuracy"] == 0.8
    assert found["accuracy"]["pos"]["unknown"] == {"accuracy": 0.75, "correct": 3, "total": 4}
    assert found["spans"]["chunk"]["types"]["VP"]["recall"] == 0.5
    assert "known" not in compare(columns(GOLD), columns(GUESS)).as_dict()["accuracy"]["pos"]
    assert EvaluationReport().as_dict()["tokens"] == 0


def test_spans_of_nothing_are_nothing() -> None:
    gold, guess = columns("a O\n", names="word tag"), columns("a B-X\n", names="word tag")
    total = compare(gold, guess).spans["tag"].total
    assert (total.precision, total.recall, total.f1) == (0.0, 0.0, 0.0)
    assert not compare(gold, gold).spans
