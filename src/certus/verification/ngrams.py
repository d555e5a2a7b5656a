"""Label sequences that are weighed by n-grams of any order: classes of what came before.

The labels y(1) .. y(T) of a sentence stand between two boundaries, y(0) and y(T+1). They score the sum of
their emissions, and at every position t from 1 to T+1, for every m from 1 to the order, the weight of the
labels y(t-m) .. y(t) and that of their coarse tags; where the sentence begins, of y(0) .. y(t). What is not
listed weighs 0, and a sentence without words scores 0.

A certificate lists for each position sequences of labels that end there and are told apart. With a sequence,
those that it ends with are listed, too, and at the position before what it has before its last label. Label
sequences with the same longest listed end at a position are a class; those without any are a class for each
coarse tag of their last label, or just one where there are more than 64 tags. The checker goes from the last
position to the first, and finds for every class a number that no way on from there exceeds::

    on[t][c] = max over labels y of emission[t+1][y] + step[t][c, y] + on[t+1][the class of c and y]

where ``step`` is the most that all n-grams weigh which end with y after some labels of the class. Whatever is
listed, no label sequence scores more than the number of the only class before the first label. The more is
listed, the closer it is; once all sequences are, ``step`` is the weight itself and the bound the optimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, add, round_down
from certus.verification.findings import Findings
from certus.verification.ngram_weights import Labels, NgramWeights
from certus.verification.shapes import read_indices, read_list, take
from certus.verification.work import limit_steps

MOST_ORDER = 16
MOST_TAGS = 64  # that make a class each


class WaysOn:
    """What the ways on from classes score at most.

    A class is the longest sequence of labels that is told apart and that its members end with; or the coarse
    tag of their last label, or a number above all tags, which are above all labels.

    Args:
        ngrams: the weights of n-grams.
        emissions: (T, L) on the same grid.
        apart: for each position the sequences of labels that are told apart.

    Attributes:
        on: for each position from 0 on, of each class the most that a way on scores, and its first label.
    """

    def __init__(
        self, ngrams: NgramWeights, emissions: list[list[Exact]], apart: Iterable[Iterable[Labels]]
    ) -> None:
        self.ngrams, self.emissions, self.length = ngrams, emissions, len(emissions)
        few = len(set(ngrams.tag)) <= MOST_TAGS + 1  # with that of boundaries
        self._other = ngrams.tag if few else [ngrams.tag[-1] + 1] * len(ngrams.tag)
        self.apart: list[set[Labels]] = [set() for _ in range(self.length + 1)]
        # For each position the labels that a listed sequence makes another listed one with, before its first.
        self._longer: list[dict[Labels, set[int]]] = [{} for _ in self.apart]
        for t, sequences in enumerate(apart, 1):
            for sequence in sequences:
                self.tell_apart(t, sequence)
        self.on: list[dict[Labels, tuple[Exact, int]]] = [{} for _ in self.apart]
        self.find_numbers(self.length)

    def tell_apart(self, t: int, sequence: Labels) -> None:
        """List a sequence of labels that ends at position t, and all that has to be listed with it."""
        if sequence and sequence not in self.apart[t]:
            self.apart[t].add(sequence)
            self._longer[t].setdefault(sequence[1:], set()).add(sequence[0])
            self.tell_apart(t, sequence[1:])
            self.tell_apart(t - 1, sequence[:-1])

    def find_class(self, t: int, labels: Labels) -> Labels:
        """Return the class of what ends with these labels at position t."""
        for first in range(len(labels)):
            if labels[first:] in self.apart[t]:
                return labels[first:]
        return (self._other[labels[-1]],) if labels else ()

    def find_numbers(self, last: int) -> None:
        """Find the numbers of all classes from a position down to 0, given those after it."""
        self._steps = 0
        for t in range(last, -1, -1):
            ranked = self._rank_labels(t + 1)
            self.on[t] = {c: self._find_way_on(t, c, ranked) for c in self._list_classes(t)}

    def weigh_step(self, t: int, c: Labels, y: int) -> Exact:
        """Return the most that n-grams weigh which end with a label after a class at position t."""
        labels = self._append(c, y)
        tag = c[0] if labels == (y,) and c and c[0] <= self.ngrams.tag[-1] else None
        longer = self._longer[t].get(labels[:-1], set())
        weight = self.ngrams.weigh_longer(labels, t + 1 - len(labels), tag, longer)
        return add(self.ngrams.weigh_end(labels), weight)

    def _append(self, c: Labels, y: int) -> Labels:
        """Return the last labels of what goes on from a class with a label."""
        return (y,) if c[:1] > (self.ngrams.boundary,) else (*c, y)

    def _list_classes(self, t: int) -> set[Labels]:
        if t == 0:
            return {()}
        possible = [y for y, score in enumerate(self.emissions[t - 1]) if score is not None]
        return self.apart[t] | {self.find_class(t, (y,)) for y in possible}

    def _rank_labels(self, t: int) -> list[tuple[int, int]]:
        """Return the labels of position t by the most that they score with all before and after them."""
        if t > self.length:
            return [(0, self.ngrams.boundary)]
        after: dict[int, int] = {}
        for c, (number, _) in self.on[t].items():
            if number is not None:
                after[c[-1]] = max(number, after.get(c[-1], number))
        ranked = []
        for y, emission in enumerate(self.emissions[t - 1]):
            most = add(
                emission, after.get(self.find_class(t, (y,))[-1]), self.ngrams.weigh_any_longer((y,), t - 1)
            )
            if most is not None:
                ranked.append((most, y))
        return sorted(ranked, reverse=True)

    def _find_way_on(self, t: int, c: Labels, ranked: list[tuple[int, int]]) -> tuple[Exact, int]:
        best: tuple[Exact, int] = (None, -1)
        for most, y in ranked:
            if best[0] is not None and most <= best[0]:
                break
            self._steps += 100  # n-grams are tuples, which take a while
            score = add(self.weigh_step(t, c, y), self._find_rest(t + 1, c, y))
            if score is not None and (best[0] is None or score > best[0]):
                best = score, y
        limit_steps("the list of sequences", self._steps)
        return best

    def _find_rest(self, t: int, before: Labels, y: int) -> Exact:
        """Return the most that a label at position t scores with the ways on from it."""
        if t > self.length:
            return 0
        return add(self.emissions[t - 1][y], self.on[t][self.find_class(t, self._append(before, y))][0])


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check the lists of a certificate; return the exact score of its answer and the bound."""
    length, labels = data["emissions"].shape
    rows = read_list("apart", take(proof, "apart", "the proof"), length)
    grid, ngrams, emissions = read_scores(data)
    apart = [
        _read_sequences(f"apart[{t}]", row, labels, min(t + 1, ngrams.order)) for t, row in enumerate(rows)
    ]
    bound = WaysOn(ngrams, emissions, apart).on[0][()][0] if length else 0
    distinct = [ngrams.divisor, *(number for row in emissions for number in row)]
    score = find_score(ngrams, emissions, answer)
    return Findings(grid.lower(score), grid.lower(round_down(bound, distinct)))


def read_scores(data: Mapping[str, Any]) -> tuple[Grid, NgramWeights, list[list[Exact]]]:
    """Return the scores of a problem on a grid; what does not fit together is refused."""
    grid = Grid(data["emissions"].ravel().tolist())
    arrays = [data[name].tobytes() for name in ("coarse", "offsets", "sequences", "weights")]
    # A multiple of 64 bits: sentences of the same model mostly have the same grid, and share its n-grams.
    bits = max(grid.denominator, _find_denominator(arrays[-1])).bit_length() - 1
    grid.denominator = 1 << -(-bits // 64) * 64
    ngrams = _read_ngrams(data["order"], data["emissions"].shape[1], grid.denominator, *arrays)
    return grid, ngrams, [grid.lift_all(row) for row in data["emissions"].tolist()]


@lru_cache(maxsize=2)
def _find_denominator(weights: bytes) -> int:
    return Grid(np.frombuffer(weights, np.float64).tolist()).denominator


@lru_cache(maxsize=2)
def _read_ngrams(order: int, labels: int, denominator: int, *arrays: bytes) -> NgramWeights:
    coarse, offsets, sequences = (np.frombuffer(array, np.int64).tolist() for array in arrays[:3])
    weights = np.frombuffer(arrays[3], np.float64).tolist()
    if not 1 <= order <= MOST_ORDER:
        raise CertificateError(f"order must be from 1 to {MOST_ORDER}, not {order}")
    if len(coarse) != labels or not all(0 <= tag < labels for tag in coarse):
        raise CertificateError(
            f"coarse must have a number from 0 to {labels - 1} for each of {labels} labels"
        )
    if offsets[:1] != [0] or offsets[-1] != len(sequences) or len(offsets) != len(weights) + 1:
        raise CertificateError(
            "offsets must lead from 0 to the end of sequences, one of which has each weight"
        )
    grid = Grid()
    grid.denominator = denominator
    tags = max(coarse, default=-1) + 1
    listed: dict[Labels, Exact] = {}
    for n, weight in enumerate(weights):
        sequence = tuple(sequences[offsets[n] : offsets[n + 1]])
        known = range(labels + 1) if sequence[:1] <= (labels,) else range(labels + 1, labels + tags + 2)
        if not 2 <= len(sequence) <= order + 1 or not all(y in known for y in sequence):
            raise CertificateError(f"sequence {n} is none of 2 to {order + 1} labels, or of coarse tags")
        if sequence in listed:
            raise CertificateError(f"sequence {n} is listed twice")
        listed[sequence] = grid.lift(weight)
    return NgramWeights(order, [labels + 1 + tag for tag in (*coarse, tags)], listed)


def _read_sequences(what: str, given: Any, labels: int, longest: int) -> list[Labels]:
    sequences = [tuple(read_indices(what, one, labels)) for one in read_list(what, given)]
    if not all(1 <= len(one) <= longest for one in sequences):
        raise CertificateError(f"{what} must hold sequences of 1 to {longest} labels")
    return sequences


def find_score(ngrams: NgramWeights, emissions: list[list[Exact]], answer: Any) -> Exact:
    """Return the score of a label sequence, None for no answer; one that cannot be is refuted."""
    if answer is None:
        return None
    labels, length = read_list("the answer", answer), len(emissions)
    if len(labels) != length:
        raise Refuted(f"the answer has {len(labels)} labels, but there are {length} positions")
    for t, label in enumerate(labels):
        if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < len(emissions[t]):
            raise Refuted(f"the answer has no label at position {t}: {str(label)[:50]}")
    score: Exact = add(*(emissions[t][y] for t, y in enumerate(labels)))
    for t in range(1, length + 2 if length else 0):
        score = add(score, ngrams.weigh_whole((*labels, ngrams.boundary)[:t]))
    if score is None:
        raise Refuted("the answer is forbidden: some score on its way is -inf")
    return score
