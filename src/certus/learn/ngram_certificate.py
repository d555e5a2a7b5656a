"""The certificate of a pruned CRF: which label sequences to tell apart so that nothing else can be better.

It begins with what the cascade kept. As long as the bound is above the answer, the best way that the bound
allows is followed from the first word on. Wherever the n-grams of its labels weigh less than their class
promises, these labels are told apart from the rest of the class, and the bound is found anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.verification import Certificate, Problem, certify, make_problem
from certus.verification.exact import is_more
from certus.verification.ngram_weights import Labels
from certus.verification.ngrams import WaysOn, find_score, read_scores

MOST_ROUNDS = 1000


@dataclass(frozen=True, eq=False)
class LabelNgrams:
    """The n-grams of a model.

    Attributes:
        coarse: (labels,) the coarse tag of each label.
        rows: (sequences, order + 1) as model files have them: see native/scoring/ngrams.hpp.
        weights: (sequences,)
    """

    coarse: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float32]

    def state_problem(self, emissions: NDArray[np.float32], legal: NDArray[np.bool_] | None) -> Problem:
        """Return a sentence as a problem that ``certus.verify`` takes.

        Args:
            emissions: (T, labels), with -inf for labels that a word may not get.
            legal: (labels + 1, labels + 1) what may follow what, the boundary being the last; None for all.
        """
        labels, width = len(self.coarse), self.rows.shape[1]
        nothing = labels + int(self.coarse.max(initial=-1)) + 3
        rows, weights = self.rows, self.weights
        if legal is not None:  # pairs that are not legal weigh -inf
            are_pairs = (rows[:, :-2] == nothing).all(axis=1) & (rows[:, -1] <= labels)
            stays = ~are_pairs
            stays[are_pairs] = legal[rows[are_pairs, -2], rows[are_pairs, -1]]
            others = np.argwhere(~legal)
            before = np.full((len(others), width - 2), nothing)
            rows = np.concatenate([rows[stays], np.concatenate([before, others], axis=1)])
            weights = np.concatenate([weights[stays], np.full(len(others), -np.inf, np.float32)])
        listed = rows != nothing
        offsets = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
        data = {"emissions": emissions, "order": width - 1, "coarse": self.coarse}
        return make_problem(
            "ngrams", data | {"offsets": offsets, "sequences": rows[listed], "weights": weights}
        )


def certify_labels(
    problem: Problem, labels: list[int] | None, likely: Sequence[Iterable[Labels]]
) -> Certificate:
    """Return the certificate of labels; None where no labels are possible.

    Args:
        problem: the sentence.
        labels: the answer.
        likely: for each position the sequences of labels that are told apart at once.
    """
    _, ngrams, emissions = read_scores(problem.data)
    score = find_score(ngrams, emissions, labels)
    ways = WaysOn(ngrams, emissions, likely)
    for _ in range(MOST_ROUNDS):
        changed = _refine(ways) if emissions and is_more(ways.on[0][()][0], score) else 0
        if changed == 0:
            break
        ways.find_numbers(changed)
    return certify(problem, labels, {"apart": [sorted(map(list, own)) for own in ways.apart[1:]]})


def _refine(ways: WaysOn) -> int:
    """Tell apart what the best way is not; return the last position where that changes classes, or 0."""
    labels: Labels = ()
    changed = 0
    for t in range(ways.length + 1):
        c = ways.find_class(t, labels)
        following = (*labels, ways.on[t][c][1])
        if ways.ngrams.weigh_whole(following) != ways.weigh_step(t, c, following[-1]):
            ways.tell_apart(t, labels[-ways.ngrams.order :])
            changed = t
        labels = following
    return changed


def list_kept(lattice: _native.Lattice, order: int) -> list[set[Labels]]:
    """Return for each word the label sequences that end there in a lattice whose states are that long."""
    begin, label, source = lattice.begin.tolist(), lattice.label.tolist(), lattice.first_source.tolist()
    kept: list[set[Labels]] = []
    for t in range(1, len(begin) - 2):
        found = set()
        for state in range(begin[t], begin[t + 1]):
            labels = []
            for _ in range(min(order, t)):
                labels.append(label[state])
                state = source[state]
            found.add(tuple(labels[::-1]))
        kept.append(found)
    return kept
