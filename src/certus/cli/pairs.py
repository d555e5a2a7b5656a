"""What the trainings on sentence pairs share: reading the pairs, and writing the model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

import typer

from certus.cli.train import keep_checkpoint
from certus.cli.wording import format_count


class PairOptions(Protocol):
    """What a command says about its files of pairs."""

    @property
    def encoding(self) -> str:
        """Of the files."""

    @property
    def skip(self) -> bool:
        """Whether lines that cannot be read are left out."""


class Saveable(Protocol):
    """A model that can be written."""

    def save(self, path: str) -> None:
        """Write it to a file."""


def read_pairs(
    source: str, target: str | None, options: PairOptions
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the pairs of two files, or of one of lines "source ||| target"; count what is skipped."""
    from certus.formats import parallel

    skipped = 0
    for pair in parallel.read_pairs(source, target, encoding=options.encoding, skip=options.skip):
        if pair.fault is None:
            yield pair.source, pair.target
        else:
            typer.echo(f"skipped: {pair.fault}", err=True)
            skipped += 1
    if skipped:
        typer.echo(f"left out: {format_count(skipped, 'line')} that cannot be read", err=True)


def save_model(made: Saveable, output: str, checkpoint: str | None) -> None:
    """Write what was learned; then the checkpoint is of no use."""
    with keep_checkpoint(checkpoint, BaseException):
        made.save(output)
    if checkpoint is not None and os.path.exists(checkpoint):
        os.remove(checkpoint)
