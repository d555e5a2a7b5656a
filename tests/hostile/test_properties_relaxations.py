"""Decompositions over the whole range of floats: certificates are held against exact sums of all wholes."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certus import InvalidInput, Status
from certus.part import LARGEST
from certus.relax import Bundle, Optimizer, Subgradient
from certus.relax.decomposition import TOLERANCE
from tests.hostile.exact import Exact, as_units, describe_terms, sum_exactly
from tests.hostile.strategies import Draw, draw_values
from tests.reference.relax import CompletingPart, ListedPart, MarginalPart
from tests.relax.problems import Joint

SMALLEST = 1 / LARGEST
OPTIMIZERS: list[str | Optimizer] = ["auto", Bundle(), Subgradient()]
DOUBLE = np.dtype(np.float64)
SHAPE = (2, 2)
CELLS = np.arange(4)


def draw_part(draw: Draw, scores: st.SearchStrategy[float]) -> ListedPart:
    """Draw a part with a few structures, each a label per row."""
    rows = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=4))
    indicators = np.zeros((len(rows), *SHAPE), np.int8)
    for number, labels in enumerate(rows):
        indicators[number, [0, 1], labels] = 1
    kind = draw(st.sampled_from((ListedPart, MarginalPart, CompletingPart)))
    return kind([draw(scores) for _ in rows], {"t": indicators})


@st.composite
def draw_joint(draw: Draw) -> Joint:
    scores = st.sampled_from(draw(draw_values(DOUBLE)))
    parts = [draw_part(draw, scores) for _ in range(draw(st.integers(2, 3)))]
    return Joint(parts, [[(p, "t", CELLS) for p in range(len(parts))]], [1.0] * len(parts))


def solve_exactly(joint: Joint) -> Exact:
    """Enumerate the wholes that agree."""
    sums: dict[tuple[int, ...], int | None] = {}
    for whole in product(*(range(len(part.scores)) for part in joint.parts)):
        chosen = [part.indicators["t"][number] for part, number in zip(joint.parts, whole, strict=True)]
        agree = all((one == chosen[0]).all() for one in chosen)
        scores = [float(part.scores[n]) for part, n in zip(joint.parts, whole, strict=True)]
        sums[whole] = sum_exactly(scores) if agree else None
    terms = describe_terms([part.scores for part in joint.parts])
    return Exact(sums, terms, 64, limit=LARGEST / 16)


def is_refused(joint: Joint, whole: tuple[int, ...]) -> bool:
    """Whether the scores of a whole are more than parts may return."""
    return sum(abs(float(part.scores[n])) for part, n in zip(joint.parts, whole, strict=True)) > LARGEST / 16


def has_tiny_scores(joint: Joint) -> bool:
    """Whether some scores are too small for multipliers below them."""
    return any(0 < abs(float(score)) < SMALLEST for part in joint.parts for score in part.scores)


def check_answer(joint: Joint, optimizer: str | Optimizer, compared: dict[str, int]) -> None:
    exact = solve_exactly(joint)
    told = "\n".join(f"{part.scores.tolist()} {part.indicators['t'].tolist()}" for part in joint.parts)
    decomposition, handles = joint.decomposition()
    try:
        found = decomposition.solve(optimizer=optimizer, infeasible="return", max_iterations=60, seconds=5)
    except InvalidInput as error:
        if not has_tiny_scores(joint):
            exact.check_refusal(error, told)
        compared["refused"] += 1
        return
    compared["answers"] += 1
    told = f"{found!r}\n{optimizer!r}\n{told}"
    if not exact.ranked:
        assert not found.value, told
        assert not found.optimal, told
        compared["infeasible"] += 1
        return
    if found.status is Status.INFEASIBLE:  # only where every whole needs a score that no part may return
        taken = [not is_refused(joint, whole) for whole in exact.ranked]
        assert not any(taken), told
        return
    # What counts as rounding is a share of the magnitudes that are added up.
    room = exact.rounding + as_units(16 * TOLERANCE * exact.magnitude)
    best = max(exact.ranked.values())
    assert as_units(found.bound) >= best - room, told
    if found.value:
        whole = tuple(int(found.value[handle]) for handle in handles)
        assert whole in exact.ranked, told
        assert exact.is_sum(whole, found.score), told
        assert found.score <= found.bound, told
        assert not found.optimal or exact.ranked[whole] >= best - room, told
    compared["proven"] += found.optimal


def test_certificates_over_all_floats(compared: dict[str, int]) -> None:
    @given(draw_joint(), st.sampled_from(OPTIMIZERS))
    def check(joint: Joint, optimizer: str | Optimizer) -> None:
        compared["examples"] += 1
        check_answer(joint, optimizer, compared)

    check()
