"""What is not predicted is not scored, and what fails counts as wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import InvalidInput
from certus.evaluation import compare, measure_differences
from certus.formats import build, read, replace

WORDS = ["Owls", "sleep", "well"]
GOLD = build(
    WORDS,
    {
        "lemma": ["owl", "sleep", "well"],
        "upos": ["NOUN", "VERB", "ADV"],
        "feats": ["Number=Plur", "_", "_"],
        "head": ["2", "0", "2"],
        "deprel": ["nsubj", "root", "advmod"],
    },
)
TAGGED = replace(GOLD, {"upos": ["NOUN", "NOUN", "ADV"]})


def evaluate(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["evaluate", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name, sentence in (("gold.conllu", GOLD), ("tagged.conllu", TAGGED)):
        (tmp_path / name).write_text(sentence.text, encoding="utf-8")
    return str(tmp_path / "gold.conllu"), str(tmp_path / "tagged.conllu")


def test_columns_that_are_copied_from_the_gold_file_are_marked() -> None:
    report = compare([GOLD], [TAGGED])
    assert report.copied == ("lemma", "feats", "deprel", "head")
    assert report.list_copied(report.accuracies["upos+feats"].columns) == ["feats"]
    assert not report.is_identical
    assert report.as_dict()["accuracy"]["LAS"]["copied"] == ["head", "deprel"]


def test_the_same_file_twice_tells_nothing_about_what_was_predicted() -> None:
    report = compare([GOLD], [GOLD])
    assert report.is_identical
    assert report.copied == ()
    assert report.accuracies["upos"].accuracy == 1.0


def test_no_score_is_printed_for_what_is_copied(files: tuple[str, str]) -> None:
    rows = {line.split()[0]: line.split()[1:] for line in evaluate(*files).split("\n") if line.strip()}
    assert rows["upos"][0] == "66.67"
    assert rows["deprel"] == ["–", "–", "–", "deprel"]
    assert rows["LAS"][-2:] == ["head,", "deprel"]
    assert "100.00" not in " ".join(" ".join(row) for row in rows.values())


def test_columns_that_are_named_are_judged_and_no_others(files: tuple[str, str]) -> None:
    found = json.loads(evaluate(*files, "--judge", "upos,feats", "--json"))
    assert list(found["accuracy"]) == ["upos", "feats", "upos+feats"]
    assert found["accuracy"]["feats"]["accuracy"] == 1.0
    assert list(found["conll18"]) == ["Tokens", "Sentences", "Words", "UPOS", "UFeats"]
    assert found["copied"] == []
    with pytest.raises(InvalidInput, match="there is no column 'ner' to judge in both"):
        compare([GOLD], [GOLD], judged=["ner"])


def test_columns_that_are_empty_are_no_predictions(files: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "bare.conllu"
    path.write_text(build(WORDS, {"upos": ["NOUN", "NOUN", "ADV"]}).text, encoding="utf-8")
    text = evaluate(files[0], str(path))
    assert "lemma, feats, deprel, head: empty in the predicted file" in text
    assert "Lemmas" not in text
    assert "cycle" not in text


def test_other_tokens_are_judged_by_precision_and_recall() -> None:
    joined = build(["Owls", "sleepwell"], {"upos": ["NOUN", "VERB"]})
    report = compare([GOLD], [joined])
    assert report.universal is not None
    words, upos = (report.universal.scores[name] for name in ("Words", "UPOS"))
    assert (words.correct, words.precision, words.recall) == (1, 1 / 2, 1 / 3)
    assert upos.aligned_accuracy == 1.0
    with pytest.raises(InvalidInput, match="both predictions must have the words of the gold file"):
        measure_differences(report, report)


def test_trees_that_failed_do_not_end_an_evaluation(tmp_path: Path) -> None:
    tree = "(TOP (S (NP (NNS owls)) (VP (VBP sleep))))"
    gold, found = tmp_path / "gold.mrg", tmp_path / "found.mrg"
    gold.write_text(f"{tree}\n" * 3, encoding="utf-8")
    found.write_text(f"{tree}\n(())\n{tree.replace('owls', 'cats')}\n", encoding="utf-8")
    text = evaluate(str(gold), str(found))
    assert "1 sentence has no tree and counts as wrong: 2" in text
    assert "1 tree is over other words and counts as wrong: 3" in text
    assert "in tree 3, word 1 is 'owls' in the gold tree and 'cats' in the predicted one" in text
    figures = json.loads(evaluate(str(gold), str(found), "--json"))
    assert (figures["all"]["gold"], figures["all"]["predicted"], figures["all"]["correct"]) == (9, 6, 3)
    assert (figures["failed"], list(figures["mismatched"])) == ([2], ["3"])


def test_endless_multiword_tokens_are_refused() -> None:
    long, other = (
        "1-5000\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
        + "".join(f"{n}\t{form}\t_\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n in range(1, 5001))
        for form in ("a", "b")
    )
    with pytest.raises(
        InvalidInput, match=r"multiword tokens of 5,000 words in the gold file and of 5,000 in"
    ):
        compare(read(io.StringIO(long), "conllu"), read(io.StringIO(other), "conllu"))
