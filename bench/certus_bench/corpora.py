"""The corpora that trained models are measured on: where they lie, what is predicted, what is held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from certus.errors import InvalidInput
from certus.formats import Sentence, read
from certus_bench.supertags import read_supertags

TENTH = 10  # one sentence in so many is held out, from the end, where a corpus has no dev file
FIFTH = 5  # and one in so many is for testing, where all of it is in one file


@dataclass(frozen=True)
class CorpusFiles:
    """A folder of a collection with ``train``, ``test`` and mostly ``dev`` files, and a target in it."""

    name: str  # how tables and ``--only`` call it
    folder: str  # below the folder of all data
    suffix: str  # of its files
    target: str  # the expression that is predicted
    dev: bool = True  # whether it has a dev file; if not, the last tenth of the training data stands in
    encoding: str = "utf-8"  # of its files

    def name_file(self, part: str) -> str:
        """Return the name of the file that holds a part."""
        return f"{part}{self.suffix}"

    def file(self, root: Path, part: str) -> Path:
        """Return the path of a part, or say that it is missing."""
        path = root / self.folder / self.name_file(part)
        if not path.is_file():
            raise InvalidInput(
                f"{self.name} needs {path}, which is not there; --only runs what needs no such file"
            )
        return path

    def read(self, root: Path, part: str, limit: int | None = None) -> Iterator[Sentence]:
        """Read a part, one sentence at a time.

        Args:
            root: the folder of all data.
            part: ``train`` (all of it), ``learn`` (what models are tuned on: without what is held out),
                ``dev`` or ``test``.
            limit: the most sentences to read, from the beginning.
        """
        if part in ("train", "test") or self.dev:
            return islice(self._read_whole(root, "train" if part == "learn" else part), limit)
        size = sum(1 for _ in self._read_whole(root, "train"))
        cut = size - size // TENTH
        whole = self._read_whole(root, "train")
        return islice(islice(whole, cut) if part == "learn" else islice(whole, cut, None), limit)

    def _read_whole(self, root: Path, name: str) -> Iterator[Sentence]:
        return read(self.file(root, name), encoding=self.encoding)


@dataclass(frozen=True)
class TreebankFile(CorpusFiles):
    """A file of bracketed trees, as words with parts of speech and supertags; its last fifth is test."""

    def name_file(self, part: str) -> str:
        """Return the name of the file, which holds all parts."""
        return f"wsj_sample{self.suffix}"

    def _read_whole(self, root: Path, name: str) -> Iterator[Sentence]:
        sentences = list(read_supertags(self.file(root, name), self.encoding))
        cut = len(sentences) - len(sentences) // FIFTH
        return iter(sentences[:cut] if name == "train" else sentences[cut:])


_UD, _MORPH, _CHUNK = "ud", "morph", "chunk/conll2000"

CORPORA: dict[str, CorpusFiles] = {
    corpus.name: corpus
    for corpus in (
        CorpusFiles("conll2000", _CHUNK, ".txt", "pos|chunk", dev=False),
        CorpusFiles("conll2000-chunk", _CHUNK, ".txt", "chunk", dev=False),
        TreebankFile("wsj-pos", "treebank", ".mrg", "pos", dev=False),
        TreebankFile("wsj-supertags", "treebank", ".mrg", "supertag", dev=False),
        CorpusFiles("czech-xpos", f"{_MORPH}/czech_merged", ".conllu", "xpos", dev=False),
        CorpusFiles("ewt-parse", f"{_UD}/en_ewt", ".conllu", "upos|deprel|offset"),
        CorpusFiles("bosque-xpos", f"{_UD}/pt_bosque", ".conllu", "xpos"),
        CorpusFiles("ewt-upos", f"{_UD}/en_ewt", ".conllu", "upos"),
        CorpusFiles("ewt-xpos", f"{_UD}/en_ewt", ".conllu", "xpos"),
        CorpusFiles("ewt", f"{_UD}/en_ewt", ".conllu", "upos+feats"),
        CorpusFiles("bosque", f"{_UD}/pt_bosque", ".conllu", "upos+feats"),
        CorpusFiles("szeged", f"{_UD}/hu_szeged", ".conllu", "upos+feats"),
        CorpusFiles("talbanken", f"{_UD}/sv_talbanken", ".conllu", "upos+feats"),
        CorpusFiles("polish", f"{_MORPH}/polish_sz", ".conllu", "feats"),
        CorpusFiles("slavonic", f"{_MORPH}/old_church_slavonic", ".conllu", "feats"),
        CorpusFiles("czech", f"{_MORPH}/czech_merged", ".conllu", "upos+feats", dev=False),
        CorpusFiles("basque", f"{_MORPH}/basque", ".conll", "pos+feats", dev=False, encoding="latin-1"),
    )
}

# Which of them each part of the benchmark is about.
# exact decoding, by size of the label set; Kaji et al.'s tasks are the first two and the fourth
LARGE = ("wsj-pos", "conll2000", "czech-xpos", "wsj-supertags", "ewt-parse", "bosque-xpos")
POS = ("ewt-upos", "ewt-xpos")  # Müller et al.'s table 2
MORPHOLOGY = ("bosque", "ewt", "szeged", "talbanken", "polish", "slavonic", "czech", "basque")  # table 6


def select_mean_length(sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """Return the sentences whose lengths are closest to the mean, in their order.

    Methods differ a thousandfold in speed, so slow ones are timed on few sentences; with sentences alike in
    length that is no advantage to any.
    """
    mean = sum(map(len, sentences)) / len(sentences)
    closest = sorted(range(len(sentences)), key=lambda n: (abs(len(sentences[n]) - mean), n))
    return [sentences[n] for n in sorted(closest[:count])]


def select_corpora(names: Sequence[str], only: frozenset[str]) -> Iterator[CorpusFiles]:
    """Yield the corpora of a part, without those that were not asked for."""
    wanted = only & CORPORA.keys()
    return (CORPORA[name] for name in names if not wanted or name in wanted)
