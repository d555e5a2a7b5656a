"""The optimisers of the dual, one a file; ``OPTIMIZERS`` lists them by name."""

from __future__ import annotations

from certus.errors import InvalidInput
from certus.relax.optimizers.auto import Auto
from certus.relax.optimizers.bundle import Bundle
from certus.relax.optimizers.descent import Descent
from certus.relax.optimizers.optimizer import DualProblem, Optimizer, Stepper
from certus.relax.optimizers.subgradient import Subgradient

OPTIMIZERS: dict[str, type[Optimizer]] = {
    optimizer.name: optimizer for optimizer in (Auto, Subgradient, Bundle, Descent)
}


def choose(optimizer: str | Optimizer) -> Optimizer:
    """Return the optimiser meant, or say what is wrong with the choice."""
    if isinstance(optimizer, Optimizer):
        return optimizer
    if not isinstance(optimizer, str):
        raise InvalidInput(f"optimizer must be a name or an Optimizer, not {type(optimizer).__name__}")
    if optimizer not in OPTIMIZERS:
        raise InvalidInput(f"unknown optimizer {optimizer!r}; choose one of: {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[optimizer]()


__all__ = [
    "OPTIMIZERS",
    "Auto",
    "Bundle",
    "Descent",
    "DualProblem",
    "Optimizer",
    "Stepper",
    "Subgradient",
    "choose",
]
