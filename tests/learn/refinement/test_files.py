"""Refinement HMMs are kept in files: the same model comes back, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus.errors import InvalidInput, ModelError, NotFitted
from certus.learn.refinement import (
    EmRefinement,
    Features,
    Parameters,
    PlainHmm,
    Refinement,
    Smoothing,
    SpectralRefinement,
    Unigram,
)
from certus.learn.refinement.sampling import sample
from certus.storage import model_file

SENTENCES = sample(Parameters.random(3, 2, 6, seed=1, concentration=0.3), 200, seed=2).list_sentences(
    labels=["A", "B", "C"], observations=["x", "ü", "", "y\0z", "日", "w"]
)
ASKED = [x for x, _ in SENTENCES[:30]] + [["never seen"], []]
MODELS: list[Refinement] = [
    Unigram(),
    PlainHmm(smoothing=0.5),
    SpectralRefinement(3, smoothing=Smoothing(2.0, 1.0, 0.2), deficient="ignore", seed=3),
    EmRefinement(2, iterations=5, restarts=2, seed=4),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Refinement, Path]:
    model = request.param.fit(SENTENCES)
    path = tmp_path_factory.mktemp("refinements") / "m.certus"
    model.save(path)
    return model, path


def test_what_is_saved_comes_back(kept: tuple[Refinement, Path], tmp_path: Path) -> None:
    model, path = kept
    for loaded in (certus.load(path), Refinement.load(path), type(model).load(str(path))):
        assert type(loaded) is type(model)
        assert (loaded.names.labels, loaded.names.observations) == (
            model.names.labels,
            model.names.observations,
        )
        assert loaded._list_settings() == model._list_settings()
        for one, other in zip(loaded.marginals(ASKED), model.marginals(ASKED), strict=True):
            assert (one.raw == other.raw).all()
            assert (one.log_probability, one.level) == (other.log_probability, other.level)
        assert loaded.diagnostics.objective == model.diagnostics.objective
        assert loaded.diagnostics.chosen == model.diagnostics.chosen
        for ours, theirs in zip(loaded.diagnostics.labels, model.diagnostics.labels, strict=True):
            assert (ours.label, ours.samples, ours.problem) == (theirs.label, theirs.samples, theirs.problem)
            for a, b in ((ours.past, theirs.past), (ours.present, theirs.present)):
                assert (a is None) == (b is None)
                if a is not None and b is not None:
                    assert (a.rank, a.sizes, a.singular.tolist()) == (b.rank, b.sizes, b.singular.tolist())
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert loaded.fit(SENTENCES).predict(ASKED) == model.predict(ASKED)


def test_every_array_is_needed(kept: tuple[Refinement, Path], tmp_path: Path) -> None:
    file = model_file.read(kept[1])
    for lacking in file.arrays:
        arrays = {name: array for name, array in file.arrays.items() if name != lacking}
        model_file.write(tmp_path / "m", file.kind, arrays, file.description)
        with pytest.raises(ModelError, match=f"m is damaged .* it lacks the array '{lacking}'"):
            certus.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("model", "name", "change", "message"),
    [
        (2, "follow", lambda a: a[:-1], "'follow' does not fit the ranks of its labels"),
        (2, "follow", lambda a: np.where(np.arange(len(a)), a, np.nan), "'follow' holds nan"),
        (2, "ranks", lambda a: a[:-1], "'ranks' gives 2 for labels, which is 3"),
        (2, "ranks", lambda a: a * 0, "'ranks' holds 0, and nothing below 1"),
        (2, "start", lambda a: a[:-1], "'start' gives . for states"),
        (2, "plain_initial", lambda a: a * 2, "'plain_initial' holds .*, and nothing above 1"),
        (2, "blocks", lambda a: a[:-2], r"'blocks' gives 4 for 2\*labels, which is 6"),
        (3, "emission", lambda a: -a, "'emission' holds .*, and nothing below 0"),
        (3, "emission", lambda a: a[..., :-1] / a[..., :-1].sum(-1, keepdims=True), r"6 for observations\+1"),
        (3, "chosen", lambda a: a[:1], "damaged"),
        (3, "samples", lambda a: a[:1], "'samples' gives 1 for labels, which is 3"),
        (1, "observation_ends", lambda a: a[::-1], "'observation_ends' goes from"),
        (1, "observations", lambda a: np.full_like(a, 255), "damaged"),
        (0, "joint", lambda a: a[:, :-1], r"'joint' gives . for observations\+1"),
    ],
)
def test_arrays_that_make_no_sense(model: int, name: str, change: Any, message: str, tmp_path: Path) -> None:
    MODELS[model].fit(SENTENCES).save(tmp_path / "m")
    file = model_file.read(tmp_path / "m")
    arrays = {**file.arrays, name: np.ascontiguousarray(change(file.arrays[name]))}
    model_file.write(tmp_path / "wrong", file.kind, arrays, file.description)
    with pytest.raises(ModelError, match=message):
        certus.load(tmp_path / "wrong")


def test_files_of_other_things(tmp_path: Path) -> None:
    PlainHmm().fit(SENTENCES).save(tmp_path / "m")
    with pytest.raises(ModelError, match="m holds a PlainHmm, not a EmRefinement"):
        EmRefinement.load(tmp_path / "m")
    model_file.write(tmp_path / "p", "parser", {}, {})
    with pytest.raises(ModelError, match="p holds a parser, not a refinement"):
        Refinement.load(tmp_path / "p")
    file = model_file.read(tmp_path / "m")
    for wrong in ({"estimator": "x"}, {"settings": {"y": 1}}, {"labels": 3}):
        model_file.write(tmp_path / "w", file.kind, file.arrays, {**file.description, **wrong})
        with pytest.raises(ModelError, match="w is damaged or of another version"):
            certus.load(tmp_path / "w")
    with pytest.raises(NotFitted, match="call fit first"):
        PlainHmm().save(tmp_path / "n")
    assert not (tmp_path / "n").exists()


def test_functions_do_not_come_back(tmp_path: Path) -> None:
    def future(labels: Any, seen: Any) -> list[Any]:
        return [tuple(seen[:2])]

    model = SpectralRefinement(2, features=Features(future=future), deficient="ignore").fit(SENTENCES)
    model.save(tmp_path / "m")
    loaded = certus.load(tmp_path / "m")
    assert loaded.predict(ASKED) == model.predict(ASKED)
    with pytest.raises(InvalidInput, match="features of this model were functions, which its file"):
        loaded.fit(SENTENCES)
