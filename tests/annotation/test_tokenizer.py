"""Text becomes sentences and tokens, by the rules of a treebank or by none."""

from __future__ import annotations

import pytest

from certus.annotation.penn import escape_words
from certus.annotation.sentence_splitter import split_sentences
from certus.annotation.tokenizer import RULES, choose_rules, tokenize
from certus.errors import InvalidInput


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("They don't (long-term).", "They do n't -LRB- long-term -RRB- ."),
        ('"Yes," he said: "I\'m [not] sure."', "`` Yes , '' he said : `` I 'm -LRB- not -RRB- sure . ''"),
        ("“It’s Ada’s” - the owls’ 'nest'", "`` It 's Ada 's '' - the owls ' ` nest '"),
        ("He paid $5.50, C$3 or 15% in the '80s.", "He paid $ 5.50 , C$ 3 or 15 % in the '80s ."),
        ("AT&T and/or 3/4 of U.S.-based 10-year-old S&P", r"AT&T and\/or 3\/4 of U.S.-based 10-year-old S&P"),
        ("Mr. Owl of Owls Inc. left Owls Inc.", "Mr. Owl of Owls Inc. left Owls Inc ."),
        ("You cannot -- I'm gonna ... go.", "You can not -- I 'm gon na ... go ."),
        ("He WON'T; it's 10:30 a.m. now", "He WO N'T ; it 's 10:30 a.m. now"),
    ],
)
def test_tokens_of_the_penn_treebank(line: str, tokens: str) -> None:
    assert tokenize(line, "penn") == tokens.split()
    assert escape_words(tokens.split()) == tokens.split(), "what is written so already stays so"


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("Der Nord-Süd-Dialog (1990/91) kostet 3,50 DM.", "Der Nord-Süd-Dialog ( 1990/91 ) kostet 3,50 DM ."),
        ("«L'homme», dit-il.", "« L'homme » , dit-il ."),
        ("Trata-se de US$ 5; o Sr. João não veio.", "Trata-se de US$ 5 ; o Sr . João não veio ."),
        ("Привет, мир! 你好，世界。", "Привет , мир ! 你好 ， 世界 。"),
    ],
)
def test_tokens_of_other_languages(line: str, tokens: str) -> None:
    assert tokenize(line, "plain") == tokens.split()


@pytest.mark.parametrize("rules", ["english", "plain"])
def test_no_character_is_lost(rules: str) -> None:
    line = "a--b...c\u00a0d 'e' \"f\" (g) h@i.org /j/ *k* l_m n°5 o’p 😀 q\t r-s t.u. 1,000.50 №7"
    assert "".join(tokenize(line, rules)) == "".join(line.split())


def test_rules_are_those_of_the_training_data() -> None:
    def choose(*known: str) -> str:
        return choose_rules(lambda words: [word in known for word in words])

    assert [choose("-LRB-", "n't"), choose("n't"), choose("Haus")] == ["penn", "english", "plain"]
    with pytest.raises(InvalidInput, match="no rules 'latin' for tokens; there are english, penn, plain"):
        tokenize("a", "latin")


@pytest.mark.parametrize(
    "sentences",
    [
        ["Owls sleep. ", "They wake! ", "Do they? ", "Yes."],
        ["Dr. J. R. Owl, the U.S. expert, paid $3.50 to No. 5 on Jan. 3 vs. Mr. Fox."],
        ["She left the U.S. ", "The owls stayed at Owls Inc. ", "He did not."],
        ["See example.org or v2.1 of it. ", "It is new."],
        ['He said "Go away!" and left. ', '"Why?" ', "(Nobody knew.) ", "The end."],
        ["Well... Perhaps she went home.  ", "¿Quién sabe?"],
        ["1. Owls sleep. 2. They wake. ", "Then they hunt."],
        ["She is tall. he is not. ", "It is so."],
        ["你好。", "世界！", "好吗？"],
        ["हिन्दी भाषा है। ", "यह अच्छी है।"],
        ["Это сова. ", "Она спит."],
        ["no end"],
        [""],
        ["Trailing blanks.  "],
    ],
)
@pytest.mark.parametrize("rules", ["english", "penn"])
def test_sentences(sentences: list[str], rules: str) -> None:
    assert split_sentences("".join(sentences), rules) == sentences


def test_abbreviations_of_other_languages_are_not_known() -> None:
    assert split_sentences("Frau Dr. Eule kam. Sie ging.", "plain") == [
        "Frau Dr. ",
        "Eule kam. ",
        "Sie ging.",
    ]
    assert split_sentences("J. S. Bach kam am 3. Mai.", "plain") == ["J. S. Bach kam am 3. Mai."]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    "piece", ["a-", "a.", "A. ", "No. ", "www.", "n't", "((", "a@", "'s", "...", "Inc. "]
)
def test_long_lines_take_linear_time(piece: str, rules: str) -> None:
    line = piece * (50_000 // len(piece))
    assert "".join(split_sentences(line, rules)) == line
    assert len(tokenize(line, rules)) <= len(line)
