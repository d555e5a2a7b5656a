"""`auto` on lattices that take it several sweeps, against the dense sweep."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain import IterativeViterbiAStar, Viterbi

LATTICES = 120
RANDOM = int(os.environ.get("CERTUS_LATTICES", "25"))  # random models; thousands are a campaign
ITERATIVE = (
    IterativeViterbiAStar(),
    IterativeViterbiAStar(patience=math.inf),
    IterativeViterbiAStar(ends=True),
    IterativeViterbiAStar(listed=2),
    IterativeViterbiAStar(first=False),
)
Scores = tuple[NDArray[Any], NDArray[Any]]


def contested(rng: np.random.Generator, whole: bool) -> Scores:
    """Draw labels that stand out, but not by so much that one look settles it."""
    many = rng.random() < 0.2  # so many that few transitions are read
    labels, length = int(rng.integers(*((1450, 1600) if many else (200, 800)))), int(rng.integers(4, 24))
    transitions = rng.normal(size=(labels, labels)) * rng.choice([0.5, 1.0, 2.0])
    if rng.random() < 0.3:
        transitions *= rng.random((labels, labels)) < 0.1
    if rng.random() < 0.2:
        transitions[rng.random((labels, labels)) < 0.3] = -np.inf
    emissions = rng.normal(size=(length, labels))
    emissions[np.arange(length), rng.integers(labels, size=length)] += rng.uniform(2, 12, length)
    if whole:
        transitions, emissions = np.rint(3 * transitions), np.rint(3 * emissions)
    precision = np.dtype(rng.choice(["float32", "float64"]))
    return transitions.astype(precision), emissions.astype(precision)


@pytest.mark.parametrize("whole", [True, False])
def test_many_sweeps_end_with_the_best_path(whole: bool) -> None:
    rng = np.random.default_rng(7)
    sweeps = []
    for _ in range(LATTICES):
        transitions, emissions = contested(rng, whole)
        chain = certus.Chain(transitions)
        found = chain.decode(emissions, infeasible="return")
        best = chain.decode(emissions, method=Viterbi(sparse=False), infeasible="return")
        close = 0.0 if whole else 1e-5 * abs(best.score)
        assert found.score == best.score or abs(found.score - best.score) <= close
        if found.stats["activated"] < emissions.size:  # it did not go to the dense sweep
            sweeps.append(found.stats["iterations"])
    assert len(sweeps) > LATTICES // 3
    assert max(sweeps) >= 3


def large(rng: np.random.Generator, least: int = 1000) -> Scores:
    """Draw whole numbers for so many labels that few transitions are read: peaked, tied or flat."""
    labels, length = int(rng.integers(least, least + 300)), int(rng.integers(1, 10))
    kind = rng.choice(["peaked", "tied", "flat"])
    if kind == "tied":
        transitions, emissions = rng.integers(0, 4, (labels, labels)), rng.integers(0, 4, (length, labels))
    else:
        transitions = rng.integers(0, 10_000, (labels, labels))
        emissions = rng.integers(0, 1000, (length, labels))
    transitions, emissions = transitions.astype(float), emissions.astype(float)
    if kind == "peaked":
        transitions *= rng.random((labels, labels)) < rng.choice([0.01, 0.1, 1.0])
        for row in emissions:
            row[rng.integers(labels, size=12)] += rng.integers(0, 20_000, 12)
    if rng.random() < 0.3:
        transitions[rng.random((labels, labels)) < 0.3] = -np.inf
        emissions[rng.random((length, labels)) < 0.5] = -np.inf
    precision = np.dtype(rng.choice(["float32", "float64"]))
    return transitions.astype(precision), emissions.astype(precision)


def test_large_label_sets_have_the_best_path() -> None:
    """With CERTUS_LATTICES=2000 this is a campaign."""
    rng = np.random.default_rng(int(os.environ.get("CERTUS_SEED", "4")))
    narrow = ordered = 0
    for _ in range(RANDOM):
        transitions, emissions = large(rng)
        ends = rng.integers(-3, 4, (2, len(transitions))).astype(transitions.dtype)
        chain = certus.Chain(transitions, start=ends[0], end=ends[1])
        found = chain.decode(emissions, infeasible="return")
        best = chain.decode(emissions, method=Viterbi(sparse=False), infeasible="return")
        assert found.score == best.score
        if found.stats["activated"] < emissions.size:
            narrow += 1
        elif found.stats["edges"] < best.stats["edges"]:
            ordered += 1
            assert found.labels.tolist() == best.labels.tolist()
    assert narrow > 0
    assert ordered > 0


def test_large_label_sets_have_the_best_lists() -> None:
    """With CERTUS_LATTICES=2000 this is a campaign."""
    rng = np.random.default_rng(int(os.environ.get("CERTUS_SEED", "14")))
    narrow = 0
    for _ in range(max(12, RANDOM // 2)):  # fewer might all be left to the whole sweep
        transitions, emissions = large(rng, 2000)
        ends = rng.integers(-3, 4, (2, len(transitions))).astype(transitions.dtype)
        chain = certus.Chain(transitions, start=ends[0], end=ends[1])
        best = chain.decode(emissions, k=40, method="viterbi-astar", infeasible="return").scores.tolist()
        for k in (2, 5, 40):
            found = chain.decode(emissions, k=k, infeasible="return")
            assert found.scores.tolist() == best[:k]
            assert len({tuple(path) for path in found.labels.tolist()}) == len(found)
            narrow += found.stats["edges"] < emissions.size
    assert narrow > 0


def test_the_best_labels_may_lead_nowhere() -> None:
    """Of many labels only the best are stepped from in full: if they lead nowhere, the others may."""
    labels = 1500
    transitions = np.random.default_rng(5).normal(size=(labels, labels))
    transitions[:20] = -np.inf
    transitions[:6, 10] = transitions[6:9, 11] = transitions[11, 12] = 0.0
    emissions = np.full((3, labels), -np.inf)
    emissions[0, :9] = 1 - np.arange(9) / 64
    emissions[1, [11, 13]], emissions[2, 12] = 1.0, 2.0
    chain = certus.Chain(transitions)
    assert chain.decode(emissions).labels.tolist() == [6, 11, 12]
    assert chain.decode(emissions, k=5).scores.tolist() == [4 - n / 64 for n in (6, 7, 8)]
    emissions[2, 12] = -np.inf
    assert chain.decode(emissions, infeasible="return").score == -np.inf


def test_many_sweeps_end_with_the_k_best_paths() -> None:
    rng = np.random.default_rng(8)
    sweeps = []
    for _ in range(LATTICES):
        transitions, emissions = contested(rng, whole=True)
        chain = certus.Chain(transitions)
        for k in (2, 5, 100):
            found = chain.decode(emissions, k=k, infeasible="return")
            best = chain.decode(emissions, k=k, method="viterbi-astar", infeasible="return")
            assert found.scores.tolist() == best.scores.tolist()
            assert len({tuple(path) for path in found.labels.tolist()}) == len(found)
            if found.stats["activated"] < emissions.size:
                sweeps.append(found.stats["iterations"])
    assert len(sweeps) > LATTICES // 2
    assert max(sweeps) >= 3


def trained(rng: np.random.Generator) -> Scores:
    """Draw whole numbers like a trained tagger's: few pairs have a weight, some words are unknown."""
    labels, length = int(rng.integers(600, 1200)), int(rng.integers(1, 7))
    common = rng.random(labels) < 0.1  # labels whose transitions promise much
    transitions = np.rint(rng.normal(0, 8, (labels, labels)))
    transitions *= rng.random((labels, labels)) < np.where(common[:, None] & common, 0.5, 0.002)
    emissions = np.rint(rng.exponential(4, (length, labels))) - 15 * common
    known = np.flatnonzero(rng.random(length) < 0.6)
    emissions[known, rng.integers(labels, size=len(known))] += rng.integers(30, 80, len(known))
    precision = np.dtype(rng.choice(["float32", "float64"]))
    return transitions.astype(precision), emissions.astype(precision)


def test_lists_of_short_sentences_need_no_dense_sweep() -> None:
    """The first labels tell little about the k-th best path: sweeps have to learn more as they go."""
    rng = np.random.default_rng(9)
    pruned = 0
    for _ in range(LATTICES // 2):
        transitions, emissions = trained(rng)
        chain = certus.Chain(transitions)
        for k in (5, 20):
            found = chain.decode(emissions, k=k)
            best = chain.decode(emissions, k=k, method="viterbi-astar")
            assert found.scores.tolist() == best.scores.tolist()
            assert len({tuple(path) for path in found.labels.tolist()}) == k
            pruned += found.stats["activated"] < emissions.size
    assert pruned > LATTICES // 2


def mixed(rng: np.random.Generator) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Draw whole numbers: dense or rare transitions, forbidden labels and pairs, both precisions."""
    labels = int(rng.integers(*((1450, 1600) if rng.random() < 0.2 else (160, 700))))
    length = int(rng.integers(1, 12))
    common = rng.random(labels) < rng.choice([0.05, 0.2])
    transitions = np.rint(rng.normal(0, rng.choice([2, 8, 20]), (labels, labels)))
    share = np.where(common[:, None] & common, 0.5, rng.choice([0.0, 0.003, 0.05, 1.0]))
    transitions *= rng.random((labels, labels)) < share
    if rng.random() < 0.2:
        transitions[rng.random((labels, labels)) < 0.2] = -np.inf
    precision = np.dtype(rng.choice(["float32", "float64"]))
    sentences = []
    for _ in range(3):
        emissions = np.rint(rng.exponential(rng.choice([2, 4, 8]), (length, labels)))
        emissions -= rng.choice([0, 15]) * common
        known = np.flatnonzero(rng.random(length) < 0.6)
        emissions[known, rng.integers(labels, size=len(known))] += rng.integers(5, 80, len(known))
        if rng.random() < 0.2:
            emissions[rng.random((length, labels)) < 0.3] = -np.inf
        sentences.append(emissions.astype(precision))
    return transitions.astype(precision), sentences


def test_random_lists_equal_those_of_viterbi_astar() -> None:
    """With CERTUS_LATTICES=20000 this is a campaign."""
    rng = np.random.default_rng(int(os.environ.get("CERTUS_SEED", "3")))
    for _ in range(RANDOM):
        transitions, sentences = mixed(rng)
        chain = certus.Chain(transitions)
        for emissions in sentences:
            best = chain.decode(emissions, k=100, method="viterbi-astar", infeasible="return").scores.tolist()
            for k in (2, 5, 20, 100):
                found = chain.decode(emissions, k=k, infeasible="return")
                assert found.scores.tolist() == best[:k]
                assert len({tuple(path) for path in found.labels.tolist()}) == len(found)
            one = chain.decode(emissions, infeasible="return")
            assert one.score == (best[0] if best else -np.inf)
            for k in (2, 20, 100):
                for method in ITERATIVE:
                    other = chain.decode(emissions, k=k, method=method, infeasible="return")
                    assert other.scores.tolist() == best[:k]
                    assert len({tuple(path) for path in other.labels.tolist()}) == len(other)
            if chain.labels < 400:
                plain = chain.decode(emissions, k=20, method="kbest-viterbi", infeasible="return")
                assert plain.scores.tolist() == best[:20]


def test_ties_everywhere_are_met_by_their_bound() -> None:
    """Whole numbers from 0 to 3: many paths score all that any could, and are found among few labels."""
    rng = np.random.default_rng(9)
    met = 0
    for _ in range(LATTICES // 4):
        labels, length = int(rng.integers(160, 500)), int(rng.integers(1, 20))
        transitions = rng.integers(0, 4, (labels, labels)).astype(np.float64)
        if rng.random() < 0.3:
            transitions[rng.random((labels, labels)) < 0.5] = -np.inf
        emissions = rng.integers(0, 4, (length, labels)).astype(np.float64)
        start, end = rng.integers(0, 4, (2, labels)).astype(np.float64)
        chain = certus.Chain(transitions, start=start, end=end)
        one = chain.decode(emissions)
        assert one.score == one.bound == chain.decode(emissions, method="viterbi").score
        met += one.stats["edges"] < labels * labels
        for k in (3, 50):
            found = chain.decode(emissions, k=k)
            best = chain.decode(emissions, k=k, method="viterbi-astar")
            assert found.scores.tolist() == best.scores.tolist()
            assert len({tuple(path) for path in found.labels.tolist()}) == len(found)
    assert met > LATTICES // 8
