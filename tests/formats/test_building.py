"""Text becomes words, and words become CoNLL-U."""

from __future__ import annotations

import io

import pytest

from certus.errors import InvalidInput
from certus.formats import build, read, replace, tokenize


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("Dr. Owl didn't pay $5.50.", "Dr. Owl did n't pay $ 5.50 ."),
        ("He cannot see the owls' long-term nests...", "He can not see the owls ' long - term nests ..."),
        ("“It’s Ada’s,” she said (twice).", "“ It ’s Ada ’s , ” she said ( twice ) ."),
        ("See www.example.org/a?b=1, or mail a.b@c.org!", "See www.example.org/a?b=1 , or mail a.b@c.org !"),
        ("In the U.S., e.g. on 3/4/2005 at 10:30, 1,000 co-workers", None),
        ("It fell by -3.5%; 15-year-old :)", "It fell by -3.5 % ; 15 - year - old :)"),
        ("Привет, мир! 你好，世界。", "Привет , мир ! 你好 ， 世界 。"),
        ("हिन्दी भाषा है।", "हिन्दी भाषा है ।"),
        ("l'homme n'est-il pas là ?", "l'homme n'est - il pas là ?"),
        ("O'Neill's file_name.txt #tag @user", "O'Neill 's file_name.txt #tag @user"),
        ("  ", ""),
        ("😀😀 wow!!!", "😀😀 wow !!!"),
    ],
)
def test_tokenize(line: str, tokens: str | None) -> None:
    if tokens is None:
        tokens = line.replace(",", " ,").replace("1 ,000", "1,000")
    assert tokenize(line) == tokens.split()
    assert "".join(tokenize(line)) == "".join(line.split())


def test_tokens_of_english_stay_as_they_are() -> None:
    line = "Mr. Owl did n't see the U.S. dog 's 1,000 bones ( -- ) ... , did he ?"
    assert tokenize(line) == line.split()


def test_build_makes_what_can_be_read() -> None:
    sentence = build(["Owls", "sleep", "."], {"upos": ["NOUN", "VERB", "PUNCT"]}, text="Owls sleep.")
    assert sentence.text == (
        "# text = Owls sleep.\n"
        "1\tOwls\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
        "2\tsleep\t_\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "3\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
    )
    (again,) = read(io.StringIO(sentence.text))
    assert again.columns == sentence.columns
    assert list(again.rows) == list(sentence.rows)
    assert replace(sentence, {"xpos": list("ABC")}).columns["xpos"] == ["A", "B", "C"]


def test_words_that_are_not_in_the_text() -> None:
    assert build(["a", "z"], text="a b").columns["misc"] == ["_", "_"]


@pytest.mark.parametrize(
    ("words", "fields", "message"),
    [
        ([], {}, "at least one word"),
        (["a", ""], {}, "no word is empty"),
        (["a"], {"chunk": ["O"]}, "CoNLL-U has no column 'chunk'"),
        (["a"], {"upos": ["A", "B"]}, "every column needs 1 values"),
        (["a"], {"upos": ["A\tB"]}, "no value may hold a tab"),
    ],
)
def test_build_refuses(words: list[str], fields: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        build(words, fields)


def test_long_sentences_have_numbers_too() -> None:
    assert build(["x"] * 1000).columns["id"][-1] == "1000"
