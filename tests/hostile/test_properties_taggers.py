"""Taggers whose weights are any floats: every answer is held against exact sums of all label sequences."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certus
from certus import CertusError, Infeasible, InvalidInput
from certus.storage import model_file
from tests.hostile.exact import Exact, describe_terms, sum_exactly
from tests.hostile.strategies import DTYPES, draw_values
from tests.models import invented

SINGLE = DTYPES[1]
WORDS = ("lo", "bakola", "runet", "Zzz", ".")
LEARNERS: dict[str, dict[str, Any]] = {
    "crf": {"order": 1, "epochs": 1},
    "perceptron": {"order": 1, "epochs": 1},
}


@pytest.fixture(scope="module", params=LEARNERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tagger, trained by one of the learners that prune nothing."""
    path = tmp_path_factory.mktemp("models") / f"{request.param}.certus"
    tagger = certus.Tagger("upos", request.param, **LEARNERS[request.param])
    tagger.fit(list(invented.sentences(10, 1, features=False))).save(path)
    return path


def change_weights(path: Path, changed: Path, values: list[float], seed: int) -> None:
    """Write the model with other floats in the place of its own."""
    file, dice = model_file.read(path), np.random.default_rng(seed)
    arrays = dict(file.arrays)
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            arrays[name] = dice.choice(np.array(values), array.shape).astype(array.dtype)
    model_file.write(changed, file.kind, arrays, file.description)


def solve_exactly(tagger: certus.Tagger, words: list[str]) -> Exact:
    """Enumerate all label sequences."""
    emissions, chain = np.asarray(tagger.emissions(words)), tagger.chain
    transitions = np.asarray(chain.transitions)
    ends = [None if x is None else np.asarray(x) for x in (chain.start, chain.end)]
    sums = {}
    for path in product(range(len(tagger.labels)), repeat=len(words)):
        terms = [float(emissions[t, y]) for t, y in enumerate(path)]
        terms += [float(transitions[a, b]) for a, b in pairwise(path)]
        terms += [float(x[y]) for x, y in zip(ends, (path[0], path[-1]), strict=True) if x is not None]
        sums[path] = sum_exactly(terms)
    terms_of = describe_terms([*emissions, *[transitions] * (len(words) - 1), *ends])
    return Exact(sums, terms_of, 8 * len(words), SINGLE)


def test_labels_under_any_weights(model: Path, tmp_path: Path, compared: dict[str, int]) -> None:
    @given(
        draw_values(SINGLE), st.integers(0, 2**32), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
    )
    def check(values: list[float], seed: int, words: list[str]) -> None:
        compared["examples"] += 1
        changed = tmp_path / "changed.certus"
        try:
            change_weights(model, changed, values, seed)
            tagger = certus.load(changed)
            assert isinstance(tagger, certus.Tagger)
            scores = np.asarray(tagger.emissions(words))
        except CertusError:
            compared["refused"] += 1
            return
        told = f"{model.name} {values} {seed} {words}"
        if np.isnan(scores).any() or np.isposinf(scores).any():
            with pytest.raises((InvalidInput, Infeasible)):
                tagger.tag(words)
            return
        exact = solve_exactly(tagger, words)
        try:
            found = tagger.tag(words, infeasible="return")
        except InvalidInput as error:
            exact.check_refusal(error, told)
            compared["refused"] += 1
            return
        compared["answers"] += 1
        if not exact.ranked:
            assert not found.optimal, told
            compared["infeasible"] += 1
            return
        path = tuple(tagger.labels.index(label) for label in found.labels)
        assert path in exact.ranked, told
        assert found.score <= found.bound, told
        assert not found.optimal or exact.is_rank(path, 0), f"{found!r} {exact.best} {told}"
        compared["proven"] += found.optimal

    check()
