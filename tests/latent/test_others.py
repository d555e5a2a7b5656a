"""Best hidden path, best marginal path and reranking, against their definitions in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain.spans import find_spans
from certus.errors import InvalidInput
from certus.latent import BHP, BMP, LDI, MBR, LatentChain
from tests.latent.chains import draw

TAGS = ("B-X", "I-X", "O")


def test_best_hidden_path_is_that_of_the_chain_of_states() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        problem = draw(rng, least=1, most=50)
        chain, truth = problem.chain(), problem.truth()
        found = chain.decode(problem.scores, inference="bhp")
        best = chain.hidden.decode(problem.scores)
        labels = tuple(found.labels.tolist())
        states = chain.hidden.decode(problem.scores, k=2)
        if len(states) == 1 or states[0].score > states[1].score + 1e-9:
            assert labels == tuple(problem.owner[best.labels].tolist())
        assert found.probability == pytest.approx(float(truth[labels]), rel=1e-12)
        assert math.exp(found.bound) >= float(max(truth.values())) * (1 - 1e-12)
        assert not found.optimal or truth[labels] == max(truth.values())
        assert found.stats["paths"] == 1


def test_best_marginal_path_has_the_best_label_at_each_position() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        problem = draw(rng)
        chain, truth = problem.chain(), problem.truth()
        if not truth:
            continue
        found = chain.decode(problem.scores, inference=BMP())
        marginals = chain.marginals(problem.scores).probabilities
        for t, label in enumerate(found.labels.tolist()):
            exact = [
                sum((p for y, p in truth.items() if y[t] == each), Fraction(0))
                for each in range(chain.labels)
            ]
            assert marginals[t] == pytest.approx([float(p) for p in exact], abs=1e-12)
            assert float(exact[label]) == pytest.approx(float(max(exact)), rel=1e-12)
        own = truth.get(tuple(found.labels.tolist()), Fraction(0))
        assert math.exp(found.score) == pytest.approx(float(own), rel=1e-10)
        assert math.exp(found.bound) >= float(max(truth.values())) * (1 - 1e-12)
        assert not found.optimal or own == max(truth.values())


def accuracy(candidate: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    return float((candidate == right).mean())


def span_f1(candidate: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    a, b = (set(find_spans([TAGS[y] for y in labels])) for labels in (candidate, right))
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


@pytest.mark.parametrize(("name", "gain"), [("accuracy", accuracy), ("spans", span_f1)])
def test_reranking_takes_what_gains_most_on_average(name: str, gain: object) -> None:
    assert callable(gain)
    rng = np.random.default_rng(2)
    moved = 0
    for _ in range(300):
        length = int(rng.integers(1, 7))
        chain = LatentChain(rng.normal(size=(6, 6)), 2, names=TAGS)
        scores = rng.normal(size=(length, 6))
        collected = chain.sequences(scores, steps=12)
        rows = list(collected.labels)
        mean = [
            sum(p * gain(y, right) for right, p in zip(rows, collected.probabilities, strict=True))
            / collected.probabilities.sum()
            for y in rows
        ]
        for inference in (MBR(gain=name, steps=12), MBR(gain=gain, steps=12)):
            found = chain.decode(scores, inference=inference)
            assert found.gain == pytest.approx(max(mean))
            place = next(n for n, row in enumerate(rows) if (row == found.labels).all())
            assert mean[place] == pytest.approx(max(mean))
            assert found.score == pytest.approx(chain.log_probability(scores, found.labels))
            best = chain.decode(scores)
            assert math.exp(found.bound) >= best.probability * (1 - 1e-12)
            assert not found.optimal or found.score == pytest.approx(best.score)
        moved += place > 0
    assert moved > 5


def test_reranking_the_most_probable_sequences() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        length = int(rng.integers(1, 6))
        chain = LatentChain(rng.normal(size=(6, 6)), 2, names=TAGS)
        scores = rng.normal(size=(length, 6))
        top = chain.decode(scores, k=8)
        mass = sum(one.probability for one in top)
        for gain, name in ((accuracy, "accuracy"), (span_f1, "spans")):
            mean = [sum(b.probability * gain(a.labels, b.labels) for b in top) / mass for a in top]
            for inference in (MBR(gain=name, best=8), MBR(gain=gain, best=8)):
                found = chain.decode(scores, inference=inference)
                assert found.gain == pytest.approx(max(mean))
                assert found.optimal == (found.score >= top[0].score)
                assert found.bound == pytest.approx(top[0].score)


def test_log_probability_and_marginals() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        problem = draw(rng)
        truth, chain = problem.truth(), problem.chain()
        if not truth:
            with pytest.raises(certus.Infeasible):
                chain.marginals(problem.scores)
            continue
        for labels, probability in list(truth.items())[:5]:
            assert math.exp(chain.log_probability(problem.scores, labels)) == pytest.approx(
                float(probability)
            )
        assert chain.marginals(problem.scores).log_partition == pytest.approx(
            chain.hidden.marginals(problem.scores).log_partition
        )


def test_allowed_labels_and_legal_sequences() -> None:
    rng = np.random.default_rng(4)
    legal = certus.bio(TAGS)
    for _ in range(200):
        length = int(rng.integers(1, 5))
        chain = LatentChain(rng.normal(size=(6, 6)), 2, names=TAGS)
        scores = rng.normal(size=(length, 6))
        every = chain.decode(scores, k=3**length)
        sound = [one for one in every if legal.accepts(one.labels)]
        found = chain.decode(scores, k=3**length, allowed=legal)
        assert [one.labels.tolist() for one in found] == [one.labels.tolist() for one in sound]
        assert found[0].probability == pytest.approx(
            sound[0].probability / sum(one.probability for one in sound)
        )
        mask = rng.random((length, 3)) < 0.6
        mask[:, 2] = True
        best = next(one for one in every if mask[np.arange(length), one.labels].all())
        assert (chain.decode(scores, allowed=mask).labels == best.labels).all()
        assert (chain.decode_batch([scores], allowed=[mask])[0].labels == best.labels).all()


def bad(place: tuple[int, int], value: float) -> NDArray[np.float64]:
    scores = np.zeros((3, 4))
    scores[place] = value
    return scores


CHAIN = LatentChain(np.zeros((4, 4)), 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LatentChain(np.zeros((4, 4)), 3), "4 states cannot be shared out by 3 to a label"),
        (lambda: LatentChain(np.zeros((4, 4)), [0, 0, 2, 2]), "label 1 has no latent state"),
        (lambda: LatentChain(np.zeros((4, 4)), [0, 0, -1, 1]), r"latent\[2\] is -1"),
        (lambda: LatentChain(np.zeros((4, 4)), [0, 1]), r"latent must have shape \(4,\)"),
        (lambda: LatentChain(np.zeros((4, 4)), 1.5), "latent must be a whole number"),
        (lambda: LatentChain(np.zeros((2, 4, 4)), 2), r"transitions must have shape \(H, H\)"),
        (lambda: LatentChain(np.zeros((4, 4)), 2, names=["a"]), "there are 2 labels, but 1 names"),
        (lambda: CHAIN.decode(bad((1, 3), np.nan)), r"emissions\[1, 3\] is nan"),
        (lambda: CHAIN.decode_batch([bad((0, 0), 0), bad((2, 1), np.inf)]), r"emissions\[1\]\[2, 1\] is inf"),
        (lambda: CHAIN.marginals(bad((2, 0), np.inf)), r"emissions\[2, 0\] is"),
        (lambda: CHAIN.decode(np.zeros((3, 5))), "emissions has 5 labels per position"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), inference="best"), "unknown inference 'best'"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), k=2, inference="bhp"), "'bhp' finds one label sequence"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), k=0), "k must be a whole number of at least 1"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), inference=MBR(gain="spans")), "what labels are called"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), allowed=np.ones((3, 4), bool)), r"shape \(3, 2\)"),
        (lambda: CHAIN.decode(np.zeros((3, 4)), allowed=certus.bio(TAGS)), "over 3 labels"),
        (lambda: CHAIN.log_probability(np.zeros((3, 4)), [0, 2, 0]), r"labels\[1\] is 2"),
        (lambda: LDI(steps=0), "steps must be a whole number of at least 1"),
        (lambda: LDI(bound="none"), "unknown bound 'none'"),
        (lambda: LDI(share=0.0), "share must be above 0 and at most 1, not 0.0"),
        (lambda: MBR(gain="bleu"), "unknown gain 'bleu'"),
    ],
)
def test_what_cannot_be_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidInput, match=message):
        call()


def test_an_inference_is_a_name_or_an_object() -> None:
    with pytest.raises(InvalidInput, match="inference must be a name or an Inference, not int"):
        CHAIN.decode(np.zeros((3, 4)), inference=cast(str, 3))


def test_a_gain_by_spans_needs_labels_of_spans() -> None:
    chain = LatentChain(np.zeros((4, 4)), 2, names=["NN", "VB"])
    with pytest.raises(InvalidInput, match="for labels such as B-NP and O, not 'NN'"):
        chain.decode(np.zeros((2, 4)), inference=MBR(gain="spans"))


def test_chains_can_be_pickled_and_shown() -> None:
    import pickle

    chain = LatentChain(np.arange(16.0).reshape(4, 4), [1, 0, 1, 0], start=np.zeros(4), names=["a", "b"])
    other = pickle.loads(pickle.dumps(chain))
    scores = np.random.default_rng(0).normal(size=(5, 4))
    assert repr(chain) == repr(other) == "LatentChain(2 labels, 4 latent states)"
    one, two = chain.decode(scores), other.decode(scores)
    assert one.score == two.score
    assert repr(one).startswith("LatentSolution([")
    assert repr(chain.decode(scores, inference=BHP())).startswith("LatentSolution([")
