"""The corpora that trained models are measured on: where they lie, what is predicted, what is held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from certus.errors import InvalidInput
from certus.formats import Sentence, read

TENTH = 10  # one sentence in so many is held out, from the end, where a corpus has no dev file


@dataclass(frozen=True)
class Corpus:
    """A folder of a collection with ``train``, ``test`` and mostly ``dev`` files, and a target in it.

    Attributes:
        name: how tables and ``--only`` call it.
        folder: below the folder of all data.
        suffix: of its files.
        target: the expression that is predicted.
        dev: whether it has a dev file; if not, the last tenth of the training data stands in.
        encoding: of its files.
    """

    name: str
    folder: str
    suffix: str
    target: str
    dev: bool = True
    encoding: str = "utf-8"

    def file(self, root: Path, part: str) -> Path:
        """Return the path of a part, or say that it is missing."""
        path = root / self.folder / f"{part}{self.suffix}"
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
            return islice(self._whole(root, "train" if part == "learn" else part), limit)
        size = sum(1 for _ in self._whole(root, "train"))
        cut = size - size // TENTH
        whole = self._whole(root, "train")
        return islice(islice(whole, cut) if part == "learn" else islice(whole, cut, None), limit)

    def _whole(self, root: Path, name: str) -> Iterator[Sentence]:
        return read(self.file(root, name), encoding=self.encoding)


_UD, _MORPH, _CHUNK = "ud", "morph", "chunk/conll2000"

CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus("conll2000", _CHUNK, ".txt", "pos|chunk", dev=False),
        Corpus("conll2000-chunk", _CHUNK, ".txt", "chunk", dev=False),
        Corpus("czech-xpos", f"{_MORPH}/czech_merged", ".conllu", "xpos", dev=False),
        Corpus("ewt-parse", f"{_UD}/en_ewt", ".conllu", "upos|deprel|offset"),
        Corpus("bosque-xpos", f"{_UD}/pt_bosque", ".conllu", "xpos"),
        Corpus("ewt-upos", f"{_UD}/en_ewt", ".conllu", "upos"),
        Corpus("ewt-xpos", f"{_UD}/en_ewt", ".conllu", "xpos"),
        Corpus("ewt", f"{_UD}/en_ewt", ".conllu", "upos+feats"),
        Corpus("bosque", f"{_UD}/pt_bosque", ".conllu", "upos+feats"),
        Corpus("szeged", f"{_UD}/hu_szeged", ".conllu", "upos+feats"),
        Corpus("talbanken", f"{_UD}/sv_talbanken", ".conllu", "upos+feats"),
        Corpus("polish", f"{_MORPH}/polish_sz", ".conllu", "feats"),
        Corpus("slavonic", f"{_MORPH}/old_church_slavonic", ".conllu", "feats"),
        Corpus("czech", f"{_MORPH}/czech_merged", ".conllu", "upos+feats", dev=False),
        Corpus("basque", f"{_MORPH}/basque", ".conll", "pos+feats", dev=False, encoding="latin-1"),
    )
}

# Which of them each part of the benchmark is about.
LARGE = ("conll2000", "czech-xpos", "ewt-parse", "bosque-xpos")  # exact decoding, by size of the label set
POS = ("ewt-upos", "ewt-xpos")  # Müller et al.'s table 2
MORPHOLOGY = ("bosque", "ewt", "szeged", "talbanken", "polish", "slavonic", "czech", "basque")  # table 6


def of_mean_length(sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """Return the sentences whose lengths are closest to the mean, in their order.

    Methods differ a thousandfold in speed, so slow ones are timed on few sentences; with sentences alike in
    length that is no advantage to any.
    """
    mean = sum(map(len, sentences)) / len(sentences)
    closest = sorted(range(len(sentences)), key=lambda n: (abs(len(sentences[n]) - mean), n))
    return [sentences[n] for n in sorted(closest[:count])]


def chosen(names: Sequence[str], only: frozenset[str]) -> Iterator[Corpus]:
    """Yield the corpora of a part, without those that were not asked for."""
    wanted = only & CORPORA.keys()
    return (CORPORA[name] for name in names if not wanted or name in wanted)
