"""Hypergraph files that were changed and given a new checksum are refused as damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certus import ModelError
from certus.hypergraph import Hypergraph, load
from certus.storage import model_file


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("names", np.frombuffer(b'\x00\x00\x00\xff["a"]', np.uint8)),
        ("names", np.frombuffer(b'["a", {"pair": 1}]', np.uint8)),
        ("names", np.frombuffer(b"7", np.uint8)),
        ("names", np.frombuffer(b"[" * 100_000, np.uint8)),
        ("heads", np.array([1.5, 0.5])),
        ("heads", np.array([7, -1])),
        ("tails", np.array([[0]])),
        ("offsets", np.array([0, 2, 1])),
        ("goals", np.array([[1]])),
        ("goals", np.zeros(0, np.int64)),
        ("scores", np.array([np.nan, 0.0])),
        ("scores", np.zeros(3)),
    ],
)
def test_a_changed_array_is_refused(name: str, array: Any, tmp_path: Path) -> None:
    path = tmp_path / "graph.certus"
    Hypergraph([1, 0], [0, 1, 1], [0], 1, names=["a", "b"]).save(path, [0.5, 1.0])
    file = model_file.read(path)
    model_file.write(path, file.kind, {**file.arrays, name: array}, file.description)
    with pytest.raises(ModelError, match=path.name):
        load(path)


@pytest.mark.parametrize("nodes", [0, -1, 2**31, 2**62, "x", None])
def test_a_number_of_nodes_that_cannot_be_is_refused(nodes: Any, tmp_path: Path) -> None:
    path = tmp_path / "graph.certus"
    Hypergraph([1, 0], [0, 1, 1], [0], 1).save(path)
    file = model_file.read(path)
    model_file.write(path, file.kind, file.arrays, {"nodes": nodes})
    with pytest.raises(ModelError, match=path.name):
        load(path)
