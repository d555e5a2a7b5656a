"""Targets that read text: files of every format, templates, expressions, dictionaries."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path

import certus
from certus import formats
from certus.annotation.tree_drawing import draw_svg, draw_text
from certus.cli.tag import read_dictionary
from certus.errors import CertusError
from certus.formats import brackets, parallel, pharaoh
from certus.learn.features.templates import Templates
from certus.relax.files import read_factor_graphs


def read_format(data: bytes, format: str | None) -> None:
    """Read a file, and see that what was read is all that was there."""
    try:
        text = "".join(sentence.text for sentence in formats.read(io.BytesIO(data), format))
    except CertusError:
        return
    if format not in (None, "brackets") and text != data.decode():
        raise AssertionError(f"read {text!r}")


def read_trees(data: bytes) -> None:
    """Read trees, draw them, write them, and read what was written."""
    try:
        trees = list(brackets.read(io.BytesIO(data)))
    except CertusError:
        return
    for tree in trees:
        draw_text(tree)
        draw_svg(tree)
    again = list(brackets.read(io.BytesIO("\n".join(map(str, trees)).encode()))) if trees else []
    if again != trees:
        raise AssertionError(f"{trees} became {again}")


def parse_templates(data: bytes) -> None:
    """Compile feature templates."""
    with suppress(CertusError):
        Templates(data.decode(errors="replace"), ("word", "pos")).compile()


def parse_target(data: bytes) -> None:
    """Read an expression over columns, and use it on a sentence."""
    sentence = next(formats.read(io.BytesIO(b"1\ta\tb\tNOUN\tNN\tA=B|C=D\t0\troot\t_\t_\n\n"), "conllu"))
    with suppress(CertusError):
        target = formats.Target(data.decode(errors="replace"))
        target.fill(sentence, target.labels(sentence))


def load_dictionary(data: bytes, folder: Path) -> None:
    """Read a tag dictionary, which has to be a file."""
    path = folder / "dictionary.tsv"
    path.write_bytes(data)
    with suppress(CertusError):
        read_dictionary(str(path), "utf-8")


def read_links(data: bytes) -> None:
    """Read gold links; those that are written have to be read again."""
    with suppress(CertusError):
        for gold in list(pharaoh.read_links(io.BytesIO(data))):
            again = pharaoh.parse_links(pharaoh.format_links(sorted(gold.sure)))
            if again.sure != gold.sure:
                raise AssertionError(f"{gold} became {again}")


def read_pairs(data: bytes) -> None:
    """Read sentence pairs; with faults passed over, there is one for each line."""
    pairs = list(parallel.read_pairs(io.BytesIO(data), skip=True))
    if [pair.line for pair in pairs] != list(range(1, len(pairs) + 1)):
        raise AssertionError(f"{pairs}")


def read_arpa(data: bytes) -> None:
    """Read a language model and ask it for a probability, which has to be one."""
    with suppress(CertusError):
        model = certus.LanguageModel.read_arpa(io.BytesIO(data))
        score = model.score(["a", "zzz", "b"])
        if score != score or score > 1e-6:
            raise AssertionError(f"a sentence scores {score}")


def read_graphs(data: bytes, path: Path) -> None:
    """Read factor graphs and solve them for a moment; an answer may not be above its bound."""
    path.write_bytes(data)
    with suppress(CertusError):
        for graph in read_factor_graphs(path):
            found = graph.solve(seconds=0.05, infeasible="return")
            if found.value.size and not (found.score <= found.bound):
                raise AssertionError(f"{found!r}")
