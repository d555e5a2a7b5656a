"""Binarised grammars with a lexicon, and the best trees of sentences under them.

A derivation from the start symbol uses binary rules A -> B C, unary rules A -> B, and preterminals over
words; it scores the sum of what it uses. CKY finds the best one, exactly.
Unary rules are closed beforehand: between two symbols the best chain of unary rules counts and no other, so
that cycles are no trouble and trees are finitely many. Where the scores of a cycle add up to more than zero
there is no best chain; such a grammar is refused. Log-probabilities never do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.trees import TOP, Tree
from certus.checks import check_count, check_infeasible
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.ragged import offsets_of
from certus.solution import Counters, KBest, OnInfeasible, Solution, Status
from certus.syntax.constituency import pcfg
from certus.syntax.constituency.annotate import HIDDEN, strip_marks
from certus.syntax.constituency.forest import ParseForest, build_tree
from certus.syntax.constituency.lexicon import Leaves, Lexicon, ListedLexicon
from certus.syntax.constituency.memory import bounded_memory
from certus.syntax.constituency.part import TreePart
from certus.verification import Problem

# Scores beyond this cannot be added up in single precision.
LARGEST = 1e30
# What another piece of a cover costs: more than any tree is worth, so that pieces are few.
_PIECE = -1000.0


class LeafScorer(Protocol):
    """Scores the leaves of words: a Lexicon, or whatever else does that."""

    def leaves(self, words: Sequence[str]) -> list[Leaves]:
        """Return for each word the preterminals that derive it, ascending, and their scores."""


class Grammar:
    """A binarised grammar.

    Args:
        symbols: names.
        binary: (n, 3) the numbers of the parent, the left and the right child of each rule.
        binary_scores: (n,) their scores.
        unary: (m, 2) the numbers of parents and children.
        unary_scores: (m,) their scores.
        tag: for each symbol the number of its tag in ``tags``, if it is a preterminal; else -1.
        tags: part-of-speech tags, without marks.
        lexicon: tells the leaves of words.

    Other args:
        start: the symbol of whole sentences.
        shown: for each symbol the label that it has in trees, or None where trees leave it out. By default
            names are read as ``annotate`` and ``binarize`` write them: marks are taken off, and what begins
            with an at sign is left out.

    Attributes:
        symbols: names of all symbols.
        tags: part-of-speech tags, in the order of the columns of "tags" in ``part``.
        labels: all that occurs in trees.
        tag: for each symbol the number of its tag, or -1.
        rules: binary rules and their scores, unary rules and their scores.
    """

    papers: ClassVar[tuple[str, ...]] = ("klein2003", "huang2005")

    def __init__(
        self,
        symbols: Sequence[str],
        binary: NDArray[np.int32],
        binary_scores: NDArray[np.float64],
        unary: NDArray[np.int32],
        unary_scores: NDArray[np.float64],
        *,
        tag: NDArray[np.int32],
        tags: Sequence[str],
        lexicon: LeafScorer,
        start: str = TOP,
        shown: Sequence[str | None] | None = None,
    ) -> None:
        self.symbols = list(symbols)
        self.tags = list(tags)
        self.start = start
        self.lexicon = lexicon
        if shown is None:
            shown = [None if name.startswith(HIDDEN) else strip_marks(name) for name in symbols]
        names: dict[str, int] = {}
        self._label = np.array(
            [-1 if label is None else names.setdefault(label, len(names)) for label in shown], np.int32
        )
        self.labels = list(names)
        self.tag = tag
        self.rules = (binary, binary_scores, unary, unary_scores)
        self._check()
        self._native = self._compile(*self.rules)
        self._cover: _native.Syntax | None = None

    def _check(self) -> None:
        binary, binary_scores, unary, unary_scores = self.rules
        if self.start not in self.symbols:
            raise InvalidInput(f"no rule has the start symbol {self.start!r}")
        for what, array in (("tag", self.tag), ("shown", self._label)):
            if array.shape != (len(self.symbols),):
                raise InvalidInput(f"{what} has {len(array)} entries; there are {len(self.symbols)} symbols")
        if not -1 <= self.tag.min() <= self.tag.max() < len(self.tags):
            raise InvalidInput("tag has a number that is none of a tag")
        for number in [self.symbols.index(self.start), *np.flatnonzero(self.tag >= 0).tolist()]:
            if self._label[number] < 0:
                raise InvalidInput(
                    f"the symbol {self.symbols[number]!r} is left out of trees; a preterminal and the start "
                    "symbol have to be in them"
                )
        for what, rules, scores in (("binary", binary, binary_scores), ("unary", unary, unary_scores)):
            if len(rules) != len(scores):
                raise InvalidInput(f"there are {len(rules)} {what} rules and {len(scores)} scores of them")
            if rules.size and not 0 <= rules.min() <= rules.max() < len(self.symbols):
                raise InvalidInput(f"a {what} rule has a number that is none of a symbol")
            bad = np.flatnonzero(~(np.abs(scores) <= LARGEST))
            if len(bad):
                rule = " ".join(self.symbols[s] for s in rules[bad[0]])
                raise InvalidInput(
                    f"the {what} rule {rule} has the score {scores[bad[0]]}; leave out what is forbidden"
                )

    def _compile(self, *rules: NDArray[Any]) -> _native.Syntax:
        try:
            return _native.Syntax(self.symbols.index(self.start), self.tag, self._label, *rules)
        except ValueError as error:
            raise InvalidInput(
                f"unary rules form a cycle through {self.symbols[int(str(error))]!r} whose scores add up to "
                "more than zero, so that no tree is best; log-probabilities never do"
            ) from None

    # ------------------------------------------------------------------------------------------ making

    @classmethod
    def fit(cls, trees: Iterable[Tree], options: pcfg.GrammarOptions | None = None, **given: Any) -> Grammar:
        """Estimate a grammar from trees: the relative frequencies of its rules, and a lexicon.

        Args:
            trees: with function tags, if temporal noun phrases are to be told from others, but without
                traces: ``certus.syntax.prepare_tree(tree, functions=True)``.
            options: how; certus.syntax.GrammarOptions says what there is.
            **given: the same, by name.
        """
        chosen = _replace_options(options, given)
        counts = pcfg.count(pcfg.transform_trees(trees, chosen))
        if not counts.words:
            raise InvalidInput("there is nothing to learn from: no tree was given")
        return cls.from_counts(counts, chosen)

    @classmethod
    def from_counts(cls, counts: pcfg.Counts, options: pcfg.GrammarOptions | None = None) -> Grammar:
        """Return the grammar of relative frequencies."""
        symbols = sorted(counts.symbols)
        number = {symbol: n for n, symbol in enumerate(symbols)}
        tags, tag = _number_tags(symbols, {name for _, name in counts.words})
        total = np.array([counts.symbols[symbol] for symbol in symbols], np.float64)
        rules: list[NDArray[Any]] = []
        for found, width in ((counts.binary, 3), (counts.unary, 2)):
            numbers = np.array([[number[s] for s in rule] for rule in found], np.int32).reshape(-1, width)
            rules += [numbers, np.log(np.array(list(found.values()), np.float64) / total[numbers[:, 0]])]
        seen = {
            word: {number[name]: n for name, n in found.items()} for word, found in counts.by_word().items()
        }
        lexicon = Lexicon(seen, tag, **(options or pcfg.GrammarOptions()).lexical)
        return cls(symbols, *rules, tag=tag, tags=tags, lexicon=lexicon)

    @classmethod
    def of_rules(
        cls,
        binary: Iterable[tuple[str, str, str, float]],
        unary: Iterable[tuple[str, str, float]],
        words: Mapping[str, Mapping[str, float]],
        *,
        start: str = TOP,
        hidden: Collection[str] = (),
    ) -> Grammar:
        """Return a grammar with rules as they are given. Trees have the symbols as they are named.

        Args:
            binary: a parent, a left and a right child, and a score.
            unary: a parent, a child and a score.
            words: for each preterminal the words that it derives, with their scores.
            start: the symbol of whole sentences.

        Other args:
            hidden: symbols that trees leave out, their children in their place: those that a binarisation
                of one's own has made.
        """
        two, one = list(binary), list(unary)
        symbols = sorted({start, *words, *(s for r in two for s in r[:3]), *(s for r in one for s in r[:2])})
        number = {symbol: n for n, symbol in enumerate(symbols)}
        tags = sorted(words)
        tag = np.full(len(symbols), -1, np.int32)
        tag[[number[name] for name in tags]] = np.arange(len(tags))
        listed = {number[name]: dict(scores) for name, scores in words.items()}
        return cls(
            symbols,
            np.array([[number[s] for s in r[:3]] for r in two], np.int32).reshape(-1, 3),
            np.array([r[3] for r in two], np.float64),
            np.array([[number[s] for s in r[:2]] for r in one], np.int32).reshape(-1, 2),
            np.array([r[2] for r in one], np.float64),
            tag=tag,
            tags=tags,
            lexicon=ListedLexicon(listed),
            start=start,
            shown=[None if symbol in hidden else symbol for symbol in symbols],
        )

    # ------------------------------------------------------------------------------------------ answering

    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["raise"] = "raise",
        certificate: bool = False,
    ) -> Solution[Tree]: ...
    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["return"],
        certificate: bool = False,
    ) -> Solution[Tree | None]: ...
    @overload
    def parse(
        self, words: Sequence[str], *, k: int, cover: bool = False, infeasible: OnInfeasible = "raise"
    ) -> KBest[Solution[Tree]]: ...
    def parse(
        self,
        words: Sequence[str],
        *,
        k: int = 1,
        cover: bool = False,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Solution[Tree] | Solution[Tree | None] | KBest[Solution[Tree]]:
        """Return the best tree of a sentence, a Solution; with k > 1 the k best, a KBest.

        Args:
            words: of the sentence.
            k: how many of the best trees to return; fewer when fewer exist.

        Other args:
            cover: whether the value of a sentence without a tree shall be a cover: as few constituents as
                possible side by side, below the start symbol. The status is INFEASIBLE, and nothing is
                raised. For k = 1.
            infeasible: whether a sentence without a tree raises Infeasible, or returns a Solution with that
                status and the value None (for k > 1, an empty KBest).
            certificate: whether the answer comes with the numbers that prove it, for ``certus.verify``: those
                of the forest of all trees. For k = 1.
        """
        found = self._parse_batch([words], k=k, cover=cover, infeasible=infeasible, threads=1)[0]
        if certificate:
            if not isinstance(found, Solution):
                raise InvalidInput(f"a certificate is of the best tree: k must be 1, not {k}")
            forest = self.forest(words)
            best = forest.graph.decode(forest.scores, infeasible="return", certificate=True)
            found.certificate = best.certificate
        return found

    def state_problem(self, words: Sequence[str]) -> Problem:
        """Return the forest of a sentence as plain data, the problem that certificates are about."""
        forest = self.forest(words)
        return forest.graph.state_problem(forest.scores)

    @overload
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["raise"] = "raise",
        threads: int = 1,
    ) -> list[Solution[Tree]]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["return"],
        threads: int = 1,
    ) -> list[Solution[Tree | None]]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        k: int,
        cover: bool = False,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[KBest[Solution[Tree]]]: ...
    def parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        k: int = 1,
        cover: bool = False,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> Sequence[Solution[Tree] | Solution[Tree | None] | KBest[Solution[Tree]]]:
        """Parse many sentences, as ``parse`` would one by one.

        Args:
            sentences: their words.
            k: as for ``parse``.

        Other args:
            cover: as for ``parse``.
            infeasible: as for ``parse``; the error names the sentence.
            threads: how many to use; the answers do not depend on it.
        """
        return self._parse_batch(sentences, k=k, cover=cover, infeasible=infeasible, threads=threads)

    def _parse_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        k: int,
        cover: bool,
        infeasible: OnInfeasible,
        threads: int,
    ) -> list[Solution[Tree] | Solution[Tree | None] | KBest[Solution[Tree]]]:
        check_count("k", k)
        check_count("threads", threads)
        check_infeasible(infeasible)
        several = [_check_words(words) for words in sentences]
        if not several:
            return []
        leaves = self._gather_leaves(several)
        with bounded_memory(several, k):
            found = self._native.parse(*leaves, k, threads)
        return [
            self._answer(best, words, k, cover, infeasible, n if len(several) > 1 else None)
            for n, (best, words) in enumerate(zip(found, several, strict=True))
        ]

    def _answer(
        self,
        found: _native.BestTrees,
        words: Sequence[str],
        k: int,
        cover: bool,
        infeasible: OnInfeasible,
        sentence: int | None,
    ) -> Solution[Tree] | Solution[Tree | None] | KBest[Solution[Tree]]:
        counters = Counters(edges=found.edges)
        solutions = [
            Solution(build_tree(tree, self.labels, words), tree.score, tree.score, Status.OPTIMAL, counters)
            for tree in found.trees
        ]
        pieces = self.cover(words) if cover and k == 1 and not solutions else None
        if not solutions and pieces is None and infeasible == "raise":
            raise self._explain_infeasible(words, sentence)
        if k > 1:
            # The chart adds up in another order than scores are: in ties, rounding may rank them differently.
            solutions.sort(key=lambda solution: -solution.score)
            return KBest(solutions, exhausted=len(solutions) < k)
        if solutions:
            return solutions[0]
        return Solution(pieces, -np.inf, -np.inf, Status.INFEASIBLE, counters)

    def _explain_infeasible(self, words: Sequence[str], sentence: int | None) -> Infeasible:
        for position, (word, leaves) in enumerate(zip(words, self.lexicon.leaves(words), strict=True)):
            if not len(leaves.symbols):
                problem = f"the word {word!r} at position {position} has no tag"
                advice = "Give the lexicon an entry for it"
                break
        else:
            position = None
            problem = f"no derivation from {self.start!r} covers " + _shorten(words)
            advice = "cover=True gives the fewest constituents that cover it"
        message = describe_infeasible(f"the sentence has no tree: {problem}", advice, sentence)
        return Infeasible(message, position=position, sentence=sentence)

    def part(self, words: Sequence[str], *, allowed: NDArray[np.bool_] | None = None) -> TreePart:
        """Return the sentence as a part of a decomposition, with the space "tags": (words, tags).

        Args:
            words: of the sentence.
            allowed: (words, tags) the tags that words may have at all; None for those of the lexicon.
        """
        words = _check_words(words)
        parses = _native.Parses(self._native, *self._allowed_leaves(words, allowed), len(self.tags))
        return TreePart(parses, words, tags=len(self.tags), labels=self.labels)

    def forest(
        self,
        words: Sequence[str],
        *,
        allowed: NDArray[np.bool_] | None = None,
        at_least: float = -np.inf,
    ) -> ParseForest:
        """Return all trees of a sentence that score enough, packed into a hypergraph.

        Where there is none, the hypergraph has no edges, and its goal no derivation.

        Args:
            words: of the sentence.

        Other args:
            allowed: as for ``part``.
            at_least: the score that trees have to reach; some that score less may be there as well.
        """
        words = _check_words(words)
        leaves = self._allowed_leaves(words, allowed)
        with bounded_memory([words]):
            packed = self._native.forest(*leaves, at_least)
        return ParseForest.of_native(packed, self, words)

    def write_tree(self, packed: _native.ParseForest, edges: NDArray[np.int64], words: Sequence[str]) -> Tree:
        """Return the tree of a derivation of a forest; ``ParseForest.tree`` calls this."""
        return build_tree(self._native.write_tree(packed, edges), self.labels, words)

    def cover(self, words: Sequence[str]) -> Tree | None:
        """Return a tree of as few constituents as possible side by side; None where a word has no tag."""
        if self._cover is None:
            self._cover = self._compile_cover()
        leaves = self._gather_leaves([_check_words(words)])
        with bounded_memory([words]):
            (found,) = self._cover.parse(*leaves, 1, 1)
        return build_tree(found.trees[0], self.labels, words) if found.trees else None

    def _allowed_leaves(
        self, words: Sequence[str], allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return where the leaves of words begin, their symbols and scores, for the tags that are allowed."""
        _, first, symbol, score = self._gather_leaves([words])
        if allowed is None:
            return first, symbol, score
        if allowed.shape != (len(words), len(self.tags)):
            raise InvalidInput(f"allowed has the shape {allowed.shape}, not {(len(words), len(self.tags))}")
        position = np.repeat(np.arange(len(words)), np.diff(first))
        kept = allowed[position, self.tag[symbol]]
        return offsets_of(np.bincount(position[kept], minlength=len(words))), symbol[kept], score[kept]

    def _gather_leaves(
        self, sentences: Sequence[Sequence[str]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return where sentences begin among words, words among leaves; the leaves' symbols and scores."""
        leaves = [leaf for words in sentences for leaf in self.lexicon.leaves(words)]
        symbols = np.concatenate([leaf.symbols for leaf in leaves])
        scores = np.concatenate([leaf.scores for leaf in leaves])
        self._check_leaves(symbols, scores)
        return (
            offsets_of([len(words) for words in sentences]),
            offsets_of([len(leaf.symbols) for leaf in leaves]),
            symbols,
            scores,
        )

    def _check_leaves(self, symbols: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        """Refuse what a lexicon must not say: leaves that are no preterminals, scores that do not add up."""
        if not len(symbols):
            return
        if not 0 <= symbols.min() <= symbols.max() < len(self.symbols) or self.tag[symbols].min() < 0:
            raise InvalidInput("the lexicon has a leaf that is no preterminal of the grammar")
        if not np.abs(scores).max() <= LARGEST:
            bad = int(np.flatnonzero(~(np.abs(scores) <= LARGEST))[0])
            name = self.symbols[symbols[bad]]
            raise InvalidInput(
                f"the lexicon scores a word as {name!r} by {scores[bad]}; leave out what is forbidden"
            )

    def _compile_cover(self) -> _native.Syntax:
        """Return a grammar that derives anything as a list of pieces."""
        binary, binary_scores, unary, unary_scores = self.rules
        pieces = np.flatnonzero(
            (self._label >= 0) & (np.arange(len(self.symbols)) != self.symbols.index(self.start))
        )
        list_ = len(self.symbols)
        listed = np.full(len(pieces), list_)
        start = np.full(1, self.symbols.index(self.start))
        return _native.Syntax(
            int(start[0]),
            np.append(self.tag, -1).astype(np.int32),
            np.append(self._label, -1).astype(np.int32),
            np.concatenate([binary, np.stack([listed, pieces, listed], 1)]).astype(np.int32),
            np.append(binary_scores, np.full(len(pieces), _PIECE)),
            np.concatenate([unary, np.stack([listed, pieces], 1), [[start[0], list_]]]).astype(np.int32),
            np.append(unary_scores, [*np.full(len(pieces), _PIECE), 0.0]),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled and copied by what the grammar was made of."""
        shown = [None if label < 0 else self.labels[label] for label in self._label.tolist()]
        options = {"tag": self.tag, "tags": self.tags, "lexicon": self.lexicon, "start": self.start}
        return _restore, (self.symbols, self.rules, {**options, "shown": shown})

    def __repr__(self) -> str:
        binary, _, unary, _ = self.rules
        return (
            f"Grammar({len(self.symbols):,} symbols, {len(binary):,} binary and {len(unary):,} unary rules)"
        )


def _restore(symbols: Sequence[str], rules: Sequence[NDArray[Any]], options: Mapping[str, Any]) -> Grammar:
    return Grammar(symbols, *map(np.array, rules), **options)


def _replace_options(options: pcfg.GrammarOptions | None, given: Mapping[str, Any]) -> pcfg.GrammarOptions:
    names = {field.name for field in dataclasses.fields(pcfg.GrammarOptions)}
    for name in given:
        if name not in names:
            raise InvalidInput(f"there is no option {name!r}; there are {', '.join(sorted(names))}")
    return dataclasses.replace(options or pcfg.GrammarOptions(), **given)


def _check_words(words: Sequence[str]) -> Sequence[str]:
    if isinstance(words, str):
        raise InvalidInput(f"a sentence is a list of words, not a string: {words[:40]!r}.split()?")
    if not len(words):
        raise InvalidInput("a sentence needs at least one word")
    return words


def _shorten(words: Sequence[str]) -> str:
    return " ".join(words[:8]) + (" ..." if len(words) > 8 else "")


def _number_tags(symbols: Sequence[str], preterminals: Iterable[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the tags that preterminals refine, and for each symbol its tag or -1."""
    chosen = set(preterminals)
    tags = sorted({strip_marks(name) for name in chosen})
    number = {name: n for n, name in enumerate(tags)}
    return tags, np.array([number[strip_marks(s)] if s in chosen else -1 for s in symbols], np.int32)
