"""From the scores of one sentence to its answer: asks a kernel, and says what its record means."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native, checks
from certus.chain.kbest import KBestLabels
from certus.chain.limits import limit_list
from certus.chain.method import Method
from certus.chain.model import ChainModel, Labels
from certus.checks import Floats
from certus.errors import Infeasible
from certus.solution import LabelSolution, OnInfeasible, Status

Answer: TypeAlias = LabelSolution[Labels] | KBestLabels

_INFEASIBLE = _native.Status.INFEASIBLE
_INVALID = _native.Status.INVALID


def decode_sentence(
    model: ChainModel,
    scores: Floats,
    k: int,
    method: Method,
    infeasible: OnInfeasible,
    sentence: int | None = None,
) -> Answer:
    """Return the best label sequence of a sentence, or the k best where k > 1."""
    length = len(scores)
    if length == 0:
        return make_empty_answer(k)
    kernels = model.prepare(scores.dtype)
    most = limit_list(k, model, kernels, [scores], method)
    paths = np.empty(most * length, np.int64)
    totals = np.empty(most, np.float64)
    result = kernels.decode_with(scores, paths, totals, method.code, method.request(most))
    if needs_double(result, scores):
        return decode_sentence(model, scores.astype(checks.DOUBLE), k, method, infeasible, sentence)
    return read_result(model, result, paths.reshape(most, length), totals, scores, k, infeasible, sentence)


def needs_double(result: _native.Result, scores: Floats) -> bool:
    """Whether scores are numbers that may add up beyond the range of single precision."""
    if result.status is not _INVALID or scores.dtype != checks.SINGLE:
        return False
    return bool(np.isfinite(scores[result.position, result.label]))


def make_empty_answer(k: int) -> Answer:
    """Return the answer of a sentence without positions, which has one sequence, of no labels."""
    empty = np.empty((1, 0), np.int64)
    if k == 1:
        return LabelSolution(empty[0], 0.0, 0.0, Status.OPTIMAL)
    return KBestLabels.of_arrays(empty, np.zeros(1), exhausted=True)


def read_result(
    model: ChainModel,
    result: _native.Result,
    paths: NDArray[np.int64],  # (most, T)
    totals: NDArray[np.float64],  # (most,)
    scores: Floats,
    k: int,
    infeasible: OnInfeasible,
    sentence: int | None = None,
) -> Answer:
    """Return what a kernel's record and the paths that it wrote come to."""
    if result.status is _INVALID or result.status is _INFEASIBLE:
        if result.status is _INVALID or infeasible != "return":
            raise_failure(model, result, scores, sentence)
        if k > 1:
            return KBestLabels.of_arrays(paths[:0], totals[:0], result, exhausted=True)
        nothing = np.empty(0, np.int64)
        return LabelSolution(nothing, -np.inf, -np.inf, Status.INFEASIBLE, result, result.position)
    if k == 1:
        return LabelSolution(paths[0], result.score, result.bound, Status.of_native(result.status), result)
    found = result.found
    return KBestLabels.of_arrays(paths[:found], totals[:found], result, exhausted=found < k)


def raise_failure(
    model: ChainModel,
    result: _native.Result | _native.Summary,
    scores: Floats,
    sentence: int | None = None,
) -> None:
    """Raise the error that a record stands for, if it stands for one."""
    if result.status is _INVALID:
        name = "emissions" if sentence is None else f"emissions[{sentence}]"
        model.refuse_scores(scores, result.position, result.label, name)
    if result.status is _INFEASIBLE:
        raise Infeasible.at_position(result.position, sentence)
