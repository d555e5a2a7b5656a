"""Sentence pairs and links in files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from certus.errors import FormatError
from certus.formats.parallel import read_pairs
from certus.formats.pharaoh import format_links, looks_linked, parse_links, read_links


def test_two_files_and_one(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("the house\n\nyes")
    target.write_text("la maison\nrien\noui\n")
    expected = [(["the", "house"], ["la", "maison"], 1), ([], ["rien"], 2), (["yes"], ["oui"], 3)]
    assert [(p.source, p.target, p.line) for p in read_pairs(source, target)] == expected
    for separator in (" ||| ", "\t"):
        joint = BytesIO("\n".join(" ".join(a) + separator + " ".join(b) for a, b, _ in expected).encode())
        assert [(p.source, p.target, p.line) for p in read_pairs(joint)] == expected


def test_unequal_files(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("a\nb\n")
    target.write_text("x\n")
    with pytest.raises(FormatError, match=r"a\.fr:2: there is no line 2, but .*a\.en has one"):
        list(read_pairs(source, target))


def test_lines_that_are_no_pairs() -> None:
    for line in (b"a b c", b"a ||| b ||| c", b"\xff ||| b"):
        with pytest.raises(FormatError, match=":2: "):
            list(read_pairs(BytesIO(b"a ||| b\n" + line + b"\n")))


def test_lines_that_are_passed_over(tmp_path: Path) -> None:
    """Nothing else is lost, and each fault is named by its line."""
    lines = b"a ||| b\nno pair\n\xff ||| b\nc ||| d"
    found = list(read_pairs(BytesIO(lines), skip=True))
    assert [(p.source, p.target) for p in found] == [(["a"], ["b"]), ([], []), ([], []), (["c"], ["d"])]
    assert [p.fault is None for p in found] == [True, False, False, True]
    assert "<stream>:2: " in str(found[1].fault)
    assert "<stream>:3: byte 1 of this line, 0xff, is not UTF-8" in str(found[2].fault)
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_bytes(b"a\n\xff\nc\nd\n")
    target.write_text("x\ny\nz\n")
    found = list(read_pairs(source, target, skip=True))
    assert [bool(p.source) for p in found] == [True, False, True, False]
    assert "a.en:2: " in str(found[1].fault)
    assert "there is no line 4" in str(found[3].fault)


def test_links(tmp_path: Path) -> None:
    found = parse_links("0-0 1p2 3?4 2-1:0.5")
    assert found.sure == {(0, 0), (2, 1)}
    assert found.possible == {(0, 0), (1, 2), (3, 4), (2, 1)}
    assert format_links(sorted(found.sure)) == "0-0 2-1"
    file = tmp_path / "gold"
    file.write_text("0-0\n\n1p1 0-0\n")
    assert [len(links.possible) for links in read_links(file)] == [1, 0, 2]
    assert looks_linked(str(file))
    for text in ("", "the dog\n", "0-0 x\n", "1\tThe\n"):
        file.write_text(text)
        assert not looks_linked(str(file))
    with pytest.raises(FormatError, match=r"<stream>:2: '1-' is no link"):
        list(read_links(BytesIO(b"0-0\n1-\n")))
