"""Opening models of any kind, and the one that comes with the package."""

from __future__ import annotations

import os
from typing import Any

from certus.errors import ModelError
from certus.models.tagger import Tagger
from certus.storage import model_file

DEFAULT = "en.certus"


def load(path: str | os.PathLike[str] | None = None) -> Any:
    """Open a model file: a Tagger, a Parser or a Refinement; without one, the English tagger of Certus."""
    file = model_file.read(located(path))
    if file.kind == "parser":
        from certus.models.parser import Parser

        return Parser.from_file(file)
    if file.kind == "refinement":
        from certus.learn.refinement import Refinement

        return Refinement.from_file(file)
    if file.kind != "tagger":
        advice = (
            "start its training again to finish it"
            if file.kind == "checkpoint"
            else "give a tagger or a parser"
        )
        raise ModelError(f"{file.path} holds a {file.kind}, which is no model to load; {advice}")
    return Tagger.from_file(file)


def located(path: str | os.PathLike[str] | None) -> str | os.PathLike[str]:
    """Return a path as it is; without one, that of the English tagger, if it is there."""
    if path is not None:
        return path
    if not os.path.isfile(default()):
        raise ModelError("this copy of Certus comes without its English model; name a model file")
    return default()


def default() -> str:
    """Return where the English tagger lies, trained on UD English EWT; NOTICE beside it says more."""
    return os.path.join(os.path.dirname(__file__), "data", DEFAULT)
