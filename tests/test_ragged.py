"""Rows of different lengths in one array."""

import numpy as np
import pytest

from certus.ragged import Ragged, offsets_of


def test_offsets_begin_at_zero_and_end_with_the_total() -> None:
    assert offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert offsets_of([]).tolist() == [0]
    assert offsets_of(np.array([1, 2], np.int32)).dtype == np.int64


def test_rows_come_back_as_they_went_in() -> None:
    rows = [np.array([1.0, 2.0]), np.empty(0), np.array([3.0])]
    ragged: Ragged[np.float64] = Ragged.of_rows(rows)
    assert len(ragged) == 3
    assert [row.tolist() for row in ragged] == [[1.0, 2.0], [], [3.0]]
    assert ragged[-1].tolist() == [3.0]
    assert ragged.lengths.tolist() == [2, 0, 1]
    assert repr(ragged) == "Ragged(3 rows, 3 elements of float64)"
    with pytest.raises(IndexError, match="no row 3"):
        ragged[3]


def test_rows_may_have_more_dimensions_and_share_memory() -> None:
    table = np.arange(6).reshape(3, 2)
    ragged = Ragged.of_lengths(table, [1, 2])
    assert ragged[1].tolist() == [[2, 3], [4, 5]]
    assert np.shares_memory(ragged[1], table)


def test_no_rows() -> None:
    empty: Ragged[np.int64] = Ragged.of_rows([], np.int64)
    assert (len(empty), list(empty)) == (0, [])
    assert empty.data.dtype == np.int64
