"""Starts the ``certus`` command so that Ctrl-C ends it at once, also while its libraries are imported.

It lies outside of the package ``certus``, which Python imports before anything in it can run.
"""

from __future__ import annotations

import os
import signal
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line; before and after it there is nothing that a signal could leave behind."""
    _leave_on_signals()
    from certus.cli import main as run

    try:
        run()
    except SystemExit as end:
        if end.code in (128 + signal.SIGINT, 128 + signal.SIGTERM):
            os._exit(int(end.code))  # all files are closed; taking the interpreter down would take longer
        raise
    finally:
        _leave_on_signals()


def _leave_on_signals() -> None:
    signal.signal(signal.SIGTERM, _leave)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as it is for a job in the background
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: Any) -> NoReturn:
    os._exit(128 + number)
