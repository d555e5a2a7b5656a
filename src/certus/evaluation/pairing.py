"""Reads a gold and a predicted file side by side, in passages that both of them cut into whole sentences.

A passage is one sentence of each file where both have the same words. CoNLL-U keeps the tokens of the text,
so there the words and the sentences may differ: the passage then goes on until both files end a sentence at
the same character. Blanks do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from certus.annotation.sentence import Sentence
from certus.errors import FormatError
from certus.evaluation.surface import list_tokens


class Passage(NamedTuple):
    """The shortest stretch of text that both files cut into whole sentences."""

    gold: list[Sentence]
    predicted: list[Sentence]

    @property
    def has_same_words(self) -> bool:
        """Whether this is one sentence on each side, with the same words."""
        if len(self.gold) != 1 or len(self.predicted) != 1:
            return False
        return self.gold[0].words == self.predicted[0].words


def pair_passages(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> Iterator[Passage]:
    """Yield the passages of two files.

    Raises:
        FormatError: the texts differ, or the words of files that are not CoNLL-U; with both places.
    """
    ours, theirs = iter(gold), iter(predicted)
    last: Passage | None = None
    for right, guess in zip_longest(ours, theirs):
        if right is None or guess is None:
            raise _explain_uneven(right or guess, last, longer="gold" if guess is None else "predicted")
        last = Passage([right], [guess])
        if not last.has_same_words:
            if not right.layout.format == guess.layout.format == "conllu":
                raise _explain_difference(right, guess)
            _extend_passage(last, ours, theirs)
        yield last


def _extend_passage(passage: Passage, ours: Iterator[Sentence], theirs: Iterator[Sentence]) -> None:
    """Read on until both sides end at the same character."""
    right, guess = _get_text(passage.gold[0]), _get_text(passage.predicted[0])
    done = 0
    while True:
        common = min(len(right), len(guess))
        if right[:common] != guess[:common]:
            place = next(place for place in range(common) if right[place] != guess[place])
            raise _explain_texts(passage, done + place)
        right, guess, done = right[common:], guess[common:], done + common
        if not right and not guess:
            return
        sentence = next(theirs if right else ours, None)
        if sentence is None:
            raise _explain_texts(passage, done)
        if right:
            passage.predicted.append(sentence)
            guess = _get_text(sentence)
        else:
            passage.gold.append(sentence)
            right = _get_text(sentence)


def _get_text(sentence: Sentence) -> str:
    return "".join(token.characters for token in list_tokens(sentence))


def _explain_texts(passage: Passage, offset: int) -> FormatError:
    """Name the tokens at which the texts of a passage part."""
    gold, predicted = _locate(passage.gold, offset), _locate(passage.predicted, offset)
    if predicted is None:
        sentence, token, word = gold or (passage.gold[-1], 0, "")
        reason = f"the predicted file ends before {word!r}, with the sentence at"
        reason = f"{reason} {_place(passage.predicted[-1], 0)}"
    elif gold is None:
        sentence, token = passage.gold[-1], len(passage.gold[-1]) - 1
        reason = (
            f"the gold file ends after this word, but {predicted[2]!r} stands at {_place(*predicted[:2])}"
        )
    else:
        sentence, token, word = gold
        reason = f"{word!r} stands here, but {predicted[2]!r} stands at {_place(*predicted[:2])}"
    return FormatError(
        f"{reason}: the gold and the predicted file must have the same text, whatever its tokens",
        sentence.source,
        sentence.line_of(token),
    )


def _locate(sentences: list[Sentence], offset: int) -> tuple[Sentence, int, str] | None:
    """Find the token that a character of a passage belongs to: its sentence, first word and form."""
    for sentence in sentences:
        for token in list_tokens(sentence):
            if offset < len(token.characters):
                return sentence, token.first, token.characters
            offset -= len(token.characters)
    return None


def _explain_uneven(extra: Sentence, last: Passage | None, longer: str) -> FormatError:
    shorter = "predicted" if longer == "gold" else "gold"
    other = ""
    if last is not None:
        end = (last.predicted if longer == "gold" else last.gold)[-1]
        other = f", which ends with the sentence at {_place(end, 0)}"
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
