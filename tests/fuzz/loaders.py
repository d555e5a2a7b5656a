"""Targets that load models: files whose header and arrays were changed and whose checksum is right again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import certus
from certus import hypergraph
from certus.errors import CertusError
from certus.storage import model_file
from tests.fuzz.choices import Choices
from tests.models import invented, invented_treebank
from tests.syntax import invented_trees

Model = tuple[str, dict[str, Any], dict[str, Any]]  # kind, arrays, description
VALUES: tuple[Any, ...] = (
    None,
    -1,
    0,
    1,
    2,
    2**31,
    2**63,
    -(2**63),
    1e308,
    -0.5,
    "",
    "x",
    "word",
    [],
    [0],
    {},
    True,
)
DTYPES = [np.dtype(name) for name in ("f4", "f8", "i4", "i8", "u1", "u4", "u8", "i2")]
LEARNERS: dict[str, dict[str, Any]] = {
    "hmm": {},
    "perceptron": {"epochs": 1},
    "crf": {"order": 1, "epochs": 1},
    "pruned-crf": {"epochs": 1},
    "latent-crf": {"latent": 2, "epochs": 1},
    "refinement": {"hidden": 2},
}


def make_models(folder: Path) -> dict[str, Callable[[], Path]]:
    """Return what makes a small model of each kind."""

    def make_tagger(learner: str) -> Path:
        path = folder / f"{learner}.certus"
        options = LEARNERS[learner]
        certus.Tagger("upos", learner, **options).fit(list(invented.sentences(30, 1))).save(path)
        return path

    def make_parser() -> Path:
        path = folder / "parser.certus"
        certus.ConstituencyParser().fit(invented_trees.trees(10)).save(path)
        return path

    def make_crf() -> Path:
        path = folder / "crf-items.certus"
        items = [[{"word": word} for word in words] for words in invented.words(5, 1)]
        labels = [["A" if n % 2 else "B" for n in range(len(words))] for words in items]
        certus.CRF(max_iterations=2).fit(items, labels).save(path)
        return path

    def make_graph() -> Path:
        path = folder / "graph.certus"
        graph = hypergraph.Hypergraph([1, 1, 0], [0, 1, 2, 2], [0, 0], 1, names=["a", ("b", 1)])
        graph.save(path, [0.5, 1.0, 2.0])
        return path

    def make_dependency_parser() -> Path:
        path = folder / "dependency-parser.certus"
        parser = certus.DependencyParser(hash_bits=10, epochs=1)
        parser.fit(invented_treebank.sentences(10, 1)).save(path)
        return path

    def make_aligner() -> Path:
        path = folder / "aligner.certus"
        words = invented.words(20, 1)
        certus.Aligner().fit(words, [[word.upper() for word in line] for line in words]).save(path)
        return path

    def make_language_model() -> Path:
        path = folder / "language-model.certus"
        certus.LanguageModel(3).fit(invented.words(20, 1)).save(path)
        return path

    taggers = {learner: partial(make_tagger, learner) for learner in LEARNERS}
    return {
        **taggers,
        "parser": make_parser,
        "crf-items": make_crf,
        "hypergraph": make_graph,
        "dependency-parser": make_dependency_parser,
        "aligner": make_aligner,
        "language-model": make_language_model,
    }


def read_model(path: Path) -> Model:
    """Return the parts of a model, free to be changed."""
    file = model_file.read(path)
    return file.kind, {name: np.array(array) for name, array in file.arrays.items()}, file.description


def change_model(model: Model, choices: Choices) -> Model:
    """Change a few things of a model: numbers, sizes, types and names of arrays, and what is said of them."""
    kind, arrays, description = model
    arrays = dict(arrays)
    while choices.left > 2:
        name = choices.pick(sorted(arrays) or [""])
        action = choices.below(6)
        if action == 5:
            description = _change_value(description, choices)
        elif name in arrays:
            _change_array(arrays, name, action, choices)
    return kind, arrays, description


def _change_array(arrays: dict[str, Any], name: str, action: int, choices: Choices) -> None:
    array = np.array(arrays[name])
    if action == 0:
        del arrays[name]
    elif action == 1:
        arrays[name] = np.resize(array, max(0, array.size + choices.below(5) - 2))
    elif action == 2:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(choices.pick(DTYPES))
    elif array.size:
        place = choices.below(array.size)
        array.reshape(-1)[place] = choices.numbers(array.dtype, 1)[0]
        arrays[name] = array


def _change_value(value: Any, choices: Choices) -> Any:
    """Return a description with one value somewhere inside replaced."""
    if isinstance(value, dict) and value and choices.below(8):
        key = choices.pick(sorted(value))
        return {**value, key: _change_value(value[key], choices)}
    if isinstance(value, list) and value and choices.below(8):
        place = choices.below(len(value))
        return [*value[:place], _change_value(value[place], choices), *value[place + 1 :]]
    return choices.pick(VALUES)


def load_changed(model: Model, data: bytes, path: Path) -> None:
    """Write a changed model with the checksum that it needs, load it and use it."""
    kind, arrays, description = change_model(model, Choices(data))
    try:
        model_file.write(path, kind, arrays, description if isinstance(description, dict) else {})
    except CertusError:
        return
    load_and_use(path)


def load_bytes(data: bytes, path: Path) -> None:
    """Load any bytes as a model."""
    path.write_bytes(data)
    load_and_use(path)


def load_and_use(path: Path) -> None:
    """Load a model of any kind and ask it for an answer."""
    with suppress(CertusError):
        if model_file.read(path).kind == "hypergraph":
            use_graph(path)
            return
        found: Any = certus.load(path)
        if isinstance(found, certus.Tagger):
            found.tag(["lo", "bakola", "Zzz"], k=2, infeasible="return")
            found.tag(["lo"], confidence=True, infeasible="return")
        elif isinstance(found, certus.CRF):
            found.predict([[{"word": "lo"}, {"word": "Zzz"}]])
        elif isinstance(found, certus.ConstituencyParser):
            found.parse(["the", "dog", "Zzz"], infeasible="return")
        elif isinstance(found, certus.DependencyParser):
            found.parse(next(invented_treebank.sentences(1, 2)))
        elif isinstance(found, certus.Aligner):
            found.align(["lo", "bakola", "Zzz"], ["LO", "Zzz"])
            list(found.lexicon())
        elif isinstance(found, certus.LanguageModel):
            found.score_words(["lo", "bakola", "Zzz"])


def use_graph(path: Path) -> None:
    """Load a forest and solve it."""
    loaded = hypergraph.load(path)
    scores = np.zeros(loaded.graph.edges) if loaded.scores is None else loaded.scores
    loaded.graph.decode(scores, infeasible="return")
    loaded.graph.decode(scores, k=3, infeasible="return")
