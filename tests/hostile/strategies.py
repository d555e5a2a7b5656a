"""What Hypothesis draws: scores over the whole range of floats, and problems made of them.

The scores of a problem come from few values, so that ties are common, and from one kind of number or from all
of them: small whole numbers, denormals, numbers that swallow one another in sums, the largest there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Draw: TypeAlias = st.DrawFn
Array: TypeAlias = NDArray[Any]
Float: TypeAlias = np.dtype[np.floating]

DTYPES: tuple[Float, ...] = (np.dtype(np.float64), np.dtype(np.float32))
NOTHING = -np.inf


def list_kinds(dtype: Float) -> dict[str, list[float]]:
    """Return kinds of numbers, by name."""
    about = np.finfo(dtype)
    most, tiny, denormal = float(about.max), float(about.tiny), float(about.smallest_subnormal)
    grain = float(about.eps)
    return {
        "whole": [-3, -2, -1, 0, 1, 2, 3],
        "denormal": [denormal, -denormal, 3 * denormal, 0.0, -0.0, tiny, -tiny, tiny + denormal],
        "swallowed": [1 / grain, -1 / grain, 1 + 1 / grain, 1.0, -1.0, grain, -grain / 2, 1 + grain],
        "large": [most / 64, -most / 64, most / 65, -most / 128, 1.0, 0.0],
        "limits": [most, -most, most / 2, -most / 2, float(np.nextafter(dtype.type(most), dtype.type(0)))],
    }


@st.composite
def draw_values(draw: Draw, dtype: Float) -> list[float]:
    """Draw the few values that the scores of a problem have."""
    kinds = list_kinds(dtype)
    kind = draw(st.sampled_from([*kinds, "any", "mixed"]))
    if kind == "any":
        finite = st.floats(allow_nan=False, allow_infinity=False, width=8 * dtype.itemsize)  # type: ignore[arg-type]
        return draw(st.lists(finite, min_size=1, max_size=8))
    pool = list(chain.from_iterable(kinds.values())) if kind == "mixed" else kinds[kind]
    return draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))


@st.composite
def draw_scores(
    draw: Draw, values: Sequence[float], shape: tuple[int, ...], dtype: Float, forbidden: bool
) -> Array:
    """Draw an array of these values; with ``forbidden``, -inf among them."""
    pool = [*values, NOTHING] if forbidden else list(values)
    size = int(np.prod(shape))
    flat = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    return np.array(flat, np.float64).astype(dtype).reshape(shape)
