"""Random joint problems of several kinds and hardness, and the parts that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import Chain
from certus.part import Adjustments, Choice, Forbidden
from certus.relax import Decomposition, Side
from certus.relax.parts import AtMostOne, ChainPart, HeadAutomata, TablePart, TreePart

Array = NDArray[np.float64]


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
        return self._make_choice(tags)

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the sequence that the indicators spell."""
        chosen = np.asarray(indicators["tags"])
        return self._make_choice(chosen.argmax(axis=1)) if (chosen.sum(axis=1) == 1).all() else None

    def _make_choice(self, tags: NDArray[np.int64]) -> Choice:
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
        return self._follow_best(chart)

    def _follow_best(self, chart: Array) -> Choice:
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


Rng = np.random.Generator


def draw_siblings(rng: Rng, words: int, interaction: float) -> Decomposition:
    """Sibling dependency parsing: head automata and a spanning tree (Koo et al. 2010).

    Arc scores are as a trained model's: one head of each word stands out. ``interaction`` is the size of the
    sibling scores beside them; from about 1 on the relaxation is often loose.
    """
    arcs = rng.normal(0, 1, (words, words + 1))
    arcs[np.arange(words), rng.integers(0, words + 1, words)] += 3
    extra = rng.normal(0, interaction, (words + 1, words + 2, words + 1))
    share = 0.5
    d = Decomposition()
    automata = d.add(HeadAutomata((1 - share) * arcs, extra), "automata")
    tree = d.add(TreePart(share * arcs), "tree")
    d.agree((automata, "heads"), (tree, "heads"))
    return d


def draw_random_siblings(rng: Rng, words: int) -> Decomposition:
    """Sibling dependency parsing where no head stands out: all scores are noise."""
    arcs = rng.normal(0, 1, (words, words + 1))
    extra = rng.normal(0, 0.5, (words + 1, words + 2, words + 1))
    d = Decomposition()
    automata = d.add(HeadAutomata(0.5 * arcs, extra), "automata")
    tree = d.add(TreePart(0.5 * arcs), "tree")
    d.agree((automata, "heads"), (tree, "heads"))
    return d


def draw_crossing_chains(rng: Rng, length: int, labels: int, interaction: float) -> Decomposition:
    """Two chains over the same positions in different orders: a loopy model."""
    emissions = rng.normal(0, 1, (length, labels))
    d = Decomposition()
    order = rng.permutation(length)
    first = d.add(ChainPart(_draw_chain(rng, labels, interaction), 0.5 * emissions), "reading order")
    second = d.add(ChainPart(_draw_chain(rng, labels, interaction), 0.5 * emissions[order]), "other order")
    cells = (order[:, None] * labels + np.arange(labels)).reshape(-1)
    d.agree((first, "labels", cells), (second, "labels"))
    return d


def _draw_chain(rng: Rng, labels: int, interaction: float) -> Chain:
    return Chain(rng.normal(0, interaction, (labels, labels)))


def draw_parsing_and_tagging(rng: Rng, words: int, tags: int, doubt: float) -> Decomposition:
    """Make a context-free grammar and a trigram tagger agree (Rush et al. 2010, section 4.1).

    Each model prefers one tag of a word, and both mostly the same; ``doubt`` is the noise on top.
    """
    symbols = tags + 6
    rules = np.log(rng.dirichlet(np.full(symbols * symbols, 0.05), symbols) + 1e-12).T
    rules = rules.reshape(symbols, symbols, symbols).copy()
    rules[:, :, :tags] = -np.inf  # tags have words below them
    gold = rng.integers(0, tags, words)
    nodes = rng.normal(0, doubt, (words, tags))
    nodes[np.arange(words), gold] += 4
    emissions = rng.normal(0, doubt, (words, tags))
    emissions[np.arange(words), gold] += 4
    trigrams = np.log(rng.dirichlet(np.full(tags, 0.3), (tags + 1) ** 2) + 1e-6)
    d = Decomposition()
    parser = d.add(Grammar(rules, nodes), "parser")
    tagger = d.add(Trigrams(emissions, trigrams.reshape(tags + 1, tags + 1, tags)), "tagger")
    d.agree((parser, "tags"), (tagger, "tags"))
    return d


def draw_colouring(rng: Rng, side: int, colours: int, interaction: float) -> Decomposition:
    """Colour a grid of nodes; each row and each column is a chain: 2 · side parts."""
    nodes = rng.normal(0, 1, (side, side, colours))
    d = Decomposition()
    rows, columns = [], []
    for i in range(side):
        rows.append(d.add(ChainPart(_draw_chain(rng, colours, interaction), 0.5 * nodes[i]), f"row {i}"))
        columns.append(
            d.add(ChainPart(_draw_chain(rng, colours, interaction), 0.5 * nodes[:, i]), f"column {i}")
        )
    own = np.arange(side * colours).reshape(side, colours)
    for i in range(side):
        for j in range(side):
            d.agree((rows[i], "labels", own[j]), (columns[j], "labels", own[i]))
    return d


def draw_graph(rng: Rng, nodes: int, degree: float, values: int) -> Decomposition:
    """Draw a random graphical model, one part an edge: every node ties all its edges together."""
    d = Decomposition()
    sides: list[list[Side]] = [[] for _ in range(nodes)]
    for a in range(nodes):
        for b in range(a + 1, nodes):
            if b == a + 1 or rng.random() < degree / nodes:
                edge = d.add(TablePart(rng.normal(0, 1, (values, values))), f"edge {a}-{b}")
                sides[a].append((edge, "0"))
                sides[b].append((edge, "1"))
    for tied in sides:
        if len(tied) > 1:
            d.agree(*tied)
    return d


def draw_packing(rng: Rng, sets: int, elements: int, size: int) -> Decomposition:
    """Choose among sets of elements, each element in one chosen set at most: a part an element."""
    members = [rng.choice(elements, size, replace=False) for _ in range(sets)]
    scores = rng.integers(1, 20, sets).astype(np.float64) * size
    d = Decomposition()
    holds: list[list[int]] = [[] for _ in range(elements)]
    for s, chosen in enumerate(members):
        for element in chosen:
            holds[element].append(s)
    sides: list[list[Side]] = [[] for _ in range(sets)]
    for element, own in enumerate(holds):
        if own:
            part = d.add(AtMostOne(scores[own] / size), f"element {element}")
            for place, s in enumerate(own):
                sides[s].append((part, "cells", [place]))
    for tied in sides:
        if len(tied) > 1:
            d.agree(*tied)
    return d


PROBLEMS: dict[str, Callable[[Rng], Decomposition]] = {
    "siblings, 10 words": lambda rng: draw_siblings(rng, 10, 0.5),
    "siblings, 20 words": lambda rng: draw_siblings(rng, 20, 0.5),
    "siblings, 20 words, hard": lambda rng: draw_siblings(rng, 20, 1.0),
    "siblings, 30 words": lambda rng: draw_siblings(rng, 30, 0.5),
    "siblings, 30 words, hard": lambda rng: draw_siblings(rng, 30, 1.0),
    "siblings, 30 words, random": lambda rng: draw_random_siblings(rng, 30),
    "crossing chains": lambda rng: draw_crossing_chains(rng, 12, 8, 0.5),
    "crossing chains, hard": lambda rng: draw_crossing_chains(rng, 12, 8, 1.0),
    "parsing and tagging": lambda rng: draw_parsing_and_tagging(rng, 12, 8, 1.0),
    "parsing and tagging, hard": lambda rng: draw_parsing_and_tagging(rng, 12, 8, 2.0),
    "colouring a grid": lambda rng: draw_colouring(rng, 6, 4, 0.5),
    "graphical model": lambda rng: draw_graph(rng, 15, 2.0, 3),
    "packing": lambda rng: draw_packing(rng, 40, 20, 3),
}
