"""The options of learners are in the documentation, as they are declared."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from certus.errors import InvalidInput
from certus.learn.learners import LEARNERS, make_learner

PAGE = Path(__file__).parents[2] / "docs" / "tagging.md"
BEGIN, END = "<!-- options -->\n", "<!-- /options -->"


def table() -> str:
    """The options as the page should have them, by learners that share name, default and meaning."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for learner, kind in LEARNERS.items():
        for field in fields(kind):
            default = (
                ", ".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
            )
            rows.setdefault((field.name, f"{default}", field.metadata["help"]), []).append(learner)
    order = [field.name for kind in LEARNERS.values() for field in fields(kind)]
    lines = ["| option | default | of | |", "|---|---|---|---|"]
    for (name, default, about), learners in sorted(rows.items(), key=lambda row: order.index(row[0][0])):
        which = "all" if len(learners) == len(LEARNERS) else ", ".join(f"`{name}`" for name in learners)
        lines.append(f"| `{name}` | {default} | {which} | {about} |")
    return "\n".join(lines) + "\n"


def test_the_page_lists_them() -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = text[text.index(BEGIN) + len(BEGIN) : text.index(END)]
    assert found == table(), "put this between the marks of docs/tagging.md:\n" + table()


def test_every_learner_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"\n| `{name}` | " in text for name in LEARNERS)


def test_values_out_of_range() -> None:
    with pytest.raises(InvalidInput, match="min_count is 0; it must be at least 1"):
        make_learner("crf", {"min_count": 0})
    with pytest.raises(InvalidInput, match="hash_bits is 49; it may be 48 at the most"):
        make_learner("perceptron", {"hash_bits": 49})


def test_what_a_crf_of_higher_order_is() -> None:
    with pytest.raises(
        InvalidInput, match="c1 is no option of the learner pruned-crf, which crf with an order"
    ):
        make_learner("crf", {"order": 2, "c1": 0.5})
