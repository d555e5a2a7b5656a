"""A learner takes one file: this one trains, is saved, loaded and tags like those that Certus has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.formats import build
from certus.learn.decoder import Cells, Decoded, Decoder, Request, find_starts
from certus.learn.learner import Learned, Learner, TrainingData, option
from certus.learn.learners import LEARNERS, make_learner
from certus.learn.progress import Progress
from tests.models import invented


@dataclass(frozen=True, kw_only=True)
class MajorityLearner(Learner):
    """Gives every word its most frequent label, and unknown words the most frequent label of all."""

    name: ClassVar[str] = "majority"
    about: ClassVar[str] = "the most frequent label of each word"
    shares_parts: ClassVar[bool] = False

    fold: bool = option(False, "Whether words that differ in case are the same.")

    def fit(
        self,
        data: TrainingData,
        *,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object],
        threads: int,
    ) -> Learned:
        """Count."""
        inventory = self.list_labels(data.target, sorted(set(data.examples.labels)))
        words = [self._key(word) for cells in data.examples.cells for word in cells[0]]
        counts: dict[str, Counter[str]] = {}
        for word, label in zip(words, data.examples.labels, strict=True):
            counts.setdefault(word, Counter())[label] += 1
        best = [found.most_common(1)[0][0] for found in counts.values()]
        default = Counter(data.examples.labels).most_common(1)[0][0]
        arrays: dict[str, NDArray[Any]] = {
            "words": np.frombuffer("\0".join(counts).encode(), np.uint8),
            "best": inventory.number_labels([*best, default]),
        }
        progress(Progress(1, 1, 0.0, None, 0.0, 0.0))
        return Learned(inventory, arrays, {"columns": ["word"]})

    def make_decoder(self, learned: Learned) -> Decoder:
        """Look words up."""
        words = learned.arrays["words"].tobytes().decode().split("\0")
        *best, default = learned.arrays["best"].tolist()
        return MajorityDecoder(self._key, dict(zip(words, best, strict=True)), default)

    def _key(self, word: str) -> str:
        return word.lower() if self.fold else word


class MajorityDecoder(Decoder):
    """Looks words up; no labels score more than theirs, for it scores each word by itself."""

    def __init__(self, key: Callable[[str], str], best: dict[str, int], default: int) -> None:
        self._key, self._best, self._default = key, best, default

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells; what it does not have is refused."""
        if request.k > 1 or request.confidence or request.allowed is not None or request.legal is not None:
            raise certus.InvalidInput("majority has one answer, without probabilities and constraints")
        out = Decoded.make_empty(find_starts(cells), request)
        words = [self._key(word) for columns in cells for word in columns[0]]
        out.labels[:] = [self._best.get(word, self._default) for word in words]
        out.found[:], out.scores[:], out.bounds[:], out.optimal[:] = 1, 0.0, 0.0, True
        return out


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNERS, "_kinds", dict(LEARNERS))  # so that it is forgotten after the test
    LEARNERS.register(MajorityLearner)


def test_it_trains_and_tags() -> None:
    told: list[Progress] = []
    tagger = certus.Tagger("upos", "majority").fit(
        invented.sentences(60, 1), invented.sentences(20, 2), progress=told.append
    )
    assert tagger.labels == sorted(set(tagger.labels))
    words = next(iter(invented.sentences(1, 1))).words
    found = tagger.tag(words)
    assert len(found.labels) == len(words)
    assert found.optimal
    assert len(told) == 1


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    sentences = [build(["The", "dog", "barks"], {"upos": ["DET", "NOUN", "VERB"]})] * 2
    tagger = certus.Tagger("upos", "majority", fold=True).fit(sentences)
    tagger.save(tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    assert loaded.learner == tagger.learner == MajorityLearner(fold=True)
    assert loaded.description == tagger.description
    assert loaded.tag(["the", "DOG", "barks"]).labels == ["DET", "NOUN", "VERB"]
    assert loaded.tag([]).labels == []


def test_its_options_are_checked() -> None:
    with pytest.raises(certus.InvalidInput, match="epochs is no option of the learner majority; those are"):
        make_learner("majority", {"epochs": 3})
    with pytest.raises(certus.InvalidInput, match="the learner majority looks at words alone"):
        certus.Tagger("upos", "majority", templates="word[0]")


def test_what_it_does_not_have_is_refused() -> None:
    tagger = certus.Tagger("upos", "majority").fit(invented.sentences(20, 1))
    for ask in (lambda: tagger.chain, lambda: tagger.latent, lambda: tagger.lattices([["a"]])):
        with pytest.raises(certus.InvalidInput):
            ask()
