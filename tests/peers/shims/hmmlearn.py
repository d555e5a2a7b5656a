"""hmmlearn decodes by ``Chain.decode``, and gets likelihoods and posteriors from ``Chain.marginals``."""

from __future__ import annotations

from typing import Any

import numpy as np
from hmmlearn import _utils, base

import certus


def make_chain(model: Any) -> certus.Chain:
    """Return the chain of a hidden Markov model."""
    with np.errstate(divide="ignore"):
        return certus.Chain(np.log(model.transmat_), start=np.log(model.startprob_))


def decode(self: Any, X: Any) -> Any:
    """Return the score and the states of the best path."""
    found = make_chain(self).decode(self._compute_log_likelihood(X))
    assert found.optimal
    return found.score, found.labels


def score(self: Any, X: Any, lengths: Any = None, *, compute_posteriors: bool) -> Any:
    """Return the log-likelihood of all sequences, and the posteriors of states if they are asked for."""
    chain = make_chain(self)
    found = [
        chain.marginals(np.asarray(self._compute_log_likelihood(part), np.float64))
        for part in _utils.split_X_lengths(X, lengths)
    ]
    posteriors = [one.probabilities for one in found] if compute_posteriors else []
    return sum(one.log_partition for one in found), np.concatenate(
        [np.empty((0, self.n_components)), *posteriors]
    )


def pytest_configure() -> None:
    """Replace what is inside of all models."""
    base._AbstractHMM._decode_viterbi = decode
    base._AbstractHMM._score_log = score
    base._AbstractHMM._score_scaling = score
