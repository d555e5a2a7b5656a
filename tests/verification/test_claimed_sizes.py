"""Small files that claim large sizes, or hold what does not belong there: no crash, no long work."""

from __future__ import annotations

import contextlib
import itertools
import json
import resource
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import certus
from certus.cli.verify import run
from certus.verification import Certificate, CertificateError, Problem, make_problem
from tests.patience import PATIENCE, SANITIZED

EMPTY = {"shape": [2**31 - 1, 0]}
CHAIN = {"kind": "chain", "emissions": [[1.0]], "transitions": [[0.0]], "links": [0]}
TABLE = {"kind": "table", "table": [0.0, 1.0], "scores": [0.0], "shape": [2], "single": [1], "links": [0]}
TREE = {"kind": "trees", "arcs": [[1.0, None]], "single_root": 0, "links": [0, 1]}
EDGE = {"kind": "forest", "scores": [1.0], "heads": [0], "offsets": [0, 0], "tails": [], "goals": [0]}
FOREST = {**EDGE, "nodes": 1, "cell_edges": [0], "cells": [0], "cell_count": 1, "links": [0]}
KNAPSACK = {"kind": "knapsack", "scores": [1.0], "negated": [0], "weights": [10**7], "links": [0]}
NOTHING = {"kind": "knapsack", "scores": [], "negated": [], "weights": [], "links": []}


@pytest.fixture(autouse=True)
def _little_memory() -> Iterator[None]:
    """Let what would take all memory fail at once."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if not SANITIZED:  # sanitizers map terabytes for their own use
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def check(kind: str, claims: dict[str, Any], **data: Any) -> None:
    """Verify what is refuted or refused, in no time."""
    began = perf_counter()
    with contextlib.suppress(CertificateError):
        problem = Problem.of_json({"format": "certus-problem", "version": 1, "kind": kind, **data})
        given = {"format": "certus-certificate", "version": 1, "kind": kind, "answer": None, "score": None}
        given |= {"bound": None, "fingerprint": problem.fingerprint, **claims}
        assert not certus.verify(problem, Certificate.of_json(given))
    assert perf_counter() - began < 5 * PATIENCE


def leaves(parts: int) -> dict[str, Any]:
    return {"proof": {"nodes": [{"multipliers": [None] * parts}]}}


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "chain", "emissions": EMPTY, "transitions": {"shape": [0, 0]}, "links": []},
        {"kind": "trees", "arcs": EMPTY, "single_root": 0, "links": []},
        {**EDGE, "nodes": 2**40, "links": []},
        {
            **EDGE,
            "nodes": 2**40 + 1,
            "heads": [2**40],
            "goals": [2**40],
            "cell_edges": [],
            "cells": [],
            "links": [],
        },
        {**NOTHING, "capacity": 2**60},
        {"kind": "or-output", "scores": [], "negated": [], "links": []},
    ],
)
def test_parts(part: dict[str, Any]) -> None:
    check("decomposition", {**leaves(1), "answer": [[]]}, variables=0, parts=[part])
    check("decomposition", leaves(1), variables=0, parts=[part])


def test_variables_and_rows() -> None:
    for variables in (2**40, 2**61):
        check("decomposition", leaves(0), variables=variables, parts=[])
    check("latent", {"proof": {"expanded": [[]]}}, emissions=EMPTY, transitions={"shape": [0, 0]}, owner=[])
    check("chain", {"proof": {"potentials": []}}, emissions=EMPTY, transitions={"shape": [0, 0]})


def test_work_of_knapsacks_is_limited() -> None:
    parts = [{**KNAPSACK, "capacity": 10**7 - 1}] * 1000
    check("decomposition", leaves(1000), variables=1, parts=parts)


def test_many_branches_of_a_large_part_are_limited() -> None:
    """Leaves may be short to write, and yet each takes the time of the whole problem."""
    count = {"kind": "count", "scores": [0.0] * 10_000, "negated": [0] * 10_000, "least": 0, "most": 5}
    inner = [{"variable": (n + 1).bit_length(), "off": 2 * n + 1, "on": 2 * n + 2} for n in range(2**13 - 1)]
    nodes = [*inner, *[{"multipliers": [None]}] * 2**13]
    parts = [{**count, "links": list(range(10_000))}]
    check("decomposition", {"proof": {"nodes": nodes}}, variables=10_000, parts=parts)


def test_an_or_of_many_takes_no_longer_than_its_file() -> None:
    many = {"kind": "or-output", "scores": [0.0] * 50_000, "negated": [0] * 50_000}
    parts = [{**many, "links": list(range(50_000))}]
    check("decomposition", {**leaves(1), "bound": -1}, variables=50_000, parts=parts)


def test_chains_sets_and_prefixes_that_would_take_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, words = 2000, 200
    chain = {"emissions": np.zeros((300, labels)), "transitions": np.zeros((labels, labels))}
    check("chain", {"proof": {"potentials": [[0.0] * labels] * 300}}, **chain)
    sets = [{"words": list(range(words)), "value": 0}] * (2 * words)
    trees = {"arcs": np.zeros((words, words + 1)), "single_root": 0}
    monkeypatch.setattr("certus.verification.work.MOST_STEPS", 10**7)
    check("trees", {"proof": {"words": [0] * words, "sets": sets, "root": 0}}, **trees)
    owner = np.repeat(np.arange(5), 100)
    latent = {"emissions": np.zeros((9, 500)), "transitions": np.zeros((500, 500)), "owner": owner}
    prefixes = [list(prefix) for length in range(6) for prefix in itertools.product(range(5), repeat=length)]
    check("latent", {"proof": {"expanded": prefixes}}, **latent)


def test_lists_of_sequences_that_would_take_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.verification.work.MOST_STEPS", 100_000)
    pairs = {
        "sequences": np.repeat(np.arange(300), 2),
        "offsets": np.arange(0, 601, 2),
        "weights": np.ones(300),
    }
    names = {"coarse": list(range(300)), "order": 8, **pairs}  # labels like to be repeated
    problem = make_problem("ngrams", {"emissions": np.zeros((3, 300)), **names})
    proof = {"apart": [[[y] for y in range(300)]] * 3}
    given = Certificate("ngrams", problem.fingerprint, None, None, None, proof)
    with pytest.raises(CertificateError, match="the list of sequences would take"):
        certus.verify(problem, given)


def test_long_ways_of_branches() -> None:
    nodes: list[Any] = []
    for n in range(100_000):
        nodes += [{"variable": n, "off": 2 * n + 1, "on": 2 * n + 2}, {"multipliers": [None]}]
    check("decomposition", {"proof": {"nodes": nodes}}, variables=2**40, parts=[TABLE])


@pytest.mark.parametrize("part", [CHAIN, TABLE, TREE, FOREST])
@pytest.mark.parametrize("structure", [None, 5, [0, 1, 1], [None], [[0]], {}, "0"])
def test_structures_of_another_kind(part: dict[str, Any], structure: Any) -> None:
    claims = {"answer": [structure], "score": 1, "bound": 1, **leaves(1)}
    claims["proof"]["nodes"][0]["duals"] = {"0": {"words": [1], "sets": [], "root": 0}}
    check("decomposition", claims, variables=2, parts=[part])


def test_deep_arrays() -> None:
    deep: Any = 1.0
    for _ in range(900):
        deep = [deep]
    check("chain", {"proof": {"potentials": deep}}, emissions=deep, transitions=[[0.0]])
    check("chain", {"proof": {"potentials": deep}, "answer": deep}, emissions=[[1.0]], transitions=[[0.0]])
    check("ngrams", {}, emissions=[[1.0]], weights=[], coarse=deep, offsets=[0], sequences=[], order=1)


@pytest.mark.parametrize("kind", [[], {}, None, 3])
def test_lines_of_no_kind(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps({"problem": {"kind": kind}, "certificate": {}}) + "\n")
    with pytest.raises(CertificateError, match=r"lines.jsonl:1: "):
        run(str(path), None)


def test_files_without_a_certificate_prove_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    for text in ("", '{"common": {}}\n'):
        path.write_text(text)
        with pytest.raises(CertificateError, match=r"lines.jsonl holds no certificate"):
            run(str(path), None)


def test_lines_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\xff\xfe\x00{}\n")
    with pytest.raises(CertificateError, match=r"lines.jsonl is not in UTF-8"):
        run(str(path), None)


def test_lines_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.cli.verify.LARGEST_FILE", 1000)
    path = tmp_path / "lines.jsonl"
    path.write_text("x" * 2000)
    with pytest.raises(CertificateError, match=r"lines.jsonl:1: the line has more than 1,000 characters"):
        run(str(path), None)


def test_lines_that_are_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    for text in ('{"problem": {"kind": "ch', "[" * 100_000, "\n", "certainly"):
        path.write_text(text)
        with pytest.raises(CertificateError, match=r"lines.jsonl:1: not JSON, or cut off"):
            run(str(path), None)


def test_scores_that_look_the_same_are_told_apart() -> None:
    problem = make_problem("chain", {"emissions": [[1e-17]], "transitions": [[0.0]]})
    near = Fraction(1, 10**17)
    given = Certificate("chain", problem.fingerprint, [0], near, near, {"potentials": [[0]]})
    verdict = certus.verify(problem, given)
    assert not verdict
    assert "more than 1" in verdict.reason


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of labels stand for those of all their states, and wide exponents make long numbers."""
    owner = np.repeat(np.arange(2), 500)
    latent = {"emissions": np.zeros((60, 1000)), "pairs": np.zeros((59, 2, 2)), "owner": owner}
    problem = make_problem("latent", {**latent, "transitions": np.zeros((1000, 1000))})
    given = Certificate("latent", problem.fingerprint, None, None, None, {"expanded": [[]]})
    with pytest.raises(CertificateError, match=r"the latent chain would take 20,\d+,\d+,\d+ bytes"):
        certus.verify(problem, given)
    monkeypatch.setattr("certus.verification.work.MOST_BYTES", 1_200_000)
    for least, is_long in ((1.0, False), (1e-300, True)):
        steps = np.full((80, 80), 1e300)
        steps[0, 0] = least
        chain, emissions = certus.Chain(steps), np.zeros((2, 80))
        if is_long:
            with pytest.raises(CertificateError, match="all scores together would take"):
                chain.decode(emissions, certificate=True)
        else:
            assert certus.verify((chain, emissions), chain.decode(emissions, certificate=True))


def test_steps_that_are_all_alike_are_kept_once() -> None:
    states, length = 30, 200
    rng = np.random.default_rng(0)
    data = {"emissions": rng.normal(size=(length, states)), "transitions": rng.normal(size=(states, states))}
    problem = make_problem("latent", {**data, "owner": np.arange(states) // 2})
    given = Certificate("latent", problem.fingerprint, None, None, None, {"expanded": [[]]})
    tracemalloc.start()
    assert not certus.verify(problem, given)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5e6
