"""A damaged model file is refused, or is another model: it never crashes and never asks for much memory."""

from __future__ import annotations

import os
import resource
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus import CRF, Aligner, ConstituencyParser, DependencyParser, ModelError, Tagger, Translator
from certus.annotation.trees import Tree
from certus.errors import CertusError
from certus.formats import brackets
from certus.hypergraph import Hypergraph
from certus.learn.refinement import EmRefinement, PlainHmm, SpectralRefinement, Unigram
from certus.models import loading
from certus.storage import model_file
from tests.align.test_models import make_pairs
from tests.hostile import test_resuming as resuming
from tests.models import invented, invented_treebank

MUTATIONS = min(2000, max(200, int(os.environ.get("CERTUS_PROBLEMS", 100_000)) // 150))
ROOM = 1 << 30  # bytes of address space that a test may take beside what it has
PAIRS = "word[0]\npair bias\n"
WORDS = ["lo", "dog", "."]
TREES = ["(S (NP (D the) (N dog)) (VP (V barks)))", "(S (NP (N dogs)) (VP (V see) (NP (D the) (N cat))))"]


def fit_tagger(learner: str, **options: Any) -> Callable[[], Tagger]:
    return lambda: Tagger("upos+feats", learner, **options).fit(invented.sentences(20, 1))


def fit_refinement(model: Any) -> Callable[[], Any]:
    pairs = [
        ([token[0] for token in tokens], [token[1] for token in tokens]) for tokens in invented.tokens(20, 1)
    ]
    return lambda: model.fit(pairs)


def fit_crf() -> CRF:
    tokens = invented.tokens(20, 1)
    X = [[{"word": token[0], "bias": 1.0} for token in sentence] for sentence in tokens]
    return CRF(max_iterations=5).fit(X, [[token[1] for token in sentence] for sentence in tokens])


def read_trees() -> list[Tree]:
    return [tree for text in TREES for tree in brackets.parse(text)]


MODELS: dict[str, Callable[[], Any]] = {
    "pruned-crf": fit_tagger("pruned-crf", epochs=2),
    "perceptron": fit_tagger("perceptron", epochs=2),
    "crf": fit_tagger("crf", epochs=2),
    "crf of pairs": fit_tagger("crf", epochs=2, algorithm="lbfgs", templates=PAIRS),
    "latent-crf": fit_tagger("latent-crf", epochs=2, latent=2),
    "hmm": fit_tagger("hmm"),
    "refinement": fit_tagger("refinement", hidden=2),
    "refinement by em": fit_tagger("refinement", hidden=2, estimator="em", iterations=3),
    "spectral": fit_refinement(SpectralRefinement(2, deficient="ignore")),
    "em": fit_refinement(EmRefinement(2, iterations=3)),
    "plain hmm": fit_refinement(PlainHmm()),
    "unigram": fit_refinement(Unigram()),
    "parser": lambda: ConstituencyParser().fit(read_trees()),
    "items": fit_crf,
    "aligner": lambda: Aligner().fit(*make_pairs(1, 20)),
    "translator": lambda: Translator(tuning=0, order=2).fit(*make_pairs(1, 20)),
    "dependencies": lambda: DependencyParser(epochs=2, hash_bits=10).fit(
        invented_treebank.sentences(20, 1), invented_treebank.sentences(5, 2)
    ),
}


@cache
def pack(name: str) -> bytes:
    """Return the file of a small model."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS[name]().save(Path(folder) / "m")
        return (Path(folder) / "m").read_bytes()


def load(data: bytes) -> Any:
    return loading.open_file(model_file.unpack(data))


def use(model: Any) -> object:
    """Have a model answer, in whatever way its kind has."""
    if isinstance(model, Tagger):
        return model.tag(WORDS, confidence=True)
    if isinstance(model, CRF):
        return model.predict_marginals([[{"word": word, "bias": 1.0} for word in WORDS]])
    if isinstance(model, ConstituencyParser):
        return model.parse(["the", "dog", "barks"], infeasible="return")
    if isinstance(model, DependencyParser):
        columns = {name: WORDS for name in model.columns}
        return model.parse(columns, infeasible="return")
    if isinstance(model, Aligner):
        return model.align(["w1", "lo", "w2"], ["1W", "2W"])
    if isinstance(model, Translator):
        return model.translate(["w1", "lo", "w2"], seconds=1, infeasible="return")
    return model.predict([WORDS])


def flip(dice: np.random.Generator, data: bytes) -> bytes:
    changed = bytearray(data)
    for place in dice.integers(0, len(data), dice.integers(1, 5)):
        changed[place] ^= 1 << int(dice.integers(8))
    return bytes(changed)


def change_array(dice: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with other values, of another size or of another type."""
    way, changed = dice.integers(6), np.array(array)
    if way == 0:
        return changed.reshape(-1)[: dice.integers(changed.size + 1)]
    if way == 1:
        return np.concatenate([changed.reshape(-1)] * 2)
    if way == 2:
        return changed.astype(dice.choice(np.array(["f4", "f8", "i4", "i8", "u1", "u4"])))
    flat = changed.reshape(-1)
    if flat.size:
        info: Any = np.finfo(flat.dtype) if flat.dtype.kind == "f" else np.iinfo(flat.dtype)
        values = [info.min, info.max, 0, 1, flat[dice.integers(flat.size)]]
        if flat.dtype.kind == "f":
            values += [np.nan, np.inf, -np.inf, -1, 1e-310]
        flat[dice.integers(flat.size, size=dice.integers(1, 4))] = values[dice.integers(len(values))]
    return changed


def change_description(dice: np.random.Generator, value: Any) -> Any:
    """Return a description with something in it changed, anywhere."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        name = list(value)[dice.integers(len(value))]
        return {**value, name: change_description(dice, value[name])}
    if isinstance(value, list) and value and dice.random() < 0.6:
        place = int(dice.integers(len(value)))
        return [*value[:place], change_description(dice, value[place]), *value[place + 1 :]]
    if isinstance(value, list) and value:
        return [value[:-1], value * 2, [*value, *(f"N{n}" for n in range(20_000))]][dice.integers(3)]
    others = [0, -1, 1, 3, 10**6, 10**9, 2**62, 10**30, -(10**30), 0.5, 1e300, "", "x", [], {}, None, True]
    return others[dice.integers(len(others))]


def mutate(dice: np.random.Generator, data: bytes) -> bytes:
    way, file = dice.random(), model_file.unpack(data)
    if way < 0.3:
        return flip(dice, data)
    arrays, description = dict(file.arrays), file.description
    name = list(arrays)[dice.integers(len(arrays))]
    if way < 0.35:
        del arrays[name]
    elif way < 0.7:
        arrays[name] = change_array(dice, arrays[name])
    else:
        description = change_description(dice, description)
    return model_file.pack(file.kind, arrays, description)


@pytest.fixture
def limited() -> Iterator[None]:
    """Limit memory: to ask for much more than there is in a small file is a fault of its own."""
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", MODELS)
def test_a_damaged_file_is_refused_or_is_another_model(name: str, limited: None) -> None:
    data, refused = pack(name), 0
    use(load(data))
    for seed in range(MUTATIONS):
        try:
            changed = mutate(np.random.default_rng((seed, len(data))), data)
            model = load(changed)
        except ModelError:
            refused += 1
            continue
        except BaseException as error:
            raise AssertionError(f"mutation {seed}: {error!r}") from error
        try:
            use(model)
        except CertusError:
            pass  # such as a model that forbids everything
        except BaseException as error:
            raise AssertionError(f"mutation {seed}, used: {error!r}") from error
    assert refused > MUTATIONS / 4


def test_a_small_file_does_not_ask_for_much_memory(limited: None) -> None:
    file = model_file.unpack(pack("hmm"))
    offsets = np.array(file.arrays["offsets"])
    offsets[2] = 1 << 32
    with pytest.raises(ModelError, match=r"array 'offsets' goes from 4294967296 to .* after entry 2"):
        load(model_file.pack(file.kind, {**file.arrays, "offsets": offsets}, file.description))


def test_an_error_of_a_model_is_an_error_of_a_value() -> None:
    assert issubclass(certus.ModelError, ValueError)


@pytest.mark.parametrize("run", resuming.RUNS)
def test_a_damaged_checkpoint_is_refused_or_goes_on(run: str, limited: None, tmp_path: Path) -> None:
    with pytest.raises(resuming.Killed):
        resuming.fit(run, checkpoint=tmp_path / "c", progress=resuming.kill_after(3))
    data, refused = (tmp_path / "c").read_bytes(), 0
    for seed in range(MUTATIONS // 20):
        (tmp_path / "c").write_bytes(mutate(np.random.default_rng((seed, len(data))), data))
        try:
            resuming.fit(run, checkpoint=tmp_path / "c")
        except ModelError:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"mutation {seed}: {error!r}") from error
    assert refused


def test_a_damaged_forest_is_refused_or_is_another(limited: None, tmp_path: Path) -> None:
    graph = Hypergraph([2, 2, 3], [0, 1, 2, 4], [0, 1, 2, 1], 3, labels=["a", "b", ("c", 1)], names=[*"xyzw"])
    graph.save(tmp_path / "g", [1.0, 2.0, 3.0])
    data, refused = (tmp_path / "g").read_bytes(), 0
    for seed in range(MUTATIONS):
        (tmp_path / "g").write_bytes(mutate(np.random.default_rng((seed, len(data))), data))
        try:
            found = certus.load(tmp_path / "g")
        except ModelError:
            refused += 1
            continue
        with suppress(CertusError):
            found.graph.decode(found.graph.check_scores(found.scores), k=2)
    assert refused > MUTATIONS / 2
