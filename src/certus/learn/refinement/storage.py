"""Refinement HMMs as arrays: what a model file holds of them, whether they stand alone or in a tagger.

``Refinement.pack`` gives the arrays of a fitted model, ``Refinement.restore`` makes one of them; diagnostics
come along. ``NAMES``, ``DIAGNOSTICS``, ``TENSORS`` and ``declare_parameters`` say what the arrays must be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import ModelError
from certus.learn.refinement.data import Names
from certus.learn.refinement.diagnostics import Block, Diagnostics, LabelReport
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.tensors import Tensors
from certus.storage.declaration import Array, ends, keys, reals, whole

Arrays = Mapping[str, NDArray[Any]]

_PARAMETERS = ("initial", "transition", "stop", "emission")

NAMES = {
    "observations": keys("text", types="uint8"),
    "observation_ends": ends("observations", into="text"),
}
DIAGNOSTICS = {
    "samples": whole("labels"),
    "blocks": whole("2*labels", "4").of_group("blocks"),
    "singular": reals("*", types="float64").of_group("blocks"),
    "chosen": whole("2").of_group("climbs"),
    "climbed": whole("restarts", total="climbed").of_group("climbs"),
    "objective": reals("climbed", types="float64").of_group("climbs"),
}
TENSORS = {
    "ranks": whole("labels", least=1, total="states"),
    "presents": whole("labels", least=1, total="presents"),
    "start": reals("states", types="float64"),
    **{name: reals("*", types="float64") for name in ("follow", "stop", "seen")},
}


def declare_parameters(prefix: str = "") -> dict[str, Array]:
    """Declare the arrays of a model that is given by its probabilities."""
    hidden = f"{prefix}hidden"
    shapes = {
        "initial": ("labels", hidden),
        "transition": ("labels", hidden, "labels", hidden),
        "stop": ("labels", hidden),
        "emission": ("labels", hidden, "observations+1"),
    }
    return {
        prefix + name: reals(*shape, types="float64", least=0, most=1 + 1e-8)
        for name, shape in shapes.items()
    }


def pack_names(names: Names) -> dict[str, NDArray[Any]]:
    """Return the names of observations as arrays."""
    text = [name.encode(errors="surrogatepass") for name in names.observations]
    return {
        "observations": np.frombuffer(b"".join(text), np.uint8),
        "observation_ends": np.cumsum([len(name) for name in text], dtype=np.int64),
    }


def read_names(labels: Sequence[str], arrays: Arrays) -> Names:
    """Return the names of labels and observations."""
    return Names(tuple(labels), {name: i for i, name in enumerate(_split_names(arrays))})


def list_problems(diagnostics: Diagnostics) -> dict[str, str]:
    """Return what is less than was asked for, by label."""
    return {report.label: report.problem for report in diagnostics.labels if report.problem}


def pack_parameters(model: Parameters, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the arrays of a model that is given by its probabilities."""
    return {prefix + name: getattr(model, name) for name in _PARAMETERS}


def read_parameters(arrays: Arrays, prefix: str = "") -> Parameters:
    """Make such a model of its arrays."""
    return Parameters(*(arrays[prefix + name] for name in _PARAMETERS))


def pack_tensors(model: Tensors) -> dict[str, NDArray[Any]]:
    """Return the arrays of tensors, those of all labels one after the other."""
    return {
        "ranks": np.diff(model.begin),
        "presents": np.array([stop.shape[1] for stop in model.stop], np.int64),
        "start": model.start,
        **{
            name: np.concatenate([np.ravel(array) for array in getattr(model, name)])
            for name in ("follow", "stop", "seen")
        },
    }


def read_tensors(arrays: Arrays) -> Tensors:
    """Make tensors of their arrays."""
    ranks, presents = (arrays[name].tolist() for name in ("ranks", "presents"))
    states, observations = len(arrays["start"]), len(arrays["observation_ends"]) + 1
    shapes: dict[str, list[tuple[int, ...]]] = {
        "follow": [(rank, present, states) for rank, present in zip(ranks, presents, strict=True)],
        "stop": [*zip(ranks, presents, strict=True)],
        "seen": [(observations, present) for present in presents],
    }
    parted = {name: tuple(_split_parts(name, arrays[name], own)) for name, own in shapes.items()}
    return Tensors(arrays["start"], **parted)


def _split_parts(name: str, flat: NDArray[Any], shapes: list[tuple[int, ...]]) -> Iterator[NDArray[Any]]:
    """Split what the labels have of an array; only their ranks tell how much of it is whose."""
    sizes = [math.prod(shape) for shape in shapes]
    if sum(sizes) != len(flat):
        raise ModelError(f"its array {name!r} does not fit the ranks of its labels")
    for part, shape in zip(np.split(flat, np.cumsum(sizes)[:-1]), shapes, strict=True):
        yield part.reshape(shape)


def _split_names(arrays: Arrays) -> list[str]:
    text, ends = arrays["observations"].tobytes(), arrays["observation_ends"].tolist()
    begins = [0, *ends[:-1]] if ends else []
    return [text[b:e].decode(errors="surrogatepass") for b, e in zip(begins, ends, strict=True)]


def pack_diagnostics(found: Diagnostics) -> dict[str, NDArray[Any]]:
    """Return diagnostics as arrays: of blocks where moments were inverted, of climbing where EM did."""
    packed = {"samples": np.array([report.samples for report in found.labels], np.int64)}
    blocks = [block for report in found.labels for block in (report.past, report.present) if block]
    if blocks:
        numbers = [(block.rank, *block.sizes, len(block.singular)) for block in blocks]
        packed["blocks"] = np.array(numbers, np.int64)
        packed["singular"] = np.concatenate([block.singular for block in blocks])
    if found.chosen is not None:
        packed["chosen"] = np.array(found.chosen, np.int64)
        packed["climbed"] = np.array([len(values) for values in found.objective], np.int64)
        packed["objective"] = np.concatenate([np.asarray(values) for values in found.objective])
    return packed


def read_diagnostics(labels: tuple[str, ...], arrays: Arrays, problems: Mapping[str, str]) -> Diagnostics:
    """Make diagnostics of their arrays, with what they had to say, by label."""
    samples, blocks = arrays["samples"].tolist(), list(_read_blocks(arrays))
    pairs: list[tuple[Block | None, Block | None]] = [*zip(blocks[::2], blocks[1::2], strict=True)]
    pairs = pairs or [(None, None)] * len(labels)
    reports = tuple(
        LabelReport(label, count, *pair, problems.get(label, ""))
        for label, count, pair in zip(labels, samples, pairs, strict=True)
    )
    if "chosen" not in arrays:
        return Diagnostics(reports)
    restart, iteration = arrays["chosen"].tolist()
    climbs = np.split(arrays["objective"], np.cumsum(arrays["climbed"])[:-1])
    return Diagnostics(reports, tuple(tuple(values.tolist()) for values in climbs), (restart, iteration))


def _read_blocks(arrays: Arrays) -> Iterator[Block]:
    if "blocks" not in arrays:
        return
    singular, at = arrays["singular"], 0
    for rank, left, right, count in arrays["blocks"].tolist():
        yield Block(rank, (left, right), singular[at : at + count])
        at += count
