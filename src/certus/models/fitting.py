"""Training taggers: from annotated sentences to arrays, and to what a model file says about them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import blake2b
from io import IOBase
from itertools import chain as joined
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from certus.annotation import vocabulary
from certus.errors import InvalidInput
from certus.formats import Sentence, Target, read
from certus.learn import hmm, options, training
from certus.learn.decoders import Decoder, make_decoder
from certus.learn.features.data import Examples, TrainingSet, compile_templates, default_templates
from certus.learn.features.inventory import Inventory
from certus.learn.features.templates import Templates
from certus.learn.hmm_decoder import HmmDecoder
from certus.learn.refinement.observer import Observer
from certus.learn.refinement.observer import chosen as observed
from certus.learn.training import Arrays, Checkpoint, Progress

Source: TypeAlias = "str | os.PathLike[str] | IOBase | Iterable[Sentence]"


class Looks(NamedTuple):
    """What is looked at: columns, and the templates over them, or what a refinement observes of them."""

    columns: Sequence[str]
    templates: Templates | None
    observe: str


def fit(
    target: Target,
    chosen: options.Options,
    templates: Templates | None,
    train: Source,
    dev: Source | None,
    *,
    progress: Callable[[Progress], None],
    checkpoint: str | os.PathLike[str] | None,
    threads: int,
    reading: Mapping[str, Any],
) -> tuple[Inventory, Arrays, dict[str, Any]]:
    """Learn from annotated sentences.

    Args:
        target: what to predict.
        chosen: the learner's options.
        templates: of features; None for those that suit the data.
        train: a file, an open stream, or sentences.
        dev: held-out ones, or None.
        progress: is called after each epoch.
        checkpoint: where to keep training between epochs, or None.
        threads: for L-BFGS, and for measuring on dev.
        reading: how to read files.

    Returns:
        The labels, the arrays of the model, and its description.
    """
    examples, looks = _examples(target, chosen, templates, _sentences(train, reading))
    held_out = None if dev is None else _held_out(target, looks.columns, _sentences(dev, reading))
    templates = looks.templates
    told: dict[str, Any] = {}
    if isinstance(chosen, options.Hmm):
        inventory, arrays, accuracy = _count(examples, held_out, chosen, threads)
    elif isinstance(chosen, options.Refinement):
        from certus.learn.refinement.fitting import refine

        inventory, arrays, accuracy, told = refine(
            examples, held_out, chosen, looks.observe, progress=progress, threads=threads
        )
    else:
        assert templates is not None
        assert isinstance(chosen, options.Features)
        kept = Checkpoint(checkpoint, _identity(target, chosen, templates, examples, held_out))
        data = TrainingSet(examples, target, templates, chosen)
        inventory, arrays, accuracy = _learn(data, chosen, held_out, kept, progress, threads)
    arrays = {**arrays, "known": vocabulary.keys_of(list(examples.words))}
    description = {**_describe(target, chosen, templates, inventory, arrays), **told}
    description["training"] = _data(train, examples)
    if held_out is not None:
        unseen = int((inventory.numbers(held_out.labels) < 0).sum())
        description["dev"] = {**_data(dev, held_out), "unseen": unseen}
        description["accuracy"] = {"dev": accuracy}
    return inventory, arrays, description


def _examples(
    target: Target, chosen: options.Options, templates: Templates | None, sentences: Iterator[Sentence]
) -> tuple[Examples, Looks]:
    """Read the training data; return them, and what is looked at: if nothing is said, what suits the data."""
    first = next(sentences, None)
    if first is None:
        raise InvalidInput("there is nothing to learn from: the training data hold no sentence")
    suit = templates is None and isinstance(chosen, options.Features)
    if suit:  # they may be others when the labels are known, but over the same columns
        templates = compile_templates(default_templates(first, target))
    observe = observed(chosen.observe, first, target) if isinstance(chosen, options.Refinement) else "word"
    columns = Observer(observe, 0).columns if templates is None else templates.columns
    examples = Examples(joined([first], sentences), target, columns)
    if suit:
        templates = compile_templates(default_templates(first, target, examples.labels))
    return _checked(examples, target), Looks(columns, templates, observe)


def _held_out(target: Target, columns: Sequence[str], sentences: Iterator[Sentence]) -> Examples:
    held_out = Examples(sentences, target, columns)
    if not held_out.tokens:
        raise InvalidInput("the dev data hold no token")
    return held_out


def _sentences(source: Source, reading: Mapping[str, Any]) -> Iterator[Sentence]:
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


def _checked(examples: Examples, target: Target) -> Examples:
    """Refuse a file in which nobody has annotated what is to be learned."""
    if not examples.tokens:
        raise InvalidInput("there is nothing to learn from: the training data hold no token")
    if set("".join(set(examples.labels))) <= {"_", "|"}:
        raise InvalidInput(
            f"there is nothing to learn from: all labels of target {target.expression!r} are '_' "
            "in the training data; name a column that is annotated"
        )
    return examples


def _count(
    examples: Examples, held_out: Examples | None, chosen: options.Hmm, threads: int
) -> tuple[Inventory, Arrays, float | None]:
    """Estimate a hidden Markov model; return its labels, its arrays and its accuracy on held-out data."""
    inventory = Inventory(sorted(set(examples.labels)))
    labels = np.split(inventory.numbers(examples.labels), np.cumsum(examples.lengths)[:-1])
    words = [cells[0] for cells in examples.cells]
    model = hmm.estimate(words, labels, len(inventory), rare=chosen.rare, suffixes=chosen.suffixes)
    if held_out is None:
        return inventory, model.arrays(), None
    accuracy = share(HmmDecoder(model, len(inventory)), held_out, inventory, threads)
    return inventory, model.arrays(), accuracy


def _learn(
    data: TrainingSet,
    chosen: options.Features,
    held_out: Examples | None,
    checkpoint: Checkpoint,
    progress: Callable[[Progress], None],
    threads: int,
) -> tuple[Inventory, Arrays, float | None]:
    """Learn the weights of features; return the labels, the arrays and the accuracy on held-out data."""
    measure = None if held_out is None else _measure(held_out, data, chosen, threads)
    found, accuracy = training.train(
        data, chosen, accuracy=measure, checkpoint=checkpoint, progress=progress, threads=threads
    )
    arrays = {**found, "frequent": data.frequent}
    if data.seen is not None:
        arrays["seen"] = data.seen
    return data.inventory, arrays, accuracy


def _measure(
    held_out: Examples, data: TrainingSet, chosen: options.Options, threads: int
) -> Callable[[Arrays], float]:
    def accuracy(arrays: Arrays) -> float:
        decoder = make_decoder(
            data.extractor, data.inventory, data.tagset, arrays, chosen, data.pair_extractor
        )
        return share(decoder, held_out, data.inventory, threads)

    return accuracy


def share(decoder: Decoder, held_out: Examples, inventory: Inventory, threads: int) -> float:
    """Return the share of tokens that get the right label; labels unseen in training are never right."""
    found = decoder.decode(held_out.cells, k=1, confidence=False, threads=threads, allowed=None, legal=None)
    return float((found.labels == inventory.numbers(held_out.labels)).mean())


def _identity(
    target: Target,
    chosen: options.Options,
    templates: Templates,
    examples: Examples,
    held_out: Examples | None,
) -> dict[str, Any]:
    """Return what tells one training run from another: a checkpoint is of all this, or of another run."""
    from certus import __version__

    return {
        "certus": __version__,
        "target": target.expression,
        "templates": str(templates),
        "learner": chosen.name,
        "options": plain(chosen),
        "train": _digest(examples),
        "dev": None if held_out is None else _digest(held_out),
    }


def _digest(examples: Examples) -> str:
    """Return a short name for all cells and labels, in their order."""
    digest = blake2b(digest_size=16)
    for cells in examples.cells:
        for column in cells:
            digest.update("\t".join([*column, "\n"]).encode(errors="surrogatepass"))
    digest.update("\t".join(examples.labels).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _describe(
    target: Target,
    chosen: options.Options,
    templates: Templates | None,
    inventory: Inventory,
    arrays: Arrays,
) -> dict[str, Any]:
    """Return what a model file says about the model."""
    from certus import __version__

    described: dict[str, Any] = {
        "target": target.expression,
        "learner": chosen.name,
        "options": plain(chosen),
        "labels": inventory.labels,
        "columns": ["word"],
        "date": date.today().isoformat(),
        "certus": __version__,
    }
    if templates is not None:
        described |= {"columns": list(templates.columns), "templates": str(templates).splitlines()}
    if isinstance(chosen, options.PrunedCrf):
        described["order"] = chosen.order
    if "features" in arrays:
        described["features"] = int(arrays["features"]) + int(arrays.get("pair_features", 0))
    return described


def _data(source: Source | None, examples: Examples) -> dict[str, Any]:
    name = Path(source).name if isinstance(source, str | os.PathLike) else "sentences"
    return {"name": name, "sentences": len(examples), "tokens": examples.tokens}


def plain(chosen: options.Options) -> dict[str, Any]:
    """Return options as JSON has them."""
    values = dataclasses.asdict(chosen)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
