"""From operators to labels: marginals that can be relied on, the best label of each position, their mass.

Estimated operators can give a sentence a total that is not above 0. So a model is a ladder of operators: the
model itself, then what takes its place; each sentence is summed by the first rung that gives it a total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from certus.chain import Automaton, Chain
from certus.learn.refinement.data import Observed
from certus.learn.refinement.operators import Masses, Sums
from certus.ragged import offsets_of
from certus.solution import LabelSolution


class Summing(Protocol):
    """What can sum over label sequences: ``Operators`` and ``Tensors``."""

    def compute_sums(
        self, data: Observed, threads: int = 1, allowed: NDArray[np.bool_] | None = None
    ) -> Sums:
        """Sum over all label sequences of each sentence, or over those that are allowed: (tokens, L)."""

    def compute_masses(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Masses:
        """Sum over the hidden states of one label sequence for each sentence."""

    def constrain(self, legal: Automaton) -> Summing:
        """Return what gives illegal label sequences no mass, and all others what they had."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a model believes of the labels of some sentences.

    Attributes:
        data: the sentences.
        raw: (tokens, L) marginals as the operators have them.
        probabilities: (tokens, L) those without what is negative, each row adding up to 1.
        log_mass: (sentences,) log p(observations), and labels that are allowed; -inf where nothing is.
        level: (sentences,) the rung that gave them.
    """

    data: Observed
    raw: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    log_mass: NDArray[np.float64]
    level: NDArray[np.int64]

    @property
    def negative(self) -> NDArray[np.float64]:
        """(sentences,) how far below 0 the raw marginals go; 0 where none is."""
        below = np.maximum(0.0, -self.raw.min(axis=1, initial=0.0))
        return fold_tokens(np.maximum, below, self.data, 0.0)


def believe(
    ladder: Sequence[Summing], data: Observed, threads: int = 1, allowed: NDArray[np.bool_] | None = None
) -> Beliefs:
    """Sum by the first rung, and sentences without a positive total by the next ones."""
    sums = ladder[0].compute_sums(data, threads, allowed)
    level = np.zeros(len(data.offsets) - 1, np.int64)
    for rung, model in enumerate(ladder[1:], 1):
        bad = np.flatnonzero((sums.sign <= 0) & (data.lengths > 0))
        if not bad.size:
            break
        tokens, part = select_sentences(data, bad)
        other = model.compute_sums(part, threads, None if allowed is None else allowed[tokens])
        sums.marginals[tokens] = other.marginals
        sums.log_mass[bad], sums.sign[bad] = other.log_mass, other.sign
        level[bad] = rung
    log_mass = np.where(data.lengths == 0, 0.0, np.where(sums.sign > 0, sums.log_mass, -np.inf))
    return Beliefs(data, sums.marginals, _normalize(sums.marginals, allowed), log_mass, level)


def score(
    ladder: Sequence[Summing],
    data: Observed,
    labels: NDArray[np.int64],
    level: NDArray[np.int64],
    threads: int,
) -> NDArray[np.float64]:
    """Return log p(labels, observations) by the rung of each sentence, or the next that has it above 0."""
    found = np.where(data.lengths == 0, 0.0, -np.inf)
    for rung, model in enumerate(ladder):
        left = np.flatnonzero((found == -np.inf) & (level <= rung))
        if left.size:
            tokens, part = select_sentences(data, left)
            masses = model.compute_masses(part, labels[tokens], threads)
            found[left] = np.where(masses.sign > 0, masses.log_mass, -np.inf)
    return found


def find_best_legal(
    beliefs: Beliefs, chain: Chain, allowed: NDArray[np.bool_] | None, threads: int
) -> list[LabelSolution[NDArray[np.int64]]]:
    """Return for each sentence the sequence with the most labels right in expectation that a chain permits.

    Args:
        beliefs: in the labels.
        chain: has the score 0 for what may be, and -inf for what may not.
        allowed: (tokens, L) or None for all.
        threads: how many to use.
    """
    scores = beliefs.probabilities if allowed is None else np.where(allowed, beliefs.probabilities, -np.inf)
    offsets = beliefs.data.offsets
    return chain.decode_batch(np.split(scores, offsets[1:-1]), threads=threads, infeasible="return")


def free(support: NDArray[np.bool_] | int, legal: Automaton | None = None) -> Chain:
    """Return a chain in which all that may follow each other does so at no cost.

    Args:
        support: how many labels there are; or (L + 1, L + 1) what may follow what, the last row being the
            start and the last column the end.
        legal: leaves less.
    """
    may = np.ones((support + 1, support + 1), bool) if isinstance(support, int) else support
    table = np.where(may, 0.0, -np.inf)
    chain = Chain(table[:-1, :-1], start=table[-1, :-1], end=table[:-1, -1])
    return chain if legal is None else chain.constrain(legal)


def select_sentences(data: Observed, sentences: NDArray[np.int64]) -> tuple[NDArray[np.int64], Observed]:
    """Return the tokens of some sentences, and these sentences alone."""
    if len(sentences) == len(data.offsets) - 1:
        return np.arange(len(data.observations)), data
    tokens = np.concatenate([np.arange(data.offsets[n], data.offsets[n + 1]) for n in sentences])
    return tokens, Observed(data.observations[tokens], offsets_of(data.lengths[sentences].tolist()))


def fold_tokens(
    fold: np.ufunc, values: NDArray[np.float64], data: Observed, empty: float
) -> NDArray[np.float64]:
    """Fold what is known of tokens into one number for each sentence."""
    out = np.full(len(data.offsets) - 1, empty)
    filled = data.lengths > 0
    if filled.any():
        out[filled] = fold.reduceat(values, data.offsets[:-1][filled])
    return out


def _normalize(raw: NDArray[np.float64], allowed: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Return marginals without what is negative, adding up to 1; uniform where nothing is left."""
    kept = np.maximum(raw, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    even = np.ones_like(raw) if allowed is None else allowed.astype(np.float64)
    even /= np.maximum(even.sum(axis=1, keepdims=True), 1.0)
    probabilities: NDArray[np.float64] = np.divide(kept, total, out=even, where=total > 0)
    return probabilities
