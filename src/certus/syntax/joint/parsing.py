"""Joint parsing and tagging: the tree and the tag sequence that agree and together score most, with proof.

    max  parse(y) + weight · tag(z)    over trees y of the grammar and tag sequences z of the tagger
                                       that give every word the same tag

Rush et al. (2010, §4.1 and 7.2): each model alone is a dynamic program, the two together are not (but for
one over pairs of the tagger's states). Dual decomposition makes them agree; where it leaves a gap, cells are
fixed by bounds and what stays in dispute is branched on, so that the default answer is proven.

The sequences are those of the tagger's lattice (``Tagger.lattices``): a pruned CRF's lattice leaves out what
the tagger finds improbable, and what is proven then is proven of the trees and sequences of that lattice
(``JointParse.lattice_optimal``), and of the whole model where the best sequence that it lacks with the best
tree of all does not score more (``JointParse.optimal``). ``pruning`` below 1 lowers the thresholds; 0 leaves
nothing out. Where no tree has tags that the lattice allows, a looser one is made; the ``pruning`` of the
answer says which. Without any pruning a lattice may be too large: then the answer is the grammar's best tree,
and the bound that of both models by themselves. Tags that only one of the models knows are forbidden in the
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.trees import Tree
from certus.checks import check_infeasible
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.lattice import SequenceModel, TagLattices
from certus.part import Forbidden
from certus.solution import OnInfeasible, Solution, Status
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.joint.problem import JointParse, JointProblem, Limits

if TYPE_CHECKING:
    from typing_extensions import Unpack

WEIGHT = 1.0
PRUNING = 1.0
LOOSER = (1e-2, 1e-4, 0.0)  # of the pruning asked for, where it leaves nothing that the grammar can parse
BEARABLE = 1 << 26  # arcs of a lattice from which nothing was pruned


class JointParser:
    """A grammar and a tagger that parse together.

    Args:
        grammar: of the trees.
        tagger: of the tags, over the same tag set as the grammar's; of order 2 in the paper.

    Other args:
        weight: how much the tagger's score counts beside the grammar's.
        pruning: what the thresholds of the tagger's lattice are multiplied by: less leaves more tags, and 0
            leaves all of them, so that answers are proven of the whole model.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2010",)

    def __init__(
        self, grammar: Grammar, tagger: SequenceModel, *, weight: float = WEIGHT, pruning: float = PRUNING
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
                f"{_list_some(grammar.tags)}; the tagger, for {tagger.target_expression!r}, "
                f"{_list_some(tagger.labels)}; train one with the target xpos on the same trees"
            )
        self.grammar, self.tagger, self.weight, self.pruning = grammar, tagger, weight, pruning
        self._tags, self._labels = np.array(pairs, np.int64).T

    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        cover: bool = False,
        infeasible: Literal["raise"] = "raise",
        **limits: Unpack[Limits],
    ) -> JointParse[Tree]: ...
    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        cover: bool = False,
        infeasible: Literal["return"],
        **limits: Unpack[Limits],
    ) -> JointParse[Tree | None]: ...
    def parse(
        self,
        words: Sequence[str],
        *,
        cover: bool = False,
        infeasible: OnInfeasible = "raise",
        **limits: Unpack[Limits],
    ) -> JointParse[Tree] | JointParse[Tree | None]:
        """Parse one sentence, as ``parse_batch`` does many."""
        return self._parse_batch([words], cover, infeasible, 1, limits)[0]

    @overload
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        cover: bool = False,
        infeasible: Literal["raise"] = "raise",
        threads: int = 1,
        **limits: Unpack[Limits],
    ) -> list[JointParse[Tree]]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        cover: bool = False,
        infeasible: Literal["return"],
        threads: int = 1,
        **limits: Unpack[Limits],
    ) -> list[JointParse[Tree | None]]: ...
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        cover: bool = False,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
        **limits: Unpack[Limits],
    ) -> Sequence[JointParse[Tree] | JointParse[Tree | None]]:
        """Parse many sentences.

        Args:
            sentences: their words.

        Other args:
            cover: whether the value of a sentence of which no tree has tags that the tagger knows shall be a
                cover, as ``Grammar.parse`` has it: as few constituents as possible side by side, with the
                grammar's tags. The status is INFEASIBLE, and nothing is raised.
            infeasible: whether such a sentence raises Infeasible, or returns a JointParse with that status
                and the value None.
            threads: how many threads to use; the answers do not depend on it.
            **limits: ``max_iterations``, ``seconds``, ``optimizer`` and what else
                ``certus.relax.Decomposition.solve`` takes, for each sentence.
        """
        return self._parse_batch(sentences, cover, infeasible, threads, limits)

    def _parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        cover: bool,
        infeasible: OnInfeasible,
        threads: int,
        limits: Limits,
    ) -> list[JointParse[Tree] | JointParse[Tree | None]]:
        check_infeasible(infeasible)
        given = [list(words) for words in sentences]
        lattices = self.tagger.lattices(given, pruning=self.pruning, threads=threads)

        def solve(n: int) -> JointParse[Tree] | JointParse[Tree | None]:
            return self._solve(given[n], lattices, n, cover, infeasible, limits)

        if threads == 1:
            return list(map(solve, range(len(given))))
        cancellation = _native.Cancellation()

        def solve_in_thread(n: int) -> JointParse[Tree] | JointParse[Tree | None]:
            with cancellation:
                return solve(n)

        with ThreadPoolExecutor(threads) as pool:
            try:
                return list(pool.map(solve_in_thread, range(len(given))))
            except BaseException:
                cancellation.cancel()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def problems(self, words: Sequence[str]) -> Iterator[JointProblem]:
        """Yield the problem of a sentence, then less pruned ones as long as they fit the limits."""
        lattices = self.tagger.lattices([words], pruning=self.pruning)
        return self._problems(list(words), lattices, 0)

    def _solve(
        self,
        words: list[str],
        lattices: TagLattices,
        n: int,
        cover: bool,
        infeasible: OnInfeasible,
        limits: Limits,
    ) -> JointParse[Tree] | JointParse[Tree | None]:
        if not words:
            raise InvalidInput("there is nothing to parse in a sentence without words")
        is_whole = False
        for problem in self._problems(words, lattices, n):
            found = problem.solve(**limits)
            if found is None:
                is_whole = bool(problem.lattices.exact[problem.number])
                continue
            if found.value is None and cover:
                found.value = self._cover(words)
                found.tags = found.value.tags if found.value else []
            return found  # also where a limit was hit: a looser lattice would take longer
        best = None if is_whole else self._take_best_tree(words, lattices, n)
        if best is not None:
            return best
        tree = self._cover(words) if cover else None
        if tree is None and infeasible == "raise":
            sentence = n if len(lattices) > 1 else None
            message = describe_infeasible(
                "no tree of the grammar has tags that the tagger allows",
                "cover=True gives the fewest constituents that cover the sentence",
                sentence,
            )
            raise Infeasible(message, sentence=sentence)
        return JointParse(tree, tree.tags if tree else [], None, None)

    def _take_best_tree(self, words: list[str], lattices: TagLattices, n: int) -> JointParse[Tree] | None:
        """Return the best tree of tags that both know, whatever the tagger says; None where there is none.

        That lattices which lack something have no tree does not prove that there is none. The bound is that
        of the best tree and the best sequence, each by itself.
        """
        allowed = np.zeros((len(words), len(self.grammar.tags)), bool)
        allowed[:, self._tags] = True
        try:
            best = self.grammar.part(words, allowed=allowed).maximize({})
        except Forbidden:
            return None
        only = [[tag] for tag in best.value.tags]
        tags = self.tagger.tag_batch([words], allowed=[only])[0].score
        most = max(float(lattices.decode([n])[1][0]), float(lattices.outside[n]))
        bound = best.score + self.weight * most
        return JointParse.of_best_tree(best.value, (best.score, tags), self.weight, bound)

    def _cover(self, words: list[str]) -> Tree | None:
        """Return the fewest constituents side by side that cover a sentence, with the grammar's tags."""
        return self.grammar.parse(words, cover=True, infeasible="return").value

    def _problems(self, words: list[str], lattices: TagLattices, n: int) -> Iterator[JointProblem]:
        yield self._problem(words, lattices, n, self.pruning)
        for factor in LOOSER if not lattices.exact[n] else ():
            if factor == 0 and len(words) * float(lattices.labels) ** (self.tagger.order + 1) > BEARABLE:
                return
            pruning = factor * self.pruning
            looser = self.tagger.lattices([words], pruning=pruning)
            yield self._problem(words, looser, 0, pruning)

    def _problem(self, words: list[str], lattices: TagLattices, n: int, pruning: float) -> JointProblem:
        allowed = np.zeros((len(words), len(self.grammar.tags)), bool)
        possible = lattices.max_marginals(n) > -np.inf
        allowed[:, self._tags] = possible[:, self._labels]
        label = np.zeros(len(self.grammar.tags), np.int64)
        label[self._tags] = self._labels
        return JointProblem(self.grammar, words, lattices, n, allowed, label, self.weight, pruning)


@overload
def parse_jointly(
    grammar: Grammar,
    tagger: SequenceModel,
    sentences: Iterable[Sequence[str]],
    *,
    weight: float = WEIGHT,
    pruning: float = PRUNING,
    cover: bool = False,
    infeasible: Literal["raise"] = "raise",
    threads: int = 1,
    **limits: Unpack[Limits],
) -> list[JointParse[Tree]]: ...
@overload
def parse_jointly(
    grammar: Grammar,
    tagger: SequenceModel,
    sentences: Iterable[Sequence[str]],
    *,
    weight: float = WEIGHT,
    pruning: float = PRUNING,
    cover: bool = False,
    infeasible: Literal["return"],
    threads: int = 1,
    **limits: Unpack[Limits],
) -> list[JointParse[Tree | None]]: ...
def parse_jointly(
    grammar: Grammar,
    tagger: SequenceModel,
    sentences: Iterable[Sequence[str]],
    *,
    weight: float = WEIGHT,
    pruning: float = PRUNING,
    cover: bool = False,
    infeasible: OnInfeasible = "raise",
    threads: int = 1,
    **limits: Unpack[Limits],
) -> Sequence[JointParse[Tree] | JointParse[Tree | None]]:
    """Parse and tag sentences with a grammar and a tagger that agree; see ``JointParser``."""
    parser = JointParser(grammar, tagger, weight=weight, pruning=pruning)
    return parser._parse_batch(sentences, cover, infeasible, threads, limits)


def parse_fixed(
    grammar: Grammar, tagger: SequenceModel, sentences: Iterable[Sequence[str]], *, threads: int = 1
) -> list[Solution[Tree]]:
    """Parse sentences with the tags that the tagger likes best: what joint parsing is compared with.

    Where no tree has these tags, it is the grammar's best with tags of its own, and the status FEASIBLE.
    """
    given = [list(words) for words in sentences]
    number = {tag: n for n, tag in enumerate(grammar.tags)}
    answers = []
    for words, tagging in zip(given, tagger.tag_batch(given, threads=threads), strict=True):
        allowed = np.zeros((len(words), len(number)), bool)
        for t, tag in enumerate(tagging.labels):
            if tag in number:
                allowed[t, number[tag]] = True
        answers.append(_parse_allowed(grammar, words, allowed))
    return answers


def _parse_allowed(grammar: Grammar, words: list[str], allowed: NDArray[np.bool_]) -> Solution[Tree]:
    try:
        best = grammar.part(words, allowed=allowed).maximize({})
    except Forbidden:
        free = grammar.parse(words, cover=True)
        return Solution(free.value, free.score, np.inf, Status.FEASIBLE)
    return Solution(best.value, best.score, best.score, Status.OPTIMAL)


__all__ = ["JointParse", "JointParser", "parse_fixed", "parse_jointly"]


def _list_some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
