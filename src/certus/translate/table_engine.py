"""What models of translation share: a table of phrases or of rules, and a language model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import ModelError
from certus.storage.declaration import Array, Declaration, offsets, reals, whole
from certus.storage.tensors import DAMAGED

Kernel = TypeVar("Kernel")

# native/translate/phrase_table.hpp says what they hold.
DECLARATION = Declaration(
    {
        **{
            f"{side}_{name}": declared
            for side in ("source", "target")
            for name, declared in {
                "begin": offsets(f"{side}_words", into=f"{side}_bytes", each=1),
                "bytes": Array(("uint8",), (f"{side}_bytes",)),
                "slots": whole(f"{side}_slots", types="uint32", below=f"{side}_words+1"),
            }.items()
        },
        "phrase_first": offsets("phrases", into="phrase_words", each=1),
        "phrase_words": whole("phrase_words", types="uint32", below="source_words"),
        "entry_first": offsets("phrases", into="entries", each=1),
        "translation_first": offsets("entries", into="translation_words", each=1),
        "translation_words": whole("translation_words", types="uint32", below="target_words"),
        "scores": reals("features*entries"),
    }
)


class TableEngine(Generic[Kernel]):
    """A table and a language model, checked and handed to the kernel.

    Args:
        arrays: of the table.
        model: of the target language.
        features: how many scores a phrase pair or a rule has.
    """

    name: ClassVar[str]  # of the kind of model, in model files
    usual_seconds: ClassVar[float] = math.inf  # the most time for a sentence, where the caller gives none
    kernel: Callable[[dict[str, NDArray[Any]], _native.LanguageModel], Kernel]

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], model: _native.LanguageModel, features: int
    ) -> None:
        sizes = DECLARATION.check(arrays, features=features)
        for side in ("source", "target"):
            _check_words(arrays[f"{side}_bytes"], arrays[f"{side}_begin"], side)
            slots = sizes[f"{side}_slots"]
            if slots & (slots - 1) or not slots or sizes[f"{side}_words"] < 3:
                raise ModelError(f"its {side} words cannot be looked up; {DAMAGED}")
        self.arrays = {name: arrays[name] for name in DECLARATION.arrays}
        self.features = features
        self.entries = sizes["entries"]
        self._native = type(self).kernel(self.arrays, model)


def _check_words(spelled: NDArray[np.uint8], begin: NDArray[Any], side: str) -> None:
    """Refuse words that are not UTF-8, or begin or end within a character."""
    try:
        spelled.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"its {side} words are not UTF-8, from byte {error.start} on; {DAMAGED}") from None
    inner = begin[begin < len(spelled)]
    if ((spelled[inner] & 0xC0) == 0x80).any():
        raise ModelError(f"its {side} words begin within characters; {DAMAGED}")
