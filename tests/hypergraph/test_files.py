"""Forests in files and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import certus
from certus.hypergraph import Builder, Hypergraph, load
from certus.storage import model_file
from tests.hypergraph.forests import draw


def labelled() -> tuple[Hypergraph, Any]:
    builder = Builder()
    builder.add(("S", 0, 2), [("A", 0, 1), ("A", 1, 2)], label="S -> A A", score=-0.5)
    builder.add(("A", 0, 1), label="<a & b>", score=-1)
    builder.add(("A", 1, 2), label=("x", 1, None, True, 0.5))
    builder.add("useless", label=None)
    return builder.build(("S", 0, 2)), builder.scores


def test_there_and_back(tmp_path: Path) -> None:
    graph, scores = labelled()
    graph.save(tmp_path / "g", scores.astype(np.float32))
    back = load(tmp_path / "g")
    for name in ("heads", "offsets", "tails", "goals"):
        assert getattr(back.graph, name).tolist() == getattr(graph, name).tolist()
    assert (back.graph.names, back.graph.labels, back.graph.nodes) == (graph.names, graph.labels, graph.nodes)
    assert back.scores is not None
    assert back.scores.dtype == np.float32
    assert back.graph.decode(back.scores).score == graph.decode(scores).score
    graph.save(tmp_path / "g")
    assert load(tmp_path / "g").scores is None
    assert Hypergraph.load(tmp_path / "g").count() == 1


@pytest.mark.parametrize("seed", range(5))
def test_random_forests(tmp_path: Path, seed: int) -> None:
    p = draw(np.random.default_rng(seed))
    p.graph.save(tmp_path / "g", p.scores)
    back = load(tmp_path / "g")
    assert back.graph.count(back.scores) == len(p.found)
    assert back.graph.labels is None


def test_what_a_file_cannot_hold(tmp_path: Path) -> None:
    graph = Hypergraph([0], [0, 0], [], 0, labels=[object()])
    with pytest.raises(certus.InvalidInput, match=r"labels\[0\] is <object .* which a file cannot hold"):
        graph.save(tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_damage_is_refused(tmp_path: Path) -> None:
    graph, scores = labelled()
    path = tmp_path / "g"
    graph.save(path, scores)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        with pytest.raises(certus.ModelError):
            load(path)
    for length in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(certus.ModelError):
            load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g"
    arrays = {"heads": [0], "offsets": [0, 1], "tails": [0], "goals": [0]}
    stored = {name: np.array(values, np.int64) for name, values in arrays.items()}
    model_file.write(path, "tagger", stored, {"nodes": 1})
    with pytest.raises(certus.ModelError, match="holds a tagger, not a hypergraph"):
        load(path)
    model_file.write(path, "hypergraph", {}, {"nodes": 1})
    with pytest.raises(certus.ModelError, match="it lacks the array 'heads'"):
        load(path)
    model_file.write(path, "hypergraph", stored, {"nodes": 1})
    with pytest.raises(certus.ModelError, match="impossible hypergraph: the hypergraph has a cycle"):
        load(path)


def test_a_picture(tmp_path: Path) -> None:
    graph, scores = labelled()
    text = graph.draw(tmp_path / "g.svg", scores=scores)
    assert (tmp_path / "g.svg").read_text(encoding="utf-8") == text
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"S 0 2", "A 0 1", "useless", "S -> A A -0.5", "<a & b> -1"} <= set(words)
    boxes = [element for element in root.iter() if element.tag.endswith("rect")]
    assert len(boxes) == 1 + graph.nodes
    colours = [element.get("stroke") for element in boxes[1:]]
    assert colours == ["#c2410c"] * 3 + ["#b8b8b8"]
    plain = graph.draw()
    assert "#c2410c" not in plain
    assert "#c2410c" in graph.draw(derivation=[0, 1, 2])


@pytest.mark.parametrize("seed", range(20))
def test_pictures_are_legible(seed: int) -> None:
    """Nothing lies outside, and boxes do not overlap."""
    p = draw(np.random.default_rng([seed, 1]))
    root = ElementTree.fromstring(p.graph.draw(scores=p.scores))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = []
    for element in list(root.iter())[3:]:
        if element.tag.endswith("rect"):
            x, y, w, h = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + w <= width + 1
            assert y + h <= height + 1
            boxes.append((x, y, w, h))
    assert len(boxes) == p.graph.nodes
    for i, (x, y, w, h) in enumerate(boxes):
        assert all(x + w <= a or a + b <= x or y + h <= c or c + d <= y for a, c, b, d in boxes[:i])


def test_dot(tmp_path: Path) -> None:
    graph, scores = labelled()
    text = graph.draw(tmp_path / "g.dot", scores=scores)
    assert text.startswith("digraph {")
    assert 'n0 [label="S 0 2"' in text
    assert "e0 -> n1" in text
    quoted = Hypergraph([0], [0, 0], [], 0, names=['a "b" \\c'])
    assert r'label="a \"b\" \\c"' in quoted.draw(tmp_path / "q.gv")


def test_too_large_for_a_picture() -> None:
    graph = Hypergraph(np.zeros(201, int), np.zeros(202, int), [], 0)
    with pytest.raises(certus.InvalidInput, match=r"201 edges are too many for a picture.*Prune first"):
        graph.draw()
