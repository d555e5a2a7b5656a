"""Many sentences at once: takes lists and padded arrays apart, and puts the answers in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native, checks
from certus.chain.decoding import Answer, decode_sentence, make_empty_answer, needs_double, read_result
from certus.chain.limits import limit_list
from certus.chain.method import Method
from certus.chain.model import ChainModel
from certus.checks import Floats, Lengths, Mask, Scores, Tensor
from certus.errors import InvalidInput
from certus.ragged import Ragged
from certus.solution import LabelSolution, OnInfeasible, Status

# A (T, L) array per sentence, or one padded (B, T, L) array.
Batch: TypeAlias = Sequence[Scores] | ArrayLike | Tensor
Masks: TypeAlias = Sequence[Mask] | ArrayLike | Tensor
OnGaps: TypeAlias = Literal[
    "refuse", "drop"
]  # what becomes of positions before a token that a mask leaves out
Tokens: TypeAlias = slice | NDArray[np.int64]  # positions of a padded sentence


def decode_sentences(
    model: ChainModel,
    sentences: list[Floats],
    k: int,
    method: Method,
    threads: int,
    infeasible: OnInfeasible,
) -> list[Answer]:
    """Decode sentences that the kernels can take, all in one precision; the answers are in their order."""
    if not sentences:
        return []
    lengths = [len(sentence) for sentence in sentences]
    kernels = model.prepare(sentences[0].dtype)
    most = limit_list(k, model, kernels, sentences, method)
    # One row per sentence: its `most` paths, end to end.
    paths = Ragged.of_lengths(np.empty(most * sum(lengths), np.int64), most * np.array(lengths))
    totals = np.empty(most * len(lengths), np.float64)
    results = kernels.decode_many(sentences, paths.data, totals, method.code, method.request(most), threads)
    one, optimal = k == 1, Status.OPTIMAL
    answers: list[Answer] = []
    for path, result in zip(paths, results, strict=True):
        if one and result.optimal:
            score = result.score
            answers.append(LabelSolution(path, score, score, optimal, result))
        else:
            n = len(answers)
            written = path.reshape(most, -1), totals[n * most : (n + 1) * most]
            answers.append(_read_other(model, sentences[n], *written, result, k, method, infeasible, n))
    return answers


def _read_other(
    model: ChainModel,
    scores: Floats,
    paths: NDArray[np.int64],
    totals: NDArray[np.float64],
    result: _native.Result,
    k: int,
    method: Method,
    infeasible: OnInfeasible,
    sentence: int,
) -> Answer:
    """Return the answer of a sentence that is not the usual one: one path, proven to be the best."""
    if len(scores) == 0:
        return make_empty_answer(k)
    if needs_double(result, scores):
        return decode_sentence(model, scores.astype(checks.DOUBLE), k, method, infeasible, sentence)
    return read_result(model, result, paths, totals, scores, k, infeasible, sentence)


@dataclass(frozen=True, eq=False)
class Padding:
    """Which positions of a padded array are the tokens of its sentences: what ``decode_batch`` is told.

    Attributes:
        lengths: (B,) the lengths of the sentences.
        mask: (B, T) instead: True for the tokens.
        gaps: whether False before a token is refused or dropped.
        batch_first: whether arrays are (B, T, ...), not (T, B, ...).
    """

    lengths: Lengths | None = None
    mask: Mask | None = None
    gaps: OnGaps = "refuse"
    batch_first: bool = True

    @property
    def is_given(self) -> bool:
        """Whether there is anything that a list of sentences does not need."""
        arrays = self.lengths is not None or self.mask is not None
        return arrays or self.gaps != "refuse" or not self.batch_first

    def find_tokens(self, batch: int, longest: int) -> list[Tokens]:
        """Return, for each sentence, which positions to take."""
        if self.lengths is not None and self.mask is not None:
            raise InvalidInput("give lengths or mask, not both")
        if self.gaps not in ("refuse", "drop"):
            raise InvalidInput(f'gaps must be "refuse" or "drop", not {self.gaps!r}')
        if self.mask is None:
            if self.gaps == "drop":
                raise InvalidInput('gaps="drop" needs a mask, which tells the tokens from the gaps')
            if self.lengths is None:
                return [slice(None)] * batch
            return [slice(n) for n in checks.read_lengths(batch, longest, self.lengths)]
        shape = (batch, longest) if self.batch_first else (longest, batch)
        if np.shape(self.mask) == shape[::-1] != shape:
            raise InvalidInput(
                f"mask must have shape {shape}, not {shape[::-1]}: for a (T, B, L) array with a (T, B) mask "
                "pass batch_first=False, for (B, T, L) with (B, T) leave it out"
            )
        mask = checks.as_mask("mask", self.mask, shape)
        mask = mask if self.batch_first else mask.T
        if self.gaps == "drop":
            return [np.flatnonzero(row) for row in mask]
        self._refuse_gaps(mask)
        return [slice(n) for n in mask.sum(axis=1).tolist()]

    def _refuse_gaps(self, mask: NDArray[np.bool_]) -> None:
        gaps = np.argwhere(mask[:, 1:] & ~mask[:, :-1])
        if gaps.size:
            b, t = gaps[0].tolist()
            pairs = (b, t), (b, t + 1)
            here, next = (f"{x}, {y}" if self.batch_first else f"{y}, {x}" for x, y in pairs)
            raise InvalidInput(
                f"mask[{here}] is False but mask[{next}] is True: a mask must be True up to the end of each "
                'sentence and False after it; gaps="drop" leaves out what is False, wherever it is'
            )


def split_batch(model: ChainModel, emissions: Batch, padding: Padding, allowed: Masks | None) -> list[Floats]:
    """Return the sentences of a list or of a padded array, as the kernels take them, in one precision."""
    if type(emissions) is list and allowed is None and not padding.is_given:
        arrays = cast("list[Floats]", emissions)
        if _all_numpy(arrays) and model.prepare(model.dtype).can_take_all(arrays):  # the common case
            return arrays
    parts, tokens = _split(emissions, padding)
    sentences = [model.as_sentence(part, f"emissions[{n}]") for n, part in enumerate(parts)]
    # One precision for all, so that a sentence's answer does not depend on its neighbours' type.
    if any(sentence.dtype != sentences[0].dtype for sentence in sentences):
        sentences = [sentence.astype(checks.DOUBLE, order="C", copy=False) for sentence in sentences]
    if allowed is None:
        return sentences
    masks = _split_masks(allowed, padding, len(sentences), tokens)
    return [
        model.mask_sentence(sentence, masks[n], f"emissions[{n}]", f"allowed[{n}]")
        for n, sentence in enumerate(sentences)
    ]


def _all_numpy(arrays: list[Floats]) -> bool:
    """Whether a list holds NumPy's own arrays alone: not tensors, which the kernels would take, too."""
    return not arrays or set(map(type, arrays)) == {np.ndarray}


def _split(emissions: Batch, padding: Padding) -> tuple[Sequence[Scores], list[Tokens] | None]:
    """Return the scores of each sentence, without padding, and which positions of a padded array they are."""
    if checks.is_array(emissions):
        array = checks.as_array("emissions", cast(Scores, emissions))
        if array.ndim != 3:
            shape = "(B, T, L)" if padding.batch_first else "(T, B, L)"
            raise InvalidInput(f"a padded batch of emissions must have shape {shape}, not {array.shape}")
        array = array if padding.batch_first else array.swapaxes(0, 1)
        tokens = padding.find_tokens(array.shape[0], array.shape[1])
        return [array[b, which] for b, which in enumerate(tokens)], tokens
    if padding.is_given:
        raise InvalidInput(
            "lengths and mask belong to a padded (B, T, L) array, and so do gaps and batch_first; "
            "a list has its own lengths"
        )
    return list(cast(Sequence[Scores], emissions)), None


def _split_masks(
    allowed: Masks, padding: Padding, sentences: int, tokens: list[Tokens] | None
) -> Sequence[Mask]:
    """Return what is allowed in each sentence, without padding."""
    masks = cast(Sequence[Mask], allowed)
    if tokens is not None and checks.is_array(allowed) and not padding.batch_first:
        masks = cast(Sequence[Mask], np.asarray(allowed).swapaxes(0, 1))
    if len(masks) != sentences:
        raise InvalidInput(f"allowed has {len(masks)} masks for {sentences} sentences")
    return masks if tokens is None else [np.asarray(masks[n])[which] for n, which in enumerate(tokens)]
