"""Parsers: trained on a treebank, they find the trees of sentences."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import IO, Any, ClassVar, Literal, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from certus.annotation.trees import Tree, prepare_tree
from certus.errors import InvalidInput, NotFitted
from certus.evaluation.evalb import TreeReport, compare
from certus.formats import brackets
from certus.learn.progress import Progress
from certus.solution import KBest, OnInfeasible, Solution
from certus.storage import model_file
from certus.storage.declaration import Declaration, names, offsets, reals, whole
from certus.storage.files import Source as FileSource
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.constituency.lexicon import Lexicon
from certus.syntax.constituency.part import TreePart
from certus.syntax.constituency.pcfg import GrammarOptions
from certus.version import __version__

KIND = "parser"  # of model files
# What a model file holds of a grammar and its lexicon.
DECLARATION = Declaration({
    "symbols": names("symbols"),
    "tag": whole("symbols", types="int32", least=-1, below="tags"),
    "binary": whole("binary", "3", types="int32", below="symbols"),
    "binary_scores": reals("binary", types="float64"),
    "unary": whole("unary", "2", types="int32", below="symbols"),
    "unary_scores": reals("unary", types="float64"),
    "words": names("words"),
    "word_first": offsets("words", into="entries", each=1),
    "word_symbol": whole("entries", types="int32", below="symbols"),
    "word_count": whole("entries", types="int32", least=1),
})  # fmt: skip

TreeSource: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[Tree]"


class ConstituencyParser:
    """Finds the constituents of sentences, under a probabilistic grammar estimated from a treebank.

    Args:
        **given: how the grammar is estimated: ``vertical``, ``horizontal``, ``direction``, ``splits``,
            ``min_hidden``, ``rare``, ...; certus.syntax.GrammarOptions lists them with their defaults.

    Attributes:
        options: with the defaults of those that were not given.
        description: what the model file says about the model: training data, F1 on dev, ...

    Example:
        >>> parser = ConstituencyParser().fit("train.mrg", dev="dev.mrg")  # doctest: +SKIP
        >>> print(parser.parse(["The", "dog", "barks", "."]).value.pretty())  # doctest: +SKIP
    """

    papers: ClassVar[tuple[str, ...]] = ("klein2003", "huang2005")

    def __init__(self, **given: Any) -> None:
        names = {field.name for field in dataclasses.fields(GrammarOptions)}
        for name in given:
            if name not in names:
                raise InvalidInput(f"a parser has no option {name!r}; it has {', '.join(sorted(names))}")
        self.options = GrammarOptions(**given)
        self.description: dict[str, Any] = {}
        self._grammar: Grammar | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        train: TreeSource,
        dev: TreeSource | None = None,
        *,
        progress: Callable[[Progress], object] = lambda _: None,
        threads: int = 1,
        encoding: str = "utf-8",
        metadata: Mapping[str, Any] | None = None,
    ) -> ConstituencyParser:
        """Learn from trees; returns the parser itself.

        Args:
            train: a file of bracketed trees, or trees, as they stand in the treebank: function tags are used
                where they help and then taken off, as are traces.
            dev: others to measure F1 on.

        Other args:
            progress: is called with a Progress when each stage begins.
            threads: for measuring on dev.
            encoding: of the files.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        began = time.perf_counter()

        def begin(stage: str) -> None:
            progress(Progress.begin(stage, time.perf_counter() - began))

        begin("reading")
        trees = [
            tree for tree in (prepare_tree(t, functions=True) for t in _read_trees(train, encoding)) if tree
        ]
        if not trees:
            raise InvalidInput("there is nothing to learn from: the training data hold no tree")
        held_out = None if dev is None else list(_read_trees(dev, encoding))
        begin(f"estimating a grammar from {len(trees):,} trees")
        grammar = Grammar.fit(trees, self.options)
        description = _describe(self.options, grammar, trees, train)
        self._use(grammar, {**description, **(metadata or {})})
        if held_out is not None:
            begin(f"parsing {len(held_out):,} trees of dev")
            report = self.evaluate(held_out, threads=threads)
            self.description["accuracy"] = {"dev": report.total.f1, "dev_tags": report.total.tags.accuracy}
            self.description["dev"] = {"trees": len(held_out)}
        return self

    # ------------------------------------------------------------------------------------------ answering

    @property
    def grammar(self) -> Grammar:
        """What sentences are parsed with."""
        if self._grammar is None:
            raise NotFitted("this parser is not trained yet: call fit, or load one with certus.load")
        return self._grammar

    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["raise"] = "raise",
    ) -> Solution[Tree]: ...
    @overload
    def parse(
        self,
        words: Sequence[str],
        *,
        k: Literal[1] = 1,
        cover: bool = False,
        infeasible: Literal["return"],
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
    ) -> Solution[Tree] | Solution[Tree | None] | KBest[Solution[Tree]]:
        """Return the best tree of a sentence as a Solution; with k > 1 the k best, as a KBest.

        Args:
            words: of the sentence, as the treebank writes them; ``certus.syntax.escape_words`` does that.
            k: how many trees to return.

        Other args:
            cover: whether a sentence that the grammar does not derive gets a cover as its value: as few
                constituents as possible side by side. The status is INFEASIBLE, and nothing is raised, so
                that every sentence has a tree. For k = 1.
            infeasible: whether such a sentence raises Infeasible, or returns a Solution with that status and
                the value None (for k > 1, an empty KBest).
        """
        return self.grammar.parse(words, k=k, cover=cover, infeasible=infeasible)

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
        return self.grammar.parse_batch(sentences, k=k, cover=cover, infeasible=infeasible, threads=threads)

    def part(self, words: Sequence[str]) -> TreePart:
        """Return a sentence as a part of a decomposition; see certus.relax."""
        return self.grammar.part(words)

    def evaluate(self, trees: Iterable[Tree], *, threads: int = 1) -> TreeReport:
        """Parse the words of trees and compare what comes out with them."""
        gold = [tree for tree in map(prepare_tree, trees) if tree is not None]
        answers = self.parse_batch([tree.words for tree in gold], cover=True, threads=threads)
        return compare(gold, (answer.value for answer in answers))

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        model_file.write(path, KIND, _list_arrays(self.grammar), self.description)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConstituencyParser:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> ConstituencyParser:
        """Make a parser of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            parser = cls(**about["options"])
            parser._use(_restore_grammar(file.arrays, about, parser.options), about)
        return parser

    def _use(self, grammar: Grammar, description: dict[str, Any]) -> None:
        self._grammar, self.description = grammar, description

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its options."""
        if self._grammar is None:
            return _make_untrained, (dataclasses.asdict(self.options),)
        data = model_file.pack(KIND, _list_arrays(self.grammar), self.description)
        return model_file.pickle_model(type(self), data)

    def __repr__(self) -> str:
        return f"ConstituencyParser({'not trained' if self._grammar is None else self._grammar})"


def _make_untrained(options: dict[str, Any]) -> ConstituencyParser:
    return ConstituencyParser(**options)


def _read_trees(source: TreeSource, encoding: str) -> Iterator[Tree]:
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return brackets.read(cast(FileSource, source), encoding=encoding)
    return iter(source)


def _describe(
    options: GrammarOptions, grammar: Grammar, trees: Sequence[Tree], train: TreeSource
) -> dict[str, Any]:
    lexicon = grammar.lexicon
    assert isinstance(lexicon, Lexicon)
    name = os.path.basename(os.fspath(train)) if isinstance(train, str | os.PathLike) else None
    return {
        "options": {**dataclasses.asdict(options), "splits": list(options.splits)},
        "labels": grammar.labels,
        "tags": grammar.tags,
        "training": {"name": name, "trees": len(trees), "tokens": lexicon.size},
        "date": date.today().isoformat(),
        "certus": __version__,
    }


def _pack_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts without line ends as bytes, one per line."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpack_texts(array: NDArray[np.uint8]) -> list[str]:
    return array.tobytes().decode().split("\n")


def _list_arrays(grammar: Grammar) -> dict[str, NDArray[Any]]:
    binary, binary_scores, unary, unary_scores = grammar.rules
    lexicon = grammar.lexicon
    assert isinstance(lexicon, Lexicon)
    return {
        "binary": binary,
        "binary_scores": binary_scores,
        "unary": unary,
        "unary_scores": unary_scores,
        "tag": grammar.tag,
        "symbols": _pack_texts(grammar.symbols),
        "words": _pack_texts(lexicon.words),
        **lexicon.to_arrays(),
    }


def _restore_grammar(
    arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], options: GrammarOptions
) -> Grammar:
    DECLARATION.check(arrays, tags=len(about["tags"]))
    tag = arrays["tag"]
    lexicon = Lexicon.from_arrays(_unpack_texts(arrays["words"]), arrays, tag, **options.lexical)
    return Grammar(
        _unpack_texts(arrays["symbols"]),
        arrays["binary"],
        arrays["binary_scores"],
        arrays["unary"],
        arrays["unary_scores"],
        tag=tag,
        tags=about["tags"],
        lexicon=lexicon,
    )
