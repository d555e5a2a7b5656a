"""What learns weights epoch by epoch, as the loop of ``certus.learn.training`` takes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput

Arrays: TypeAlias = dict[str, NDArray[Any]]
_NOT_RESUMED = "this training cannot be resumed: leave the checkpoint out"


class Trainer(ABC):
    """Weights while they are learned."""

    @property
    @abstractmethod
    def epochs(self) -> int:
        """How many were done."""

    @abstractmethod
    def epoch(self, order: NDArray[np.int64]) -> float | None:
        """Go once over the sentences in this order; return the loss, None if nothing could be learned."""

    @abstractmethod
    def compile(self) -> Arrays:
        """Return the weights as a model file holds them."""

    @property
    def done(self) -> bool:
        """Whether there is nothing more to learn, however many epochs are left."""
        return False

    @property
    def restarts(self) -> int:
        """How many times it has begun anew from other weights."""
        return 0

    def restart(self) -> bool:
        """Begin anew from other weights, where a trainer can; tells whether it did."""
        return False

    def finish(self) -> None:
        """Put the final weights in place, where those of the last epoch are not the final ones."""
        return

    def state(self) -> Arrays:
        """Return everything that training goes on from, where a trainer can be resumed."""
        raise InvalidInput(_NOT_RESUMED)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        raise InvalidInput(_NOT_RESUMED)


class NativeTrainer(Protocol):
    """What native trainers that can be kept between epochs have in common."""

    @property
    def epochs(self) -> int:
        """How many were done."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return arrays that training goes on from."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from there."""


N = TypeVar("N", bound=NativeTrainer)


class EpochTrainer(Trainer, Generic[N]):
    """A native trainer that goes on for as many epochs as it is given."""

    _native: N

    @property
    def epochs(self) -> int:
        """How many were done."""
        return self._native.epochs

    def state(self) -> Arrays:
        """Return what training goes on from."""
        return dict(self._native.state())

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        self._native.restore(dict(state))


def as_arrays(compiled: Mapping[str, Any]) -> Arrays:
    """Return numbers and arrays by name as arrays."""
    return {name: np.asarray(value) for name, value in compiled.items()}
