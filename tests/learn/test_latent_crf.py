"""Taggers whose labels have latent states: learning, resuming, saving, answering, and the command line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import certus
from certus import Tagger
from certus.cli.app import app
from certus.errors import InvalidInput, ModelError
from certus.latent import BHP, BMP, LDI, MBR
from certus.learn import checkpoint as keeping
from certus.learn.progress import Progress
from tests.models import invented


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("latent") / "train.txt"
    path.write_text(invented.columns(80, 1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tagger(train: Path) -> Tagger:
    return fitted(train)


def fitted(train: Path, *, dev: bool = False, **given: Any) -> Tagger:
    kept = {name: given.pop(name) for name in ("checkpoint", "progress", "threads") if name in given}
    made = Tagger(
        "chunk", "latent-crf", templates="word[0]\nword[-1]", **{"latent": 2, "epochs": 12, **given}
    )
    return made.fit(train, train if dev else None, columns="word pos chunk", **kept)


def kill_after(epochs: int) -> Callable[[Progress], None]:
    def progress(told: Progress) -> None:
        if told.epoch == epochs:
            raise KeyboardInterrupt

    return progress


WORDS = invented.words(30, 2)


def test_it_learns(tagger: Tagger) -> None:
    right = [[token[3] for token in one] for one in invented.tokens(30, 2)]
    assert invented.share([tagger.tag(words).labels for words in WORDS], right) > 0.85


def test_saved_and_loaded_it_says_the_same(tagger: Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    assert loaded.learner == tagger.learner
    for words in WORDS:
        one, other = tagger.tag(words, confidence=True), loaded.tag(words, confidence=True)
        assert (one.labels, one.score, one.confidence) == (other.labels, other.score, other.confidence)


def test_answers_carry_their_probability_and_their_proof(tagger: Tagger) -> None:
    names = tagger.labels
    for words in WORDS:
        found = tagger.tag(words, confidence=True)
        scores = tagger.latent.score_states([[words]])
        labels = [names.index(label) for label in found.labels]
        marginals = tagger.latent.chain.marginals(scores)
        exact = tagger.latent.chain.log_probability(scores, labels)
        assert found.score == pytest.approx(exact + marginals.log_partition)
        assert found.probability == pytest.approx(math.exp(exact))
        assert found.optimal
        assert found.bound == found.score
        assert found.confidence == pytest.approx(marginals.confidence(labels), rel=1e-5)


def test_the_k_best(tagger: Tagger) -> None:
    for words in WORDS[:10]:
        five = tagger.tag(words, k=5)
        assert [one.score for one in five] == sorted((one.score for one in five), reverse=True)
        assert five[0].labels == tagger.tag(words).labels
        assert len({tuple(one.labels) for one in five}) == 5
        assert all(one.optimal for one in five)


def test_constraints(tagger: Tagger) -> None:
    legal = certus.bio(tagger.labels)
    for words in WORDS[:10]:
        allowed = [["O", "B-PP"] if place % 2 else None for place in range(len(words))]
        found = tagger.tag(words, legal=legal, allowed=allowed, confidence=True, infeasible="return")
        if found.position is not None:
            continue
        assert all(label in ("O", "B-PP") for label in found.labels[1::2])
        assert legal.accepts([tagger.labels.index(label) for label in found.labels])
    free = tagger.tag(WORDS[0]).labels
    held = tagger.tag(WORDS[0], dictionary={WORDS[0][0]: ["O"]}).labels
    assert held[0] == "O"
    assert free[0] == "B-NP"


def test_other_inferences(tagger: Tagger) -> None:
    latent = tagger.latent
    best = [tagger.tag(words) for words in WORDS]
    try:
        for inference in (
            BHP(),
            BMP(),
            LDI(steps=1),
            MBR(gain="spans"),
            MBR(gain=lambda a, b: float((a == b).all())),
        ):
            latent.inference = inference
            for words, one in zip(WORDS, best, strict=True):
                found = tagger.tag(words)
                assert found.score <= one.score + 1e-12
                assert found.bound >= one.score - 1e-12
                assert not found.optimal or found.score == pytest.approx(one.score)
        with pytest.raises(InvalidInput, match="finds one label sequence"):
            tagger.tag(WORDS[0], k=2)
    finally:
        latent.inference = LDI()


def test_threads_and_batches_change_nothing(train: Path, tagger: Tagger) -> None:
    other = fitted(train, threads=3)
    one_by_one = [tagger.tag(words, confidence=True) for words in WORDS]
    for threads in (1, 4):
        for one, found in zip(
            one_by_one, other.tag_batch(WORDS, confidence=True, threads=threads), strict=True
        ):
            assert (one.labels, one.score, one.bound) == (found.labels, found.score, found.bound)
            assert one.confidence == found.confidence


@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize("killed", [1, 5, 9])
def test_an_interrupted_training_goes_on_to_the_same_digits(
    train: Path, tmp_path: Path, dev: bool, killed: int
) -> None:
    options: dict[str, Any] = {"dev": dev, "restarts": 3, "epochs": 4, "patience": 2}
    whole = fitted(train, **options)
    with pytest.raises(KeyboardInterrupt):
        fitted(train, checkpoint=tmp_path / "c", progress=kill_after(killed), **options)
    resumed = fitted(train, checkpoint=tmp_path / "c", **options)
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_of_several_beginnings_the_best_is_kept(train: Path) -> None:
    losses: dict[int, float] = {}

    def progress(told: Progress) -> None:
        losses[told.epoch] = told.loss

    several = fitted(train, restarts=4, epochs=6, progress=progress)
    ends = [losses[epoch] for epoch in (6, 12, 18, 24)]
    assert len(set(ends)) == 4
    best = int(np.argmin(ends))
    alone = fitted(train, epochs=6)
    same = [several.tag(words).score == alone.tag(words).score for words in WORDS]
    assert all(same) == (best == 0)


def test_a_seed_decides_where_training_begins(train: Path) -> None:
    scores = [[fitted(train, seed=seed, epochs=3).tag(words).score for words in WORDS] for seed in (0, 0, 1)]
    assert scores[0] == scores[1] != scores[2]


def test_one_state_a_label_learns_what_a_crf_learns(train: Path) -> None:
    latent = fitted(train, latent=1, epochs=200)
    plain = Tagger(
        "chunk", "crf", templates="word[0]\nword[-1]", algorithm="lbfgs", c1=0.0, c2=0.5, epochs=200
    ).fit(train, columns="word pos chunk")
    for words in WORDS:
        one, other = latent.tag(words, confidence=True), plain.tag(words, confidence=True)
        assert one.labels == other.labels
        assert one.probability == pytest.approx(other.probability, rel=2e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"latent": 0}, "latent is 0; it must be at least 1"),
        ({"restarts": 0}, "restarts is 0"),
        ({"variance": 0.0}, "variance is 0.0"),
        ({"inference": "viterbi"}, "inference is 'viterbi'; there are ldi, bhp, bmp, mbr"),
        ({"order": 2}, "order is no option of the learner latent-crf"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tagger("chunk", "latent-crf", **options)


def test_a_model_with_other_arrays_is_refused(tagger: Tagger, tmp_path: Path) -> None:
    from certus.storage import model_file

    tagger.save(tmp_path / "m")
    kept = model_file.read(tmp_path / "m")
    about = {**kept.description, "options": {**kept.description["options"], "latent": 1}}
    model_file.write(tmp_path / "n", "tagger", dict(kept.arrays), about)
    with pytest.raises(ModelError, match="damaged or of another version"):
        certus.load(tmp_path / "n")


def test_a_tagger_without_latent_states_has_none(train: Path) -> None:
    tagger = Tagger("pos", "perceptron", epochs=1).fit(train)
    with pytest.raises(InvalidInput, match="latent states are what a trained latent-crf has"):
        tagger.latent  # noqa: B018


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_line(train: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "m.certus")
    (tmp_path / "templates").write_text("word[0]\nword[-1]\n", encoding="utf-8")
    options = ["--target", "chunk", "--columns", "word pos chunk", "--epochs", "5", "-q"]
    options += ["--templates", str(tmp_path / "templates")]
    invoke("train", "tagger", str(train), "--learner", "latent-crf", "--latent", "2", *options, "-o", model)
    text = " ".join(WORDS[0])
    plain = invoke("tag", model, text)
    assert plain.count("B-NP") >= 1
    assert "# rank = 3" in invoke("tag", model, text, "-k", "3", "--confidence")
    for inference in ("ldi", "bhp", "bmp", "mbr"):
        assert len(invoke("tag", model, text, "--inference", inference).splitlines()) == len(
            plain.splitlines()
        )
    assert invoke("tag", model, text, "--steps", "5", "--legal", "bio")
    with pytest.raises(InvalidInput, match="steps is the limit of ldi and mbr; bhp has none"):
        invoke("tag", model, text, "--inference", "bhp", "--steps", "5")
    with pytest.raises(InvalidInput, match="unknown inference 'x'"):
        invoke("tag", model, text, "--inference", "x")


def test_checkpoints_that_take_long_are_written_seldom(
    train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SLOW", 0.0)
    monkeypatch.setattr(keeping, "SELDOM", math.inf)
    with pytest.raises(KeyboardInterrupt):
        fitted(train, checkpoint=tmp_path / "c", progress=kill_after(5))
    told: list[int] = []
    resumed = fitted(train, checkpoint=tmp_path / "c", progress=lambda progress: told.append(progress.epoch))
    assert told[0] == 2, "the first epoch was kept, the others came too soon after it"
    resumed.save(tmp_path / "resumed")
    fitted(train).save(tmp_path / "whole")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
