"""Forests in files: the layout of model files, with the kind "hypergraph"."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput, ModelError
from certus.hypergraph.graph import Hypergraph
from certus.storage import model_file

KIND = "hypergraph"
_ARRAYS = {"heads", "offsets", "tails", "goals"}


@dataclass(frozen=True)
class Saved:
    """What a file holds.

    Attributes:
        graph: the forest.
        scores: those that were saved with it, or None.
    """

    graph: Hypergraph
    scores: NDArray[Any] | None


def save(graph: Hypergraph, path: str | os.PathLike[str], scores: Any = None) -> None:
    """Write a forest, and scores if given, into one file; whole or not at all."""
    arrays = {name: getattr(graph, name) for name in _ARRAYS}
    if scores is not None:
        arrays["scores"] = graph._checked(scores)
    description: dict[str, Any] = {"nodes": graph.nodes}
    for what in ("labels", "names"):
        items = getattr(graph, what)
        if items is not None:
            text = json.dumps([_plain(what, number, item) for number, item in enumerate(items)])
            arrays[what] = np.frombuffer(text.encode(), np.uint8)
    model_file.write(path, KIND, arrays, description)


def load(path: Any) -> Saved:
    """Read a forest that ``Hypergraph.save`` wrote; every byte is held against the checksum.

    Raises:
        ModelError: this is no such file, or it is damaged.
    """
    model = model_file.verify(path)
    if model.kind != KIND:
        raise ModelError(f"{model.path} holds a {model.kind}, not a hypergraph; certus.load reads models")
    arrays, nodes = model.arrays, model.description.get("nodes")
    if not arrays.keys() >= _ARRAYS or type(nodes) is not int:
        raise ModelError(f"{model.path} lacks a part of a hypergraph; write it again")
    items = {what: _items(arrays[what]) if what in arrays else None for what in ("labels", "names")}
    try:
        structure = (arrays["heads"], arrays["offsets"], arrays["tails"], arrays["goals"].tolist())
        graph = Hypergraph(*structure, nodes=nodes, labels=items["labels"], names=items["names"])
    except InvalidInput as error:
        raise ModelError(f"{model.path} holds an impossible hypergraph: {error}") from error
    return Saved(graph, np.array(arrays["scores"]) if "scores" in arrays else None)


def _plain(what: str, number: int, item: Any) -> Any:
    """Return what JSON can hold for a label; tuples, which people use as names, are marked."""
    if item is None or isinstance(item, bool | str):
        return item
    if isinstance(item, int | np.integer):
        return int(item)
    if isinstance(item, float | np.floating) and np.isfinite(item):
        return float(item)
    if isinstance(item, tuple):
        return {"tuple": [_plain(what, number, part) for part in item]}
    raise InvalidInput(
        f"{what}[{number}] is {item!r}, which a file cannot hold: use None, numbers, strings, booleans, or "
        "tuples of those"
    )


def _items(text: NDArray[np.uint8]) -> list[Any]:
    return [_restored(item) for item in json.loads(text.tobytes())]


def _restored(item: Any) -> Any:
    return tuple(_restored(part) for part in item["tuple"]) if isinstance(item, dict) else item
