"""Forests in files: the layout of model files, with the kind "hypergraph"."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput, ModelError
from certus.hypergraph.forest import Forest
from certus.storage import model_file
from certus.storage.declaration import Declaration, keys, offsets, whole

KIND = "hypergraph"
_ARRAYS = {"heads", "offsets", "tails", "goals"}
DECLARATION = Declaration(
    {
        "heads": whole("edges", below="nodes"),
        "offsets": offsets("edges", into="tails"),
        "tails": whole("tails", below="nodes"),
        "goals": whole("goals", below="nodes"),
        "labels": keys("*", types="uint8").of_group("labels"),
        "names": keys("*", types="uint8").of_group("names"),
    },
    work="64*nodes",
)


@dataclass(frozen=True)
class Contents:
    """What a file holds: what a Hypergraph is made of, and the scores that were saved with it."""

    path: str
    nodes: int
    heads: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tails: NDArray[np.int64]
    goals: NDArray[np.int64]
    labels: list[Any] | None
    names: list[Any] | None
    scores: NDArray[Any] | None


def write(graph: Forest, path: str | os.PathLike[str], scores: ArrayLike | None = None) -> None:
    """Write a forest, and scores if given, into one file; whole or not at all."""
    arrays = {name: getattr(graph, name) for name in _ARRAYS}
    if scores is not None:
        arrays["scores"] = graph.check_scores(scores)
    description: dict[str, Any] = {"nodes": graph.nodes}
    for what in ("labels", "names"):
        items = getattr(graph, what)
        if items is not None:
            text = json.dumps([_as_json(what, number, item) for number, item in enumerate(items)])
            arrays[what] = np.frombuffer(text.encode(), np.uint8)
    model_file.write(path, KIND, arrays, description)


def read(path: str | os.PathLike[str]) -> Contents:
    """Read what ``write`` wrote; see ``certus.hypergraph.load``."""
    model = model_file.verify(path)
    if model.kind != KIND:
        raise ModelError(f"{model.path} holds a {model.kind}, not a hypergraph; certus.load reads models")
    with model_file.blame_file(model, KIND) as about:
        arrays, nodes = model.arrays, int(about["nodes"])
        DECLARATION.check(arrays, nodes=nodes)
        return Contents(
            str(model.path),
            nodes,
            arrays["heads"],
            arrays["offsets"],
            arrays["tails"],
            arrays["goals"],
            _read_items(arrays["labels"]) if "labels" in arrays else None,
            _read_items(arrays["names"]) if "names" in arrays else None,
            np.array(arrays["scores"]) if "scores" in arrays else None,
        )


def _as_json(what: str, number: int, item: Any) -> Any:
    """Return what JSON can hold for a label; tuples, which people use as names, are marked."""
    if item is None or isinstance(item, bool | str):
        return item
    if isinstance(item, int | np.integer):
        return int(item)
    if isinstance(item, float | np.floating) and np.isfinite(item):
        return float(item)
    if isinstance(item, tuple):
        return {"tuple": [_as_json(what, number, part) for part in item]}
    raise InvalidInput(
        f"{what}[{number}] is {item!r}, which a file cannot hold: use None, numbers, strings, booleans, or "
        "tuples of those"
    )


def _read_items(text: NDArray[np.uint8]) -> list[Any]:
    return [_restore_item(item) for item in json.loads(text.tobytes())]


def _restore_item(item: Any) -> Any:
    return tuple(_restore_item(part) for part in item["tuple"]) if isinstance(item, dict) else item
