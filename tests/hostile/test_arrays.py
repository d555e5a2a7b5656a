"""Arrays that change later, that come from other libraries, that lie the other way round or have holes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain.part import ChainPart
from certus.latent import LatentChain
from tests.chain.lattices import integers

TRANSITIONS = integers(np.random.default_rng(1), (4, 4), 6)
BATCH = integers(np.random.default_rng(2), (3, 5, 4), 6)
SENTENCE = BATCH[0]
CHAIN: Any = certus.Chain(TRANSITIONS)


class ArrayOnly:
    """What other libraries hold: something that NumPy can ask for an array."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._values, dtype)


class DlpackOnly:
    """What can be shared through DLPack alone."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


def as_torch(values: NDArray[Any]) -> Any:
    return pytest.importorskip("torch").tensor(values)


every_library = pytest.mark.parametrize("wrap", [ArrayOnly, DlpackOnly, as_torch])


def labels_of(found: Any) -> list[list[int]]:
    return [one.labels.tolist() for one in found]


ALONE = labels_of(CHAIN.decode(sentence) for sentence in BATCH)


# ---------------------------------------------------------------------------------------- arrays that change


MAKERS: dict[str, Callable[[dict[str, NDArray[Any]]], Any]] = {
    "dense": lambda x: certus.Chain(x["transitions"], x["ends"], x["ends"], prior=x["ends"]),
    "view": lambda x: certus.Chain(np.broadcast_to(x["transitions"], (4, 4)), x["ends"][:]),
    "of each position": lambda x: certus.Chain(x["steps"]),
    "sparse": lambda x: certus.Chain(certus.SparseTransitions(4, x["origin"], x["target"], x["scores"])),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_later_edits_do_not_reach_a_chain(kind: str) -> None:
    arrays = {
        "transitions": TRANSITIONS.copy(),
        "ends": TRANSITIONS[0].copy(),
        "steps": np.stack([TRANSITIONS] * 4),
        "origin": np.array([0, 1, 2]),
        "target": np.array([3, 0, 1]),
        "scores": np.array([5.0, 4.0, 3.0]),
    }
    before = MAKERS[kind](arrays).decode(SENTENCE, k=3)
    chain = MAKERS[kind](arrays)
    for array in arrays.values():
        array[...] = 1 if array.dtype.kind == "i" else np.nan
    after = chain.decode(SENTENCE, k=3)
    assert after.labels.tolist() == before.labels.tolist()
    assert after.scores.tolist() == before.scores.tolist()


def test_the_scores_of_a_chain_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        CHAIN.transitions[0, 0] = 5.0


def test_what_cannot_change_is_not_copied() -> None:
    matrix = np.frombuffer(TRANSITIONS.tobytes()).reshape(4, 4)
    assert certus.Chain(matrix).transitions is matrix


def test_later_edits_do_not_reach_paths_and_parts() -> None:
    emissions = SENTENCE.copy()
    paths, part = CHAIN.iterate(emissions), ChainPart(CHAIN, emissions)
    emissions[...] = np.nan
    assert next(paths).labels.tolist() == part.maximize({}).value.tolist() == ALONE[0]


# ---------------------------------------------------------------------------------------- other libraries


@every_library
def test_a_list_of_anybodys_arrays_is_decoded(wrap: Callable[[NDArray[Any]], Any]) -> None:
    for dtype in (np.float64, np.float32):
        assert labels_of(CHAIN.decode_batch([wrap(x.astype(dtype)) for x in BATCH])) == ALONE
    single: Any = certus.Chain(TRANSITIONS.astype(np.float32))
    assert labels_of(single.decode_batch([wrap(x.astype(np.float32)) for x in BATCH])) == ALONE
    assert labels_of(CHAIN.decode_batch([SENTENCE, wrap(BATCH[1])])) == ALONE[:2]


@every_library
def test_anybodys_padded_array_is_decoded(wrap: Callable[[NDArray[Any]], Any]) -> None:
    assert labels_of(CHAIN.decode_batch(wrap(BATCH))) == ALONE
    mask = np.arange(5) < np.array([[5], [2], [0]])
    wanted = [ALONE[0], CHAIN.decode(BATCH[1, :2]).labels.tolist(), []]
    assert labels_of(CHAIN.decode_batch(wrap(BATCH), mask=wrap(mask))) == wanted
    assert labels_of(CHAIN.decode_batch(wrap(BATCH), lengths=wrap(np.array([5, 2, 0])))) == wanted


# ---------------------------------------------------------------------------------------- the other way round


def test_positions_may_come_first() -> None:
    turned = np.ascontiguousarray(BATCH.swapaxes(0, 1))  # (T, B, L)
    mask = (np.arange(5) < np.array([[5], [2], [0]])).T
    allowed = np.random.default_rng(3).random(turned.shape) < 0.8
    allowed[..., 0] = True
    for options in ({}, {"mask": mask}, {"lengths": [5, 2, 0]}, {"mask": mask, "allowed": allowed}):
        swapped = {name: np.asarray(x).swapaxes(0, 1) for name, x in options.items() if name != "lengths"}
        wanted = labels_of(CHAIN.decode_batch(BATCH, **{**options, **swapped}))
        assert labels_of(CHAIN.decode_batch(turned, batch_first=False, **options)) == wanted


def test_a_list_has_no_other_way_round() -> None:
    with pytest.raises(certus.InvalidInput, match=r"padded .* and so do gaps and batch_first"):
        CHAIN.decode_batch([SENTENCE], batch_first=False)


def test_the_mask_of_an_array_that_lies_the_other_way_round_says_so() -> None:
    with pytest.raises(certus.InvalidInput, match="batch_first=False"):
        CHAIN.decode_batch(BATCH, mask=np.ones((5, 3), bool))


# ---------------------------------------------------------------------------------------- gaps


@pytest.mark.parametrize("batch_first", [True, False])
def test_gaps_are_dropped_on_request(batch_first: bool) -> None:
    mask = np.array([[0, 0, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]], bool)
    allowed = np.random.default_rng(4).random(BATCH.shape) < 0.8
    allowed[..., 0] = True
    for given in (None, allowed):
        wanted = [
            CHAIN.decode(x[m], allowed=None if given is None else given[n][m]).labels.tolist()
            for n, (x, m) in enumerate(zip(BATCH, mask, strict=True))
        ]
        arrays = [None if x is None else x if batch_first else x.swapaxes(0, 1) for x in (BATCH, mask, given)]
        found = CHAIN.decode_batch(
            arrays[0], mask=arrays[1], allowed=arrays[2], gaps="drop", batch_first=batch_first
        )
        assert labels_of(found) == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": [[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [1] * 5]}, r'mask\[1, 1\] is False .*gaps="drop"'),
        ({"gaps": "drop"}, "needs a mask"),
        ({"gaps": "drop", "lengths": [1, 2, 3]}, "needs a mask"),
        ({"gaps": "keep", "mask": np.ones((3, 5))}, 'gaps must be "refuse" or "drop"'),
    ],
)
def test_gaps_are_refused_otherwise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        CHAIN.decode_batch(BATCH, **options)


# ---------------------------------------------------------------------------------------- masked arrays


def masked(values: Any) -> Any:
    return np.ma.masked_array(values, np.arange(np.size(values)).reshape(np.shape(values)) == 1)


LATENT: Any = LatentChain(TRANSITIONS, 2)
WITH_MASKED: dict[str, Callable[[], Any]] = {
    "emissions": lambda: CHAIN.decode(masked(SENTENCE)),
    "rows": lambda: CHAIN.decode([masked(row) for row in SENTENCE]),
    "batch": lambda: CHAIN.decode_batch(masked(BATCH)),
    "list": lambda: CHAIN.decode_batch([SENTENCE, masked(SENTENCE)]),
    "marginals": lambda: CHAIN.marginals(masked(SENTENCE)),
    "transitions": lambda: certus.Chain(masked(TRANSITIONS)),
    "start": lambda: certus.Chain(TRANSITIONS, masked(TRANSITIONS[0])),
    "prior": lambda: certus.Chain(TRANSITIONS, prior=masked(TRANSITIONS[0])),
    "sparse": lambda: certus.SparseTransitions(4, [0, 1], [1, 0], masked([1.0, 2.0])),
    "allowed": lambda: CHAIN.decode(SENTENCE, allowed=masked(SENTENCE > 0)),
    "mask": lambda: CHAIN.decode_batch(BATCH, mask=masked(np.ones((3, 5), bool))),
    "lengths": lambda: CHAIN.decode_batch(BATCH, lengths=masked([1, 2, 3])),
    "labels": lambda: CHAIN.score(SENTENCE, masked([0, 0, 0, 0, 0])),
    "latent": lambda: LATENT.decode(masked(SENTENCE)),
    "pairs": lambda: LATENT.decode(SENTENCE, pairs=masked(np.zeros((4, 4, 4)))),
    "part": lambda: ChainPart(CHAIN, masked(SENTENCE)),
}


@pytest.mark.parametrize("where", WITH_MASKED)
def test_masked_elements_are_refused(where: str) -> None:
    with pytest.raises(certus.InvalidInput, match="masked"):
        WITH_MASKED[where]()


def test_a_masked_array_without_masked_elements_is_an_array() -> None:
    assert CHAIN.decode(np.ma.masked_array(SENTENCE)).labels.tolist() == ALONE[0]
