"""Parsers as models: trained, kept, opened, and refused when they are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus import ConstituencyParser, InvalidInput, ModelError, NotFitted, Status
from certus.formats import brackets
from certus.storage import model_file
from tests.syntax import invented_trees


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[ConstituencyParser, Path]:
    folder = tmp_path_factory.mktemp("parsers")
    brackets.write(invented_trees.trees(150), folder / "train.mrg")
    brackets.write(invented_trees.trees(30, seed=1), folder / "dev.mrg", pretty=True)
    stages: list[Any] = []
    parser = ConstituencyParser(min_hidden=2).fit(
        folder / "train.mrg", dev=folder / "dev.mrg", progress=stages.append, metadata={"licence": "none"}
    )
    assert [progress.stage for progress in stages] == [
        "reading",
        "estimating a grammar from 150 trees",
        "parsing 30 trees of dev",
    ]
    parser.save(folder / "p.certus")
    return parser, folder / "p.certus"


def test_training(trained: tuple[ConstituencyParser, Path]) -> None:
    parser, _ = trained
    about = parser.description
    assert about["accuracy"]["dev"] > 0.9
    assert about["accuracy"]["dev_tags"] > 0.99
    tokens = sum(tag != "-NONE-" for tree in invented_trees.trees(150) for tag in tree.tags)
    assert about["training"] == {"name": "train.mrg", "trees": 150, "tokens": tokens}
    assert about["licence"] == "none"
    same = ConstituencyParser(min_hidden=2).fit(invented_trees.trees(150))
    words = ["the", "owl", "sees", "the", "park", "."]
    assert same.parse(words).score == parser.parse(words).score
    assert parser.parse(words).optimal
    assert repr(parser).startswith("ConstituencyParser(Grammar(")
    assert repr(ConstituencyParser()) == "ConstituencyParser(not trained)"


def test_a_loaded_parser_answers_the_same(trained: tuple[ConstituencyParser, Path], tmp_path: Path) -> None:
    parser, path = trained
    for loaded in (certus.load(path), ConstituencyParser.load(str(path))):
        assert loaded.options == parser.options
        assert loaded.description == parser.description
        words = ["The", "zebra", "finds", "the", "old", "Zorg", "near", "the", "house", "."]
        first, second = parser.parse(words, k=5), loaded.parse(words, k=5)
        assert first.scores.tolist() == second.scores.tolist()
        assert [one.value for one in first] == [one.value for one in second]
        part = loaded.part(words).maximize({})
        assert (part.value, part.score) == (first[0].value, first[0].score)
    certus.load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_unparsable_sentences_are_covered(trained: tuple[ConstituencyParser, Path]) -> None:
    parser, words = trained[0], ["."] * 3
    answer = parser.parse(words, cover=True)
    assert answer.status is Status.INFEASIBLE
    assert answer.value.words == words
    assert parser.parse(words, infeasible="return").value is None
    assert len(parser.parse(words, k=2, infeasible="return")) == 0
    for k in (1, 2):
        with pytest.raises(certus.Infeasible, match="the sentence has no tree"):
            parser.parse(words, k=k)
    with pytest.raises(certus.Infeasible, match="sentence 0: the sentence has no tree"):
        parser.parse_batch([words, words])


def test_refusals(trained: tuple[ConstituencyParser, Path], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no option 'owls'"):
        ConstituencyParser(owls=1)
    with pytest.raises(NotFitted, match="not trained yet"):
        ConstituencyParser().parse(["x"])
    with pytest.raises(InvalidInput, match="hold no tree"):
        ConstituencyParser().fit([])
    with pytest.raises(InvalidInput, match="no file"):
        ConstituencyParser().fit(tmp_path / "absent.mrg")
    file = model_file.read(trained[1])
    model_file.write(tmp_path / "t", "tagger", {}, {})
    with pytest.raises(ModelError, match="not a parser"):
        ConstituencyParser.load(tmp_path / "t")
    wrong: list[tuple[str, Any]] = [
        ("binary", np.full((1, 3), 10**6, np.int32)),
        ("tag", np.zeros(3, np.int32)),
        ("word_first", np.zeros(2, np.int64)),
        ("word_symbol", np.full(len(file.arrays["word_symbol"]), 10**6, np.int32)),
    ]
    for name, value in wrong:
        model_file.write(tmp_path / "bad", "parser", {**file.arrays, name: value}, file.description)
        with pytest.raises(ModelError, match="damaged or of another version"):
            certus.load(tmp_path / "bad")
    model_file.write(tmp_path / "bad", "parser", {}, file.description)
    with pytest.raises(ModelError, match="it lacks the array 'symbols'"):
        certus.load(tmp_path / "bad")
