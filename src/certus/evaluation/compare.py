"""Compares predicted sentences with gold ones, column by column, as they stream past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest
from operator import and_, eq

from certus.annotation.sentence import Sentence
from certus.chain.spans import find_spans, is_tag
from certus.errors import FormatError, InvalidInput
from certus.evaluation.report import F1, Accuracy, EvaluationReport, SpanReport

# Numbers, words, links and remarks are no predictions of a tagger; heads are counted as UAS and LAS.
_SKIPPED = {"id", "form", "head", "deps", "misc", "phead", "pdeprel"}
_JOINT = (("upos", "feats"), ("pos", "feats"), ("pos", "chunk"))
_NOTHING = {"_", ""}


def compare(
    gold: Iterable[Sentence], predicted: Iterable[Sentence], known_words: Collection[str] | None = None
) -> EvaluationReport:
    """Count in which columns, sentences and spans a predicted file is as the gold file.

    Columns that both files have are compared, and ``upos+feats`` and ``pos|chunk`` together; heads give UAS,
    heads and relations (in full, with subtypes; punctuation counts) LAS. A column that is empty ("_") all
    through the gold file is left out. A column that holds only tags of spans gives precision, recall and F1.

    Args:
        gold: the sentences as they should be.
        predicted: the same sentences with other annotation.
        known_words: the words of the training data; then known and unknown words are also counted apart.

    Raises:
        FormatError: the two do not have the same words; with both places.
    """
    known = None if known_words is None else frozenset(known_words)
    counts: _Counts | None = None
    for right, guess in pair_sentences(gold, predicted):
        counts = counts or _Counts(right, guess)
        counts.add(right, guess, known)
    if counts is None:
        raise InvalidInput("there is no sentence to evaluate")
    return counts.report()


def pair_sentences(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield the sentences of two files side by side, and make sure that their words are the same."""
    last: tuple[Sentence, Sentence] | None = None
    for right, guess in zip_longest(gold, predicted):
        if right is None or guess is None:
            raise _explain_uneven(right or guess, last, longer="gold" if guess is None else "predicted")
        if right.words != guess.words:
            raise _explain_difference(right, guess)
        last = right, guess
        yield last


def _explain_uneven(extra: Sentence, last: tuple[Sentence, Sentence] | None, longer: str) -> FormatError:
    shorter = "predicted" if longer == "gold" else "gold"
    other = "" if last is None else f", which ends with the sentence at {_place(last[longer == 'gold'], 0)}"
    return FormatError(
        f"this sentence, {' '.join(extra.words[:5])!r}, is missing in the {shorter} file{other}",
        extra.source,
        extra.line,
    )


def _explain_difference(right: Sentence, guess: Sentence) -> FormatError:
    pairs = enumerate(zip_longest(right.words, guess.words))
    token, (one, other) = next((token, pair) for token, pair in pairs if pair[0] != pair[1])
    ours = f"{one!r} stands here" if one is not None else "the sentence ends after this word"
    place = _place(guess, min(token, len(guess) - 1))
    theirs = f"{other!r} stands at {place}" if other is not None else f"the sentence ends at {place}"
    return FormatError(
        f"{ours}, but {theirs}: the gold and the predicted file must have the same words",
        right.source,
        right.line_of(min(token, len(right) - 1)),
    )


def _place(sentence: Sentence, token: int) -> str:
    return f"{sentence.source}:{sentence.line_of(token)}"


class _Counts:
    """What is counted, decided by the columns of the first sentence and corrected by what the others hold."""

    def __init__(self, right: Sentence, guess: Sentence) -> None:
        common = [name for name in right.columns if name in guess.columns]
        self.columns = [name for name in common if name not in _SKIPPED and not name.startswith("_")]
        self.joint = [pair for pair in _JOINT if set(pair) <= set(self.columns)]
        self.heads = "head" in common
        if not self.columns and not self.heads:
            raise FormatError(
                f"no column to compare with {guess.source}: this file has {', '.join(right.columns)}, "
                f"the other {', '.join(guess.columns)}",
                right.source,
            )
        self.filled: set[str] = set()
        self.accuracies: dict[str, Accuracy] = {}
        self.spans = {name: SpanReport(name) for name in self.columns}
        self.sentences = self.tokens = 0

    def add(self, right: Sentence, guess: Sentence, known: frozenset[str] | None) -> None:
        """Count one sentence."""
        self.sentences += 1
        self.tokens += len(right)
        seen = None if known is None else [word in known for word in right.words]
        hits = {name: list(map(eq, right.column(name), guess.column(name))) for name in self.columns}
        for first, second in self.joint:
            mark = "+" if second == "feats" else "|"
            hits[f"{first}{mark}{second}"] = list(map(and_, hits[first], hits[second]))
        if self.heads:
            hits["UAS"] = list(map(eq, right.column("head"), guess.column("head")))
            if "deprel" in hits:
                hits["LAS"] = list(map(and_, hits["UAS"], hits["deprel"]))
        for name, flags in hits.items():
            _count(self.accuracies.setdefault(name, Accuracy(name)), flags, seen)
        self._note_filled(right)
        for name in list(self.spans):
            if all(map(is_tag, right.columns[name])):
                _count_spans(self.spans[name], right.columns[name], guess.columns[name])
            else:
                del self.spans[name]

    def _note_filled(self, right: Sentence) -> None:
        for name in ("head", *self.columns):
            if name not in self.filled and not _NOTHING.issuperset(right.columns.get(name, ())):
                self.filled.add(name)

    def report(self) -> EvaluationReport:
        """Return the counts, without columns that are empty in the gold file."""
        needs = {name: {name} for name in self.columns}
        needs |= {f"{a}+{b}": {a, b} for a, b in self.joint} | {f"{a}|{b}": {a, b} for a, b in self.joint}
        needs |= {"UAS": {"head"}, "LAS": {"head", "deprel"}}
        accuracies = {name: row for name, row in self.accuracies.items() if needs[name] <= self.filled}
        found = {name: row for name, row in self.spans.items() if row.total.gold or row.total.predicted}
        for row in found.values():
            row.types = dict(sorted(row.types.items()))
        return EvaluationReport(self.sentences, self.tokens, accuracies, found)


def _count(row: Accuracy, flags: list[bool], seen: list[bool] | None) -> None:
    correct = sum(flags)
    row.tokens.add(correct, len(flags))
    row.sentences.add(correct == len(flags), 1)
    row.by_sentence.append(correct)
    if seen is not None:
        both = sum(map(and_, flags, seen))
        known = sum(seen)
        row.known.add(both, known)
        row.unknown.add(correct - both, len(flags) - known)


def _count_spans(row: SpanReport, right: list[str], guess: list[str]) -> None:
    gold, predicted = find_spans(right), find_spans(guess)
    hits = set(gold).intersection(predicted)
    row.total.add(len(hits), len(predicted), len(gold))
    row.by_sentence.append((len(hits), len(predicted)))
    for place, found in enumerate((hits, predicted, gold)):
        for type, count in Counter(span.type for span in found).items():
            row.types.setdefault(type, F1()).add(*(count if place == at else 0 for at in range(3)))
