"""Threads share objects: the first use from eight threads at once gives the answers of a single thread.

Every round takes a fresh object, since what is made on first use is what threads race for. A deadlock ends
the run with a traceback of all threads (see conftest.py). ``make sanitize`` runs this file under
ThreadSanitizer.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS, SparseTransitions
from certus.chain.part import ChainPart

THREADS = 8
RNG = np.random.default_rng(7)

Uses = Mapping[str, Callable[[Any], Any]]


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def share(make: Callable[[], Any], uses: Uses, rounds: int = 3) -> None:
    """Compare all uses of fresh objects, at once from many threads, with those of an object for each use."""
    expected = {name: use(make()) for name, use in uses.items()}
    for _ in range(rounds):
        for name, answers in use_at_once(make(), uses).items():
            for answer in answers:
                assert answer == expected[name], name


def use_at_once(shared: Any, uses: Uses) -> dict[str, list[Any]]:
    """Return the answers of every use on every thread; each thread begins with another one."""
    barrier = threading.Barrier(THREADS)
    answers: dict[str, list[Any]] = {name: [] for name in uses}
    errors: list[BaseException] = []
    names = list(uses)

    def run(first: int) -> None:
        barrier.wait()
        try:
            for name in names[first:] + names[:first]:
                answers[name].append(uses[name](shared))
        except BaseException as error:  # raised again on the thread of the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n % len(names),)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers


def read(found: Any) -> tuple[Any, ...]:
    """Return an answer of any kind as values that are compared exactly."""
    value = found.value.tolist() if isinstance(found.value, np.ndarray) else found.value
    return value, found.score, found.bound, found.status


def read_list(found: Any) -> list[tuple[Any, ...]]:
    return [read(one) for one in found]


# ------------------------------------------------------------------------------------------------ chains


def list_chain_uses(short: Any, long: Any) -> dict[str, Callable[[Any], Any]]:
    """Return every method and question; short sentences are decoded with the interpreter's lock held."""

    def decode(method: str) -> Callable[[Any], Any]:
        return lambda c: read(c.decode(short, method=method))

    def list_best(method: str) -> Callable[[Any], Any]:
        return lambda c: read_list(c.decode(short, k=3, method=method))

    return {
        **{f"decode {name}": decode(name) for name, method in METHODS.items() if method.one},
        **{f"k best {name}": list_best(name) for name, method in METHODS.items() if method.many},
        "a long sentence": lambda c: read(c.decode(long)),
        "batch": lambda c: read_list(c.decode_batch([short, long, short])),
        "batch on threads": lambda c: read_list(c.decode_batch([short, long, short], threads=2)),
        "batch by sweeps": lambda c: read_list(c.decode_batch([short, short], method="viterbi")),
        "paths": lambda c: [read(path) for path, _ in zip(c.iterate(short), range(2), strict=False)],
        "marginals": lambda c: c.marginals(short).log_partition,
        "sample": lambda c: c.sample(short, 2, seed=3).tolist(),
        "score": lambda c: c.score(short, [0] * len(short)),
        "max-marginals": lambda c: ChainPart(c, short).max_marginals({})["labels"].tolist(),
    }


def draw_chain(kind: str, labels: int, length: int) -> Callable[[], certus.Chain]:
    transitions: Any
    if kind == "sparse":
        origin, target = np.unique(RNG.integers(0, labels, (4 * labels, 2)), axis=0).T
        transitions = SparseTransitions(labels, origin, target, RNG.normal(size=len(origin)), default=-3.0)
    elif kind == "mostly one score":
        transitions = np.where(RNG.random((labels, labels)) < 0.01, RNG.normal(size=(labels, labels)), -3.0)
    elif kind == "per position":
        transitions = RNG.normal(size=(length - 1, labels, labels))
    else:
        transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    start = RNG.normal(size=labels).astype(np.float32)
    return lambda: certus.Chain(transitions, start=start)


@pytest.mark.parametrize("labels", [40, 1100])  # above 1,024 the transpose is made on first use
@pytest.mark.parametrize("kind", ["dense", "sparse", "mostly one score"])
def test_chains(kind: str, labels: int) -> None:
    short, long = (RNG.normal(size=(length, labels)).astype(np.float32) for length in (3, 24))
    share(draw_chain(kind, labels, 3), list_chain_uses(short, long), rounds=2)


def test_chains_with_transitions_of_every_position() -> None:
    sentence = RNG.normal(size=(4, 60))
    share(draw_chain("per position", 60, 4), list_chain_uses(sentence, sentence))


@pytest.mark.parametrize("labels", [1500, 2100])
def test_tables_are_made_while_another_thread_keeps_the_interpreter(labels: int) -> None:
    """One thread makes a table without the interpreter's lock, another wants it and has the lock."""
    short, long = (RNG.normal(size=(length, labels)).astype(np.float32) for length in (3, 24))
    transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    starts: list[Callable[[Any], Any]] = [
        lambda c: c.decode_batch([short, short]),
        lambda c: c.decode(long),
        lambda c: c.decode(short, k=5),
    ]
    expected = certus.Chain(transitions).decode(short).score
    for first in starts:
        chain = certus.Chain(transitions)
        maker = threading.Thread(target=first, args=(chain,))
        maker.start()
        time.sleep(0.0003)
        assert chain.decode(short).score == expected
        maker.join()


def test_ctrl_c_while_tables_are_made_leaves_a_chain_usable() -> None:
    """Whether the interrupted thread makes a table or waits for it, other threads get their answers."""
    labels = 3000
    transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    short = RNG.normal(size=(2, labels)).astype(np.float32)

    def decode(chain: certus.Chain) -> tuple[Any, ...]:
        return read(chain.decode(short, method="staggered"))

    expected = decode(certus.Chain(transitions))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupted = 0
    try:
        for delay in (0.005, 0.01, 0.02, 0.03):
            chain = certus.Chain(transitions)
            found: list[Any] = []
            timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
            others = [
                threading.Thread(target=lambda chain=chain, found=found: found.append(decode(chain)))
                for _ in range(2)
            ]
            is_decoding = False
            try:
                for thread in [*others, timer]:
                    thread.start()
                is_decoding = True
                decode(chain)
                is_decoding = False
                time.sleep(10)  # the signal ends it
            except KeyboardInterrupt:
                interrupted += is_decoding
            for thread in [timer, *others]:
                thread.join()
            assert found == [expected, expected]
            assert decode(chain) == expected
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted > 0
