"""What makes no sense is refused before any work, with the argument and the position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain import METHODS, AStar, Beam, KBestAStar
from tests.chain.lattices import integers

EMISSIONS = integers(np.random.default_rng(1), (5, 4), 6)
TRANSITIONS = integers(np.random.default_rng(2), (4, 4), 6)
ENDS = integers(np.random.default_rng(3), (4,), 6)
CHAIN: Any = certus.Chain(TRANSITIONS)
BATCH = np.zeros((2, 3, 4))


def put(values: NDArray[Any], where: Any, score: float) -> NDArray[Any]:
    copy = values.copy()
    copy[where] = score
    return copy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("method", METHODS)
def test_bad_emissions_are_refused(method: str, bad: float, dtype: Any) -> None:
    for labels in (4, 100):
        chain = certus.Chain(np.zeros((labels, labels), dtype))
        for t, y in ((0, 0), (2, labels - 1), (4, 1)):
            emissions = put(np.zeros((5, labels), dtype), (t, y), bad)
            with pytest.raises(certus.InvalidInput, match=rf"emissions\[{t}, {y}\] is {bad}"):
                chain.decode(emissions, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_bad_scores_are_refused_also_where_nothing_is_possible(method: str) -> None:
    emissions = put(np.full((3, 4), -np.inf), (2, 1), np.nan)
    with pytest.raises(certus.InvalidInput, match=r"emissions\[2, 1\] is nan"):
        CHAIN.decode(emissions, method=method)


@pytest.mark.parametrize("call", [CHAIN.marginals, CHAIN.sample, lambda e: next(CHAIN.iterate(e))])
def test_bad_emissions_are_refused_everywhere(call: Callable[[Any], Any]) -> None:
    with pytest.raises(certus.InvalidInput, match=r"emissions\[1, 3\] is nan"):
        call(put(EMISSIONS, (1, 3), np.nan))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "transitions nan": (
        lambda: certus.Chain(put(TRANSITIONS, (1, 2), np.nan)),
        r"transitions\[1, 2\] is nan",
    ),
    "transitions inf": (lambda: certus.Chain(np.full((3, 2, 2), np.inf)), r"transitions\[0, 0, 0\] is inf"),
    "start nan": (lambda: certus.Chain(TRANSITIONS, put(ENDS, 3, np.nan)), r"start\[3\] is nan"),
    "end inf": (lambda: certus.Chain(TRANSITIONS, end=put(ENDS, 2, np.inf)), r"end\[2\] is inf"),
    "prior nan": (lambda: certus.Chain(TRANSITIONS, prior=put(ENDS, 1, np.nan)), r"prior\[1\] is nan"),
    "start shape": (lambda: certus.Chain(TRANSITIONS, [1, 2]), r"start must have shape \(4,\).*\(2,\)"),
    "start words": (lambda: certus.Chain(TRANSITIONS, list("abcd")), "start must hold numbers"),
    "not square": (lambda: certus.Chain(np.zeros((3, 4))), r"transitions must have shape .* \(3, 4\)"),
    "flat": (lambda: certus.Chain(np.zeros(4)), r"transitions must have shape .* \(4,\)"),
    "no labels": (lambda: certus.Chain(np.zeros((0, 0))), "label set is empty"),
    "no labels, sparse": (
        lambda: certus.Chain(certus.SparseTransitions(0, [], [], [])),
        "label set is empty",
    ),
    "words": (lambda: CHAIN.decode([list("abcd")]), "emissions must hold numbers"),
    "complex": (lambda: CHAIN.decode(EMISSIONS * 1j), "emissions must hold numbers"),
    "ragged": (lambda: CHAIN.decode([[1, 2, 3, 4], [1, 2]]), "emissions is not a rectangular array"),
    "one row": (lambda: CHAIN.decode(ENDS), r"emissions must have shape \(T, L\), not \(4,\)"),
    "labels": (lambda: CHAIN.decode(np.zeros((5, 3))), r"emissions has 3 labels.*\(5, 3\).* 4 labels"),
    "too long": (
        lambda: certus.decode(EMISSIONS, np.zeros((2, 4, 4))),
        r"5 positions.*\(4, 4, 4\).*\(2, 4, 4\)",
    ),
    "unknown method": (lambda: CHAIN.decode(EMISSIONS, method="viterby"), "'viterby'.*auto, viterbi"),
    "no method": (lambda: CHAIN.decode(EMISSIONS, method=3), "method must be a name or a Method, not int"),
    "one path only": (
        lambda: CHAIN.decode(EMISSIONS, k=2, method="astar"),
        "'astar' finds one path.*kbest-astar",
    ),
    "k": (lambda: CHAIN.decode(EMISSIONS, k=0), "k must be .* at least 1, not 0"),
    "k below zero": (lambda: CHAIN.decode_batch(BATCH, k=-3), "k must be .* at least 1, not -3"),
    "k half": (lambda: CHAIN.decode(EMISSIONS, k=2.5), r"k must be .* not 2\.5"),
    "n": (lambda: CHAIN.sample(EMISSIONS, 0), "n must be .* at least 1, not 0"),
    "threads": (lambda: CHAIN.decode_batch(BATCH, threads=0), "threads must be .* at least 1, not 0"),
    "width": (lambda: Beam(width=0), "width must be .* at least 1, not 0"),
    "heuristic": (lambda: AStar(heuristic=31), "heuristic must be .* not 31"),
    "heuristic below": (lambda: KBestAStar(heuristic=-1), "heuristic must be .* not -1"),
    "mask with a hole": (
        lambda: CHAIN.decode_batch(BATCH, mask=[[1, 1, 0], [1, 0, 1]]),
        r"mask\[1, 1\] is False but mask\[1, 2\] is True",
    ),
    "mask that starts late": (
        lambda: CHAIN.decode_batch(BATCH, mask=[[0, 1, 1], [1, 1, 1]]),
        r"mask\[0, 0\] is False",
    ),
    "mask shape": (lambda: CHAIN.decode_batch(BATCH, mask=[[1, 1, 1]]), r"mask must have shape \(2, 3\)"),
    "mask of scores": (
        lambda: CHAIN.decode_batch(BATCH, mask=np.full((2, 3), 0.5)),
        "mask must hold booleans",
    ),
    "mask and lengths": (lambda: CHAIN.decode_batch(BATCH, mask=[], lengths=[]), "lengths or mask, not both"),
    "lengths too long": (lambda: CHAIN.decode_batch(BATCH, lengths=[3, 4]), r"lengths\[1\] is 4.*at most 3"),
    "lengths below zero": (lambda: CHAIN.decode_batch(BATCH, lengths=[-1, 3]), r"lengths\[0\] is -1"),
    "lengths count": (lambda: CHAIN.decode_batch(BATCH, lengths=[3]), "lengths must hold one .* 2 of them"),
    "lengths in part": (
        lambda: CHAIN.decode_batch(BATCH, lengths=[1.5, 2]),
        "lengths must hold one whole number",
    ),
    "lengths of a list": (
        lambda: CHAIN.decode_batch([EMISSIONS], lengths=[5]),
        "lengths and mask belong to a padded",
    ),
    "batch shape": (lambda: CHAIN.decode_batch(EMISSIONS), r"\(B, T, L\), not \(5, 4\)"),
    "batch labels": (
        lambda: CHAIN.decode_batch([EMISSIONS, np.zeros((2, 3))]),
        r"emissions\[1\] has 3 labels",
    ),
    "allowed shape": (
        lambda: CHAIN.decode(EMISSIONS, allowed=np.ones((5, 3), bool)),
        r"allowed must have shape \(5, 4\)",
    ),
    "allowed scores": (lambda: CHAIN.decode(EMISSIONS, allowed=EMISSIONS), "allowed must hold booleans"),
    "allowed count": (lambda: CHAIN.decode_batch(BATCH, allowed=[]), "allowed has 0 masks for 2 sentences"),
    "allowed labels": (
        lambda: CHAIN.decode(EMISSIONS, allowed=certus.bio(["O"])),
        "allowed is over 1 labels",
    ),
    "label too large": (lambda: CHAIN.score(EMISSIONS, [0, 1, 4, 0, 0]), r"labels\[2\] is 4.*from 0 to 3"),
    "label below zero": (
        lambda: CHAIN.score(EMISSIONS, [[0] * 5, [0, 0, 0, 0, -1]]),
        r"labels\[1, 4\] is -1",
    ),
    "label in part": (lambda: CHAIN.score(EMISSIONS, [0.5] * 5), "labels must be whole numbers"),
    "labels too few": (
        lambda: CHAIN.score(EMISSIONS, [0, 1]),
        r"labels must have shape .* T = 5, not \(2,\)",
    ),
    "score nan": (lambda: CHAIN.score(put(EMISSIONS, (1, 2), np.nan), [0] * 5), r"emissions\[1, 2\] is nan"),
    "listed label": (
        lambda: certus.SparseTransitions(3, [0, 3], [1, 1], [1, 1]),
        r"origin\[1\] is 3.*from 0 to 2",
    ),
    "listed target": (lambda: certus.SparseTransitions(3, [0], [-1], [1]), r"target\[0\] is -1"),
    "listed twice": (
        lambda: certus.SparseTransitions(3, [0, 0], [1, 1], [1, 2]),
        "0 -> 1 is listed more than once",
    ),
    "listed counts": (
        lambda: certus.SparseTransitions(3, [0], [1], [1, 2]),
        "one element per listed transition",
    ),
    "listed nan": (
        lambda: certus.Chain(certus.SparseTransitions(3, [0], [1], [np.nan])),
        r"transitions\[0\] is nan",
    ),
    "default": (
        lambda: certus.Chain(certus.SparseTransitions(3, [], [], [], default=np.inf)),
        "default of transitions",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refused(fault: str) -> None:
    call, message = REFUSED[fault]
    with pytest.raises(certus.InvalidInput, match=message):
        call()
