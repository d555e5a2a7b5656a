"""Refinement HMMs estimated spectrally: no iterations, no local optima."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import asdict
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput, RefinementWarning
from certus.learn.refinement.choosing import FEWEST, HELD_OUT, STRENGTHS, Choice, choose_best
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.data import Labelled, LabelledCorpus
from certus.learn.refinement.decoding import Summing
from certus.learn.refinement.diagnostics import Block, Diagnostics, LabelReport, explain_past, explain_present
from certus.learn.refinement.features import Features
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.spectral import Projected, Smoothing, estimate, project_all
from certus.learn.refinement.storage import (
    TENSORS,
    Arrays,
    declare_parameters,
    pack_parameters,
    pack_tensors,
    read_parameters,
    read_tensors,
)
from certus.learn.refinement.tensors import Tensors
from certus.storage.declaration import Array

Self = TypeVar("Self", bound="SpectralRefinement")
_DAMPED = 0.5  # how much of its memory the model keeps where it gives a sentence no positive total


class SpectralRefinement(Refinement):
    """A refinement HMM estimated from moments of features (Stratos, Rush, Cohen & Collins 2013).

    The estimate is consistent: with features that tell the hidden states apart, marginals approach those of
    the model that the sentences come from. It is linear algebra, so probabilities can come out negative;
    where they do, ``RefinementMarginals`` says so.

    Args:
        hidden: m, the most states per label. A label gets fewer where its features or samples allow no more.

    Other args:
        features: of future, past, present and destiny.
        smoothing: towards the plain HMM. By default it is chosen when the model is fitted: the usual
            ``Smoothing()``, a tenth of it or none, whichever labels the last tenth of the sentences best.
        tolerance: singular values below it are taken for 0; features are scaled so that 1 is large.
        rare: added to how often a feature occurs, before it is scaled by that.
        deficient: what to do where a label gets fewer states than asked for: ``warn``, ``raise`` or
            ``ignore``. In all cases ``diagnostics`` has it.
        seed: of the random ranges by which large matrices are decomposed.
    """

    tensors: Tensors
    plain: Parameters
    estimator: ClassVar[str] = "spectral"
    exact: ClassVar[bool] = False
    declared: ClassVar[dict[str, Array]] = {**TENSORS, **declare_parameters("plain_")}

    def __init__(
        self,
        hidden: int,
        *,
        features: Features | None = None,
        smoothing: Smoothing | None = None,
        tolerance: float = 1e-3,
        rare: float = 5.0,
        deficient: Literal["warn", "raise", "ignore"] = "warn",
        seed: int = 0,
    ) -> None:
        if hidden < 1:
            raise InvalidInput(f"hidden must be at least 1, not {hidden}")
        if not (np.isfinite(tolerance) and tolerance > 0 and np.isfinite(rare) and rare >= 0):
            raise InvalidInput(f"tolerance must be positive and rare not negative: {tolerance}, {rare}")
        if deficient not in ("warn", "raise", "ignore"):
            raise InvalidInput(f"deficient must be warn, raise or ignore, not {deficient!r}")
        self.hidden = hidden
        self.features: Features | None = features or Features()  # None once a file has lost them
        self.smoothing, self.tolerance, self.rare = smoothing or Smoothing(), tolerance, rare
        self.deficient, self.seed = deficient, seed
        self._chooses = smoothing is None and hidden > 1

    def fit(
        self: Self,
        sentences: Iterable[Labelled],
        *,
        labels: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Estimate the model, as ``Refinement.fit``, with smoothing that was chosen unless it is given."""
        given = list(sentences)
        if self._chooses and weights is None:
            self.smoothing = self._choose_smoothing(given)
        return super().fit(given, labels=labels, weights=weights)

    def _choose_smoothing(self, sentences: list[Labelled]) -> Smoothing:
        """Return the smoothing with which the first sentences label the last tenth best."""
        few = len(sentences) // HELD_OUT
        if len(sentences) < FEWEST or self.features is None:
            return Smoothing()
        train, dev = sentences[:-few], sentences[-few:]

        def measure(choice: Choice) -> float:
            tried = copy(self)
            tried.smoothing, tried.deficient, tried._chooses = (
                Smoothing().scale(choice.strength),
                "ignore",
                False,
            )
            return tried.fit(train).measure_accuracy(dev)

        return Smoothing().scale(choose_best(measure, [self.hidden], STRENGTHS).strength)

    def _estimate(self, corpus: LabelledCorpus) -> None:
        if self.features is None:
            raise InvalidInput(
                "the features of this model were functions, which its file does not hold: make a new "
                "SpectralRefinement with them"
            )
        projected = project_all(
            corpus, self.features.evaluate(corpus), self.hidden,
            tolerance=self.tolerance, rare=self.rare, seed=self.seed,
        )  # fmt: skip
        self.diagnostics = self._diagnose(corpus, projected)
        counts = Counts.of(corpus)
        self._use(
            estimate(corpus, counts, projected, self.smoothing),
            counts.estimate_parameters(self.smoothing.counts),
        )

    def _use(self, found: Tensors, plain: Parameters) -> None:
        """Become the model that these make; rungs are kept, since they keep what they have contracted."""
        self.tensors, self.plain = found, plain
        self._rungs: tuple[Summing, ...] = (found, found.damp(_DAMPED), plain.operators)

    def _diagnose(self, corpus: LabelledCorpus, projected: Projected) -> Diagnostics:
        samples = np.bincount(corpus.labels, minlength=len(corpus.names.labels)).tolist()
        reports = tuple(
            self._report(*about)
            for about in zip(corpus.names.labels, samples, projected.pasts, projected.presents, strict=True)
        )
        found = Diagnostics(reports)
        if found.problems and self.deficient == "raise":
            raise InvalidInput("; ".join(found.problems) + '; or allow fewer states by deficient="warn"')
        if found.problems and self.deficient == "warn":
            warnings.warn("\n".join(found.problems), RefinementWarning, stacklevel=5)
        return found

    def _report(self, label: str, samples: int, past: Block, present: Block) -> LabelReport:
        problem = explain_past(label, samples, self.hidden, past, self.tolerance)
        if not problem and self.hidden > 1:
            problem = explain_present(label, present, self.tolerance)
        return LabelReport(label, samples, past, present, problem)

    def _list_rungs(self) -> Sequence[Summing]:
        return self._rungs

    def get_plain(self) -> Parameters:
        """Return the plain HMM that the model falls back on."""
        return self.plain

    def _pack_parts(self) -> dict[str, NDArray[Any]]:
        return {**pack_tensors(self.tensors), **pack_parameters(self.plain, "plain_")}

    def _rebuild(self, arrays: Arrays) -> None:
        self._use(read_tensors(arrays), read_parameters(arrays, "plain_"))

    def _list_settings(self) -> dict[str, Any]:
        return {
            "hidden": self.hidden,
            "features": None if self.features is None else self.features.list_templates(),
            "smoothing": asdict(self.smoothing),
            **{name: getattr(self, name) for name in ("tolerance", "rare", "deficient", "seed")},
        }

    @classmethod
    def _make(cls, settings: dict[str, Any]) -> SpectralRefinement:
        features = settings["features"]
        model = cls(**{
            **settings,
            "features": None if features is None else Features(**features),
            "smoothing": Smoothing(**settings["smoothing"]),
        })  # fmt: skip
        if features is None:
            model.features = None
        return model
