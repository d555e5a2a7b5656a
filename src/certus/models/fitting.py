"""Training taggers: from annotated sentences to what was learned, and to what a model file says about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from io import IOBase
from itertools import chain as concatenate
from pathlib import Path
from typing import Any, TypeAlias, cast

from certus.annotation import vocabulary
from certus.annotation.sentence import Sentence
from certus.annotation.targets import Target
from certus.errors import InvalidInput
from certus.formats import read
from certus.learn.features.data import Examples
from certus.learn.features.templates import Templates
from certus.learn.learner import Learned, Learner, TrainingData
from certus.learn.progress import Progress
from certus.version import __version__

Source: TypeAlias = "str | os.PathLike[str] | IOBase | Iterable[Sentence]"


def fit(
    target: Target,
    learner: Learner,
    templates: Templates | None,
    train: Source,
    dev: Source | None,
    *,
    progress: Callable[[Progress], object],
    checkpoint: str | os.PathLike[str] | None,
    threads: int,
    reading: Mapping[str, Any],
) -> tuple[Learned, dict[str, Any]]:
    """Learn from annotated sentences.

    Args:
        target: what to predict.
        learner: how to learn it.
        templates: of features; None for those that suit the data.
        train: a file, an open stream, or sentences.
        dev: held-out ones, or None.
        progress: is called after each epoch.
        checkpoint: where to keep training between epochs, or None.
        threads: for L-BFGS, and for measuring on dev.
        reading: how to read files.

    Returns:
        What was learned, and the description of the model.
    """
    data = _read_data(target, learner, templates, train, dev, reading)
    learned = learner.fit(data, checkpoint=checkpoint, progress=progress, threads=threads)
    known = vocabulary.make_keys(list(data.examples.words))
    learned = replace(learned, arrays={**learned.arrays, "known": known})
    description = {
        "target": target.expression,
        "date": date.today().isoformat(),
        "certus": __version__,
        **learner.describe(learned),
        "training": _count(train, data.examples),
    }
    if data.layout is not None:
        description["layout"] = list(data.layout)
    if data.held_out is not None:
        unseen = int((learned.inventory.number_labels(data.held_out.labels) < 0).sum())
        description["dev"] = {**_count(dev, data.held_out), "unseen": unseen}
        description["accuracy"] = {"dev": learned.accuracy}
    return learned, description


def _read_data(
    target: Target,
    learner: Learner,
    templates: Templates | None,
    train: Source,
    dev: Source | None,
    reading: Mapping[str, Any],
) -> TrainingData:
    """Read the columns of the training data that the learner looks at."""
    sentences = read_sentences(train, reading)
    first = next(sentences, None)
    if first is None:
        raise InvalidInput("there is nothing to learn from: the training data hold no sentence")
    columns = learner.choose_columns(tuple(first.columns), target, templates)
    examples = Examples(concatenate([first], sentences), target, columns)
    _check_annotated(examples, target)
    held_out = None if dev is None else Examples(read_sentences(dev, reading), target, columns)
    if held_out is not None and not held_out.tokens:
        raise InvalidInput("the dev data hold no token")
    layout = tuple(first.layout.names) if first.layout.format == "columns" else None
    return TrainingData(target, examples, held_out, tuple(first.columns), templates, layout)


def read_sentences(source: Source, reading: Mapping[str, Any]) -> Iterator[Sentence]:
    """Yield the sentences of a file or stream, or those that are given."""
    if isinstance(source, str | os.PathLike | IOBase):
        yield from read(cast(Any, source), **reading)
        return
    sentences: Iterable[Any] = source
    for sentence in sentences:
        if not isinstance(sentence, Sentence):
            raise InvalidInput(
                f"{type(sentence).__name__} is no annotated sentence: give a file, or sentences from "
                "certus.formats.read or certus.formats.build"
            )
        yield sentence


def _check_annotated(examples: Examples, target: Target) -> None:
    """Refuse a file in which nobody has annotated what is to be learned."""
    if not examples.tokens:
        raise InvalidInput("there is nothing to learn from: the training data hold no token")
    if set("".join(set(examples.labels))) <= {"_", "|"}:
        raise InvalidInput(
            f"there is nothing to learn from: all labels of target {target.expression!r} are '_' "
            "in the training data; name a column that is annotated"
        )


def _count(source: Source | None, examples: Examples) -> dict[str, Any]:
    """Say what the data are called, and how many there are."""
    name = Path(source).name if isinstance(source, str | os.PathLike) else "sentences"
    return {"name": name, "sentences": len(examples), "tokens": examples.tokens}
