from __future__ import annotations

import numpy as np
import pytest

from certus_bench.lattices import GENERATORS, draw, draw_peaked
from certus_bench.rivals import decode_in_numpy


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("size", [(2, 1), (7, 1), (45, 23), (319, 3)])
def test_shapes_precision_and_repeatability(kind: str, size: tuple[int, int]) -> None:
    for dtype in (np.float32, np.float64):
        sample = draw(kind, *size, sentences=3, seed=5, dtype=dtype)
        assert (sample.labels, sample.length) == size
        assert len(sample.sentences) == 3
        for scores in (sample.transitions, *sample.sentences):
            assert scores.dtype == dtype
            assert np.isfinite(scores).all()
    again = draw(kind, *size, sentences=3, seed=5, dtype=np.float64)
    assert all((a == b).all() for a, b in zip(sample.sentences, again.sentences, strict=True))


def test_peaked_lattices_are_what_their_docstring_says() -> None:
    sample = draw_peaked(319, 23, sentences=50)
    assert (sample.transitions != 0).mean() == pytest.approx(0.045, abs=0.001)
    paths = [decode_in_numpy(emissions, sample.transitions) for emissions in sample.sentences]
    differs = np.array(
        [path != emissions.argmax(axis=1) for path, emissions in zip(paths, sample.sentences, strict=True)]
    )
    assert 0.9 <= differs.any(axis=1).mean() <= 1.0
    assert 0.15 <= differs.mean() <= 0.3


def test_ties_are_whole_numbers_with_many_best_paths() -> None:
    sample = draw("ties", 20, 10)
    assert sample.whole_numbers
    scores = sample.chain.decode(sample.sentences[0], k=50, method="viterbi-astar").scores
    assert (scores == scores[0]).all()
