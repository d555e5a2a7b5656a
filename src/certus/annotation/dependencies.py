"""Dependency trees: for each word its head and the relation to it, and what a parser returns.

Words count from 1; head 0 is the root of the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.annotation.dependency_drawing import draw_svg, draw_text
from certus.annotation.sentence import Sentence
from certus.checks import seal
from certus.errors import FormatError
from certus.solution import Solution, Status

Heads: TypeAlias = NDArray[np.int64]  # (n,) of words 1 ... n; 0 is the root


@dataclass(frozen=True)
class Dependencies:
    """The tree of a sentence.

    Attributes:
        heads: of each word.
        relations: of each word to its head.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    @property
    def is_projective(self) -> bool:
        """Whether no two arcs cross."""
        return not find_crossing(self.heads)

    def pretty(self, words: Sequence[str]) -> str:
        """Return a drawing for the terminal."""
        return draw_text(words, self.heads, self.relations)

    def svg(self, words: Sequence[str]) -> str:
        """Return a drawing as an SVG picture."""
        return draw_svg(words, self.heads, self.relations)

    def __len__(self) -> int:
        return len(self.heads)


class Parse(Solution[Dependencies]):
    """The tree of a sentence, with what is known of how good it is.

    Attributes:
        value: the tree; ``heads`` and ``relations`` are its parts.
        score: of the tree under the model.
        bound: no tree has more, whatever its arcs are; infinite where arcs were pruned, for nothing is known
            of trees that have them.
        status: OPTIMAL where it is proven that no tree scores more.
        pruned: how many arcs were left out as unlikely before any tree was looked for. At 0 none was.
    """

    noun: ClassVar[str] = "tree"

    __slots__ = ("_heads", "pruned")

    def __init__(self, *given: Any, pruned: int = 0, **named: Any) -> None:
        super().__init__(*given, **named)
        self.pruned = pruned
        self._heads: Heads | None = None

    @property
    def claim(self) -> str:
        """What is proven of the tree, in words, and of which trees."""
        if not self.pruned or self.status is not Status.FEASIBLE:
            return super().claim
        better = "" if self.rank == 1 else ", but for better ranks"
        return (
            f"proven over likely arcs only: no tree without the {self.pruned:,} arcs that were pruned scores "
            f"more{better}"
        )

    @property
    def heads(self) -> Heads:
        """(n,) The head of each word: words count from 1, 0 is the root."""
        if self._heads is None:
            self._heads = seal(np.array(self.value.heads, np.int64))
        return self._heads

    @property
    def relations(self) -> list[str]:
        """The relation of each word to its head."""
        return list(self.value.relations)


def find_crossing(heads: Sequence[int]) -> int:
    """Return the first word whose arc crosses another one, or 0 where the tree is projective.

    An arc is not crossed where all words between its ends have their heads within the same stretch.
    """
    for word, head in enumerate(heads, 1):
        low, high = min(word, head), max(word, head)
        if any(not low <= heads[inner - 1] <= high for inner in range(low + 1, high)):
            return word
    return 0


def find_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """Return the first word because of which heads are no tree, and what is wrong; None if nothing is."""
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            return word, f"its head is {head}, but the sentence has {len(heads)} words"
        if head == word:
            return word, "it is its own head"
    walk = [0] * (len(heads) + 1)  # the number of the walk that came by first
    for start in range(1, len(heads) + 1):
        word = start
        while word and not walk[word]:
            walk[word] = start
            word = heads[word - 1]
        if word and walk[word] == start:
            return word, "its head, the head of that, and so on lead back to it: a cycle"
    return None


def read_dependencies(sentence: Sentence) -> Dependencies:
    """Return the tree that the columns ``head`` and ``deprel`` of a sentence hold.

    Raises:
        FormatError: there is none, or it is no tree; with the line of the word that is at fault.
    """
    texts, relations = sentence.column("head"), sentence.column("deprel")
    heads = []
    for place, text in enumerate(texts):
        if not text.isdecimal() or len(text) > 9:
            raise FormatError(
                f"the head of word {place + 1} is {text!r}, not a number; every word needs one (0: the root)",
                sentence.source,
                sentence.line_of(place),
            )
        heads.append(int(text))
    fault = find_fault(heads)
    if fault is not None:
        word, reason = fault
        where = sentence.source, sentence.line_of(word - 1)
        raise FormatError(f"the heads are no tree at word {word}: {reason}", *where)
    return Dependencies(tuple(heads), tuple(relations))
