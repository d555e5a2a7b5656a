"""The ``certus`` command. Each command is a thin wrapper over a function that can be imported."""

from certus.cli.app import main

__all__ = ["main"]
