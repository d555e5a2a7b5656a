"""The language of templates of arcs."""

from __future__ import annotations

import numpy as np
import pytest

from certus import _native
from certus.errors import InvalidInput
from certus.learn.arcs import defaults
from certus.learn.arcs.templates import ArcTemplates, parse_template, write_template

COLUMNS = ("word", "upos", "xpos", "feats", "lemma")


@pytest.mark.parametrize("text", [defaults.ARCS, defaults.PRUNING, defaults.PRUNING_BY_WORDS])
def test_templates_are_written_as_they_were_read(text: str) -> None:
    templates = ArcTemplates(text)
    assert templates.restrict(COLUMNS).split("\n") == text.strip().split("\n")
    _native.ArcPlan(templates.compile(COLUMNS), len(COLUMNS), 12)


def test_parts_are_known_by_their_words() -> None:
    parts = {
        "head.upos": "arc",
        "sibling.upos modifier.upos": "sibling",
        "grandparent.upos head.upos": "grandparent",
        "grandparent.upos sibling.upos": "grand-sibling",
    }
    for code, part in parts.items():
        assert parse_template(code, 1).part == part
        assert write_template(parse_template(code, 1)) == code


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("head.upos wrong.upos", "there is no word 'wrong' in an arc"),
        ("big(head.upos)", "there is no function 'big'"),
        ("head.upos[9]", "too far away"),
        ("suffix(head.word)", "take a length"),
        ("suffix(head.word, 99)", "take a length"),
        ("lower(head.word", "brackets do not match"),
        ("head", "expected a term"),
        ("relation", "there is no term"),
        ("between.upos[1]", "between is of a column as it is"),
        ("each(head.feats) each(head.xpos)", "can have one each"),
        ("relation sibling.upos", "are of arcs"),
    ],
)
def test_mistakes_are_named_with_their_line(line: str, said: str) -> None:
    with pytest.raises(InvalidInput, match="templates of arcs, line 2: ") as caught:
        ArcTemplates(f"head.upos\n{line}\n")
    assert said in str(caught.value)


def test_repeated_and_missing_templates_are_refused() -> None:
    with pytest.raises(InvalidInput, match="line 3: this repeats line 1"):
        ArcTemplates("head.upos\n# so\nhead.upos\n")
    with pytest.raises(InvalidInput, match="no templates of arcs"):
        ArcTemplates("sibling.upos")


def test_damaged_programs_are_refused() -> None:
    program = ArcTemplates("relation each(head.feats) modifier.upos[1] distance").compile(COLUMNS)
    for place in range(len(program)):
        for value in (-9, 99, 2**31 - 1):
            changed = program.copy()
            changed[place] = value
            with pytest.raises(InvalidInput, match="damaged"):
                _native.ArcPlan(changed, len(COLUMNS), 12)
    for shorter in range(len(program)):
        with pytest.raises(InvalidInput, match="damaged"):
            _native.ArcPlan(np.array(program[:shorter]), len(COLUMNS), 12)
