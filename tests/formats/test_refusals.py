"""What is wrong with a file is said with its name and line."""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path

import pytest

from certus.errors import FormatError, InvalidInput
from certus.formats import blocks, read, write

GOOD = "1\tOwls\towl\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"


def token(name: str, form: str = "owl") -> str:
    return "\t".join([name, form, *["_"] * 8]) + "\n"


def refused(content: bytes | str, name: str, **options: str) -> str:
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    stream.name = name
    with pytest.raises(FormatError) as caught:
        list(read(stream, **options))
    assert caught.value.source == name
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + "1\tOwls\towl\n", "x.conllu:4: 3 columns instead of 10: this is not CoNLL-U"),
        (GOOD + token("1")[:-1] + "\t_\n", "x.conllu:4: 11 columns instead of 10"),
        (GOOD.replace("\t", " "), "x.conllu:1: there is no tab in this line; its fields are separated by sp"),
        ("Owls sleep all day.\n", "x.conllu:1: there is no tab in this line: CoNLL-U has ten columns"),
        (GOOD + "# c\n" + token("1") + token("3"), "x.conllu:6: id '3' is out of order: 2 or a range"),
        (GOOD + token("2"), "x.conllu:4: id '2' is out of order: 1 or"),
        (GOOD + token("1") + token("1"), "x.conllu:5: id '1' is out of order"),
        (token("1-2") + token("1") + "\n" + GOOD, "x.conllu:1: a range ends at token 2, but there are 1"),
        (token("1-3") + token("1") + token("2-3") + token("2") + token("3"), "x.conllu:3: id '2-3' is out"),
        (token("2-1") + token("1"), "x.conllu:1: id '2-1' is out of order"),
        (token("1") + token("2.1"), "x.conllu:2: id '2.1' is out of order"),
        (token("x"), "x.conllu:1: id 'x' is out of order"),
        (GOOD + token("1", ""), "x.conllu:4: the form, column 2, is empty"),
        ("", "x.conllu: holds no sentence"),
        ("\n \n\n", "x.conllu: holds no sentence"),
        ("# only\n# comments\n", "x.conllu: holds no sentence"),
        (GOOD.encode() + b"# caf\xe9\n", "x.conllu:4: byte 6 of this line, 0xe9, is not UTF-8; convert"),
        (
            b"\x7fELF\0\xd0",
            "x.conllu:1: byte 6 of this line, 0xd0, is not UTF-8; this seems to be no text at all",
        ),
        (GOOD.encode("utf-16"), "x.conllu:1: byte 1 of this line, 0xff, is not UTF-8; it looks like UTF-16"),
        (GOOD.replace("\n", "\r\n") + "1\tOwls\r\n", "x.conllu:4: 2 columns instead of 10"),
    ],
)
def test_conllu(content: bytes | str, message: str) -> None:
    assert refused(content, "x.conllu").startswith(message)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a DT\n\nb NN\nc\n", {"columns": "word tag"}, "x:4: 1 column instead of 2 (form tag); the columns"),
        (
            "a\tDT\nb NN\n",
            {},
            "x:2: there is no tab in this line; its fields are separated by spaces",
        ),
        ("a\tb\tc\td\te\n", {}, "x: 5 columns, and no usual names for them; name them"),
        ("a b\n", {"format": "conllx"}, "x: 2 columns instead of 8 or 10: this is not CoNLL-X"),
        ("a\t1\nb\t3\n", {"columns": "word id"}, "x:2: id '3' is out of order: 2 was expected"),
        ("\tDT\n", {"columns": "word tag"}, "x:1: the word is empty"),
        ("-DOCSTART- -X- O O\n", {}, "x: holds no sentence"),
        ("", {}, "x: holds no sentence"),
    ],
)
def test_columns(content: str, options: dict[str, str], message: str) -> None:
    assert refused(content, "x", **options).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "xml"},
            "format 'xml' is unknown; the formats are conllu, conllx, columns, brackets, text, raw",
        ),
        ({"format": "conllu", "columns": "word"}, "columns cannot be named in format 'conllu'"),
        ({"columns": "pos chunk"}, "one of the columns must be 'word'"),
        ({"columns": "word form"}, "a column is named twice in 'word form'"),
        ({"encoding": "latin-77"}, "encoding 'latin-77' is unknown"),
        ({"encoding": "utf-16"}, "encoding 'utf-16' cannot be read line by line"),
    ],
)
def test_options_are_refused_before_anything_is_read(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(io.BytesIO(), **options)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        read(tmp_path / "nothing.conllu")
    with pytest.raises(InvalidInput, match="is a folder"):
        read(tmp_path)


def test_a_truncated_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(b"plain text")
    with pytest.raises(FormatError, match="cannot be decompressed"):
        list(read(path))
    write(read(io.StringIO(GOOD * 500)), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="cannot be decompressed"):
        list(read(path))


def test_a_file_without_blank_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LARGEST", 1000)
    assert "characters without a blank line" in refused("owl\tNN\n" * 200, "x.tsv")


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(FormatError("is odd", "x.conllu", 3)))
    assert (str(error), error.source, error.line) == ("x.conllu:3: is odd", "x.conllu", 3)


def test_a_damaged_archive(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(bytes(range(256)) * 40, mtime=0))
    whole[20:60] = bytes(40)
    (tmp_path / "c.gz").write_bytes(whole)
    with pytest.raises(FormatError, match="cannot be decompressed"):
        list(read(tmp_path / "c.gz"))


def test_text_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\nd e\n", encoding="utf-8")
    with pytest.raises(
        FormatError, match=r"a.txt:1: there is no column 'upos'; .* form: it was read as text"
    ):
        next(read(tmp_path / "a.txt")).column("upos")
