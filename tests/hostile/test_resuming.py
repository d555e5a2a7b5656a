"""Training that is stopped after any epoch goes on to the same file, to the last byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certus import Tagger
from certus.formats import Sentence, build
from certus.learn.learners import LEARNERS
from certus.learn.progress import Progress

EPOCHS = 4
# Thousands of label sequences get a weight, so that some meet in the slots of their table.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "pruned-crf": ("pruned-crf", {"order": 2, "least": 0.0}),
    "pruned-crf with a penalty": ("pruned-crf", {"order": 2, "least": 0.0, "l1": 1e-4}),
    "perceptron": ("perceptron", {"min_count": 1}),
    "crf": ("crf", {"algorithm": "lbfgs"}),
    "crf by sgd": ("crf", {"algorithm": "sgd"}),
    "latent-crf": ("latent-crf", {"latent": 2, "restarts": 2, "epochs": 2}),
}


def test_every_learner_that_has_epochs_is_tried() -> None:
    assert {name for name, _ in RUNS.values()} == set(LEARNERS) - {"hmm", "refinement"}


def sentences() -> Iterator[Sentence]:
    dice = np.random.default_rng(3)
    for _ in range(40):
        tags = [f"T{n}" for n in dice.integers(0, 12, 12)]
        yield build([f"w{n}" for n in dice.integers(0, 40, 12)], {"upos": tags})


def fit(run: str, **keeping: Any) -> Tagger:
    name, options = RUNS[run]
    return Tagger("upos", name, **{"epochs": EPOCHS, **options}).fit(sentences(), **keeping)


class Killed(Exception):
    pass


def kill_after(epoch: int) -> Callable[[Progress], None]:
    def watch(progress: Progress) -> None:
        if progress.epoch == epoch:
            raise Killed

    return watch


@pytest.mark.parametrize("run", RUNS)
def test_a_stop_after_any_epoch_leaves_no_trace(run: str, tmp_path: Path) -> None:
    fit(run).save(tmp_path / "whole")
    for epoch in range(1, EPOCHS + 1):
        with pytest.raises(Killed):
            fit(run, checkpoint=tmp_path / "c", progress=kill_after(epoch))
        fit(run, checkpoint=tmp_path / "c").save(tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes(), epoch
