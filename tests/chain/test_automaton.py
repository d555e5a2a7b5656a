"""Chunk encodings and other legal sequences, beside a reader of chunks that knows nothing of pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS
from tests.chain.lattices import Problem, integers, listed, random_problem
from tests.reference.chain import Scores, all_paths, all_scores, best_of, path_scores

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]
BILOU = [*BIO, "L-X", "U-X", "L-Y", "U-Y"]
IOBES = [*BIO, "E-X", "S-X", "E-Y", "S-Y"]


def reads_bio(tags: list[str]) -> bool:
    """Go from left to right with the kind of chunk that is open, if any."""
    opened = None
    for tag in tags:
        prefix, _, kind = tag.partition("-")
        if prefix == "I" and opened != kind:
            return False
        opened = kind if prefix in "BI" else None
    return True


def reads_closed(last: str) -> Callable[[list[str]], bool]:
    """Likewise where each chunk has to be closed."""

    def reads(tags: list[str]) -> bool:
        opened = None
        for tag in tags:
            prefix, _, kind = tag.partition("-")
            continues = prefix in ("I", last)
            if continues != (opened is not None) or (continues and opened != kind):
                return False
            if prefix in ("B", last):
                opened = kind if prefix == "B" else None
        return opened is None

    return reads


ENCODINGS: dict[str, tuple[Callable[..., certus.Automaton], list[str], Callable[[list[str]], bool]]] = {
    "bio": (certus.bio, BIO, reads_bio),
    "bilou": (certus.bilou, BILOU, reads_closed("L")),
    "iobes": (certus.iobes, IOBES, reads_closed("E")),
}
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


@every_encoding
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4])
def test_accepts_what_can_be_read(encoding: str, length: int) -> None:
    make, labels, reads = ENCODINGS[encoding]
    automaton = make(labels)
    for path in product(range(len(labels)), repeat=length):
        assert automaton.accepts(path) == reads([labels[y] for y in path]), [labels[y] for y in path]


@every_encoding
def test_the_order_of_the_labels_is_the_callers(encoding: str) -> None:
    make, labels, _ = ENCODINGS[encoding]
    order = np.random.default_rng(1).permutation(len(labels))
    mixed, plain = make([labels[y] for y in order]), make(labels)
    assert (mixed.legal == plain.legal[np.ix_(order, order)]).all()
    assert (mixed.start == plain.start[order]).all()
    assert (mixed.end == plain.end[order]).all()


@every_encoding
def test_joint_labels(encoding: str) -> None:
    make, tags, reads = ENCODINGS[encoding]
    labels = [f"{word}|{tag}" for tag in tags for word in ("NN", "V-B")]
    automaton = make(labels, part=lambda label: label.split("|")[1])
    for path in product(range(len(labels)), repeat=2):
        assert automaton.accepts(path) == reads([tags[y // 2] for y in path])


def test_kinds_may_be_missing_or_hyphenated() -> None:
    automaton = certus.bio(["O", "B", "I", "B-A-1", "I-A-1", "I-A"])
    assert automaton.accepts([1, 2, 2])
    assert automaton.accepts([3, 4])
    assert not automaton.accepts([3, 5])
    assert not automaton.accepts([3, 2])


@every_encoding
@pytest.mark.parametrize("method", METHODS)
def test_the_best_legal_sequence(encoding: str, method: str) -> None:
    make, labels, reads = ENCODINGS[encoding]
    automaton, size = make(labels), len(labels)
    rng = np.random.default_rng(2)
    paths = all_paths(4, size)
    legal = np.array([reads([labels[y] for y in path]) for path in paths.tolist()])
    for _ in range(5):
        scores = Scores(integers(rng, (4, size), 5), integers(rng, (size, size), 5))
        best = best_of(path_scores(scores, paths[legal]), 10)
        chain = certus.Chain(scores.transitions)
        found = chain.decode(scores.emissions, method=method, allowed=automaton)
        assert automaton.accepts(found.labels.tolist())
        assert found.score <= best[0] <= found.bound
        assert found.score == best[0] or not METHODS[method].exact
        if METHODS[method].many:
            many: Any = chain.decode(scores.emissions, k=10, method=method, allowed=automaton)
            assert all(map(automaton.accepts, many.labels.tolist()))
            assert many.scores.tolist() == best.tolist()


def any_automaton(rng: np.random.Generator, labels: int) -> certus.Automaton:
    legal, start, end = rng.random((labels, labels)) < 0.6, rng.random(labels) < 0.7, rng.random(labels) < 0.7
    return certus.Automaton([f"y{n}" for n in range(labels)], legal, start=start, end=end)


def restricted(problem: Problem, automaton: certus.Automaton) -> Scores:
    scores = problem.scores
    zeros = np.zeros(scores.labels)
    return Scores(
        scores.emissions,
        np.where(automaton.legal, scores.transitions, -np.inf),
        np.where(automaton.start, zeros if scores.start is None else scores.start, -np.inf),
        np.where(automaton.end, zeros if scores.end is None else scores.end, -np.inf),
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_automaton_on_any_chain(seed: int) -> None:
    """Shared, per-position and sparse transitions, with and without start and end scores."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        problem = random_problem(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        automaton = any_automaton(rng, problem.scores.labels)
        best = best_of(all_scores(restricted(problem, automaton)), 3).tolist()
        options: Any = {"k": 3, "allowed": automaton, "infeasible": "return"}
        found: Any = problem.chain.decode(problem.emissions, **options)
        assert found.scores.tolist() == best, problem
        assert problem.chain.decode_batch([problem.emissions], **options)[0].scores.tolist() == best
        assert all(map(automaton.accepts, found.labels.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_allowed_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        problem = random_problem(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        mask = rng.random(problem.emissions.shape) < 0.7
        scores = problem.scores
        masked = Scores(
            np.where(mask, scores.emissions, -np.inf), scores.transitions, scores.start, scores.end
        )
        options: Any = {"k": 3, "allowed": mask, "infeasible": "return"}
        found: Any = problem.chain.decode(problem.emissions, **options)
        assert found.scores.tolist() == best_of(all_scores(masked), 3).tolist(), problem


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_sparse_transitions_stay_sparse(share: float) -> None:
    rng = np.random.default_rng(3)
    matrix = np.where(rng.random((30, 30)) < 0.1, integers(rng, (30, 30), 5), 2.0)
    sparse = listed(matrix, 2.0)
    automaton = certus.Automaton([str(n) for n in range(30)], rng.random((30, 30)) < share)
    kept = certus.Chain(sparse).constrain(automaton).transitions
    assert isinstance(kept, certus.SparseTransitions)
    assert (kept.to_dense() == np.where(automaton.legal, matrix, -np.inf)).all()


def test_legal_pairs_by_name() -> None:
    automaton = certus.Automaton(
        ["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "c")], start=["a"], end=["c"]
    )
    accepted = [path for n in (1, 2, 3, 4) for path in product(range(3), repeat=n) if automaton.accepts(path)]
    assert accepted == [(0, 1, 2), (0, 1, 2, 2)]
    found = certus.decode(np.zeros((4, 3)), np.zeros((3, 3)), allowed=automaton)
    assert found.labels.tolist() == [0, 1, 2, 2]


def test_a_constraint_is_prepared_once() -> None:
    chain, automaton = certus.Chain(np.zeros((5, 5))), certus.bio(BIO)
    assert chain.constrain(automaton) is chain.constrain(automaton)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: certus.bio(["O", "L-X"]), "'L-X' has prefix 'L'.*B, I, O"),
        (lambda: certus.bilou(["S-X"]), "'S-X' has prefix 'S'.*B, I, L, O, U"),
        (lambda: certus.bio(["NN|B-X"]), "part="),
        (lambda: certus.bio(["O", "O"]), "'O' is given twice"),
        (lambda: certus.Automaton(["a"], [("a", "b")]), "'b' is not one of the 1 labels"),
        (lambda: certus.Automaton(["a"], [], start=["b"]), "'b' is not one"),
        (lambda: certus.Automaton(["a"], np.ones((2, 2), bool)), r"legal must have shape \(1, 1\).*\(2, 2\)"),
        (lambda: certus.Automaton(["a"], [], end=np.ones(2, bool)), r"end must have shape \(1,\).*\(2,\)"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        call()
