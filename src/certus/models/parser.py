"""Parsers: trained on a treebank, they find the trees of sentences."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.annotation.trees import Tree, prepared
from certus.errors import InvalidInput, ModelError
from certus.evaluation.evalb import TreeReport, compare
from certus.formats import brackets
from certus.storage import model_file
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.constituency.lexicon import Lexicon
from certus.syntax.constituency.part import TreePart
from certus.syntax.constituency.pcfg import Options

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[Tree]"


@dataclass(frozen=True)
class Stage:
    """What training is about to do.

    Attributes:
        name: of the step.
        seconds: since the beginning.
    """

    name: str
    seconds: float


class Parser:
    """Finds the constituents of sentences, under a probabilistic grammar estimated from a treebank.

    Args:
        **given: how the grammar is estimated: ``vertical``, ``horizontal``, ``direction``, ``splits``,
            ``min_hidden``, ``rare``, ...; certus.syntax.Options lists them with their defaults.

    Attributes:
        options: with the defaults of those that were not given.
        description: what the model file says about the model: training data, F1 on dev, ...

    Example:
        >>> parser = Parser().fit("train.mrg", dev="dev.mrg")  # doctest: +SKIP
        >>> print(parser.parse(["The", "dog", "barks", "."]).value.pretty())  # doctest: +SKIP
    """

    def __init__(self, **given: Any) -> None:
        names = {field.name for field in dataclasses.fields(Options)}
        for name in given:
            if name not in names:
                raise InvalidInput(f"a parser has no option {name!r}; it has {', '.join(sorted(names))}")
        self.options = Options(**given)
        self.description: dict[str, Any] = {}
        self._grammar: Grammar | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        train: Source,
        dev: Source | None = None,
        *,
        progress: Callable[[Stage], None] | None = None,
        threads: int = 1,
        encoding: str = "utf-8",
        about: Mapping[str, Any] | None = None,
    ) -> Parser:
        """Learn from trees; returns the parser itself.

        Args:
            train: a file of bracketed trees, or trees, as they stand in the treebank: function tags are used
                where they help and then taken off, as are traces.
            dev: others to measure F1 on.

        Other args:
            progress: is called before each step.
            threads: for measuring on dev.
            encoding: of the files.
            about: what to record in the model: ``licence``, ``attribution``, ...
        """
        began = time.perf_counter()

        def tell(name: str) -> None:
            if progress is not None:
                progress(Stage(name, time.perf_counter() - began))

        tell("reading")
        trees = [tree for tree in (prepared(t, functions=True) for t in _trees(train, encoding)) if tree]
        if not trees:
            raise InvalidInput("there is nothing to learn from: the training data hold no tree")
        held_out = None if dev is None else list(_trees(dev, encoding))
        tell(f"estimating a grammar from {len(trees):,} trees")
        grammar = Grammar.fit(trees, self.options)
        description = _described(self.options, grammar, trees, train)
        self._use(grammar, {**description, **(about or {})})
        if held_out is not None:
            tell(f"parsing {len(held_out):,} trees of dev")
            report = self.evaluate(held_out, threads=threads)
            self.description["accuracy"] = {"dev": report.total.f1, "dev_tags": report.total.tags.accuracy}
            self.description["dev"] = {"trees": len(held_out)}
        return self

    # ------------------------------------------------------------------------------------------ answering

    @property
    def grammar(self) -> Grammar:
        """What sentences are parsed with."""
        if self._grammar is None:
            raise InvalidInput("this parser is not trained yet: call fit, or load one with certus.load")
        return self._grammar

    def parse(self, words: Sequence[str], k: int = 1) -> Any:
        """Return the best tree of a sentence as a Solution; with k > 1 the k best, as a KBest.

        A sentence that the grammar does not derive has the status INFEASIBLE; its value is then a cover, as
        few constituents as possible side by side.

        Args:
            words: of the sentence, as the treebank writes them; ``certus.syntax.penn_words`` does that.
            k: how many trees to return.
        """
        return self.parse_batch([words], k)[0]

    def parse_batch(self, sentences: Iterable[Sequence[str]], k: int = 1, *, threads: int = 1) -> list[Any]:
        """Parse many sentences, as ``parse`` would one by one.

        Args:
            sentences: their words.
            k: as for ``parse``.
            threads: how many to use; the answers do not depend on it.
        """
        return self.grammar.parse_batch(sentences, k, robust=True, infeasible="return", threads=threads)

    def part(self, words: Sequence[str]) -> TreePart:
        """Return a sentence as a part of a decomposition; see certus.relax."""
        return self.grammar.part(words)

    def evaluate(self, trees: Iterable[Tree], *, threads: int = 1) -> TreeReport:
        """Parse the words of trees and compare what comes out with them."""
        gold = [tree for tree in map(prepared, trees) if tree is not None]
        answers = self.parse_batch([tree.words for tree in gold], threads=threads)
        return compare(gold, (answer.value for answer in answers))

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        model_file.write(path, "parser", _arrays(self.grammar), self.description)

    @classmethod
    def load(cls, path: Any) -> Parser:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Parser:
        """Make a parser of an opened model file."""
        if file.kind != "parser":
            raise ModelError(f"{file.path} holds a {file.kind}, not a parser")
        try:
            parser = cls(**file.description["options"])
            parser._use(_grammar(file.arrays, file.description, parser.options), file.description)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ModelError(f"{file.path} is damaged or of another version: {reason}") from error
        return parser

    def _use(self, grammar: Grammar, description: dict[str, Any]) -> None:
        self._grammar, self.description = grammar, description

    def __repr__(self) -> str:
        return f"Parser({'not trained' if self._grammar is None else self._grammar})"


def _trees(source: Source, encoding: str) -> Iterator[Tree]:
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return brackets.read(source, encoding=encoding)  # type: ignore[arg-type]
    return iter(source)


def _described(options: Options, grammar: Grammar, trees: Sequence[Tree], train: Source) -> dict[str, Any]:
    from certus import __version__

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


def _packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts without line ends as bytes, a line each."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(array: NDArray[np.uint8]) -> list[str]:
    return array.tobytes().decode().split("\n")


def _arrays(grammar: Grammar) -> dict[str, NDArray[Any]]:
    binary, binary_scores, unary, unary_scores = grammar.rules
    lexicon = grammar.lexicon
    assert isinstance(lexicon, Lexicon)
    return {
        "binary": binary,
        "binary_scores": binary_scores,
        "unary": unary,
        "unary_scores": unary_scores,
        "tag": grammar.tag,
        "symbols": _packed(grammar.symbols),
        "words": _packed(lexicon.words),
        **lexicon.arrays(),
    }


def _grammar(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], options: Options) -> Grammar:
    tag = arrays["tag"]
    names = _unpacked(arrays["symbols"])
    symbols = len(names)
    if tag.shape != (symbols,) or (symbols and not -1 <= tag.min() <= tag.max() < len(about["tags"])):
        raise ValueError("its tags do not fit its symbols")
    for name in ("binary", "unary"):
        rules = arrays[name]
        if len(rules) != len(arrays[f"{name}_scores"]) or (
            rules.size and not 0 <= rules.min() <= rules.max() < symbols
        ):
            raise ValueError(f"its {name} rules do not fit its symbols")
    lexicon = Lexicon.from_arrays(_unpacked(arrays["words"]), arrays, tag, **options.lexical)
    return Grammar(
        names,
        arrays["binary"],
        arrays["binary_scores"],
        arrays["unary"],
        arrays["unary_scores"],
        tag=tag,
        tags=about["tags"],
        lexicon=lexicon,
    )
