"""From what the kernels say of many sentences to what each of them came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.latent.method import Inference
from certus.latent.solution import LatentSolution
from certus.solution import Status

OPTIMAL = int(_native.Status.OPTIMAL.value)
INFEASIBLE = int(_native.Status.INFEASIBLE.value)
INVALID = int(_native.Status.INVALID.value)


@dataclass(frozen=True)
class Answers:
    """The label sequences of many sentences, one after the other.

    Attributes:
        first: (sentences + 1,) where the tokens of each begin.
        counts: (sentences,) how many label sequences each has.
        labels: the label numbers of all sequences of all sentences.
        scores: the log-probabilities of all sequences.
        numbers: (sentences, 4): the log of the bound on unseen sequences, the mass of those, log Z, the gain.
        facts: (sentences, 6): status, position and state of a fault, paths, sequences, prefixes.
    """

    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    numbers: NDArray[np.float64]
    facts: NDArray[np.int64]

    @classmethod
    def of(cls, first: NDArray[np.int64], found: Any) -> Answers:
        """Take what the native ``infer`` returns."""
        counts, labels, scores, numbers, facts = found
        return cls(first, counts, labels, scores, numbers.reshape(-1, 4), facts.reshape(-1, 6))

    def begins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the sequences of each sentence begin, in ``scores`` and in ``labels``."""
        sequences = np.concatenate([[0], np.cumsum(self.counts)])
        return sequences, np.concatenate([[0], np.cumsum(self.counts * np.diff(self.first))])

    def several(
        self, n: int, begins: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the label sequences of a sentence, (count, T), and their log-probabilities."""
        sequence, label = (int(begin[n]) for begin in begins)
        count, length = int(self.counts[n]), int(self.first[n + 1] - self.first[n])
        rows = self.labels[label : label + count * length].reshape(count, length).astype(np.int64)
        return rows, self.scores[sequence : sequence + count]

    def solutions(
        self, n: int, k: int, begins: tuple[NDArray[np.int64], NDArray[np.int64]], inference: Inference
    ) -> list[LatentSolution]:
        """Return the k best of a sentence that has any, best first."""
        rows, scores = self.several(n, begins)
        unseen, remaining, _, gain = self.numbers[n].tolist()
        top, proven = float(scores.max()), self.facts[n, 0] == OPTIMAL
        chosen = inference.rerank(rows, np.exp(scores))
        if chosen is not None:
            best, gain = chosen
            rows, scores = rows[best : best + 1], scores[best : best + 1]
        out = []
        for rank, (row, score) in enumerate(zip(rows[:k], scores[:k].tolist(), strict=True)):
            better = -np.inf if rank else top  # of what was found, and does not rank before it
            sure = score >= better and (proven or score >= unseen)
            made = LatentSolution(
                row,
                score,
                score if sure else max(score, better, unseen),
                Status.OPTIMAL if sure else Status.FEASIBLE,
                remaining=remaining,
                work=tuple(self.facts[n, 3:].tolist()),
                gain=gain if inference.reranks else None,
            )
            out.append(made)
        return out
