"""Objects that eight threads use at once for the first time: the answers are those of a single thread.

A deadlock is seen by the watchdog. What a call returns is compared by its representation with what the same
call returns on another copy of the object that one thread uses.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import certus
from certus.chain import METHODS, Chain
from tests.attack import tiny_models
from tests.attack.attack import Question, Truth

THREADS = 8
CALLS, MANY_CALLS = 4, 25  # of each thread, of chains and of models
Call = Callable[[Any], object]
MODELS = ("parser", "aligner", "translator", "language model", "constituency parser")
SPECIAL = ("tagger refinement spectral", "trees", *MODELS)


@dataclass(frozen=True)
class ThreadsProblem:
    """An object of a kind, and the seed of what its threads ask and when."""

    kind: str
    labels: int  # of chains
    seed: int


class Threads:
    """First use by several threads."""

    name = "threads"

    def draw(self, rng: Random) -> ThreadsProblem:
        """Return an object to share."""
        taggers = [f"tagger {name}" for name in tiny_models.TAGGERS]
        kind = rng.choice(["chain", "chain", rng.choice(taggers), rng.choice(taggers), *SPECIAL])
        labels = rng.choice([3, 40, 300, 1030, 1200, 1500])
        return ThreadsProblem(kind, labels if kind == "chain" else 0, rng.getrandbits(32))

    def enumerate(self, problem: ThreadsProblem) -> Truth:
        """There is nothing to enumerate."""
        return Truth({})

    def ask(self, problem: ThreadsProblem) -> Iterator[Question]:
        """Share the object."""
        yield Question(problem.kind, lambda: share(problem))


def share(problem: ThreadsProblem) -> list[str]:
    """Let threads call a fresh object, and return where the answers are not those of one thread."""
    rng = Random(problem.seed)
    make, calls = _make_chain(problem, rng) if problem.kind == "chain" else _make_model(problem.kind, rng)
    count = CALLS if problem.kind == "chain" else MANY_CALLS * (3 if "spectral" in problem.kind else 1)
    plan = [[rng.randrange(len(calls)) for _ in range(count)] for _ in range(THREADS)]
    delays = [rng.choice([0.0, 0.0, rng.random() * 1e-3]) for _ in range(THREADS)]
    alone = make()
    expected = [answer(call, alone) for call in calls]
    shared = make()
    barrier = threading.Barrier(THREADS)
    wrong: list[str] = []

    def work(number: int) -> None:
        barrier.wait()
        time.sleep(delays[number])
        for place in plan[number]:
            found = answer(calls[place], shared)
            if found != expected[place]:
                wrong.append(
                    f"call {place} in thread {number}: {found[:300]}, alone: {expected[place][:300]}"
                )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        workers = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    return wrong


def answer(call: Call, shared: Any) -> str:
    """Return what a call answers, or raises."""
    try:
        return show(call(shared))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def show(answer: object) -> str:
    """Return all that is compared of an answer."""
    if isinstance(answer, certus.Solution):
        return f"{show(answer.value)} {answer.score!r} {answer.bound!r} {answer.status.name}"
    if isinstance(answer, certus.KBest | list | tuple):
        return "; ".join(map(show, answer))
    return repr(answer.tolist() if isinstance(answer, np.ndarray) else answer)


def _make_chain(problem: ThreadsProblem, rng: Random) -> tuple[Callable[[], Any], Sequence[Call]]:
    numbers = np.random.default_rng(problem.seed)
    precision = rng.choice([np.float32, np.float64])
    transitions = numbers.normal(size=(problem.labels, problem.labels)).astype(precision)
    long = 120 if problem.labels < 500 else 30
    short, other = (
        numbers.normal(size=(size, problem.labels)).astype(precision) for size in (rng.randint(1, 4), long)
    )
    calls: list[Call] = [
        lambda chain: chain.decode(short),
        lambda chain: chain.decode(short.astype(np.float64)),
        lambda chain: chain.decode(other),
        lambda chain: chain.decode(short, k=5),
        lambda chain: chain.decode_batch([short, short]),
        lambda chain: chain.decode_batch([short, other], threads=2),
        lambda chain: chain.decode(short, infeasible="return", allowed=short > 0),
        lambda chain: math.fsum(chain.marginals(short).probabilities[0]) > 0.99,
    ]
    for method in rng.sample(list(METHODS), 3):
        calls.append(lambda chain, method=method: chain.decode(short, method=method))  # type: ignore[misc]
    return lambda: Chain(transitions), calls


def _make_model(kind: str, rng: Random) -> tuple[Callable[[], Any], Sequence[Call]]:
    # Spectral refinements treat sentences in another way that have few of the words.
    vocabulary = tiny_models.MANY if "spectral" in kind else tiny_models.WORDS
    sentences = [tiny_models.draw_words(rng, 1, 9, vocabulary) for _ in range(4)]
    if kind == "trees":
        return lambda: certus.Trees(projective=rng.random() < 0), _list_tree_calls(rng)
    if kind.startswith("tagger "):
        model: Any = tiny_models.train_tagger(kind.removeprefix("tagger "), 0, vocabulary)
        calls = [_make_tag_call(words) for words in sentences]
        calls += [
            _make_tag_call(sentences[0], allowed=[model.labels[:2]] * len(sentences[0]), infeasible="return")
        ]
        if model.learner.name != "refinement" and model.learner.name != "latent-crf":
            calls += [_make_tag_call(words, k=3) for words in sentences[:2]]
        calls += [_make_tag_call(sentences[1], confidence=True)]
        if "spectral" not in kind:  # where many words at once would be treated as all are
            calls += [lambda tagger: tagger.tag_batch(sentences, threads=2)]
    elif kind == "parser":
        model = tiny_models.train_parser()
        treebank = tiny_models.draw_treebank(rng.getrandbits(8), 4)
        calls = [_make_parse_call(sentence) for sentence in treebank]
        calls += [_make_parse_call(treebank[0], k=2), lambda parser: parser.parse_batch(treebank, threads=2)]
    elif kind == "constituency parser":
        model = tiny_models.train_grammar()
        calls = [lambda parser, words=words: parser.parse(words) for words in sentences]  # type: ignore[misc]
        calls += [lambda parser: parser.parse_batch(sentences, threads=2)]
    elif kind == "aligner":
        model = tiny_models.train_aligner()
        pairs = tiny_models.draw_pairs(rng.getrandbits(8), 4)
        calls = [lambda aligner, pair=pair: aligner.align(*pair) for pair in pairs]  # type: ignore[misc]
    elif kind == "translator":
        model = tiny_models.train_translator()
        calls = [lambda model, words=words: model.translate(words) for words in sentences]  # type: ignore[misc]
        calls += [lambda model: model.translate_batch(sentences, threads=2)]
    else:
        model = tiny_models.train_language_model()
        calls = [lambda model, words=words: model.score(words) for words in sentences]  # type: ignore[misc]
        calls += [lambda model: model.bound("ab", ["ba"]), lambda model: model.bound("ed")]
    return lambda: tiny_models.copy_model(model), calls


def _make_tag_call(words: list[str], **options: Any) -> Call:
    def call(tagger: certus.Tagger) -> object:
        found: Any = tagger.tag(words, **options)
        if options.get("confidence"):
            return found, [getattr(found, "probabilities", None)]
        return found

    return call


def _make_parse_call(sentence: Any, **options: Any) -> Call:
    return lambda parser: parser.parse(sentence, **options)


def _list_tree_calls(rng: Random) -> list[Call]:
    calls: list[Call] = []
    for words in (3, 5, 8):
        numbers = np.random.default_rng(rng.getrandbits(32))
        arcs, parts = numbers.normal(size=(words, words + 1)), numbers.normal(size=(words + 1,) * 3)
        calls += [
            lambda trees, arcs=arcs: trees.decode(arcs),  # type: ignore[misc]
            lambda trees, arcs=arcs, parts=parts: trees.decode(arcs, parts),  # type: ignore[misc]
            lambda trees, arcs=arcs, parts=parts: trees.decode(arcs, parts, parts, k=3),  # type: ignore[misc]
        ]
    return calls
