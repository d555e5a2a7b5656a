"""Pictures in files: drawn by matplotlib, written whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from certus.errors import InvalidInput
from certus.storage.files import open_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file; its suffix says in which format."""
    kind = os.path.splitext(path)[1].removeprefix(".").lower()
    known = sorted(figure.canvas.get_supported_filetypes())
    if kind not in known:
        names = ", ".join(f".{name}" for name in known)
        raise InvalidInput(f"cannot draw {os.fspath(path)}: give the picture a name that ends in {names}")
    with open_atomically(path, binary=True) as file:
        figure.savefig(file, format=kind)
