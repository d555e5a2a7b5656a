"""Directional models against enumeration, and what training promises: threads, checkpoints, agreement."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.learn.aligner import AlignerOptions, train_aligner
from certus.learn.bitext import RARE, Bitext, pair_up
from tests.reference.align import enumerate_hmm

WORDS = [f"w{n}" for n in range(30)]


def make_pairs(seed: int, count: int) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences and word by word translations of them, a little out of order and with words left out."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(count):
        words = [WORDS[n] for n in rng.integers(0, len(WORDS), rng.integers(1, 8))]
        translated = [word.upper()[::-1] for word in words if rng.random() < 0.9] or ["NULL"]
        if len(translated) > 2 and rng.random() < 0.3:
            translated[0], translated[1] = translated[1], translated[0]
        source.append(words)
        target.append(translated)
    return source, target


def make_bitext(seed: int, count: int) -> Bitext:
    return Bitext(pair_up(*make_pairs(seed, count)))


def test_hmm_posteriors_are_those_of_all_paths() -> None:
    aligner = certus.Aligner(model="hmm", spelling=0.0, stems=0.0).fit(*make_pairs(1, 60))
    arrays = aligner._arrays
    words = [arrays[f"{side}_words"].tobytes().decode().split("\n") for side in ("source", "target")]
    table = {
        (source, target): pair
        for source in range(len(words[0]))
        for target, pair in zip(
            arrays["target"][arrays["begin"][source] : arrays["begin"][source + 1]],
            arrays["lexical"].reshape(-1, 2)[arrays["begin"][source] : arrays["begin"][source + 1]],
            strict=True,
        )
    }
    left, right = ["w3", "w7", "w3", "w9"], ["3W", "9W", "7W"]
    ids = [[words[0].index(w) for w in left], [words[1].index(w) for w in right]]
    for name, d in (("forward", 1), ("backward", 0)):
        made, given = (ids[1], ids[0]) if d == 1 else (ids[0], ids[1])
        norm, null = arrays[f"norm_{name}"], arrays[f"null_{name}"]
        unseen = np.exp(-10.423754940411076)  # psi(0.1)
        word = np.array([
            [
                table.get((s, g) if d == 1 else (g, s), np.full(2, unseen / norm[s]))[d]
                for s in given
            ]
            for g in made
        ])  # fmt: skip
        links, nothing, _ = enumerate_hmm(word, null[made], arrays[f"jumps_{name}"], aligner.options.null)
        found = aligner.posteriors(left, right)
        expected = links.T if d == 1 else links
        assert np.allclose(getattr(found, name), expected, atol=2e-5)
        assert np.allclose(getattr(found, f"{name}_null"), nothing, atol=2e-5)


@pytest.mark.parametrize("model", ["ibm1", "diagonal", "hmm", "fertility"])
@pytest.mark.parametrize("agreement", [True, False])
def test_every_model_learns(model: str, agreement: bool) -> None:
    source, target = make_pairs(2, 300)
    aligner = certus.Aligner(model=model, agreement=agreement).fit(source, target)
    found = aligner.align(["w4", "w8", "w15"], ["4W", "8W", "51W"])
    assert found.links == ((0, 0), (1, 1), (2, 2))
    assert found.optimal
    assert found.probabilities is not None
    assert (found.probabilities > 0.5).all()


def test_posteriors_are_distributions() -> None:
    aligner = certus.Aligner().fit(*make_pairs(3, 100))
    found = aligner.posteriors(["w1", "never", "w2"], ["1W", "2W", "seen", "4W"])
    assert np.allclose(found.forward.sum(0) + found.forward_null, 1, atol=1e-5)
    assert np.allclose(found.backward.sum(1) + found.backward_null, 1, atol=1e-5)


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_one_direction(method: str) -> None:
    """Each word gets its most probable link, or none where that is more probable."""
    source, target = make_pairs(3, 100)
    aligner = certus.Aligner().fit(source, target)
    source, target = [*source, [], ["w1"]], [*target, ["1W"], []]
    for left, right, found in zip(
        source, target, aligner.align_batch(source, target, method=method), strict=True
    ):
        posteriors, expected = aligner.posteriors(left, right), set()
        links = posteriors.forward.T if method == "forward" else posteriors.backward
        null = posteriors.forward_null if method == "forward" else posteriors.backward_null
        for word, row in enumerate(links if links.size else []):
            if row.max() > null[word]:
                expected.add((int(row.argmax()), word) if method == "forward" else (word, int(row.argmax())))
        assert found.links == tuple(sorted(expected))
        assert found.probabilities is not None
        assert found.probabilities.tolist() == [posteriors.links[link] for link in found.links]


def test_likelihood_of_plain_em_rises() -> None:
    losses: list[float] = []
    options = AlignerOptions(model="hmm", agreement=False, sparse=0.0, iterations=6)
    train_aligner(make_bitext(4, 200), options, progress=lambda p: losses.append(p.loss))
    for stage in (losses[1:6], losses[6:]):  # the first loss is that of uniform weights, which are no model
        assert all(after <= before + 0.02 for before, after in itertools.pairwise(stage)), losses
    assert losses[-1] < losses[1]


def test_threads_learn_the_same() -> None:
    one, three = (train_aligner(make_bitext(5, 1500), AlignerOptions(), threads=n) for n in (1, 3))
    assert one.keys() == three.keys()
    for name in one:
        assert (one[name] == three[name]).all(), name


def test_a_file_for_what_memory_does_not_hold_learns_the_same() -> None:
    small, large = (
        train_aligner(make_bitext(5, 400), AlignerOptions(), cells_in_memory=n) for n in (0, 10**6)
    )
    for name in small:
        assert (small[name] == large[name]).all(), name


class Stop(Exception):
    """Ends training."""


def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    bitext, options, file = make_bitext(6, 200), AlignerOptions(), tmp_path / "checkpoint"
    whole = train_aligner(bitext, options)

    def end(progress: object) -> None:
        if getattr(progress, "epoch") == 7:  # noqa: B009
            raise Stop

    with pytest.raises(Stop):
        train_aligner(bitext, options, checkpoint=file, progress=end)
    seen: list[int] = []
    again = train_aligner(bitext, options, checkpoint=file, progress=lambda p: seen.append(p.epoch))
    assert seen == list(range(8, 16))
    for name in whole:
        assert (whole[name] == again[name]).all(), name
    with pytest.raises(certus.ModelError, match="another training run"):
        train_aligner(make_bitext(7, 50), options, checkpoint=file)


def test_repeated_pairs_are_counted() -> None:
    source, target = make_pairs(8, 40)
    bitext = Bitext(pair_up(source + source[:10], target + target[:10]))
    assert bitext.pairs == 50
    assert len(bitext.times) <= 40
    assert bitext.times.sum() == 50


def test_rare_words_are_learned_as_one() -> None:
    pairs = [(["a", "b"], ["x", "y"]), (["a", "c"], ["x", "z"]), (["a", "b"], ["x", "y"])]
    bitext = Bitext(pairs, min_count=2)
    assert bitext.sides[0].list_words() == [RARE, "a", "b"]
    assert bitext.sides[0].ids.tolist() == [1, 2, 1, 0]
    assert Bitext(pairs, min_count=1).sides[0].list_words() == ["a", "b", "c"]
    source, target = make_pairs(2, 300)
    aligner = certus.Aligner(min_count=12).fit([*source, ["once"]], [*target, ["ONCE"]])
    assert aligner.description["training"]["source_words"] < len(WORDS) + 2
    assert aligner.align(["w4", "once", "w15"], ["4W", "once", "51W"]).links == ((0, 0), (1, 1), (2, 2))


def test_pairs_left_out() -> None:
    bitext = Bitext(pair_up([["a"], [], ["b"], ["c"] * 9], [["x"], ["y"], [], ["z"]]), max_length=8)
    assert bitext.pairs == 1
    assert bitext.skipped == {"empty": [1, 2], "long": [3]}
    for source, target in (([["a"], ["b"]], [["x"]]), ([["a"]], [["x"], ["y"]])):
        with pytest.raises(certus.InvalidInput, match="target sentence"):
            Bitext(pair_up(source, target))
    with pytest.raises(certus.InvalidInput, match=r"text\.split"):
        Bitext([("a b", ["x"])])
