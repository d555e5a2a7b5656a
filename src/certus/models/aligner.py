"""Aligners: trained on sentence pairs, they find the links between the words of a pair."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import date
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.align.agreement import NO_LINK, SOFT, Agreement, read_agreement
from certus.align.posteriors import Posteriors
from certus.align.potentials import Potentials, make_steps
from certus.align.solution import Alignment
from certus.align.symmetrize import SYMMETRIZATIONS, symmetrize
from certus.checks import check_count, read_seconds
from certus.errors import InvalidInput, NotFitted
from certus.learn.aligner import AlignerOptions, train_aligner
from certus.learn.bitext import Bitext, pair_up
from certus.learn.progress import Progress
from certus.solution import Status
from certus.storage import model_file
from certus.storage.declaration import Declaration, names, offsets, reals, whole
from certus.version import __version__

KIND = "aligner"  # of model files
FERTILITIES, JUMPS = "7", "81"  # as native/align declares them
_SIDES = {
    "forward": ("target", "source"),
    "backward": ("source", "target"),
}  # generated words, and from which
DECLARATION = Declaration(
    {
        "source_words": names("source"),
        "target_words": names("target"),
        "begin": offsets("source", into="pairs"),
        "target": whole("pairs", types="uint32", below="target"),
        "lexical": reals("2*pairs", least=0),
        "stem_begin": offsets("stems", into="stem_pairs"),
        "stem_target": whole("stem_pairs", types="uint32"),
        "stem_probability": reals("2*stem_pairs", least=0, most=1),
        "unknown": reals("2", types="float64", least=0, most=1),
        **{f"norm_{d}": reals(given, least=1e-30) for d, (_, given) in _SIDES.items()},
        **{f"share_{d}": reals(made, least=0, most=2) for d, (made, _) in _SIDES.items()},
        **{f"null_{d}": reals(made, least=0, most=1) for d, (made, _) in _SIDES.items()},
        **{
            f"fertility_{d}": reals(f"{FERTILITIES}*{given}", least=0, most=1)
            for d, (_, given) in _SIDES.items()
        },
        **{f"jumps_{d}": reals(JUMPS, types="float64", least=1e-12, most=1) for d in _SIDES},
    }
)


class Aligner:
    """Finds which words of a sentence pair are translations of each other.

    Two directional models are learned together: hidden Markov models with fertilities and sparse priors,
    each learning from links that both choose. An answer is the best pair of alignments that agree, under the
    posterior probabilities of both, with its proof.

    Args:
        **given: how it learns: ``model``, ``iterations``, ``agreement``, ``sparse``, ...;
            certus.learn.aligner.AlignerOptions lists them with their defaults, which are right for most.

    Attributes:
        options: with the defaults of those that were not given.
        description: what the model file says about the model: training data, options, ...

    Example:
        >>> source = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
        >>> target = [["the", "house"], ["the", "book"], ["a", "book"]]
        >>> certus.Aligner().fit(source, target).align(["ein", "Haus"], ["a", "house"]).links
        ((0, 0), (1, 1))
    """

    papers: ClassVar[tuple[str, ...]] = ("chang2014", "liang2006", "vogel1996")

    def __init__(self, **given: Any) -> None:
        known = {field.name for field in fields(AlignerOptions)}
        for name in given:
            if name not in known:
                raise InvalidInput(f"an aligner has no option {name!r}; it has {', '.join(sorted(known))}")
        self.options = AlignerOptions(**given)
        self.description: dict[str, Any] = {}
        self._arrays: dict[str, NDArray[Any]] = {}
        self._native: _native.AlignmentModel | None = None

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        *,
        progress: Callable[[Progress], object] = lambda _: None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        max_length: int = 250,
        metadata: Mapping[str, Any] | None = None,
    ) -> Aligner:
        """Learn from sentence pairs; returns the aligner itself.

        Args:
            source: sentences, each a sequence of words.
            target: their translations, as many. Pairs with an empty side are left out;
                ``description["training"]`` counts them.

        Other args:
            progress: is called after each iteration.
            checkpoint: a file that keeps training between iterations; a run that finds one goes on there.
            threads: how many to use; what is learned does not depend on it.
            max_length: pairs with more words on a side are left out, since time grows with the cube.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        options: dict[str, Any] = {"progress": progress, "checkpoint": checkpoint, "threads": threads}
        return self.fit_pairs(pair_up(source, target), max_length=max_length, metadata=metadata, **options)

    def fit_pairs(
        self,
        pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        progress: Callable[[Progress], object] = lambda _: None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        max_length: int = 250,
        metadata: Mapping[str, Any] | None = None,
    ) -> Aligner:
        """Learn from a stream of pairs, source and target; the options are those of ``fit``."""
        check_count("threads", threads)
        check_count("max_length", max_length)
        bitext = Bitext(pairs, max_length=max_length, min_count=self.options.min_count)
        arrays = train_aligner(
            bitext, self.options, progress=progress, checkpoint=checkpoint, threads=threads
        )
        for name, side in zip(("source", "target"), bitext.sides, strict=True):
            arrays[f"{name}_words"] = np.frombuffer("\n".join(side.words).encode(), np.uint8)
        self._use(arrays, {**_describe(self.options, bitext), **(metadata or {})})
        return self

    # ------------------------------------------------------------------------------------------ answering

    def align(
        self,
        source: Sequence[str],
        target: Sequence[str],
        *,
        method: str = "exact",
        agreement: Agreement | str = SOFT,
        null: float = NO_LINK,
        seconds: float | None = None,
    ) -> Alignment:
        """Return the links of a pair, which need not be among those it learned from.

        Args:
            source: the words of a sentence.
            target: those of its translation.
            method: "exact", the best agreement of both directions, proven; or a rule of
                certus.align.symmetrize ("grow-diag-final-and", "intersection", ...) over the links that each
                direction finds most probable.

        Other args:
            agreement: what it costs where directions differ, for "exact".
            null: what is added to the score of having no link, for "exact": more of it means fewer links.
            seconds: the most time, for "exact"; None for no limit, 0 for the first answer with its bound.
        """
        return self.align_batch(
            [source], [target], method=method, agreement=agreement, null=null, seconds=seconds
        )[0]

    def align_batch(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        *,
        method: str = "exact",
        agreement: Agreement | str = SOFT,
        null: float = NO_LINK,
        seconds: float | None = None,
        threads: int = 1,
    ) -> list[Alignment]:
        """Align many pairs, as ``align`` would one by one.

        Args:
            source: sentences, each a sequence of words.
            target: their translations.
            method: as for ``align``.

        Other args:
            agreement: as for ``align``.
            null: as for ``align``.
            seconds: as for ``align``, for each pair.
            threads: how many to use; the answers do not depend on it.
        """
        check_count("threads", threads)
        limit = read_seconds(seconds)
        sides = _read_sentences("source", source), _read_sentences("target", target)
        if method != "exact":
            return self._align_by_rule(*sides, method, threads)
        prices = read_agreement(agreement)
        if not abs(null) <= 1e6:
            raise InvalidInput(f"null is {null}; a finite number is needed")
        decoding = _native.LinkDecoding(
            prices.adjacent, prices.apart, prices.alone, null, 100, 1_000_000, limit
        )
        return [_make_alignment(found) for found in self._model.align(*sides, decoding, threads)]

    def _align_by_rule(
        self, source: list[list[str]], target: list[list[str]], method: str, threads: int
    ) -> list[Alignment]:
        if method not in SYMMETRIZATIONS:
            known = ", ".join(["exact", *SYMMETRIZATIONS])
            raise InvalidInput(f"there is no method {method!r}; there are {known}")
        if method in ("forward", "backward"):
            return _make_alignments(self._model.choose(source, target, method == "forward", threads))
        answers = []
        for found in self._find_posteriors(source, target, threads):
            links = symmetrize(found.choose_forward(), found.choose_backward(), method)
            both = found.links
            probabilities = np.array([both[link] for link in links], np.float32)
            answers.append(Alignment.unproven(links, probabilities))
        return answers

    def posteriors(self, source: Sequence[str], target: Sequence[str]) -> Posteriors:
        """Return the probabilities of all links of a pair."""
        sides = _read_sentences("source", [source]), _read_sentences("target", [target])
        return self._find_posteriors(*sides, 1)[0]

    def potentials(self, source: Sequence[str], target: Sequence[str]) -> Potentials:
        """Return the scores of both hidden Markov models for a pair, for ``align_matrix``.

        Chang et al. (2014) decode them jointly; ``align`` decodes posteriors, which gives better links.
        """
        left, right = _read_sentences("source", [source])[0], _read_sentences("target", [target])[0]
        found = self._model.find_lexical(left, right)
        shape = len(left), len(right)

        def take_logarithm(values: NDArray[np.float32]) -> NDArray[np.float64]:
            return np.log(np.maximum(values.astype(np.float64), 1e-30))

        return Potentials(
            take_logarithm(found.forward).reshape(shape),
            take_logarithm(found.backward).reshape(shape),
            take_logarithm(found.forward_null),
            take_logarithm(found.backward_null),
            make_steps(self._arrays["jumps_forward"], len(left), self.options.null),
            make_steps(self._arrays["jumps_backward"], len(right), self.options.null),
        )

    def _find_posteriors(
        self, source: list[list[str]], target: list[list[str]], threads: int
    ) -> list[Posteriors]:
        return [
            Posteriors(
                found.forward.reshape(len(left), len(right)),
                found.backward.reshape(len(left), len(right)),
                found.forward_null,
                found.backward_null,
            )
            for found, left, right in zip(
                self._model.find_posteriors(source, target, threads), source, target, strict=True
            )
        ]

    @property
    def _model(self) -> _native.AlignmentModel:
        if self._native is None:
            raise NotFitted("this aligner is not trained yet: call fit, or load one with certus.load")
        return self._native

    def lexicon(self, least: float = 0.01) -> Iterable[tuple[str, str, float, float]]:
        """Yield pairs of words that are linked, each with p(target | source) and p(source | target).

        Args:
            least: pairs whose two probabilities are both smaller are left out.
        """
        self._model  # noqa: B018 (refuses an aligner that is not trained)
        words = [_unpack(self._arrays[f"{side}_words"]) for side in ("source", "target")]
        begin, target = self._arrays["begin"], self._arrays["target"]
        lexical = self._arrays["lexical"].reshape(-1, 2)
        source = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        for n in np.flatnonzero(lexical.max(1) >= least).tolist():
            yield words[0][source[n]], words[1][target[n]], float(lexical[n, 1]), float(lexical[n, 0])

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        self._model  # noqa: B018 (refuses an aligner that is not trained)
        model_file.write(path, KIND, self._arrays, self.description)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Aligner:
        """Read a model file."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Aligner:
        """Make an aligner of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            aligner = cls(**about["options"])
            DECLARATION.check(file.arrays)
            aligner._use(dict(file.arrays), about)
        return aligner

    def _use(self, arrays: dict[str, NDArray[Any]], description: dict[str, Any]) -> None:
        options = self.options
        self._native = _native.AlignmentModel(
            _unpack(arrays["source_words"]),
            _unpack(arrays["target_words"]),
            arrays,
            options.sparse,
            options.spelling,
            options.stems,
            options.model,
            options.null,
            options.tension,
            options.agreement,
        )
        self._arrays, self.description = arrays, description

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its options."""
        if self._native is None:
            return _make_untrained, (asdict(self.options),)
        return model_file.pickle_model(type(self), model_file.pack(KIND, self._arrays, self.description))

    def __repr__(self) -> str:
        if self._native is None:
            return "Aligner(not trained)"
        return f"Aligner({self.options.model}, {len(self._arrays['target']):,} pairs of words)"


def _make_untrained(options: dict[str, Any]) -> Aligner:
    return Aligner(**options)


def _describe(options: AlignerOptions, bitext: Bitext) -> dict[str, Any]:
    source, target = bitext.sides
    return {
        "options": asdict(options),
        "training": {
            "pairs": bitext.pairs,
            "different": len(bitext.times),
            "source_words": len(source.words),
            "target_words": len(target.words),
            "skipped": {reason: len(numbers) for reason, numbers in bitext.skipped.items()},
        },
        "date": date.today().isoformat(),
        "certus": __version__,
    }


def _read_sentences(name: str, sentences: Iterable[Sequence[str]]) -> list[list[str]]:
    made = []
    for number, words in enumerate(sentences):
        if isinstance(words, str):
            raise InvalidInput(f"{name} sentence {number} is a text; give its words, text.split()")
        made.append(list(words))
        if not all(isinstance(word, str) for word in made[-1]):
            raise InvalidInput(f"{name} sentence {number} holds something else than words")
    return made


def _make_alignment(found: _native.AlignedPair) -> Alignment:
    links = tuple(zip(found.source.tolist(), found.target.tolist(), strict=True))
    counters = {"iterations": found.iterations, "nodes": found.nodes}
    status = Status.of_native(found.status)
    return Alignment(links, found.score, found.bound, status, counters, probabilities=found.probability)


def _make_alignments(found: _native.LinkBatch) -> list[Alignment]:
    links = list(zip(found.source.tolist(), found.target.tolist(), strict=True))
    probabilities = found.probability
    return [
        Alignment.unproven(tuple(links[begin:end]), probabilities[begin:end])
        for begin, end in pairwise(found.first.tolist())
    ]


def _unpack(texts: NDArray[np.uint8]) -> list[str]:
    return texts.tobytes().decode().split("\n")
