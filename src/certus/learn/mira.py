"""Batch MIRA: weights from lists of translations (Cherry & Foster 2012, figure 2).

For each sentence the best translation by score and BLEU together (hope) is set against the one whose score is
highest for its BLEU (fear); the smallest change of weights that puts them in the right order is made, and
all weights on the way are averaged. BLEU is that of a pseudo-corpus, the sentence and those before it, times
its number of words.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LONGEST = 4  # words of an n-gram
DECAY = 0.999  # of the pseudo-corpus, per sentence


def count_matches(words: Sequence[str], reference: Sequence[str]) -> NDArray[np.float64]:
    """Return what BLEU is made of: for each n matches and n-grams, then the words of the reference."""
    counts = []
    for n in range(1, LONGEST + 1):
        wanted = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        found = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        counts += [sum((wanted & found).values()), sum(found.values())]
    return np.array([*counts, len(reference)], np.float64)


def find_bleu(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the BLEU of counts (..., 9), from 0 to 1; 0 where there is no match of a length."""
    matches, totals = counts[..., 0 : 2 * LONGEST : 2], counts[..., 1 : 2 * LONGEST : 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(matches > 0, np.log(matches / totals), -np.inf).mean(-1)
        brevity = np.minimum(0.0, 1 - counts[..., -1] / np.maximum(totals[..., 0], 1))
    return np.asarray(np.exp(precision + brevity), np.float64)


@dataclass
class Candidates:
    """The translations of a sentence that were found so far, each once.

    Attributes:
        features: (n, features) of each.
        counts: (n, 9) what BLEU is made of.
        seen: their texts.
    """

    features: NDArray[np.float64]
    counts: NDArray[np.float64]
    seen: set[str] = field(default_factory=set)

    def add(self, texts: Sequence[str], features: NDArray[np.float64], reference: Sequence[str]) -> None:
        """Add the new ones among some translations."""
        new = [n for n, text in enumerate(texts) if text not in self.seen]
        if new:
            self.seen.update(texts)
            counts = [count_matches(texts[n].split(), reference) for n in new]
            self.features = np.concatenate([self.features, features[new]])
            self.counts = np.concatenate([self.counts, np.array(counts)])


def learn_weights(
    lists: Sequence[Candidates],
    start: NDArray[np.float64],
    *,
    tuned: NDArray[np.bool_],
    floors: NDArray[np.float64],
    epochs: int = 30,
    step: float = 0.01,
    seed: int = 1,
) -> NDArray[np.float64]:
    """Return weights under which good translations score best.

    Args:
        lists: the translations of each sentence.
        start: the weights to begin with.
        tuned: which of them may change.
        floors: the least that each may be.
        epochs: over all sentences.
        step: the largest step, as a multiple of the difference of features.
        seed: of the order of sentences.
    """
    rng = random.Random(seed)
    weights, total = start.copy(), np.zeros_like(start)
    usable = [one for one in lists if len(one.features) > 1]
    corpus = np.full(2 * LONGEST + 1, 1.0)
    updates = 0
    for _ in range(epochs):
        rng.shuffle(usable)
        for one in usable:
            scores = one.features @ weights
            bleu = find_bleu(corpus + one.counts) * (corpus[-1] + one.counts[:, -1])  # in words
            hope, fear = int(np.argmax(scores + bleu)), int(np.argmax(scores - bleu))
            loss = (bleu[hope] - bleu[fear]) - (scores[hope] - scores[fear])
            if loss > 0 and bleu[hope] > bleu[fear]:
                difference = np.where(tuned, one.features[hope] - one.features[fear], 0.0)
                norm = float(difference @ difference)
                if norm > 0:
                    weights = np.maximum(weights + min(step, loss / norm) * difference, floors)
            corpus = DECAY * (corpus + one.counts[int(np.argmax(one.features @ weights))])
            total += weights
            updates += 1
    return total / updates if updates else weights


def measure_bleu(counts: Sequence[NDArray[np.float64]]) -> float:
    """Return the BLEU of a corpus, from the counts of its sentences."""
    found = float(find_bleu(np.sum(counts, axis=0))) if counts else 0.0
    return found if math.isfinite(found) else 0.0
