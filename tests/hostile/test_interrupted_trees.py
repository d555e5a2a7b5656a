"""Ctrl-C ends parsing, passes over forests, constrained search, relaxation and consistency at once.

What was interrupted answers rightly when it is asked again.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import certus.corpus
from certus import Tagger
from certus.hypergraph import Hypergraph
from certus.relax.parts import TreePart
from certus.syntax import Grammar, JointParser
from tests.models import invented
from tests.patience import PATIENCE
from tests.syntax import chunk_trees

SOON = 0.2  # seconds that ending may take
LOADED = 5 * PATIENCE  # times longer, for machines that do other things


def assert_ends(work: Callable[[], object], after: float = 0.3) -> None:
    """Send the signal of Ctrl-C while work runs, and measure how long it goes on."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.perf_counter() - sent[0] < SOON * LOADED
    finally:
        timer.cancel()
        timer.join()


def make_ambiguous(symbols: int) -> Grammar:
    """Return a grammar of which everything derives everything."""
    rng = np.random.default_rng(1)
    names = [f"S{n}" for n in range(symbols)]
    binary = [(a, b, c, float(rng.normal())) for a in names for b in names for c in names]
    return Grammar.of_rules(binary, [], {name: {"x": float(rng.normal())} for name in names}, start="S0")


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return make_ambiguous(20)


def make_ladder(length: int, ways: int) -> Hypergraph:
    """Return a forest in which every node has several edges to the one before it, and one to two of them."""
    heads, offsets, tails = [0], [0, 0], []
    for node in range(1, length):
        for _ in range(ways):
            heads.append(node)
            tails.append(node - 1)
            offsets.append(len(tails))
    return Hypergraph(heads, offsets, tails, length - 1, nodes=length)


def test_charts(grammar: Grammar) -> None:
    before = grammar.parse(["x"] * 12)
    long = [["x"] * 400] * 2
    assert_ends(lambda: grammar.parse_batch(long))
    assert_ends(lambda: grammar.parse_batch(long, threads=2))
    after = grammar.parse(["x"] * 12)
    assert (after.value, after.score) == (before.value, before.score)


def test_the_k_best_trees(grammar: Grammar) -> None:
    before = grammar.parse(["x"] * 8, k=5).scores.tolist()
    assert_ends(lambda: grammar.parse(["x"] * 30, k=10**7), 1.0)
    assert grammar.parse(["x"] * 8, k=5).scores.tolist() == before


def test_packing(grammar: Grammar) -> None:
    assert_ends(lambda: grammar.forest(["x"] * 150), 1.0)


def test_a_part_that_was_interrupted_answers_rightly() -> None:
    grammar = make_ambiguous(4)
    rng = np.random.default_rng(3)
    shape = (25, len(grammar.tags))
    part, fresh = (grammar.part(["x"] * 25) for _ in range(2))
    part.maximize({})

    def ask() -> None:
        while True:
            part.maximize({"tags": 1e3 * rng.normal(size=shape)})

    assert_ends(ask)
    adjust = {"tags": rng.normal(size=shape)}
    assert part.maximize(adjust).score == fresh.maximize(adjust).score


def test_derivations() -> None:
    graph = make_ladder(200, 3)
    scores = np.random.default_rng(0).normal(size=graph.edges)
    best = graph.decode(scores).score
    assert_ends(lambda: graph.decode(scores, k=10**7))
    assert_ends(lambda: graph.sample(scores, 10**7))
    search = graph.iterate(scores)
    assert next(search).score == best


def test_passes() -> None:
    graph = make_ladder(300_000, 3)
    scores = np.random.default_rng(0).normal(size=graph.edges)
    wanted = graph.log_partition(scores)
    assert_ends(lambda: [graph.marginals(scores) for _ in range(1000)])
    assert_ends(lambda: [graph.decode(scores) for _ in range(1000)])
    assert graph.log_partition(scores) == wanted


def test_constraints() -> None:
    graph = make_ladder(150, 4)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=graph.edges)
    rows = [dict(enumerate(rng.normal(size=graph.edges).tolist())) for _ in range(6)]
    search = graph.with_constraints(rows, [0.123] * 6)
    assert_ends(lambda: search.decode(scores))
    began = time.perf_counter()
    found = search.decode(scores, seconds=0.3)
    assert time.perf_counter() - began < 0.3 + SOON * LOADED
    assert found.bound <= graph.decode(scores).score + 1e-9


def test_spanning_trees() -> None:
    tree = TreePart(np.random.default_rng(0).normal(size=(300, 301)))
    assert_ends(lambda: tree.max_marginals({}))
    small = TreePart(np.random.default_rng(0).normal(size=(6, 7)))
    assert small.max_marginals({})["heads"].max() == pytest.approx(small.maximize({}).score)


@pytest.mark.parametrize("threads", [1, 2])
def test_joint_parsing(threads: int) -> None:
    grammar = Grammar.fit(chunk_trees.trees(60, 1))
    tagger = Tagger("upos", order=2, epochs=1).fit(invented.sentences(60, 1))
    parser = JointParser(grammar, tagger)
    words = invented.words(4000, 7)
    before = parser.parse(words[0], cover=True)
    assert_ends(lambda: parser.parse_batch(words, cover=True, threads=threads), 1.0)
    after = parser.parse(words[0], cover=True)
    assert (after.value, after.score) == (before.value, before.score)


def test_consistency() -> None:
    tagger = Tagger("upos", order=2, epochs=1).fit(invented.sentences(60, 1))
    words = invented.words(3000, 7)
    assert_ends(lambda: [certus.corpus.tag(tagger, words) for _ in range(100)], 1.0)
    wanted = tagger.tag_batch(words[:3])
    assert [one.labels for one in wanted] == [tagger.tag(one).labels for one in words[:3]]
