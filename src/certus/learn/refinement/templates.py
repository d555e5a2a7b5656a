"""Feature templates over labels and observations, evaluated for all tokens of a corpus at once.

A template joins atoms by ``*``; several stand side by side, separated by blanks::

    a[k]   the label k positions on (a[0] the current one, a[-1] the one before)
    x[k]   the observation k positions on
    pp     the kind of the last label before the current run of labels of one kind
    np     the kind of the first label after it
    pos    the place in the run: its first, an inner, its last token, or all of it

pp, np and pos are those of Stratos et al. 2013, figure 6. A kind is what ``kind`` makes of a label, so that
B-NP and I-NP can be of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn.refinement.data import LabelledCorpus

Kind = Callable[[str], str]

_ATOM = re.compile(r"([ax])\[([+-]?\d+)\]")
_RUNS = ("pp", "np", "pos")


@dataclass(frozen=True, eq=False)
class Indicators:
    """Features of tokens: which of ``size`` each token has.

    Attributes:
        ids: (tokens, width) of the features a token has; -1 for none.
        size: how many features there are.
    """

    ids: NDArray[np.int32]
    size: int

    def of(self, rows: NDArray[np.int64]) -> Indicators:
        """Return the features of some tokens, without those that none of them has."""
        chosen = self.ids[rows]
        codes, size = rank_keys(chosen, self.size)
        return Indicators(codes.astype(np.int32), size)


def rank_keys(keys: NDArray[np.int64] | NDArray[np.int32], size: int) -> tuple[NDArray[np.int64], int]:
    """Return keys as their places among those that occur, negative ones as -1; keys are below size."""
    if size <= 4 * keys.size + 1024:
        present = np.zeros(size + 1, bool)  # the last place is that of -1
        present[keys] = True
        present[size] = False
        code = np.cumsum(present) - 1
        code[size] = -1
        return code[keys], int(present.sum())
    values, codes = np.unique(keys, return_inverse=True)
    codes = codes.reshape(keys.shape)
    return (codes - 1, len(values) - 1) if values[0] < 0 else (codes, len(values))


class View:
    """A corpus as templates see it: atoms as arrays of codes, one for each token.

    Args:
        corpus: whose tokens.
        kind: what makes labels into kinds.
    """

    def __init__(self, corpus: LabelledCorpus, kind: Kind) -> None:
        self._corpus = corpus
        self._kind = kind
        lengths = np.diff(corpus.offsets)
        self._begin = np.repeat(corpus.offsets[:-1], lengths)
        self._end = np.repeat(corpus.offsets[1:], lengths)

    def find_indicators(self, templates: str) -> Indicators:
        """Return the features of some templates."""
        columns, size = [], 0
        for template in templates.split():
            codes, count = self._join_atoms(template)
            columns.append(codes + size)
            size += count
        ids = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
        return Indicators(ids, size)

    def _join_atoms(self, template: str) -> tuple[NDArray[np.int64], int]:
        codes, size = np.zeros(len(self._begin), np.int64), 1
        for atom in template.split("*"):
            own, count = self._encode_atom(atom)
            codes, size = rank_keys(codes * (count + 1) + own + 1, size * (count + 1))
        return codes, size

    def _encode_atom(self, atom: str) -> tuple[NDArray[np.int64], int]:
        """Return the codes of an atom, -1 beyond the sentence, and how many there are."""
        if atom == "pos":
            return self._place, 4
        if atom in _RUNS:
            codes, count = self._kinds
            where = self._run[0] - 1 if atom == "pp" else self._run[1]
            return self._look_up(codes, where), count
        found = _ATOM.fullmatch(atom)
        assert found is not None  # checked when the templates were given
        names = self._corpus.names
        values, count = (
            (self._corpus.labels, len(names.labels))
            if found[1] == "a"
            else (self._corpus.observations, names.unseen)
        )
        return self._look_up(values, np.arange(len(values)) + int(found[2])), count

    def _look_up(self, values: NDArray[np.int64], where: NDArray[np.int64]) -> NDArray[np.int64]:
        inside = (where >= self._begin) & (where < self._end)
        codes = np.full(len(values), -1, np.int64)
        codes[inside] = values[where[inside]]
        return codes

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.int64], int]:
        kinds: dict[str, int] = {}
        codes = [kinds.setdefault(self._kind(a), len(kinds)) for a in self._corpus.names.labels]
        return np.array(codes, np.int64)[self._corpus.labels], len(kinds)

    @cached_property
    def _run(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the run of each token begins, and where it ends."""
        kinds = self._kinds[0]
        new = np.ones(len(kinds), bool)
        new[1:] = kinds[1:] != kinds[:-1]
        new[self._corpus.first] = True
        starts = np.flatnonzero(new)
        run = np.cumsum(new) - 1
        return starts[run], np.append(starts[1:], len(kinds))[run]

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        begin, end = self._run
        token = np.arange(len(begin))
        return np.where(end - begin == 1, 3, np.where(token == begin, 0, np.where(token == end - 1, 2, 1)))


def check_templates(what: str, templates: str) -> None:
    """Refuse templates that cannot be read, or look at what the variable does not hold.

    The estimator is consistent because, given the label and hidden state of a token, its past tells nothing
    about its future, and its observation nothing about the rest. A template that looks across breaks that.
    """
    if not templates.split():
        raise InvalidInput(f"{what} has no templates; give at least one, such as x[0]")
    for template in templates.split():
        for atom in template.split("*"):
            if not _is_visible(what, atom):
                raise InvalidInput(
                    f"{what}: {atom!r} in {template!r} is not something that the {what} of a token holds; "
                    f"{what} may use {_MAY[what]}"
                )


_MAY = {
    "future": "a[k] and x[k] with k >= 0, and np",
    "past": "a[k] with k <= 0, x[k] with k < 0, and pp",
    "present": "a[0] and x[0]",
    "destiny": "a[k] with any k, x[k] with k != 0, pp, np and pos",
}


def _is_visible(what: str, atom: str) -> bool:
    if atom in _RUNS:
        return what == "destiny" or (what, atom) in (("future", "np"), ("past", "pp"))
    found = _ATOM.fullmatch(atom)
    if found is None:
        return False
    label, k = found[1] == "a", int(found[2])
    return {
        "future": k >= 0,
        "past": k <= 0 if label else k < 0,
        "present": k == 0,
        "destiny": label or k != 0,
    }[what]
