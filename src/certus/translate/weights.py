"""What the features of a translation weigh."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput

# The names that Moses gives to them, in the order of native/translate/phrase_table.hpp.
TRANSLATION, LANGUAGE_MODEL, DISTORTION = "TranslationModel", "LM", "Distortion"
WORD, PHRASE, UNKNOWN = "WordPenalty", "PhrasePenalty", "UnknownWordPenalty"
OWN = (LANGUAGE_MODEL, DISTORTION, WORD, PHRASE, UNKNOWN)
FEATURES = (TRANSLATION, *OWN)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each feature weighs; a translation scores the weighted sum.

    Attributes:
        translation: of the scores of phrase pairs (logarithms).
        language_model: of the log probability of the target words; not negative.
        distortion: of minus the words that are jumped over.
        word: of minus the number of target words.
        phrase: of the number of phrases.
        unknown: of -100 for each word that is passed through.
    """

    translation: tuple[float, ...]
    language_model: float = 1.0
    distortion: float = 0.3
    word: float = 0.0
    phrase: float = 0.0
    unknown: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not all(math.isfinite(value) for value in self.as_array().tolist()):
            raise InvalidInput("a weight is not finite")
        if self.language_model < 0:
            raise InvalidInput(
                f"the weight of the language model is {self.language_model}; it must be 0 or more, for a "
                "search that prefers improbable words has no bounds"
            )

    @classmethod
    def make_default(cls, features: int) -> Weights:
        """Return weights for tables that nobody tuned weights for."""
        return cls(translation=(1 / max(features, 1),) * features)

    def as_array(self) -> NDArray[np.float64]:
        """Return them in the order of FEATURES."""
        own = (self.language_model, self.distortion, self.word, self.phrase, self.unknown)
        return np.array([*self.translation, *own], np.float64)

    @classmethod
    def from_array(cls, values: Sequence[float] | NDArray[np.float64]) -> Weights:
        """Return weights from their order in FEATURES."""
        numbers = [float(value) for value in values]
        lm, distortion, word, phrase, unknown = numbers[-len(OWN) :]
        return cls(
            translation=tuple(numbers[: -len(OWN)]),
            language_model=lm,
            distortion=distortion,
            word=word,
            phrase=phrase,
            unknown=unknown,
        )

    def as_dict(self) -> dict[str, list[float]]:
        """Return them by the names that Moses gives to them."""
        return {name: list(values) for name, values in name_features(self.as_array()).items()}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any], features: int) -> Weights:
        """Return weights by the names that Moses gives to them; those that are missing have their defaults.

        Args:
            found: for each feature its weights.
            features: how many scores a phrase pair has.
        """
        for name, values in found.items():
            expected = features if name == TRANSLATION else 1
            if name not in FEATURES:
                raise InvalidInput(f"there is no feature {name}; there are {', '.join(FEATURES)}")
            if len(values) != expected:
                raise InvalidInput(f"{name} has {len(values)} weights, and {expected} are needed")
        default = cls.make_default(features).as_dict()
        merged = {name: found.get(name, default[name]) for name in FEATURES}
        return cls.from_array([value for name in FEATURES for value in merged[name]])

    def make_native(self) -> _native.FeatureWeights:
        """Return them as kernels take them."""
        made = _native.FeatureWeights()
        made.translation = list(self.translation)
        for name in ("language_model", "distortion", "word", "phrase", "unknown"):
            setattr(made, name, getattr(self, name))
        return made


def name_features(values: NDArray[np.float64]) -> dict[str, tuple[float, ...]]:
    """Return features by name, from their order in FEATURES."""
    numbers = values.tolist()
    count = len(numbers) - len(OWN)
    found = {TRANSLATION: tuple(numbers[:count])}
    return found | {name: (numbers[count + place],) for place, name in enumerate(OWN)}
