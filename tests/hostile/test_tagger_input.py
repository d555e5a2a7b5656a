"""What users give a tagger is understood or refused: schemes of spans, dictionaries, columns, byte order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import certus
from certus import InvalidInput, Tagger
from certus.chain import Automaton
from certus.chain.spans import find_spans
from certus.cli import tag
from certus.cli.options import TagOptions
from certus.formats import read
from certus.learn.features.data import compile_templates
from tests.models import invented

BIO = ["B-X", "I-X", "O", "B-Y", "I-Y"]
TSV = "a\tA\tB-X\nb\tA\tI-X\n\nb\tA\tB-X\nc\tC\tO\n\n"


@pytest.mark.parametrize(
    ("make", "labels", "message"),
    [
        (certus.bilou, BIO, "no label L-.*scheme bio"),
        (certus.iobes, BIO, "no label E-.*scheme bio"),
        (certus.bmes, ["B", "M", "S"], "no label E-.*scheme bmes"),
        (certus.bio, ["B-X", "L-X", "U-X", "O"], "prefix 'L'.*scheme bilou"),
        (certus.bio, ["I-X", "O"], "no label B-.*scheme iob1"),
    ],
)
def test_labels_of_another_scheme_are_refused_and_named(
    make: Callable[[list[str]], Automaton], labels: list[str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        make(labels)


@pytest.mark.parametrize(
    ("make", "labels"), [(certus.iob1, ["I-X", "B-X", "O", "I-Y"]), (certus.bmes, ["B", "M", "E", "S", "O"])]
)
def test_each_set_of_spans_is_written_in_one_legal_way(
    make: Callable[[list[str]], Automaton], labels: list[str]
) -> None:
    automaton = make(labels)
    translate = {"M": "I"}
    for length in range(5):
        legal = [ids for ids in product(range(len(labels)), repeat=length) if automaton.accepts(ids)]
        spans = {tuple(find_spans([translate.get(labels[y], labels[y]) for y in ids])) for ids in legal}
        assert len(spans) == len(legal)
        assert length < 1 or len(legal) > 1


def test_the_command_line_names_the_scheme_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(TSV)
    tagger = Tagger("chunk", "hmm").fit(tmp_path / "train.tsv")
    with pytest.raises(InvalidInput, match="its labels are in the scheme bio"):
        tag.make_automaton("bilou", tagger.target, tagger.labels)


def test_a_dictionary_takes_the_first_parts_of_labels() -> None:
    tagger = Tagger("upos+feats", "hmm").fit(invented.sentences(40, 1))
    assert tagger.tag(["xyz"], dictionary={"xyz": ["NOUN"]}).labels[0].startswith("NOUN|")
    case = tagger.tag(["xyz"], dictionary={"xyz": ["ADJ|Case=Acc"]}).labels[0]
    assert case.startswith("ADJ|Case=Acc|")
    with pytest.raises(InvalidInput, match="'NOU', allowed for 'xyz', is no label"):
        tagger.tag(["xyz"], dictionary={"xyz": ["NOU"]})
    with pytest.raises(InvalidInput, match="'NOUN', allowed for 'xyz', is no label"):
        tagger.tag(["xyz"], allowed=[["NOUN"]])


@pytest.mark.parametrize("width", [2, 3, 4])
def test_columns_are_named_as_in_training(width: int, tmp_path: Path) -> None:
    lines = [f"{w}\t{w.upper()}\t{n % 2}\t{'AB'[n % 2]}" for n, w in enumerate("abcabc")]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n\n")
    tagger = Tagger("label", "perceptron", templates="word[0]\nlemma[0]\n")
    tagger.fit(tmp_path / "train.tsv", columns="word lemma number label").save(tmp_path / "m")
    cut = ["\t".join(line.split("\t")[:width]) for line in lines]
    (tmp_path / "test.tsv").write_text("\n".join(cut) + "\n\n")
    loaded = Tagger.load(tmp_path / "m")
    assert loaded.layout == ["form", "lemma", "number", "label"]
    (sentence,) = read(tmp_path / "test.tsv", usual=loaded.layout)
    assert list(sentence.columns) == loaded.layout[:width]
    assert loaded.tag(sentence).labels == list("ABABAB")
    tag.run(str(tmp_path / "m"), [str(tmp_path / "test.tsv")], TagOptions(output=str(tmp_path / "out")))
    written = (tmp_path / "out").read_text().split("\n")
    assert [line.split("\t")[-1] for line in written if line] == [*"ABABAB"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "a b\n"),
        ("a.tsv", "a\tX\nb\tY\n\n"),
        ("a.conllu", "1\ta" + "\t_" * 8 + "\n2\tb" + "\t_" * 8 + "\n\n"),
        ("a.mrg", "(S (X a) (Y b))\n"),
    ],
)
def test_byte_order_marks_are_no_text(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    (sentence,) = read(tmp_path / name)
    assert list(sentence.words) == ["a", "b"]


def test_dictionaries_and_templates_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a\tX Y\n", encoding="utf-8-sig")
    assert tag.read_dictionary(str(tmp_path / "d"), "utf-8") == {"a": ["X", "Y"]}
    assert str(compile_templates("\ufeffword[0]\n")) == str(compile_templates("word[0]\n"))
