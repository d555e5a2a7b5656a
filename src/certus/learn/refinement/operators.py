"""Forward-backward in operator form (Stratos et al. 2013, figure 2), and what comes out of it.

The states of all labels stand in one vector of S entries; label a has those from ``begin[a]`` to
``begin[a + 1]``. With M_x the operator of an observation (``[from, to]``) and f_x the one that ends a
sentence::

    alpha_0 = start                  alpha_{t+1} = alpha_t M_{x_t}
    beta_{T-1} = f_{x_{T-1}}         beta_t      = M_{x_t} beta_{t+1}
    mu(a, t) = sum over the states h of a of alpha_t[h] beta_t[h]

Written with the parameters of a model, M_x = diag(o_x) T (proposition 4.1). Any invertible change of basis
within each label leaves mu as it is (theorem 4.1), which is what the spectral estimator stands on.

The sums run natively: sentences walk in step, so that those at the same observation share its matrix in the
cache, and every entry is added up in an order of its own, so that no result depends on the company.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton
from certus.errors import InvalidInput
from certus.learn.refinement.data import Observed, check_ids

LANES = 8  # S is padded to a multiple of this with states that nothing enters or leaves


@dataclass(frozen=True, eq=False)
class Sums:
    """What forward-backward found about some sentences.

    Attributes:
        marginals: (tokens, L) mu(a, t) / Z_t. Estimated operators can make them negative, or more than 1.
        log_mass: (sentences,) log |Z|; Z = p(x_1 ... x_T) where the operators are those of a model.
        sign: (sentences,) of Z: 1, or 0 or -1 where there is no meaning in the marginals.
        drift: (sentences,) how far Z, which is the same at every position, differs for rounding.
    """

    marginals: NDArray[np.float64]
    log_mass: NDArray[np.float64]
    sign: NDArray[np.float64]
    drift: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Masses:
    """The masses p(labels, observations) of one label sequence for each sentence.

    Attributes:
        log_mass: (sentences,) log |p|; -inf where p is 0, and for empty sentences.
        sign: (sentences,) of p: estimated operators can make it negative.
    """

    log_mass: NDArray[np.float64]
    sign: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Operators:
    """The operators of every observation.

    Attributes:
        begin: (L + 1,) where the states of each label begin.
        start: (S,).
        matrices: (K, S, S) [from, to].
        matrix: (n,) which of them an observation has.
        gain: (n, S), or None: M_x = diag(gain_x) matrices[matrix[x]].
        finish: (n, S).
    """

    begin: NDArray[np.int64]
    start: NDArray[np.float64]
    matrices: NDArray[np.float64]
    matrix: NDArray[np.int64]
    gain: NDArray[np.float64] | None
    finish: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other: kernels read them as they are."""
        size, n = len(self.start), len(self.matrix)
        fits = (
            size % LANES == 0
            and self.matrices.ndim == 3
            and self.matrices.shape[1:] == (size, size)
            and self.finish.shape == (n, size)
            and (self.gain is None or self.gain.shape == (n, size))
            and (n == 0 or 0 <= self.matrix.min() <= self.matrix.max() < len(self.matrices))
            and self.begin[0] == 0
            and self.begin[-1] <= size
            and (np.diff(self.begin) >= 0).all()
        )
        if not fits:
            raise InvalidInput(
                f"the arrays of the operators do not fit each other, or S = {size} is no multiple of {LANES}"
            )

    def compute_sums(
        self, data: Observed, threads: int = 1, allowed: NDArray[np.bool_] | None = None
    ) -> Sums:
        """Sum over all label sequences of each sentence, or over those that are allowed: (tokens, L)."""
        check_ids("observation", data.observations, len(self.matrix))
        if allowed is not None:
            own, data = self._restrict(data, allowed)
            return own.compute_sums(data, threads)
        count, labels = len(data.offsets) - 1, len(self.begin) - 1
        found = Sums(
            np.zeros((len(data.observations), labels)), np.empty(count), np.empty(count), np.empty(count)
        )
        _native.refinement_marginals(
            self.begin, self.start, self.matrices, self.matrix, self.gain, self.finish,
            data.observations, data.offsets, threads,
            found.marginals, found.log_mass, found.sign, found.drift,
        )  # fmt: skip
        return found

    def compute_masses(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Masses:
        """Sum over the hidden states of one label sequence for each sentence: p(labels, observations)."""
        check_ids("observation", data.observations, len(self.matrix))
        check_ids("label", labels, len(self.begin) - 1)
        if len(labels) != len(data.observations):
            raise InvalidInput(f"there are {len(data.observations)} observations, but {len(labels)} labels")
        found = Masses(*(np.empty(len(data.offsets) - 1) for _ in range(2)))
        _native.refinement_path_masses(
            self.begin, self.start, self.matrices, self.matrix, self.gain, self.finish,
            data.observations, labels, data.offsets, threads, found.log_mass, found.sign,
        )  # fmt: skip
        return found

    def constrain(self, legal: Automaton) -> Operators:
        """Return operators that give illegal label sequences no mass, and all others what they had."""
        start, end = (self._spread_over_states(of) for of in (legal.start, legal.end))
        pairs = self._spread_over_states(self._spread_over_states(legal.legal).T).T
        return replace(
            self, start=self.start * start, matrices=self.matrices * pairs, finish=self.finish * end
        )

    def _restrict(self, data: Observed, allowed: NDArray[np.bool_]) -> tuple[Operators, Observed]:
        """Return operators for tokens that may not have every label, and the data that name them.

        Such a token gets an observation of its own, whose operator has no rows for the other labels; tokens
        with the same observation and the same choice share one.
        """
        limited = np.flatnonzero(~allowed.all(axis=1))
        keys = np.column_stack([data.observations[limited], np.packbits(allowed[limited], axis=1)])
        first, own = np.unique(keys, axis=0, return_index=True, return_inverse=True)[1:]
        chosen = limited[first]
        seen, mask = data.observations[chosen], self._spread_over_states(allowed[chosen])
        gain = np.ones_like(self.finish) if self.gain is None else self.gain
        observations = data.observations.copy()
        observations[limited] = len(self.matrix) + own.reshape(-1)
        operators = replace(
            self,
            matrix=np.concatenate([self.matrix, self.matrix[seen]]),
            gain=np.concatenate([gain, gain[seen] * mask]),
            finish=np.concatenate([self.finish, self.finish[seen] * mask]),
        )
        return operators, Observed(observations, data.offsets)

    def _spread_over_states(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Spread what is said of labels, in the last axis, over their states; 0 for those that pad."""
        spread = np.repeat(labels.astype(np.float64), np.diff(self.begin), axis=-1)
        room = len(self.start) - spread.shape[-1]
        return np.pad(spread, [(0, 0)] * (spread.ndim - 1) + [(0, room)])


def padded(count: int) -> int:
    """Return the number of states that kernels work on."""
    return -(-count // LANES) * LANES
