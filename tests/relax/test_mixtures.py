"""Parts of all kinds together, some native and some in Python, by every optimiser, against enumeration.

``CERTUS_MIXTURES=1000000 .venv/bin/python -m pytest tests/relax/test_mixtures.py`` is the large campaign;
``CERTUS_MIXTURES_FIRST=500000`` begins it there, so that several processes share it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import certus
from certus.relax import Admm, Auto, Bundle, Decomposition, Descent, Optimizer, Subgradient
from certus.solution import Status
from tests.reference.relax import CompletingPart, ListedPart, MarginalPart, Side, best_whole
from tests.relax.test_parts import MAKERS, Structure, forest

COUNT = int(os.environ.get("CERTUS_MIXTURES", 600))
FIRST = int(os.environ.get("CERTUS_MIXTURES_FIRST", 0))
REPORT = 10_000
POOL = 300  # parts that are drawn ahead: most problems are new combinations of them
FRESH = 0.2  # the share of parts that are new, and replace one of the pool
KINDS = (*MAKERS, forest)
MOST = 20_000  # combinations of structures that are enumerated
OPTIMIZERS: list[Optimizer] = [
    Auto(),
    Bundle(),
    Descent(),
    Admm(),
    *(Subgradient(rule=rule) for rule in ("halving", "inverse", "decay", "polyak", "koo", "chang")),
]
Rng = np.random.Generator


def list_part(structures: list[Structure], kind: type[ListedPart]) -> ListedPart:
    """The structures that are allowed, as a list."""
    allowed = [(score, used) for score, used in structures if score > -np.inf]
    names = allowed[0][1]
    arrays = {name: np.stack([used[name] for _, used in allowed]) for name in names}
    return kind([score for score, _ in allowed], arrays)


class Pool:
    """Parts of all kinds with their structures."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, list[Structure]]] = []

    def draw(self, rng: Rng) -> tuple[Any, list[Structure]]:
        if len(self.parts) == POOL and rng.random() >= FRESH:
            return self.parts[int(rng.integers(POOL))]
        made = KINDS[int(rng.integers(len(KINDS)))](rng)
        if len(self.parts) < POOL:
            self.parts.append(made)
        else:
            self.parts[int(rng.integers(POOL))] = made
        return made


def draw_parts(rng: Rng, needs_marginals: bool, pool: Pool) -> tuple[list[Any], list[ListedPart]]:
    """Two to five parts, each as it is or as a Python object that lists its structures."""
    parts: list[Any] = []
    listed: list[ListedPart] = []
    combinations = 1
    for _ in range(int(rng.integers(2, 6))):
        part, structures = pool.draw(rng)
        allowed = sum(score > -np.inf for score, _ in structures)
        cells = sum(int(np.prod(shape)) for shape in part.spaces.values())
        if not allowed or not cells or combinations * allowed > MOST:
            continue
        combinations *= allowed
        kind = (MarginalPart, CompletingPart, MarginalPart if needs_marginals else ListedPart)[
            int(rng.integers(3))
        ]
        listed.append(list_part(structures, kind))
        parts.append(part if rng.random() < 0.7 else listed[-1])
    return parts, listed


def draw_agreements(rng: Rng, listed: list[ListedPart]) -> list[list[Side]]:
    """A few cells of some of the parts, several times."""
    agreements: list[list[Side]] = []
    for _ in range(int(rng.integers(1, 5)) if len(listed) > 1 else 0):
        chosen = rng.permutation(len(listed))[: int(rng.integers(2, len(listed) + 1))]
        spaces = []
        for p in chosen.tolist():
            names = [name for name, shape in listed[p].spaces.items() if np.prod(shape)]
            name = names[int(rng.integers(len(names)))]
            spaces.append((p, name, int(np.prod(listed[p].spaces[name]))))
        size = int(rng.integers(1, min(size for *_, size in spaces) + 1))
        agreements.append([(p, name, rng.permutation(cells)[:size]) for p, name, cells in spaces])
    return agreements


def check_mixture(rng: Rng, optimizer: Optimizer, pool: Pool) -> Status | None:
    """Solve one; None where no part was drawn that has any structure and any cell."""
    parts, listed = draw_parts(rng, isinstance(optimizer, Descent), pool)
    if not parts:
        return None
    agreements = draw_agreements(rng, listed)
    weights = [1.0 if rng.random() < 0.7 else float(rng.choice([0.5, 2.0])) for _ in parts]
    d = Decomposition()
    handles = [d.add(part, weight=weight) for part, weight in zip(parts, weights, strict=True)]
    for sides in agreements:
        d.agree(*((handles[p], name, cells) for p, name, cells in sides))
    limit = None if rng.random() < 0.8 else int(rng.integers(1, 30))
    found = d.solve(
        optimizer=optimizer, infeasible="return", max_iterations=limit, tighten=rng.random() < 0.8
    )
    optimum = best_whole(listed, agreements, weights)
    if limit is None:
        assert found.optimal or found.status is Status.INFEASIBLE
    if found.status is Status.INFEASIBLE:
        assert optimum == -np.inf
        return found.status
    assert found.score <= optimum <= found.bound
    assert not found.optimal or found.score == found.bound == optimum
    stated = all(getattr(part, "state_part", lambda: None)() for part in parts)
    if rng.random() < 0.3 and stated and optimum > -np.inf:
        certified = d.solve(certificate=True)
        verdict = certus.verify(d, certified)
        assert verdict.proven
        assert verdict.score == optimum
    assert all(bound >= optimum for bound in found.trace.bound)
    if found.value:
        scores = sum(w * found.scores[h] for w, h in zip(weights, handles, strict=True))
        assert scores == found.score
        for sides in agreements:
            shown: list[NDArray[Any]] = [
                np.asarray(found.indicators[handles[p]][name]).reshape(-1)[cells] for p, name, cells in sides
            ]
            assert all((one == shown[0]).all() for one in shown)
    return found.status


def test_mixtures_are_solved_exactly() -> None:
    ended: list[Status] = []
    pool = Pool()
    for number in range(FIRST, FIRST + COUNT):
        rng = np.random.default_rng((11, number))
        status = check_mixture(rng, OPTIMIZERS[number % len(OPTIMIZERS)], pool)
        if status is not None:
            ended.append(status)
        if (number + 1) % REPORT == 0:
            print(f"{len(ended):,} mixtures from {FIRST:,} on were solved exactly", flush=True)
    assert ended.count(Status.OPTIMAL) > len(ended) / 3
    assert Status.ITERATIONS in ended
    assert Status.INFEASIBLE in ended
