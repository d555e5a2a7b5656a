"""Scores of extracted phrase pairs, against counts and discounts taken one by one."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import numpy as np
import pytest

import certus
from certus.align import extract_phrases
from certus.align.solution import Link
from certus.models.translator_training import Arrays, Pair, TranslatorOptions, _extract
from certus.translate import Weights
from certus.translate.phrase_engine import PhraseEngine
from certus.translate.terms import Terms

Words = tuple[str, ...]
FALLBACK = {1: 0.5, 2: 1.0, 3: 1.5}


def make_corpus(seed: int, pairs: int) -> tuple[list[Pair], list[list[Link]]]:
    """Return random sentence pairs over few words, and random links."""
    rng = Random(seed)
    corpus: list[Pair] = []
    links: list[list[Link]] = []
    for _ in range(pairs):
        source = [rng.choice("abcd") for _ in range(rng.randint(1, 5))]
        target = [rng.choice("vwxyz") for _ in range(rng.randint(1, 5))]
        places = [(i, j) for i in range(len(source)) for j in range(len(target))]
        corpus.append((source, target))
        links.append(sorted(rng.sample(places, min(len(places), rng.randint(1, 5)))))
    return corpus, links


def count_pairs(corpus: list[Pair], links: list[list[Link]]) -> Counter[tuple[Words, Words]]:
    """Return how often each phrase pair occurs."""
    counts: Counter[tuple[Words, Words]] = Counter()
    for (source, target), own in zip(corpus, links, strict=True):
        for one in extract_phrases(own, len(source), len(target), max_length=7):
            inside = (
                tuple(source[one.source_begin : one.source_end]),
                tuple(target[one.target_begin : one.target_end]),
            )
            counts[inside] += 1
    return counts


def find_discounts(counts: Counter[tuple[Words, Words]]) -> dict[int, float]:
    """Return what is taken away from counts of 1, of 2, and of 3 and more."""
    n = Counter(counts.values())
    if not (n[1] and n[2] and n[3]):
        return FALLBACK
    share = n[1] / (n[1] + 2 * n[2])
    found = {j: j - (j + 1) * share * n[j + 1] / n[j] for j in (1, 2, 3)}
    return found if all(0 < found[j] <= j for j in found) else FALLBACK


def smooth(counts: Counter[tuple[Words, Words]], source: Words, target: Words) -> float:
    """Return p(target | source)."""
    taken = find_discounts(counts)
    row = {t: count for (s, t), count in counts.items() if s == source}
    left = sum(taken[min(count, 3)] for count in row.values())
    kinds = sum(t == target for _, t in counts)
    count = row[target]
    return (count - taken[min(count, 3)] + left * kinds / len(counts)) / sum(row.values())


@pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")  # of the language model
def test_probabilities_are_smoothed_as_kneser_and_ney_do() -> None:
    for seed, pairs in ((1, 6), (2, 60), (3, 400)):
        corpus, links = make_corpus(seed, pairs)
        counts = count_pairs(corpus, links)
        turned = Counter({(t, s): count for (s, t), count in counts.items()})
        flat = [link for own in links for link in own]
        arrays: Arrays = {
            "link_source": np.array([i for i, _ in flat], np.int32),
            "link_target": np.array([j for _, j in flat], np.int32),
            "link_first": np.cumsum([0, *map(len, links)], dtype=np.int64),
        }
        model = certus.LanguageModel(order=2).fit([target for _, target in corpus])
        engine = PhraseEngine(
            _extract(corpus, arrays, TranslatorOptions(most=10_000)), model.kernel, features=4
        )
        sources = Random(seed).sample(sorted({source for source, _ in counts}), 5)
        for place, table in ((2, counts), (0, turned)):
            chosen = tuple(float(n == place) for n in range(4))
            weights = Weights(translation=chosen, language_model=0.0, distortion=0.0)
            for source in sources:
                phrases = engine.list_phrases(source, weights, Terms(), 10_000)
                found = {tuple(p.target): p.score for p in phrases if p.end - p.begin == len(source)}
                assert found.keys() == {target for own, target in counts if own == source}
                for target, score in found.items():
                    given, other = (source, target) if place == 2 else (target, source)
                    assert math.isclose(score, math.log(smooth(table, given, other)), abs_tol=1e-5)
