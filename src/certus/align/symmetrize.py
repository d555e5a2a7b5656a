"""Merging the links of two directions by rule, as is done where they are not found together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from certus.align.solution import Link
from certus.errors import InvalidInput

Links: TypeAlias = frozenset[Link]

_NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def symmetrize(
    forward: Iterable[Link], backward: Iterable[Link], method: str = "grow-diag-final-and"
) -> tuple[Link, ...]:
    """Return the links of two directions merged by a rule, by source and target position.

    Args:
        forward: the links in which each target word has at most one.
        backward: those in which each source word has at most one.
        method: "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", or one of
            the directions, "forward" or "backward".
    """
    if method not in SYMMETRIZATIONS:
        raise InvalidInput(f"there is no method {method!r}; there are {', '.join(SYMMETRIZATIONS)}")
    return tuple(sorted(SYMMETRIZATIONS[method](frozenset(forward), frozenset(backward))))


def _grow(forward: Links, backward: Links) -> set[Link]:
    """Add to the intersection links of the union next to it, for words that have none (Koehn et al. 2003)."""
    links, union = set(forward & backward), forward | backward
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    grown = True
    while grown:
        grown = False
        for i, j in sorted(links):
            for di, dj in _NEIGHBOURS:
                new = (i + di, j + dj)
                if new in union and new not in links and (new[0] not in sources or new[1] not in targets):
                    links.add(new)
                    sources.add(new[0])
                    targets.add(new[1])
                    grown = True
    return links


def _finish(links: set[Link], forward: Links, backward: Links, *, both: bool) -> set[Link]:
    """Add links of a direction for words without any: of one of the two words, or ``both``."""
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    for direction in (forward, backward):
        for i, j in sorted(direction):
            free = (i not in sources, j not in targets)
            if all(free) if both else any(free):
                links.add((i, j))
                sources.add(i)
                targets.add(j)
    return links


SYMMETRIZATIONS: dict[str, Callable[[Links, Links], Iterable[Link]]] = {
    "forward": lambda forward, _: forward,
    "backward": lambda _, backward: backward,
    "intersection": lambda forward, backward: forward & backward,
    "union": lambda forward, backward: forward | backward,
    "grow-diag": _grow,
    "grow-diag-final": lambda f, b: _finish(_grow(f, b), f, b, both=False),
    "grow-diag-final-and": lambda f, b: _finish(_grow(f, b), f, b, both=True),
}
