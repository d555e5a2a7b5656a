"""``certus.corpus.tag``: the labels of a corpus, consistent and proven."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation import vocabulary
from certus.annotation.columns import Words, select_columns
from certus.checks import check_count
from certus.corpus.agreement import Agreement, number_groups
from certus.corpus.result import Consistent, Iteration
from certus.corpus.solver import Clock, Limits, solve
from certus.corpus.words import Nodes, Types, find_nodes, find_types, merge_pairs, suffix_relates
from certus.errors import InvalidInput
from certus.lattice.model import SequenceModel

MARGIN = 2.5  # in units of the weight `same`: how far below the best all is that lattices lack at first
CHUNK = 128  # sentences whose lattices are held at a time
DELTA = Agreement(4.0, 3.0)  # in units of log-probabilities; close counts where labels have parts


def tag(
    tagger: SequenceModel,
    sentences: Iterable[Words],
    *,
    text: Iterable[Words] = (),
    delta: Agreement | float | Iterable[float] | None = None,
    max_iterations: int = 200,
    seconds: float | None = None,
    threads: int = 1,
    known: Collection[str] | None = None,
    groups: Callable[[str], Hashable] | None = None,
    case: bool = True,
    suffixes: Sequence[str] = ("s",),
    limits: Limits | None = None,
    progress: Callable[[Iteration], None] = lambda _: None,
) -> Consistent:
    """Label sentences so that words which the tagger never saw get labels that agree.

    The labels maximise the tagger's scores of all sentences, plus a bonus for every unknown word that has the
    label which its type agrees on (Rush et al. 2012). The answer comes with a bound, and with a proof for
    each sentence. What a pruned CRF drops is bounded, and sentences are searched again, with less dropped,
    where it might be needed. One that is told not to prove its answers (``tagger.proof = False``) drops more
    and is faster; the bound is then infinite.

    Args:
        tagger: a trained one.
        sentences: to be labelled, as for ``Tagger.tag``.
        text: more sentences, which nobody needs labels for; the unknown words in them help to decide.
        delta: the weights, as an Agreement, a number or up to three (same, close, null), in units of the
            tagger's scores; by default those that served well on UD English, fitted to the tagger.
        max_iterations: over the corpus.
        seconds: to stop after; the answer then says what is proven.
        threads: for the tagger's part of the work.

    Other args:
        known: the words of the training data, for models that do not hold them.
        groups: gives a label its group; labels of a group are close. By default the coarse tag, if labels
            are made of several parts.
        case: whether word types that differ in case should agree.
        suffixes: that a type and the same type without them may agree in spite of, if known words do.
        limits: all there is to say about when to stop; ``max_iterations`` and ``seconds`` are then ignored.
        progress: is called after each iteration.
    """
    check_count("threads", threads)
    if isinstance(suffixes, str) or not all(suffixes):
        raise InvalidInput("suffixes must be a list of endings that are not empty")
    limits = limits or Limits(max_iterations=max_iterations, seconds=seconds)
    agreement = choose_delta(tagger) if delta is None else Agreement.of(delta)
    began = time.perf_counter()
    corpus = _CorpusProblem(
        tagger,
        sentences,
        text,
        _make_known_test(tagger, known),
        case,
        suffixes,
        agreement,
        _number_groups(tagger, groups),
        threads,
    )
    field = corpus.load()
    loaded = time.perf_counter()
    clock = Clock(limits.seconds)
    corpus.solve(field, limits, clock, progress)
    if not clock.is_over and corpus.widen(corpus.outside):
        field = corpus.load()
        corpus.solve(field, limits, clock, progress)
    if len(corpus.outside):  # the best of what the lattices have, under the bound of all
        field = corpus.load(with_outside=False)
        corpus.trace += solve(field, limits, agreement.same, corpus.base, progress)
    corpus.stats |= {"load_seconds": loaded - began, "solve_seconds": time.perf_counter() - loaded}
    return corpus.collect_result(field)


def choose_delta(tagger: SequenceModel) -> Agreement:
    """Return the usual weights in units of the tagger's scores."""
    return DELTA.scale(tagger.agreement_scale)


def _make_known_test(
    tagger: SequenceModel, known: Collection[str] | None
) -> Callable[[list[str]], NDArray[np.bool_]]:
    """Return what tells known words."""
    if known is not None:
        if isinstance(known, str):
            raise InvalidInput("known must be a set of words, not a text")
        words = frozenset(known)
        return lambda names: np.fromiter((name in words for name in names), bool, len(names))
    keys = tagger.known
    return lambda names: vocabulary.contains(keys, names)


def _number_groups(tagger: SequenceModel, groups: Callable[[str], Hashable] | None) -> NDArray[np.int32]:
    if groups is not None:
        return number_groups([groups(label) for label in tagger.labels])
    return number_groups(tagger.coarse_labels)


@dataclass
class _CorpusProblem:
    """The sentences of one call, and what is found out about them on the way."""

    tagger: SequenceModel
    sentences: Iterable[Words]
    text: Iterable[Words]
    is_known: Callable[[list[str]], NDArray[np.bool_]]
    case: bool
    suffixes: Sequence[str]
    agreement: Agreement
    groups: NDArray[np.int32]
    threads: int
    stats: dict[str, Any] = field(default_factory=dict)
    trace: list[Iteration] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = self.tagger.columns
        cells = [select_columns(sentence, names) for sentence in self.sentences]
        self.tested = len(cells)
        cells += [select_columns(sentence, names) for sentence in self.text]
        self.types: Types = find_types((columns[0] for columns in cells), self.is_known, self.case)
        self.nodes: Nodes = find_nodes(self.types, int(self.types.first[self.tested]), self.suffixes)
        held = self.nodes.of_type[self.types.tokens]
        counts = np.concatenate([[0], np.cumsum(held >= 0)])[self.types.first]
        used = np.diff(counts) > 0
        used[: self.tested] = True
        self.words = np.diff(counts)[used]
        self.widened = np.zeros(len(self.words), bool)
        self.used = np.flatnonzero(used)
        self.cells = [cells[n] for n in self.used.tolist()]
        mask = np.repeat(used, np.diff(self.types.first))
        self.tokens = np.flatnonzero(mask)
        self.held = held[mask]
        lengths = np.diff(self.types.first)[used]
        self.first = np.concatenate([[0], np.cumsum(lengths)])

    def load(self, *, with_outside: bool = True) -> _native.Field:
        """Let the tagger search all sentences, and keep of the lattices what is undecided."""
        count = len(self.nodes.keys)
        weights = self.agreement
        field = _native.Field(self.groups, weights.same, weights.close, weights.null, count, with_outside)
        self.labels = np.empty(len(self.held), np.int32)
        self.scores = np.zeros(len(self.cells))
        self.excess = np.zeros(len(self.cells))
        gains = weights.same * self.words  # at most, of all words of a sentence
        margins = np.where(self.widened, gains, np.minimum(gains, MARGIN * weights.same))
        for begin in range(0, len(self.cells), CHUNK):
            end = min(begin + CHUNK, len(self.cells))
            lattices = self.tagger.search(
                self.cells[begin:end], threads=self.threads, margins=margins[begin:end]
            )
            low, high = int(self.first[begin]), int(self.first[end])
            labels, scores = self.labels[low:high], self.scores[begin:end]
            field.add(lattices, begin, low, self.held[low:high], labels, scores, self.excess[begin:end])
        self.base = float(self.scores.sum())
        self.into = merge_pairs(count, self._find_related(self.suffixes))
        field.merge(self.into)
        field.close()
        self.stats["components"] = len(field.components().blocks)
        self.stats |= {"blocks": field.open_blocks, "nodes": field.open_nodes}
        return field

    def _find_related(self, suffixes: Sequence[str]) -> NDArray[np.int64]:
        """Return the pairs of nodes whose suffix relates words, as this corpus has it."""
        names = [self.types.keys[key] for key in self.nodes.keys.tolist()]
        relating = [s for s in suffixes if suffix_relates(self.types, s, self.labels, self.tokens)]
        self.stats["suffixes"] = relating
        pairs = self.nodes.pairs
        keep = [
            any(names[other] == names[one] + suffix for suffix in relating) for one, other in pairs.tolist()
        ]
        related: NDArray[np.int64] = pairs[np.array(keep, bool)]
        return related

    def solve(
        self,
        field: _native.Field,
        limits: Limits,
        clock: Clock,
        progress: Callable[[Iteration], None],
    ) -> None:
        """Solve the problem, and keep what that proves of all label sequences."""
        trace = solve(field, limits, self.agreement.same, self.base, progress, clock)
        self.trace += trace
        self.outside = field.sentences_outside()
        self.bound = min([self.base + field.bound(), *(iteration.bound for iteration in trace)])
        self.bound += float(self.excess[(self.words == 0) | (self.excess == np.inf)].sum())

    def widen(self, sentences: NDArray[np.int64]) -> bool:
        """Let the lattices of sentences have all that may be needed, from now on; whether that is more."""
        more = not self.widened[sentences].all()
        self.widened[sentences] = True
        self.stats["widened"] = int(self.widened.sum())
        return more

    def collect_result(self, field: _native.Field) -> Consistent:
        """Collect the answer."""
        pruned = self.excess > 0
        pruned[self.outside] = True
        score = self.base + field.labels(self.labels, self.scores)
        certified = np.ones(len(self.cells), bool)
        certified[field.open_sentences()] = False
        certified[self._find_connected(self.outside)] = False
        open_nodes = field.open_nodes
        names, first = self.tagger.labels, self.first
        ids = self.labels[: int(first[self.tested])].tolist()
        every = [names[label] for label in ids]
        labels = [every[first[n] : first[n + 1]] for n in range(self.tested)]
        self.stats |= {
            "sentences": self.tested,
            "text_sentences": len(self.cells) - self.tested,
            "tokens": int(first[-1]),
            "constrained": int((self.held >= 0).sum()),
            "iterations": len(self.trace),
            "open_nodes": open_nodes,
            "pruned": int(pruned.sum()),
            "certified": float(certified.mean()) if len(certified) else 1.0,
        }
        return Consistent(
            labels,
            score,
            max(self.bound, score) if open_nodes or pruned.any() else score,
            certified[: self.tested],
            pruned[: self.tested],
            self.scores[: self.tested],
            self._read_consensus(field),
            self.trace,
            self.stats,
        )

    def _find_connected(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sentences that words connect with these, and themselves."""
        if not len(sentences):
            return sentences
        tokens = np.flatnonzero(self.held >= 0)
        count = len(self.into)
        of_sentence = count + np.searchsorted(self.first, tokens, "right") - 1
        pairs = np.stack([self.into[self.held[tokens]], of_sentence], 1)
        part = merge_pairs(count + len(self.cells), pairs)[count:]
        return np.flatnonzero(np.isin(part, part[sentences]))

    def _read_consensus(self, field: _native.Field) -> dict[str, str | None]:
        """Return what every node agreed on, by the keys of its words."""
        agreed = field.consensus().labels
        names = [*self.tagger.labels, None]
        return {
            self.types.keys[key]: names[agreed[into]]
            for key, into in zip(self.nodes.keys.tolist(), self.into.tolist(), strict=True)
        }
