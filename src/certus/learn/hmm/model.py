"""A smoothed first-order hidden Markov model: a tagger that is estimated by counting.

The model is p(labels, words) = product of p(label | label before) p(word | label), with a start and an end.
What a word says comes from p(label | word) (``learn.features.abstraction``), turned round by Bayes' rule::

    log p(word | label) = log p(label | word) - log p(label) + log p(word)

The last term is the same for all labels and is left out. The difference of the others is one number, the
floor of the word, for the labels that nothing speaks for: what is stored is the floor and the labels that
rise from it.

A word never seen stands for the longest ending it shares with rare words; the first of a sentence, if
capitalised, stands for its lower-case form where that was seen.

Departures from Brants 2000 ("TnT"): words of the training data are smoothed as well, instead of being held to
the labels they were seen with; transitions are of first order, and smoothed by absolute discounting towards
the number of contexts a label was seen in (Kneser & Ney 1995), since one weight for all contexts serves large
label sets badly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import Chain
from certus.errors import InvalidInput, ModelError
from certus.learn.features.abstraction import Counts, Hierarchy, Nodes, add_endings, list_entries
from certus.storage.declaration import Declaration, names, offsets, reals, whole

# Added to the count of every label, so that one that never occurred in training can still be predicted.
UNSEEN = 0.1
# Between words in a model file; no text holds it.
SEPARATOR = "\0"
# What a model file holds of a model: see Hmm. Transitions may be forbidden.
DECLARATION = Declaration({
    "transitions": reals("labels", "labels", least=-np.inf),
    "start": reals("labels", least=-np.inf),
    "end": reals("labels", least=-np.inf),
    "vocabulary": names("words", separator=SEPARATOR),
    "endings": names("endings", separator=SEPARATOR),
    "floors": reals("words+endings"),
    "offsets": offsets("words+endings", into="entries"),
    "labels": whole("entries", types="uint16 uint32", below="labels"),
    "scores": reals("entries"),
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Hmm:
    """An estimated model. ``emissions`` scores a sentence, ``chain`` decodes the scores.

    Attributes:
        transitions: (L, L) log p(to | from).
        start: (L,) log p(label | start of the sentence).
        end: (L,) log p(end of the sentence | label).
        vocabulary: the node of each word of the training data.
        endings: the node of each ending of rare words, led by "1" for capitalised words and "0" for others.
        floors: (N,) the score at each node of the labels it does not list.
        offsets: (N + 1,) where the labels of each node begin in the next two.
        labels: (M,) the labels that each node lists.
        scores: (M,) their log p(label | node) - log p(label).
    """

    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    vocabulary: Mapping[str, int]
    endings: Mapping[str, int]
    floors: NDArray[np.float32]
    offsets: NDArray[np.int64]
    labels: NDArray[Any]
    scores: NDArray[np.float32]

    @cached_property
    def chain(self) -> Chain:
        """The transitions, ready for decoding."""
        return Chain(self.transitions, start=self.start, end=self.end)

    @cached_property
    def _nodes(self) -> Nodes:
        return Nodes(self.vocabulary, self.endings)

    def emissions(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the (T, L) scores log p(word | label) of a sentence, less log p(word)."""
        nodes = np.fromiter(map(self._nodes.__getitem__, words), np.int64, len(words))
        if len(words) > 0:
            nodes[0] = self._nodes.find_first(words[0])
        scores = np.empty((len(nodes), len(self.start)), np.float32)
        scores[:] = self.floors[nodes][:, None]
        rows, entries = list_entries(self.offsets, nodes)
        scores[rows, self.labels[entries]] = self.scores[entries]
        return scores

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the model as arrays for a model file; ``from_arrays`` takes them back."""
        return {
            "transitions": self.transitions,
            "start": self.start,
            "end": self.end,
            "vocabulary": _join_names(self.vocabulary),
            "endings": _join_names(self.endings),
            "floors": self.floors,
            "offsets": self.offsets,
            "labels": self.labels,
            "scores": self.scores,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Hmm:
        """Make a model of arrays that are as ``DECLARATION`` says; they are used where they lie."""
        fields: dict[str, Any] = {name: arrays[name] for name in cls.__dataclass_fields__}
        endings, vocabulary = _split_names(fields["endings"]), _split_names(fields["vocabulary"])
        if not {"0", "1"} <= set(endings):  # what stands for all words that nothing else is known of
            raise ModelError("its endings of rare words lack the empty ones")
        nodes = len(endings) + len(vocabulary)
        fields["endings"] = dict(zip(endings, range(len(endings)), strict=True))
        fields["vocabulary"] = dict(zip(vocabulary, range(len(endings), nodes), strict=True))
        return cls(**fields)


def estimate(
    words: Sequence[Sequence[str]],
    labels: Sequence[NDArray[Any]],
    label_count: int,
    *,
    rare: int = 10,
    suffixes: int = 10,
    word_strength: float = 0.5,
    suffix_strength: float = 10.0,
    forbid_unseen: bool = False,
) -> Hmm:
    """Estimate a model from labelled sentences.

    Args:
        words: the words of each sentence.
        labels: the labels of each sentence, from 0 to ``label_count`` - 1.
        label_count: L.

    Other args:
        rare: words that occur at most this often tell what unknown words are like.
        suffixes: the longest ending to look at, in characters.
        word_strength: how many occurrences of a word weigh as much as its ending.
        suffix_strength: how many occurrences of an ending weigh as much as the ending one character shorter.
        forbid_unseen: give transitions that do not occur in training a score of -inf; a sentence may then
            have no possible labels at all.
    """
    tokens, vocabulary, flat = _check_words(words, labels, label_count)
    _check_options(rare, suffixes, word_strength, suffix_strength)
    transitions = _estimate_transitions(labels, label_count, forbid_unseen)
    frequency = np.bincount(flat, minlength=label_count) + UNSEEN
    pairs, counts = np.unique(tokens * label_count + flat, return_counts=True)
    seen = Counts(*np.divmod(pairs, label_count), counts.astype(float))
    hierarchy = Hierarchy(label_count)
    endings = add_endings(hierarchy, list(vocabulary), seen, rare, suffixes, suffix_strength)
    parents = Nodes({}, endings)
    own = np.fromiter((parents[word] for word in vocabulary), np.int64, len(vocabulary))
    hierarchy.add(own, seen, word_strength)
    return Hmm(
        transitions=np.ascontiguousarray(transitions[:-1, :-1]),
        start=transitions[-1, :-1].copy(),
        end=transitions[:-1, -1].copy(),
        vocabulary={word: len(endings) + index for word, index in vocabulary.items()},
        endings=endings,
        **hierarchy.estimate_scores(frequency / frequency.sum()),
    )


def _join_names(names: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer(SEPARATOR.join(names).encode(errors="surrogatepass"), np.uint8)


def _split_names(names: NDArray[np.uint8]) -> list[str]:
    return names.tobytes().decode(errors="surrogatepass").split(SEPARATOR)


def _check_words(
    words: Sequence[Sequence[str]], labels: Sequence[NDArray[Any]], label_count: int
) -> tuple[NDArray[np.int64], dict[str, int], NDArray[np.int64]]:
    """Return the word ids of all tokens, the words by id, and the labels of all tokens."""
    if len(words) != len(labels):
        raise InvalidInput(f"there are {len(words):,} sentences of words, but {len(labels):,} of labels")
    for index, (sentence, gold) in enumerate(zip(words, labels, strict=True)):
        if len(sentence) != len(gold):
            raise InvalidInput(f"sentence {index} has {len(sentence)} words, but {len(gold)} labels")
    vocabulary: dict[str, int] = {}
    tokens = [vocabulary.setdefault(word, len(vocabulary)) for sentence in words for word in sentence]
    if not tokens:
        raise InvalidInput("there is nothing to learn from: the training data have no words")
    if any(SEPARATOR in word for word in vocabulary):
        raise InvalidInput("a word holds the character U+0000; remove it from the training data")
    flat = np.concatenate([np.asarray(gold, np.int64) for gold in labels])
    if flat.min() < 0 or flat.max() >= label_count:
        bad = flat.min() if flat.min() < 0 else flat.max()
        raise InvalidInput(f"label {bad} is not one of 0 to {label_count - 1}")
    return np.array(tokens, np.int64), vocabulary, flat


def _check_options(rare: int, suffixes: int, word_strength: float, suffix_strength: float) -> None:
    if rare < 0 or suffixes < 0:
        raise InvalidInput(f"rare and suffixes must not be negative: {rare}, {suffixes}")
    if not (0 < word_strength < np.inf and 0 < suffix_strength < np.inf):
        raise InvalidInput(
            f"strengths must be positive, or words would forbid labels: {word_strength}, {suffix_strength}"
        )


def _estimate_transitions(
    labels: Sequence[NDArray[Any]], label_count: int, forbid_unseen: bool
) -> NDArray[np.float32]:
    """Return (L + 1, L + 1) log p(to | from); the last row is the start, the last column the end.

    With absolute discounting, f counting pairs and d the discount::

        p(to | from) = max(f(from, to) - d, 0) / f(from) + d * kinds(from) / f(from) * base(to)

    where kinds(from) is how many labels follow it, and base(to) the share of all kinds of pairs that lead
    to it.
    """
    edge = np.array([label_count])
    inside = [np.asarray(gold, np.int64) for gold in labels if len(gold) > 0]
    path = np.concatenate([edge, *(part for gold in inside for part in (gold, edge))])
    states = label_count + 1
    pairs, counts = np.unique(path[:-1] * states + path[1:], return_counts=True)
    origin, target = np.divmod(pairs, states)
    discount = _discount(counts)
    total = np.bincount(origin, counts, states)
    kinds = np.bincount(origin, minlength=states)
    base = np.bincount(target, minlength=states) + UNSEEN
    left = np.divide(discount * kinds, total, out=np.ones(states), where=total > 0)
    scores = np.outer(left.astype(np.float32), (base / base.sum()).astype(np.float32))
    scores[origin, target] += (counts - discount) / total[origin]
    np.log(scores, out=scores)
    if forbid_unseen:
        seen = scores[origin, target]
        scores.fill(-np.inf)
        scores[origin, target] = seen
    return scores


def _discount(counts: NDArray[np.int64]) -> float:
    """Return the estimate of Ney, Essen & Kneser 1994, from how many pairs occur once and twice."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return once / (once + 2 * twice) if once > 0 and twice > 0 else 0.5
