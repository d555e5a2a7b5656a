"""Options that several benchmarks have, and what is made of their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from certus.errors import InvalidInput

Data = Annotated[
    Path | None,
    typer.Option(
        envvar="CERTUS_DATA",
        metavar="FOLDER",
        help="The folder of the corpora; docs/benchmarks.md lists them.",
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of the random numbers.", metavar="NUMBER", min=0)]
Seconds = Annotated[
    float,
    typer.Option(
        help="The time budget of each cell; a slower call is made once.", metavar="NUMBER", min=0.001
    ),
]


def flag_quick(what: str) -> Any:
    """Declare ``--quick``, which takes less time."""
    return typer.Option("--quick", help=f"{what} On a busy machine, lines of the last table may fail.")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a text that commas separate."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def require_data(data: Path | None) -> Path:
    """Return the folder of the corpora, or ask for it."""
    if data is None:
        raise InvalidInput("where are the corpora? Give their folder by --data, or in CERTUS_DATA")
    return data


def check_data(data: Path) -> None:
    """Refuse a folder of corpora that is not there."""
    if not data.is_dir():
        raise InvalidInput(f"there is no folder {data} with data; name one by --data or CERTUS_DATA")
