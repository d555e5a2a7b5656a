"""What labels sentences once a tagger is trained: from cells to label numbers, with scores and bounds."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput

if TYPE_CHECKING:  # certificates are imported when they are asked for: tagging starts sooner
    from certus.verification import Certificate, Problem

MOST_BYTES = 1 << 25  # of scores that are held at the same time
MANY = 1 << 16  # answers per sentence: so many are looked at closer
MOST_LABELS = 1 << 32  # in all answers together

Cells: TypeAlias = Sequence[list[list[str]]]  # for each sentence the columns, the words first
Allowed: TypeAlias = list[list[NDArray[np.int32] | None] | None]  # for each word the labels it may get


@dataclass(frozen=True)
class Request:
    """What is wanted of the sentences that are labelled.

    Attributes:
        k: how many answers for each.
        confidence: whether the probabilities of the best labels are, too.
        threads: how many may be used.
        allowed: the labels that words may get; None for all.
        legal: the sequences that there may be; None for all.
        prove: whether answers are proven where that can be done without.
        seconds: the most time for proving the answer of a sentence.
        max_iterations: the most searches of a pruned CRF for it.
    """

    k: int = 1
    confidence: bool = False
    threads: int = 1
    allowed: Allowed | None = None
    legal: Automaton | None = None
    prove: bool = True
    seconds: float = math.inf
    max_iterations: int = sys.maxsize


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
        searches: (sentences,) how often a pruned CRF searched each until its answer was proven, or nothing.
        log_partition_bound: (sentences,) where pruning leaves out a part of ``log_partition``, what it is at
            most; nothing where it is exact.
        stopped: (sentences,) which limit was met before the answer was proven: 0 none, 1 of time, 2 of
            searches; or nothing.
        rounding: (sentences, 2) by how much the logarithms of sums over sequences may be off because scores
            are summed in single precision: over those that pruning leaves, and over those that it dropped;
            or nothing where sums are in double precision.
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
    searches: NDArray[np.int64] | None = None
    log_partition_bound: NDArray[np.float64] | None = None
    stopped: NDArray[Any] | None = None
    rounding: NDArray[np.float64] | None = None

    @classmethod
    def make_empty(cls, first: NDArray[np.int64], request: Request) -> Decoded:
        """Return room for answers, with none found yet."""
        count, tokens, k, confidence = len(first) - 1, int(first[-1]), request.k, request.confidence
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
            stopped=np.zeros(count, bool),
        )


def check_room(cells: Cells, k: int) -> None:
    """Refuse to make room for more answers than any machine holds."""
    if k < MANY:
        return
    tokens = sum(len(words) for words, *_ in cells)
    if k * tokens > MOST_LABELS:
        raise InvalidInput(
            f"k is {k:,}: that many answers for {tokens:,} tokens take {k * tokens / 2**28:,.0f} GiB; "
            "ask for fewer"
        )


class Decoder(ABC):
    """What a Tagger needs of it; what only some decoders have is refused by the others.

    Attributes:
        proof: whether answers are proven where that can be done without.
        certifies: whether answers can have certificates.
    """

    proof = True
    certifies = False

    @abstractmethod
    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells."""

    def measure_accuracy(self, cells: Cells, gold: NDArray[np.int32], threads: int) -> float:
        """Return the share of tokens that get the right label; a label that is -1 is never right."""
        found = self.decode(cells, Request(threads=threads, prove=False))
        return float((found.labels == gold).mean())

    def search(
        self, cells: Cells, *, pruning: float, threads: int, margins: NDArray[np.float64] | None = None
    ) -> _native.Lattices:
        """Return what there is to choose from, for decoding again and again."""
        raise InvalidInput("there are no lattices of labels for this tagger: its learner keeps none")

    def emissions(self, cells: list[list[str]]) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens of a sentence, (T, L)."""
        raise InvalidInput("emissions are those of a trained perceptron or CRF")

    def state_problem(self, cells: list[list[str]], request: Request) -> Problem:
        """Return a sentence under constraints as plain data, which certificates of its labels are about."""
        raise InvalidInput(
            "there are no certificates of this learner's answers: they need not be the best labels"
        )

    def certify(self, cells: list[list[str]], problem: Problem, labels: list[int] | None) -> Certificate:
        """Return the certificate of labels of a sentence; None where none are possible."""
        raise InvalidInput(
            "there are no certificates of this learner's answers: they need not be the best labels"
        )

    def set_proof(self, proof: bool) -> None:
        """Say whether answers are to be proven."""
        raise InvalidInput("only a pruned CRF answers without a proof: other learners have it for nothing")

    def get_settings(self) -> dict[str, Any]:
        """Return what a user may have set since the model was loaded."""
        return {}

    def set_settings(self, settings: dict[str, Any]) -> None:
        """Take over what another decoder of the same model was set to."""
        for name, value in settings.items():
            setattr(self, name, value)

    @property
    def label_chain(self) -> Chain:
        """The transitions, where decoding ``emissions`` with them is exact."""
        raise InvalidInput("a chain is what a trained perceptron has; a pruned CRF has longer transitions")

    @property
    def latent(self) -> object:
        """The decoder itself, where labels have latent states."""
        raise InvalidInput("latent states are what a trained latent-crf has")

    @property
    def refinement(self) -> object:
        """The model, where it is a refinement."""
        raise InvalidInput("a refinement is what the learner refinement trains")


def find_starts(cells: Cells) -> NDArray[np.int64]:
    """Return where the tokens of each sentence begin, and where the last ends."""
    return np.concatenate([[0], np.cumsum([len(columns[0]) for columns in cells], dtype=np.int64)])


def split_batch(first: NDArray[np.int64], width: int, itemsize: int) -> Iterator[tuple[int, int]]:
    """Cut sentences so that the scores of each piece, ``width`` per token, fit into memory."""
    begin, tokens = 0, max(1, MOST_BYTES // (width * itemsize))
    while begin < len(first) - 1:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + tokens, "right")) - 1)
        yield begin, end
        begin = end
