"""What other rooms need of a model that labels sequences: a tagger, seen from its lattices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.lattice.lattices import TagLattices
from certus.solution import LabelSolution


class SequenceModel(Protocol):
    """A model of label sequences that others can be joined with; ``certus.Tagger`` is one.

    Joint parsing asks it for lattices, and agreement across sentences for the words it knows as well.
    """

    @property
    def labels(self) -> list[str]:
        """The names of the labels, in the order of their numbers."""

    @property
    def coarse_labels(self) -> list[str]:
        """For each label the group of labels that are close to it."""

    @property
    def order(self) -> int:
        """How many labels back the transitions look."""

    @property
    def target_expression(self) -> str:
        """What is predicted, such as ``xpos``; for messages."""

    @property
    def columns(self) -> list[str]:
        """The columns of a sentence that it looks at, the words first."""

    @property
    def known(self) -> NDArray[np.uint32]:
        """The words of the training data, as keys of ``certus.annotation.vocabulary``."""

    @property
    def agreement_scale(self) -> float:
        """How many times larger than log-probabilities the scores are, which weights of agreement follow."""

    def search(
        self,
        cells: Sequence[list[list[str]]],
        *,
        pruning: float = 1.0,
        threads: int = 1,
        margins: NDArray[np.float64] | None = None,
    ) -> _native.Lattices:
        """Search sentences given as columns; the lattices stay in the kernels."""

    def lattices(
        self, sentences: Iterable[Sequence[str]], *, pruning: float = 1.0, threads: int = 1
    ) -> TagLattices:
        """Search sentences, and keep what is left, to decode again with adjusted scores."""

    def tag_batch(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        allowed: Sequence[Sequence[Sequence[str] | None] | None] | None = None,
        threads: int = 1,
    ) -> Sequence[LabelSolution[list[str]]]:
        """Return the best labels of each sentence, of those that its words are allowed to have."""
