"""Models are kept and opened: the same answers, mapped not read, and nothing but whole models."""

from __future__ import annotations

import importlib
import json
import mmap
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus import ModelError, Tagger
from certus.learn.learners import LEARNERS
from certus.models import loading
from certus.storage import model_file
from tests.models import invented

EPOCHS: dict[str, dict[str, Any]] = {
    name: {} if name in ("hmm", "refinement") else {"epochs": 3} for name in LEARNERS
}
pytestmark = pytest.mark.filterwarnings("ignore::certus.learn.refinement.RefinementWarning")


@pytest.fixture(scope="module", params=LEARNERS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tagger, Path]:
    tagger = Tagger("upos+feats", request.param, **EPOCHS[request.param]).fit(invented.sentences(80, 1))
    path = tmp_path_factory.mktemp("models") / "m.certus"
    tagger.save(path)
    return tagger, path


def test_a_loaded_model_answers_the_same(trained: tuple[Tagger, Path]) -> None:
    tagger, path = trained
    words = invented.words(40, 3)
    for loaded in (certus.load(path), certus.load(str(path)), Tagger.load(path)):
        assert (loaded.labels, loaded.columns) == (tagger.labels, tagger.columns)
        assert (loaded.target, loaded.learner) == (tagger.target, tagger.learner)
        assert loaded.description == tagger.description
        k = 1 if tagger.learner.name == "refinement" else 2
        before: Any
        after: Any
        before, after = ([one.tag_batch(words, confidence=True, k=k)] for one in (tagger, loaded))
        if k > 1:
            before, after = before[0], after[0]
        for several, others in zip(before, after, strict=True):
            for one, other in zip(several, others, strict=True):
                assert one.labels == other.labels
                assert (one.score, one.probability) == (other.score, other.probability)
                assert one.confidence == other.confidence


def test_a_loaded_model_is_saved_to_the_same_bytes(trained: tuple[Tagger, Path], tmp_path: Path) -> None:
    certus.load(trained[1]).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == trained[1].read_bytes()


def test_a_loaded_model_can_be_trained_again(trained: tuple[Tagger, Path]) -> None:
    loaded = certus.load(trained[1])
    loaded.fit(invented.sentences(80, 1))
    assert loaded.tag(["lo", "."]).labels == trained[0].tag(["lo", "."]).labels


def test_loading_maps_the_file(trained: tuple[Tagger, Path]) -> None:
    loaded = certus.load(trained[1])
    for name, array in loaded._arrays.items():
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        held = base.obj if isinstance(base, memoryview) else base
        assert isinstance(held, mmap.mmap), f"{name} was copied"
        assert not array.flags.writeable


def test_a_model_may_be_replaced_or_removed_while_it_is_used(
    trained: tuple[Tagger, Path], tmp_path: Path
) -> None:
    path = tmp_path / "m.certus"
    path.write_bytes(trained[1].read_bytes())
    loaded = certus.load(path)
    Tagger("upos", "hmm").fit(invented.sentences(5, 2)).save(path)
    assert loaded.tag(["lo", "."]).labels == trained[0].tag(["lo", "."]).labels
    path.unlink()
    assert loaded.tag(["lo"]).labels == trained[0].tag(["lo"]).labels


def test_what_is_cut_off_is_refused(trained: tuple[Tagger, Path], tmp_path: Path) -> None:
    whole = trained[1].read_bytes()
    path = tmp_path / "cut.certus"
    for size in (0, 1, 8, 9, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelError, match=r"cut\.certus"):
            certus.load(path)


def test_a_model_of_a_newer_version(trained: tuple[Tagger, Path], tmp_path: Path) -> None:
    whole = trained[1].read_bytes()
    newer = re.sub(rb'"certus":"1"', b'"certus":"2"', whole)
    assert newer != whole
    (tmp_path / "new.certus").write_bytes(newer)
    with pytest.raises(ModelError, match=r"new.certus was written by a newer Certus .* upgrade with pip"):
        certus.load(tmp_path / "new.certus")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "owl",
            "holds a owl, which is no model to load; give one of these kinds: tagger, parser, ",
        ),
        ("checkpoint", "holds a checkpoint, which is no model to load; start its training again"),
    ],
)
def test_a_model_of_another_kind(kind: str, message: str, tmp_path: Path) -> None:
    model_file.write(tmp_path / "m", kind, {}, {})
    with pytest.raises(ModelError, match=message):
        certus.load(tmp_path / "m")
    with pytest.raises(ModelError, match=f"holds a {kind}, not a tagger"):
        Tagger.load(tmp_path / "m")


def test_what_is_no_model_at_all(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The dog barks.\n", encoding="utf-8")
    with pytest.raises(ModelError, match="text"):
        certus.load(tmp_path / "text")
    with pytest.raises(ModelError, match="nothing: there is no such file or folder; check the path"):
        certus.load(tmp_path / "nothing")
    with pytest.raises(ModelError, match="it is a folder"):
        certus.load(tmp_path)


@pytest.mark.parametrize("lacking", ["options", "labels", "target", "learner"])
def test_descriptions_that_lack_something(lacking: str, trained: tuple[Tagger, Path], tmp_path: Path) -> None:
    file = model_file.read(trained[1])
    about = {name: value for name, value in file.description.items() if name != lacking}
    model_file.write(tmp_path / "m", "tagger", file.arrays, about)
    with pytest.raises(ModelError, match=f"m is damaged or of another version: it lacks '{lacking}'"):
        certus.load(tmp_path / "m")


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"unheard_of": 1}},
        {"options": []},
        {"learner": "svm"},
        {"target": ""},
        {"target": 5},
        {"templates": ["words[0]"]},
        {"columns": ["word", "pos"]},
        {"labels": 7},
    ],
)
def test_descriptions_that_make_no_sense(change: dict[str, Any], tmp_path: Path) -> None:
    Tagger("upos", "perceptron", epochs=1).fit(invented.sentences(5, 1)).save(tmp_path / "m")
    file = model_file.read(tmp_path / "m")
    model_file.write(tmp_path / "changed", "tagger", file.arrays, {**file.description, **change})
    with pytest.raises(ModelError, match="changed is damaged or of another version"):
        certus.load(tmp_path / "changed")


def test_every_array_is_needed(trained: tuple[Tagger, Path], tmp_path: Path) -> None:
    file = model_file.read(trained[1])
    for lacking in file.arrays:
        # Counts for people; words for consistency; what makes proofs and staggered decoding cheaper.
        if lacking in ("features", "weights", "known", "ngram_sequences", "label_counts"):
            continue
        arrays = {name: array for name, array in file.arrays.items() if name != lacking}
        model_file.write(tmp_path / "m", "tagger", arrays, file.description)
        with pytest.raises(ModelError, match=r"m is damaged or of another version: .*lacks"):
            certus.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("learner", "name", "value", "message"),
    [
        ("perceptron", "transition_from", 10**6, r"'transition_from' holds 1000000, and all must be below 7"),
        ("perceptron", "transition_to", -1, "'transition_to' holds -1, and nothing below 0"),
        ("perceptron", "step", np.nan, "'step' holds nan"),
        ("hmm", "labels", 250, "'labels' holds 250, and all must be below 6"),
        ("hmm", "vocabulary", 255, "codec can't decode"),
    ],
)
def test_arrays_that_make_no_sense(
    learner: str, name: str, value: float, message: str, tmp_path: Path
) -> None:
    Tagger("upos", learner, **EPOCHS[learner]).fit(invented.sentences(20, 1)).save(tmp_path / "m")
    file = model_file.read(tmp_path / "m")
    changed = np.array(file.arrays[name])
    changed.reshape(-1)[0] = value
    model_file.write(tmp_path / "changed", "tagger", {**file.arrays, name: changed}, file.description)
    with pytest.raises(ModelError, match=f"changed is damaged or of another version: .*{message}"):
        certus.load(tmp_path / "changed")


def test_a_full_disk_leaves_the_old_model(
    trained: tuple[Tagger, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    path, checkpoint = tmp_path / "m.certus", tmp_path / "m.checkpoint"
    path.write_bytes(b"the old one")
    checkpoint.write_bytes(b"kept")
    tagger = trained[0]
    monkeypatch.setattr(tagger, "_checkpoint", checkpoint)

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match=r"m.certus: No space left on device; nothing was left behind"):
        tagger.save(path)
    assert path.read_bytes() == b"the old one"
    assert checkpoint.exists(), "training must not be lost with the model"
    assert sorted(os.listdir(tmp_path)) == ["m.certus", "m.checkpoint"]
    monkeypatch.undo()
    monkeypatch.setattr(tagger, "_checkpoint", checkpoint)
    tagger.save(path)
    assert not checkpoint.exists()


def test_without_the_english_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "DEFAULT", "xx.certus")
    with pytest.raises(ModelError, match="comes without its English model; name a model file"):
        certus.load()


EMBEDDED = Path(loading.find_default_tagger())


@pytest.mark.skipif(not EMBEDDED.exists(), reason="the English model is not part of this copy")
def test_the_english_model() -> None:
    tagger = certus.load()
    words = ["She", "quickly", "wrote", "three", "letters", "."]
    found = tagger.target.fill(_built(words), tagger.tag(words).labels)["upos"]
    assert found == ["PRON", "ADV", "VERB", "NUM", "NOUN", "PUNCT"]
    model_file.verify(EMBEDDED)
    about = json.dumps(tagger.description)
    assert "CC BY-SA" in about
    assert "EWT" in about


def _built(words: list[str]) -> Any:
    from certus.formats import build

    return build(words)


def test_every_kind_that_is_saved_is_opened(tmp_path: Path) -> None:
    model = certus.CRF(max_iterations=5).fit([[{"word": "a"}, {"word": "b"}]], [["X", "Y"]])
    model.save(tmp_path / "crf")
    loaded = certus.load(tmp_path / "crf")
    assert isinstance(loaded, certus.CRF)
    assert loaded.predict_single([{"word": "a"}, {"word": "b"}]) == ["X", "Y"]
    for kind, (module, name) in loading.OPENERS.items():
        assert callable(getattr(importlib.import_module(module), name).from_file), kind
