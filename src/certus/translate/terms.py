"""Terms that a user forces or forbids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from certus import _native
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import decode
from certus.formats.parallel import BARS
from certus.formats.text import split_lines
from certus.storage.files import Source, check_encoding, name_of, open_source

FORBID = "!"


@dataclass(frozen=True)
class Terms:
    """What a translation must hold, and what it must not.

    Attributes:
        forced: for sequences of source words, the target words that each occurrence becomes. Where two of
            them overlap in a sentence, the longer one counts, then the first.
        forbidden: sequences of target words that no translation holds.
    """

    forced: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    forbidden: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse terms without words, and those that cannot both be."""
        for sequence in [*self.forced, *self.forced.values(), *self.forbidden]:
            if not isinstance(sequence, tuple) or not sequence:
                raise InvalidInput(f"a term is a tuple of words, not {sequence!r}")
        for source, target in self.forced.items():
            for term in self.forbidden:
                if any(target[i : i + len(term)] == term for i in range(len(target) - len(term) + 1)):
                    raise InvalidInput(
                        f"{' '.join(source)!r} is forced to become {' '.join(target)!r}, in which "
                        f"{' '.join(term)!r} is forbidden"
                    )

    def find(self, sentence: Sequence[str]) -> list[_native.ForcedTerm]:
        """Return the forced terms that occur in a sentence, none of which overlaps another."""
        words = tuple(sentence)
        found = [
            (len(source), -begin, target)
            for source, target in self.forced.items()
            for begin in range(len(words) - len(source) + 1)
            if words[begin : begin + len(source)] == source
        ]
        taken: set[int] = set()
        made = []
        for length, before, target in sorted(found, key=lambda one: (-one[0], -one[1])):
            span = range(-before, -before + length)
            if taken.isdisjoint(span):
                taken.update(span)
                made.append(_native.ForcedTerm(span.start, span.stop, list(target)))
        return made


def read_terms(source: Source, *, encoding: str = "utf-8") -> Terms:
    """Read terms: lines ``source ||| target`` that force, and ``! target`` that forbid."""
    check_encoding(encoding)
    name = name_of(source)
    forced: dict[tuple[str, ...], tuple[str, ...]] = {}
    forbidden = []
    with open_source(source) as chunk:
        for number, (line, _) in enumerate(split_lines(decode(chunk, name, encoding)), 1):
            if not line.strip():
                continue
            if line.split()[0] == FORBID and BARS not in line:
                forbidden.append(_read_words(line.strip()[len(FORBID) :], name, number))
                continue
            left, bars, right = line.partition(BARS)
            if not bars:
                raise FormatError(
                    "a line is 'source ||| target' to force a term, or '! target' to forbid one", name, number
                )
            key = _read_words(left, name, number)
            if forced.setdefault(key, _read_words(right, name, number)) != _read_words(right, name, number):
                raise FormatError(f"{' '.join(key)!r} is forced to become two things", name, number)
    try:
        return Terms(forced, tuple(forbidden))
    except InvalidInput as error:
        raise FormatError(str(error), name) from None


def _read_words(text: str, name: str, number: int) -> tuple[str, ...]:
    words = tuple(text.split())
    if not words:
        raise FormatError("a term has no words", name, number)
    return words
