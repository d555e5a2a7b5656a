"""What commands read and write: models, sentences, and text that goes to a file or to stdout."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from certus.annotation import vocabulary
from certus.annotation.tokenizer import ENGLISH, choose_rules
from certus.cli.options import TagOptions, TextOptions, WritingOptions
from certus.cli.standard import discard_stdout
from certus.errors import CertusError, InvalidInput
from certus.formats import Sentence, open_atomically, read
from certus.formats.text import RawText, parse_raw
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus.storage.files import is_interactive

_FILE = re.compile(r"\S*/\S*|\S+\.[A-Za-z]\w+")  # no sentence ends like this


def open_tagger(path: str | None) -> Tagger:
    """Open a tagger, and nothing else."""
    model = load(path)
    if not isinstance(model, Tagger):
        raise InvalidInput(f"{path} holds no tagger; train one with certus train tagger")
    return model


def is_typed(inputs: list[str]) -> bool:
    """Whether somebody types the input and waits for answers; if so, say how."""
    waiting = "-" in inputs and is_interactive("-")
    if waiting:
        print("Type one sentence per line; Ctrl-D ends.", file=sys.stderr)
    return waiting


def wants_view(inputs: list[str], options: WritingOptions) -> bool:
    """Whether answers are shown for people to read: where asked for, and on a terminal those to texts."""
    if options.pretty and options.no_pretty:
        raise InvalidInput("--pretty and --no-pretty exclude each other: leave one out")
    if options.pretty or options.no_pretty:
        return options.pretty
    return options.output is None and sys.stdout.isatty() and not any(map(is_file, inputs))


def deliver(labelled: Iterator[str], output: str | None, encoding: str, waiting: bool = False) -> None:
    """Write to a file, or to stdout."""
    if output is None or output == "-":
        stream(labelled, encoding, waiting)
        return
    with open_atomically(output, encoding=encoding) as file:
        try:
            file.writelines(labelled)
        except UnicodeEncodeError as error:
            raise _refuse_character(error, encoding) from None


def sort_out(model: str | None, inputs: list[str]) -> tuple[str | None, list[str]]:
    """Tell a model from text: a first argument that is no model file is something to tag."""
    if model is None:
        return None, inputs or ["-"]
    if model != "-" and is_model(model):
        return model, inputs or ["-"]
    if inputs and not os.path.exists(model) and _names_file(model, beside=inputs):
        raise InvalidInput(f"there is no file {model}; the model comes first, then the files or texts")
    return None, [model, *inputs]


def _names_file(argument: str, beside: list[str]) -> bool:
    """Whether an argument is meant as a file: by its look, or as a single word before files."""
    if _FILE.fullmatch(argument):
        return True
    return not re.search(r"\s", argument) and any(os.path.exists(other) for other in beside)


def is_model(path: str) -> bool:
    """Whether a file is to be opened as a model: by its name, or as safetensors, a length and a brace."""
    if " " not in path.strip() and path.endswith(".certus"):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(9)[8:] == b"{"
    except (OSError, ValueError):
        return False


def read_inputs(inputs: Iterable[str], tagger: Tagger, options: TagOptions) -> Iterator[Sentence]:
    """Read files; what is no file is text itself."""
    raw = choose_raw_text(tagger, options)
    form, columns, encoding = options.format, options.columns, options.encoding
    for name in inputs:
        if is_file(name):
            yield from read(
                name,
                form,
                columns,
                usual=tagger.layout,
                encoding=encoding,
                tokens=raw.tokens,
                sentences=raw.sentences,
            )
        else:
            yield from parse_text(name, raw)


def choose_raw_text(tagger: Tagger, options: TextOptions) -> RawText:
    """Return how raw text is cut: as asked for, or as the training data of a tagger was."""
    return make_raw_text(options, options.tokens or find_rules(tagger))


def make_raw_text(options: TextOptions, tokens: str) -> RawText:
    """Return how raw text is cut, by given rules for tokens."""
    return RawText(tokens=tokens, sentences="lines" if options.one_per_line else "split")


def find_rules(tagger: Tagger) -> str:
    """Return the rules for tokens that a tagger's training data followed; English, if it does not tell."""
    try:
        known = tagger.known
    except InvalidInput:  # a model of an older version
        return ENGLISH
    return choose_rules(lambda words: vocabulary.contains(known, words).tolist())


def is_file(name: str) -> bool:
    """Whether an argument is a file or stdin, and not text; a file that is not there is refused."""
    if name == "-" or os.path.exists(name):
        return True
    if _FILE.fullmatch(name.strip()):
        raise InvalidInput(f"there is no file {name}; a text of a single word can come from stdin")
    return False


def parse_text(text: str, raw: RawText) -> Iterator[Sentence]:
    """Yield the sentences of a text given on the command line."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the text {text!r} is not in the encoding of the terminal") from None
    sentences = list(parse_raw(text, "<argument>", raw))
    if not sentences:
        raise InvalidInput(f"there is no word in the text {text!r}")
    yield from sentences


def stream(labelled: Iterator[str], encoding: str, waiting: bool) -> None:
    """Write to stdout; a reader that has seen enough is no error.

    Args:
        labelled: what to write.
        encoding: of the bytes.
        waiting: whether somebody waits for each sentence.
    """
    out = sys.stdout.buffer
    for text in labelled:
        if not _put(partial(out.write, _encode(text, encoding))) or (waiting and not _put(out.flush)):
            return
    _put(out.flush)


def _put(write: Callable[[], object]) -> bool:
    """Write something to stdout; return whether somebody still reads it."""
    try:
        write()
    except BrokenPipeError:
        discard_stdout()
        return False
    except OSError as error:
        discard_stdout()
        raise CertusError(f"cannot write to stdout: {error.strerror}") from error
    return True


def _encode(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise _refuse_character(error, encoding) from None


def _refuse_character(error: UnicodeEncodeError, encoding: str) -> InvalidInput:
    character = error.object[error.start]
    return InvalidInput(f"{character!r} cannot be written in the encoding {encoding!r}; utf-8 has everything")
