"""Decoding with a refinement HMM that EM estimated: the most probable label sequence, proven.

Its states are those of a latent chain: log-probabilities as scores, summed over the states of labels. So the
answer is the label sequence with the highest p(labels, observations), proven as those of a latent CRF are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certus.latent import Inference, LatentChain
from certus.learn.decoder import Cells, find_starts
from certus.learn.latent_decoder import StateDecoder
from certus.learn.refinement.decoder import RefinementDecoder
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.observer import Observer


class EmDecoder(StateDecoder, RefinementDecoder):
    """A refinement HMM that labels sentences by its latent chain; scores are log p(labels, observations)."""

    def __init__(self, model: Refinement, observer: Observer, inference: Inference) -> None:
        super().__init__(model, observer)
        plain = model.get_plain()
        size = plain.labels * plain.hidden
        self.inference = inference
        self.chain = LatentChain(
            _take_log(plain.transition.reshape(size, size)),
            plain.hidden,
            start=_take_log(plain.initial.reshape(-1)),
            end=_take_log(plain.stop.reshape(-1)),
            names=model.names.labels,
        )
        self._emission = _take_log(plain.emission.reshape(size, -1).T)  # (observations, states)

    @property
    def width(self) -> int:
        """How many scores a token has."""
        return len(self.chain.owner)

    def score_states(self, cells: Cells, threads: int = 1) -> NDArray[np.float64]:
        """Return the log-probabilities of the observations in all states, (tokens, states)."""
        scores: NDArray[np.float64] = self._emission[self._observe(cells, find_starts(cells)).observations]
        return scores


def _take_log(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
