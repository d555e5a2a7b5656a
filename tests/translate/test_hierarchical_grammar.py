"""Rules of hierarchical grammars against their definition, and translation with them."""

from __future__ import annotations

import random
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import certus
from certus import _native
from certus.errors import InvalidInput, SmoothingWarning
from certus.translate import CubePruning, Exhaustive, ForestBeam, Terms
from certus.translate.hierarchical_engine import HierarchicalEngine

Link = tuple[int, int]


def find_phrases(source: list[str], links: set[Link]) -> list[tuple[int, int, int, int]]:
    """Return initial phrases by their definition: linked at both ends, and no link leads out."""
    found = []
    for begin, end in product(range(len(source)), range(1, len(source) + 1)):
        inside = {j for i, j in links if begin <= i < end}
        linked = {i for i, _ in links}
        if begin >= end or begin not in linked or end - 1 not in linked:
            continue
        low, high = min(inside), max(inside) + 1
        if all(begin <= i < end for i, j in links if low <= j < high):
            found.append((begin, end, low, high))
    return found


def extract_rules(source: list[str], target: list[str], links: set[Link]) -> dict[tuple[str, str], float]:
    """Return the rules of a pair with gaps of one word or more, each with its share, by their definition."""
    phrases = find_phrases(source, links)
    shares: dict[tuple[str, str], float] = defaultdict(float)
    for whole in phrases:
        smaller = [
            p for p in phrases if whole[0] <= p[0] and p[1] <= whole[1] and p[1] - p[0] < whole[1] - whole[0]
        ]
        choices = [(), *((p,) for p in smaller), *((p, q) for p in smaller for q in smaller if q[0] > p[1])]
        made = []
        for gaps in choices:
            left, right = (
                fill(source, whole[:2], [g[:2] for g in gaps]),
                fill(target, whole[2:], [g[2:] for g in gaps]),
            )
            open_words = {i for i in range(*whole[:2]) if not any(g[0] <= i < g[1] for g in gaps)}
            if len(left) <= 5 and any(i in open_words for i, _ in links):
                source_side = " ".join("[X]" if word.startswith("[X,") else word for word in left)
                made.append((source_side, " ".join(right)))
        for rule in made:
            shares[rule] += 1 / len(made)
    return shares


def fill(words: list[str], span: tuple[int, ...], gaps: list[tuple[int, ...]]) -> list[str]:
    """Return a span of words with gaps in it."""
    made: list[str] = []
    place = span[0]
    while place < span[1]:
        number = next((n for n, gap in enumerate(gaps) if gap[0] <= place < gap[1]), None)
        made.append(words[place] if number is None else f"[X,{number + 1}]")
        place = place + 1 if number is None else gaps[number][1]
    return made


def read_grammar(arrays: dict[str, np.ndarray]) -> dict[tuple[str, str], np.ndarray]:
    """Return the rules of a grammar with their scores."""
    words = {side: bytes(arrays[f"{side}_bytes"]).decode().split("\n") for side in ("source", "target")}
    found = {}
    for phrase in range(len(arrays["phrase_first"]) - 1):
        side = arrays["phrase_words"][arrays["phrase_first"][phrase] : arrays["phrase_first"][phrase + 1]]
        for entry in range(arrays["entry_first"][phrase], arrays["entry_first"][phrase + 1]):
            first, last = arrays["translation_first"][entry : entry + 2]
            other = arrays["translation_words"][first:last]
            key = " ".join(words["source"][w] for w in side), " ".join(words["target"][w] for w in other)
            found[key] = arrays["scores"].reshape(-1, 4)[entry]
    return found


def extract(
    pairs: list[tuple[list[str], list[str], set[Link]]], least_count: int = 1
) -> dict[str, np.ndarray]:
    options = _native.GrammarOptions()
    options.least_gap, options.least_count, options.most = 1, least_count, 10_000
    ordered = [sorted(links) for _, _, links in pairs]
    return _native.extract_grammar(
        [source for source, _, _ in pairs],
        [target for _, target, _ in pairs],
        np.array([i for links in ordered for i, _ in links], np.int32),
        np.array([j for links in ordered for _, j in links], np.int32),
        np.cumsum([0, *map(len, ordered)], dtype=np.int64),
        options,
    )


def make_pairs(seed: int) -> list[tuple[list[str], list[str], set[Link]]]:
    """Return random aligned pairs of up to seven words."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(4):
        source = [f"s{rng.randrange(6)}" for _ in range(rng.randint(1, 7))]
        target = [f"t{rng.randrange(6)}" for _ in range(rng.randint(1, 7))]
        count = rng.randint(0, len(source) + 1)
        links = {(rng.randrange(len(source)), rng.randrange(len(target))) for _ in range(count)}
        pairs.append((source, target, links))
    return pairs


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_rules_and_their_shares_are_those_of_the_definition(first: int) -> None:
    for seed in range(first, first + 25):
        pairs = make_pairs(seed)
        expected: dict[tuple[str, str], float] = defaultdict(float)
        for pair in pairs:
            for rule, share in extract_rules(*pair).items():
                expected[rule] += share
        found = read_grammar(extract(pairs))
        assert set(found) == set(expected), seed
        of_source: dict[str, float] = defaultdict(float)
        of_target: dict[str, float] = defaultdict(float)
        for (left, right), share in expected.items():
            of_source[left] += share
            of_target[right] += share
        for (left, right), scores in found.items():
            share = expected[left, right]
            assert np.allclose(np.exp(scores[[0, 2]]), [share / of_target[right], share / of_source[left]]), (
                seed
            )
            assert (scores <= 1e-6).all()


SOURCE = ["das Haus", "das Buch", "ein Buch", "das Haus ist klein", "das Buch ist neu", "ein Haus ist neu"]
TARGET = ["the house", "the book", "a book", "the house is small", "the book is new", "a house is new"]


@pytest.fixture(scope="module")
def translator() -> certus.Translator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        pairs = [line.split() for line in SOURCE * 3], [line.split() for line in TARGET * 3]
        return certus.Translator(model="hierarchical", tuning=0).fit(*pairs)


def test_hierarchical_translators_translate_save_and_load(
    translator: certus.Translator, tmp_path: Path
) -> None:
    answer = translator.translate("ein Buch ist klein")
    assert (answer.text, answer.optimal) == ("a book is small", True)
    assert sum(
        weight * value
        for name, weights in translator.weights.as_dict().items()
        for weight, value in zip(weights, answer.features[name], strict=True)
    ) == pytest.approx(answer.score)
    translator.save(tmp_path / "model.certus")
    again = certus.load(tmp_path / "model.certus")
    assert again.translate("ein Buch ist klein").text == answer.text
    assert again.options.model == "hierarchical"


def test_every_sentence_has_a_translation(translator: certus.Translator) -> None:
    assert translator.translate("").text == ""
    assert translator.translate("quux").text == "quux"
    assert translator.translate("das quux ist neu").text == "the quux is new"


def test_methods_agree(translator: certus.Translator) -> None:
    for text in [*SOURCE, "ein Haus ist klein das Buch", "neu ist das Haus"]:
        best = translator.translate(text, method=Exhaustive())
        found = translator.translate(text, method=ForestBeam())
        assert best.optimal
        assert found.optimal
        assert found.score == pytest.approx(best.score)
        assert translator.translate(text, method=CubePruning(width=5)).score <= best.score + 1e-9
        several = translator.translate(text, k=5, distinct=True)
        assert isinstance(several, certus.KBest)
        assert len({one.text for one in several}) == len(several)
        assert several[0].score == pytest.approx(best.score)


def test_what_a_hierarchical_model_cannot_do_is_refused(translator: certus.Translator) -> None:
    with pytest.raises(InvalidInput, match="hierarchical"):
        translator.translate("das Haus", terms=Terms(forbidden=(("the",),)))
    with pytest.raises(InvalidInput, match="no method"):
        translator.translate("das Haus", method="stack")
    with pytest.raises(InvalidInput, match="no phrases"):
        translator.make_problem("das Haus")
    with pytest.raises(InvalidInput, match="no model"):
        certus.Translator(model="syntax")
    assert isinstance(translator._engine, HierarchicalEngine)


def test_weights_are_tuned_by_the_same_tuner() -> None:
    pairs = [line.split() for line in SOURCE * 4], [line.split() for line in TARGET * 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        made = certus.Translator(model="hierarchical", tuning=2, k=5).fit(*pairs, dev=pairs)
    assert len(made.description["tuning"]["rounds"]) == 2
    assert made.translate("das Haus ist neu").text == "the house is new"
