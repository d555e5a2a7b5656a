"""Factor graphs in files: the layouts of the UAI competitions (``.uai``) and of AD3 (``.fg``)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from certus.errors import FormatError
from certus.relax.factor_graph import FactorGraph
from certus.relax.factors import Floats
from certus.relax.variables import AnyLiteral, Variable

MOST_ENTRIES = 100_000_000  # of a table
MOST_STATES = 5_000_000  # of all variables together
Literals: TypeAlias = list[AnyLiteral]


def read_factor_graphs(path: str | os.PathLike[str]) -> list[FactorGraph]:
    """Read a file of factor graphs: ``.uai`` holds one, ``.fg`` one or more.

    UAI files hold potentials, whose logarithms become scores; a potential of 0 forbids. Files of AD3 hold
    scores. Of their factors these are known: XOR, XOROUT, OR, OROUT, ANDOUT, ATMOSTONE, BUDGET, KNAPSACK,
    PAIR and DENSE.
    """
    name = os.fspath(path)
    reader = _READERS.get(Path(name).suffix.lower())
    if reader is None:
        raise FormatError(f"{name}: factor graphs are read from files that end in {' or '.join(_READERS)}")
    try:
        text = Path(name).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"not a text file: {error}", name) from None
    return reader(_Tokens(name, text))


class _Tokens:
    """The words of a file, each with its line."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.line = 1
        self._text = text
        self._words = self._split()
        self._next = next(self._words, None)

    def _split(self) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self._text.split("\n"), 1):
            if not line.startswith("c ") and line.strip() != "c":  # a comment in UAI files
                for word in line.split("#")[0].split():
                    yield number, word

    @property
    def left(self) -> bool:
        """Whether there are words left."""
        return self._next is not None

    def refuse(self, message: str) -> FormatError:
        """Return an error about the word that was taken last."""
        return FormatError(message, self.name, self.line)

    def take(self, what: str) -> str:
        """Return the next word."""
        if self._next is None:
            raise self.refuse(f"the file ends where {what} should follow")
        self.line, word = self._next
        self._next = next(self._words, None)
        return word

    def take_int(self, what: str, least: int, most: int) -> int:
        """Return the next word as a whole number from ``least`` to ``most``."""
        word = self.take(what)
        try:
            number = int(word)
        except ValueError:
            raise self.refuse(f"{what} must be a whole number, not {word!r}") from None
        if not least <= number <= most:
            wanted = f"{least}" if least == most else f"from {least} to {most}"
            raise self.refuse(f"{what} must be {wanted}, not {number}")
        return number

    def take_float(self, what: str, least: float = -math.inf) -> float:
        """Return the next word as a number, of at least ``least``."""
        word = self.take(what)
        try:
            number = float(word)
        except ValueError:
            raise self.refuse(f"{what} must be a number, not {word!r}") from None
        if math.isnan(number) or number == math.inf:
            raise self.refuse(f"{what} must be a number to add, not {word!r}")
        if number < least:
            raise self.refuse(f"{what} must not be below {least:g}, but is {word}")
        return number

    def take_table(self, shape: tuple[int, ...], what: str, least: float = -math.inf) -> Floats:
        """Return as many numbers as an array of this shape has."""
        if math.prod(shape) > MOST_ENTRIES:
            raise self.refuse(
                f"a table of {math.prod(shape)} numbers is too large; the most is {MOST_ENTRIES}"
            )
        return np.array([self.take_float(what, least) for _ in range(math.prod(shape))]).reshape(shape)


def _read_uai(tokens: _Tokens) -> list[FactorGraph]:
    kind = tokens.take("the kind of network")
    if kind not in ("MARKOV", "BAYES"):
        raise tokens.refuse(f"a UAI file begins with MARKOV or BAYES, not {kind!r}")
    count = tokens.take_int("the number of variables", 1, MOST_ENTRIES)
    graph = FactorGraph()
    variables, states = [], 0
    for _ in range(count):
        number = tokens.take_int("the number of states", 1, MOST_ENTRIES)
        states += number
        if states > MOST_STATES:
            raise tokens.refuse(f"the variables have more than {MOST_STATES} states together, the most")
        variables.append(graph.add_variable(np.zeros(number)))
    scopes = []
    for _ in range(tokens.take_int("the number of factors", 0, MOST_ENTRIES)):
        size = tokens.take_int("the number of a factor's variables", 0, count)
        named = [tokens.take_int("a variable", 0, count - 1) for _ in range(size)]
        if len(set(named)) < size:
            raise tokens.refuse(f"a factor names a variable twice: {' '.join(map(str, named))}")
        scopes.append([variables[v] for v in named])
    for scope in scopes:
        shape = tuple(variable.states for variable in scope)
        tokens.take_int("the number of entries", math.prod(shape), math.prod(shape))
        table = tokens.take_table(shape, "a potential", least=0)
        with np.errstate(divide="ignore"):
            scores = np.log(table)
        if scope:
            _add(tokens, partial(graph.add_table, scope, scores))
    if tokens.left:
        word = tokens.take("nothing")
        raise tokens.refuse(f"there is more in the file than its factors: {word!r}")
    return [graph]


def _read_ad3(tokens: _Tokens) -> list[FactorGraph]:
    graphs = []
    while tokens.left:
        graph = FactorGraph()
        count = tokens.take_int("the number of variables", 1, MOST_ENTRIES)
        factors = tokens.take_int("the number of factors", 0, MOST_ENTRIES)
        variables = [graph.add_binary(tokens.take_float("the score of a variable")) for _ in range(count)]
        for _ in range(factors):
            _read_factor(tokens, graph, variables)
        graphs.append(graph)
    if not graphs:
        raise tokens.refuse("the file is empty: there is no factor graph in it")
    return graphs


def _read_factor(tokens: _Tokens, graph: FactorGraph, variables: list[Variable]) -> None:
    kind = tokens.take("a factor")
    if kind not in _FACTORS:
        raise tokens.refuse(f"there is no factor {kind!r} here; there are: {', '.join(_FACTORS)}")
    literals: Literals = []
    for _ in range(tokens.take_int("the number of a factor's variables", 1, len(variables))):
        number = tokens.take_int("a variable", -len(variables), len(variables))
        if number == 0:
            raise tokens.refuse("variables are counted from 1; there is no variable 0")
        literals.append(~variables[-number - 1] if number < 0 else variables[number - 1])
    _add(tokens, lambda: _FACTORS[kind](tokens, graph, literals))


def _add(tokens: _Tokens, add: Callable[[], None]) -> None:
    """Add a factor; what is wrong with it is said with the line."""
    try:
        add()
    except FormatError:
        raise
    except ValueError as error:
        raise tokens.refuse(str(error)) from None


def _add_and_output(_: _Tokens, graph: FactorGraph, literals: Literals) -> None:
    graph.add_or_output([~literal for literal in literals[:-1]], ~literals[-1])


def _add_budget(tokens: _Tokens, graph: FactorGraph, literals: Literals) -> None:
    graph.add_count(literals, most=tokens.take_int("a budget", 0, MOST_ENTRIES))


def _add_knapsack(tokens: _Tokens, graph: FactorGraph, literals: Literals) -> None:
    weights = [tokens.take_int("a weight", 0, MOST_ENTRIES) for _ in literals]
    graph.add_knapsack(literals, weights, tokens.take_int("a capacity", 0, MOST_ENTRIES))


def _add_pair(tokens: _Tokens, graph: FactorGraph, literals: Literals) -> None:
    if len(literals) != 2:
        raise tokens.refuse(f"PAIR has two variables, not {len(literals)}")
    score = tokens.take_float("the score of a pair")
    graph.add_table(_check_plain(tokens, literals), [[0.0, 0.0], [0.0, score]])


def _add_dense(tokens: _Tokens, graph: FactorGraph, literals: Literals) -> None:
    """Take the variables as the states of some variables that have several."""
    cells, axes, begin = _check_plain(tokens, literals), [], 0
    shape = tuple(
        tokens.take_int("the number of states", 1, len(cells))
        for _ in range(tokens.take_int("the number of variables of a table", 1, len(cells)))
    )
    if sum(shape) != len(cells):
        raise tokens.refuse(
            f"the table's {len(shape)} variables have {sum(shape)} states, but {len(cells)} are named"
        )
    for states in shape:
        axes.append(cells[begin : begin + states])
        begin += states
    graph.add_table(axes, tokens.take_table(shape, "a score"))


def _check_plain(tokens: _Tokens, literals: Literals) -> list[Variable]:
    plain = [literal for literal in literals if isinstance(literal, Variable)]
    if len(plain) < len(literals):
        raise tokens.refuse("a table cannot have negated variables")
    return plain


_FACTORS: dict[str, Callable[[_Tokens, FactorGraph, Literals], None]] = {
    "XOR": lambda _, graph, literals: graph.add_exactly_one(literals),
    "XOROUT": lambda _, graph, literals: graph.add_exactly_one([*literals[:-1], ~literals[-1]]),
    "OR": lambda _, graph, literals: graph.add_or(literals),
    "OROUT": lambda _, graph, literals: graph.add_or_output(literals[:-1], literals[-1]),
    "ANDOUT": _add_and_output,
    "ATMOSTONE": lambda _, graph, literals: graph.add_at_most_one(literals),
    "BUDGET": _add_budget,
    "KNAPSACK": _add_knapsack,
    "PAIR": _add_pair,
    "DENSE": _add_dense,
}
_READERS: dict[str, Callable[[_Tokens], list[FactorGraph]]] = {".uai": _read_uai, ".fg": _read_ad3}
