"""Aligners as people use them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from tests.align.test_models import make_pairs


@pytest.fixture(scope="module")
def aligner() -> certus.Aligner:
    return certus.Aligner().fit(*make_pairs(1, 300), metadata={"licence": "none"})


def test_saved_and_loaded(aligner: certus.Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path / "a.certus")
    source, target = make_pairs(9, 50)
    expected = [(found.links, found.score) for found in aligner.align_batch(source, target)]
    for other in (certus.load(tmp_path / "a.certus"), pickle.loads(pickle.dumps(aligner))):
        assert [(found.links, found.score) for found in other.align_batch(source, target)] == expected
        assert other.description == aligner.description
        assert other.description["licence"] == "none"
        assert other.description["training"]["pairs"] == 300
    assert pickle.loads(pickle.dumps(certus.Aligner(model="hmm"))).options.model == "hmm"


def test_batches_and_threads(aligner: certus.Aligner) -> None:
    source, target = make_pairs(10, 60)
    several = aligner.align_batch(source, target, threads=3)
    assert all(found.optimal and found.score == found.bound for found in several)
    for left, right, found in zip(source, target, several, strict=True):
        assert aligner.align(left, right).links == found.links


def test_rules_and_exact_answers(aligner: certus.Aligner) -> None:
    source, target = make_pairs(11, 60)
    by_rule = {
        method: [set(found.links) for found in aligner.align_batch(source, target, method=method)]
        for method in certus.align.SYMMETRIZATIONS
    }
    for n in range(len(source)):
        both = by_rule["forward"][n], by_rule["backward"][n]
        assert by_rule["intersection"][n] == both[0] & both[1]
        assert by_rule["union"][n] == both[0] | both[1]
        assert both[0] & both[1] <= by_rule["grow-diag"][n] <= both[0] | both[1]
    unproven = aligner.align(source[0], target[0], method="union")
    assert not unproven.optimal
    assert unproven.status is certus.Status.FEASIBLE


def test_full_agreement_is_one_to_one(aligner: certus.Aligner) -> None:
    for left, right in zip(*make_pairs(12, 60), strict=True):
        links = aligner.align(left, right, agreement="full").links
        assert len({i for i, _ in links}) == len({j for _, j in links}) == len(links)


def test_more_null_means_fewer_links(aligner: certus.Aligner) -> None:
    source, target = make_pairs(13, 60)
    counts = [
        sum(len(found.links) for found in aligner.align_batch(source, target, null=null))
        for null in (-3, 0.5, 20)
    ]
    assert counts[0] >= counts[1] > counts[2]


def test_words_never_seen(aligner: certus.Aligner) -> None:
    """Spelling and place decide; empty sides have no links."""
    found = aligner.align(["w1", "Geneva", "w2"], ["1W", "Geneva", "2W"])
    assert (1, 1) in found.links
    assert (
        aligner.align([], ["x"]).links == () == aligner.align(["x"], []).links == aligner.align([], []).links
    )
    assert aligner.align(["w1"] * 40, ["1W"]).optimal


def test_lexicon(aligner: certus.Aligner) -> None:
    lexicon = {(source, target): (p, q) for source, target, p, q in aligner.lexicon()}
    assert min(lexicon["w4", "4W"]) > 0.5
    assert all(max(both) >= 0.01 for both in lexicon.values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modell": "hmm"}, "no option 'modell'"),
        ({"model": "ibm9"}, "no model 'ibm9'"),
        ({"iterations": 0}, "iterations"),
        ({"sparse": -1}, "sparse"),
        ({"null": 1.0}, "null"),
    ],
)
def test_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        certus.Aligner(**given)


def test_refusals(aligner: certus.Aligner, tmp_path: Path) -> None:
    with pytest.raises(certus.NotFitted, match="not trained"):
        certus.Aligner().align(["a"], ["b"])
    with pytest.raises(certus.InvalidInput, match="nothing to learn from"):
        certus.Aligner().fit([[]], [[]])
    with pytest.raises(certus.InvalidInput, match="no method"):
        aligner.align(["a"], ["b"], method="best")
    with pytest.raises(certus.InvalidInput, match=r"text\.split"):
        aligner.align("a b", "c d")
    with pytest.raises(certus.InvalidInput, match="as many"):
        aligner.align_batch([["a"]], [])
    aligner.save(tmp_path / "a.certus")
    with pytest.raises(certus.ModelError, match="aligner"):
        certus.Tagger.load(tmp_path / "a.certus")


def test_damaged_files(aligner: certus.Aligner, tmp_path: Path) -> None:
    from certus.storage import model_file

    for name, change in (
        ("target", lambda a: np.full_like(a, 10_000)),
        ("lexical", lambda a: a[:-1]),
        ("norm_forward", lambda a: np.full_like(a, np.nan)),
        ("jumps_forward", lambda a: a[:80]),
        ("stem_begin", lambda a: a[::-1].copy()),
        ("stem_begin", lambda a: np.concatenate([a, np.repeat(a[-1:], 1000)])),
    ):
        arrays = {**aligner._arrays, name: change(aligner._arrays[name])}
        model_file.write(tmp_path / "bad.certus", "aligner", arrays, aligner.description)
        with pytest.raises(certus.ModelError, match=r"bad\.certus"):
            certus.load(tmp_path / "bad.certus")


def test_potentials_are_probabilities(aligner: certus.Aligner) -> None:
    """The scores of the HMMs: steps from a place add up to 1, and joint decoding of them is proven."""
    found = aligner.potentials(["w1", "w2", "w3"], ["1W", "2W"])
    assert found.forward.shape == found.backward.shape == (3, 2)
    assert found.forward_steps.shape == (4, 4)
    assert np.allclose(np.exp(found.forward_steps).sum(1), 1)
    assert np.allclose(np.exp(found.backward_steps).sum(1), 1)
    best = certus.align.align_matrix(**found.arguments, agreement="adjacent")
    assert best.optimal
    assert {(0, 0), (1, 1)} <= set(best.links)


def test_a_long_pair(aligner: certus.Aligner) -> None:
    words = [f"w{n % 30}" for n in range(150)]
    found = aligner.align(words, [word.upper()[::-1] for word in words])
    assert found.optimal
    assert len(found.links) > 140
