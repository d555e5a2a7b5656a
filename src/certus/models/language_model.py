"""Language models: trained on text, they say how probable sentences are."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput, ModelError, NotFitted
from certus.formats import arpa
from certus.learn.progress import Progress
from certus.storage import model_file
from certus.storage.declaration import Array, Declaration, offsets, reals, whole
from certus.storage.files import Source
from certus.storage.tensors import DAMAGED
from certus.translate.kneser_ney import estimate_ngrams
from certus.translate.scores import Perplexity, Step, WordScore, make_perplexity
from certus.translate.text import Sentence, Text, add_texts, is_file
from certus.version import __version__

KIND = "language-model"  # of model files
LONGEST = 64  # order
# native/translate/automaton.hpp and vocabulary.hpp say what they hold.
DECLARATION = Declaration(
    {
        "word_begin": offsets("words", into="bytes", each=1),
        "word_bytes": Array(("uint8",), ("bytes",)),
        "state_ends": Array(("int64",), ("order",), least=1, rise=0, into="states"),
        "arc_begin": Array(("uint32",), ("states+1",), rise=0, into="arcs"),
        "suffix": whole("states", types="uint32", below="states"),
        "backoff": reals("states", least=-math.inf),
        "arc_word": whole("arcs", types="uint32", below="words"),
        "arc_score": reals("arcs", least=-math.inf),
        "arc_next": whole("arcs", types="uint32", below="states"),
        "word_slots": whole("slots", types="uint32", below="words+1"),
    }
)


class LanguageModel:
    """Says how probable sentences are, by their n-grams.

    Probabilities are interpolated modified Kneser–Ney estimates. Scores are natural logarithms, as everywhere
    in Certus; in ARPA files they are of base 10.

    Args:
        order: the words of the longest n-grams: each word is predicted from ``order - 1`` words before it.

    Attributes:
        order: of the model.
        description: what the model file says about it: training data, discounts, ...

    Example:
        >>> model = certus.LanguageModel(order=3).fit([["the", "dog", "barks"], ["the", "cat", "sleeps"]])
        >>> model.score("the dog sleeps") > model.score("dog the sleeps")
        True
    """

    papers: ClassVar[tuple[str, ...]] = ("chen1999", "heafield2013")

    def __init__(self, order: int = 5) -> None:
        check_count("order", order)
        if order > LONGEST:
            raise InvalidInput(f"order is {order}; {LONGEST} is the largest there is")
        self.order = order
        self.description: dict[str, Any] = {}
        self._arrays: dict[str, NDArray[Any]] = {}
        self._native: _native.LanguageModel | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        *texts: Text,
        encoding: str = "utf-8",
        progress: Callable[[Progress], object] = lambda _: None,
        metadata: Mapping[str, Any] | None = None,
    ) -> LanguageModel:
        """Learn from text; returns the model itself.

        Args:
            *texts: files with a sentence per line, each a path or a stream; or sentences, each a list of
                words or a text. Words are what ASCII blanks separate. Sentences without words are left out.

        Other args:
            encoding: of the files.
            progress: is called with a Progress when each stage begins.
            metadata: what to record in the model: ``licence``, ``attribution``, ...

        Warns:
            SmoothingWarning: the text is too small or too repetitive to compute the discounts of an order.
        """
        began = time.perf_counter()

        def begin(stage: str) -> None:
            progress(Progress.begin(stage, time.perf_counter() - began))

        made = estimate_ngrams(texts, self.order, encoding=encoding, progress=begin)
        arrays = made.ngrams.export()
        described = {**_describe(self.order, arrays), **made.describe(), **_sign(), **(metadata or {})}
        self._use(dict(arrays), described)
        return self

    # ------------------------------------------------------------------------------------------ answering

    def score(self, sentence: Sentence, *, begin: bool = True, end: bool = True) -> float:
        """Return the natural logarithm of the probability of a sentence.

        Args:
            sentence: a list of words, or a text, whose words are what blanks separate.
            begin: whether the words are the first of a sentence.
            end: whether they are the last: then the probability that the sentence ends is a part.
        """
        return float(self.score_batch([sentence], begin=begin, end=end)[0])

    def score_batch(
        self, sentences: Iterable[Sentence], *, begin: bool = True, end: bool = True
    ) -> NDArray[np.float64]:
        """Return the scores of many sentences, as ``score`` would one by one."""
        return self._model.score(_list_sentences(sentences), begin, end)

    def score_words(self, sentence: Sentence, *, begin: bool = True, end: bool = True) -> list[WordScore]:
        """Return the score of each word, and of the end of the sentence."""
        words = sentence.split() if isinstance(sentence, str) else list(sentence)
        found = self._model.score_words(words, begin, end)
        rows = zip(found.score.tolist(), found.length.tolist(), found.unknown.tolist(), strict=True)
        return [
            WordScore(word, score, length, not unknown)
            for word, (score, length, unknown) in zip([*words, *["</s>"] * end], rows, strict=True)
        ]

    def perplexity(self, *texts: Text, encoding: str = "utf-8") -> Perplexity:
        """Return how well the model predicts text, with and without words that it does not know.

        Args:
            *texts: files with a sentence per line, or sentences, as for ``fit``.
            encoding: of the files.
        """
        model, total = self._model, _native.Likelihood()
        add_texts(
            texts,
            encoding,
            lambda text: model.add_text(text, total),
            lambda sentences, _: model.add_sentences(sentences, total),
            lambda: total.sentences + total.blank,
        )
        return make_perplexity(total)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._model.contains(word)

    @property
    def words(self) -> list[str]:
        """The vocabulary, without ``<unk>``, ``<s>`` and ``</s>``."""
        self._model  # noqa: B018 (refuses a model that is not trained)
        return self._arrays["word_bytes"].tobytes().decode().split("\n")[3:-1]

    # ------------------------------------------------------------------------------------------ searching

    @property
    def kernel(self) -> _native.LanguageModel:
        """What answers natively, for searches that use the model."""
        return self._model

    @property
    def begin(self) -> int:
        """The state at the beginning of a sentence; 0 is the state of which nothing is known."""
        return self._model.begin

    def advance(self, state: int, word: str) -> Step:
        """Return what a word costs in a state, and the state after it.

        A state is the shortest context that matters: whatever histories share one, no word that follows can
        tell them apart.

        Args:
            state: ``begin``, 0, or one that this method returned.
            word: any word; "</s>" ends the sentence.
        """
        found = self._model.advance(state, word)
        return Step(found.score, found.state, found.length)

    def bound(self, word: str, context: Sequence[str] = ()) -> float:
        """Return the highest log probability that a word has in any context that ends in these words.

        It is exact for models whose back-off weights are at most 1, as all of Kneser–Ney's are, and an upper
        bound for all others. The first call goes over the whole model.
        """
        return self._model.bound(list(context), word)

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        self._model  # noqa: B018 (refuses a model that is not trained)
        model_file.write(path, KIND, self._arrays, self.description)

    def write_arpa(self, path: str | os.PathLike[str]) -> None:
        """Write the model as text that other tools read; compressed if the name ends in .gz."""
        ends = self._arrays["state_ends"] if self._native else np.zeros(0, np.int64)
        arpa.write_model(path, self._model, ends.tolist(), _count_ngrams(self._arrays))

    @classmethod
    def read_arpa(
        cls,
        source: Source,
        *,
        unknown: float = 1e-100,
        encoding: str = "utf-8",
        metadata: Mapping[str, Any] | None = None,
    ) -> LanguageModel:
        """Read a model that any tool wrote in the format of ARPA.

        Args:
            source: a path (.gz is decompressed) or a stream.

        Other args:
            unknown: the probability of unknown words, if the file has no ``<unk>``; 0 forbids them.
            encoding: of the file.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        ngrams = arpa.read_ngrams(source, unknown=unknown, encoding=encoding)
        model = cls(ngrams.order)
        arrays = ngrams.export()
        model._use(dict(arrays), {**_describe(ngrams.order, arrays), **_sign(), **(metadata or {})})
        return model

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LanguageModel:
        """Read a model file, or an ARPA file."""
        return cls.read_arpa(path) if arpa.looks_like_arpa(path) else cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> LanguageModel:
        """Make a language model of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            return cls.from_arrays(file.arrays, about)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], about: dict[str, Any]) -> LanguageModel:
        """Make a language model of the arrays of a model file, and of what it says about them.

        Raises:
            ModelError: they are not those of a language model.
        """
        model = cls(about["order"])
        sizes = DECLARATION.check(arrays, order=model.order)
        _check_links(arrays, sizes)
        model._use({name: arrays[name] for name in DECLARATION.arrays}, about)
        return model

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that a model file holds."""
        self._model  # noqa: B018 (refuses a model that is not trained)
        return self._arrays

    def _use(self, arrays: dict[str, NDArray[Any]], description: dict[str, Any]) -> None:
        self._native = _native.LanguageModel(arrays)
        self._arrays, self.description = arrays, description

    @property
    def _model(self) -> _native.LanguageModel:
        if self._native is None:
            raise NotFitted("this language model is not trained yet: call fit, or load one with certus.load")
        return self._native

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its order."""
        if self._native is None:
            return type(self), (self.order,)
        return model_file.pickle_model(type(self), model_file.pack(KIND, self._arrays, self.description))

    def __repr__(self) -> str:
        if self._native is None:
            return f"LanguageModel(order={self.order}, not trained)"
        return f"LanguageModel(order={self.order}, {len(self._arrays['arc_word']):,} n-grams)"


def _describe(order: int, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    return {
        "order": order,
        "words": len(arrays["word_begin"]) - 4,
        "ngrams": _count_ngrams(arrays),
        "states": len(arrays["suffix"]),
    }


def _sign() -> dict[str, Any]:
    return {"date": date.today().isoformat(), "certus": __version__}


def _count_ngrams(arrays: Mapping[str, NDArray[Any]]) -> list[int]:
    """Return how many n-grams there are of each order."""
    bounds = arrays["arc_begin"][arrays["state_ends"]].astype(np.int64)
    return [int(count) for count in np.diff(bounds, prepend=0)]


def _check_links(arrays: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> None:
    """Refuse arrays that a search would not come to an end in, or leave."""
    begin, suffix, ends = arrays["arc_begin"], arrays["suffix"], arrays["state_ends"]
    slots, words = sizes["slots"], sizes["words"]
    fine = (
        words >= 3
        and slots & (slots - 1) == 0
        and slots > 0
        and ends[0] == 1
        and begin[0] == 0
        and begin[1] == words
        and np.array_equal(arrays["arc_word"][:words], np.arange(words, dtype=np.uint32))
        and bool((suffix[1:] < np.arange(1, len(suffix), dtype=np.uint32)).all())
        and suffix[0] == 0
    )
    if not fine:
        raise ModelError(f"its states do not lead to one another; {DAMAGED}")


def _list_sentences(sentences: Iterable[Sentence]) -> list[Sentence]:
    if is_file(sentences):
        raise InvalidInput("give a list of sentences; perplexity takes files, too")
    return [one if isinstance(one, (str, list, tuple)) else list(one) for one in sentences]
