"""The list of methods, and how a caller's choice becomes one of them.

The imports are the list: one line per solver, which defines its Method.
"""

from __future__ import annotations

from certus.chain.astar import AStar as AStar
from certus.chain.auto import Auto as Auto
from certus.chain.beam import Beam as Beam
from certus.chain.carpediem import CarpeDiem as CarpeDiem
from certus.chain.iterative_astar import IterativeAStar as IterativeAStar
from certus.chain.iterative_viterbi_astar import IterativeViterbiAStar as IterativeViterbiAStar
from certus.chain.kbest_astar import KBestAStar as KBestAStar
from certus.chain.kbest_viterbi import KBestViterbi as KBestViterbi
from certus.chain.method import Method
from certus.chain.staggered import Staggered as Staggered
from certus.chain.viterbi import Viterbi as Viterbi
from certus.chain.viterbi_astar import ViterbiAStar as ViterbiAStar
from certus.errors import InvalidInput


def _rank(method: type[Method]) -> tuple[bool, bool, str]:
    """Put the two that suit nearly everybody first, then those for one path, then those for several."""
    return method.name not in ("auto", "viterbi"), not method.one, method.name


METHODS: dict[str, type[Method]] = {
    method.name: method for method in sorted(Method.__subclasses__(), key=_rank)
}

_DEFAULTS = {name: method() for name, method in METHODS.items()}


def choose_method(method: str | Method, k: int) -> Method:
    """Return the method meant, or say what is wrong with the choice."""
    if isinstance(method, str):
        if method not in METHODS:
            raise InvalidInput(f"unknown method {method!r}; choose one of: {', '.join(METHODS)}")
        method = _DEFAULTS[method]
    elif not isinstance(method, Method):
        raise InvalidInput(f"method must be a name or a Method, not {type(method).__name__}")
    if k > 1 and not method.many:
        able = ", ".join(name for name, other in METHODS.items() if other.many)
        raise InvalidInput(f"method {method.name!r} finds one path, not k = {k}; for more use one of: {able}")
    return method


def limit_k(k: int, labels: int, length: int) -> int:
    """Return k, or the number of label sequences if that is smaller."""
    paths = 1
    for _ in range(length):
        if paths >= k:
            return k
        paths *= labels
    return min(k, paths)
