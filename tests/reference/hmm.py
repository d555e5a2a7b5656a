"""The hidden Markov model of ``certus.learn.hmm`` by dictionaries and recursion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

Sentences = Sequence[Sequence[str]]
Labels = Sequence[Sequence[int]]


class ReferenceHmm:
    """Probabilities straight from their definitions."""

    def __init__(self, words: Sentences, labels: Labels, label_count: int, rare: int, suffixes: int) -> None:
        self.label_count, self.suffixes = label_count, suffixes
        tokens = [pair for s, y in zip(words, labels, strict=True) for pair in zip(s, y, strict=True)]
        self.frequency = Counter(label for _, label in tokens)
        self.size = len(tokens)
        self.words = Counter(word for word, _ in tokens)
        self.word_label = Counter(tokens)
        self.endings: Counter[str] = Counter()
        self.ending_label: Counter[tuple[str, int]] = Counter()
        for word, label in tokens:
            if self.words[word] <= rare:
                for ending in self.of(word):
                    self.endings[ending] += 1
                    self.ending_label[ending, label] += 1
        paths = [["edge", *y, "edge"] for y in labels if y]
        self.pairs = Counter(pair for path in paths for pair in pairwise(path))

    def of(self, word: str) -> list[str]:
        kind = "1" if word and word[0].isupper() else "0"
        return [kind + word[len(word) - n :] for n in range(min(self.suffixes, len(word)) + 1)]

    def prior(self, label: int) -> float:
        return (self.frequency[label] + 0.1) / (self.size + 0.1 * self.label_count)

    def at_ending(self, label: int, ending: str, strength: float) -> float:
        """p(label | ending); one of a single token is skipped, the empty ones never."""
        above = (
            self.prior(label) if len(ending) == 1 else self.at_ending(label, ending[0] + ending[2:], strength)
        )
        total = self.endings[ending]
        if len(ending) > 1 and total < 2:
            return above
        return (self.ending_label[ending, label] + strength * above) / (total + strength)

    def at_word(self, label: int, word: str, word_strength: float, suffix_strength: float) -> float:
        above = self.at_ending(label, self.of(word)[-1], suffix_strength)
        return (self.word_label[word, label] + word_strength * above) / (self.words[word] + word_strength)

    def transition(self, origin: int | str, target: int | str) -> float:
        once = sum(count == 1 for count in self.pairs.values())
        twice = sum(count == 2 for count in self.pairs.values())
        discount = once / (once + 2 * twice) if once and twice else 0.5
        into = sum(b == target for _, b in self.pairs) + 0.1
        base = into / (len(self.pairs) + 0.1 * (self.label_count + 1))
        total = sum(count for (a, _), count in self.pairs.items() if a == origin)
        if total == 0:
            return base
        kinds = sum(a == origin for a, _ in self.pairs)
        return (max(self.pairs[origin, target] - discount, 0) + discount * kinds * base) / total
