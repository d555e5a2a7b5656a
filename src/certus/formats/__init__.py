"""Annotated sentences: CoNLL-U, column files and plain text, read and written without loss."""

from certus.annotation.sentence import Layout, Sentence, replace
from certus.annotation.sentence_splitter import split_sentences
from certus.annotation.targets import Target
from certus.annotation.tokenizer import tokenize
from certus.formats.conllu import build
from certus.formats.guess import FORMATS
from certus.formats.reading import read, write
from certus.storage.files import open_atomically

__all__ = [
    "FORMATS",
    "Layout",
    "Sentence",
    "Target",
    "build",
    "open_atomically",
    "read",
    "replace",
    "split_sentences",
    "tokenize",
    "write",
]
