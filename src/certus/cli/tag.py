"""``certus tag``: labels for text and files, in the format they come in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from certus.errors import InvalidInput
from certus.formats import Sentence, Target, build, read, replace, tokenize
from certus.models.loading import load

BATCH = 512  # sentences that are labelled together


def run(
    model: str | None,
    inputs: list[str],
    *,
    k: int = 1,
    confidence: bool = False,
    threads: int = 1,
    legal: str | None = None,
    dictionary: str | None = None,
    format: str | None = None,
    columns: str | None = None,
    encoding: str = "utf-8",
    output: str | None = None,
) -> None:
    """Label the inputs and write them out."""
    model, inputs = sort_out(model, inputs)
    tagger = load(model)
    options = {
        "k": k,
        "confidence": confidence,
        "threads": threads,
        "legal": automaton(legal, tagger.labels),
        "dictionary": None if dictionary is None else read_dictionary(dictionary, encoding),
    }
    lines = written(tagger, sources(inputs, format, columns, encoding), options)
    if output is None:
        stream(lines, encoding)
    else:
        from certus.formats import atomic

        with atomic(output, encoding=encoding) as file:
            file.writelines(lines)


def sort_out(model: str | None, inputs: list[str]) -> tuple[str | None, list[str]]:
    """Tell a model from text: a first argument that is no model file is something to tag."""
    if model is None:
        return None, inputs or ["-"]
    if model != "-" and (os.path.exists(model) or model.endswith(".certus")) and is_model(model):
        return model, inputs or ["-"]
    return None, [model, *inputs]


def is_model(path: str) -> bool:
    """Whether a file is to be opened as a model: safetensors begin with a length and a brace."""
    try:
        with open(path, "rb") as file:
            return path.endswith(".certus") or file.read(9)[8:] == b"{"
    except IsADirectoryError:
        return False
    except OSError:
        return True  # opening it as a model says what is wrong


def sources(
    inputs: Iterable[str], format: str | None, columns: str | None, encoding: str
) -> Iterator[Sentence]:
    """Read files; what is no file is text itself."""
    for name in inputs:
        if name == "-" or os.path.exists(name) or (" " not in name.strip() and looks_like_path(name)):
            yield from read(name, format, columns, encoding=encoding)
        else:
            yield build(tokenize(name), text=name)


def looks_like_path(name: str) -> bool:
    """Whether a word was meant as a file name, so that its absence is an error."""
    return os.sep in name or os.path.splitext(name)[1].lower() in (
        ".conllu", ".conll", ".conllx", ".txt", ".tsv", ".iob2", ".gz",
    )  # fmt: skip


def written(tagger: Any, sentences: Iterator[Sentence], options: dict[str, Any]) -> Iterator[str]:
    """Label sentences in batches and yield their text."""
    while batch := list(islice(sentences, BATCH)):
        answers = tagger.tag_batch(batch, **options)
        for sentence, answer in zip(batch, answers, strict=True):
            yield from shown(tagger.target, sentence, answer, options["k"])


def shown(target: Target, sentence: Sentence, answer: Any, k: int) -> Iterator[str]:
    """Yield a labelled sentence, k times for the k best."""
    several = answer if k > 1 else [answer]
    if not several or several[0].position is not None or len(several[0].labels) != len(sentence):
        raise InvalidInput(
            f"{sentence.source}:{sentence.line}: no label sequence fits the constraints of this sentence"
        )
    plain = sentence.layout.format in ("text", "raw")
    for rank, one in enumerate(several, 1):
        if plain:
            made = build(sentence.words, text=sentence.text.strip() or None)
        else:
            made = sentence
        text = replace(made, with_misc(target, made, one)).text
        yield noted(text, made, rank if k > 1 else None, one)


def with_misc(target: Target, sentence: Sentence, one: Any) -> dict[str, list[str]]:
    """Return the columns to write: the labels, and in CoNLL-U the confidences under MISC."""
    fields = {
        name: values for name, values in target.fill(sentence, one.labels).items() if name in sentence.columns
    }
    missing = [name for name in target.fields if name not in sentence.columns]
    if missing:
        raise InvalidInput(
            f"{sentence.source}:{sentence.line}: the model predicts {target.expression}, but there is no "
            f"column {missing[0]!r} to write it to; the columns are {', '.join(sentence.columns)}"
        )
    if one.confidence is not None and "misc" in sentence.columns:
        notes = (f"Confidence={p:.4f}" for p in one.confidence)
        fields["misc"] = [
            note if old == "_" else f"{old}|{note}"
            for old, note in zip(sentence.columns["misc"], notes, strict=True)
        ]
    return fields


def noted(text: str, sentence: Sentence, rank: int | None, one: Any) -> str:
    """Say above a CoNLL-U sentence which of several it is, and how good."""
    if sentence.layout.format != "conllu" or (rank is None and one.probability is None):
        return text
    notes = "" if rank is None else f"# rank = {rank}\n# score = {one.score:.6g}\n"
    if one.probability is not None:
        notes += f"# probability = {one.probability:.6g}\n"
    return notes + text


def automaton(kind: str | None, labels: list[str]) -> Any:
    """Make the automaton that a name stands for."""
    if kind is None:
        return None
    import certus

    makers = {"bio": certus.bio, "bilou": certus.bilou, "iobes": certus.iobes}
    if kind not in makers:
        raise InvalidInput(f"there is no scheme {kind!r}; there are {', '.join(makers)}")
    return makers[kind](labels)


def read_dictionary(path: str, encoding: str) -> dict[str, list[str]]:
    """Read a tag dictionary: a word, a tab, and its labels separated by blanks."""
    from certus.errors import FormatError

    listed: dict[str, list[str]] = {}
    with open(path, encoding=encoding) as file:
        for number, line in enumerate(file, 1):
            word, tab, labels = line.rstrip("\n").partition("\t")
            if not line.strip():
                continue
            if not tab or not labels.split():
                raise FormatError("a word, a tab and its labels are needed", path, number)
            listed[word] = labels.split()
    return listed


def stream(lines: Iterator[str], encoding: str) -> None:
    """Write to stdout; a reader that has seen enough is no error."""
    out = sys.stdout.buffer
    try:
        for line in lines:
            out.write(line.encode(encoding))
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
