"""Every format reads what it should, and is written back byte for byte."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from certus.errors import InvalidInput
from certus.formats import Sentence, read, replace, write
from tests.formats.samples import ABSTRACTS, BUNDLES, CHUNKS, CONLLU, CONLLX, ENTITIES, FILES, TEXT


def sentences(text: str, name: str = "x", **options: str) -> list[Sentence]:
    stream = io.BytesIO(text.encode())
    stream.name = name
    return list(read(stream, **options))


def variants(text: str) -> list[str]:
    """The same file as other editors leave it."""
    return [
        text,
        text.rstrip("\n"),
        text.rstrip("\n") + "\n",
        text + "\n\n",
        "\n" + text,
        "\n\n" + text,
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        "\ufeff" + text.replace("\n", "\r\n"),
        text.replace("\n\n", "\n \n") if "\t" in text else text,
        text.replace("\n\n", "\n\n\n"),
        text + "  ",
    ]


CASES = [(name, variant) for name, text in FILES.items() for variant in variants(text)]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_what_is_read_is_written(name: str, text: str, tmp_path: Path) -> None:
    found = sentences(text, name)
    assert [s.words for s in found] == [s.words for s in sentences(FILES[name], name)]
    lines = text.split("\n")
    for sentence in found:
        for token, word in enumerate(sentence.words):
            assert word in lines[sentence.line_of(token) - 1]
    assert write(found, tmp_path / name) == len(found)
    assert (tmp_path / name).read_bytes() == text.encode()


@pytest.mark.parametrize(("name", "text"), CASES)
def test_replacing_values_by_themselves_changes_nothing(name: str, text: str) -> None:
    for sentence in sentences(text, name):
        if sentence.layout.format == "columns" or sentence.layout.format == "conllu":
            same = replace(sentence, sentence.columns)
            assert same.text == sentence.text
            assert same.columns == sentence.columns


@pytest.mark.parametrize(("name", "text"), CASES)
def test_what_is_replaced_is_read_back(name: str, text: str) -> None:
    found = sentences(text, name)
    if found[0].layout.format == "text":
        return
    last = found[0].layout.names[-1]
    changed = [replace(s, {last: [f"B-new{i}" for i in range(len(s))]}) for s in found]
    again = sentences("".join(s.text for s in changed), name)
    assert [s.columns for s in again] == [s.columns for s in changed]
    assert again[0].columns[last][0] == "B-new0"
    original = text.split("\n")
    for line, new in zip(original, "".join(s.text for s in changed).split("\n"), strict=True):
        assert line == new or "new" in new


def test_conllu_tokens_are_not_ranges_nor_empty_nodes() -> None:
    first, second = sentences(CONLLU, "a.conllu")
    assert first.words == ["Do", "n't", "feed", "the", "owls", "here", "."]
    assert first.columns["id"] == [str(i) for i in range(1, 8)]
    assert first.columns["misc"][-1] == "_ "
    assert (first.line, first.line_of(4), first.line_of(5)) == (5, 9, 11)
    assert (second.line, len(second)) == (15, 2)
    assert second.columns["upos"] == ["NOUN", "VERB"]
    assert "Owls sleep" in repr(second)
    assert "x:" not in repr(second)


def test_replace_changes_the_fields_of_tokens_and_nothing_else() -> None:
    first, _ = sentences(CONLLU, "a.conllu")
    changed = replace(first, {"upos": list("ABCDEFG"), "word": [w.upper() for w in first.words]})
    assert changed.words[:2] == ["DO", "N'T"]
    assert first.words[:2] == ["Do", "n't"]
    before, after = first.text.split("\n"), changed.text.split("\n")
    differing = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert differing == [4, 5, 6, 7, 8, 10, 11]
    assert after[8] == "5\tOWLS\towl\tE\tNNS\tNumber=Plur\t3\tobj\t_\tSpacesAfter=\\s\\s"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"upos": ["X"]}, "1 values of 'upos' for 2 tokens"),
        ({"upos": ["X", "a\tb"]}, "'a\\\\tb' cannot be written as 'upos'"),
        ({"upos": ["X", ""]}, "cannot be written as 'upos'"),
        ({"chunk": ["X", "Y"]}, "a.conllu:15: there is no column 'chunk'; the columns are id, form"),
    ],
)
def test_replace_refuses_what_breaks_the_line(fields: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        replace(sentences(CONLLU, "a.conllu")[1], fields)


def test_text_has_no_fields_to_replace() -> None:
    with pytest.raises(InvalidInput, match="no fields to replace"):
        replace(sentences(TEXT)[0], {"word": ["a"] * 4})


def test_bundles_of_sigmorphon() -> None:
    (sentence,) = sentences(BUNDLES)
    assert sentence.layout.format == "conllu"
    assert sentence.columns["feats"] == ["N;PL;NOM;FEM", "V;PL;3;PRS"]


def test_columns_are_named_as_usual() -> None:
    assert list(sentences(CHUNKS, "c.txt")[0].columns) == ["form", "pos", "chunk"]
    assert sentences(CHUNKS, "c.txt")[0].words == ["The", "#", "owls", "sleep", "."]
    assert list(sentences(ENTITIES, "d.txt")[0].columns) == ["form", "pos", "chunk", "ner"]
    assert list(sentences(ABSTRACTS, "e.iob2")[0].columns) == ["form", "tag"]
    assert list(sentences(CONLLX, "f.conll")[0].columns)[3:8] == ["cpos", "pos", "feats", "head", "deprel"]
    assert list(sentences(CONLLX, format="conllx")[0].columns)[3:5] == ["cpos", "pos"]
    assert list(sentences("owl\tNN\t2\n", "o.dp")[0].columns) == ["form", "pos", "head"]


def test_columns_are_named_by_the_user() -> None:
    (first, _) = sentences(CHUNKS, columns="word, _ tag")
    assert list(first.columns) == ["form", "_2", "tag"]
    assert first.column("word") == first.words == first.column("form")
    assert first.columns["tag"][-1] == "O"


def test_marks_of_documents_are_no_sentences() -> None:
    assert [s.words for s in sentences(ENTITIES, "d.txt")] == [["Ada", "Pine", "left"], ["Rome"]]
    first, second = sentences(ABSTRACTS, "e.iob2")
    assert (first.words, second.words) == (["NFX-9", "binds"], ["#", "CD7"])
    assert (first.line, second.line) == (3, 8)
    assert first.text.startswith("###MEDLINE:12345\n\nNFX-9")
    glued = sentences("-DOCSTART- -X- O O\nAda NNP B-NP B-PER\n", "d.txt")
    assert (glued[0].words, glued[0].line) == (["Ada"], 2)


def test_uneven_blanks_survive() -> None:
    text = "The  DT\tB-NP\n owls NNS   I-NP \n"
    (sentence,) = sentences(text, columns="word pos chunk")
    assert sentence.columns["pos"] == ["DT", "NNS"]
    assert replace(sentence, {"pos": ["A", "BB"]}).text == "The  A\tB-NP\n owls BB   I-NP \n"


@pytest.mark.parametrize(
    "text", [" a X\nb Y\n", "a X\nb Y ", "\ufeff a X\nb Y\n", "a X\n\rb Y\n", "a X\n\ufeffb Y\n"]
)
def test_odd_lines_survive_a_replacement(text: str) -> None:
    (sentence,) = sentences(text, columns="word tag")
    assert replace(sentence, {"tag": ["X", "Y"]}).text == text
    assert replace(sentence, {"tag": ["P", "Q"]}).text == text.replace("X", "P").replace("Y", "Q")


def test_blanks_inside_fields_of_tab_files() -> None:
    (sentence,) = sentences("the owl\tNN\n", columns="word tag")
    assert sentence.words == ["the owl"]


def test_text_is_split_or_tokenised() -> None:
    assert [s.words for s in sentences(TEXT)] == [["The", "owls", "sleep", "."], ["They", "wake", "."]]
    assert sentences(TEXT)[1].line == 3
    raw = sentences("Don't feed the owls.\nThey sleep.\n")
    assert raw[0].layout.format == "raw"
    assert raw[0].words == ["Do", "n't", "feed", "the", "owls", "."]
    assert sentences("Don't!\n", format="text")[0].words == ["Don't!"]


def test_streams_paths_and_gzip(tmp_path: Path) -> None:
    wanted = [s.columns for s in sentences(CONLLU, "a.conllu")]
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8", newline="")
    zipped = tmp_path / "a.conllu.gz"
    with gzip.open(zipped, "wb") as file:
        file.write(CONLLU.encode())
    for source in (path, str(path), zipped, io.StringIO(CONLLU)):
        assert [s.columns for s in read(source)] == wanted
    again = tmp_path / "b.conllu.gz"
    write(read(zipped), again)
    assert gzip.decompress(again.read_bytes()) == CONLLU.encode()


def test_stdin_and_stdout() -> None:
    code = "from certus.formats import read, write; write(read('-'), '-')"
    done = subprocess.run(
        [sys.executable, "-c", code], input=CONLLU.encode(), capture_output=True, check=True
    )
    assert done.stdout == CONLLU.encode()


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "f.conll"
    path.write_bytes("1\tIruña\t_\tN\tN\t_\t0\tROOT\n".encode("latin-1"))
    (sentence,) = read(path, encoding="latin-1")
    assert sentence.words == ["Iruña"]
    write([sentence], tmp_path / "g.conll", encoding="latin-1")
    assert (tmp_path / "g.conll").read_bytes() == path.read_bytes()


def test_whoever_types_gets_an_answer_to_each_sentence() -> None:
    asked: list[bytes] = []

    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

        def read1(self, _: int | None = -1) -> bytes:
            asked.append(super().readline())
            return asked[-1]

    for sentence in read(Terminal(b"owls sleep .\nthey wake .\n")):
        assert len(asked) == sentence.line
    asked.clear()
    first = next(read(Terminal(CONLLU.encode()), format="conllu"))
    assert len(asked) == CONLLU.split("\n\n")[0].count("\n") + 2
    assert first.words[0] == "Do"


class Long(io.BytesIO):
    """A file that says the same again and again."""

    def __init__(self, piece: bytes, times: int) -> None:
        self.piece, self.left = piece, times

    def read1(self, _: int | None = -1) -> bytes:
        self.left -= 1
        return self.piece if self.left >= 0 else b""


def test_memory_is_constant() -> None:
    def peak(times: int) -> int:
        tracemalloc.start()
        count = sum(map(len, read(Long(CONLLU.encode() * 20, times), format="conllu")))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 9 * 20 * times
        return found

    assert peak(200) < 1.2 * peak(20)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_pieces_may_end_anywhere(size: int) -> None:
    class Slow(io.BytesIO):
        def read1(self, _: int | None = -1) -> bytes:
            return super().read(size)

    for name, text in CASES:
        stream = Slow(text.encode())
        stream.name = name
        found = list(read(stream, format=sentences(text, name)[0].layout.format))
        assert "".join(s.text for s in found) == text
        assert [s.columns for s in found] == [s.columns for s in sentences(text, name)]
        assert [s.line for s in found] == [s.line for s in sentences(text, name)]
