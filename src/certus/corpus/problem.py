"""The problem that a corpus is: sentences, what their lattices have and lack, and what is proven of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.columns import Words, select_columns
from certus.corpus.agreement import Agreement
from certus.corpus.result import Consistent, Iteration
from certus.corpus.solver import Clock, Limits, solve
from certus.corpus.words import Nodes, Types, find_nodes, find_types, merge_pairs, suffix_relates
from certus.lattice.model import SequenceModel

# In units of the weight `same`: how far below the best all is that lattices lack at first, and how much
# further each time that a sentence is searched again. Lattices grow steeply with it. Where few words are to
# agree, searching takes the time; where many are, solving does, which what lattices lack makes harder.
NARROW, WIDE = 0.5, 2.5
FEW = 0.1  # of all words
FAILURES = (
    2  # of searching a sentence further, because its lattice would be too large, after which it is left
)
CHUNK = 128  # sentences that are searched at a time
AGAIN = 8  # sentences that are searched again at a time: their lattices may be large


@dataclass
class CorpusProblem:
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
    clock: Clock
    memory: (
        float  # bytes that the lattices may take which are kept; what is undecided of them takes less again
    )
    lattices: dict[int, _native.StoredLattices] = field(
        default_factory=dict
    )  # by the first of their sentences
    searched: set[int] = field(default_factory=set)  # likewise: those that were searched before
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
        self.used = np.flatnonzero(used)
        self.cells = [cells[n] for n in self.used.tolist()]
        mask = np.repeat(used, np.diff(self.types.first))
        self.tokens = np.flatnonzero(mask)
        self.held = held[mask]
        lengths = np.diff(self.types.first)[used]
        self.first = np.concatenate([[0], np.cumsum(lengths)])
        self.labels = np.empty(len(self.held), np.int32)
        self.scores = np.zeros(len(self.cells))
        self.excess = np.zeros(len(self.cells))
        self._set_margins()

    def _set_margins(self) -> None:
        """Say how far below its best labels the sequences of a sentence are searched for at first."""
        self.gains = self.agreement.same * self.words  # at most, by all words of a sentence
        few = self.words.sum() < FEW * len(self.held)
        self.step = (NARROW if few else WIDE) * self.agreement.same
        self.margins = np.minimum(self.gains, self.step)
        self.widened = np.zeros(len(self.cells), bool)
        self.failures = np.zeros(len(self.cells), np.int64)
        self.taken = 0  # bytes of the lattices that are kept
        self.share = 1.0  # of the margins above, for as long as lattices of all sentences would not fit
        self.stats["limited"] = False

    def build_field(self, *, with_outside: bool = True) -> _native.Field:
        """Take the lattices of all sentences apart, and keep what is undecided of them.

        Without ``with_outside`` there is nothing to choose from but what lattices have.
        """
        count = len(self.nodes.keys)
        weights = self.agreement
        field = _native.Field(self.groups, weights.same, weights.close, weights.null, count, with_outside)
        for begin in range(0, len(self.cells), CHUNK):
            end = min(begin + CHUNK, len(self.cells))
            low, high = int(self.first[begin]), int(self.first[end])
            labels, scores = self.labels[low:high], self.scores[begin:end]
            lattices = self._find_lattices(begin, end)
            field.add(lattices, begin, low, self.held[low:high], labels, scores, self.excess[begin:end])
        self.base = float(self.scores.sum())
        self.into = merge_pairs(count, self._find_related(self.suffixes))
        field.merge(self.into)
        field.close()
        self.stats["components"] = len(field.components().blocks)
        self.stats |= {"blocks": field.open_blocks, "nodes": field.open_nodes}
        return field

    def _find_lattices(self, begin: int, end: int) -> _native.Lattices:
        """Return the lattices of a chunk of sentences; those that may have to be wider are kept."""
        kept = self.lattices.get(begin)
        if kept is not None:
            return kept
        if self.clock.is_over or self.taken >= self.memory:
            self.margins[begin:end] = 0
        elif begin not in self.searched:
            self.margins[begin:end] *= self.share
        found = self._search(np.arange(begin, end))
        if isinstance(found, _native.StoredLattices) and np.isfinite(found.outside).any():
            self._keep(begin, end, found)
        self.searched.add(begin)
        return found

    def _keep(self, begin: int, end: int, found: _native.StoredLattices) -> None:
        """Keep lattices if there is room, and make the next ones fit."""
        size = found.bytes
        if self.taken + size > self.memory:
            self.failures[begin:end] = FAILURES
            self.stats["limited"] = True
            return
        self.lattices[begin] = found
        self.taken += size
        exceeds = bool(self.taken > self.memory * self.first[end] / self.first[-1])
        self.share = self.share / 2 if exceeds else min(1.0, 2 * self.share)
        self.stats["limited"] |= exceeds

    def _search(self, sentences: NDArray[np.int64]) -> _native.Lattices:
        cells = [self.cells[n] for n in sentences.tolist()]
        return self.tagger.search(cells, threads=self.threads, margins=self.margins[sentences])

    def widen(self, sentences: NDArray[np.int64]) -> bool:
        """Search sentences again, further below their best labels; whether any lattice then lacks less."""
        taken = False
        while not taken:
            more = sentences[(self.margins < self.gains)[sentences] & (self.failures < FAILURES)[sentences]]
            if not len(more):
                return False
            self.widened[more] = True
            self.stats["widened"] = int(self.widened.sum())
            chunks = more // CHUNK * CHUNK
            for begin in np.unique(chunks).tolist():
                several = more[chunks == begin]
                for low in range(0, len(several), AGAIN):
                    if self.clock.is_over or self._is_full():
                        return taken
                    taken |= self._widen_some(begin, several[low : low + AGAIN])
        return True

    def _is_full(self) -> bool:
        """Whether lattices take all the memory that they may."""
        full = self.taken >= self.memory
        self.stats["limited"] |= full
        return full

    def _widen_some(self, begin: int, sentences: NDArray[np.int64]) -> bool:
        kept, places = self.lattices[begin], sentences - begin
        self.taken -= kept.bytes
        reached = np.maximum(self.margins[sentences], self.scores[sentences] - kept.outside[places])
        self.margins[sentences] = np.minimum(reached + self.step, self.gains[sentences])
        taken = kept.take_better(places, self._search(sentences))
        self.taken += kept.bytes
        self.failures[sentences] += taken == 0
        return bool(taken.any())

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
        progress: Callable[[Iteration], None],
    ) -> None:
        """Solve the problem, and keep what that proves of all label sequences."""
        trace = solve(field, limits, self.agreement.same, self.base, progress, self.clock)
        self.trace += trace
        self.outside = field.sentences_outside()
        self.bound = min([self.base + field.bound(), *(iteration.bound for iteration in trace)])
        self.bound += float(self.excess[(self.words == 0) | (self.excess == np.inf)].sum())
        self.most = self.scores + self.excess + self.gains

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
            self._score_agreement(field)[: self.tested],
            self.most[: self.tested],
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

    def _score_agreement(self, field: _native.Field) -> NDArray[np.float64]:
        """Return what the agreement of the words of each sentence with their nodes scores."""
        tokens = np.flatnonzero(self.held >= 0)
        node, label = self.into[self.held[tokens]], self.labels[tokens]
        others = self.into[-2 - self.held[self.held < -1]]
        alone = np.bincount(np.concatenate([node, others]), minlength=len(self.into)) == 1
        agreed, none = field.consensus().labels[node], len(self.groups)
        close = self.groups[label] == np.append(self.groups, -1)[agreed]
        kinds = [alone[node] | (label == agreed), agreed == none, close]  # a word alone agrees with itself
        weights = [self.agreement.same, self.agreement.null, self.agreement.close]
        sentence = np.searchsorted(self.first, tokens, "right") - 1
        scores = np.bincount(sentence, np.select(kinds, weights, 0.0), minlength=len(self.cells))
        return scores.astype(np.float64)

    def _read_consensus(self, field: _native.Field) -> dict[str, str | None]:
        """Return what every node agreed on, by the keys of its words."""
        agreed = field.consensus().labels
        names = [*self.tagger.labels, None]
        return {
            self.types.keys[key]: names[agreed[into]]
            for key, into in zip(self.nodes.keys.tolist(), self.into.tolist(), strict=True)
        }
