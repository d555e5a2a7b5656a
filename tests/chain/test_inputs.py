"""The arrays people have are taken as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from tests.chain.lattices import integers
from tests.reference.chain import Scores, best_scores

EMISSIONS = integers(np.random.default_rng(1), (5, 4), 6)
TRANSITIONS = integers(np.random.default_rng(2), (4, 4), 6)
ENDS = integers(np.random.default_rng(3), (4,), 6)
SCORES = Scores(EMISSIONS, TRANSITIONS, ENDS, ENDS)


def unaligned(values: NDArray[Any]) -> NDArray[Any]:
    record = np.zeros(values.shape, np.dtype([("before", "i1"), ("value", values.dtype)]))
    record["value"] = values
    return record["value"]


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def stored_backwards(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(np.flip(values))[(slice(None, None, -1),) * values.ndim]


def every_other(values: NDArray[Any]) -> NDArray[Any]:
    wide = np.full([2 * size for size in values.shape], 99, values.dtype)
    view = wide[(slice(None, None, 2),) * values.ndim]
    view[...] = values
    return view


def cast(dtype: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda values: values.astype(dtype)


FORMS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())) if x.ndim == 2 else tuple(x.tolist()),
    "Fortran order": np.asfortranarray,
    "every other": every_other,
    "backwards": stored_backwards,
    "read-only": read_only,
    "unaligned": unaligned,
    "big-endian double": lambda x: x.astype(">f8"),
    "big-endian single": lambda x: x.astype(">f4"),
    "big-endian integers": lambda x: x.astype(">i4"),
    **{np.dtype(name).name: cast(name) for name in ("f2", "f4", "f8", "g", "i1", "i4", "i8")},
    "unsigned": lambda x: (x - x.min()).astype(np.uint16),
    "booleans": lambda x: x > 0,
}


def plain(values: Any) -> NDArray[np.float64]:
    return np.asarray(values).astype(np.float64)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["emissions", "transitions", "ends"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_array(form: str, what: str, dtype: Any) -> None:
    parts: dict[str, Any] = {"emissions": EMISSIONS, "transitions": TRANSITIONS, "ends": ENDS}
    parts = {name: FORMS[form](x.astype(dtype)) if name == what else x for name, x in parts.items()}
    emissions, transitions, ends = parts.values()
    expected = Scores(plain(emissions), plain(transitions), plain(ends), plain(ends))
    chain = certus.Chain(transitions, ends, ends)
    best = best_scores(expected, 3).tolist()
    found: Any = chain.decode(emissions, k=3)
    assert found.scores.tolist() == best
    assert chain.decode(emissions).score == best[0]


def test_per_position_transitions_in_any_order() -> None:
    several = integers(np.random.default_rng(4), (4, 4, 4), 6)
    best = best_scores(Scores(EMISSIONS, several), 1)[0]
    for form in ("lists", "Fortran order", "backwards", "every other", "float32", "big-endian double"):
        assert certus.decode(EMISSIONS, FORMS[form](several)).score == best


def test_views_are_not_copied() -> None:
    """Rows may lie anywhere: a stride of zero, or of more than a row, is read in place."""
    row = np.broadcast_to(EMISSIONS[0], (5, 4))
    assert certus.decode(row, TRANSITIONS).score == certus.decode(row.copy(), TRANSITIONS).score
    wide = np.full((5, 9), np.nan)
    wide[:, 2:6] = EMISSIONS
    assert certus.decode(wide[:, 2:6], TRANSITIONS).score == certus.decode(EMISSIONS, TRANSITIONS).score


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    chain = certus.Chain(
        torch.tensor(TRANSITIONS), torch.tensor(ENDS, requires_grad=True), torch.tensor(ENDS)
    )
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64):
        emissions = torch.tensor(EMISSIONS).to(dtype)
        assert chain.decode(emissions).score == best_scores(SCORES, 1)[0]
    padded, mask = torch.tensor(EMISSIONS)[None], torch.tensor([[True, True, True, False, False]])
    found = chain.decode_batch(padded, mask=mask)[0]
    assert (
        found.score
        == chain.decode(EMISSIONS[:3]).score
        == chain.decode_batch(padded, lengths=mask.sum(1))[0].score
    )


def test_scipy_matrices() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = TRANSITIONS * (TRANSITIONS > 2)
    assert certus.decode(EMISSIONS, sparse.csr_matrix(matrix)).score == certus.decode(EMISSIONS, matrix).score
    with pytest.raises(certus.InvalidInput, match="transitions"):
        certus.Chain(sparse.csr_matrix(np.full((2, 2), np.nan)))
    with pytest.raises(certus.InvalidInput, match=r"\(2, 3\)"):
        certus.Chain(sparse.csr_matrix(np.zeros((2, 3))))


def test_views_in_batches() -> None:
    single = np.broadcast_to(EMISSIONS[0].astype(np.float32), (5, 4))
    chain = certus.Chain(TRANSITIONS.astype(np.float32))
    mask = np.asfortranarray(np.random.default_rng(5).random((5, 4)) < 0.8)
    alone = [chain.decode(single.copy()).score, chain.decode(EMISSIONS).score]
    assert [found.score for found in chain.decode_batch([single, EMISSIONS])] == alone
    masked = chain.decode_batch([single, EMISSIONS], allowed=[mask, mask])
    assert masked[0].score == chain.decode(single.copy(), allowed=mask.copy()).score
