"""Random joint problems of several kinds and hardness, each a Decomposition ready to solve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from certus.chain import Chain
from certus.relax import Decomposition
from certus.relax.parts import AtMostOne, ChainPart, TablePart, TreePart
from certus_bench.relax.models import Grammar, HeadAutomata, Trigrams

Rng = np.random.Generator


def siblings(rng: Rng, words: int, interaction: float) -> Decomposition:
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


def crossing_chains(rng: Rng, length: int, labels: int, interaction: float) -> Decomposition:
    """Two chains over the same positions in different orders: a loopy model."""
    emissions = rng.normal(0, 1, (length, labels))
    d = Decomposition()
    order = rng.permutation(length)
    first = d.add(ChainPart(_transitions(rng, labels, interaction), 0.5 * emissions), "reading order")
    second = d.add(ChainPart(_transitions(rng, labels, interaction), 0.5 * emissions[order]), "other order")
    cells = (order[:, None] * labels + np.arange(labels)).reshape(-1)
    d.agree((first, "labels", cells), (second, "labels"))
    return d


def _transitions(rng: Rng, labels: int, interaction: float) -> Chain:
    return Chain(rng.normal(0, interaction, (labels, labels)))


def parsing_and_tagging(rng: Rng, words: int, tags: int, doubt: float) -> Decomposition:
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


def colouring(rng: Rng, side: int, colours: int, interaction: float) -> Decomposition:
    """Colour a grid of nodes; each row and each column is a chain: 2 · side parts."""
    nodes = rng.normal(0, 1, (side, side, colours))
    d = Decomposition()
    rows, columns = [], []
    for i in range(side):
        rows.append(d.add(ChainPart(_transitions(rng, colours, interaction), 0.5 * nodes[i]), f"row {i}"))
        columns.append(
            d.add(ChainPart(_transitions(rng, colours, interaction), 0.5 * nodes[:, i]), f"column {i}")
        )
    own = np.arange(side * colours).reshape(side, colours)
    for i in range(side):
        for j in range(side):
            d.agree((rows[i], "labels", own[j]), (columns[j], "labels", own[i]))
    return d


def graph(rng: Rng, nodes: int, degree: float, values: int) -> Decomposition:
    """Draw a random graphical model, one part an edge: every node ties all its edges together."""
    d = Decomposition()
    sides: list[list[tuple[object, str]]] = [[] for _ in range(nodes)]
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


def packing(rng: Rng, sets: int, elements: int, size: int) -> Decomposition:
    """Choose among sets of elements, each element in one chosen set at most: a part an element."""
    members = [rng.choice(elements, size, replace=False) for _ in range(sets)]
    scores = rng.integers(1, 20, sets).astype(np.float64) * size
    d = Decomposition()
    holds: list[list[int]] = [[] for _ in range(elements)]
    for s, chosen in enumerate(members):
        for element in chosen:
            holds[element].append(s)
    sides: list[list[tuple[object, str, list[int]]]] = [[] for _ in range(sets)]
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
    "siblings, 10 words": lambda rng: siblings(rng, 10, 0.5),
    "siblings, 20 words": lambda rng: siblings(rng, 20, 0.5),
    "siblings, 20 words, hard": lambda rng: siblings(rng, 20, 1.0),
    "siblings, 30 words": lambda rng: siblings(rng, 30, 0.5),
    "crossing chains": lambda rng: crossing_chains(rng, 12, 8, 0.5),
    "crossing chains, hard": lambda rng: crossing_chains(rng, 12, 8, 1.0),
    "parsing and tagging": lambda rng: parsing_and_tagging(rng, 12, 8, 1.0),
    "parsing and tagging, hard": lambda rng: parsing_and_tagging(rng, 12, 8, 2.0),
    "colouring a grid": lambda rng: colouring(rng, 6, 4, 0.5),
    "graphical model": lambda rng: graph(rng, 15, 2.0, 3),
    "packing": lambda rng: packing(rng, 40, 20, 3),
}
