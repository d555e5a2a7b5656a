"""The compiled kernels. Shapes and types are checked before anything comes here.

Statuses are 0 optimal, 1 feasible, 2 infeasible, 3 invalid. Where one is infeasible, `position` is the first
position that no path reaches; where it is invalid, `position` and `label` say where the bad score is.
"""

from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

# status, found (or label), score, bound, position, then the five counters
Result: TypeAlias = tuple[int, int, float, float, int, int, int, int, int, int]

METHODS: tuple[str, ...]

@final
class Request:
    def __init__(
        self,
        *,
        k: int = 1,
        width: int = ...,
        heuristic: int = ...,
        columnwise: bool = ...,
        sparse: bool = ...,
    ) -> None: ...

class _Model:
    @overload
    def __init__(
        self, matrices: NDArray[Any], shared: bool, start: NDArray[Any] | None, end: NDArray[Any] | None
    ) -> None: ...
    @overload
    def __init__(
        self,
        labels: int,
        fallback: float,
        origin: NDArray[np.int64],
        target: NDArray[np.int64],
        score: NDArray[Any],
        start: NDArray[Any] | None,
        end: NDArray[Any] | None,
    ) -> None: ...
    def rank(self, order: NDArray[np.int64], /) -> None: ...
    def takes(self, emissions: list[Any], /) -> bool: ...
    def decode(self, emissions: NDArray[Any], labels: NDArray[np.int64], method: int) -> Result | None: ...
    def decode_with(
        self,
        emissions: NDArray[Any],
        labels: NDArray[np.int64],
        scores: NDArray[np.float64],
        method: int,
        request: Request,
    ) -> Result: ...
    def decode_many(
        self,
        emissions: list[NDArray[Any]],
        labels: NDArray[np.int64],
        scores: NDArray[np.float64],
        bounds: NDArray[np.float64],
        results: NDArray[np.int64],
        method: int,
        request: Request,
        threads: int,
        /,
    ) -> None: ...

@final
class Model32(_Model): ...

@final
class Model64(_Model): ...

class _Paths:
    status: int
    position: int
    label: int
    remaining: float
    def __init__(self, model: _Model, emissions: NDArray[Any]) -> None: ...
    def next(self, labels: NDArray[np.int64]) -> tuple[bool, float]: ...

@final
class Paths32(_Paths): ...

@final
class Paths64(_Paths): ...

def marginals(
    model: _Model, emissions: NDArray[Any], probabilities: NDArray[np.float64]
) -> tuple[int, int, int, float]: ...
def sample(
    model: _Model, emissions: NDArray[Any], uniforms: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[int, int, int]: ...
def path_scores(
    model: _Model, emissions: NDArray[Any], labels: NDArray[np.int64], scores: NDArray[np.float64]
) -> None: ...

@final
class Extractor:
    columns: int
    most: int
    def __init__(self, program: NDArray[np.int32], columns: int, frequent: NDArray[np.uint64]) -> None: ...
    def keys(self, columns: list[list[str]]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
    def keys_of_all(
        self, sentences: list[list[list[str]]]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...

def word_keys(words: list[str]) -> NDArray[np.uint64]: ...
