"""Taggers: trained on annotated sentences, they label new ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from certus.annotation.targets import Target
from certus.checks import check_count
from certus.learn.features.data import compile_templates
from certus.learn.learner import Learned, Learner
from certus.learn.learners import make_learner
from certus.models.sentence_labeller import SentenceLabeller
from certus.storage import model_file

if TYPE_CHECKING:  # training is imported when it is asked for: tagging starts sooner
    from certus.learn.progress import Progress
    from certus.models.fitting import Source

KIND = "tagger"  # of model files


class Tagger(SentenceLabeller):
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
        learner: with its options, and the defaults of those that were not given.
        description: what the model file says about the model: training data, dev accuracy, ...

    Example:
        >>> tagger = Tagger("upos+feats", learner="crf", order=2)  # doctest: +SKIP
        >>> tagger.fit("train.conllu", dev="dev.conllu").tag(["The", "dog", "barks"]).labels  # doctest: +SKIP
    """

    def __init__(
        self, target: str = "upos", learner: str = "pruned-crf", *, templates: str | None = None, **given: Any
    ) -> None:
        super().__init__(Target(target), make_learner(learner, given))
        self._templates = None if templates is None else compile_templates(templates)
        if self._templates is not None:
            self.learner.check_templates(self._templates)
        self._checkpoint: str | os.PathLike[str] | None = None

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers behind its learner, for ``certus.citation``."""
        return self.learner.papers

    def fit(
        self,
        train: Source,
        dev: Source | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        threads: int = 1,
        format: str | None = None,
        columns: str | Sequence[str] | None = None,
        encoding: str = "utf-8",
        metadata: Mapping[str, Any] | None = None,
    ) -> Tagger:
        """Learn from annotated sentences; returns the tagger itself.

        Args:
            train: a file, or sentences read with ``certus.formats.read``.
            dev: others to measure accuracy on after each epoch: the best epoch is kept, and training stops
                when it no longer rises. Labels that the training data lack count as wrong;
                ``description["dev"]["unseen"]`` says how many there are.

        Other args:
            progress: is called after each epoch, and ends training where it returns True.
            checkpoint: a file to keep the state of training in after each epoch; if it is there already,
                training goes on from it. ``save`` removes it, once the model is safe.
            threads: for measuring on dev; learning itself is sequential, so that results do not depend on it.
            format: of the files; guessed by default.
            columns: of column files.
            encoding: of the files.
            metadata: what to record in the model: ``licence``, ``attribution``, ...
        """
        from certus.models import fitting

        check_count("threads", threads)
        learned, description = fitting.fit(
            self.target,
            self.learner,
            self._templates,
            train,
            dev,
            progress=progress or (lambda _: None),
            checkpoint=checkpoint,
            threads=threads,
            reading={"format": format, "columns": columns, "encoding": encoding},
        )
        self._use(learned, {**description, **(metadata or {})})
        self._checkpoint = checkpoint
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; a checkpoint of the training is then removed."""
        self._decoder  # noqa: B018 (raises NotFitted)
        model_file.write(path, KIND, self._arrays, self.description)
        if self._checkpoint is not None and os.path.exists(self._checkpoint):
            os.unlink(self._checkpoint)
        self._checkpoint = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Map a model file into memory."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> Tagger:
        """Make a tagger of an opened model file."""
        with model_file.blame_file(file, KIND) as about:
            given = {name: tuple(x) if isinstance(x, list) else x for name, x in about["options"].items()}
            templates = "\n".join(about["templates"]) if "templates" in about else None
            tagger = cls(about["target"], about["learner"], templates=templates, **given)
            tagger._use(tagger.learner.restore(tagger.target, file.arrays, about), about)
        return tagger

    def _use(self, learned: Learned, description: dict[str, Any]) -> None:
        """Label sentences by what was learned."""
        self._learned = self.learner.make_decoder(learned)
        self._inventory, self._arrays, self.description = learned.inventory, learned.arrays, description

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the bytes of the model file; what nobody trained, by its options."""
        if not self._arrays:
            templates = None if self._templates is None else str(self._templates)
            return _make_untrained, (self.target.expression, self.learner, templates)
        data = model_file.pack(KIND, self._arrays, self.description)
        return *model_file.pickle_model(type(self), data), self._decoder.get_settings()

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self._decoder.set_settings(settings)

    def __repr__(self) -> str:
        trained = f"{len(self.labels):,} labels" if self._arrays else "not trained"
        return f"Tagger({self.target.expression!r}, {self.learner.name}, {trained})"


def _make_untrained(target: str, learner: Learner, templates: str | None) -> Tagger:
    return Tagger(target, learner.name, templates=templates, **asdict(learner))
