"""Latent chains: prefixes of labels that bound every label sequence.

A label sequence has the mass of all its paths of states: a sum of products of exp(score). For a prefix of
labels let a[h] be the mass of its paths that end in state h, and let (with the scores of start and end added
to the emissions of the first and the last position)::

    w[T-1][h] = 1
    w[t][h]   = max over labels z of
                sum over states j of z of  exp(step[t+1][h][j] + emission[t+1][j]) * w[t+1][j]

Then f = sum over h of a[h] * w[t][h] is at least the mass of every label sequence with that prefix, as each
state may choose the labels that follow by itself. A certificate lists prefixes that are *expanded*, the empty
one first, each after the one it extends. Every label sequence other than the answer begins with an extension,
by one label, of some expanded prefix which is not expanded itself: the largest f of those bounds it.

Masses are no rational numbers. So sums and products are taken twice, in decimals of ``DIGITS`` digits,
rounded down for the answer and up for all others. Scores are said relative to the answer, whose own is 0: the
bound is at least the log of how many times more probable any other label sequence could be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from certus.verification.errors import CertificateError, Refuted
from certus.verification.findings import Findings
from certus.verification.shapes import read_indices, read_list, take
from certus.verification.work import limit_memory, limit_steps

DIGITS = 40
DECIMAL = 350  # bytes of a mass, and of what is kept of its factors
MOST_DECIMALS = 1000  # before the point of a bound
LARGEST = 1e6  # of a score: its exponential has half a million digits before the point
Prefix: TypeAlias = tuple[int, ...]
DOWN = Context(DIGITS, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)
UP = Context(DIGITS, ROUND_CEILING, MIN_EMIN, MAX_EMAX)
ZERO = Decimal(0)


class Masses:
    """The exponentials of a chain's scores, rounded one way: ``nodes`` (T, H), and links from each state."""

    def __init__(self, data: Mapping[str, Any], context: Context) -> None:
        self.context = context
        emissions, owner = data["emissions"].tolist(), data["owner"].tolist()
        self.owner, self.labels = owner, max(owner, default=-1) + 1
        self.states_of = [[h for h, label in enumerate(owner) if label == z] for z in range(self.labels)]
        self._known: dict[float, Decimal] = {}
        self.nodes = [[self._exponentiate(x) for x in row] for row in emissions]
        for name, place in (("start", 0), ("end", -1)):
            if name in data and self.nodes:
                extra = [self._exponentiate(x) for x in data[name].tolist()]
                self.nodes[place] = list(map(context.multiply, self.nodes[place], extra))
        self._tables = [data[name] for name in ("transitions", "pairs") if name in data]
        self._rows: list[dict[int, list[Decimal]]] = [{} for _ in range(count_matrices(data))]

    def find_links(self, t: int, h: int) -> list[Decimal]:
        """Return the masses of steps from a state at position t to each state at the next one, (H,)."""
        rows = self._rows[t % len(self._rows)]  # one for all positions, or one for each
        if h not in rows:
            states = range(len(self.owner))
            rows[h] = [self.multiply(map(self._exponentiate, self._list_steps(t, h, j))) for j in states]
        return rows[h]

    def _list_steps(self, t: int, h: int, j: int) -> Iterable[float]:
        for table in self._tables:
            matrix = table if table.ndim == 2 else table[t]
            own = (h, j) if len(matrix) == len(self.owner) else (self.owner[h], self.owner[j])
            yield float(matrix[own])

    def _exponentiate(self, x: float) -> Decimal:
        if x not in self._known:
            near = ZERO if x == float("-inf") else self.context.exp(Decimal(x))  # off by half a unit at most
            step = self.context.next_plus if self.context is UP else self.context.next_minus
            self._known[x] = near if near == 0 else step(near)
        return self._known[x]

    def multiply(self, factors: Iterable[Decimal]) -> Decimal:
        """Return a product, rounded."""
        product = Decimal(1)
        for factor in factors:
            product = self.context.multiply(product, factor)
        return product

    def add(self, terms: Iterable[Decimal]) -> Decimal:
        """Return a sum, rounded."""
        total = ZERO
        for term in terms:
            total = self.context.add(total, term)
        return total

    def extend(self, ending: Mapping[int, Decimal], t: int, label: int) -> dict[int, Decimal]:
        """Return the masses of a prefix by its last state, with one more label, at position t."""
        states = self.states_of[label]
        if t == 0:
            return {j: self.nodes[0][j] for j in states}
        product, nodes = self.context.multiply, self.nodes[t]
        links = {h: self.find_links(t - 1, h) for h in ending}
        return {
            j: product(self.add(product(a, links[h][j]) for h, a in ending.items()), nodes[j]) for j in states
        }

    def find_rest(self) -> list[list[Decimal]]:
        """Return w, (T, H): no labels have more mass after a state."""
        product, states = self.context.multiply, range(len(self.owner))
        rest = [[Decimal(1) for _ in states] for _ in self.nodes]
        for t in range(len(self.nodes) - 2, -1, -1):
            worth = list(map(product, self.nodes[t + 1], rest[t + 1]))
            for h in states:
                link = self.find_links(t, h)
                rest[t][h] = max(self.add(product(link[j], worth[j]) for j in own) for own in self.states_of)
        return rest


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check the prefixes of a certificate; the score is 0, the bound is what that proves relative to it."""
    length, states = data["emissions"].shape
    _check_shapes(data, length, states)
    expanded = read_list("expanded", take(proof, "expanded", "the proof"))
    # Decimals take ten times as long as whole numbers.
    limit_steps("the latent chain", 10 * states * (length * states + len(expanded) * _count_states(data)))
    limit_memory("the latent chain", states * (length + states * count_matrices(data)), DECIMAL)
    labels = max(data["owner"].tolist(), default=-1) + 1
    prefixes = [tuple(read_indices("a prefix", prefix, labels)) for prefix in expanded]
    if answer is None:
        best, own = None, ZERO
    else:
        best = tuple(read_indices("the answer", answer, labels, length))
        own = _sum_up(Masses(data, DOWN), best)
        if own == 0 and length:
            raise Refuted("the answer has no mass: all of its paths are forbidden")
    most = _find_most(Masses(data, UP), prefixes, best) if length else ZERO
    if own == 0 and answer is None and length:
        if most > 0:
            raise Refuted("there is no answer, but something is possible")
        return Findings(None, None)
    excess = UP.subtract(UP.divide(most, own), Decimal(1)) if length else ZERO  # log x <= x - 1
    if excess.adjusted() > MOST_DECIMALS:
        raise Refuted("the bound is more than any number that could be written down")
    return Findings(Fraction(0), Fraction(max(excess, ZERO)))


def _find_most(masses: Masses, prefixes: list[Prefix], answer: Prefix | None) -> Decimal:
    """Return the largest f of what the expanded prefixes leave."""
    rest, length = masses.find_rest(), len(masses.nodes)
    if prefixes[:1] != [()]:
        raise Refuted("the first prefix that is expanded has to be the empty one")
    expanded = set(prefixes)
    if len(expanded) < len(prefixes):
        raise Refuted("a prefix is expanded twice")
    ending: dict[Prefix, dict[int, Decimal]] = {(): {}}
    most = ZERO
    for prefix in prefixes:
        if prefix not in ending:
            raise Refuted(f"the prefix {list(prefix)} is expanded before the one it extends")
        t, own = len(prefix), ending.pop(prefix)
        if t == length:
            raise Refuted(f"the labels {list(prefix)} are whole, and have no extension")
        for label in range(masses.labels):
            longer = (*prefix, label)
            reached = masses.extend(own, t, label)
            if longer in expanded:
                ending[longer] = reached
            elif longer != answer:
                most = max(
                    most, masses.add(masses.context.multiply(a, rest[t][h]) for h, a in reached.items())
                )
    return most


def _sum_up(masses: Masses, labels: Prefix) -> Decimal:
    ending: dict[int, Decimal] = {}
    for t, label in enumerate(labels):
        ending = masses.extend(ending, t, label)
    return masses.add(ending.values())


def count_matrices(data: Mapping[str, Any]) -> int:
    """Return how many different matrices of links there are: one where all steps have the same scores."""
    steps = max(len(data["emissions"]) - 1, 0)
    has_own = any(name in data and data[name].ndim == 3 for name in ("transitions", "pairs"))
    return steps if has_own else min(steps, 1)


def _count_states(data: Mapping[str, Any]) -> int:
    """Return the most states that a label has."""
    return max(Counter(data["owner"].tolist()).values(), default=0)


def _check_shapes(data: Mapping[str, Any], length: int, states: int) -> None:
    owner = data["owner"].tolist()
    labels = max(owner, default=-1) + 1
    if len(owner) != states or sorted(set(owner)) != list(range(labels)):
        raise CertificateError(f"owner must name the label of each of {states} states, from 0 on")
    allowed: dict[str, list[tuple[int, ...]]] = {
        "transitions": [(states, states)],
        "start": [(states,)],
        "end": [(states,)],
    }
    allowed["emissions"] = [(length, states)]
    allowed["pairs"] = [(max(length - 1, 0), n, n) for n in (states, labels)]
    for name, shapes in allowed.items():
        if name in data and any(abs(x) > LARGEST for x in data[name].ravel().tolist() if x > float("-inf")):
            raise CertificateError(f"{name} holds a score beyond {LARGEST:g}; scale it down")
        if name in data and data[name].shape not in shapes:
            raise CertificateError(
                f"{name} of a latent chain must have the shape {shapes[0]}, not {data[name].shape}"
            )
