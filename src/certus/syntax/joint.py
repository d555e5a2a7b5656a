"""Joint parsing and tagging: the tree and the tag sequence that agree and together score most, with proof.

    max  parse(y) + weight · tag(z)    over trees y of the grammar and tag sequences z of the tagger
                                       that give every word the same tag

Rush et al. (2010, §4.1 and 7.2): each model alone is a dynamic program, the two together are not (but for one
over pairs of the tagger's states, see ``intersected``). Dual decomposition makes them agree; where it leaves a
gap, cells are fixed by bounds and what stays in dispute is branched on, so that the default answer is proven.

The sequences are those of the tagger's lattice (``Tagger.lattices``): a pruned CRF's lattice leaves out what
the tagger finds improbable, here at thresholds that ``pruning`` lowers. What is proven is proven of trees and
sequences of that lattice. Where no tree has tags that the lattice allows, a looser one is made; ``pruning`` of
the answer says which. Tags that only one of the models knows are forbidden in the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.models.lattices import TagLattices
from certus.relax import Decomposition, JointSolution, Trace
from certus.relax.part import Forbidden
from certus.solution import Solution, Status
from certus.syntax.cells import Cells

if TYPE_CHECKING:
    from certus.models.tagger import Tagger
    from certus.syntax.grammar import Grammar

WEIGHT = 1.0
PRUNING = 1.0
LOOSER = (1e-2, 1e-4, 0.0)  # of the pruning asked for, where it leaves nothing that the grammar can parse
BEARABLE = 1 << 26  # arcs of a lattice from which nothing was pruned


class JointParse(Solution):
    """A tree and its tags: ``score <= optimum <= bound``, over the grammar's trees and the lattice's sequences.

    Attributes:
        value: the tree; None where there is none.
        tags: of the words, which are the tree's.
        parse_score: of the tree alone, and ``tag_score`` of the sequence alone, without weight.
        iterations: how often both models were maximised; ``nodes`` of branch and bound, the root included.
        pruning: of the lattice that the tags are from; None where there is no tree at all.
        trace: dual and primal by iteration.
    """

    __slots__ = ("iterations", "nodes", "parse_score", "pruning", "tag_score", "tags", "trace")

    def __init__(
        self,
        tree: Any,
        tags: list[str],
        found: JointSolution | None,
        pruning: float | None,
        scores: tuple[float, float] = (-np.inf, -np.inf),
    ) -> None:
        if found is None:
            super().__init__(tree, -np.inf, -np.inf, Status.INFEASIBLE)
        else:
            super().__init__(tree, found.score, found.bound, found.status)
        self.tags, self.pruning = tags, pruning
        self.parse_score, self.tag_score = scores
        self.trace = Trace() if found is None else found.trace
        self.iterations = len(self.trace)
        self.nodes = 0 if found is None else int(found.stats["nodes"])

    @property
    def tree(self) -> Any:
        """The tree."""
        return self.value


class JointParser:
    """A grammar and a tagger that parse together.

    Args:
        grammar: of the trees.
        tagger: of the tags, over the same tag set as the grammar's; of order 2 in the paper.

    Other args:
        weight: how much the tagger's score counts beside the grammar's.
        pruning: what the thresholds of the tagger's lattice are multiplied by: less leaves more tags to a word.
    """

    def __init__(
        self, grammar: Grammar, tagger: Tagger, *, weight: float = WEIGHT, pruning: float = PRUNING
    ) -> None:
        if not 0 < weight < np.inf:
            raise InvalidInput(f"weight is {weight}; it must be a number above 0")
        if not 0 <= pruning < np.inf:
            raise InvalidInput(f"pruning is {pruning}; it must be a number that is not below 0")
        numbers = {name: number for number, name in enumerate(tagger.labels)}
        pairs = [(k, numbers[tag]) for k, tag in enumerate(grammar.tags) if tag in numbers]
        if not pairs:
            raise InvalidInput(
                "the grammar and the tagger have no tag in common: the grammar has "
                f"{_some(grammar.tags)}; the tagger, for {tagger.target.expression!r}, {_some(tagger.labels)}"
            )
        self.grammar, self.tagger, self.weight, self.pruning = grammar, tagger, weight, pruning
        self._tags, self._labels = np.array(pairs, np.int64).T

    def parse(self, words: Sequence[str], **limits: Any) -> JointParse:
        """Parse one sentence; the options are those of ``certus.relax.Decomposition.solve``."""
        return self.parse_batch([words], **limits)[0]

    def parse_batch(
        self, sentences: Iterable[Sequence[str]], *, threads: int = 1, **limits: Any
    ) -> list[JointParse]:
        """Parse many sentences.

        Args:
            sentences: their words.
            threads: how many threads to use; the answers do not depend on it.
            **limits: ``max_iterations``, ``seconds``, ``optimizer`` and what else
                ``certus.relax.Decomposition.solve`` takes, for each sentence.
        """
        given = [list(words) for words in sentences]
        lattices = self.tagger.lattices(given, pruning=self.pruning, threads=threads)

        def one(n: int) -> JointParse:
            return self._solve(given[n], lattices, n, limits)

        if threads == 1:
            return list(map(one, range(len(given))))
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one, range(len(given))))

    def problems(self, words: Sequence[str]) -> Iterator[JointProblem]:
        """Yield the problem of a sentence, then looser ones for as long as they are bearable."""
        lattices = self.tagger.lattices([words], pruning=self.pruning)
        return self._problems(list(words), lattices, 0)

    def _solve(
        self, words: list[str], lattices: TagLattices, n: int, limits: dict[str, Any]
    ) -> JointParse:
        if not words:
            raise InvalidInput("there is nothing to parse in a sentence without words")
        for problem in self._problems(words, lattices, n):
            found = problem.solve(**limits)
            if found is not None:
                return found
        return JointParse(None, [], None, None)

    def _problems(self, words: list[str], lattices: TagLattices, n: int) -> Iterator[JointProblem]:
        yield self._problem(words, lattices, n, self.pruning)
        for factor in LOOSER if not lattices.exact[n] else ():
            if factor == 0 and len(words) * float(lattices.labels) ** (self._order + 1) > BEARABLE:
                return
            pruning = factor * self.pruning
            looser = self.tagger.lattices([words], pruning=pruning)
            yield self._problem(words, looser, 0, pruning)

    @property
    def _order(self) -> int:
        return int(getattr(self.tagger.options, "order", 1))

    def _problem(self, words: list[str], lattices: TagLattices, n: int, pruning: float) -> JointProblem:
        allowed = np.zeros((len(words), len(self.grammar.tags)), bool)
        possible = lattices.max_marginals(n) > -np.inf
        allowed[:, self._tags] = possible[:, self._labels]
        return JointProblem(self, words, lattices, n, allowed, pruning)


@dataclass(frozen=True, eq=False)
class JointProblem:
    """One sentence: its lattice, and the tags that words may have by it.

    Attributes:
        parser: whose models these are.
        words: of the sentence.
        lattices: with the sentence among others, and ``number`` which it is.
        allowed: (T, tags of the grammar) what the lattice has a sequence for.
        pruning: of the lattice.
    """

    parser: JointParser
    words: list[str]
    lattices: TagLattices
    number: int
    allowed: NDArray[np.bool_]
    pruning: float

    def solve(self, **limits: Any) -> JointParse | None:
        """Return the best tree and tags, or None where none agree."""
        if not self.allowed.any(1).all():
            return None
        d = Decomposition()
        try:
            trees, sequences = self.parts()
        except Forbidden:
            return None
        parse, tag = d.add(trees, "parse"), d.add(sequences, "tag", weight=self.parser.weight)
        d.agree((parse, "tags"), (tag, "tags"))
        found = d.solve(infeasible="return", **limits)
        if not found.value:
            return None
        tags = [self.lattices.names[label] for label in found.value[tag]]
        scores = found.scores[parse], found.scores[tag]
        return JointParse(found.value[parse], tags, found, self.pruning, scores)

    def parts(self) -> tuple[Cells, Cells]:
        """Return the trees and the sequences as parts that share the cells in dispute.

        A cell is a word and a tag; where a word may have one tag only, there is nothing to agree on.
        """
        parser = self.parser
        open_ = self.allowed & (self.allowed.sum(1) > 1)[:, None]
        where = np.argwhere(open_)
        label = np.zeros(len(parser.grammar.tags), np.int64)
        label[parser._tags] = parser._labels
        allowed = np.zeros((len(self.words), self.lattices.labels), bool)
        rows, tags = np.nonzero(self.allowed)
        allowed[rows, label[tags]] = True
        trees = Cells(parser.grammar.part(self.words, allowed=self.allowed), self.allowed, where)
        there = np.stack([where[:, 0], label[where[:, 1]]], 1)
        return trees, Cells(self.lattices.part(self.number), allowed, there)


def parse_jointly(
    grammar: Grammar,
    tagger: Tagger,
    sentences: Iterable[Sequence[str]],
    *,
    weight: float = WEIGHT,
    pruning: float = PRUNING,
    threads: int = 1,
    **limits: Any,
) -> list[JointParse]:
    """Parse and tag sentences with a grammar and a tagger that agree; see ``JointParser``."""
    parser = JointParser(grammar, tagger, weight=weight, pruning=pruning)
    return parser.parse_batch(sentences, threads=threads, **limits)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
