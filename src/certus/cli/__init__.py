"""The ``certus`` command. Each command is a thin wrapper over a function that can be imported."""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors that Certus raises on purpose are shown without a traceback."""
    from certus.cli.quick import read_plain_tag
    from certus.errors import CertusError

    signal.signal(signal.SIGTERM, _terminate)
    try:
        quick = read_plain_tag(sys.argv[1:])
        if quick is None:
            from certus.cli.app import app

            app()
        else:
            from certus.cli.tag import run

            run(*quick)
    except CertusError as error:
        _fail(error)
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        _fail(f"cannot write: {error.strerror}")  # a table to a full disk, say
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(reason: object) -> NoReturn:
    colour = ("\033[31m", "\033[0m") if sys.stderr.isatty() else ("", "")
    print(f"{colour[0]}Error: {reason}{colour[1]}", file=sys.stderr)
    sys.exit(2)


def _terminate(number: int, frame: Any) -> NoReturn:
    """Leave as after an interrupt, so that what is half-written is removed."""
    sys.exit(128 + number)
