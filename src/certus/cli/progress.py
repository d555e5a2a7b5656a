"""A bar on stderr that tells how far long work is, if somebody watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeVar

from certus.storage.files import watch_reading

T = TypeVar("T")
PATIENCE = 1.0  # seconds before a bar appears


class Bar:
    """A bar that appears if the work takes longer than a second, and vanishes when it is done.

    Args:
        total: how much there is to do.
    """

    def __init__(self, total: int) -> None:
        self._total, self._done, self._began = total, 0, monotonic()
        self._shown: Any = None

    def advance(self, amount: int) -> None:
        """Tell that so much more is done."""
        self._done += amount
        if self._done >= self._total:
            self.stop()
        elif self._shown is not None:
            self._shown.update(0, completed=self._done)
        elif monotonic() - self._began > PATIENCE:
            self._shown = _make_bar(self._total, self._done)

    def stop(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None


def _make_bar(total: int, done: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    shown = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    shown.add_task("", total=total, completed=done)
    shown.start()
    return shown


def is_watched(output: str | None) -> bool:
    """Whether somebody sees stderr, and no answers that come in on the same terminal."""
    return sys.stderr.isatty() and not (output in (None, "-") and sys.stdout.isatty())


@contextmanager
def watch_files(inputs: Iterable[str | None], watched: bool) -> Iterator[None]:
    """Show how much of files is read within this block; nothing if one of them is of unknown length."""
    sizes = [os.path.getsize(name) if os.path.isfile(name) else 0 for name in inputs if name is not None]
    if not watched or not all(sizes):
        yield
        return
    bar = Bar(sum(sizes))
    with watch_reading(bar.advance):
        try:
            yield
        finally:
            bar.stop()


def watch_items(items: Iterable[T]) -> Iterator[T]:
    """Yield items, and show how many of them have been asked for."""
    every = list(items)
    bar = Bar(len(every))
    try:
        for item in every:
            yield item
            bar.advance(1)
    finally:
        bar.stop()
