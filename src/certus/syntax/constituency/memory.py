"""What the kernels refuse to hold in memory, said in the user's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from certus.errors import InvalidInput

_GIB = 2.0**30


@contextmanager
def bounded_memory(sentences: Sequence[Sequence[str]], k: int = 1) -> Iterator[None]:
    """Turn the kernels' refusal of a sentence into an error that names it, its words and the memory."""
    try:
        yield
    except ValueError as error:
        sentence, needed = str(error).split()
        words = len(sentences[int(sentence)])
        where = f"sentence {sentence}: " if len(sentences) > 1 else ""
        what = f"its chart with the {k:,} best trees" if k > 1 else "its chart"
        size = float(needed) / _GIB
        raise InvalidInput(
            f"{where}the sentence has {words:,} words, and {what} could take {size:,.1f} GiB, "
            f"of which no sentence gets more than 4; {'ask for fewer trees, or ' if k > 1 else ''}split it"
        ) from None
