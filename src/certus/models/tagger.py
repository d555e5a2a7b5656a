"""Taggers: trained on annotated sentences, they label new ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.columns import Words, select_columns
from certus.annotation.targets import Target
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput, ModelError
from certus.learn import options
from certus.learn.decoders import Allowed, Cells, Decoded, Decoder, NativeDecoder, make_decoder
from certus.learn.features.data import compile_templates, extractors
from certus.learn.features.inventory import Inventory
from certus.models.answers import Choices, Dictionary, answers, limits
from certus.storage import model_file

if TYPE_CHECKING:  # training is imported when it is asked for: tagging starts sooner
    from certus.lattice.lattices import TagLattices
    from certus.learn.latent_decoder import LatentDecoder
    from certus.learn.refinement import Refinement
    from certus.learn.training import Progress
    from certus.models.fitting import Source


class Tagger:
    """Labels the words of sentences: parts of speech, morphology, chunks, entities, or several at once.

    Args:
        target: what to predict, as an expression over columns: ``upos``, ``upos+feats``, ``pos|chunk``.
        learner: ``pruned-crf`` (also ``crf`` with an order above 1), ``perceptron``, ``crf``, ``latent-crf``,
            ``hmm`` or ``refinement``.

    Other args:
        templates: feature templates (see docs/features.md); by default those that suit the data.
        **given: options of the learner, such as ``order`` and ``epochs``; docs/tagging.md lists them.

    Attributes:
        target: what is predicted.
        options: the learner's, with the defaults of those that were not given.
        description: what the model file says about the model: training data, dev accuracy, ...

    Example:
        >>> tagger = Tagger("upos+feats", learner="crf", order=2)  # doctest: +SKIP
        >>> tagger.fit("train.conllu", dev="dev.conllu").tag(["The", "dog", "barks"]).labels  # doctest: +SKIP
    """

    def __init__(
        self, target: str = "upos", learner: str = "pruned-crf", *, templates: str | None = None, **given: Any
    ) -> None:
        self.target = Target(target)
        self.options = options.choose(learner, given)
        if templates is not None and not isinstance(self.options, options.Features):
            looks = "words alone" if isinstance(self.options, options.Hmm) else "the columns of observe"
            raise InvalidInput(f"the learner {learner} looks at {looks}: leave the templates out")
        self._templates = None if templates is None else compile_templates(templates)
        if self._templates is not None and self._templates.ask_pairs and not self.options.pairs:
            raise InvalidInput(
                f"the learner {self.options.name} has no features of pairs of labels (templates that begin "
                "with pair); crf with algorithm=lbfgs and latent-crf have"
            )
        self.description: dict[str, Any] = {}
        self._inventory = Inventory([])
        self._arrays: Mapping[str, NDArray[Any]] = {}
        self._decoder: Decoder | None = None
        self._checkpoint: str | os.PathLike[str] | None = None

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
                when it no longer rises. Labels that the training data lack count as wrong;
                ``description["dev"]["unseen"]`` says how many there are.

        Other args:
            progress: is called after each epoch.
            checkpoint: a file to keep the state of training in after each epoch; if it is there already,
                training goes on from it. ``save`` removes it, once the model is safe.
            threads: for measuring on dev; learning itself is sequential, so that results do not depend on it.
            format: of the files; guessed by default.
            columns: of column files.
            encoding: of the files.
            about: what to record in the model: ``licence``, ``attribution``, ...
        """
        from certus.models import fitting

        check_positive("threads", threads)
        inventory, arrays, description = fitting.fit(
            self.target,
            self.options,
            self._templates,
            train,
            dev,
            progress=progress or (lambda _: None),
            checkpoint=checkpoint,
            threads=threads,
            reading={"format": format, "columns": columns, "encoding": encoding},
        )
        self._use(inventory, arrays, {**description, **(about or {})})
        self._checkpoint = checkpoint
        return self

    # ------------------------------------------------------------------------------------------ answering

    def tag(
        self,
        sentence: Words,
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Choices | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
    ) -> Any:
        """Label one sentence: a Tagging, or with k > 1 a list of at most k, best first.

        Where constraints leave no label sequence at all, the Tagging has the status INFEASIBLE and no labels
        (with k > 1, the list is empty).

        Args:
            sentence: its words; or a Sentence or a mapping from column names, where features look at other
                columns too.
            k: how many of the best label sequences to return.
            confidence: whether to return probabilities as well.

        Other args:
            allowed: for each word the labels it may get, or None for all.
            legal: which labels may follow which: ``certus.bio(tagger.labels)``.
            dictionary: the labels that words may get, for the words it lists and where ``allowed`` is None.
        """
        return self.tag_batch(
            [sentence],
            k=k,
            confidence=confidence,
            allowed=None if allowed is None else [allowed],
            legal=legal,
            dictionary=dictionary,
        )[0]

    def tag_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Sequence[Choices | None] | None = None,
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
            dictionary: as for ``tag``.
        """
        names = self.columns
        cells = [select_columns(sentence, names) for sentence in sentences]
        restricted = limits(cells, self._inventory, allowed, dictionary)
        decoded = self.decode(
            cells, k=k, confidence=confidence, threads=threads, allowed=restricted, legal=legal
        )
        found = [answers(decoded, n, k, self.labels) for n in range(len(cells))]
        return [several[0] for several in found] if k == 1 else found

    def decode(
        self,
        cells: Cells,
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
        check_positive("k", k)
        check_positive("threads", threads)
        if legal is not None and list(legal.labels) != self.labels:
            raise InvalidInput("legal is over other labels than the tagger's: make it from tagger.labels")
        return self._decoder.decode(
            cells, k=k, confidence=confidence, threads=threads, allowed=allowed, legal=legal
        )

    def lattices(self, sentences: Iterable[Words], *, pruning: float = 1.0, threads: int = 1) -> TagLattices:
        """Search many sentences once, and keep what is left to decode again with adjusted scores.

        Args:
            sentences: as for ``tag``.
            threads: how many threads to use; the lattices do not depend on it.

        Other args:
            pruning: what a pruned CRF's thresholds are multiplied by: less than 1 leaves more to choose from,
                0 everything, which only small tag sets bear. Other learners prune nothing anyway.
        """
        from certus.lattice.lattices import TagLattices

        names = self.columns
        cells = [select_columns(sentence, names) for sentence in sentences]
        return TagLattices(self.search(cells, pruning=pruning, threads=threads), self.labels)

    def search(self, cells: Cells, *, pruning: float = 1.0, threads: int = 1) -> _native.Lattices:
        """Search sentences given as columns of cells; the lattices stay in the kernels."""
        if self._decoder is None:
            raise InvalidInput("this tagger is not trained yet: call fit, or load one with certus.load")
        check_positive("threads", threads)
        if not 0 <= pruning < float("inf"):
            raise InvalidInput(f"pruning is {pruning}; it must be a number that is not below 0")
        return self._decoder.lattices(cells, pruning=pruning, threads=threads)

    def emissions(self, sentence: Words) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens, (T, L), that decoding starts from."""
        if not isinstance(self._decoder, NativeDecoder):
            raise InvalidInput("emissions are those of a trained perceptron or CRF")
        return self._decoder.emissions(select_columns(sentence, self.columns))

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
    def latent(self) -> LatentDecoder:
        """What decodes a trained ``latent-crf``: its ``inference`` may be set, its ``chain`` looked at."""
        from certus.learn.latent_decoder import LatentDecoder

        if not isinstance(self._decoder, LatentDecoder):
            raise InvalidInput("latent states are what a trained latent-crf has")
        return self._decoder

    @property
    def refinement(self) -> Refinement:
        """The model of a trained ``refinement``, with its diagnostics."""
        from certus.learn.refinement.decoder import RefinementDecoder

        if not isinstance(self._decoder, RefinementDecoder):
            raise InvalidInput("a refinement is what the learner refinement trains")
        return self._decoder.model

    @property
    def labels(self) -> list[str]:
        """The names of the labels, in the order of their numbers."""
        return self._inventory.labels

    @property
    def coarse_labels(self) -> list[str]:
        """The first part of each label: the tag without its features, the first of several columns."""
        return [self.target.parts(label)[0] for label in self.labels]

    @property
    def order(self) -> int:
        """How many labels back the transitions look."""
        return int(getattr(self.options, "order", 1))

    @property
    def target_expression(self) -> str:
        """What is predicted, as an expression over columns."""
        return self.target.expression

    @property
    def agreement_scale(self) -> float:
        """How many times larger than log-probabilities the scores are, which weights of agreement follow."""
        return self.options.agreement_scale

    @property
    def columns(self) -> list[str]:
        """The columns that features look at, the words first."""
        return list(self.description.get("columns", ["word"]))

    @property
    def known(self) -> NDArray[np.uint32]:
        """The words of the training data, as keys of ``certus.annotation.vocabulary``."""
        if self._decoder is None:
            raise InvalidInput("this tagger is not trained yet: it knows no words")
        if "known" not in self._arrays:
            raise InvalidInput(
                "this model does not hold the words of its training data, as models of older versions do "
                "not: train it again, or say which words are known (in Python known=, on the command line "
                "--known with the training file)"
            )
        return self._arrays["known"]

    # ------------------------------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; a checkpoint of the training is then removed."""
        if self._decoder is None:
            raise InvalidInput("this tagger is not trained yet: there is nothing to save")
        model_file.write(path, "tagger", self._arrays, self.description)
        if self._checkpoint is not None and os.path.exists(self._checkpoint):
            os.unlink(self._checkpoint)
        self._checkpoint = None

    @classmethod
    def load(cls, path: Any) -> Tagger:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Tagger:
        """Make a tagger of an opened model file."""
        if file.kind != "tagger":
            raise ModelError(f"{file.path} holds a {file.kind}, not a tagger")
        about = file.description
        try:
            chosen = {name: tuple(x) if isinstance(x, list) else x for name, x in about["options"].items()}
            templates = "\n".join(about["templates"]) if "templates" in about else None
            tagger = cls(about["target"], about["learner"], templates=templates, **chosen)
            parts = tagger.target.parts if tagger.options.shared else None
            tagger._use(Inventory(about["labels"], parts), file.arrays, about)
        except (ModelError, LookupError, TypeError, AttributeError, ValueError) as error:
            raise ModelError(f"{file.path} is damaged or of another version: {_reason(error)}") from error
        return tagger

    def _use(
        self, inventory: Inventory, arrays: Mapping[str, NDArray[Any]], description: dict[str, Any]
    ) -> None:
        """Become the tagger that these make."""
        if isinstance(self.options, options.Hmm):
            from certus.learn.hmm import Hmm
            from certus.learn.hmm_decoder import HmmDecoder

            decoder: Decoder = HmmDecoder(Hmm.from_arrays(arrays), len(inventory))
        elif isinstance(self.options, options.Refinement):
            from certus.learn.refinement.fitting import reopened

            decoder = reopened(self.options, inventory, arrays, description)
        else:
            columns = tuple(description["columns"])
            templates = self._templates or compile_templates("\n".join(description["templates"]))
            if templates.columns != columns:
                raise InvalidInput(f"the templates are over {', '.join(templates.columns)}, not {columns}")
            bits = int(description["options"].get("hash_bits", 0))
            extractor, pairs = extractors(templates, arrays["frequent"], bits, arrays.get("seen"))
            decoder = make_decoder(extractor, inventory, inventory.native(), arrays, self.options, pairs)
        self._inventory, self._arrays, self.description = inventory, arrays, description
        self._decoder = decoder

    def __repr__(self) -> str:
        trained = f"{len(self.labels):,} labels" if self._decoder else "not trained"
        return f"Tagger({self.target.expression!r}, {self.options.name}, {trained})"


def check_positive(name: str, value: int) -> None:
    """Refuse a count below one."""
    if not value >= 1:
        raise InvalidInput(f"{name} is {value}; it must be at least 1")


def _reason(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)
