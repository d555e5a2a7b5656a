"""Ctrl-C ends every long computation of chains and alignments at once; all still works afterwards."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import certus
from certus.align import align_matrix
from certus.latent import LDI, LatentChain
from tests.patience import PATIENCE

SOON = 0.08  # seconds until the signal
LATE = 0.4 * PATIENCE  # seconds after it: twice what is promised, on machines that are busy
RNG = np.random.default_rng(1)
CHAIN: Any = certus.Chain(RNG.normal(size=(45, 45)))
WIDE: Any = certus.Chain(RNG.normal(size=(700, 700)))
SENTENCE = RNG.normal(size=(23, 45))
LATENT: Any = LatentChain(RNG.normal(size=(40, 40)), 4)


def make_long(length: int, labels: int) -> Any:
    return np.tile(RNG.normal(size=(1000, labels)), (length // 1000, 1))


def decode_with(method: str, k: int = 1) -> Callable[[Any], Any]:
    return lambda x: CHAIN.decode(x, method=method, k=k)


ONE = ("auto", "viterbi", "beam", "carpediem", "astar", "staggered", "iterative-astar")
# How many paths take long enough to be interrupted.
MANY = {
    "auto": 20_000,
    "kbest-viterbi": 5000,
    "kbest-astar": 5000,
    "viterbi-astar": 30_000,
    "iterative-viterbi-astar": 20_000,
}
LATENT_PATHS = LDI(steps=100_000)

# What is computed, from a sentence of how many positions and labels.
LONG: dict[str, tuple[int, int, Callable[[Any], Any]]] = {
    **{f"a long sentence, {method}": (1_000_000, 45, decode_with(method)) for method in ONE},
    **{f"many paths, {method}": (1000, 45, decode_with(method, k)) for method, k in MANY.items()},
    "many labels": (3000, 700, lambda x: WIDE.decode(x, method="viterbi")),
    "marginals": (500_000, 45, CHAIN.marginals),
    "samples": (20_000, 45, lambda x: CHAIN.sample(x, 500)),
    "batch": (1000, 45, lambda x: CHAIN.decode_batch([x[:23]] * 200_000, method="astar")),
    "batch on threads": (
        1000,
        45,
        lambda x: CHAIN.decode_batch([x[:23]] * 200_000, threads=2, method="astar"),
    ),
    "long sentences on threads": (1_000_000, 45, lambda x: CHAIN.decode_batch([x] * 3, threads=2)),
    "wide sentences together": (1000, 700, lambda x: WIDE.decode_batch([x] * 6, threads=2, method="viterbi")),
    "latent": (2000, 40, lambda x: LATENT.decode(x, inference=LATENT_PATHS)),
    "latent marginals": (500_000, 40, LATENT.marginals),
}


@pytest.fixture
def interrupt() -> Iterator[Callable[[Callable[[], Any]], float]]:
    """Return a function that interrupts a call, and returns how long the call went on after that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(call: Callable[[], Any]) -> float:
        sent: list[float] = []

        def send() -> None:
            sent.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

        timer = threading.Timer(SOON, send)
        timer.start()
        try:
            call()
            time.sleep(5)  # a call that was over before the signal came
        except KeyboardInterrupt:
            return time.monotonic() - sent[0]
        finally:
            timer.cancel()
        return np.inf

    yield run
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("what", LONG)
def test_an_interrupt_ends_the_work(what: str, interrupt: Callable[[Callable[[], Any]], float]) -> None:
    wanted = CHAIN.decode(SENTENCE, k=3).scores.tolist()
    length, labels, call = LONG[what]
    sentence = make_long(length, labels)
    assert interrupt(lambda: call(sentence)) < LATE
    assert CHAIN.decode(SENTENCE, k=3).scores.tolist() == wanted
    assert [one.score for one in CHAIN.decode_batch([SENTENCE] * 3, threads=2)] == wanted[:1] * 3


@pytest.mark.parametrize("method", ["exact", "lr", "cons", "decomposition"])
@pytest.mark.parametrize("has_steps", [False, True])
def test_an_interrupt_ends_an_alignment(
    method: str, has_steps: bool, interrupt: Callable[[Callable[[], Any]], float]
) -> None:
    words = 250
    forward, backward = RNG.normal(size=(2, words, words))
    steps = RNG.normal(size=(words + 1, words + 1)) if has_steps else None
    options: dict[str, Any] = {"method": method, "agreement": "adjacent", "null": 0.5}
    if method == "decomposition":
        options["max_iterations"] = 100_000
    wanted = align_matrix(forward[:4, :4], backward[:4, :4]).score
    late = interrupt(
        lambda: align_matrix(forward, backward, forward_steps=steps, backward_steps=steps, **options)
    )
    assert late < LATE
    assert align_matrix(forward[:4, :4], backward[:4, :4]).score == wanted
