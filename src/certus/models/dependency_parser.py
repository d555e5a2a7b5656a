"""Dependency parsers: trained on a treebank, they find the heads and relations of words."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from io import IOBase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.annotation.columns import Words, select_columns
from certus.annotation.dependencies import Dependencies, Parse
from certus.annotation.sentence import Sentence
from certus.checks import check_count, check_infeasible, read_seconds
from certus.errors import Infeasible, InvalidInput, NotFitted, describe_infeasible
from certus.learn.arcs.learner import ArcModel, check_length, learn, parse, relearn_selector
from certus.learn.arcs.options import COARSE, ArcOptions
from certus.learn.arcs.templates import ArcTemplates
from certus.learn.arcs.treebank import Treebank
from certus.models.arc_description import describe, restore
from certus.models.fitting import read_sentences
from certus.models.jackknife import predict_tags
from certus.solution import KBest, OnInfeasible, Status
from certus.storage import model_file

if TYPE_CHECKING:
    from certus.learn.progress import Progress

KIND = "dependency-parser"  # of model files
CASCADE_OPTIONS = (
    "cascade",
    "filter",
    "filter_loss",
    "parsing_loss",
    "reach",
    "pruning",
    "candidates",
    "pruning_features",
    "pruning_epochs",
)
Source: TypeAlias = "str | os.PathLike[str] | IOBase | Iterable[Sentence]"


class DependencyParser:
    """Finds the head of each word of a sentence and its relation to it.

    Args:
        templates: of features (see docs/dependency-parsing.md); by default those that suit the data.
        **given: options, such as ``epochs``, ``projective``, ``single_root`` and ``columns``;
            docs/dependency-parsing.md lists them.

    Attributes:
        options: with the defaults of those that were not given.
        description: what the model file says about the model: training data, LAS on dev, ...

    Example:
        >>> parser = DependencyParser().fit("train.conllu", dev="dev.conllu")  # doctest: +SKIP
        >>> parser.parse({"form": ["Dogs", "bark"], "upos": ["NOUN", "VERB"]}).heads  # doctest: +SKIP
        [2, 0]
    """

    papers: ClassVar[tuple[str, ...]] = ("mcdonald2005", "koo2010")

    def __init__(self, *, templates: str | None = None, **given: Any) -> None:
        names = {field.name for field in fields(ArcOptions)}
        for name in given:
            if name not in names:
                raise InvalidInput(f"a parser has no option {name!r}; it has {', '.join(sorted(names))}")
        self.options = ArcOptions(**given)
        self._templates = None if templates is None else ArcTemplates(templates)
        self.description: dict[str, Any] = {}
        self._model: ArcModel | None = None
        self._checkpoint: str | os.PathLike[str] | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        train: Source,
        dev: Source | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        format: str | None = None,
        encoding: str = "utf-8",
        metadata: Mapping[str, Any] | None = None,
    ) -> DependencyParser:
        """Learn from trees; returns the parser itself.

        Args:
            train: a file in CoNLL-U (or CoNLL-X), or sentences read with ``certus.formats.read``.
            dev: others to measure LAS on after each epoch: the best epoch is kept, and training stops when
                it no longer rises.

        Other args:
            progress: is called after each epoch, and ends training where it returns True.
            checkpoint: a file to keep the state of training in after each epoch; if it is there already,
                training goes on from it. ``save`` removes it, once the model is safe.
            threads: for measuring on dev; learning itself is sequential, so that results do not depend on it.
            format: of the files; guessed by default.
            encoding: of the files.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        check_count("threads", threads)
        reading = {"format": format, "encoding": encoding}
        trees, held_out = self._read_trees(train, dev, reading, threads)
        if not len(trees):
            raise InvalidInput("there is nothing to learn from: the training data hold no tree")
        if held_out is not None and not len(held_out):
            raise InvalidInput("the dev data hold no tree")
        outcome = learn(
            self.options,
            trees,
            held_out,
            self._templates,
            checkpoint=checkpoint,
            progress=progress or (lambda _: None),
            threads=threads,
        )
        description = describe(self.options, outcome.model) | {"training": _count(train, trees)}
        if held_out is not None:
            description |= {"dev": _count(dev, held_out), "accuracy": {"dev": outcome.accuracy}}
        self._use(outcome.model, {**description, **(metadata or {})})
        self._checkpoint = checkpoint
        return self

    def change_cascade(self, train: Source, dev: Source | None = None, **given: Any) -> DependencyParser:
        """Return a parser with the same scores, and other passes that choose which arcs are scored.

        Args:
            train: what to learn them from.
            dev: what to choose their thresholds on.
            **given: options to change: ``cascade``, ``filter``, ``filter_loss``, ``parsing_loss``,
                ``reach``, ``pruning``, ``candidates``, ``pruning_features`` and ``pruning_epochs``.
        """
        unknown = next((name for name in given if name not in CASCADE_OPTIONS), None)
        if unknown is not None:
            raise InvalidInput(
                f"{unknown!r} is no option of cascades; these are {', '.join(CASCADE_OPTIONS)}"
            )
        held = "yes" if self.model.projective else "no"
        made = DependencyParser(**asdict(self.options) | {"projective": held} | given)
        if COARSE in (self.model.passes, made.options.list_passes(self.model.projective)):
            raise InvalidInput(
                "coarse scores are part of what its trees score: train a parser with another cascade instead"
            )
        trees, held_out = made._read_trees(train, dev, {"format": None, "encoding": "utf-8"}, 1)
        model = relearn_selector(made.options, self.model, trees, held_out)
        made._use(model, {**self.description, **describe(made.options, model)})
        return made

    def _read_trees(
        self, train: Source, dev: Source | None, reading: dict[str, Any], threads: int
    ) -> tuple[Treebank, Treebank | None]:
        """Read training and dev data, and tag them anew where predicted tags are asked for."""
        sentences: Iterable[Sentence] = read_sentences(train, reading)
        others: Iterable[Sentence] | None = None if dev is None else read_sentences(dev, reading)
        if self.options.folds:
            held_out = None if others is None else list(others)
            columns = self.options.list_columns()
            sentences, others = predict_tags(
                list(sentences), held_out, columns, folds=self.options.folds, threads=threads
            )
        return Treebank(sentences), None if others is None else Treebank(others)

    # ------------------------------------------------------------------------------------------ answering

    @overload
    def parse(
        self,
        sentence: Words,
        *,
        k: Literal[1] = 1,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> Parse: ...
    @overload
    def parse(
        self,
        sentence: Words,
        *,
        k: int,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> KBest[Parse]: ...
    def parse(
        self,
        sentence: Words,
        *,
        k: int = 1,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> Parse | KBest[Parse]:
        """Return the best tree of a sentence as a Parse; with k > 1 the k best, as a KBest.

        Args:
            sentence: a Sentence, or a mapping from the columns that features look at (``columns``) to lists;
                a list of words, where the parser looks at words alone.
            k: how many trees to return.

        Other args:
            pruning: as the option of the same name: heads less likely than this many times the best one are
                not scored. At 0 all are, and the proof is about all trees; parsers with a cascade take
                no other number.
            seconds: the most that the search may take; the best tree that was found by then is returned with
                its bound.
            infeasible: whether a sentence that has no tree raises Infeasible or returns a Parse with that
                status (for k > 1, an empty KBest).
        """
        return self.parse_batch([sentence], k=k, pruning=pruning, seconds=seconds, infeasible=infeasible)[0]

    @overload
    def parse_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: Literal[1] = 1,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[Parse]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: int,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[KBest[Parse]]: ...
    def parse_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: int = 1,
        pruning: float | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[Parse] | list[KBest[Parse]]:
        """Parse many sentences, as ``parse`` would one by one.

        Args:
            sentences: as for ``parse``.
            k: as for ``parse``.
            threads: how many to use; the answers do not depend on it.

        Other args:
            pruning: as for ``parse``.
            seconds: as for ``parse``, for each sentence.
            infeasible: as for ``parse``.
        """
        check_infeasible(infeasible)
        check_count("threads", threads)
        check_count("k", k)
        if pruning is not None and not 0 <= pruning <= 1:
            raise InvalidInput(f"pruning is {pruning}; it must be between 0 and 1")
        limit = read_seconds(seconds)
        names = self.columns
        cells = [select_columns(sentence, names) for sentence in sentences]
        given: dict[str, Any] = {"k": k, "pruning": pruning, "seconds": limit, "threads": threads}
        found = parse(self.model, self.options, cells, **given)
        if infeasible == "raise":
            _refuse_infeasible(found)
        parsed = list_parses(found, [len(columns[0]) for columns in cells], self.model.relations)
        if k == 1:
            return [several[0] if several else _NO_TREE for several in parsed]
        return [
            KBest(several, exhausted=bool(exhausted))
            for several, exhausted in zip(parsed, found.exhausted.tolist(), strict=True)
        ]

    def score_arcs(self, sentence: Words) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the scores of all arcs with their best relations, and these, both (n, n + 1).

        Rows are words, columns their heads, the root first; ``-inf`` and -1 stand for a word as its own
        head. These are what ``certus.Trees`` takes. Scores of siblings and grandparents are not in them.
        """
        cells = select_columns(sentence, self.columns)
        check_length(len(cells[0]), "the sentence")
        return self.model.native.score_arcs([cells])

    def score(self, sentence: Words, heads: ArrayLike) -> float:
        """Return the score of a tree with the best relations for its arcs, whether or not they are pruned."""
        cells = select_columns(sentence, self.columns)
        return self.model.native.score_tree([cells], np.array(heads, np.int32))

    @property
    def model(self) -> ArcModel:
        """What was learned."""
        if self._model is None:
            raise NotFitted("this parser is not trained yet: call fit, or load one with certus.load")
        return self._model

    @property
    def columns(self) -> list[str]:
        """The columns that features look at, the words first."""
        return list(self.model.columns)

    @property
    def relations(self) -> list[str]:
        """The names of the relations."""
        return list(self.model.relations)

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; a checkpoint of the training is then removed."""
        model_file.write(path, KIND, self.model.arrays, self.description)
        if self._checkpoint is not None and os.path.exists(self._checkpoint):
            os.unlink(self._checkpoint)
        self._checkpoint = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DependencyParser:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> DependencyParser:
        """Make a parser of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            parser = cls(**about["options"])
            parser._use(restore(file.arrays, about, parser.options), about)
        return parser

    def _use(self, model: ArcModel, description: dict[str, Any]) -> None:
        self._model, self.description = model, description

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its options."""
        if self._model is None:
            templates = None if self._templates is None else str(self._templates)
            return _make_untrained, (templates, asdict(self.options))
        data = model_file.pack(KIND, self._model.arrays, self.description)
        return model_file.pickle_model(type(self), data)

    def __repr__(self) -> str:
        trained = "not trained" if self._model is None else f"{len(self._model.relations)} relations"
        return f"DependencyParser({trained})"


def _make_untrained(templates: str | None, options: dict[str, Any]) -> DependencyParser:
    return DependencyParser(templates=templates, **options)


def _count(source: Source | None, trees: Treebank) -> dict[str, Any]:
    """Say what the data are called, and how many there are."""
    name = Path(source).name if isinstance(source, str | os.PathLike) else "sentences"
    return {"name": name, "sentences": len(trees), "tokens": trees.tokens}


_NO_TREE = Parse(Dependencies((), ()), -math.inf, -math.inf, Status.INFEASIBLE)


def _refuse_infeasible(found: _native.ParsedTrees) -> None:
    missing = np.flatnonzero(found.count == 0)
    if missing.size:
        sentence = int(missing[0])
        message = describe_infeasible(
            "no tree is possible over the arcs that are allowed, or none was found in time",
            "Raise candidates or seconds, or lower pruning",
            sentence if len(found.count) > 1 else None,
        )
        raise Infeasible(message, position=0, sentence=sentence)


def list_parses(
    found: _native.ParsedTrees, lengths: Sequence[int], names: Sequence[str]
) -> list[list[Parse]]:
    """Return the trees of each sentence, best first."""
    heads, relations = found.heads.tolist(), [names[number] for number in found.relations.tolist()]
    numbers = zip(
        found.scores.tolist(),
        found.bounds.tolist(),
        found.proven.tolist(),
        found.searched.tolist(),
        strict=True,
    )
    made, at = [], 0
    for length, count, scored in zip(lengths, found.count.tolist(), found.candidates.tolist(), strict=True):
        several = []
        for score, bound, proven, searched in islice(numbers, count):
            tree = Dependencies(tuple(heads[at : at + length]), tuple(relations[at : at + length]))
            status = Status.OPTIMAL if proven else Status.FEASIBLE if searched else Status.SECONDS
            several.append(Parse(tree, score, bound, status, pruned=length**2 - scored))
            at += length
        made.append(several)
    return made
