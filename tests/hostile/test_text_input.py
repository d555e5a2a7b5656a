"""One rule for all lines of a text, whatever its first line looks like, and the tokens that a model knows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.cli.options import ParseOptions, TagOptions
from certus.cli.parse import read_words
from certus.cli.streams import choose_raw_text
from certus.errors import InvalidInput
from certus.formats import build, read
from certus.models.tagger import Tagger


def words(text: str, **options: str) -> list[list[str]]:
    return [sentence.words for sentence in read(io.BytesIO(text.encode()), **options)]


def test_lines_without_punctuation_do_not_decide_about_the_others() -> None:
    text = "Owls at night\nA story\nOnce more\nThey don't sleep.\n"
    assert words(text)[-1] == ["They", "do", "n't", "sleep", "."]


def test_text_that_is_tokenised_otherwise_stays_as_it_is() -> None:
    text = "The long-term plan can't fail .\nIt 's e-mail , isn't it ?\n"
    assert words(text) == [line.split() for line in text.splitlines()]


def test_lines_are_split_into_sentences_and_keep_their_place() -> None:
    found = list(read(io.BytesIO(b"Dr. Owl sleeps. She wakes.\n\nThe end.\n")))
    assert [(s.text, s.line) for s in found] == [
        ("Dr. Owl sleeps. ", 1),
        ("She wakes.\n", 1),
        ("\nThe end.\n", 3),
    ]
    assert len(words("Owls sleep. They wake.\n", sentences="lines")) == 1
    with pytest.raises(InvalidInput, match="sentences must be 'split' or 'lines'"):
        words("a", sentences="words")


def test_text_is_cut_as_the_training_data_was() -> None:
    tokens = {
        "penn": "They do n't -LRB- sleep -RRB- .",
        "english": "They do n't .",
        "plain": "Eulen schlafen .",
    }
    for rules, line in tokens.items():
        sentence = build(line.split(), {"upos": ["X"] * len(line.split())})
        tagger = Tagger("upos", learner="hmm").fit([sentence])
        assert choose_raw_text(tagger, TagOptions()).tokens == rules
        assert choose_raw_text(tagger, TagOptions(tokens="plain", one_per_line=True)).sentences == "lines"


def test_a_parser_gets_the_tokens_of_the_penn_treebank(tmp_path: Path) -> None:
    text = 'The "10-year" bonds (and/or notes) aren\'t sold. They rose 3/4.'
    first = r"The `` 10-year '' bonds -LRB- and\/or notes -RRB- are n't sold ."
    wanted = [first.split(), ["They", "rose", r"3\/4", "."]]
    (tmp_path / "text.txt").write_text(text + "\n", encoding="utf-8")
    for given in (text, str(tmp_path / "text.txt")):
        assert list(read_words([given], ParseOptions())) == wanted
        assert len(list(read_words([given], ParseOptions(one_per_line=True)))) == 1


def test_the_command_line_splits_text() -> None:
    found = CliRunner().invoke(app, ["tag", "Owls don't sleep. They wake."], catch_exceptions=False).stdout
    assert found.count("# text = ") == 2
    assert "n't" in found
    whole = CliRunner().invoke(
        app, ["tag", "--one-per-line", "Owls sleep. They wake."], catch_exceptions=False
    )
    assert whole.stdout.count("# text = ") == 1
