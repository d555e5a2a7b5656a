"""The loop of training: the best epoch is kept, and a killed run goes on as if nothing had happened."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certus import InvalidInput, ModelError, Tagger
from certus.formats import Target, build
from certus.learn import training
from certus.learn.crf.learner import CrfLearner
from certus.learn.feature_learner import FeatureLearner
from certus.learn.features.data import Examples, TrainingSet, compile_templates
from certus.learn.features.templates import MORPHOLOGY
from certus.learn.hmm.learner import HmmLearner
from certus.learn.learners import LEARNERS
from certus.learn.perceptron import PerceptronLearner
from certus.learn.progress import Progress
from certus.learn.trainer import Arrays
from certus.storage import model_file
from tests.models import invented

EPOCHS = [name for name, kind in LEARNERS.items() if "epochs" in kind.__dataclass_fields__]
EPOCHS += ["crf lbfgs", "crf owl-qn"]
OPTIONS: dict[str, dict[str, Any]] = {
    "crf lbfgs": {"algorithm": "lbfgs", "c1": 0.0, "c2": 1.0},
    "crf owl-qn": {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.0},
}


class Killed(Exception):
    """The end of a run that did not expect it."""


def kill_after(epoch: int) -> Callable[[Progress], None]:
    def progress(report: Progress) -> None:
        if report.epoch == epoch:
            raise Killed

    return progress


def made(learner: str, target: str = "upos+feats", **options: Any) -> Tagger:
    return Tagger(target, learner.split()[0], **OPTIONS.get(learner, {}), **options)


def fitted(learner: str, *, dev: bool = True, **fitting: Any) -> Tagger:
    tagger = made(learner, epochs=5, patience=5)
    return tagger.fit(invented.sentences(60, 1), invented.sentences(20, 2) if dev else None, **fitting)


def data(learner: FeatureLearner) -> TrainingSet:
    examples = Examples(invented.sentences(40, 1), Target("upos"), ("word",))
    inventory = learner.list_labels(Target("upos"), sorted(set(examples.labels)))
    return TrainingSet(
        examples,
        inventory,
        compile_templates(MORPHOLOGY),
        rare=learner.rare,
        hash_bits=learner.hash_bits,
        min_count=learner.min_count,
    )


@pytest.mark.parametrize("learner", EPOCHS)
def test_every_epoch_is_told(learner: str) -> None:
    told: list[Progress] = []
    fitted(learner, dev=False, progress=told.append)
    assert [(report.epoch, report.epochs) for report in told] == [(n, 5) for n in range(1, 6)]
    assert told[0].loss > told[-1].loss >= 0
    assert all(report.dev is None for report in told)
    assert told[0].seconds <= told[-1].seconds
    assert told[0].left > told[-1].left == 0


@pytest.mark.parametrize("learner", EPOCHS)
def test_the_best_epoch_is_kept(learner: str) -> None:
    told: list[Progress] = []
    tagger = fitted(learner, progress=told.append)
    found = [report.dev for report in told if report.dev is not None]
    assert tagger.description["accuracy"]["dev"] == max(found)
    dev = list(invented.sentences(20, 2))
    labels = [answer.labels for answer in tagger.tag_batch(dev)]
    right = [Target("upos+feats").labels(sentence) for sentence in dev]
    assert invented.share(labels, right) == pytest.approx(max(found))


@pytest.mark.parametrize("learner", EPOCHS)
@pytest.mark.parametrize(
    ("scores", "patience", "epochs", "best"),
    [
        ([0.5, 0.6, 0.6, 0.6, 0.9, 0.1], 2, 4, 0.6),  # as good is not better
        ([0.5, 0.6, 0.5, 0.7, 0.6, 0.6], 2, 6, 0.7),
        ([0.5, 0.4, 0.9, 0.9, 0.9, 0.9], 1, 2, 0.5),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1, 6, 0.6),
    ],
)
def test_training_stops_when_dev_no_longer_rises(
    learner: str, scores: list[float], patience: int, epochs: int, best: float
) -> None:
    given = {"epochs": 6, "patience": patience, **OPTIONS.get(learner, {})}
    chosen = LEARNERS[learner.split()[0]](**given)
    told: list[Progress] = []
    rest, weights = iter(scores), []

    def measure(arrays: Arrays) -> float:
        weights.append(arrays)
        return next(rest)

    assert isinstance(chosen, FeatureLearner)
    numbered = data(chosen)
    outcome = training.train(
        chosen.start(numbered, 1),
        epochs=chosen.total,
        patience=chosen.patience,
        order=lambda epoch: numbered.order(np.random.default_rng((chosen.seed, epoch))),
        measure=measure,
        progress=told.append,
    )
    assert (len(told), outcome.accuracy) == (epochs, best)
    assert outcome.weights is weights[scores.index(best)]


@pytest.mark.parametrize("learner", EPOCHS)
@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize("killed", [1, 2, 4, 5])
def test_a_killed_run_goes_on_to_the_same_model(learner: str, dev: bool, killed: int, tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    checkpoint = tmp_path / "checkpoint"
    fitted(learner, dev=dev).save(whole)
    told: list[Progress] = []
    with pytest.raises(Killed):
        fitted(learner, dev=dev, checkpoint=checkpoint, progress=kill_after(killed))
    assert checkpoint.exists()
    tagger = fitted(learner, dev=dev, checkpoint=checkpoint, progress=told.append)
    assert [report.epoch for report in told] == list(range(killed + 1, 6))
    assert checkpoint.exists(), "the model is not safe yet"
    tagger.save(resumed)
    assert resumed.read_bytes() == whole.read_bytes()
    assert not checkpoint.exists()


@pytest.mark.parametrize("learner", EPOCHS)
def test_killed_again_and_again(learner: str, tmp_path: Path) -> None:
    for epoch in (1, 2, 3, 4):
        with pytest.raises(Killed):
            fitted(learner, dev=False, checkpoint=tmp_path / "c", progress=kill_after(epoch))
    fitted(learner, dev=False, checkpoint=tmp_path / "c").save(tmp_path / "resumed")
    fitted(learner, dev=False).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def converged(threads: int = 1, **fitting: Any) -> tuple[Tagger, list[Progress]]:
    """L-BFGS with a penalty that little stands against, and with more epochs than it needs."""
    told: list[Progress] = []
    progress = fitting.pop("progress", told.append)
    tagger = Tagger("upos", "crf", algorithm="lbfgs", c1=0.0, c2=20.0, epochs=500)
    return tagger.fit(invented.sentences(20, 1), threads=threads, progress=progress, **fitting), told


def test_what_has_converged_stops(tmp_path: Path) -> None:
    tagger, told = converged()
    assert 5 < len(told) < 200
    assert told[-1].left == 0 < told[-2].left
    assert told[-2].loss == pytest.approx(told[-1].loss, rel=1e-3)
    tagger.save(tmp_path / "whole")
    with pytest.raises(Killed):
        converged(checkpoint=tmp_path / "c", progress=kill_after(len(told)))
    resumed, rest = converged(checkpoint=tmp_path / "c")
    assert rest == []
    resumed.save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_threads_do_not_change_what_is_learned(tmp_path: Path) -> None:
    for threads in (1, 3):
        converged(threads)[0].save(tmp_path / f"{threads}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


def test_nothing_to_learn_ends_at_once() -> None:
    told: list[Progress] = []
    sentences = [build(["a", "b"], {"upos": ["X", "X"]})]
    tagger = Tagger("upos", "crf", algorithm="lbfgs", epochs=9).fit(sentences, progress=told.append)
    assert len(told) == 1
    assert tagger.tag(["a"]).labels == ["X"]


@pytest.mark.parametrize("algorithm", ["sgd", "lbfgs"])
def test_a_state_of_other_features_is_refused(algorithm: str) -> None:
    learner = CrfLearner(algorithm=algorithm)
    trainer = learner.start(data(learner), 1)
    trainer.epoch(np.arange(40))
    state = trainer.state()
    for name in state:
        with pytest.raises(InvalidInput, match=f"lacks the array {name}"):
            trainer.restore({other: x for other, x in state.items() if other != name})
    with pytest.raises(InvalidInput, match="of a learner with other features, labels or options"):
        trainer.restore({**state, "weights": state["weights"][1:]})


def test_sentences_that_do_not_exist_are_refused() -> None:
    trainer = CrfLearner().start(data(CrfLearner()), 1)
    with pytest.raises(InvalidInput, match="there is no sentence 40 among 40"):
        trainer.epoch(np.array([0, 40]))


def other_runs() -> dict[str, Callable[[str, Path], Tagger]]:
    def run(target: str = "upos+feats", train: int = 1, dev: int = 2, templates: str | None = None) -> Any:
        def fit(learner: str, checkpoint: Path) -> Tagger:
            tagger = made(learner, target, templates=templates, epochs=5, patience=5)
            sentences = invented.sentences(60, train), invented.sentences(20, dev)
            return tagger.fit(*sentences, checkpoint=checkpoint)

        return fit

    def seeded(learner: str, checkpoint: Path) -> Tagger:
        tagger = made(learner, epochs=5, patience=5, seed=9)
        return tagger.fit(invented.sentences(60, 1), invented.sentences(20, 2), checkpoint=checkpoint)

    return {
        "target": run(target="upos"),
        "data": run(train=3),
        "dev": run(dev=3),
        "templates": run(templates="word[0]"),
        "options": seeded,
    }


@pytest.mark.parametrize("learner", EPOCHS)
@pytest.mark.parametrize("other", other_runs())
def test_a_checkpoint_of_another_run_is_refused(learner: str, other: str, tmp_path: Path) -> None:
    checkpoint = tmp_path / "c"
    with pytest.raises(Killed):
        fitted(learner, checkpoint=checkpoint, progress=kill_after(2))
    before = checkpoint.read_bytes()
    with pytest.raises(ModelError, match=r"c is of another training run .*: remove it, or name another file"):
        other_runs()[other](learner, checkpoint)
    assert checkpoint.read_bytes() == before


def test_a_checkpoint_knows_the_columns_that_features_look_at(tmp_path: Path) -> None:
    for name, old in (("a.txt", "DET"), ("b.txt", "ART")):
        text = invented.columns(20, 1).replace("DET", old)
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = {"learner": "perceptron", "epochs": 3}
    with pytest.raises(Killed):
        Tagger("chunk", **options).fit(  # type: ignore[arg-type]
            tmp_path / "a.txt", checkpoint=tmp_path / "c", progress=kill_after(1)
        )
    with pytest.raises(ModelError, match="of another training run"):
        Tagger("chunk", **options).fit(tmp_path / "b.txt", checkpoint=tmp_path / "c")  # type: ignore[arg-type]


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "c"
    model_file.write(path, "tagger", {}, {})
    with pytest.raises(ModelError, match="is of another training run"):
        fitted("perceptron", checkpoint=path)
    path.write_bytes(b"text")
    with pytest.raises(ModelError, match="c"):
        fitted("perceptron", checkpoint=path)
    assert path.read_bytes() == b"text"


def test_a_checkpoint_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with pytest.raises(Killed):
        fitted("perceptron", checkpoint=path, progress=kill_after(1))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ModelError, match="truncated"):
        fitted("perceptron", checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no folder"):
        fitted("perceptron", checkpoint=tmp_path / "nowhere" / "c")
    assert os.listdir(tmp_path) == []


def test_orders_are_permutations_that_depend_on_seed_and_epoch() -> None:
    made = data(PerceptronLearner())
    orders = [made.order(np.random.default_rng(key)) for key in ((0, 0), (0, 1), (1, 0), (0, 0))]
    assert all(sorted(order.tolist()) == list(range(40)) for order in orders)
    assert orders[0].tolist() == orders[3].tolist()
    assert orders[0].tolist() != orders[1].tolist() != orders[2].tolist()


def test_counting_is_no_learning_in_epochs() -> None:
    told: list[Progress] = []
    Tagger("upos", "hmm").fit(invented.sentences(40, 1), progress=told.append)
    assert told == []
    assert not issubclass(HmmLearner, FeatureLearner)
