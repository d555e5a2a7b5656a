"""``certus tag``: labels for text and files, in the format they come in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from certus.cli.labelled import texts
from certus.errors import CertusError, FormatError, InvalidInput
from certus.formats import Sentence, Target, atomic, guess, read
from certus.formats.text import RAW, parse
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus.storage.files import check_encoding, interactive

BATCH = 512  # sentences that are labelled together
_FILE = re.compile(r"\S+\.[A-Za-z]\w*")  # no sentence that others follow ends like this
SUFFIXES = (".conllu", ".conll", ".conllx", ".txt", ".tsv", ".iob", ".iob2", ".bio", ".iobes", ".mrg", ".gz")


def run(
    model: str | None,
    inputs: list[str],
    *,
    k: int = 1,
    confidence: bool = False,
    threads: int = 1,
    legal: str | None = None,
    dictionary: str | None = None,
    inference: str | None = None,
    steps: int = 0,
    format: str | None = None,
    columns: str | None = None,
    encoding: str = "utf-8",
    output: str | None = None,
) -> None:
    """Label the inputs and write them out."""
    check_encoding(encoding)
    guess.check(format, columns)
    model, inputs = sort_out(model, inputs)
    tagger = open_tagger(model)
    if inference is not None or steps:
        latent = tagger.latent
        latent.inference = chosen(inference or latent.inference.name, steps, tagger.labels)
    options = {
        "k": k,
        "confidence": confidence,
        "threads": threads,
        "legal": automaton(legal, tagger.target, tagger.labels),
        "dictionary": None if dictionary is None else read_dictionary(dictionary, encoding),
    }
    waiting = is_typed(inputs)
    sentences = sources(inputs, format, columns, encoding)
    deliver(written(tagger, sentences, options, 1 if waiting else BATCH), output, encoding, waiting)


def open_tagger(path: str | None) -> Tagger:
    """Open a tagger, and nothing else."""
    model = load(path)
    if not isinstance(model, Tagger):
        raise InvalidInput(f"{path} holds no tagger; train one with certus train tagger")
    return model


def is_typed(inputs: list[str]) -> bool:
    """Whether somebody types the input and waits for answers; if so, say how."""
    waiting = "-" in inputs and interactive("-")
    if waiting:
        print("Type a sentence a line; Ctrl-D ends.", file=sys.stderr)
    return waiting


def deliver(labelled: Iterator[str], output: str | None, encoding: str, waiting: bool = False) -> None:
    """Write to a file, or to stdout."""
    if output is None or output == "-":
        stream(labelled, encoding, waiting)
        return
    with atomic(output, encoding=encoding) as file:
        try:
            file.writelines(labelled)
        except UnicodeEncodeError as error:
            raise _unwritable(error, encoding) from None


def sort_out(model: str | None, inputs: list[str]) -> tuple[str | None, list[str]]:
    """Tell a model from text: a first argument that is no model file is something to tag."""
    if model is None:
        return None, inputs or ["-"]
    if model != "-" and is_model(model):
        return model, inputs or ["-"]
    if inputs and _FILE.fullmatch(model) and not os.path.exists(model):
        raise InvalidInput(f"there is no file {model}; the model comes first, then what it shall tag")
    return None, [model, *inputs]


def is_model(path: str) -> bool:
    """Whether a file is to be opened as a model: by its name, or as safetensors, a length and a brace."""
    if " " not in path.strip() and path.endswith(".certus"):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(9)[8:] == b"{"
    except (OSError, ValueError):
        return False


def sources(
    inputs: Iterable[str], format: str | None, columns: str | None, encoding: str
) -> Iterator[Sentence]:
    """Read files; what is no file is text itself, a sentence a line."""
    for name in inputs:
        if name == "-" or os.path.exists(name) or looks_like_path(name):
            yield from read(name, format, columns, encoding=encoding)
        else:
            yield from typed(name)


def looks_like_path(name: str) -> bool:
    """Whether a word was meant as a file name, so that its absence is an error."""
    if " " in name.strip():
        return False
    return os.sep in name or os.path.splitext(name)[1].lower() in SUFFIXES


def typed(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text given on the command line."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the text {text!r} is not in the encoding of the terminal") from None
    lines = (parse(line, "\n", n, "<argument>", RAW) for n, line in enumerate(text.splitlines(), 1))
    sentences = [sentence for sentence in lines if sentence is not None]
    if not sentences:
        raise InvalidInput(f"there is no word in the text {text!r}")
    yield from sentences


def written(tagger: Any, sentences: Iterator[Sentence], options: dict[str, Any], batch: int) -> Iterator[str]:
    """Label sentences, so many together, and yield their text."""
    k = options["k"]
    while several := list(islice(sentences, batch)):
        answers = tagger.tag_batch(several, **options)
        for sentence, answer in zip(several, answers, strict=True):
            yield from texts(tagger.target, sentence, answer if k > 1 else [answer], k)


def automaton(kind: str | None, target: Target, labels: list[str]) -> Any:
    """Make the automaton that a name stands for; of joint labels, the column that it fits is held to it."""
    if kind is None:
        return None
    from certus.chain import bilou, bio, iobes

    makers = {"bio": bio, "bilou": bilou, "iobes": iobes}
    if kind not in makers:
        raise InvalidInput(f"there is no scheme {kind!r}; there are {', '.join(makers)}")
    for column in reversed(target.fields):
        values = {label: _value(target, label, column) for label in labels}
        try:
            return makers[kind](labels, part=values.__getitem__)
        except InvalidInput:
            continue
    raise InvalidInput(
        f"the model predicts {target.expression}, of which no column is in the scheme {kind}: "
        f"its labels are {', '.join(labels[:3])}, ..."
    )


def _value(target: Target, label: str, column: str) -> str:
    if len(target.fields) == 1:
        return label
    parts = (part for part in target.parts(label) if part.startswith(f"{column}="))
    return next(parts, "").removeprefix(f"{column}=")


def chosen(inference: str, steps: int, labels: list[str]) -> Any:
    """Make an inference of its name and its limit; labels of spans are reranked by F1, others by accuracy."""
    from certus.chain.spans import is_tag
    from certus.latent.inference import INFERENCES, choose

    options: dict[str, Any] = {"steps": steps} if steps else {}
    if inference == "mbr":
        options["gain"] = "spans" if all(map(is_tag, labels)) else "accuracy"
    if steps and inference in ("bhp", "bmp"):
        raise InvalidInput(f"steps is the limit of ldi and mbr; {inference} has none")
    return INFERENCES[inference](**options) if inference in INFERENCES else choose(inference, 1)


def read_dictionary(path: str, encoding: str) -> dict[str, list[str]]:
    """Read a tag dictionary: a word, a tab, and its labels separated by blanks."""
    listed: dict[str, list[str]] = {}
    try:
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(file, 1):
                word, _, labels = line.rstrip("\n").partition("\t")
                if not line.strip():
                    continue
                if not word or not labels.split():
                    raise FormatError("a word, a tab and its labels are needed", path, number)
                listed[word] = labels.split()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInput(f"cannot read the dictionary {path}: {reason}") from error
    return listed


def stream(labelled: Iterator[str], encoding: str, waiting: bool) -> None:
    """Write to stdout; a reader that has seen enough is no error.

    Args:
        labelled: what to write.
        encoding: of the bytes.
        waiting: whether somebody waits for each sentence.
    """
    out = sys.stdout.buffer
    try:
        for text in labelled:
            out.write(text.encode(encoding))
            if waiting:
                out.flush()
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UnicodeEncodeError as error:
        raise _unwritable(error, encoding) from None
    except OSError as error:
        raise CertusError(f"cannot write to stdout: {error.strerror}") from error


def _unwritable(error: UnicodeEncodeError, encoding: str) -> InvalidInput:
    character = error.object[error.start]
    return InvalidInput(f"{character!r} cannot be written in the encoding {encoding!r}; utf-8 has everything")
