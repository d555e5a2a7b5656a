"""Which labels may follow which: ready-made for the usual chunk encodings, or any set of pairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput

Split: TypeAlias = Callable[[str], str]
Pairs: TypeAlias = NDArray[np.bool_] | Iterable[tuple[str, str]]  # (L, L) [from, to], or pairs of names
Ends: TypeAlias = NDArray[np.bool_] | Collection[str]  # (L,), or names


class Automaton:
    """The legal label sequences, as legal pairs, first labels and last labels.

    Args:
        labels: the label names, in the order of their ids.
        legal: either (L, L) booleans [from, to], or the legal pairs of names.
        start: the labels a sequence may start with: (L,) booleans or names; None for all.
        end: the labels it may end with, likewise.
    """

    def __init__(
        self,
        labels: Sequence[str],
        legal: Pairs,
        *,
        start: Ends | None = None,
        end: Ends | None = None,
    ) -> None:
        self.labels = tuple(labels)
        self._ids = {name: i for i, name in enumerate(self.labels)}
        if len(self._ids) < len(self.labels):
            twice = next(name for name in self.labels if self.labels.count(name) > 1)
            raise InvalidInput(f"label {twice!r} is given twice")
        self.legal = self._read_pairs(legal)
        self.start = self._read_ends("start", start)
        self.end = self._read_ends("end", end)

    def _find(self, name: str) -> int:
        if name not in self._ids:
            raise InvalidInput(f"{name!r} is not one of the {len(self.labels)} labels")
        return self._ids[name]

    def _read_pairs(self, legal: Pairs) -> NDArray[np.bool_]:
        size = len(self.labels)
        if isinstance(legal, np.ndarray):
            if legal.shape != (size, size):
                raise InvalidInput(
                    f"legal must have shape ({size}, {size}), one row per label, not {legal.shape}"
                )
            return legal.astype(bool)
        matrix = np.zeros((size, size), bool)
        for origin, target in legal:
            matrix[self._find(origin), self._find(target)] = True
        return matrix

    def _read_ends(self, what: str, names: Ends | None) -> NDArray[np.bool_]:
        size = len(self.labels)
        if names is None:
            return np.ones(size, bool)
        if isinstance(names, np.ndarray) and names.dtype == bool:
            if names.shape != (size,):
                raise InvalidInput(
                    f"{what} must have shape ({size},), one element per label, not {names.shape}"
                )
            return names.copy()
        mask = np.zeros(size, bool)
        mask[[self._find(str(name)) for name in names]] = True
        return mask

    def accepts(self, sequence: Sequence[int]) -> bool:
        """Whether a sequence of label ids is legal."""
        ids = np.asarray(sequence, np.int64)
        if ids.size == 0:
            return True
        return bool(self.start[ids[0]] and self.end[ids[-1]] and self.legal[ids[:-1], ids[1:]].all())

    def __repr__(self) -> str:
        return f"Automaton({len(self.labels)} labels, {int(self.legal.sum())} legal pairs)"


def bio(labels: Sequence[str], *, part: Split | None = None) -> Automaton:
    """Legal BIO (IOB2) sequences: ``I-X`` only after ``B-X`` or ``I-X``.

    Args:
        labels: names such as ``B-NP``, ``I-NP``, ``O``, in the order of their ids.
        part: picks the chunk tag out of a joint label, e.g. ``lambda y: y.split("|")[1]``.
    """
    return _chunks(labels, part, begins="B", inside="I", ends="", single="")


def bilou(labels: Sequence[str], *, part: Split | None = None) -> Automaton:
    """Legal BILOU sequences: a chunk is ``U-X``, or ``B-X``, any ``I-X``, ``L-X``."""
    return _chunks(labels, part, begins="B", inside="I", ends="L", single="U")


def iobes(labels: Sequence[str], *, part: Split | None = None) -> Automaton:
    """Legal IOBES sequences: a chunk is ``S-X``, or ``B-X``, any ``I-X``, ``E-X``."""
    return _chunks(labels, part, begins="B", inside="I", ends="E", single="S")


def bmes(labels: Sequence[str], *, part: Split | None = None) -> Automaton:
    """Legal BMES sequences, as of words: a chunk is ``S-X``, or ``B-X``, any ``M-X``, ``E-X``."""
    return _chunks(labels, part, begins="B", inside="M", ends="E", single="S")


def iob1(labels: Sequence[str], *, part: Split | None = None) -> Automaton:
    """Legal IOB1 sequences: a chunk is any ``I-X``; ``B-X`` begins one right after another of its kind."""
    prefixes, kinds = _split_tags(labels, part, {"B", "I", "O"})
    follows = (prefixes != "O")[:, None] & (kinds[:, None] == kinds[None, :])
    legal = np.where((prefixes == "B")[None, :], follows, np.ones_like(follows))
    return Automaton(labels, legal, start=prefixes != "B")


SCHEMES: dict[str, Callable[..., Automaton]] = {
    "bio": bio, "iob1": iob1, "bilou": bilou, "iobes": iobes, "bmes": bmes
}  # fmt: skip


def name_scheme(tags: Iterable[str]) -> str | None:
    """Return the scheme that tags seem to be in, by their prefixes; None if they are in none."""
    prefixes = {tag.partition("-")[0] for tag in tags} - {"O"}
    if not prefixes or not prefixes <= set("BILUMES"):
        return None
    if "B" not in prefixes and prefixes <= {"I"}:
        return "iob1"
    marks = {"bilou": "LU", "bmes": "M", "iobes": "ES"}
    return next((name for name, own in marks.items() if prefixes & set(own)), "bio")


def _split_tags(
    labels: Sequence[str], part: Split | None, known: set[str]
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the prefixes of labels, all of them known, and a number for the kind of each."""
    tags = [part(label) if part else label for label in labels]
    split = [tag.split("-", 1) if "-" in tag else [tag, ""] for tag in tags]
    for label, (prefix, _) in zip(labels, split, strict=True):
        if prefix not in known:
            raise InvalidInput(
                f"label {label!r} has prefix {prefix!r}; this encoding knows {', '.join(sorted(known))}"
                f"{_describe_scheme(tags)} (for joint labels, pass part= to pick out the chunk tag)"
            )
    _, kinds = np.unique([kind for _, kind in split], return_inverse=True)
    return np.array([prefix for prefix, _ in split]), kinds


def _describe_scheme(tags: Iterable[str]) -> str:
    scheme = name_scheme(tags)
    return "" if scheme is None else f"; these labels are in the scheme {scheme}"


def _chunks(
    labels: Sequence[str], part: Split | None, *, begins: str, inside: str, ends: str, single: str
) -> Automaton:
    tags = [part(label) if part else label for label in labels]
    prefixes, kinds = _split_tags(labels, part, {"O", begins, inside, ends, single} - {""})
    for first, second in ((begins, ends), (inside, begins)):  # which no chunk can do without
        if second and first in prefixes and second not in prefixes:
            raise InvalidInput(
                f"there are labels {first}-..., but no label {second}-..., which they need in this encoding"
                f"{_describe_scheme(tags)}"
            )
    # A label may continue a chunk of its kind, and may leave one open that has to go on.
    continues = np.isin(prefixes, [inside, ends] if ends else [inside])
    can_go_on = np.isin(prefixes, [begins, inside])
    must_go_on = can_go_on if ends else np.zeros(len(tags), bool)
    same = kinds[:, None] == kinds[None, :]
    legal = np.where(continues[None, :], can_go_on[:, None] & same, ~must_go_on[:, None])
    return Automaton(labels, legal, start=~continues, end=~must_go_on)
