"""The tokens of a text, and the alignment of words of two annotations, as in the CoNLL 2018 shared task.

Zeman et al. 2018, "CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies"
(CoNLL), section 5. A token is a stretch of characters, blanks left out; a word is a token, or one of the
words of a multiword token, which share its characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput

_CELLS = 4_000_000  # of the table that aligns the words of multiword tokens; languages need a dozen or two

Place = tuple[int, int]  # the first character, and the one after the last


class Token(NamedTuple):
    """A token of a sentence, over the words from ``first`` up to, not including, ``end``."""

    characters: str  # without blanks
    first: int
    end: int
    is_range: bool  # a multiword token


def list_tokens(sentence: Sentence) -> list[Token]:
    """Return the tokens of a sentence: multiword tokens in the place of their words."""
    ranges = find_ranges(sentence)
    tokens, word = [], 0
    while word < len(sentence):
        form, end = ranges.get(word, (sentence.words[word], word + 1))
        tokens.append(Token("".join(form.split()) or form, word, end, word in ranges))
        word = end
    return tokens


def find_ranges(sentence: Sentence) -> dict[int, tuple[str, int]]:
    """Return the multiword tokens, which are lines that are no words: by first word, the form and the end."""
    if isinstance(sentence.rows, range):
        return {}
    words = set(sentence.rows)
    found = {}
    for row, line in enumerate(sentence.text.split("\n")):
        if row not in words and not line.startswith("#"):
            number, _, rest = line.removeprefix("\ufeff").partition("\t")
            first, dash, last = number.partition("-")
            if dash and first.isdecimal() and last.isdecimal():
                found[int(first) - 1] = (rest.partition("\t")[0], int(last))
    return found


@dataclass
class Surface:
    """Where the sentences, tokens and words of one side of a passage lie in its text.

    Attributes:
        sentences: the place of each.
        tokens: the place of each.
        words: the place of each; of words of a multiword token, that of the token.
        is_inside: whether each word is one of a multiword token.
        forms: the words, in small letters.
    """

    sentences: list[Place] = field(default_factory=list)
    tokens: list[Place] = field(default_factory=list)
    words: list[Place] = field(default_factory=list)
    is_inside: list[bool] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)

    @classmethod
    def of_sentences(cls, sentences: Sequence[Sentence]) -> Surface:
        """Lay sentences end to end."""
        made, at = cls(), 0
        for sentence in sentences:
            begin = at
            for token in list_tokens(sentence):
                place = (at, at + len(token.characters))
                made.tokens.append(place)
                made.words += [place] * (token.end - token.first)
                made.is_inside += [token.is_range] * (token.end - token.first)
                at = place[1]
            made.sentences.append((begin, at))
            made.forms += ["".join(word.split()).lower() for word in sentence.words]
        return made

    def is_past(self, word: int, end: int) -> bool:
        """Whether a word does not belong to a stretch that ends before the character ``end``."""
        if word >= len(self.words):
            return True
        return self.words[word][0] >= end if self.is_inside[word] else self.words[word][1] > end


def align_words(gold: Surface, predicted: Surface) -> list[tuple[int, int]]:
    """Return the pairs of words that stand for each other.

    Words outside of multiword tokens are aligned if they lie in the same place. Multiword tokens of both
    sides that overlap make up one stretch, whose words are aligned by their longest common subsequence.
    """
    pairs: list[tuple[int, int]] = []
    g = p = 0
    while g < len(gold.words) and p < len(predicted.words):
        one, other = gold.words[g], predicted.words[p]
        if gold.is_inside[g] or predicted.is_inside[p]:
            # A plain word that begins before the stretch does not belong to it. Of several, the program of
            # the shared task passes over one only; so does this, to agree with it in every case.
            end = one[1] if gold.is_inside[g] else other[1]
            p += gold.is_inside[g] and not predicted.is_inside[p] and other[0] < one[0]
            g += not gold.is_inside[g] and one[0] < other[0]
            first = g, p
            g, p = _find_end(gold, predicted, g, p, end)
            matched = _match_forms(gold.forms[first[0] : g], predicted.forms[first[1] : p])
            pairs += [(first[0] + one_word, first[1] + other_word) for one_word, other_word in matched]
        elif one == other:
            pairs.append((g, p))
            g, p = g + 1, p + 1
        elif one[0] <= other[0]:
            g += 1
        else:
            p += 1
    return pairs


def _find_end(gold: Surface, predicted: Surface, g: int, p: int, end: int) -> tuple[int, int]:
    """Return the first words on both sides after a stretch that reaches at least to the character ``end``."""
    while not (gold.is_past(g, end) and predicted.is_past(p, end)):
        is_gold = p >= len(predicted.words) or (
            g < len(gold.words) and gold.words[g][0] <= predicted.words[p][0]
        )
        side, word = (gold, g) if is_gold else (predicted, p)
        if side.is_inside[word]:
            end = max(end, side.words[word][1])
        g, p = g + is_gold, p + (not is_gold)
    return g, p


def _match_forms(gold: list[str], predicted: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence; among several, the one that matches first."""
    if gold == predicted:
        return [(place, place) for place in range(len(gold))]
    if len(gold) * len(predicted) > _CELLS:
        raise InvalidInput(
            f"multiword tokens of {len(gold):,} words in the gold file and of {len(predicted):,} in the "
            f"predicted one are too long to align; the product of the two may be at most {_CELLS:,}"
        )
    # longest[g][p]: the length of the longest common subsequence of gold[g:] and predicted[p:]
    longest = [[0] * (len(predicted) + 1) for _ in range(len(gold) + 1)]
    for g in range(len(gold) - 1, -1, -1):
        for p in range(len(predicted) - 1, -1, -1):
            if gold[g] == predicted[p]:
                longest[g][p] = longest[g + 1][p + 1] + 1
            else:
                longest[g][p] = max(longest[g + 1][p], longest[g][p + 1])
    pairs, g, p = [], 0, 0
    while g < len(gold) and p < len(predicted):
        if gold[g] == predicted[p]:
            pairs.append((g, p))
            g, p = g + 1, p + 1
        elif longest[g][p] == longest[g + 1][p]:
            g += 1
        else:
            p += 1
    return pairs
