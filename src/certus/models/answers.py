"""What taggers are asked, as the decoders take it, and what they answer, as people read it."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.annotation.tagging import Tagging
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.learn.decoder import Allowed, Cells, Decoded
from certus.learn.features.inventory import Inventory
from certus.solution import LabelKBest, Status

Choices: TypeAlias = "Sequence[Sequence[str] | None]"  # for each word of a sentence, the labels it may get
Dictionary: TypeAlias = Mapping[str, Sequence[str]]


def restrict_labels(
    cells: Cells,
    inventory: Inventory,
    allowed: Sequence[Choices | None] | None,
    dictionary: Dictionary | None,
) -> Allowed | None:
    """Return the numbers of the labels that each word may get; ``allowed`` goes before the dictionary."""
    if allowed is None and dictionary is None:
        return None
    if allowed is not None and len(allowed) != len(cells):
        raise InvalidInput(f"allowed is for {len(allowed)} sentences, but there are {len(cells)}")
    listed = _number_dictionary(dictionary or {}, inventory)
    found: Allowed = []
    for n, (words, *_) in enumerate(cells):
        given = None if allowed is None else allowed[n]
        chosen = [None] * len(words) if given is None else given
        if len(chosen) != len(words):
            raise InvalidInput(f"sentence {n}: allowed is for {len(chosen)} words, but it has {len(words)}")
        found.append([
            listed.get(word) if labels is None else _number_labels(labels, word, inventory)
            for word, labels in zip(words, chosen, strict=True)
        ])  # fmt: skip
    return found


def _number_dictionary(dictionary: Dictionary, inventory: Inventory) -> dict[str, NDArray[np.int32]]:
    """Return the numbers of labels of words; the first parts of labels stand for all that begin with them."""
    if not dictionary:
        return {}
    begun: dict[str, list[int]] = {}
    for label, number in inventory.number.items():
        for part in accumulate(label.split("|"), "{}|{}".format):
            begun.setdefault(part, []).append(number)
    found = {}
    for word, labels in dictionary.items():
        _check_labels(labels, word, begun)
        found[word] = np.unique([number for label in labels for number in begun[label]]).astype(np.int32)
    return found


def _number_labels(labels: Sequence[str], word: str, inventory: Inventory) -> NDArray[np.int32]:
    _check_labels(labels, word, inventory.number)
    return np.unique(inventory.number_labels(labels))


def _check_labels(labels: Sequence[str], word: str, known: Container[str]) -> None:
    if isinstance(labels, str):
        raise InvalidInput(f"the labels allowed for {word!r} are a text; give a list: [{labels!r}]")
    unknown = next((label for label in labels if label not in known), None)
    if unknown is not None:
        raise InvalidInput(f"{unknown!r}, allowed for {word!r}, is no label of the tagger")
    if not len(labels):
        raise InvalidInput(f"no label at all is allowed for {word!r}; None allows every one")


def find_best(decoded: Decoded, n: int, names: Sequence[str]) -> Tagging:
    """Return the best answer for sentence n, which may be infeasible."""
    if decoded.found[n] == 0:
        return Tagging([], -math.inf, -math.inf, Status.INFEASIBLE, position=int(decoded.position[n]))
    return _make_tagging(decoded, n, 1, 0, names)


def find_several(decoded: Decoded, n: int, k: int, names: Sequence[str]) -> LabelKBest[Tagging]:
    """Return the k best answers for sentence n, best first: none if it is infeasible."""
    found = int(decoded.found[n])
    return LabelKBest(
        [_make_tagging(decoded, n, k, rank, names) for rank in range(found)], exhausted=found < k
    )


def refuse_infeasible(decoded: Decoded) -> None:
    """Raise Infeasible for the first sentence that no label sequence is possible for."""
    missing = np.flatnonzero(decoded.found == 0)
    if not missing.size:
        return
    sentence = int(missing[0])
    position = int(decoded.position[sentence])
    message = describe_infeasible(
        f"no label sequence is possible: the last one dies at word {position}",
        "Look at what allowed, the dictionary and legal leave there",
        sentence if len(decoded.found) > 1 else None,
    )
    raise Infeasible(message, position=position, sentence=sentence)


_LIMITS = (Status.FEASIBLE, Status.SECONDS, Status.ITERATIONS)  # see Decoded.stopped


def _find_share(excess: float, rounding: float) -> float:
    """Return the share of what pruning leaves in all.

    Args:
        excess: the logarithm of all, over that of what it leaves.
        rounding: what it dropped may be exp(rounding) times as much.
    """
    if excess <= 0:
        return 1.0
    dropped = (excess if excess > 40 else math.log(math.expm1(excess))) + rounding  # over what it leaves
    return 1 / (1 + math.exp(dropped)) if dropped < 700 else 0.0


def _make_tagging(decoded: Decoded, n: int, k: int, rank: int, names: Sequence[str]) -> Tagging:
    begin, end = int(decoded.first[n]), int(decoded.first[n + 1])
    at = begin * k + rank * (end - begin)
    score, optimal = float(decoded.scores[n, rank]), bool(decoded.optimal[n])
    limit = 0 if decoded.stopped is None else int(decoded.stopped[n])
    probability = confidence = share = None
    rounding = 0.0
    if len(decoded.log_partition):
        known = float(decoded.log_partition[n])
        probability = min(1.0, math.exp(score - known))
        if rank == 0:
            confidence = [min(1.0, p) for p in decoded.confidence[begin:end].tolist()]
        most = known if decoded.log_partition_bound is None else float(decoded.log_partition_bound[n])
        dropped = 0.0
        if decoded.rounding is not None:
            rounding, dropped = map(float, decoded.rounding[n])
        share = _find_share(most - known, dropped)
    return Tagging(
        [names[label] for label in decoded.labels[at : at + end - begin].tolist()],
        score,
        score if optimal and rank else float(decoded.bounds[n]),
        Status.OPTIMAL if optimal else _LIMITS[limit],
        probability=probability,
        confidence=confidence,
        share=share,
        rounding=rounding,
        counters=None if decoded.searches is None else {"iterations": int(decoded.searches[n])},
    )
