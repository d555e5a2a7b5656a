"""Annotated sentences made ready for learning: numbered features and labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.sentence import Sentence
from certus.annotation.targets import Target
from certus.learn.features.inventory import Inventory
from certus.learn.features.templates import AGREEMENT, CHUNKING, MANY_LABELS, MORPHOLOGY, Templates

_COLUMN = re.compile(r"([A-Za-z_]\w*)\s*\[")


class Examples:
    """Sentences as columns of cells, and their labels as text.

    Args:
        sentences: annotated sentences; they are read once and not kept.
        target: which labels to take from them.
        columns: the columns that features look at, the words first.
    """

    def __init__(self, sentences: Iterable[Sentence], target: Target, columns: Sequence[str]) -> None:
        self.cells: list[list[list[str]]] = []
        self.labels: list[str] = []
        for sentence in sentences:
            self.cells.append([sentence.column(name) for name in columns])
            self.labels += target.labels(sentence)
        self.lengths = np.fromiter((len(cells[0]) for cells in self.cells), np.int64, len(self.cells))

    @property
    def tokens(self) -> int:
        """How many there are."""
        return len(self.labels)

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs."""
        return Counter(word for cells in self.cells for word in cells[0])

    def __len__(self) -> int:
        return len(self.cells)


def choose_templates(available: Sequence[str], target: Target, labels: Iterable[str] = ()) -> str:
    """Return the templates for sentences with these columns: with parts of speech, unless they are learned.

    With the labels of the training data, they may be others, over the same columns.
    """
    if "pos" in available and "pos" not in target.fields:
        return CHUNKING
    return AGREEMENT if "feats" in target.fields and len(set(labels)) > MANY_LABELS else MORPHOLOGY


def compile_templates(text: str) -> Templates:
    """Parse templates over the columns that they name."""
    text = text.removeprefix("\ufeff")
    named = dict.fromkeys(name for line in text.splitlines() for name in _COLUMN.findall(line.split("#")[0]))
    return Templates(text, ("word", *(name for name in named if name not in ("word", "form"))))


def make_extractors(
    templates: Templates, frequent: NDArray[np.uint64], bits: int, seen: NDArray[np.uint64] | None
) -> tuple[_native.Extractor, _native.Extractor | None]:
    """Make what finds the features of single labels, and what finds those of pairs, if there are any."""

    def make(pair: bool) -> _native.Extractor:
        return _native.Extractor(templates.compile(pair), len(templates.columns), frequent, bits, seen)

    return make(False), make(True) if templates.ask_pairs else None


class TrainingSet:
    """What learners of feature weights are given.

    Args:
        examples: annotated sentences.
        inventory: their labels.
        templates: of features.
        rare: words seen at most this often are rare.
        hash_bits: at most 2^bits features; 0 keeps them all apart.
        min_count: features that occur less often are left out.

    Attributes:
        inventory: the labels and their units.
        extractor: finds the features of sentences, in training and after.
        corpus: the numbered features and labels, for the kernels.
        pair_extractor: finds the features of two labels in a row, or None.
        pair_corpus: those, numbered by themselves, or None.
        frequent: the keys of words that are not rare.
        seen: for each of those a key of the coarse tags it has, or None where no template asks for that.
    """

    def __init__(
        self,
        examples: Examples,
        inventory: Inventory,
        templates: Templates,
        *,
        rare: int,
        hash_bits: int,
        min_count: int,
    ) -> None:
        self.inventory = inventory
        frequent = [word for word, count in examples.words.items() if count > rare]
        self.frequent: NDArray[np.uint64] = _native.word_keys(frequent)
        self.labels = self.inventory.number_labels(examples.labels)
        self.seen = self._find_seen_tags(examples, frequent) if templates.ask_seen else None
        made = make_extractors(templates, self.frequent, hash_bits, self.seen)
        self.extractor, self.pair_extractor = made
        self.corpus = self._number(self.extractor, examples, min_count)
        self.pair_corpus = (
            None if self.pair_extractor is None else self._number(self.pair_extractor, examples, min_count)
        )
        self.tagset = self.inventory.to_native()

    def _number(self, extractor: _native.Extractor, examples: Examples, least: int) -> _native.Corpus:
        keys, ends = extractor.keys_of_all(examples.cells)
        return _native.number_features(keys, ends, examples.lengths, self.labels, least)

    def _find_seen_tags(self, examples: Examples, words: list[str]) -> NDArray[np.uint64]:
        """Return a key for the set of coarse tags that each of some words has."""
        tags: dict[str, set[int]] = {word: set() for word in words}
        coarse = self.inventory.table[self.labels, 0].tolist()
        for word, tag in zip((word for cells in examples.cells for word in cells[0]), coarse, strict=True):
            if word in tags:
                tags[word].add(tag)
        return _native.word_keys(["|".join(map(str, sorted(tags[word]))) for word in words])

    def order(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the sentences in a random order."""
        return generator.permutation(self.corpus.sentences)
