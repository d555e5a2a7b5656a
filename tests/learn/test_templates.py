"""The template language: what it accepts, what it compiles to, and what it says of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from certus import InvalidInput
from certus.learn.features.templates import AGREEMENT, CHUNKING, MORPHOLOGY, Template, Templates, Term, parse

COLUMNS = ("word", "pos", "analysis")


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("bias", Template(())),
        ("bias if frequent", Template((), "frequent")),
        ("word[0]", Template((Term("text", 0, 0),))),
        ("pos[-2]", Template((Term("text", 1, -2),))),
        ("word[+16]", Template((Term("text", 0, 16),))),
        ("lower(word[0])", Template((Term("text", 0, 0, lower=True),))),
        ("shape(pos[1])", Template((Term("shape", 1, 1),))),
        ("flags(word[0])", Template((Term("flags", 0, 0),))),
        ("length(word[0])", Template((Term("length", 0, 0),))),
        ("prefix(word[0], 1..10) if rare", Template((Term("prefix", 0, 0, low=1, high=10),), "rare")),
        ("suffix(lower(word[0]), 3)", Template((Term("suffix", 0, 0, lower=True, low=3, high=3),))),
        ("each(analysis[0])", Template((Term("each", 2, 0),))),
        ("pair bias", Template((), pair=True)),
        ("pair word[-1] pos[0] if rare", Template((Term("text", 0, -1), Term("text", 1, 0)), "rare", True)),
        ("each(lower(analysis[-1]))", Template((Term("each", 2, -1, lower=True),))),
        ("  word[-1]  pos[0] # why", Template((Term("text", 0, -1), Term("text", 1, 0)))),
        (" suffix( word[ 0 ] , 1 .. 2 )pos[0]if rare",
         Template((Term("suffix", 0, 0, low=1, high=2), Term("text", 1, 0)), "rare")),
    ],
)  # fmt: skip
def test_lines(line: str, template: Template) -> None:
    assert parse(line, COLUMNS) == (template,)


def test_columns_may_have_the_names_of_functions() -> None:
    names = ("bias", "shape", "rare", "pair")
    found = parse("bias[0]\nshape(shape[1]) rare[0] if rare\nbias\npair[0]\npair pair[0]", names)
    assert found[0] == Template((Term("text", 0, 0),))
    assert found[1] == Template((Term("shape", 1, 1), Term("text", 2, 0)), "rare")
    assert found[2] == Template(())
    assert found[3:] == (Template((Term("text", 3, 0),)), Template((Term("text", 3, 0),), pair=True))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word", r"expected '\[' after 'word', not the end of the line"),
        ("pair", "expected a column or a function after 'pair', not the end of the line"),
        ("pair pair word[0]", r"there is no column 'pair'"),
        ("word[]", r"expected an offset from -16 to 16 after '\[', not '\]'"),
        ("word[0", r"expected '\]' after '0', not the end of the line"),
        ("word[17]", r"word\[17\] is too far away; offsets go from -16 to 16"),
        ("word[-17]", "too far away"),
        ("word[1.5]", r"expected '\]' after '1', not '\.'"),
        ("lemma[0]", "there is no column 'lemma'; there are word, pos, analysis"),
        ("upper(word[0])", "there is no function 'upper'; there are lower, shape, flags, length, prefix,"),
        ("text(word[0])", "there is no function 'text'"),
        ("lower(lower(word[0]))", r"lower is of a column, such as word\[0\], not of lower\(...\)"),
        ("shape(lower(word[0]))", r"shape is of a column, such as word\[0\], not of lower"),
        (
            "suffix(shape(word[0]), 1)",
            r"suffix is of a column or lower\(...\), such as word\[0\], not of shape",
        ),
        ("prefix(word[0])", r"expected ',' after '\]', not '\)'"),
        ("prefix(word[0], )", "expected a length such as 3, or lengths such as 1..10 after ','"),
        ("prefix(word[0], 1..)", r"expected the longest length after '\.\.', not '\)'"),
        ("prefix(word[0], 3..1)", "prefix of 3..1 characters: lengths go up, from 1 to 32"),
        ("suffix(word[0], 0..2)", "suffix of 0..2 characters"),
        ("suffix(word[0], 1..33)", "suffix of 1..33 characters"),
        ("shape(word[0], 1)", r"expected '\)' after '\]', not ','"),
        ("word[0] if", "expected rare or frequent after 'if', not the end of the line"),
        ("word[0] if common", "expected rare or frequent after 'if', not 'common'"),
        (
            "word[0] if rare pos[0]",
            "expected a term, if rare, if frequent or the end of the line after 'rare'",
        ),
        ("word[0], pos[0]", "not ','"),
        ("bias word[0]", "after 'bias', not 'word'"),
        ("word[0] bias", r"there is no column 'bias'"),
        ("if rare", "there is no column 'if'"),
        ("3", "expected a column or a function, not '3'"),
        ("prefix(word[0], 1) suffix(word[0], 1)", "a conjunction can have one prefix, suffix or each"),
        ("word[1]", "this repeats line 1; remove one"),
    ],
)
def test_errors_name_the_line(line: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^templates, line 4: .*{message}"):
        Templates(f"word[1] # first\n\n# a comment\n{line}\nword[2]", COLUMNS)


@pytest.mark.parametrize("text", ["", "\n # nothing\n"])
def test_no_templates(text: str) -> None:
    with pytest.raises(InvalidInput, match="no templates"):
        Templates(text)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), "columns is empty"),
        (("word", "word"), r"columns\[1\] repeats the name 'word'"),
        (("word", "upos+feats"), r"columns\[1\] is 'upos\+feats'"),
        (("word", 3), r"columns\[1\] is 3"),
    ],
)
def test_bad_columns(columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Templates("word[0]", columns)


def test_program() -> None:
    templates = Templates("bias\nword[-1] suffix(lower(pos[2]), 1..3) if rare", ("word", "pos"))
    program = templates.compile()
    assert program.dtype == np.int32
    assert program.tolist() == [1, 2, 0, 0, 1, 2, 0, 0, 0, -1, 0, 0, 5, 1, 1, 2, 1, 3]


def test_text_comes_back() -> None:
    text = "# mine\nword[0]   # the word\n\npos[0]"
    templates = Templates(text, ["word", "pos"])
    assert str(templates) == text
    assert templates.columns == ("word", "pos")
    assert len(templates) == 2
    assert eval(repr(templates)).templates == templates.templates


def test_defaults() -> None:
    assert Templates(MORPHOLOGY).columns == ("word",)
    assert len(Templates(MORPHOLOGY)) == 13
    assert Templates(AGREEMENT).columns == ("word",)  # read before the labels are known
    assert len(Templates(AGREEMENT)) == 15
    assert len(Templates(CHUNKING, ("word", "pos"))) == 36
    with pytest.raises(InvalidInput, match="there is no column 'pos'"):
        Templates(CHUNKING)
