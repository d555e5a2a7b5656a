"""Parts that the benchmark problems need and the package has no use for: plain NumPy, a page each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.part import Adjustments, Choice, Forbidden

Array = NDArray[np.float64]


class HeadAutomata:
    """For each head and side, the best sequence of modifiers under sibling scores (Koo et al. 2010).

    Space ``heads`` as in TreePart; here a word may have any number of heads.

    Args:
        arcs: (n, n + 1) of each head for each word.
        siblings: (n + 1, n + 2, n + 1) [head, the modifier before or n + 1 for none, modifier], where
            modifiers are counted from 1.
    """

    def __init__(self, arcs: Array, siblings: Array) -> None:
        self.arcs, self.siblings = arcs, siblings
        self.words = len(arcs)

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each head of each word."""
        return {"heads": self.arcs.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Run all automata, those of one side at a time."""
        arcs = self.arcs + adjust["heads"] if "heads" in adjust else self.arcs
        used = np.zeros(arcs.shape, np.int8)
        score = self._side(arcs, used, range(1, self.words + 1))
        score += self._side(arcs, used, range(self.words, 0, -1))
        return Choice(used, score, {"heads": used})

    def _side(self, arcs: Array, used: NDArray[np.int8], order: range) -> float:
        """Add the best modifiers of all heads on one side; outwards from the head, a word at a time."""
        n = self.words
        none = n + 1
        rightward = order.step > 0
        best = np.full((n + 1, n + 2), -np.inf)  # by head and last modifier
        best[:, none] = 0.0
        back = np.zeros((n + 1, n + 2), np.int64)
        heads = np.arange(n + 1)
        for m in order:
            reach = best + self.siblings[:, :, m]
            back[:, m] = reach.argmax(axis=1)
            value = reach.max(axis=1) + arcs[m - 1]
            best[:, m] = np.where(heads < m if rightward else heads > m, value, -np.inf)
        total = 0.0
        for head in heads:
            last = int(best[head].argmax())
            while last != none:
                before = int(back[head, last])
                used[last - 1, head] = 1
                total += float(self.arcs[last - 1, head] + self.siblings[head, before, last])
                last = before
        return total


class Trigrams:
    """Label sequences under scores of three labels in a row: space ``tags`` of shape (T, L).

    Args:
        emissions: (T, L).
        trigrams: (L + 1, L + 1, L) [before last, last, now]; L stands for the start.
    """

    def __init__(self, emissions: Array, trigrams: Array) -> None:
        self.emissions, self.trigrams = emissions, trigrams

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each label of each position."""
        return {"tags": self.emissions.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Viterbi over pairs of labels."""
        nodes = self.emissions + adjust["tags"] if "tags" in adjust else self.emissions
        length, labels = nodes.shape
        best = np.full((labels + 1, labels + 1), -np.inf)  # [last, now]
        best[labels, labels] = 0.0
        back = []
        for row in nodes:
            reach = best[:, :, None] + self.trigrams  # [before, last, now]
            back.append(reach.argmax(axis=0))
            best = np.full((labels + 1, labels + 1), -np.inf)
            best[:, :labels] = reach.max(axis=0) + row
        last, now = np.unravel_index(int(best.argmax()), best.shape)
        if best[last, now] == -np.inf:
            raise Forbidden("no tag sequence is left")
        tags = np.empty(length, np.int64)
        for t in range(length - 1, -1, -1):
            tags[t] = now
            last, now = back[t][last, now], last
        return self._choice(tags)

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the sequence that the indicators spell."""
        chosen = np.asarray(indicators["tags"])
        return self._choice(chosen.argmax(axis=1)) if (chosen.sum(axis=1) == 1).all() else None

    def _choice(self, tags: NDArray[np.int64]) -> Choice:
        length, labels = self.emissions.shape
        padded = np.concatenate([[labels, labels], tags])
        score = self.emissions[np.arange(length), tags].sum()
        score += self.trigrams[padded[:-2], padded[1:-1], tags].sum()
        used = np.zeros((length, labels), np.int8)
        used[np.arange(length), tags] = 1
        return Choice(tags, float(score), {"tags": used})


class Grammar:
    """Parse trees over tags in Chomsky normal form: space ``tags`` of shape (n, tags).

    Args:
        rules: (S, S, S) [left, right, parent] over symbols, of which the first are the tags.
        nodes: (n, tags) the score of each tag of each word.
    """

    def __init__(self, rules: Array, nodes: Array) -> None:
        self.rules, self.nodes = rules, nodes

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each tag of each word."""
        return {"tags": self.nodes.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """CKY; the splits of a span are done together."""
        nodes = self.nodes + adjust["tags"] if "tags" in adjust else self.nodes
        n, symbols = len(nodes), len(self.rules)
        chart = np.full((n, n + 1, symbols), -np.inf)  # [first word, end, symbol]
        chart[np.arange(n), np.arange(1, n + 1), : nodes.shape[1]] = nodes
        flat = self.rules.reshape(symbols * symbols, symbols)
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                j = i + width
                pairs = (chart[i, i + 1 : j, :, None] + chart[i + 1 : j, j, None, :]).max(axis=0)
                chart[i, j] = (pairs.reshape(-1, 1) + flat).max(axis=0)
        return self._read(chart)

    def _read(self, chart: Array) -> Choice:
        """Follow the best tree down; its splits are found again."""
        n = len(self.nodes)
        tags = np.empty(n, np.int64)
        top = int(chart[0, n].argmax())
        if chart[0, n, top] == -np.inf:
            raise Forbidden("no parse is left")
        score, tree, todo = 0.0, [], [(0, n, top)]
        while todo:
            i, j, symbol = todo.pop()
            tree.append((i, j, symbol))
            if j == i + 1:
                tags[i] = symbol
                score += float(self.nodes[i, symbol])
                continue
            values = chart[i, i + 1 : j, :, None] + chart[i + 1 : j, j, None, :] + self.rules[:, :, symbol]
            split, left, right = np.unravel_index(int(values.argmax()), values.shape)
            score += float(self.rules[left, right, symbol])
            middle = i + 1 + int(split)
            todo += [(middle, j, int(right)), (i, middle, int(left))]
        used = np.zeros(self.nodes.shape, np.int8)
        used[np.arange(n), tags] = 1
        return Choice(tree, score, {"tags": used})
