"""Which words of a corpus should agree: unknown words of the same type, and of types that are related to it.

Rush et al. (2012, §7) give every unknown word type a consensus node and join a type with the one that has an
"s" appended. Here types that differ in case are one as well, known words that are related to an unknown one
count as observed, with the label that their sentence gives them, and whether "s" relates two words is asked
of the corpus: with coarse tags it does, with tags for number it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_PAIRS = 10  # known pairs that it takes to tell whether a suffix relates words
_AGREE = 0.8  # the share of them that must have the same label


@dataclass(frozen=True)
class Types:
    """The word types of a corpus.

    Attributes:
        names: of the types, in the order of their first occurrence.
        first: (sentences + 1,) where the tokens of each sentence begin.
        tokens: (tokens,) the type of each.
        key: (types,) the number of what they are the same in, such as the lower-case form.
        keys: those by number.
        known: (types,) whether the tagger has seen them.
    """

    names: list[str]
    first: Numbers
    tokens: Numbers
    key: Numbers
    keys: list[str]
    known: NDArray[np.bool_]


def find_types(
    sentences: Iterable[Sequence[str]], is_known: Callable[[list[str]], NDArray[np.bool_]], case: bool
) -> Types:
    """Give numbers to the word types of sentences.

    Args:
        sentences: their words.
        is_known: says of many words at once whether the tagger has seen them.
        case: whether types that differ in case are related.
    """
    several = list(sentences)
    words = list(chain.from_iterable(several))
    names = list(dict.fromkeys(words))
    number = dict(zip(names, range(len(names)), strict=True))
    tokens = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
    known = is_known(names)
    keys: dict[str, int] = {}
    key = [keys.setdefault(name.casefold() if case else name, len(keys)) for name in names]
    first = np.concatenate([[0], np.cumsum([len(one) for one in several], dtype=np.int64)])
    return Types(names, first, tokens, np.array(key, np.int64), list(keys), known)


@dataclass(frozen=True)
class Nodes:
    """The consensus nodes of a corpus.

    Attributes:
        keys: (nodes,) the key of each, as a number of ``Types.keys``.
        of_type: (types,) the node of an unknown type, -2 less the node of a known one that is related, or -1.
        pairs: (pairs, 2) nodes that become one if their suffix relates words.
    """

    keys: Numbers
    of_type: Numbers
    pairs: Numbers


def find_nodes(types: Types, tested: int, suffixes: Sequence[str]) -> Nodes:
    """Give a node to every key of an unknown word that occurs more than once, or has relatives.

    Args:
        types: of all sentences.
        tested: how many tokens are to be labelled; the others are there to help.
        suffixes: that may relate words.
    """
    count = len(types.keys)
    wanted = np.zeros(count, bool)
    asked = np.unique(types.tokens[:tested])
    wanted[types.key[asked[~types.known[asked]]]] = True
    pairs = _find_pairs(types.keys, suffixes)
    related = pairs[wanted[pairs].any(1)]
    wanted[related.reshape(-1)] = True
    occurrences = np.bincount(types.key[types.tokens], minlength=count)
    alone = occurrences < 2
    alone[related.reshape(-1)] = False
    wanted &= ~alone
    number = np.full(count, -1, np.int64)
    number[wanted] = np.arange(int(wanted.sum()))
    of_type = number[types.key]
    of_type = np.where((of_type >= 0) & types.known, -2 - of_type, of_type)
    return Nodes(np.flatnonzero(wanted), of_type, number[related])


def _find_pairs(keys: Sequence[str], suffixes: Sequence[str]) -> Numbers:
    """Return the pairs of keys, as numbers, of which the second is the first with a suffix."""
    number = {key: n for n, key in enumerate(keys)}
    found = [
        (number[key[: -len(suffix)]], n)
        for suffix in suffixes
        for key, n in number.items()
        if key.endswith(suffix) and key[: -len(suffix)] in number
    ]
    return np.array(found, np.int64).reshape(-1, 2)


def suffix_relates(types: Types, suffix: str, labels: NDArray[np.int32], used: Numbers) -> bool:
    """Whether most known words have the same label with a suffix and without.

    Args:
        types: of all sentences.
        suffix: in question.
        labels: of the tokens that are used, from their sentences alone.
        used: which tokens those are.
    """
    pairs = _find_pairs(types.keys, [suffix])
    if not len(pairs):
        return False
    asked = np.zeros(len(types.keys), bool)
    asked[pairs.reshape(-1)] = True
    counted = (types.known & asked[types.key])[types.tokens[used]]
    key, label = types.key[types.tokens[used][counted]], labels[counted].astype(np.int64)
    usual = find_usual_labels(key, label, len(types.keys))
    one, other = usual[pairs[:, 0]], usual[pairs[:, 1]]
    both = (one >= 0) & (other >= 0)
    return bool(both.sum() >= _PAIRS and (one == other)[both].mean() >= _AGREE)


def find_usual_labels(key: Numbers, label: Numbers, count: int) -> Numbers:
    """Return for each key the label it has most often, the first of equals; -1 where it has none."""
    usual = np.full(count, -1, np.int64)
    if len(key):
        width = int(label.max()) + 1
        several, times = np.unique(key * width + label, return_counts=True)
        keys, labels = np.divmod(several, width)
        order = np.lexsort((-labels, times, keys))  # the best of each key comes last
        usual[keys[order]] = labels[order]
    return usual


def merge_pairs(nodes: int, pairs: Numbers) -> Numbers:
    """Return for each node the first of those that it becomes one with."""
    into = np.arange(nodes, dtype=np.int64)

    def find_root(node: int) -> int:
        while into[node] != node:
            into[node] = into[into[node]]
            node = int(into[node])
        return node

    for one, other in pairs.tolist():
        low, high = sorted((find_root(one), find_root(other)))
        into[high] = low
    return np.fromiter((find_root(node) for node in range(nodes)), np.int64, nodes)
