"""What `import certus` gives: every room by its name, and quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

import certus


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_rooms_open_when_they_are_asked_for() -> None:
    rooms = ["corpus", "evaluation", "formats", "hypergraph", "latent", "learn", "models", "relax", "syntax"]
    found = run(f"import certus\nprint(*(getattr(certus, room).__name__ for room in {rooms}))")
    assert found == " ".join(f"certus.{room}" for room in rooms)
    assert run("import certus\nprint(certus.relax.Decomposition().parts)") == "()"


def test_what_is_not_asked_for_is_not_imported() -> None:
    loaded = run("import sys, certus\nprint(*sys.modules)").split()
    assert "certus.chain" in loaded
    assert not {"certus.relax", "certus.learn", "certus.models.tagger"} & set(loaded)


def test_no_other_names() -> None:
    with pytest.raises(AttributeError, match="module 'certus' has no attribute 'nothing'"):
        certus.nothing  # noqa: B018
