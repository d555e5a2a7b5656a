"""Trees to learn parsers from, as the kernels take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from certus.annotation.columns import Columns
from certus.annotation.dependencies import find_crossing, read_dependencies
from certus.annotation.sentence import Sentence
from certus.learn.arcs.options import INPUTS


class Treebank:
    """The columns and trees of sentences.

    Args:
        sentences: annotated ones.
        columns: to keep, the words first.

    Attributes:
        columns: those.
        cells: by sentence, then by column.
        heads: (tokens,) of all words, one sentence after the other.
        relations: of all words.
        lengths: of the sentences.
        several_roots: how many sentences have more than one word whose head is the root.
        crossing: how many trees are not projective.
    """

    def __init__(self, sentences: Iterable[Sentence], columns: Sequence[str] = INPUTS) -> None:
        self.columns = tuple(columns)
        self.cells: list[Columns] = []
        self.relations: list[str] = []
        self.lengths: list[int] = []
        self.several_roots = self.crossing = 0
        heads: list[int] = []
        for sentence in sentences:
            tree = read_dependencies(sentence)
            self.cells.append([sentence.column(name) for name in self.columns])
            self.lengths.append(len(tree))
            self.relations += tree.relations
            self.several_roots += tree.heads.count(0) > 1
            self.crossing += find_crossing(tree.heads) > 0
            heads += tree.heads
        self.heads: NDArray[np.int32] = np.array(heads, np.int32)

    @property
    def tokens(self) -> int:
        """How many words there are."""
        return len(self.relations)

    def __len__(self) -> int:
        return len(self.cells)

    def find_filled(self) -> tuple[str, ...]:
        """Return the columns that hold something else than "_" in any sentence."""
        return tuple(
            name
            for place, name in enumerate(self.columns)
            if any(cell != "_" for cells in self.cells for cell in cells[place])
        )

    def select(self, columns: Sequence[str]) -> list[Columns]:
        """Return the cells of some of the columns, in their order."""
        places = [self.columns.index(name) for name in columns]
        return [[cells[place] for place in places] for cells in self.cells]

    def digest(self) -> str:
        """Return a short name for all cells and trees, in their order."""
        digest = blake2b(digest_size=16)
        for cells in self.cells:
            for column in cells:
                digest.update("\t".join([*column, "\n"]).encode(errors="surrogatepass"))
        digest.update(self.heads.tobytes())
        digest.update("\t".join(self.relations).encode(errors="surrogatepass"))
        return digest.hexdigest()
