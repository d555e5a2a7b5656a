"""Compares predicted sentences with gold ones, column by column, as they stream past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from operator import and_, eq

from certus.annotation.sentence import Sentence, resolve_column
from certus.chain.spans import find_spans, is_tag
from certus.errors import FormatError, InvalidInput
from certus.evaluation.conll18 import Conll18Counts
from certus.evaluation.pairing import Passage, pair_passages
from certus.evaluation.report import F1, Accuracy, EvaluationReport, SpanReport

# Numbers, words, links and remarks are no predictions of a tagger; heads are counted as UAS and LAS.
_SKIPPED = {"id", "form", "head", "deps", "misc", "phead", "pdeprel"}
_JOINT = (("upos", "feats"), ("pos", "feats"), ("pos", "chunk"))
_NOTHING = {"_", ""}


def compare(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    known_words: Collection[str] | None = None,
    *,
    judged: Collection[str] | None = None,
) -> EvaluationReport:
    """Count in which columns, sentences and spans a predicted file is as the gold file.

    Columns that both files have are compared, and ``upos+feats`` and ``pos|chunk`` together; heads give UAS,
    heads and relations (in full, with subtypes; punctuation counts) LAS. A column that is empty ("_") all
    through the gold file is left out. A column that holds only tags of spans gives precision, recall and F1.
    Files in CoNLL-U get the measures of the CoNLL 2018 shared task as well; if the words or sentences of the
    two differ there, they get nothing else.

    Args:
        gold: the sentences as they should be.
        predicted: the same text with other annotation.
        known_words: the words of the training data; then known and unknown words are also counted apart.
        judged: the columns that were predicted: measures of others are left out. By default, all are judged,
            and those that seem to be copied from the gold file are listed.

    Raises:
        FormatError: the two do not have the same words (CoNLL-U: the same text); with both places.
    """
    known = None if known_words is None else frozenset(known_words)
    chosen = None if judged is None else [resolve_column(name) for name in judged]
    counts: _Counts | None = None
    for passage in pair_passages(gold, predicted):
        counts = counts or _Counts(passage.gold[0], passage.predicted[0], chosen)
        counts.add(passage, known)
    if counts is None:
        raise InvalidInput("there is no sentence to evaluate")
    return counts.report()


class _Columns:
    """What becomes known of the columns: which hold anything, and in which the two files differ."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.filled: set[str] = set()  # in the gold file
        self.predicted: set[str] = set()  # filled in the predicted file
        self.changed: set[str] = set()

    def note(self, right: Sentence, guess: Sentence) -> None:
        """Look at one sentence of each file."""
        for name in self.names:
            if name not in self.filled and not _NOTHING.issuperset(right.columns[name]):
                self.filled.add(name)
            if name not in self.predicted and not _NOTHING.issuperset(guess.columns[name]):
                self.predicted.add(name)
            if name not in self.changed and right.columns[name] != guess.columns[name]:
                self.changed.add(name)

    @property
    def copied(self) -> tuple[str, ...]:
        """The columns in which the files do not differ."""
        return tuple(name for name in self.names if name in self.filled - self.changed)

    @property
    def is_identical(self) -> bool:
        """Whether the files differ in no column."""
        return not self.filled & self.changed

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns that hold something in the gold file only."""
        return tuple(name for name in self.names if name in self.filled - self.predicted)


class _Counts:
    """What is counted, decided by the columns of the first sentence and corrected by what the others hold."""

    def __init__(self, right: Sentence, guess: Sentence, judged: list[str] | None) -> None:
        common = [name for name in right.columns if name in guess.columns and not name.startswith("_")]
        self.columns = [name for name in common if name not in _SKIPPED]
        self.joint = [pair for pair in _JOINT if set(pair) <= set(self.columns)]
        self.heads = "head" in common
        if not self.columns and not self.heads:
            raise FormatError(
                f"no column to compare with {guess.source}: this file has {', '.join(right.columns)}, "
                f"the other {', '.join(guess.columns)}",
                right.source,
            )
        names = [*self.columns, *(["head"] if self.heads else [])]
        self.judged = _check_judged(judged, names, right, guess)
        self.seen = _Columns(names)
        self.accuracies: dict[str, Accuracy] = {}
        self.spans = {name: SpanReport(name) for name in self.columns}
        is_universal = right.layout.format == guess.layout.format == "conllu"
        self.universal = Conll18Counts() if is_universal else None
        self.sentences = self.tokens = 0
        self.has_same_words = True

    def add(self, passage: Passage, known: frozenset[str] | None) -> None:
        """Count one passage."""
        self.sentences += len(passage.gold)
        self.tokens += sum(map(len, passage.gold))
        if self.universal is not None:
            self.universal.add(passage)
        for right, guess in zip(passage.gold, passage.predicted, strict=False):
            self.seen.note(right, guess)
        if not passage.has_same_words:
            self.has_same_words = False
        elif self.has_same_words:
            self._count_columns(passage.gold[0], passage.predicted[0], known)

    def _count_columns(self, right: Sentence, guess: Sentence, known: frozenset[str] | None) -> None:
        seen = None if known is None else [word in known for word in right.words]
        hits = {name: list(map(eq, right.columns[name], guess.columns[name])) for name in self.columns}
        needs: dict[str, tuple[str, ...]] = {name: (name,) for name in self.columns}
        for first, second in self.joint:
            name = f"{first}+{second}" if second == "feats" else f"{first}|{second}"
            hits[name], needs[name] = list(map(and_, hits[first], hits[second])), (first, second)
        if self.heads:
            hits["UAS"], needs["UAS"] = list(map(eq, right.columns["head"], guess.columns["head"])), ("head",)
            if "deprel" in hits:
                hits["LAS"] = list(map(and_, hits["UAS"], hits["deprel"]))
                needs["LAS"] = ("head", "deprel")
        for name, flags in hits.items():
            row = self.accuracies.get(name)
            if row is None:
                row = self.accuracies[name] = Accuracy(name, columns=needs[name])
            _count(row, flags, seen)
        for name in list(self.spans):
            if all(map(is_tag, right.columns[name])):
                _count_spans(self.spans[name], right.columns[name], guess.columns[name])
            else:
                del self.spans[name]

    def report(self) -> EvaluationReport:
        """Return the counts, without columns that are empty in the gold file."""
        made = EvaluationReport(self.sentences, self.tokens, has_same_words=self.has_same_words)
        filled = self.seen.filled
        made.empty = self.seen.empty
        if self.universal is not None:
            made.universal = self.universal.report(filled, self.seen.predicted)
        if self.has_same_words:
            made.is_identical = self.seen.is_identical
            made.copied = () if made.is_identical else self.seen.copied
            made.accuracies = {
                name: row for name, row in self.accuracies.items() if filled.issuperset(row.columns)
            }
            made.spans = {
                name: row for name, row in self.spans.items() if row.total.gold or row.total.predicted
            }
        for row in made.spans.values():
            row.types = dict(sorted(row.types.items()))
        return made if self.judged is None else _keep_judged(made, self.judged)


def _check_judged(
    judged: list[str] | None, names: list[str], right: Sentence, guess: Sentence
) -> frozenset[str] | None:
    """Refuse the name of a column that cannot be judged."""
    if judged is None:
        return None
    for name in judged:
        if name not in names:
            raise InvalidInput(
                f"there is no column {name!r} to judge in both {right.source} and {guess.source}; "
                f"there are {', '.join(names)}"
            )
    return frozenset(judged)


def _keep_judged(report: EvaluationReport, judged: frozenset[str]) -> EvaluationReport:
    """Leave out the measures of columns that were not predicted."""
    report.copied, report.is_identical = (), False
    report.empty = tuple(name for name in report.empty if name in judged)
    report.accuracies = {
        name: row for name, row in report.accuracies.items() if judged.issuperset(row.columns)
    }
    report.spans = {name: row for name, row in report.spans.items() if name in judged}
    if report.universal is not None:
        kept = report.universal.scores.items()
        report.universal.scores = {name: row for name, row in kept if judged.issuperset(row.columns)}
    return report


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
