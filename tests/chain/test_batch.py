"""Many sentences give what each gives alone, whatever the threads, the padding and the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain import METHODS, Labels
from tests.chain.checks import MANY, VARIANTS
from tests.chain.lattices import SHAPES, integers

LENGTHS = (4, 1, 0, 9, 4, 2)


def sentences(shape: str, labels: int, *, dtype: Any = np.float64) -> tuple[certus.Chain, list[NDArray[Any]]]:
    rng = np.random.default_rng(labels)
    scores = SHAPES[shape](rng, max(LENGTHS), labels)
    rows = [SHAPES[shape](rng, max(1, length), labels).emissions[:length] for length in LENGTHS]
    return certus.Chain(scores.transitions.astype(dtype)), [row.astype(dtype) for row in rows]


def same(one: certus.LabelSolution[Labels], other: certus.LabelSolution[Labels]) -> bool:
    alike = (one.score, one.bound, one.status, one.position) == (
        other.score,
        other.bound,
        other.status,
        other.position,
    )
    return alike and one.labels.tolist() == other.labels.tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", VARIANTS, ids=repr)
def test_together_as_alone(method: Any, shape: str) -> None:
    chain, batch = sentences(shape, 60)
    alone = [chain.decode(sentence, method=method) for sentence in batch]
    for threads in (1, 2, 7):
        together = chain.decode_batch(batch, method=method, threads=threads)
        assert all(map(same, alone, together))


@pytest.mark.parametrize("method", MANY, ids=repr)
def test_many_together_as_alone(method: Any) -> None:
    chain, batch = sentences("tied", 12)
    alone = [chain.decode(sentence, k=3, method=method) for sentence in batch]
    for threads in (1, 3):
        for one, other in zip(
            alone, chain.decode_batch(batch, k=3, method=method, threads=threads), strict=True
        ):
            assert one.labels.tolist() == other.labels.tolist()
            assert one.scores.tolist() == other.scores.tolist()
            assert one.exhausted == other.exhausted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["auto", "viterbi"])
def test_sentences_that_share_a_sweep(method: str, shape: str, dtype: Any) -> None:
    """Matrices too large for the cache are read once for many sentences."""
    chain, batch = sentences(shape, 530, dtype=dtype)
    batch = batch * 4
    batch[3] = np.full_like(batch[3], -np.inf)
    alone = [chain.decode(sentence, method=method, infeasible="return") for sentence in batch]
    assert alone[3].position == 0
    for threads in (1, 2):
        together = chain.decode_batch(batch, method=method, threads=threads, infeasible="return")
        assert all(map(same, alone, together))


@pytest.mark.parametrize("method", METHODS)
def test_padding_is_not_read(method: str) -> None:
    chain, batch = sentences("peaked", 7)
    padded = np.full((len(batch), max(LENGTHS), 7), np.nan)
    for row, sentence in zip(padded, batch, strict=True):
        row[: len(sentence)] = sentence
    mask = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
    alone = [chain.decode(sentence, method=method) for sentence in batch]
    for told in (
        {"lengths": LENGTHS},
        {"lengths": np.array(LENGTHS, np.int8)},
        {"mask": mask},
        {"mask": mask * 1},
    ):
        assert all(map(same, alone, chain.decode_batch(padded, method=method, **told)))


def test_without_lengths_all_positions_count() -> None:
    chain, _ = sentences("flat", 5)
    padded = integers(np.random.default_rng(0), (3, 4, 5), 9)
    together = chain.decode_batch(padded)
    assert all(map(same, map(chain.decode, padded), together))


def test_no_sentences_no_answers() -> None:
    chain, _ = sentences("flat", 5)
    assert chain.decode_batch([]) == chain.decode_batch(np.zeros((0, 3, 5))) == []


def test_precisions_may_be_mixed() -> None:
    chain, batch = sentences("peaked", 9, dtype=np.float32)
    mixed = [batch[0], batch[3].astype(np.float64)]
    assert [found.score for found in chain.decode_batch(mixed)] == [chain.decode(x).score for x in mixed]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sentence_without_a_path_is_named(threads: int) -> None:
    chain, batch = sentences("flat", 5)
    batch[3][6] = -np.inf
    with pytest.raises(certus.Infeasible, match=r"sentence 3: .* position 6") as error:
        chain.decode_batch(batch, threads=threads)
    assert (error.value.sentence, error.value.position) == (3, 6)
    found = chain.decode_batch(batch, threads=threads, infeasible="return")
    assert [x.status is certus.Status.INFEASIBLE for x in found] == [n == 3 for n in range(len(batch))]
    many = chain.decode_batch(batch, k=3, threads=threads, infeasible="return")
    assert [len(x) for x in many] == [0 if n == 3 else 1 if n == 2 else 3 for n in range(len(batch))]


@pytest.mark.parametrize("labels", [5, 60, 530])
@pytest.mark.parametrize("method", METHODS)
def test_a_sentence_with_a_bad_score_is_named(method: str, labels: int) -> None:
    chain, batch = sentences("flat", labels)
    batch[3][8, labels - 1] = np.nan
    with pytest.raises(certus.InvalidInput, match=rf"emissions\[3\]\[8, {labels - 1}\] is nan"):
        chain.decode_batch(batch, method=method)


def test_allowed_masks() -> None:
    chain, batch = sentences("flat", 5)
    rng = np.random.default_rng(0)
    masks = [rng.random(sentence.shape) < 0.7 for sentence in batch]
    for mask in masks:
        mask[:, 2] = True
    alone = [chain.decode(x, allowed=mask) for x, mask in zip(batch, masks, strict=True)]
    assert all(map(same, alone, chain.decode_batch(batch, allowed=masks)))
    padded, allowed = np.zeros((len(batch), 9, 5)), np.zeros((len(batch), 9, 5), bool)
    for n, length in enumerate(LENGTHS):
        padded[n, :length], allowed[n, :length] = batch[n], masks[n]
    assert all(map(same, alone, chain.decode_batch(padded, lengths=LENGTHS, allowed=allowed)))
