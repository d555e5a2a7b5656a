"""From words to label numbers: what a tagger runs once it is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput
from certus.learn import options
from certus.learn.features.inventory import Inventory

MOST_BYTES = 1 << 25  # of scores that are held at a time

Cells = Sequence[list[list[str]]]
Allowed = list[list[NDArray[np.int32] | None] | None]


@dataclass(frozen=True)
class Decoded:
    """The answers for many sentences, one after the other.

    Attributes:
        first: (sentences + 1,) where the tokens of each begin.
        labels: k rows of label numbers for each sentence.
        found: (sentences,) how many rows of those are answers.
        scores: (sentences, k)
        bounds: (sentences,)
        optimal: (sentences,) whether the bound is met.
        confidence: (tokens,) of the best labels, or nothing.
        log_partition: (sentences,) or nothing.
        position: (sentences,) the first position that no label sequence reaches, where none is found.
    """

    first: NDArray[np.int64]
    labels: NDArray[np.int32]
    found: NDArray[np.int64]
    scores: NDArray[np.float64]
    bounds: NDArray[np.float64]
    optimal: NDArray[Any]
    confidence: NDArray[np.float32]
    log_partition: NDArray[np.float64]
    position: NDArray[np.int64]

    @classmethod
    def nothing(cls, first: NDArray[np.int64], k: int, confidence: bool) -> Decoded:
        """Return room for answers, with none found yet."""
        count, tokens = len(first) - 1, int(first[-1])
        return cls(
            first,
            labels=np.full(tokens * k, -1, np.int32),
            found=np.zeros(count, np.int64),
            scores=np.full((count, k), -np.inf),
            bounds=np.full(count, -np.inf),
            optimal=np.zeros(count, bool),
            confidence=np.zeros(tokens if confidence else 0, np.float32),
            log_partition=np.full(count if confidence else 0, -np.inf),
            position=np.zeros(count, np.int64),
        )


class Decoder(Protocol):
    """What a Tagger needs of it."""

    def decode(
        self,
        cells: Cells,
        *,
        k: int,
        confidence: bool,
        threads: int,
        allowed: Allowed | None,
        legal: Automaton | None,
    ) -> Decoded:
        """Label sentences given as columns of cells."""

    def lattices(self, cells: Cells, *, pruning: float, threads: int) -> _native.Lattices:
        """Return what there is to choose from, for decoding again and again."""


class NativeDecoder:
    """Features, scores and labels, all in the kernels.

    With transitions among its arrays it decodes exactly, by the chain engine; with n-grams, by a cascade of
    pruned lattices.
    """

    def __init__(
        self,
        extractor: _native.Extractor,
        inventory: Inventory,
        tagset: _native.Tagset,
        arrays: Mapping[str, NDArray[Any]],
    ) -> None:
        self._made_of = extractor, tagset, arrays
        self._labels = len(inventory)
        self._chain = None if "ngram_keys" in arrays else chain_of(self._labels, arrays)
        self._free = self._make(None)
        # For chains, one for each set of legal sequences, for as long as somebody has that set.
        self._constrained: WeakKeyDictionary[Automaton, _native.Tagger] = WeakKeyDictionary()

    def _tagger(self, legal: Automaton | None) -> _native.Tagger:
        """Return the kernels' tagger for legal sequences only, or for all."""
        if legal is None:
            return self._free
        if legal not in self._constrained:
            self._constrained[legal] = self._make(legal)
        return self._constrained[legal]

    def _make(self, legal: Automaton | None) -> _native.Tagger:
        extractor, tagset, arrays = self._made_of
        step = float(arrays["step"])
        if not np.isfinite(step):
            raise InvalidInput(f"the step of the model's weights is {step}")
        tagger = _native.Tagger(extractor, tagset, arrays["slots"], arrays["rows"], step)
        if self._chain is not None:
            chain = self._chain if legal is None else self._chain.constrained(legal)
            model: Any = chain.prepared(np.dtype(np.float32))
            tagger.use_chain(model)
        else:
            thresholds = [float(x) for x in arrays["thresholds"]]
            tagger.use_cascade(len(thresholds) - 1, arrays["ngram_keys"], arrays["ngram_weights"], thresholds)
        return tagger

    def decode(
        self,
        cells: Cells,
        *,
        k: int,
        confidence: bool,
        threads: int,
        allowed: Allowed | None,
        legal: Automaton | None,
    ) -> Decoded:
        """Label sentences given as columns of cells."""
        constraints: dict[str, Any] = {} if allowed is None else {"allowed": allowed}
        if self._chain is None and legal is not None:
            constraints["legal"] = legal_table(legal)
            legal = None
        answers = self._tagger(legal).tag(cells, k=k, confidence=confidence, threads=threads, **constraints)
        labels, found, scores, bounds, optimal, confidences, log_partition, position = answers
        return Decoded(
            starts(cells),
            labels,
            found,
            scores.reshape(-1, k),
            bounds,
            optimal,
            confidences,
            log_partition,
            position,
        )

    def lattices(self, cells: Cells, *, pruning: float, threads: int) -> _native.Lattices:
        """Return what there is to choose from: all sequences, or those that pruning leaves."""
        if self._chain is None:
            return _native.search_all(self._free, cells, pruning, threads)
        first = starts(cells)
        emissions = np.empty((int(first[-1]), self._labels), np.float32)
        self._free.emissions_of_all(cells, emissions, threads)
        model: Any = self._chain.prepared(np.dtype(np.float64))
        return _native.ChainLattices(model, first, emissions)

    def emissions(self, cells: list[list[str]]) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens of a sentence, (T, L)."""
        out = np.empty((len(cells[0]), self._labels), np.float32)
        self._free.emissions(cells, out)
        return out

    @property
    def chain(self) -> Chain | None:
        """The transitions, where decoding is exact."""
        return self._chain


def make_decoder(
    extractor: _native.Extractor,
    inventory: Inventory,
    tagset: _native.Tagset,
    arrays: Mapping[str, NDArray[Any]],
    chosen: options.Options,
    pair_extractor: _native.Extractor | None = None,
) -> Decoder:
    """Make the decoder of weights that a learner with these options has learned."""
    if isinstance(chosen, options.LatentCrf) or pair_extractor is not None:
        from certus.learn.latent_decoder import LatentDecoder

        return LatentDecoder(extractor, pair_extractor, inventory, arrays, chosen)
    return NativeDecoder(extractor, inventory, tagset, arrays)


def starts(cells: Cells) -> NDArray[np.int64]:
    """Return where the tokens of each sentence begin, and where the last ends."""
    return np.concatenate([[0], np.cumsum([len(columns[0]) for columns in cells], dtype=np.int64)])


def pieces(first: NDArray[np.int64], width: int, itemsize: int) -> Iterator[tuple[int, int]]:
    """Cut sentences so that the scores of each piece, so many a token and of this size, fit into memory."""
    begin, tokens = 0, max(1, MOST_BYTES // (width * itemsize))
    while begin < len(first) - 1:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + tokens, "right")) - 1)
        yield begin, end
        begin = end


def chain_of(labels: int, arrays: Mapping[str, NDArray[Any]]) -> Chain:
    """Make the chain of listed transitions; the label after the last stands for the boundary."""
    origin, target, score = (arrays[f"transition_{name}"] for name in ("from", "to", "score"))
    ends = np.concatenate([origin, target, [0]])
    if not 0 <= ends.min() <= ends.max() <= labels:
        raise InvalidInput("a transition of the model is between labels that it does not have")
    matrix = np.zeros((labels + 1, labels + 1), np.float32)
    matrix[origin, target] = score
    return Chain(matrix[:-1, :-1], start=matrix[-1, :-1], end=matrix[:-1, -1])


def legal_table(automaton: Automaton) -> NDArray[np.bool_]:
    """Return what may follow what, with the boundary as the label after the last."""
    size = len(automaton.labels)
    table = np.zeros((size + 1, size + 1), bool)
    table[:-1, :-1] = automaton.legal
    table[-1, :-1] = automaton.start
    table[:-1, -1] = automaton.end
    return table
