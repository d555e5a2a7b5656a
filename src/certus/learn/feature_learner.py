"""What learners of feature weights share: templates, epochs over the data, and decoding by weights."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.decoder import Decoder
from certus.learn.feature_decoder import CHAIN, FeatureDecoder
from certus.learn.features.data import choose_templates, compile_templates, make_extractors
from certus.learn.features.inventory import Inventory
from certus.learn.learner import Learned, Learner, TrainingData, option
from certus.storage.declaration import Declaration

if TYPE_CHECKING:  # training is imported when it is asked for: tagging starts sooner
    from certus.annotation.targets import Target
    from certus.learn.features.data import TrainingSet
    from certus.learn.features.templates import Templates
    from certus.learn.progress import Progress
    from certus.learn.trainer import Trainer


@dataclass(frozen=True, kw_only=True)
class FeatureLearner(Learner):
    """A learner that goes over the data again and again."""

    min_count: int = option(1, "Features that occur less often are left out.", least=1)
    hash_bits: int = option(
        0, "At most 2^bits features, by a hash kernel; 0 keeps them all apart.", least=0, most=48
    )
    seed: int = option(0, "The seed of the order in which sentences are seen.", least=0)
    patience: int = option(3, "Stop after this many epochs without a better dev accuracy.", least=1)
    drop: float = option(0.0, "Leave weights smaller than this out of the model.", least=0)
    epochs: int = option(10, "Passes over the training data.", least=1)

    looks_at: ClassVar[str] = "the columns that templates name"
    declaration: ClassVar[Declaration] = CHAIN

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return False

    @property
    def total(self) -> int:
        """How many epochs there may be in all."""
        return self.epochs

    def check_templates(self, templates: Templates) -> None:
        """Refuse features of two labels in a row where the learner has none."""
        if templates.ask_pairs and not self.pairs:
            raise InvalidInput(
                f"the learner {self.name} has no features of pairs of labels (templates that begin "
                "with pair); perceptron, crf with algorithm=lbfgs and latent-crf have"
            )

    def choose_columns(
        self, available: Sequence[str], target: Target, templates: Templates | None
    ) -> tuple[str, ...]:
        """Return the columns of the templates, or of those that suit the data."""
        return (templates or compile_templates(choose_templates(available, target))).columns

    @abstractmethod
    def start(self, data: TrainingSet, threads: int) -> Trainer:
        """Make what learns the weights of numbered features, epoch by epoch."""

    def fit(
        self,
        data: TrainingData,
        *,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object],
        threads: int,
    ) -> Learned:
        """Learn the weights of features, and keep those of the best epoch."""
        from certus.learn import training
        from certus.learn.checkpoint import Checkpoint, identify
        from certus.learn.features.data import TrainingSet

        templates = data.templates or compile_templates(
            choose_templates(data.available, data.target, data.examples.labels)
        )
        identity = identify(self, data, templates)
        inventory = self.list_labels(data.target, sorted(set(data.examples.labels)))
        numbered = TrainingSet(
            data.examples,
            inventory,
            templates,
            rare=self.rare,
            hash_bits=self.hash_bits,
            min_count=self.min_count,
        )
        fixed: dict[str, NDArray[Any]] = {
            "frequent": numbered.frequent,
            "label_counts": np.bincount(numbered.labels, minlength=len(inventory)),
        }
        if numbered.seen is not None:
            fixed["seen"] = numbered.seen
        sizes = self.list_sizes(len(inventory))
        outcome = training.train(
            self.start(numbered, threads),
            epochs=self.total,
            patience=self.patience,
            order=lambda epoch: numbered.order(np.random.default_rng((self.seed, epoch))),
            measure=self._measure(data, numbered, threads),
            checkpoint=Checkpoint(
                checkpoint, identity, lambda best: self.declaration.check({**best, **fixed}, **sizes)
            ),
            progress=progress,
        )
        arrays = {**outcome.weights, **fixed}
        notes = {
            "columns": list(templates.columns),
            "templates": str(templates).splitlines(),
            "features": int(arrays["features"]) + int(arrays.get("pair_features", 0)),
        }
        return Learned(inventory, arrays, notes, outcome.accuracy)

    def _measure(
        self, data: TrainingData, numbered: TrainingSet, threads: int
    ) -> Callable[[Mapping[str, NDArray[Any]]], float] | None:
        """Return what measures weights on held-out data, if there are any."""
        held_out = data.held_out
        if held_out is None:
            return None
        gold = numbered.inventory.number_labels(held_out.labels)

        def measure(weights: Mapping[str, NDArray[Any]]) -> float:
            decoder = self.decode_by(
                numbered.inventory, numbered.tagset, weights, numbered.extractor, numbered.pair_extractor
            )
            return decoder.measure_accuracy(held_out.cells, gold, threads)

        return measure

    def list_sizes(self, labels: int) -> dict[str, int]:
        """Return the sizes that arrays of a model with so many labels have."""
        return {"labels": labels, "states": labels, "pairs": labels**2 if self.pairs else 0}

    def make_decoder(self, learned: Learned) -> Decoder:
        """Make what finds features, adds up their weights and finds the best labels."""
        columns = tuple(learned.notes["columns"])
        templates = compile_templates("\n".join(learned.notes["templates"]))
        if templates.columns != columns:
            raise InvalidInput(f"the templates are over {', '.join(templates.columns)}, not {columns}")
        arrays, inventory = learned.arrays, learned.inventory
        extractor, pairs = make_extractors(templates, arrays["frequent"], self.hash_bits, arrays.get("seen"))
        return self.decode_by(inventory, inventory.to_native(), arrays, extractor, pairs)

    def decode_by(
        self,
        inventory: Inventory,
        tagset: _native.Tagset,
        weights: Mapping[str, NDArray[Any]],
        extractor: _native.Extractor,
        pair_extractor: _native.Extractor | None,
    ) -> Decoder:
        """Make the decoder of some weights, given what finds features of labels and of pairs of labels.

        Features of pairs need one whose transitions may all differ.
        """
        if pair_extractor is None:
            return FeatureDecoder(extractor, inventory, tagset, weights)
        from certus.learn.latent_decoder import LatentDecoder

        return LatentDecoder(extractor, pair_extractor, inventory, weights, tagset=tagset)
