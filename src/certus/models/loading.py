"""Opening models of any kind, and the one that comes with the package."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from certus.errors import ModelError
from certus.formats.arpa import looks_like_arpa
from certus.storage import model_file

DEFAULT, DEFAULT_PARSER = "en.certus", "en-parser.certus"
# For each kind that a model file may record, the module and the class that opens it by ``from_file``.
OPENERS = {
    "tagger": ("certus.models.tagger", "Tagger"),
    "parser": ("certus.models.parser", "ConstituencyParser"),
    "dependency-parser": ("certus.models.dependency_parser", "DependencyParser"),
    "refinement": ("certus.learn.refinement", "Refinement"),
    "crf": ("certus.models.crf", "CRF"),
    "aligner": ("certus.models.aligner", "Aligner"),
    "translator": ("certus.models.translator", "Translator"),
    "language-model": ("certus.models.language_model", "LanguageModel"),
}


def load(path: str | os.PathLike[str] | None = None) -> Any:
    """Open a model file: whatever saved it, a Tagger, a parser, an Aligner, a CRF, a forest, ...

    An ARPA file opens as a LanguageModel.

    Without a path, it opens the English tagger that comes with Certus. What comes back depends on the file,
    which no type checker reads: ``Tagger.load`` and its like open one kind only, and return that type.
    """
    if path is not None and looks_like_arpa(path):
        return import_module("certus.models.language_model").LanguageModel.read_arpa(path)
    return open_file(model_file.read(locate(path)))


def open_file(file: model_file.ModelFile) -> Any:
    """Make a model of an opened model file."""
    if file.kind == "hypergraph":  # forests check more of their file than models do
        return import_module("certus.hypergraph").load(file.path)
    if file.kind not in OPENERS:
        advice = (
            "start its training again to finish it"
            if file.kind == "checkpoint"
            else f"give one of these kinds: {', '.join(OPENERS)}"
        )
        raise ModelError(f"{file.path} holds a {file.kind}, which is no model to load; {advice}")
    module, name = OPENERS[file.kind]
    return getattr(import_module(module), name).from_file(file)


def locate(path: str | os.PathLike[str] | None) -> str | os.PathLike[str]:
    """Return a path as it is; without one, that of the English tagger, if it is there."""
    if path is not None:
        return path
    if not os.path.isfile(find_default_tagger()):
        raise ModelError("this copy of Certus comes without its English model; name a model file")
    return find_default_tagger()


def find_default_tagger() -> str:
    """Return where the English tagger lies, trained on UD English EWT; NOTICE beside it says more."""
    return os.path.join(os.path.dirname(__file__), "data", DEFAULT)


def find_default_parser() -> str:
    """Return where the English dependency parser lies, which looks at the columns that the tagger fills."""
    return os.path.join(os.path.dirname(__file__), "data", DEFAULT_PARSER)
