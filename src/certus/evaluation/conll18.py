"""The measures of the CoNLL 2018 shared task, from words that are aligned by the characters of their text.

Zeman et al. 2018, "CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies"
(CoNLL), section 5. Relations are compared without subtypes and features as far as they are universal; CLAS,
MLAS and BLEX look at words with content relations. MLAS also wants the part of speech, the features and the
function words of a word to be right, BLEX the lemma; a lemma that the gold file leaves out ("_") is right.

Departure: the shared task refuses files whose trees have cycles, several roots or heads outside of the
sentence. Here the words of such trees are judged one by one all the same, and the trees are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import and_, eq, not_
from typing import Generic, TypeVar

from certus.annotation.sentence import Sentence
from certus.evaluation.pairing import Passage
from certus.evaluation.report import AlignedScore, UniversalReport
from certus.evaluation.surface import Surface, align_words, find_ranges, list_tokens

CONTENT = frozenset(
    [
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    ]
)
FUNCTIONAL = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
UNIVERSAL = frozenset(
    [
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    ]
)
# The columns that each measure compares.
MEASURES: dict[str, tuple[str, ...]] = {
    "Tokens": (),
    "Sentences": (),
    "Words": (),
    "UPOS": ("upos",),
    "XPOS": ("xpos",),
    "UFeats": ("feats",),
    "AllTags": ("upos", "xpos", "feats"),
    "Lemmas": ("lemma",),
    "UAS": ("head",),
    "LAS": ("head", "deprel"),
    "CLAS": ("head", "deprel"),
    "MLAS": ("head", "deprel", "upos", "feats"),
    "BLEX": ("head", "deprel", "lemma"),
}
_NO_WORD = -1  # the head of a word that has none, or one that is no word of the sentence

T = TypeVar("T")
Flags = list[bool]


class _Cache(dict[str, T], Generic[T]):
    """What a function makes of a text, computed once: columns hold few different values."""

    def __init__(self, function: Callable[[str], T]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> T:
        made = self[text] = self._function(text)
        return made


def keep_universal(feats: str) -> str:
    """Return the features that are universal, in alphabetical order."""
    return "|".join(sorted(part for part in feats.split("|") if part.partition("=")[0] in UNIVERSAL))


def _read_head(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else _NO_WORD


_FEATURES = _Cache(keep_universal)
_RELATIONS = _Cache(lambda relation: relation.partition(":")[0])
_HEADS = _Cache(_read_head)


@dataclass
class _Words:
    """The columns of some words.

    Attributes:
        heads: numbers of words in the passage, from 1; 0 for the root.
        relations: without subtypes.
    """

    lemma: list[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]
    heads: list[int]
    relations: list[str]

    @classmethod
    def of_sentences(cls, sentences: Sequence[Sentence]) -> _Words:
        """Put the words of sentences side by side."""
        made = cls([], [], [], [], [], [])
        for sentence in sentences:
            columns = sentence.columns
            made.heads += read_heads(columns["head"], len(made.upos))
            made.lemma += columns["lemma"]
            made.upos += columns["upos"]
            made.xpos += columns["xpos"]
            made.feats += columns["feats"]
            made.relations += map(_RELATIONS.__getitem__, columns["deprel"])
        return made

    def select(self, words: list[int]) -> _Words:
        """Return the columns of some of the words; heads stay as they are."""
        return _Words(
            _pick(self.lemma, words),
            _pick(self.upos, words),
            _pick(self.xpos, words),
            _pick(self.feats, words),
            _pick(self.heads, words),
            _pick(self.relations, words),
        )


def _pick(column: list[T], places: list[int]) -> list[T]:
    return [column[place] for place in places]


def read_heads(column: list[str], before: int = 0) -> list[int]:
    """Return heads as numbers; those that are no word of the sentence are -1.

    Args:
        column: as it stands in the file.
        before: how many words go before the sentence.
    """
    heads = list(map(_HEADS.__getitem__, column))
    if max(heads) > len(heads):
        heads = [head if head <= len(heads) else _NO_WORD for head in heads]
    return [head + before if head > 0 else head for head in heads] if before else heads


def is_tree(heads: list[int]) -> bool:
    """Whether heads, counted from 1, lead every word of a sentence to its one root, 0."""
    if heads.count(0) != 1 or _NO_WORD in heads:
        return False
    state = [0] * (len(heads) + 1)  # the number of the walk that came by first
    for start in range(1, len(heads) + 1):
        word = start
        while word and not state[word]:
            state[word] = start
            word = heads[word - 1]
        if word and state[word] == start:
            return False
    return True


class Conll18Counts:
    """Counts what the measures are made of, passage by passage."""

    def __init__(self) -> None:
        self.scores = {name: AlignedScore(columns=columns) for name, columns in MEASURES.items()}
        self.malformed = 0

    def report(self, filled: set[str], predicted: set[str]) -> UniversalReport:
        """Return the measures of what the gold file fills; beside other columns, XPOS and FEATS may lack.

        Args:
            filled: the columns that hold something in the gold file.
            predicted: the columns that hold something in the predicted file.
        """
        kept = {}
        for name, score in self.scores.items():
            optional = {"xpos", "feats"} if len(score.columns) > 1 else set()
            if filled.issuperset(set(score.columns) - optional):
                kept[name] = score
        return UniversalReport(kept, self.malformed if "head" in filled & predicted else 0)

    def add(self, passage: Passage) -> None:
        """Count one passage."""
        gold, predicted = _Words.of_sentences(passage.gold), _Words.of_sentences(passage.predicted)
        if gold.heads != predicted.heads:
            trees = (read_heads(sentence.columns["head"]) for sentence in passage.predicted)
            self.malformed += sum(not is_tree(heads) for heads in trees)
        if passage.has_same_words:
            self._count_same_surface(passage)
            self._count_words(gold, predicted)
        else:
            ours, theirs = map(Surface.of_sentences, passage)
            pairs = align_words(ours, theirs)
            self._count_places("Tokens", ours.tokens, theirs.tokens)
            self._count_places("Sentences", ours.sentences, theirs.sentences)
            self._count_pairs(gold, predicted, pairs)

    def _count_same_surface(self, passage: Passage) -> None:
        (right,), (guess,) = passage
        self.scores["Sentences"].add(1, 1, 1)
        ranges = find_ranges(right)
        if ranges == find_ranges(guess):
            count = len(right) - sum(end - first - 1 for first, (_, end) in ranges.items())
            self.scores["Tokens"].add(count, count, count)
            return
        ours, theirs = list_tokens(right), list_tokens(guess)
        self.scores["Tokens"].add(len(set(ours).intersection(theirs)), len(theirs), len(ours))

    def _count_places(self, name: str, gold: list[tuple[int, int]], predicted: list[tuple[int, int]]) -> None:
        self.scores[name].add(len(set(gold).intersection(predicted)), len(predicted), len(gold))

    def _count_words(self, gold: _Words, predicted: _Words) -> None:
        """Count words that are all aligned, in order."""
        hits = _find_hits(gold, predicted)
        whole = hits["MLAS"]
        spoiled: set[int] = set()
        if not all(whole):
            spoiled = _find_spoiled(gold, whole) | _find_spoiled(predicted, whole)
        self._count_hits(hits, gold, predicted, gold)
        self._discount(whole, gold, spoiled)

    def _count_pairs(self, gold: _Words, predicted: _Words, pairs: list[tuple[int, int]]) -> None:
        """Count words of which some are aligned."""
        numbers = {other + 1: one + 1 for one, other in pairs} | {0: 0}
        predicted.heads = [numbers.get(head, _NO_WORD) for head in predicted.heads]
        ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
        aligned = gold.select(ours)
        hits = _find_hits(aligned, predicted.select(theirs))
        whole = hits["MLAS"]
        right = dict(zip(ours, whole, strict=True))
        found = dict(zip(theirs, whole, strict=True))
        flags = [right.get(word, False) for word in range(len(gold.heads))]
        spoiled = _find_spoiled(gold, flags)
        spoiled |= _find_spoiled(predicted, [found.get(word, False) for word in range(len(predicted.heads))])
        self._count_hits(hits, gold, predicted, aligned)
        self._discount(flags, gold, spoiled)

    def _count_hits(self, hits: dict[str, Flags], gold: _Words, predicted: _Words, aligned: _Words) -> None:
        """Add up the hits of aligned words.

        Args:
            hits: of each measure, for each aligned word.
            gold: all words of the gold side.
            predicted: all words of the predicted side.
            aligned: the words of the gold side that are aligned.
        """
        totals = len(predicted.heads), len(gold.heads)
        content = _find_content(aligned)
        contents = sum(_find_content(predicted)), sum(_find_content(gold))
        self.scores["Words"].add(len(aligned.heads), *totals)
        for name, flags in hits.items():
            if name in ("CLAS", "MLAS", "BLEX"):
                found = sum(map(and_, flags, content))
                self.scores[name].add(found, *contents)
                self.scores[name].aligned += sum(content)
            else:
                self.scores[name].add(sum(flags), *totals)
                self.scores[name].aligned += len(flags)

    def _discount(self, whole: Flags, gold: _Words, spoiled: set[int]) -> None:
        """Take back the MLAS of words whose function words are not right."""
        self.scores["MLAS"].correct -= sum(
            number > 0 and whole[number - 1] and gold.relations[number - 1] in CONTENT for number in spoiled
        )


def _find_content(words: _Words) -> Flags:
    return list(map(CONTENT.__contains__, words.relations))


def _find_hits(gold: _Words, predicted: _Words) -> dict[str, Flags]:
    """Return for each measure which of the aligned words are right; of MLAS, without its function words."""
    upos = _compare(gold.upos, predicted.upos)
    xpos = _compare(gold.xpos, predicted.xpos)
    feats = _compare_features(gold.feats, predicted.feats)
    lemma = _compare(gold.lemma, predicted.lemma)
    if "_" in gold.lemma:
        lemma = [same or form == "_" for same, form in zip(lemma, gold.lemma, strict=True)]
    heads = _compare(gold.heads, predicted.heads)
    if _NO_WORD in gold.heads:
        heads = [same and head != _NO_WORD for same, head in zip(heads, gold.heads, strict=True)]
    labelled = list(map(and_, heads, _compare(gold.relations, predicted.relations)))
    morphology = list(map(and_, upos, feats))
    return {
        "UPOS": upos,
        "XPOS": xpos,
        "UFeats": feats,
        "AllTags": list(map(and_, morphology, xpos)),
        "Lemmas": lemma,
        "UAS": heads,
        "LAS": labelled,
        "CLAS": labelled,
        "MLAS": list(map(and_, labelled, morphology)),
        "BLEX": list(map(and_, labelled, lemma)),
    }


def _compare(gold: list[T], predicted: list[T]) -> Flags:
    return [True] * len(gold) if gold == predicted else list(map(eq, gold, predicted))


def _compare_features(gold: list[str], predicted: list[str]) -> Flags:
    if gold == predicted:
        return [True] * len(gold)
    return list(map(eq, map(_FEATURES.__getitem__, gold), map(_FEATURES.__getitem__, predicted)))


def _find_spoiled(words: _Words, right: Flags) -> set[int]:
    """Return the heads of function words that are not right: numbers of words of the gold side."""
    wrong = compress(zip(words.heads, words.relations, strict=True), map(not_, right))
    return {head for head, relation in wrong if relation in FUNCTIONAL}
