"""The examples in the README and the docs say what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(page: Path) -> list[list[doctest.Example]]:
    """The examples of each Python block, with their lines in the page."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for block in BLOCK.finditer(text):
        found = doctest.DocTestParser().get_examples(block[1])
        for example in found:
            example.lineno += text.count("\n", 0, block.start(1))
        blocks.append(found)
    return blocks


def test_the_readme_has_examples() -> None:
    assert any(examples(README))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_run(page: Path) -> None:
    assert all(examples(page)), "a Python block without >>> is never run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [example for block in examples(page) for example in block]
    test = doctest.DocTest(lines, {}, page.name, str(page), 0, page.read_text(encoding="utf-8"))
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not report, "".join(report)
