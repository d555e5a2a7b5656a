"""The ``certus`` command. Each command is a thin wrapper over a function that can be imported."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line. Whatever goes wrong is said in one line; CERTUS_DEBUG=1 shows the traceback.

    The exit code is 1 where the content of a file is wrong, and 2 where the command is.
    """
    from certus.cli.standard import open_standard_streams

    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)
    open_standard_streams()
    try:
        try:
            _run(sys.argv[1:])
        finally:
            sys.stdout.flush()  # an error of the last line is ours to report, too
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        if _ended:  # Python makes other errors of a SystemExit in some places
            sys.exit(_ended[0])
        if os.environ.get("CERTUS_DEBUG"):
            raise
        _fail(error)


def _run(arguments: list[str]) -> None:
    from certus.cli.quick import read_plain_tag

    quick = None if "_CERTUS_COMPLETE" in os.environ else read_plain_tag(arguments)
    if quick is None:
        from certus.cli.app import app

        app(prog_name="certus")
    else:
        from certus.cli.tag import run

        run(*quick)


def _fail(error: Exception) -> NoReturn:
    """Say what is wrong, and leave."""
    from certus.cli.standard import discard_stdout
    from certus.errors import ADVICE_FOR_PYTHON, CertusError, FormatError, Infeasible

    code = 1
    if isinstance(error, CertusError):
        reason = str(error).removesuffix(ADVICE_FOR_PYTHON)
        code = 1 if isinstance(error, FormatError | Infeasible) else 2
    elif isinstance(error, BrokenPipeError):
        discard_stdout()  # a reader that has seen enough is no error
        sys.exit(0)
    elif isinstance(error, OSError):
        discard_stdout()
        where = "cannot write" if error.filename is None else f"cannot open {error.filename}"
        reason, code = f"{where}: {error.strerror or error}", 2
    elif isinstance(error, MemoryError):
        reason = "there is not enough memory for this"
    else:
        reason = f"{type(error).__name__}: {error}. This is a fault of Certus; CERTUS_DEBUG=1 shows where"
    colour = ("\033[31m", "\033[0m") if sys.stderr.isatty() else ("", "")
    print(f"{colour[0]}Error: {' '.join(reason.splitlines())}{colour[1]}", file=sys.stderr)
    sys.exit(code)


_ended: list[int] = []  # the exit code, once a signal has come


def _end(number: int, frame: Any) -> NoReturn:
    """Leave so that what is half-written is removed on the way; a second signal ends everything at once."""
    _ended.append(128 + number)
    signal.signal(number, signal.SIG_DFL)
    sys.unraisablehook = lambda _: os._exit(128 + number)  # where no error can be raised, as in __del__
    sys.exit(128 + number)
