"""The temporary files that stand beside what is being written, and what kills have left of them."""

from __future__ import annotations

import os
import re
import secrets
import sys
import zlib
from contextlib import suppress

# Folders may be shared between machines, and the number of a process means something on its own machine only.
_HOST = f"{zlib.crc32(os.uname().nodename.encode()):08x}" if hasattr(os, "uname") else "0"
_NAME = re.compile(rf"\..*\.[0-9a-f]{{8}}-{_HOST}-([0-9]{{1,9}})\.part")
_swept: set[str] = set()


def make_sibling_name(base: str) -> str:
    """Return a name for the temporary file of another; it tells which process of which machine writes it."""
    return f".{base[:40]}.{secrets.token_hex(4)}-{_HOST}-{os.getpid()}.part"


def sweep_siblings(folder: str) -> None:
    """Remove the temporary files of processes that were killed, once for each folder."""
    if folder in _swept or sys.platform == "win32":
        return
    _swept.add(folder)
    with suppress(OSError):
        for name in os.listdir(folder):
            match = _NAME.fullmatch(name)
            if match and not _is_running(int(match[1])):
                os.unlink(os.path.join(folder, name))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True
