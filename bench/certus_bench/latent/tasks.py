"""The two tasks: noun phrases from words alone, and biomedical entities from rich features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from certus.annotation.sentence import replace
from certus.errors import InvalidInput
from certus.formats import Sentence, read
from certus.models.tagger import Tagger
from certus_bench.latent.templates import RICH, WORDS

Sentences = list[Sentence]
Parts = tuple[Sentences, Sentences]  # to learn from, and to measure on

_CHUNKS, _ENTITIES, _GENIA = "chunk/conll2000", "ner/jnlpba", "pos/genia"


@dataclass(frozen=True)
class Task:
    """What is learned from what.

    Attributes:
        name: how tables and ``--only`` call it.
        title: what it is.
        target: the column that is predicted.
        latent: states of each label, as in the paper.
        variance: of the Gaussian prior: the power of 10 that is best for the latent model on held-out
            sentences (docs/papers/sun2009.md); as in the paper, the CRF has it, too.
        own_variance: that is best for the CRF.
        templates: of features.
        min_count: features that occur less often are left out.
        files: what is read, below the folder of all data.
        load: reads the sentences, at most so many of each part.
        minutes: what learning may take.
    """

    name: str
    title: str
    target: str
    latent: int
    variance: float
    own_variance: float
    templates: str
    min_count: int
    files: tuple[str, ...]
    load: Callable[[Path, int | None, int], Parts]
    minutes: float

    def check(self, data: Path) -> None:
        """Make sure that all files are there, before any time is spent."""
        for name in self.files:
            if not (data / name).is_file():
                raise InvalidInput(
                    f"{self.name} needs {data / name}, which is not there; --only leaves tasks out"
                )


def noun_phrases(data: Path, limit: int | None, threads: int) -> Parts:
    """CoNLL-2000 with its chunk tags reduced to B-NP, I-NP and O."""
    folder = data / _CHUNKS

    def part(name: str) -> Sentences:
        return [only_noun_phrases(s) for s in islice(read(folder / name), limit)]

    return part("train.txt"), part("test.txt")


def only_noun_phrases(sentence: Sentence) -> Sentence:
    """Return a sentence in which all that is no noun phrase is O."""
    tags = (tag if tag.endswith("-NP") else "O" for tag in sentence.column("chunk"))
    return replace(sentence, {"chunk": list(tags)})


def entities(data: Path, limit: int | None, threads: int) -> Parts:
    """JNLPBA 2004, all but test to learn from, with parts of speech by a tagger learned from GENIA."""
    folder = data / _ENTITIES
    learned = islice((s for name in ("train", "dev") for s in read(folder / f"{name}.iob2")), limit)
    tagger = Tagger("tag", "perceptron", epochs=5)
    tagger.fit(islice(read(data / _GENIA / "train.tsv"), limit), threads=threads)
    tested = islice(read(folder / "test.iob2"), limit)
    return tuple(list(with_parts_of_speech(tagger, list(part), threads)) for part in (learned, tested))  # type: ignore[return-value]


def with_parts_of_speech(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> Iterator[Sentence]:
    """Add a column ``pos`` that a tagger fills."""
    for sentence, found in zip(sentences, tagger.tag_batch(sentences, threads=threads), strict=True):
        columns = {**sentence.columns, "pos": list(found.labels)}
        yield Sentence(columns, sentence.text, sentence.rows, sentence.top, sentence.source, sentence.layout)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            "np",
            "noun phrases of CoNLL-2000, word features",
            "chunk",
            5,
            10.0,
            100.0,
            WORDS,
            1,
            (f"{_CHUNKS}/train.txt", f"{_CHUNKS}/test.txt"),
            noun_phrases,
            15,
        ),
        Task(
            "jnlpba",
            "biomedical entities of JNLPBA, rich features",
            "tag",
            4,
            0.1,
            0.1,
            RICH,
            3,
            (
                *(f"{_ENTITIES}/{name}.iob2" for name in ("train", "dev", "test")),
                f"{_GENIA}/train.tsv",
            ),
            entities,
            60,
        ),
    )
}
