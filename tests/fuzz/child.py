"""Fuzzes one target in this process: ``python -m tests.fuzz.child TARGET``, then options of libFuzzer."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris


def main() -> None:
    """Fuzz until the time is over; an input that ends the process is saved by libFuzzer."""
    with atheris.instrument_imports(include=["certus"]):
        import certus.cli.app
        import certus.cli.train  # noqa: F401
        from tests.fuzz.targets import make_target

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        target = make_target(sys.argv[1], Path(folder))
        atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
