"""Opening models of any kind, and the one that comes with the package."""

from __future__ import annotations

from importlib import resources
from typing import Any

from certus.errors import ModelError
from certus.formats import model_file
from certus.models.tagger import Tagger

DEFAULT = "en.certus"


def load(path: Any = None) -> Tagger:
    """Open a model file; without a path, the English tagger that comes with Certus."""
    file = model_file.read(default() if path is None else path)
    if file.kind != "tagger":
        raise ModelError(f"{file.path} holds a {file.kind}, which is no model to load")
    return Tagger.from_file(file)


def default() -> Any:
    """Return where the English tagger lies, trained on UD English EWT; NOTICE beside it says more."""
    return resources.files("certus.models") / "data" / DEFAULT
