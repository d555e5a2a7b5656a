"""What taggers are asked, as the decoders take it, and what they answer, as people read it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput
from certus.learn.decoders import Allowed, Cells, Decoded
from certus.learn.features.inventory import Inventory
from certus.models.tagging import Tagging
from certus.solution import Status

Words: TypeAlias = "Sequence[str] | Sentence | Mapping[str, Sequence[str]]"
Choices: TypeAlias = "Sequence[Sequence[str] | None]"  # for each word of a sentence, the labels it may get
Dictionary: TypeAlias = Mapping[str, Sequence[str]]


def cells_of(sentence: Any, names: Sequence[str]) -> list[list[str]]:
    """Return the columns of a sentence that a tagger looks at, the words first."""
    if isinstance(sentence, Sentence):
        return [sentence.column(name) for name in names]
    if isinstance(sentence, str):
        raise InvalidInput(f"a sentence is a list of words, not a text: {sentence[:40]!r}")
    if isinstance(sentence, Mapping):
        return _of_mapping(sentence, names)
    if len(names) > 1:
        raise InvalidInput(
            f"the tagger looks at the columns {', '.join(names)}: give a mapping from them to lists, "
            "or a Sentence"
        )
    return [_texts(sentence, names[0])]


def _of_mapping(sentence: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[list[str]]:
    given = {"word" if name == "form" else name: values for name, values in sentence.items()}
    missing = next((name for name in names if name not in given), None)
    if missing is not None:
        raise InvalidInput(f"the tagger looks at column {missing!r}, which the sentence has not")
    cells = [_texts(given[name], name) for name in names]
    for name, column in zip(names, cells, strict=True):
        if len(column) != len(cells[0]):
            raise InvalidInput(f"column {name!r} has {len(column)} values for {len(cells[0])} words")
    return cells


def _texts(values: Sequence[str], name: str) -> list[str]:
    """Refuse cells that are no text, or none that UTF-8 can hold."""
    cells = list(values)
    try:
        "".join(cells).encode()
    except (TypeError, UnicodeEncodeError):
        place = next(place for place, value in enumerate(cells) if not _is_text(value))
        raise InvalidInput(f"{name} {place} of the sentence is {cells[place]!r}, which is no text") from None
    return cells


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def limits(
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
    listed = {word: _numbers(labels, word, inventory) for word, labels in (dictionary or {}).items()}
    found: Allowed = []
    for n, (words, *_) in enumerate(cells):
        given = None if allowed is None else allowed[n]
        chosen = [None] * len(words) if given is None else given
        if len(chosen) != len(words):
            raise InvalidInput(f"sentence {n}: allowed is for {len(chosen)} words, but it has {len(words)}")
        found.append([
            listed.get(word) if labels is None else _numbers(labels, word, inventory)
            for word, labels in zip(words, chosen, strict=True)
        ])  # fmt: skip
    return found


def _numbers(labels: Sequence[str], word: str, inventory: Inventory) -> NDArray[np.int32]:
    if isinstance(labels, str):
        raise InvalidInput(f"the labels allowed for {word!r} are a text; give a list: [{labels!r}]")
    unknown = next((label for label in labels if label not in inventory.number), None)
    if unknown is not None:
        raise InvalidInput(f"{unknown!r}, allowed for {word!r}, is no label of the tagger")
    if not len(labels):
        raise InvalidInput(f"no label at all is allowed for {word!r}; None allows every one")
    return np.unique(inventory.numbers(labels))


def answers(decoded: Decoded, n: int, k: int, names: Sequence[str]) -> list[Tagging]:
    """Return the answers for sentence n, best first; for k = 1 always one, which may be infeasible."""
    if decoded.found[n] == 0:
        place = int(decoded.position[n])
        return [Tagging([], -math.inf, -math.inf, Status.INFEASIBLE, position=place)] if k == 1 else []
    return [_answer(decoded, n, k, rank, names) for rank in range(int(decoded.found[n]))]


def _answer(decoded: Decoded, n: int, k: int, rank: int, names: Sequence[str]) -> Tagging:
    begin, end = int(decoded.first[n]), int(decoded.first[n + 1])
    at = begin * k + rank * (end - begin)
    score, optimal = float(decoded.scores[n, rank]), bool(decoded.optimal[n])
    probability = confidence = None
    if len(decoded.log_partition):
        probability = min(1.0, math.exp(score - float(decoded.log_partition[n])))
        if rank == 0:
            confidence = [min(1.0, p) for p in decoded.confidence[begin:end].tolist()]
    return Tagging(
        [names[label] for label in decoded.labels[at : at + end - begin].tolist()],
        score,
        score if optimal and rank else float(decoded.bounds[n]),
        Status.OPTIMAL if optimal else Status.FEASIBLE,
        probability=probability,
        confidence=confidence,
    )
