"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Format = Annotated[
    str | None, typer.Option(help="conllu, conllx, columns, brackets, text or raw; guessed by default.")
]
Columns = Annotated[
    str | None, typer.Option(help='Names of the columns, such as "word pos chunk"; usual by default.')
]
Encoding = Annotated[str, typer.Option(help="Of the files; old corpora may need latin-1.")]
Licence = Annotated[str | None, typer.Option(help="To record in the model.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but the answer, and errors.")]
Inputs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE|TEXT]...", help="Files, or sentences in quotes; stdin by default."),
]
OwnModel = Annotated[
    str | None, typer.Argument(help="A model file; left out, the English one that comes with Certus.")
]
Output = Annotated[str | None, typer.Option("--output", "-o", help="A file instead of stdout.")]
Threads = Annotated[int, typer.Option(min=1, help="How many to use.")]
