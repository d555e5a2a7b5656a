"""Attachment in detail, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import InvalidInput
from certus.evaluation import compare_attachment
from certus.formats import Sentence, build


def make(heads: str, relations: str) -> Sentence:
    words = ["w"] * len(heads.split())
    return build(words, {"head": heads.split(), "deprel": relations.split()})


GOLD = [make("2 0 2 3", "nsubj root obj:x det"), make("3 4 0 3", "a b root c")]
FOUND = [make("2 0 4 3", "nsubj root obj:x det"), make("3 4 0 3", "a b root d")]


def test_words_are_counted_in_their_groups() -> None:
    report = compare_attachment(GOLD, FOUND)
    total = report.total
    assert (total.words, total.heads, total.labelled, total.full) == (8, 7, 6, 6)
    assert report.relations["obj"].heads == 0
    assert report.relations["root"].uas == 1
    assert report.trees["projective"].words == report.trees["not projective"].words == 4
    assert report.trees["not projective"].las == 0.75
    assert report.lengths["1–10"].words == 8
    assert {name: row.words for name, row in report.distances.items()} == {"1": 4, "root": 2, "2": 2}
    assert next(iter(report.relations)) == "root"


def test_subtypes_count_in_full_relations_only() -> None:
    report = compare_attachment([make("0 1", "root obj:x")], [make("0 1", "root obj:y")])
    assert (report.total.labelled, report.total.full) == (2, 1)


@pytest.mark.parametrize("found", [FOUND[:1], [*FOUND, FOUND[0]], [FOUND[0], make("0", "root")]])
def test_other_sentences_are_refused(found: list[Sentence]) -> None:
    with pytest.raises(InvalidInput):
        compare_attachment(GOLD, found)


def test_the_command_line_shows_them(tmp_path: Path) -> None:
    for name, sentences in (("gold", GOLD), ("found", FOUND)):
        (tmp_path / f"{name}.conllu").write_text("".join(sentence.text for sentence in sentences))
    arguments = ["evaluate", str(tmp_path / "gold.conllu"), str(tmp_path / "found.conllu"), "--details"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "not projective" in shown.stdout
    figures = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert figures["attachment"]["total"]["words"] == 8
