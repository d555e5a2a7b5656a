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
