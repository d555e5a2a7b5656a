"""Random text and random models."""

from __future__ import annotations

import random

from tests.reference.language_model import Ngram


def make_sentences(seed: int, count: int = 30, words: int = 6, longest: int = 7) -> list[list[str]]:
    """Return sentences over few words, the first ones far more frequent than the last."""
    rng = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(words)]
    weights = [1 / (n + 1) for n in range(words)]
    return [rng.choices(vocabulary, weights, k=rng.randint(1, longest)) for _ in range(count)]


def make_ngrams(seed: int, order: int = 4, words: int = 5) -> dict[Ngram, tuple[float, float]]:
    """Return the n-grams of a model as pruning leaves them: contexts and suffixes may be missing, and weights
    may be above 1."""
    rng = random.Random(seed)
    vocabulary = ["<unk>", "<s>", "</s>", *(f"w{n}" for n in range(words))]

    def draw(top: bool) -> tuple[float, float]:
        return -rng.randint(0, 400) / 100, 0.0 if top or rng.random() < 0.3 else rng.randint(-200, 60) / 100

    made: dict[Ngram, tuple[float, float]] = {(word,): draw(order == 1) for word in vocabulary}
    for k in range(2, order + 1):
        for _ in range(rng.randint(1, 12)):
            inner = rng.choices(vocabulary[3:], k=k - 2)
            first, last = rng.choice(vocabulary[:2] + vocabulary[3:]), rng.choice(vocabulary[2:])
            made[(first, *inner, last)] = draw(k == order)
    return made


def write_arpa(ngrams: dict[Ngram, tuple[float, float]]) -> str:
    """Return the text of a model."""
    order = max(map(len, ngrams))
    lines = ["\\data\\"]
    sections = [[item for item in ngrams.items() if len(item[0]) == k] for k in range(1, order + 1)]
    lines += [f"ngram {k}={len(section)}" for k, section in enumerate(sections, 1)]
    for k, section in enumerate(sections, 1):
        lines += ["", f"\\{k}-grams:"]
        for ngram, (score, weight) in section:
            lines.append(f"{score}\t{' '.join(ngram)}" + (f"\t{weight}" if weight else ""))
    return "\n".join([*lines, "", "\\end\\", ""])
