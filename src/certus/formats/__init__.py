"""Annotated sentences: CoNLL-U, column files and plain text, read and written without loss."""

from certus.formats.conllu import build
from certus.formats.files import atomic
from certus.formats.guess import FORMATS
from certus.formats.reading import read, write
from certus.formats.sentence import Layout, Sentence, replace
from certus.formats.targets import Target
from certus.formats.tokenizer import tokenize

__all__ = [
    "FORMATS",
    "Layout",
    "Sentence",
    "Target",
    "atomic",
    "build",
    "read",
    "replace",
    "tokenize",
    "write",
]
