"""The links of the pages, and the paths and names that they mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"(?:src|native|bench|tests|docs)/[\w/.<>*-]*|[A-Z]+\.md|CITATION\.cff")
NAME = re.compile(r"(?:certus|certus_bench|tests)(?:\.\w+)+")
SUFFIXES = {"md", "py", "cpp", "hpp"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def read_code(page: Path, pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield what a page's code spans, outside of blocks, match from their beginning."""
    for span in re.findall(r"`([^`\n]+)`", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if match := pattern.match(span):
            yield match[0]


def find_object(name: str) -> object:
    """Return the module or attribute of a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor[1:] in slugs, f"{page.name} links to {target}{anchor}"


@every_page
def test_paths_exist(page: Path) -> None:
    """A placeholder such as ``<name>`` stands for the files that are there already."""
    for path in read_code(page, PATH):
        found = list(ROOT.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))
        assert found, f"{page.name} names {path}"


@every_page
def test_names_exist(page: Path) -> None:
    for name in read_code(page, NAME):
        if name.rsplit(".", 1)[-1] not in SUFFIXES and not name.startswith("certus.errors"):
            find_object(name)


def test_missing_names_are_found_out() -> None:
    with pytest.raises(AttributeError):
        find_object("certus.chain.NoSuchSolver")
    assert find_object("certus.Chain.decode")


def test_contributing_names_what_each_addition_needs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## Adding an? (\w+)[^\n]*\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL))
    assert set(sections) == {"solver", "learner", "part", "format", "benchmark"}
    for name, section in sections.items():
        assert len(re.findall(r"`(?:src|native|bench)/", section)) >= 2, name
