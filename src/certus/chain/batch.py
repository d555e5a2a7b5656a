"""Many sentences at once: takes lists and padded arrays apart, and puts the answers in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native, checks
from certus.chain.decoding import Answer, decode_sentence, make_empty_answer, needs_double, read_result
from certus.chain.method import Method
from certus.chain.methods import limit_k
from certus.chain.model import ChainModel
from certus.checks import Floats, Lengths, Mask, Scores, Tensor
from certus.errors import InvalidInput
from certus.ragged import Ragged
from certus.solution import OnInfeasible, Solution, Status

# A (T, L) array per sentence, or one padded (B, T, L) array.
Batch: TypeAlias = Sequence[Scores] | ArrayLike | Tensor
Masks: TypeAlias = Sequence[Mask] | ArrayLike | Tensor


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
    most = limit_k(k, model.labels, max(lengths))
    # One row per sentence: its `most` paths, end to end.
    paths = Ragged.of_lengths(np.empty(most * sum(lengths), np.int64), most * np.array(lengths))
    totals = np.empty(most * len(lengths), np.float64)
    kernels = model.prepare(sentences[0].dtype)
    results = kernels.decode_many(sentences, paths.data, totals, method.code, method.request(most), threads)
    one, optimal = k == 1, Status.OPTIMAL
    answers: list[Answer] = []
    for path, result in zip(paths, results, strict=True):
        if one and result.optimal:
            score = result.score
            answers.append(Solution(path, score, score, optimal, result))
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
    return read_result(result, paths, totals, scores, k, infeasible, sentence)


def split_batch(
    model: ChainModel, emissions: Batch, lengths: Lengths | None, mask: Mask | None, allowed: Masks | None
) -> list[Floats]:
    """Return the sentences of a list or of a padded array, as the kernels take them, in one precision."""
    if type(emissions) is list and allowed is None and lengths is None and mask is None:
        arrays = cast("list[Floats]", emissions)
        if model.prepare(model.dtype).can_take_all(arrays):  # the common case
            return arrays
    parts = _split(emissions, lengths, mask)
    sentences = [model.as_sentence(part, f"emissions[{n}]") for n, part in enumerate(parts)]
    # One precision for all, so that a sentence's answer does not depend on its neighbours' type.
    if any(sentence.dtype != sentences[0].dtype for sentence in sentences):
        sentences = [sentence.astype(checks.DOUBLE, order="C", copy=False) for sentence in sentences]
    if allowed is None:
        return sentences
    masks = cast(Sequence[Mask], allowed)
    if len(masks) != len(sentences):
        raise InvalidInput(f"allowed has {len(masks)} masks for {len(sentences)} sentences")
    if _is_padded(emissions):
        masks = [np.asarray(each)[: len(sentences[n])] for n, each in enumerate(masks)]
    return [
        model.mask_sentence(sentence, masks[n], f"emissions[{n}]", f"allowed[{n}]")
        for n, sentence in enumerate(sentences)
    ]


def _split(emissions: Batch, lengths: Lengths | None, mask: Mask | None) -> Sequence[Scores]:
    """Return the scores of each sentence, without padding."""
    if _is_padded(emissions):
        array = checks.as_array("emissions", cast(Scores, emissions))
        if array.ndim != 3:
            raise InvalidInput(f"a padded batch of emissions must have shape (B, T, L), not {array.shape}")
        sizes = checks.read_lengths(array.shape[0], array.shape[1], lengths, mask)
        return [array[b, :size] for b, size in enumerate(sizes)]
    if lengths is not None or mask is not None:
        raise InvalidInput("lengths and mask belong to a padded (B, T, L) array; a list has its own lengths")
    return list(cast(Sequence[Scores], emissions))


def _is_padded(emissions: Batch) -> bool:
    """Whether a batch is one array, not a list of arrays."""
    return hasattr(emissions, "ndim") and hasattr(emissions, "shape")
