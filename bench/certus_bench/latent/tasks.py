"""The tasks of Sun & Tsujii (2009): their data, labels, states and features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from certus.annotation.sentence import replace
from certus.errors import InvalidInput
from certus.formats import Sentence, read
from certus.models.tagger import Tagger


def _list_single(name: str, offsets: Sequence[int]) -> list[str]:
    return [name.format(offset) for offset in offsets]


def _list_runs(name: str, size: int, first: int, last: int) -> list[str]:
    """List runs of so many neighbours that lie between two offsets."""
    return [
        " ".join(name.format(offset) for offset in range(begin, begin + size))
        for begin in range(first, last - size + 2)
    ]


def _write_both(templates: Sequence[str]) -> str:
    """Write templates down for single states, then for two in a row."""
    return "\n".join([*templates, *(f"pair {template}" for template in templates)])


_AROUND = range(-2, 3)
_WORDS = [*_list_single("word[{}]", _AROUND), *_list_runs("word[{}]", 2, -1, 1)]

WORDS = _write_both(_WORDS)
"""Table 2, for NP chunking: the five words around and the bigrams of the word with its neighbours."""

_PARTS_OF_SPEECH = [
    *_list_single("pos[{}]", _AROUND),
    *_list_runs("pos[{}]", 2, -2, 2),
    *_list_runs("pos[{}]", 3, -2, 2),
]
# The paper's "orthography mode" is a word's shape here; prefixes and suffixes are named in its section 4.1.
_ORTHOGRAPHY = [
    *_list_single("shape(word[{}])", _AROUND),
    *_list_runs("shape(word[{}])", 2, -2, 2),
    "prefix(word[0], 1..4)",
    "suffix(word[0], 1..4)",
]

RICH = _write_both([*_WORDS, *_PARTS_OF_SPEECH, *_ORTHOGRAPHY])
"""Table 1, for biomedical entities: words, parts of speech and orthography."""


Sentences = list[Sentence]
Parts = tuple[Sentences, Sentences]  # to learn from, and to measure on

_CHUNKS, _ENTITIES, _GENIA = "chunk/conll2000", "ner/jnlpba", "pos/genia"


@dataclass(frozen=True)
class Task:
    """What is learned from what."""

    name: str  # how tables and ``--only`` call it
    title: str  # what it is
    target: str  # the column that is predicted
    latent: int  # states of each label, as in the paper
    # of the Gaussian prior: the power of 10 that is best for the latent model on held-out sentences
    # (docs/papers/sun2009.md); as in the paper, the CRF has it, too
    variance: float
    own_variance: float  # that is best for the CRF
    templates: str  # of features
    min_count: int  # features that occur less often are left out
    files: tuple[str, ...]  # what is read, below the folder of all data
    load: Callable[[Path, int | None, int], Parts]  # reads the sentences, at most so many of each part
    minutes: float  # what learning may take

    def check(self, data: Path) -> None:
        """Make sure that all files are there, before any time is spent."""
        for name in self.files:
            if not (data / name).is_file():
                raise InvalidInput(
                    f"{self.name} needs {data / name}, which is not there; --only leaves tasks out"
                )


def load_noun_phrases(data: Path, limit: int | None, threads: int) -> Parts:
    """CoNLL-2000 with its chunk tags reduced to B-NP, I-NP and O."""
    folder = data / _CHUNKS

    def read_part(name: str) -> Sentences:
        return [keep_noun_phrases(s) for s in islice(read(folder / name), limit)]

    return read_part("train.txt"), read_part("test.txt")


def keep_noun_phrases(sentence: Sentence) -> Sentence:
    """Return a sentence in which all that is no noun phrase is O."""
    tags = (tag if tag.endswith("-NP") else "O" for tag in sentence.column("chunk"))
    return replace(sentence, {"chunk": list(tags)})


def load_entities(data: Path, limit: int | None, threads: int) -> Parts:
    """JNLPBA 2004, all but test to learn from, with parts of speech by a tagger learned from GENIA."""
    folder = data / _ENTITIES
    learned = islice((s for name in ("train", "dev") for s in read(folder / f"{name}.iob2")), limit)
    tagger = Tagger("tag", "perceptron", epochs=5)
    tagger.fit(islice(read(data / _GENIA / "train.tsv"), limit), threads=threads)
    tested = islice(read(folder / "test.iob2"), limit)
    add = partial(add_parts_of_speech, tagger, threads=threads)
    return list(add(list(learned))), list(add(list(tested)))


def add_parts_of_speech(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> Iterator[Sentence]:
    """Add a column ``pos`` that a tagger fills."""
    for sentence, found in zip(sentences, tagger.tag_batch(sentences, threads=threads), strict=True):
        columns = {**sentence.columns, "pos": list(found.labels)}
        yield Sentence(columns, sentence.text, sentence.rows, sentence.top, sentence.source, sentence.layout)


TASKS: dict[str, Task] = {
    "np": Task(
        "np", "noun phrases of CoNLL-2000, word features", "chunk", latent=5, variance=10.0,
        own_variance=100.0, templates=WORDS, min_count=1,
        files=(f"{_CHUNKS}/train.txt", f"{_CHUNKS}/test.txt"), load=load_noun_phrases, minutes=15,
    ),
    "jnlpba": Task(
        "jnlpba", "biomedical entities of JNLPBA, rich features", "tag", latent=4, variance=0.1,
        own_variance=0.1, templates=RICH, min_count=3,
        files=(*(f"{_ENTITIES}/{name}.iob2" for name in ("train", "dev", "test")), f"{_GENIA}/train.tsv"),
        load=load_entities, minutes=60,
    ),
}  # fmt: skip
