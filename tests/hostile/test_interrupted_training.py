"""Ctrl-C ends training and tagging within a moment, and leaves everything as it was."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus import CRF, Tagger
from certus.formats import Sentence, build
from tests.hostile import test_resuming as resuming

AFTER = 0.3  # seconds of processor time after which the user has enough
SOON = 0.2  # seconds of it that may follow

LONG: dict[str, Any] = {"epochs": 1000, "patience": 1000}


def sentences(count: int, length: int = 30) -> Iterator[Sentence]:
    dice = np.random.default_rng(5)
    for _ in range(count):
        tags = [f"T{n}" for n in dice.integers(0, 12, length)]
        yield build([f"w{n}" for n in dice.integers(0, 200, length)], {"upos": tags})


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Press Ctrl-C after some processor time, which does not depend on what else the machine does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def interrupt(work: Callable[[], object]) -> float:
    """Do some work until the user interrupts it; return how much longer it has worked."""
    began = time.process_time()
    with pytest.raises(KeyboardInterrupt), patience(AFTER):
        work()
    return time.process_time() - began - AFTER


TASKS: dict[str, Callable[[list[Sentence]], object]] = {
    "pruned-crf": lambda data: Tagger("upos", "pruned-crf", **LONG).fit(data),
    "perceptron": lambda data: Tagger("upos", "perceptron", **LONG).fit(data),
    "crf by sgd": lambda data: Tagger("upos", "crf", algorithm="sgd", **LONG).fit(data),
    "crf": lambda data: Tagger("upos", "crf", algorithm="lbfgs", **LONG).fit(data),
    "crf on two threads": lambda data: Tagger("upos", "crf", algorithm="lbfgs", **LONG).fit(data, threads=2),
    "latent-crf": lambda data: Tagger("upos", "latent-crf", **LONG).fit(data),
    "latent-crf on two threads": lambda data: Tagger("upos", "latent-crf", **LONG).fit(data, threads=2),
    "em": lambda data: Tagger("upos", "refinement", estimator="em", iterations=10**6).fit(data),
    "em of many states": lambda data: Tagger(
        "upos", "refinement", estimator="em", hidden=16, smoothing=0.1, iterations=10**6
    ).fit(data),
    "items": lambda data: CRF(algorithm="l2sgd", max_iterations=10**6, period=0).fit(*as_items(data)),
}


def as_items(data: list[Sentence]) -> tuple[Any, Any]:
    X = [[{"word": word} for word in sentence.words] for sentence in data]
    return X, [sentence.columns["upos"] for sentence in data]


@pytest.mark.parametrize("task", TASKS)
def test_training_ends_soon(task: str) -> None:
    data = list(sentences(1500))
    overruns = (interrupt(lambda: TASKS[task](data)) for _ in range(5))  # a busy machine may be late
    assert any(overrun < SOON for overrun in overruns)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_ends_soon_and_the_tagger_still_answers(threads: int) -> None:
    tagger, words = certus.load(), [f"w{n}" for n in range(40)]
    before = tagger.tag(words[:9]).labels
    batch = [words] * 20_000
    assert interrupt(lambda: tagger.tag_batch(batch, threads=threads)) < SOON
    assert tagger.tag(words[:9]).labels == before


# Between two instructions of Python, a file may be open that nobody closes yet.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("run", ["pruned-crf", "perceptron", "crf", "latent-crf"])
def test_an_interrupted_run_goes_on_to_the_same_file(run: str, tmp_path: Path) -> None:
    resuming.fit(run).save(tmp_path / "whole")
    used = time.process_time()
    resuming.fit(run)
    used = time.process_time() - used
    for share in (0.3, 0.5, 0.7):
        with suppress(KeyboardInterrupt), patience(share * used):
            resuming.fit(run, checkpoint=tmp_path / "c")
    resuming.fit(run, checkpoint=tmp_path / "c").save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
