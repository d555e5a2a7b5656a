"""The language of templates of arcs: which properties of words become features of arcs between them.

A template per line; ``docs/dependency-parsing.md`` explains them with examples. In short::

    head.upos modifier.upos             a column of the head, and one of the modifier
    head.upos[1] modifier.upos[-1]      of the word after the head, and of the one before the modifier
    ... distance                        together with how far apart they are
    lower(head.word) modifier.upos      in lower case; also shape(...), prefix(..., 3), suffix(..., 3)
    each(modifier.feats) head.upos      one feature for each value between bars
    between.upos head.upos modifier.upos    one feature for each different tag between the two
    relation head.upos modifier.upos    a weight for each relation, too: these choose the relation of an arc
    sibling.upos modifier.upos          of two neighbouring modifiers of a head, on one side of it
    grandparent.upos head.upos modifier.upos    of an arc and the arc into its head
    child.upos modifier.upos            of an arc and one from its modifier: of relations in known trees only

The direction of the arc is part of every feature. Text is compiled to numbers, and those run natively.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput

VERSION = 1
FARTHEST = 4  # offsets go from -4 to 4
LONGEST_AFFIX = 16
PARTS = ("arc", "sibling", "grandparent", "grand-sibling", "child")
ROLES = ("head", "modifier", "sibling", "grandparent", "between", "child")
FUNCTIONS = ("text", "lower", "shape", "prefix", "suffix", "each")
_TERM = re.compile(
    r"(?:(?P<function>[a-z]+)\(\s*)?(?P<role>[a-z]+)\.(?P<column>\w+)(?:\[(?P<offset>[+-]?\d+)\])?"
    r"(?:\s*,\s*(?P<length>\d+))?(?P<close>\s*\))?"
)


@dataclass(frozen=True)
class ArcTerm:
    """A function of a cell of one of the words of a part; ``length`` is of affixes."""

    role: str
    function: str
    column: str
    offset: int = 0
    length: int = 0

    def compile(self, columns: Sequence[str]) -> tuple[int, ...]:
        """Return the compiled form."""
        named = "sibling" if self.role == "child" else self.role  # no template has both
        role, function = ROLES.index(named), FUNCTIONS.index(self.function)
        return role, function, columns.index(self.column), self.offset, self.length


@dataclass(frozen=True)
class ArcTemplate:
    """A conjunction of terms; see the module for what ``relation`` and ``distance`` add to it."""

    terms: tuple[ArcTerm, ...]
    relation: bool = False
    distance: bool = False

    @property
    def part(self) -> str:
        """What it is of, by the words that it looks at."""
        roles = {term.role for term in self.terms}
        if "child" in roles:
            return "child"
        if "sibling" in roles:
            return "grand-sibling" if "grandparent" in roles else "sibling"
        return "grandparent" if "grandparent" in roles else "arc"

    def compile(self, columns: Sequence[str]) -> list[int]:
        """Return the compiled form."""
        head = [PARTS.index(self.part), int(self.relation), int(self.distance), len(self.terms)]
        return [*head, *(number for term in self.terms for number in term.compile(columns))]


class ArcTemplates:
    """Templates of arcs, parsed.

    Args:
        text: one template per line; `#` begins a comment.

    Attributes:
        text: as it was given.
        templates: in their order.

    Raises:
        InvalidInput: the text is not in the language; the message gives the line, and what it should have.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        found: dict[ArcTemplate, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            code = line.partition("#")[0].strip()
            if not code:
                continue
            template = parse_template(code, number)
            if template in found:
                _fail(number, f"this repeats line {found[template]}; remove one")
            found[template] = number
        if not any(template.part == "arc" for template in found):
            raise InvalidInput('there are no templates of arcs; the smallest is "head.upos modifier.upos"')
        self.templates = tuple(found)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that they name, the words first."""
        named = dict.fromkeys(term.column for template in self.templates for term in template.terms)
        return ("word", *(name for name in named if name != "word"))

    @property
    def parts(self) -> tuple[str, ...]:
        """What they are of: arcs, siblings, ..."""
        found = {template.part for template in self.templates}
        return tuple(part for part in PARTS if part in found)

    def restrict(self, columns: Iterable[str], parts: Iterable[str] = PARTS) -> str:
        """Return the text without templates that look at other columns, or are of other parts."""
        known, wanted = set(columns), set(parts)
        return "\n".join(
            write_template(template)
            for template in self.templates
            if template.part in wanted and all(term.column in known for term in template.terms)
        )

    def compile(self, columns: Sequence[str]) -> NDArray[np.int32]:
        """Return the compiled form, over columns in this order."""
        numbers = [number for template in self.templates for number in template.compile(columns)]
        return np.array([VERSION, len(self.templates), *numbers], np.int32)

    def __len__(self) -> int:
        return len(self.templates)

    def __str__(self) -> str:
        return self.text


def parse_template(code: str, number: int) -> ArcTemplate:
    """Return the template of a line, or raise InvalidInput with its number."""
    terms: list[ArcTerm] = []
    relation = distance = False
    at = 0
    while at < len(code):
        if code[at].isspace():
            at += 1
            continue
        word = re.compile(r"\w+").match(code, at)
        if word and word[0] in ("relation", "distance") and not code[word.end() :].startswith((".", "(")):
            relation, distance = relation or word[0] == "relation", distance or word[0] == "distance"
            at = word.end()
            continue
        found = _TERM.match(code, at)
        if found is None:
            _fail(number, f"expected a term such as head.upos[-1], distance or relation at {code[at:]!r}")
        terms.append(_make_term(found, number))
        at = found.end()
    template = ArcTemplate(tuple(terms), relation, distance)
    _check_template(template, number)
    return template


def _make_term(found: re.Match[str], number: int) -> ArcTerm:
    function, role = found["function"] or "text", found["role"]
    column = "word" if found["column"] == "form" else found["column"]
    if (found["function"] is None) != (found["close"] is None):
        _fail(number, f"brackets do not match in {found[0]!r}")
    if function not in FUNCTIONS:
        _fail(number, f"there is no function {function!r}; there are {', '.join(FUNCTIONS[1:])}")
    if role not in ROLES:
        _fail(number, f"there is no word {role!r} in an arc; there are {', '.join(ROLES)}")
    offset, length = int(found["offset"] or 0), int(found["length"] or 0)
    if abs(offset) > FARTHEST:
        _fail(number, f"{found[0]} is too far away; offsets go from -{FARTHEST} to {FARTHEST}")
    is_affix = function in ("prefix", "suffix")
    if is_affix != (found["length"] is not None) or (is_affix and not 1 <= length <= LONGEST_AFFIX):
        _fail(number, f"prefix and suffix, and they alone, take a length from 1 to {LONGEST_AFFIX}")
    if role == "between" and (function != "text" or offset):
        _fail(number, "between is of a column as it is, such as between.upos")
    return ArcTerm(role, function, column, offset, length)


def _check_template(template: ArcTemplate, number: int) -> None:
    several = [term.role for term in template.terms if term.function == "each" or term.role == "between"]
    if len(set(several)) < len(several):
        _fail(number, "each word of an arc can have one each(...), and there can be one between")
    if not template.terms and not template.distance:
        _fail(number, "there is no term; the smallest is head.upos")
    if len(template.terms) > 16:
        _fail(number, "there are more than 16 terms")
    roles = {term.role for term in template.terms}
    if "child" in roles and roles & {"sibling", "grandparent"}:
        _fail(number, "a template with a child has no sibling and no grandparent")
    if template.part != "arc" and (template.relation or "between" in several):
        _fail(number, "relation and between are of arcs, not of siblings and grandparents")


def write_template(template: ArcTemplate) -> str:
    """Return a template as a line of the language."""
    words = ["relation"] * template.relation + [_write_term(term) for term in template.terms]
    return " ".join(words + ["distance"] * template.distance)


def _write_term(term: ArcTerm) -> str:
    cell = f"{term.role}.{term.column}" + (f"[{term.offset}]" if term.offset else "")
    if term.function == "text":
        return cell
    return f"{term.function}({cell}, {term.length})" if term.length else f"{term.function}({cell})"


def _fail(number: int, message: str) -> NoReturn:
    raise InvalidInput(f"templates of arcs, line {number}: {message}")
