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
from certus.corpus.solver import Limits, solve
from certus.corpus.words import Nodes, Types, find_nodes, find_types, merge_pairs, suffix_relates
from certus.errors import InvalidInput
from certus.lattice.model import SequenceModel

CHUNK = 1024  # sentences whose lattices are held at a time
DELTA = Agreement(4.0, 3.0)  # in units of log-probabilities; close counts where labels have parts
WINDOW = 1.0  # in units of the weight `same`


def tag(
    tagger: SequenceModel,
    sentences: Iterable[Words],
    *,
    text: Iterable[Words] = (),
    delta: Agreement | float | Iterable[float] | None = None,
    max_iterations: int = 200,
    seconds: float | None = None,
    threads: int = 1,
    window: float | None = None,
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
    each sentence, which in practice is missing for none.

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
        window: labels are left out that cost a sentence by itself more than this, in units of the tagger's
            scores; by default what one word can gain. ``inf`` leaves nothing out.
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
    width = WINDOW * agreement.same if window is None else float(window)
    if not width >= 0:
        raise InvalidInput(f"window is {window}; it must not be below 0")
    corpus = _CorpusProblem(tagger, sentences, text, _make_known_test(tagger, known), case, suffixes)
    field = corpus.load(agreement, _number_groups(tagger, groups), width, threads)
    loaded = time.perf_counter()
    corpus.stats["components"] = len(field.components().blocks)
    corpus.stats |= {"blocks": field.open_blocks, "nodes": field.open_nodes}
    trace = solve(field, limits, agreement.same, corpus.base, progress)
    corpus.stats |= {"load_seconds": loaded - began, "solve_seconds": time.perf_counter() - loaded}
    return corpus.collect_result(field, trace)


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
    stats: dict[str, Any] = field(default_factory=dict)

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
        self.used = np.flatnonzero(used)
        self.cells = [cells[n] for n in self.used.tolist()]
        mask = np.repeat(used, np.diff(self.types.first))
        self.tokens = np.flatnonzero(mask)
        self.held = held[mask]
        lengths = np.diff(self.types.first)[used]
        self.first = np.concatenate([[0], np.cumsum(lengths)])

    def load(
        self, agreement: Agreement, groups: NDArray[np.int32], window: float, threads: int
    ) -> _native.Field:
        """Let the tagger search all sentences, and keep of the lattices what is undecided."""
        count = len(self.nodes.keys)
        field = _native.Field(groups, agreement.same, agreement.close, agreement.null, count, window)
        self.labels = np.empty(len(self.held), np.int32)
        self.scores = np.zeros(len(self.cells))
        pruned = np.zeros(len(self.cells), np.uint8)
        for begin in range(0, len(self.cells), CHUNK):
            end = min(begin + CHUNK, len(self.cells))
            lattices = self.tagger.search(self.cells[begin:end], threads=threads)
            low, high = int(self.first[begin]), int(self.first[end])
            labels, scores = self.labels[low:high], self.scores[begin:end]
            field.add(lattices, begin, low, self.held[low:high], labels, scores, pruned[begin:end])
        self.pruned = pruned.astype(bool)
        self.base = float(self.scores.sum())
        self.into = merge_pairs(count, self._find_related(self.suffixes))
        field.merge(self.into)
        field.close()
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

    def collect_result(self, field: _native.Field, trace: list[Iteration]) -> Consistent:
        """Collect the answer."""
        score = self.base + field.labels(self.labels, self.scores)
        bound = min([self.base + field.bound(), *(iteration.bound for iteration in trace)])
        certified = np.ones(len(self.cells), bool)
        certified[field.open_sentences()] = False
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
            "iterations": len(trace),
            "open_nodes": open_nodes,
            "pruned": int(self.pruned.sum()),
            "certified": float(certified.mean()) if len(certified) else 1.0,
        }
        return Consistent(
            labels,
            score,
            score if not open_nodes else max(bound, score),
            certified[: self.tested],
            self.pruned[: self.tested],
            self.scores[: self.tested],
            self._read_consensus(field),
            trace,
            self.stats,
        )

    def _read_consensus(self, field: _native.Field) -> dict[str, str | None]:
        """Return what every node agreed on, by the keys of its words."""
        agreed = field.consensus().labels
        names = [*self.tagger.labels, None]
        return {
            self.types.keys[key]: names[agreed[into]]
            for key, into in zip(self.nodes.keys.tolist(), self.into.tolist(), strict=True)
        }
