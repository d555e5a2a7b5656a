"""Translators: trained on sentence pairs, they find the best translation under their model, proven."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any, ClassVar, Literal, overload

from numpy.typing import NDArray

from certus.checks import check_count, check_infeasible, read_seconds
from certus.errors import InvalidInput, ModelError, NotFitted
from certus.formats import moses
from certus.formats.phrase_table import read_phrase_table
from certus.learn.progress import Progress
from certus.models.language_model import LanguageModel
from certus.models.translator_training import (
    ENGINES,
    Engine,
    Pair,
    make_options,
    train_translator,
)
from certus.solution import KBest, OnInfeasible
from certus.storage import model_file
from certus.storage.files import Source
from certus.translate.hierarchical_methods import ForestMethod
from certus.translate.methods import AUTO, Method
from certus.translate.phrase_engine import PhraseEngine
from certus.translate.problem import PhraseProblem
from certus.translate.solution import Translation
from certus.translate.terms import Terms
from certus.translate.weights import Weights
from certus.version import __version__

KIND = "translator"  # of model files
LANGUAGE_MODEL = "lm_"  # what the names of its arrays begin with


class Translator:
    """Translates sentences by phrases, and proves that no other translation scores more.

    A translation scores the weighted sum of what its phrase pairs score, of the log probability of its words
    under a language model, of the words jumped over, and of the numbers of words and phrases.

    Args:
        **given: how it learns and searches: ``order``, ``max_phrase``, ``limit``, ...;
            certus.models.translator_training.TranslatorOptions lists them with their defaults.

    Attributes:
        options: with the defaults of those that were not given.
        weights: of the features.
        description: what the model file says about the model.

    Example:
        >>> source = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]] * 2
        >>> target = [["the", "house"], ["the", "book"], ["a", "book"]] * 2
        >>> certus.Translator().fit(source, target).translate("ein Haus").text
        'a house'
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2013", "koehn2003", "cherry2012")

    def __init__(self, **given: Any) -> None:
        self.options = make_options(given)
        self.description: dict[str, Any] = {}
        self._engine: Engine | None = None
        self._language_model: LanguageModel | None = None
        self._weights: Weights | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        *,
        dev: tuple[Iterable[Sequence[str]], Iterable[Sequence[str]]] | None = None,
        progress: Callable[[Progress], object] = lambda _: None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        metadata: Mapping[str, Any] | None = None,
    ) -> Translator:
        """Learn from sentence pairs; returns the translator itself.

        Args:
            source: sentences, each a sequence of words.
            target: their translations, as many.
            dev: other pairs, source and target, to tune weights on; without them, ``held_out`` pairs are
                kept from the training data for that.

        Other args:
            progress: is called when a stage begins, after each iteration of alignment and after each round
                of tuning.
            checkpoint: a file that keeps training between its stages; a run that finds one goes on there.
            threads: how many to use; what is learned does not depend on it.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        pairs = list(_pair_up(source, target))
        held = None if dev is None else list(_pair_up(*dev))
        return self.fit_pairs(
            pairs,
            dev=held,
            progress=progress,
            checkpoint=checkpoint,
            threads=threads,
            metadata=metadata,
        )

    def fit_pairs(
        self,
        pairs: Iterable[Pair],
        *,
        dev: Iterable[Pair] | None = None,
        progress: Callable[[Progress], object] = lambda _: None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        metadata: Mapping[str, Any] | None = None,
    ) -> Translator:
        """Learn from pairs, source and target; the options are those of ``fit``."""
        check_count("threads", threads)
        made = train_translator(
            list(pairs),
            None if dev is None else list(dev),
            self.options,
            progress=progress,
            checkpoint=checkpoint,
            threads=threads,
        )
        self._use(made.engine, made.language_model, made.weights, {**made.description, **(metadata or {})})
        return self

    @classmethod
    def from_tables(
        cls,
        table: Source,
        language_model: LanguageModel,
        *,
        weights: Source | None = None,
        scores: str = "guessed",
        encoding: str = "utf-8",
        metadata: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> Translator:
        """Make a translator of tables that other tools made.

        Args:
            table: a phrase table of Moses (.gz is decompressed).
            language_model: of the target language; ``certus.load`` opens ARPA files.
            weights: a moses.ini, or its lines of weights; defaults without one.

        Other args:
            scores: what the numbers of the table are: "probability", "log10", "natural"; or "guessed".
            encoding: of the files.
            metadata: what to record in the model.
            **given: ``limit``, ``options``.
        """
        translator = cls(**given)
        read = read_phrase_table(table, scores=scores, encoding=encoding)
        _check_vocabulary(read.arrays, language_model)
        engine = PhraseEngine(read.arrays, language_model.kernel, read.features)
        found = {} if weights is None else moses.read_weights(weights, encoding=encoding)
        description = {"entries": read.entries, "features": read.features}
        made = Weights.from_dict(found, read.features)
        translator._use(engine, language_model, made, {**description, **(metadata or {})})
        return translator

    # ------------------------------------------------------------------------------------------ answering

    @overload
    def translate(
        self,
        sentence: str | Sequence[str],
        *,
        k: Literal[1] = 1,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        infeasible: OnInfeasible = "raise",
    ) -> Translation: ...
    @overload
    def translate(
        self,
        sentence: str | Sequence[str],
        *,
        k: int,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        infeasible: OnInfeasible = "raise",
    ) -> KBest[Translation]: ...
    def translate(
        self,
        sentence: str | Sequence[str],
        *,
        k: int = 1,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        infeasible: OnInfeasible = "raise",
    ) -> Translation | KBest[Translation]:
        """Return the best translation with its proof, or the k best.

        Args:
            sentence: a text, whose words are what blanks separate, or a sequence of words.
            k: how many to return; more than 1 is a KBest.
            method: one of certus.translate.METHODS, or for hierarchical models of FOREST_METHODS, by its name
                or as an object with its options.
            terms: what must become what, and what no translation may hold.

        Other args:
            distinct: whether the k best must differ in their words, not only in their phrases.
            limit: the longest jump (for hierarchical models, the longest span of a rule), None for any; that
                of the model by default.
            seconds: the most time; what is found by then comes back with its gap. None for no limit, which is
                the default for models of phrases; 5 seconds for hierarchical ones, whose proofs may take very
                long.
            infeasible: "raise" an error where forbidden terms leave nothing, or "return" an empty answer.
        """
        answers: list[Translation | KBest[Translation]] = [
            *self.translate_batch(
                [sentence],
                k=k,
                method=method,
                terms=terms,
                distinct=distinct,
                limit=limit,
                seconds=seconds,
                infeasible=infeasible,
            )
        ]
        return answers[0]

    @overload
    def translate_batch(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        k: Literal[1] = 1,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[Translation]: ...
    @overload
    def translate_batch(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        k: int,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[KBest[Translation]]: ...
    def translate_batch(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        k: int = 1,
        method: str | Method | ForestMethod = AUTO,
        terms: Terms | None = None,
        distinct: bool = False,
        limit: int | Literal["model"] | None = "model",
        seconds: float | Literal["model"] | None = "model",
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[Translation] | list[KBest[Translation]]:
        """Translate many sentences, as ``translate`` would one by one.

        Args:
            sentences: texts or sequences of words.
            k: as for ``translate``.
            method: as for ``translate``.
            terms: as for ``translate``.
            threads: how many to use; the answers do not depend on it, unless time runs out.

        Other args:
            distinct: as for ``translate``.
            limit: as for ``translate``.
            seconds: as for ``translate``, for each sentence.
            infeasible: as for ``translate``.
        """
        for name, value in (("k", k), ("threads", threads)):
            check_count(name, value)
        check_infeasible(infeasible)
        engine = self._model
        found = engine.translate(
            [_list_words(number, sentence) for number, sentence in enumerate(sentences)],
            weights=self.weights,
            terms=terms or Terms(),
            options=self.options.options,
            limit=self.options.reach if limit == "model" else limit,
            method=engine.choose_method(method, k),
            k=k,
            distinct=distinct,
            seconds=engine.usual_seconds if seconds == "model" else read_seconds(seconds),
            threads=threads,
            infeasible=infeasible,
        )
        return [answers[0] for answers in found] if k == 1 else found

    def make_problem(
        self,
        sentence: str | Sequence[str],
        *,
        terms: Terms | None = None,
        limit: int | Literal["model"] | None = "model",
    ) -> PhraseProblem:
        """Return the search for the best translation of a sentence as a problem of its own.

        Its methods include "ilp", and its phrases can be changed and searched again.
        """
        words, given = _list_words(0, sentence), terms or Terms()
        engine = self._model
        if not isinstance(engine, PhraseEngine):
            raise InvalidInput("this translator is hierarchical: it has no phrases to make a problem of")
        return PhraseProblem(
            len(words),
            engine.list_phrases(words, self.weights, given, self.options.options),
            self.language_model,
            weight=self.weights.language_model,
            distortion=self.weights.distortion,
            limit=self.options.limit if limit == "model" else limit,
            forbidden=given.forbidden,
        )

    def choose_method(self, method: str | Method | ForestMethod, *, k: int = 1) -> Method | ForestMethod:
        """Return the way to search that a name means for this kind of model, or refuse it."""
        return self._model.choose_method(method, k)

    @property
    def weights(self) -> Weights:
        """What the features weigh."""
        if self._weights is None:
            raise NotFitted("this translator is not trained yet: call fit, or load one with certus.load")
        return self._weights

    @weights.setter
    def weights(self, weights: Weights) -> None:
        if len(weights.translation) != self._model.features:
            raise InvalidInput(
                f"{len(weights.translation)} weights of phrase scores for {self._model.features} scores"
            )
        self._weights = weights
        self.description["weights"] = weights.as_dict()

    @property
    def language_model(self) -> LanguageModel:
        """The model of the target language."""
        self._model  # noqa: B018 (refuses a translator that is not trained)
        assert self._language_model is not None
        return self._language_model

    @property
    def _model(self) -> Engine:
        if self._engine is None:
            raise NotFitted("this translator is not trained yet: call fit, or load one with certus.load")
        return self._engine

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        model_file.write(path, KIND, self._list_arrays(), self.description)

    def _list_arrays(self) -> dict[str, NDArray[Any]]:
        kept = self.language_model.arrays
        return self._model.arrays | {LANGUAGE_MODEL + name: array for name, array in kept.items()}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Translator:
        """Read a model file."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Translator:
        """Make a translator of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            if about["model"] not in ENGINES:
                raise ModelError(f"it is a model of {about['model']!r}, which this Certus does not know")
            translator = cls(**about["options"])
            kept = {
                name.removeprefix(LANGUAGE_MODEL): array
                for name, array in file.arrays.items()
                if name.startswith(LANGUAGE_MODEL)
            }
            language_model = LanguageModel.from_arrays(kept, about["language_model"])
            features = int(about["features"])
            check_count("features", features)
            engine = ENGINES[about["model"]](file.arrays, language_model.kernel, features)
            weights = Weights.from_dict(about["weights"], features)
            translator._use(engine, language_model, weights, about)
        return translator

    def _use(
        self,
        engine: Engine,
        language_model: LanguageModel,
        weights: Weights,
        description: Mapping[str, Any],
    ) -> None:
        self._engine, self._language_model, self._weights = engine, language_model, weights
        self.description = {
            "model": engine.name,
            "options": asdict(self.options),
            "features": engine.features,
            "entries": engine.entries,
            "date": date.today().isoformat(),
            "certus": __version__,
            **description,
            "weights": weights.as_dict(),
            "language_model": language_model.description,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its options."""
        if self._engine is None:
            return _make_untrained, (asdict(self.options),)
        return model_file.pickle_model(
            type(self), model_file.pack(KIND, self._list_arrays(), self.description)
        )

    def __repr__(self) -> str:
        if self._engine is None:
            return "Translator(not trained)"
        return f"Translator({self._engine.name}, {self._engine.entries:,} entries)"


def _check_vocabulary(arrays: Mapping[str, NDArray[Any]], language_model: LanguageModel) -> None:
    """Refuse a language model that knows no target word; it scores them all alike."""
    words = arrays["target_bytes"].tobytes().decode(errors="replace").splitlines()[3:]
    if words and not language_model.kernel.number(words).any():
        raise InvalidInput(
            f"the language model knows none of the {len(words):,} target words of the table, such as "
            f"{words[0]!r}: is it of another language, or tokenised otherwise?"
        )


def _make_untrained(options: dict[str, Any]) -> Translator:
    return Translator(**options)


def _list_words(number: int, sentence: str | Sequence[str]) -> list[str]:
    words = sentence.split() if isinstance(sentence, str) else list(sentence)
    for word in words:
        if not isinstance(word, str) or not word or word.split() != [word]:
            raise InvalidInput(f"sentence {number} holds {word!r}, which is no word")
    return words


def _pair_up(
    source: Iterable[Sequence[str]], target: Iterable[Sequence[str]]
) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    from certus.learn.bitext import pair_up

    return pair_up(source, target)
