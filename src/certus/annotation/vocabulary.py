"""The words of the training data, as a model file keeps them: 32 bits per word, whatever its length.

One unknown word in 200,000 is taken for one of 20,000 known ones: rarer than misprints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native


def make_keys(words: Sequence[str]) -> NDArray[np.uint32]:
    """Return the keys of words, ascending, each once."""
    return np.unique(_hash_words(words))


def contains(keys: NDArray[Any], words: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each word whether its key is among these."""
    found: NDArray[np.bool_] = np.isin(_hash_words(words), keys)
    return found


def _hash_words(words: Sequence[str]) -> NDArray[np.uint32]:
    return (_native.word_keys(list(words)) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
