"""Refinement HMMs by their parameters: probabilities in, sentences and operators out.

Every label a has m hidden states h. A sentence starts with initial(a, h); a state emits x with
o(x | a, h), goes on to (b, h') with t(b, h' | a, h), or stops with f(a, h) (Stratos et al. 2013, section 3)::

    p(a, x, h) = initial(a_1, h_1) prod o(x_i | a_i, h_i) prod t(a_{i+1}, h_{i+1} | a_i, h_i) f(a_N, h_N)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn.refinement.operators import Operators, padded

_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Parameters:
    """A refinement HMM over l labels, m hidden states per label, and n observations.

    Attributes:
        initial: (l, m) probability of each first state; all add up to 1.
        transition: (l, m, l, m) probability of the next state, [from label, from state, to label, to state].
        stop: (l, m) probability that a sentence ends after a state; with its transitions it adds up to 1.
        emission: (l, m, n) probability of each observation; those of a state add up to 1.
    """

    initial: NDArray[np.float64]
    transition: NDArray[np.float64]
    stop: NDArray[np.float64]
    emission: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse what is no distribution, by name and place."""
        l, m, n = self.labels, self.hidden, self.observations  # noqa: E741
        shapes = {"initial": (l, m), "transition": (l, m, l, m), "stop": (l, m), "emission": (l, m, n)}
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape:
                raise InvalidInput(f"{name} must have shape {shape}, not {values.shape}")
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise InvalidInput(f"{name} must hold probabilities: finite, and none below 0")
        if abs(self.initial.sum() - 1) > _ROUNDING:
            raise InvalidInput(f"initial adds up to {self.initial.sum():g}, not to 1")
        _check_rows("transition and stop", self.transition.sum((2, 3)) + self.stop)
        _check_rows("emission", self.emission.sum(2))

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.initial.shape[0])

    @property
    def hidden(self) -> int:
        """How many hidden states a label has."""
        return int(self.initial.shape[1])

    @property
    def observations(self) -> int:
        """How many observations there are."""
        return int(self.emission.shape[2])

    @classmethod
    def random(
        cls,
        labels: int,
        hidden: int,
        observations: int,
        *,
        seed: int | np.random.Generator = 0,
        concentration: float = 1.0,
        length: float = 8.0,
    ) -> Parameters:
        """Draw a model; sentences are about ``length`` tokens long.

        Args:
            labels: how many.
            hidden: states per label.
            observations: how many.
            seed: of the drawing.

        Other args:
            concentration: of the Dirichlet distributions: near 0, states are sure of what they do.
            length: mean length of sentences, at least 1.
        """
        if min(labels, hidden, observations) < 1 or length < 1 or concentration <= 0:
            raise InvalidInput(
                "a model needs at least one label, hidden state and observation, a length of at least 1 and "
                f"a positive concentration: {labels}, {hidden}, {observations}, {length}, {concentration}"
            )
        rng = np.random.default_rng(seed)
        states = labels * hidden
        go_on = 1 - 1 / length
        transition = rng.dirichlet(np.full(states, concentration), states) * go_on
        shape = (labels, hidden)
        return cls(
            rng.dirichlet(np.full(states, concentration)).reshape(shape),
            transition.reshape(*shape, *shape),
            np.full(shape, 1 - go_on),
            rng.dirichlet(np.full(observations, concentration), states).reshape(*shape, observations),
        )

    @cached_property
    def operators(self) -> Operators:
        """The operators of proposition 4.1, all observations sharing the transitions."""
        l, m, n = self.labels, self.hidden, self.observations  # noqa: E741
        states, size = l * m, padded(l * m)
        matrix = np.zeros((1, size, size))
        matrix[0, :states, :states] = self.transition.reshape(states, states)
        gain = np.zeros((n, size))
        gain[:, :states] = self.emission.reshape(states, n).T
        stop, start = np.zeros(size), np.zeros(size)
        stop[:states], start[:states] = self.stop.reshape(-1), self.initial.reshape(-1)
        begin = np.arange(l + 1, dtype=np.int64) * m
        return Operators(begin, start, matrix, np.zeros(n, np.int64), gain, gain * stop)


def _check_rows(what: str, sums: NDArray[np.float64]) -> None:
    wrong = np.argwhere(np.abs(sums - 1) > _ROUNDING)
    if len(wrong):
        label, state = wrong[0]
        raise InvalidInput(
            f"{what} of label {label}, state {state} add up to {sums[label, state]:g}, not to 1"
        )
