"""The scores of two hidden Markov models for one pair, as ``align_matrix`` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FARTHEST = 40  # distance from which on jumps are as likely as this one; as native/align declares it


@dataclass(frozen=True)
class Potentials:
    """Logarithms of probabilities: Chang et al. (2014), §2.1, without their scores of null positions.

    Attributes:
        forward: (I, J) log p(target word j | source word i).
        backward: (I, J) log p(source word i | target word j).
        forward_null: (J,) log p(target word j | nothing).
        backward_null: (I,) log p(source word i | nothing).
        forward_steps: (I + 1, I + 1) log p(source of a word | source of the word before); 0 is nothing, and
            all sources are equally likely after it.
        backward_steps: (J + 1, J + 1) the same of targets.
    """

    forward: Floats
    backward: Floats
    forward_null: Floats
    backward_null: Floats
    forward_steps: Floats
    backward_steps: Floats

    @property
    def arguments(self) -> dict[str, Any]:
        """What ``align_matrix`` is called with."""
        return {
            "forward": self.forward,
            "backward": self.backward,
            "null": (self.forward_null, self.backward_null),
            "forward_steps": self.forward_steps,
            "backward_steps": self.backward_steps,
        }


def make_steps(jumps: Floats, places: int, null: float) -> Floats:
    """Return log probabilities of steps between places and nothing, which is 0, from those of distances."""
    steps = np.full((places + 1, places + 1), np.log(null))
    steps[0, 1:] = np.log((1 - null) / max(places, 1))
    distances = np.clip(np.arange(places)[None, :] - np.arange(places)[:, None], -FARTHEST, FARTHEST)
    weights = jumps[distances + FARTHEST]
    steps[1:, 1:] = np.log((1 - null) * weights / weights.sum(1, keepdims=True))
    return steps
