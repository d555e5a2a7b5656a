"""Taggers with features of two labels in a row: what they alone can learn, and all that taggers can do."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import certus
from certus import Tagger
from certus.cli.app import app
from certus.errors import InvalidInput, ModelError
from certus.learn.progress import Progress
from certus.storage.model_file import ModelFile

PLAIN = "word[0]\nword[-1]"
PAIRS = "word[0]\npair word[0]"
LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {"min_count": 1}),
    ("crf", {"algorithm": "lbfgs", "c1": 0.0, "c2": 0.05}),
    ("crf", {"algorithm": "lbfgs", "c1": 0.05}),
    ("latent-crf", {"latent": 1, "variance": 10.0}),
    ("latent-crf", {"latent": 2, "variance": 10.0}),
    ("latent-crf", {"latent": 2, "variance": 10.0, "pair_of": "states"}),
]


def switches(seed: int, count: int) -> list[tuple[list[str], list[str]]]:
    """``a`` and ``b`` begin; after ``stay`` a label is what the one before was, after ``flip`` the other."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        words, labels = [str(rng.choice(["a", "b"]))], []
        labels.append(words[0].upper())
        for _ in range(int(rng.integers(0, 9))):
            words.append(str(rng.choice(["stay", "flip"])))
            labels.append(labels[-1] if words[-1] == "stay" else "AB"[labels[-1] == "A"])
        out.append((words, labels))
    return out


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "train.txt"
    rows = ("".join(f"{w}\t{y}\n" for w, y in zip(*one, strict=True)) for one in switches(1, 150))
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def fitted(train: Path, learner: str, given: dict[str, Any], templates: str = PAIRS, **kept: Any) -> Tagger:
    made = Tagger("tag", learner, templates=templates, epochs=40, **given)
    return made.fit(train, columns="word tag", **kept)


def right(tagger: Tagger) -> float:
    test = switches(2, 60)
    found = [answer.labels for answer in tagger.tag_batch([words for words, _ in test])]
    pairs = zip((x for one in found for x in one), (y for _, gold in test for y in gold), strict=True)
    hits = [str(x) == y for x, y in pairs]
    return hits.count(True) / len(hits)


@pytest.mark.parametrize(("learner", "given"), LEARNERS)
def test_they_learn_what_needs_two_labels_and_a_word(
    learner: str, given: dict[str, Any], train: Path
) -> None:
    assert right(fitted(train, learner, given)) == 1
    if given.get("latent", 1) == 1:  # with latent states, a tagger could find out by itself
        assert right(fitted(train, learner, given, PLAIN)) < 0.8


@pytest.mark.parametrize(("learner", "given"), LEARNERS)
def test_answers_are_proven_and_survive_the_file(
    learner: str, given: dict[str, Any], train: Path, tmp_path: Path
) -> None:
    tagger = fitted(train, learner, given)
    tagger.save(tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    assert loaded.description["features"] == tagger.description["features"]
    for words, _ in switches(3, 30):
        one, other = tagger.tag(words, confidence=True), loaded.tag(words, confidence=True)
        assert (one.labels, one.score, one.confidence) == (other.labels, other.score, other.confidence)
        assert one.optimal
        assert one.bound == one.score
        assert one.probability is not None
        assert one.confidence is not None
        assert 0 < one.probability <= min(one.confidence) + 1e-6
        several = tagger.tag(words, k=3)
        assert several[0].labels == one.labels
        assert sorted((x.score for x in several), reverse=True) == [x.score for x in several]


def test_a_crf_is_a_latent_crf_of_one_state(train: Path) -> None:
    """The same objective: a Gaussian prior of variance v is an L2 penalty of 1 / 2v."""
    crf = fitted(train, "crf", {"algorithm": "lbfgs", "c1": 0.0, "c2": 0.05})
    latent = fitted(train, "latent-crf", {"latent": 1, "variance": 10.0})
    for words, _ in switches(4, 20):
        mine, other = crf.tag(words, confidence=True), latent.tag(words, confidence=True)
        assert mine.labels == other.labels
        assert mine.probability == pytest.approx(other.probability, abs=0.02)


def test_labels_may_be_ruled_out(train: Path) -> None:
    tagger = fitted(train, "crf", {"algorithm": "lbfgs", "c1": 0.0, "c2": 0.05})
    forced = tagger.tag(["a", "stay", "stay"], allowed=[None, ["B"], None])
    assert forced.labels[1] == "B"
    assert forced.score < tagger.tag(["a", "stay", "stay"]).score


def test_a_killed_run_goes_on_to_the_same_weights(train: Path, tmp_path: Path) -> None:
    given = {"latent": 2, "variance": 10.0}

    def kill(told: Progress) -> None:
        if told.epoch == 7:
            raise KeyboardInterrupt

    whole = fitted(train, "latent-crf", given)
    with pytest.raises(KeyboardInterrupt):
        fitted(train, "latent-crf", given, checkpoint=tmp_path / "c", progress=kill)
    resumed = fitted(train, "latent-crf", given, checkpoint=tmp_path / "c", threads=2)
    for name, array in whole._arrays.items():
        assert np.array_equal(array, resumed._arrays[name]), name


@pytest.mark.parametrize(
    ("learner", "given"),
    [("pruned-crf", {}), ("crf", {}), ("crf", {"algorithm": "sgd"})],
)
def test_other_learners_refuse_pairs(learner: str, given: dict[str, Any]) -> None:
    with pytest.raises(
        InvalidInput, match=r"has no features of pairs of labels .*; perceptron, crf with algorithm=lbfgs"
    ):
        Tagger("tag", learner, templates=PAIRS, **given)


def test_pairs_are_of_labels_or_of_states() -> None:
    with pytest.raises(InvalidInput, match="pair_of is 'words'; pairs are of labels or of states"):
        Tagger("tag", "latent-crf", pair_of="words")


@pytest.mark.parametrize("pair_of", ["labels", "states"])
def test_the_chain_of_a_sentence_is_what_ldi_sums_over(train: Path, pair_of: str) -> None:
    tagger = fitted(train, "latent-crf", {"latent": 2, "pair_of": pair_of})
    for words, _ in switches(5, 10):
        hidden, scores = tagger.latent.make_state_chain([words]), tagger.latent.score_states([[words]])
        found = tagger.tag(words, confidence=True)
        log_z = hidden.marginals(scores).log_partition
        assert found.score == pytest.approx(math.log(found.probability or 0.0) + log_z)


def test_a_perceptron_with_pairs_answers_with_the_best_of_all(train: Path) -> None:
    """Its labels share parts, and it has weights for the first and the last label, unlike the CRFs."""
    tagger = fitted(train, "perceptron", {"min_count": 1})
    rng = np.random.default_rng(0)
    for _ in range(30):
        words = rng.choice(["a", "b", "stay", "flip", "new"], int(rng.integers(1, 7))).tolist()
        chain, scores = tagger.latent.make_state_chain([words]), tagger.latent.score_states([[words]])
        found = tagger.tag(words)
        sequences = product(range(len(tagger.labels)), repeat=len(words))
        best = max(chain.score(scores, list(labels)) for labels in sequences)
        assert found.score == pytest.approx(best, abs=1e-6)
    assert chain.start is not None
    assert np.any(chain.start != 0)


def test_templates_of_pairs_alone_are_enough(train: Path) -> None:
    tagger = fitted(train, "latent-crf", {"latent": 1}, "pair word[0]\npair word[-1]")
    assert len(tagger.tag(["a", "stay"]).labels) == 2


def test_a_file_without_its_pairs_is_refused(train: Path) -> None:
    tagger = fitted(train, "latent-crf", {"latent": 2})
    arrays = {name: array for name, array in tagger._arrays.items() if name != "pair_rows"}
    with pytest.raises(ModelError, match="damaged or of another version"):
        Tagger.from_file(ModelFile("m.certus", "tagger", tagger.description, arrays, 0))


def test_on_the_command_line(train: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text(PAIRS, encoding="utf-8")
    model, text = tmp_path / "m.certus", tmp_path / "in.txt"
    text.write_text("a flip stay flip\n", encoding="utf-8")
    run = CliRunner()
    made = run.invoke(
        app,
        ["train", "tagger", str(train), "--learner", "latent-crf", "--latent", "1", "--target", "tag",
         "--columns", "word tag", "--templates", str(tmp_path / "pairs.txt"), "-o", str(model)],
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    tagged = run.invoke(app, ["tag", str(model), str(text)])
    assert tagged.exit_code == 0, tagged.output
    assert [line.split()[-1] for line in tagged.stdout.splitlines() if line.strip()] == ["A", "B", "B", "A"]
    assert "pair word[0]" in run.invoke(app, ["info", str(model)]).output
