"""Taggers: trained on annotated sentences, they label new ones."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import chain as joined
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput, ModelError
from certus.formats import Sentence, Target, model_file, read
from certus.learn import hmm, options
from certus.learn.data import Examples, TrainingSet, compile_templates, default_templates
from certus.learn.inventory import Inventory
from certus.learn.templates import Templates
from certus.learn.training import Arrays, Checkpoint, Progress, train
from certus.models.decoders import Allowed, Decoded, Decoder, HmmDecoder, NativeDecoder
from certus.models.tagging import Tagging
from certus.solution import Status

Source = str | os.PathLike[str] | Iterable[Sentence]
Dictionary = Mapping[str, Sequence[str]]


class Tagger:
    """Labels the words of sentences: parts of speech, morphology, chunks, entities, or several at once.

    Args:
        target: what to predict, as an expression over columns: ``upos``, ``upos+feats``, ``pos|chunk``.
        learner: ``pruned-crf`` (also ``crf`` with an order above 1), ``perceptron`` or ``hmm``.

    Other args:
        templates: feature templates (see docs/features.md); by default those that suit the data.
        **given: options of the learner, such as ``order`` and ``epochs``; ``certus train tagger --help`` and
            ``certus.learn.options`` list them.

    Example:
        >>> tagger = Tagger("upos+feats", learner="crf", order=2)  # doctest: +SKIP
        >>> tagger.fit("train.conllu", dev="dev.conllu").tag(["The", "dog", "barks"]).labels  # doctest: +SKIP
    """

    def __init__(
        self, target: str = "upos", learner: str = "pruned-crf", *, templates: str | None = None, **given: Any
    ) -> None:
        self.target = Target(target)
        self.options = options.choose(learner, given)
        self._templates = templates
        if templates is not None:
            compile_templates(templates)
        self._decoder: Decoder | None = None
        self._inventory = Inventory([])
        self.description: dict[str, Any] = {}
        self._arrays: Mapping[str, NDArray[Any]] = {}

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        train: Source,
        dev: Source | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        format: str | None = None,
        columns: str | Sequence[str] | None = None,
        encoding: str = "utf-8",
        about: Mapping[str, Any] | None = None,
    ) -> Tagger:
        """Learn from annotated sentences; returns the tagger itself.

        Args:
            train: a file, or sentences read with ``certus.formats.read``.
            dev: others to measure accuracy on after each epoch: the best epoch is kept, and training stops
                when it no longer rises.

        Other args:
            progress: is called after each epoch.
            checkpoint: a file to keep the state of training in after each epoch; if it is there already,
                training goes on from it. It is removed at the end.
            threads: for measuring on dev; learning itself is sequential, so that results do not depend on it.
            format: of the files; guessed by default.
            columns: of column files.
            encoding: of the files.
            about: what to record in the model: ``licence``, ``attribution``, ...
        """
        options_ = {"format": format, "columns": columns, "encoding": encoding}
        sentences = iter(_sentences(train, options_))
        first = next(sentences, None)
        if first is None:
            raise InvalidInput("there is nothing to learn from: the training data hold no sentence")
        templates = compile_templates(self._templates or default_templates(first, self.target))
        examples = Examples(joined([first], sentences), self.target, templates.columns)
        held_out = (
            None if dev is None else Examples(_sentences(dev, options_), self.target, templates.columns)
        )
        if held_out is not None and not held_out.tokens:
            raise InvalidInput("the dev data hold no token")
        if isinstance(self.options, options.Hmm):
            accuracy = self._fit_hmm(examples, held_out, threads)
        else:
            identity = self._identity(examples, templates)
            data = TrainingSet(examples, self.target, templates, self.options)
            measure = None if held_out is None else _measure(held_out, data, threads)
            arrays, accuracy = train_(
                data, self.options, measure, Checkpoint(checkpoint, identity), progress or (lambda _: None)
            )
            self._arrays = {**arrays, "frequent": data.frequent}
            self._inventory = data.inventory
        self.description = self._describe(train, examples, templates, accuracy, dict(about or {}))
        self._prepare()
        Checkpoint(checkpoint, {}).remove()
        return self

    def _fit_hmm(self, examples: Examples, held_out: Examples | None, threads: int) -> float | None:
        assert isinstance(self.options, options.Hmm)
        self._inventory = Inventory(sorted(set(examples.labels)))
        ends = np.cumsum(examples.lengths)[:-1]
        labels = np.split(self._inventory.numbers(examples.labels), ends)
        words = [cells[0] for cells in examples.cells]
        model = hmm.estimate(
            words, labels, len(self._inventory), rare=self.options.rare, suffixes=self.options.suffixes
        )
        self._arrays = model.arrays()
        return None if held_out is None else share(HmmDecoder(model), held_out, self._inventory, threads)

    def _identity(self, examples: Examples, templates: Templates) -> dict[str, Any]:
        """Return what tells one training run from another, for checkpoints."""
        words = _native.word_keys(["\n".join(cells[0]) for cells in examples.cells] + examples.labels)
        return {
            "target": self.target.expression,
            "templates": str(templates),
            "learner": self.options.name,
            "options": _plain(self.options),
            "data": str(int(np.bitwise_xor.reduce(words * np.arange(1, len(words) + 1, dtype=np.uint64)))),
        }

    def _describe(
        self,
        train: Source,
        examples: Examples,
        templates: Templates,
        accuracy: float | None,
        about: dict[str, Any],
    ) -> dict[str, Any]:
        from certus import __version__

        chosen = _plain(self.options)
        described = {
            "target": self.target.expression,
            "learner": self.options.name,
            "options": chosen,
            "labels": self._inventory.labels,
            "columns": list(templates.columns),
            "templates": str(templates).splitlines(),
            "training": {
                "name": Path(train).name if isinstance(train, str | os.PathLike) else "sentences",
                "sentences": len(examples),
                "tokens": examples.tokens,
            },
            "date": date.today().isoformat(),
            "certus": __version__,
        }
        if "order" in chosen:
            described["order"] = chosen["order"]
        if "features" in self._arrays:
            described["features"] = int(self._arrays["features"])
        if accuracy is not None:
            described["accuracy"] = {"dev": accuracy}
        return {**described, **about}

    # ------------------------------------------------------------------------------------------ tagging

    def tag(
        self,
        sentence: Sequence[str] | Sentence | Mapping[str, Sequence[str]],
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Sequence[Sequence[str] | None] | None = None,
        legal: Automaton | None = None,
    ) -> Any:
        """Label one sentence: a Tagging, or with k > 1 a list of at most k, best first.

        Args:
            sentence: its words; or a Sentence or a mapping from column names, where features look at other
                columns too.
            k: how many of the best label sequences to return.
            confidence: whether to return probabilities as well.
            allowed: for each word the labels it may get, or None for all.
            legal: which labels may follow which: ``certus.bio(tagger.labels)``.
        """
        allowed_all = None if allowed is None else [allowed]
        return self.tag_batch([sentence], k=k, confidence=confidence, allowed=allowed_all, legal=legal)[0]

    def tag_batch(
        self,
        sentences: Iterable[Sequence[str] | Sentence | Mapping[str, Sequence[str]]],
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Sequence[Sequence[Sequence[str] | None] | None] | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        threads: int = 1,
    ) -> list[Any]:
        """Label many sentences, as ``tag`` would one by one.

        Args:
            sentences: as for ``tag``.
            k: as for ``tag``.
            confidence: as for ``tag``.
            threads: how many threads to use; the answers do not depend on it.

        Other args:
            allowed: for each sentence what ``tag`` takes, or None.
            legal: as for ``tag``.
            dictionary: the labels that a word may get, for words it lists.
        """
        if k < 1:
            raise InvalidInput(f"k is {k}; at least one answer must be wanted")
        cells = [self._cells(sentence) for sentence in sentences]
        limits = self._limits(cells, allowed, dictionary)
        decoded = self.decode(cells, k=k, confidence=confidence, threads=threads, allowed=limits, legal=legal)
        answers = [self._answers(decoded, n, k) for n in range(len(cells))]
        return [several[0] for several in answers] if k == 1 else answers

    def decode(
        self,
        cells: Sequence[list[list[str]]],
        *,
        k: int = 1,
        confidence: bool = False,
        threads: int = 1,
        allowed: Allowed | None = None,
        legal: Automaton | None = None,
    ) -> Decoded:
        """Label sentences given as columns of cells; the answers stay arrays, for those who want speed."""
        if self._decoder is None:
            raise InvalidInput("this tagger is not trained yet: call fit, or load one with certus.load")
        if legal is not None and list(legal.labels) != self.labels:
            raise InvalidInput("legal is over other labels than the tagger's: make it from tagger.labels")
        return self._decoder.decode(
            cells, k=k, confidence=confidence, threads=threads, allowed=allowed, legal=legal
        )

    def emissions(
        self, sentence: Sequence[str] | Sentence | Mapping[str, Sequence[str]]
    ) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens, (T, L), that decoding starts from."""
        if not isinstance(self._decoder, NativeDecoder):
            raise InvalidInput("emissions are those of a trained perceptron or CRF")
        return self._decoder.emissions(self._cells(sentence))

    @property
    def chain(self) -> Chain:
        """The transitions of an exact tagger, to decode ``emissions`` with."""
        found = self._decoder.chain if isinstance(self._decoder, NativeDecoder) else None
        if found is None:
            raise InvalidInput(
                "a chain is what a trained perceptron has; a pruned CRF has longer transitions"
            )
        return found

    @property
    def labels(self) -> list[str]:
        """The names of the labels, in the order of their numbers."""
        return self._inventory.labels

    @property
    def columns(self) -> list[str]:
        """The columns that features look at, the words first."""
        return list(self.description.get("columns", ["word"]))

    def _cells(self, sentence: Any) -> list[list[str]]:
        names = self.columns
        if isinstance(sentence, Sentence):
            return [sentence.column(name) for name in names]
        if isinstance(sentence, str):
            raise InvalidInput(f"a sentence is a list of words, not a text: {sentence[:40]!r}")
        if isinstance(sentence, Mapping):
            missing = [name for name in names if name not in sentence]
            if missing:
                raise InvalidInput(f"the tagger looks at column {missing[0]!r}, which the sentence has not")
            return [list(sentence[name]) for name in names]
        if len(names) > 1:
            raise InvalidInput(
                f"the tagger looks at the columns {', '.join(names)}: give a mapping from them to lists, "
                "or a Sentence"
            )
        return [list(sentence)]

    def _limits(
        self,
        cells: Sequence[list[list[str]]],
        allowed: Sequence[Sequence[Sequence[str] | None] | None] | None,
        dictionary: Dictionary | None,
    ) -> Allowed | None:
        if allowed is None and dictionary is None:
            return None
        if allowed is not None and len(allowed) != len(cells):
            raise InvalidInput(f"allowed is for {len(allowed)} sentences, but there are {len(cells)}")
        listed = {word: self._numbers(labels, word) for word, labels in (dictionary or {}).items()}
        limits: Allowed = []
        for n, columns in enumerate(cells):
            one = allowed[n] if allowed is not None else None
            if one is not None and len(one) != len(columns[0]):
                raise InvalidInput(
                    f"sentence {n}: allowed is for {len(one)} words, but it has {len(columns[0])}"
                )
            limits.append([
                self._numbers(one[t], word) if one is not None and one[t] is not None else listed.get(word)
                for t, word in enumerate(columns[0])
            ])  # fmt: skip
        return limits

    def _numbers(self, labels: Sequence[str] | None, word: str) -> NDArray[np.int32]:
        numbers = self._inventory.numbers(list(labels or ()))
        if not len(numbers) or numbers.min() < 0:
            unknown = next((y for y in labels or () if y not in self._inventory.number), None)
            what = "no label at all" if unknown is None else f"{unknown!r}, which the tagger does not know"
            raise InvalidInput(f"the labels allowed for {word!r} hold {what}")
        return numbers

    def _answers(self, decoded: Decoded, n: int, k: int) -> list[Tagging]:
        begin, end = int(decoded.first[n]), int(decoded.first[n + 1])
        length, names = end - begin, self.labels
        if decoded.found[n] == 0:
            nothing = Tagging([], -math.inf, -math.inf, Status.INFEASIBLE)
            return [nothing] if k == 1 else []
        answers = []
        for rank in range(int(decoded.found[n])):
            at = begin * k + rank * length
            score = float(decoded.scores[n, rank])
            optimal = bool(decoded.optimal[n])
            probability = surety = None
            if len(decoded.log_partition):
                probability = min(1.0, math.exp(score - float(decoded.log_partition[n])))
                if rank == 0:
                    surety = decoded.confidence[begin:end].tolist()
            answers.append(
                Tagging(
                    [names[y] for y in decoded.labels[at : at + length].tolist()],
                    score,
                    score if optimal and rank else float(decoded.bounds[n]),
                    Status.OPTIMAL if optimal else Status.FEASIBLE,
                    probability=probability,
                    confidence=surety,
                )
            )
        return answers

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        if self._decoder is None:
            raise InvalidInput("this tagger is not trained yet: there is nothing to save")
        model_file.write(path, "tagger", self._arrays, self.description)

    @classmethod
    def load(cls, path: Any) -> Tagger:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Tagger:
        """Make a tagger of an opened model file."""
        if file.kind != "tagger":
            raise ModelError(f"{file.path} is a {file.kind} model, not a tagger")
        about = file.description
        try:
            chosen = {name: tuple(x) if isinstance(x, list) else x for name, x in about["options"].items()}
            templates = "\n".join(about["templates"])
            tagger = cls(about["target"], about["learner"], templates=templates, **chosen)
            parts = tagger.target.parts if tagger.options.shared else None
            tagger._inventory = Inventory(about["labels"], parts)
            tagger.description = about
            tagger._arrays = file.arrays
            tagger._prepare()
        except (KeyError, TypeError, AttributeError, InvalidInput) as error:
            raise ModelError(f"{file.path} is damaged or of another version: {error}") from error
        return tagger

    def _prepare(self) -> None:
        """Make the decoder from the arrays."""
        if isinstance(self.options, options.Hmm):
            self._decoder = HmmDecoder(hmm.Hmm.from_arrays(self._arrays))
            return
        program = Templates("\n".join(self.description["templates"]), self.columns).program()
        extractor = _native.Extractor(program, len(self.columns), self._arrays["frequent"])
        self._decoder = NativeDecoder(extractor, self._inventory, self._inventory.native(), self._arrays)

    def __repr__(self) -> str:
        trained = f"{len(self.labels):,} labels" if self._decoder else "not trained"
        return f"Tagger({self.target.expression!r}, {self.options.name}, {trained})"


def train_(
    data: TrainingSet,
    chosen: options.Options,
    measure: Callable[[Arrays], float] | None,
    checkpoint: Checkpoint,
    progress: Callable[[Progress], None],
) -> tuple[Arrays, float | None]:
    """Train, under a name that does not hide the argument ``train``."""
    return train(data, chosen, accuracy=measure, checkpoint=checkpoint, progress=progress)


def _sentences(source: Source, how: Mapping[str, Any]) -> Iterable[Sentence]:
    return read(source, **how) if isinstance(source, str | os.PathLike) else source


def _plain(chosen: options.Options) -> dict[str, Any]:
    """Return options as JSON has them."""
    values = dataclasses.asdict(chosen)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _measure(held_out: Examples, data: TrainingSet, threads: int) -> Callable[[Arrays], float]:
    def accuracy(arrays: Arrays) -> float:
        decoder = NativeDecoder(data.extractor, data.inventory, data.tagset, arrays)
        return share(decoder, held_out, data.inventory, threads)

    return accuracy


def share(decoder: Decoder, held_out: Examples, inventory: Inventory, threads: int) -> float:
    """Return the share of tokens that get the right label; labels unseen in training are never right."""
    found = decoder.decode(held_out.cells, k=1, confidence=False, threads=threads, allowed=None, legal=None)
    return float((found.labels == inventory.numbers(held_out.labels)).mean())
