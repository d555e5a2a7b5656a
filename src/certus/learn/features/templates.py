"""The language of feature templates: which properties of a token and its neighbours become features.

A template a line; `docs/features.md` explains them with examples. In short::

    bias                                always on
    word[-1]                            a column's value one position before the token
    lower(word[0])                      in lower case
    shape(word[0])                      runs of capitals, small letters, digits: "McDonald-2000" is XxXx-d
    flags(word[0])                      capitals, digits, hyphen, punctuation, non-ASCII: which of them it has
    length(word[0])                     in characters, up to 15
    prefix(word[0], 1..10) if rare      one feature a length, in characters
    suffix(lower(word[0]), 1..3)
    each(analysis[0])                   one feature for each value between bars: "N|V" has two
    seen(word[0])                       the coarse tags that a frequent word has in training
    word[-1] pos[0]                     a conjunction
    pair word[0]                        with the label before as well: a weight for each two labels in a row

Text is compiled to numbers (`Templates.program`), and those run natively.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput

VERSION = 1
FARTHEST = 16  # offsets go from -16 to 16
LONGEST_AFFIX = 32
CONDITIONS = ("always", "rare", "frequent")
FUNCTIONS = ("text", "shape", "flags", "length", "prefix", "suffix", "each", "seen")
AFFIXES = ("prefix", "suffix")
OF_LOWER = ("lower", "prefix", "suffix", "each")  # what takes lower(...) as well as a column

MORPHOLOGY = """\
bias
word[-2]
word[-1]
word[0]
word[1]
word[2]
word[-1] word[0]
word[0] word[1]
lower(word[0])
shape(word[0])
flags(word[0])
suffix(lower(word[0]), 1..6)
prefix(word[0], 1..4) if rare
"""
"""For tagging from words alone: the features of Ratnaparkhi (1996) and Manning (2011), as Müller, Schmid and
Schütze (2013, §2.5) use them for part of speech and morphology. Departures, each better on held-out data:
suffixes up to 6, of all words and whatever the capitals, instead of up to 10 of rare words; prefixes up to 4;
shape and flags of all words; words in lower case too."""

AGREEMENT = (
    MORPHOLOGY
    + """\
suffix(lower(word[-1]), 2..3)
suffix(lower(word[1]), 2..3)
"""
)
"""For whole bundles of morphological features, a thousand and more: the endings of the neighbours as well,
with which words agree. On held-out data with 1,500 to 2,600 labels these two gain 1.46 (Czech), 0.26
(Polish), -0.05 (Old Church Slavonic) and -0.07 points (Basque); with 113 to 508 they lose 0.1 to 0.5."""
MANY_LABELS = 1000

CHUNKING = """\
bias
word[-2]
word[-1]
word[0]
word[1]
word[2]
word[-1] word[0]
word[0] word[1]
lower(word[0])
shape(word[0])
flags(word[0])
prefix(lower(word[0]), 1..4)
suffix(lower(word[0]), 1..4)
pos[-3]
pos[-2]
pos[-1]
pos[0]
pos[1]
pos[2]
pos[3]
pos[-3] pos[-2]
pos[-2] pos[-1]
pos[-1] pos[0]
pos[0] pos[1]
pos[1] pos[2]
pos[2] pos[3]
pos[-2] pos[-1] pos[0]
pos[-1] pos[0] pos[1]
pos[0] pos[1] pos[2]
pos[-2] pos[-1] pos[0] pos[1]
pos[-1] pos[0] pos[1] pos[2]
word[0] pos[0]
word[0] pos[-1]
word[0] pos[1]
word[-1] pos[0]
word[1] pos[0]
"""
"""For labels of phrases from words and parts of speech (columns word and pos): the words of the five tokens
around and their bigrams; the parts of speech of seven, up to four in a row; a word with the part of speech of
itself or a neighbour; how the word is written. On held-out chunks, leaving out any of these lowers F1; only
shape and flags make no difference there."""


@dataclass(frozen=True)
class Term:
    """A function of a cell: which column, how far away, in lower case or not; low and high are of affixes."""

    function: str
    column: int
    offset: int
    lower: bool = False
    low: int = 0
    high: int = 0

    @property
    def several(self) -> bool:
        """Whether it may have any number of values rather than one."""
        return self.function in (*AFFIXES, "each")

    def compile(self) -> tuple[int, ...]:
        """Return the compiled form."""
        function = FUNCTIONS.index(self.function)
        return function, int(self.lower), self.column, self.offset, self.low, self.high


@dataclass(frozen=True)
class Template:
    """A conjunction of terms (of none: always on), its condition on the word at hand, and how many labels.

    The features of a ``pair`` go with the token's label and the one before.
    """

    terms: tuple[Term, ...]
    condition: str = "always"
    pair: bool = False

    def compile(self) -> list[int]:
        """Return the compiled form."""
        terms = (number for term in self.terms for number in term.compile())
        return [CONDITIONS.index(self.condition), len(self.terms), *terms]


class Templates:
    """Feature templates, parsed.

    Args:
        text: one template per line; `#` begins a comment.
        columns: the names of the columns, the word first.

    Raises:
        InvalidInput: the text is not in the language; the message gives the line, and what it should have.
    """

    def __init__(self, text: str, columns: Sequence[str] = ("word",)) -> None:
        self.text = text
        self.columns = _check_columns(columns)
        self.templates = parse(text, self.columns)

    @property
    def ask_seen(self) -> bool:
        """Whether they ask which tags words were seen with."""
        return any(term.function == "seen" for template in self.templates for term in template.terms)

    @property
    def ask_pairs(self) -> bool:
        """Whether any of them is of two labels in a row."""
        return any(template.pair for template in self.templates)

    def compile(self, pair: bool = False) -> NDArray[np.int32]:
        """Return the compiled form, which the native extractor runs: of single labels, or of pairs."""
        chosen = [template for template in self.templates if template.pair == pair]
        numbers = [number for template in chosen for number in template.compile()]
        return np.array([VERSION, len(chosen), *numbers], np.int32)

    def __len__(self) -> int:
        return len(self.templates)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Templates({self.text!r}, columns={self.columns!r})"


def parse(text: str, columns: Sequence[str]) -> tuple[Template, ...]:
    """Return the templates of a text, or raise InvalidInput with the line of the first fault."""
    lines: dict[Template, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.partition("#")[0].strip():
            continue
        template = _Line(line.partition("#")[0], number, columns).read_template()
        if template in lines:
            raise InvalidInput(f"templates, line {number}: this repeats line {lines[template]}; remove one")
        lines[template] = number
    if not lines:
        raise InvalidInput('there are no templates; the smallest useful text is "word[0]"')
    return tuple(lines)


def _check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names:
        raise InvalidInput("columns is empty; it must name at least the column of words")
    for n, name in enumerate(names):
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput(f"columns[{n}] is {name!r}; a name must be letters, digits and underscores")
        if name in names[:n]:
            raise InvalidInput(f"columns[{n}] repeats the name {name!r}")
    return names


class _Line:
    """A line of the language, read from left to right."""

    TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>[+-]?\d+)|(?P<mark>\.\.|.))")

    def __init__(self, line: str, number: int, columns: Sequence[str]) -> None:
        self.number = number
        self.columns = columns
        self.tokens = [(str(match.lastgroup), match[0].strip()) for match in self._split(line.rstrip())]
        self.tokens.append(("end", "the end of the line"))
        self.at = 0

    def _split(self, line: str) -> Iterator[re.Match[str]]:
        return self.TOKEN.finditer(line)

    def read_template(self) -> Template:
        pair = self._begins("pair")
        if self._begins("bias"):
            return Template((), self._read_condition(), pair)
        terms = [self._read_term()]
        while self.tokens[self.at][0] == "name" and self.tokens[self.at][1] != "if":
            terms.append(self._read_term())
        if sum(term.several for term in terms) > 1:
            self._fail("a conjunction can have one prefix, suffix or each, not more")
        return Template(tuple(terms), self._read_condition(), pair)

    def _begins(self, word: str) -> bool:
        """Take a word of the language, unless it is the name of a column here."""
        found = self.tokens[self.at][1] == word and self.tokens[self.at + 1][1] != "["
        self.at += found
        return found

    def _read_condition(self) -> str:
        condition = "always"
        if self._takes("if"):
            condition = self._read_word("rare or frequent", ("rare", "frequent"))
        if self.tokens[self.at][0] != "end":
            self._refuse_token("a term, if rare, if frequent or the end of the line")
        return condition

    def _read_term(self) -> Term:
        name = self._read_word("a column or a function")
        if self.tokens[self.at][1] != "(":
            return self._read_cell(name)
        if name not in (*FUNCTIONS[1:], "lower"):
            known = ", ".join(("lower", *FUNCTIONS[1:]))
            self._fail(f"there is no function {name!r}; there are {known}")
        self._read_mark("(")
        inner = self._read_argument(name)
        if name == "lower":
            self._read_mark(")")
            return Term("text", inner.column, inner.offset, lower=True)
        if name == "seen" and inner.column != 0:
            self._fail(f"seen is of words: {self.columns[0]}[{inner.offset}]")
        low, high = self._read_range(name) if name in AFFIXES else (0, 0)
        self._read_mark(")")
        return Term(name, inner.column, inner.offset, inner.lower, low, high)

    def _read_argument(self, function: str) -> Term:
        """Read what a function is of: a cell, or for some the lower case of one."""
        start = self.at
        name = self._read_word("a column")
        if self.tokens[self.at][1] != "(":
            return self._read_cell(name)
        self.at = start
        if name != "lower" or function == "lower" or function not in OF_LOWER:
            of = "a column or lower(...)" if function in OF_LOWER[1:] else "a column"
            self._fail(f"{function} is of {of}, such as {self.columns[0]}[0], not of {name}(...)")
        return self._read_term()

    def _read_cell(self, column: str) -> Term:
        if column not in self.columns:
            self._fail(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        self._read_mark("[")
        offset = self._read_number(f"an offset from -{FARTHEST} to {FARTHEST}")
        if abs(offset) > FARTHEST:
            self._fail(f"{column}[{offset}] is too far away; offsets go from -{FARTHEST} to {FARTHEST}")
        self._read_mark("]")
        return Term("text", self.columns.index(column), offset)

    def _read_range(self, function: str) -> tuple[int, int]:
        self._read_mark(",")
        low = high = self._read_number("a length such as 3, or lengths such as 1..10")
        if self._takes(".."):
            high = self._read_number("the longest length")
        if not 1 <= low <= high <= LONGEST_AFFIX:
            self._fail(f"{function} of {low}..{high} characters: lengths go up, from 1 to {LONGEST_AFFIX}")
        return low, high

    def _takes(self, text: str) -> bool:
        found = self.tokens[self.at][1] == text
        self.at += found
        return found

    def _read_mark(self, text: str) -> None:
        if not self._takes(text):
            self._refuse_token(repr(text))

    def _read_word(self, what: str, among: Sequence[str] = ()) -> str:
        kind, text = self.tokens[self.at]
        if kind != "name" or (among and text not in among):
            self._refuse_token(what)
        self.at += 1
        return text

    def _read_number(self, what: str) -> int:
        kind, text = self.tokens[self.at]
        if kind != "number":
            self._refuse_token(what)
        self.at += 1
        return int(text)

    def _refuse_token(self, what: str) -> NoReturn:
        kind, found = self.tokens[self.at]
        before = f" after {self.tokens[self.at - 1][1]!r}" if self.at else ""
        self._fail(f"expected {what}{before}, not {found if kind == 'end' else repr(found)}")

    def _fail(self, message: str) -> NoReturn:
        raise InvalidInput(f"templates, line {self.number}: {message}")
