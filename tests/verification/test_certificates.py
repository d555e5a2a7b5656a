"""Every certificate is accepted, and what it proves is the optimum of all structures, listed one by one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.hypergraph import Builder
from certus.latent import BHP, LatentChain
from certus.relax import Decomposition, FactorGraph
from certus.relax.parts import Budget, ExactlyOne, TablePart, TreePart
from certus.verification import Certificate, CertificateError, Problem, make_problem
from tests.reference.certificates import Listing
from tests.reference.relax import ListedPart
from tests.verification.problems import KINDS, Solved


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proven_is_the_optimum(kind: str, tmp_path: Path) -> None:
    for seed in range(60):
        solved = KINDS[kind](np.random.default_rng(seed))
        verdict = certus.verify(solved.stating, solved.solution)
        assert verdict, (seed, str(verdict))
        if kind == "latent":
            assert verdict.epsilon is not None
            assert verdict.epsilon < Fraction(1, 10**30)
            continue
        assert verdict.proven, (seed, str(verdict))
        assert verdict.score == verdict.bound == Listing(solved.problem).optimum, seed
        if verdict.score is not None:
            assert solved.solution.score == verdict.score, seed
    check_files(solved, tmp_path)


def check_files(solved: Solved, folder: Path) -> None:
    """A problem and a certificate say the same after they were written and read."""
    certificate = solved.solution.certificate
    assert certificate is not None
    solved.problem.save(folder / "problem.json")
    certificate.save(folder / "certificate.json")
    assert Problem.load(folder / "problem.json").fingerprint == solved.problem.fingerprint
    verdict = certus.verify(folder / "problem.json", folder / "certificate.json")
    assert str(verdict) == str(certus.verify(solved.stating, solved.solution))


@pytest.mark.parametrize("steps", [0, 2])
def test_a_sentence_without_positions_has_a_certificate(steps: int) -> None:
    chain, emissions = certus.Chain(np.zeros((steps, 3, 3))), np.empty((0, 3))
    assert certus.verify((chain, emissions), chain.decode(emissions, certificate=True)).proven


def test_rounding_is_measured() -> None:
    rng = np.random.default_rng(0)
    chain, emissions = certus.Chain(rng.normal(size=(7, 7))), rng.normal(size=(15, 7))
    verdict = certus.verify((chain, emissions), chain.decode(emissions, certificate=True))
    assert verdict
    assert verdict.epsilon is not None
    assert 0 <= verdict.epsilon < Fraction(1, 10**11)
    assert str(verdict).startswith("proven")
    tenths = FactorGraph()
    one, two = tenths.add_variable([0.1, 0.2]), tenths.add_variable([0.3, 0.1])
    tenths.add_table([one, two], [[0.7, 0.1], [0.4, 0.6]])
    assert certus.verify(tenths, tenths.solve(certificate=True)).score == sum(map(Fraction, (0.1, 0.3, 0.7)))


def test_a_worse_answer_is_told_by_how_much() -> None:
    chain, emissions = certus.Chain(np.zeros((2, 2))), np.array([[0.0, 3.0]])
    beam = chain.decode(emissions, certificate=True)
    assert beam.certificate is not None
    worse = Certificate.of_json(beam.certificate.as_json() | {"answer": [0], "score": 0})
    verdict = certus.verify((chain, emissions), worse)
    assert not verdict.proven
    assert verdict.epsilon == 3
    assert str(verdict) == "proven to within 3: score 0"
    latent = LatentChain(np.zeros((4, 4)), 2)
    scores = np.log(np.array([[5.0, 1, 3, 4]] * 2))
    found = certus.verify((latent, scores), latent.decode(scores, inference=BHP(), certificate=True))
    assert found.epsilon == pytest.approx(49 / 36 - 1)


@pytest.mark.parametrize("weight", [0.25, 1.0, 2.0, 64.0])
def test_weights_count_where_branches_are_enforced(weight: float) -> None:
    d = Decomposition()
    one, two = d.add(ExactlyOne([1.0])), d.add(TablePart([-2.0, 4.0]), weight=weight)
    d.agree((one, "cells", [0]), (two, "0", [0]))
    verdict = certus.verify(d, d.solve(certificate=True))
    assert verdict.proven
    assert verdict.score == 1 - 2 * weight


def test_what_has_no_certificate_is_refused_by_name() -> None:
    chain, emissions = certus.Chain(np.zeros((2, 2))), np.zeros((2, 2))
    with pytest.raises(certus.InvalidInput, match="k must be 1, not 2"):
        certus.decode(emissions, np.zeros((2, 2)), k=2, certificate=True)  # type: ignore[call-overload]
    with pytest.raises(CertificateError, match="ask for one with certificate=True"):
        certus.verify((chain, emissions), chain.decode(emissions))
    with pytest.raises(CertificateError, match="a dict_keys does not state a problem"):
        certus.verify({}.keys(), chain.decode(emissions, certificate=True))
    with pytest.raises(CertificateError, match="a Chain states a problem together with what it was asked"):
        certus.verify(chain, chain.decode(emissions, certificate=True))
    with pytest.raises(certus.InvalidInput, match="leave out k, siblings"):
        certus.Trees(projective=True).decode(np.zeros((1, 2)), certificate=True)
    whole = Decomposition()
    whole.add(Budget([1.0], 1))
    whole.add(ListedPart([1.0], {"x": np.ones((1, 1), np.int8)}), "mine")
    with pytest.raises(CertificateError, match="with the part mine"):
        whole.solve(certificate=True)


def test_masks_and_automata_are_part_of_the_problem() -> None:
    labels = ["O", "B-X", "I-X"]
    chain, rng = certus.Chain(np.zeros((3, 3))), np.random.default_rng(1)
    emissions = rng.integers(-3, 4, (5, 3)).astype(float)
    legal, mask = certus.bio(labels), rng.random((5, 3)) < 0.8
    mask[:, 0], mask[1] = True, [False, True, False]
    for allowed in (legal, mask):
        found = chain.decode(emissions, allowed=allowed, certificate=True)
        assert certus.verify((chain, emissions, allowed), found).proven
        with pytest.raises(CertificateError, match="of another problem"):
            certus.verify((chain, emissions), found)


def test_a_problem_can_be_stated_by_anyone() -> None:
    emissions, transitions = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[0.0, -np.inf], [1.0, 3.0]])
    found = certus.decode(emissions, transitions, certificate=True)
    stated = {"kind": "chain", "emissions": emissions.tolist(), "transitions": [[0, None], [1, 3]]}
    assert certus.verify(stated, found).score == 4
    assert certus.verify(make_problem("chain", {"emissions": emissions, "transitions": transitions}), found)


def test_forbidding_scores_leave_proofs_of_single_roots_sharp() -> None:
    """What the root loses is of their size only where it has to be, so that duals are rounded by less."""
    arcs = np.array([
        [-1e12, 1, -1e6, 1],
        [0.67222650456897426, 0.0386, -1e6, 1.5406076],
        [1.556995757, -1e6, -1e12, -1e12],
    ])  # fmt: skip
    trees = certus.Trees(single_root=True)
    verdict = certus.verify(trees.state_problem(arcs), trees.decode(arcs, certificate=True).certificate)
    assert verdict.score is not None
    assert verdict.bound is not None
    assert 0 <= verdict.bound - verdict.score < 1e-12


def test_files_of_arrays(tmp_path: Path) -> None:
    emissions, transitions = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[0.0, -np.inf], [1.0, 3.0]])
    np.savez(tmp_path / "chain.npz", emissions=emissions, transitions=transitions)
    assert certus.verify(
        tmp_path / "chain.npz", certus.decode(emissions, transitions, certificate=True)
    ).proven
    arcs = np.array([[1.0, 0.0]])
    np.savez(tmp_path / "trees.npz", arcs=arcs, single_root=1)
    found = certus.Trees(single_root=True).decode(arcs, certificate=True)
    assert certus.verify(tmp_path / "trees.npz", found).proven
    builder = Builder()
    builder.add("goal", score=2.0)
    graph = builder.build("goal")
    names = ("heads", "offsets", "tails", "goals")
    np.savez(tmp_path / "forest.npz", **{n: getattr(graph, n) for n in names}, nodes=1, scores=builder.scores)
    assert certus.verify(tmp_path / "forest.npz", graph.decode(builder.scores, certificate=True)).score == 2


def test_a_limit_leaves_a_bound_that_is_certified() -> None:
    whole, rng = Decomposition(), np.random.default_rng(3)
    parts = [whole.add(TreePart(rng.integers(-9, 9, (5, 6)))) for _ in range(2)]
    whole.agree(*((part, "heads") for part in parts))
    found = whole.solve(max_iterations=1, max_nodes=1, certificate=True)
    verdict = certus.verify(whole, found)
    assert verdict
    assert verdict.bound is not None
    assert verdict.bound <= Fraction(found.bound)
