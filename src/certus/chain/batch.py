"""Many sentences at once: takes lists and padded arrays apart, and puts the results in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certus import checks as inputs
from certus.chain.automaton import Automaton
from certus.chain.method import INFEASIBLE, Method
from certus.chain.methods import at_most, choose
from certus.errors import InvalidInput
from certus.solution import Solution, Status

if TYPE_CHECKING:
    from certus.chain.problem import Chain


def decode_batch(
    chain: Chain,
    emissions: Any,
    *,
    lengths: Any,
    mask: Any,
    k: int,
    method: Any,
    allowed: Any,
    threads: int,
    infeasible: Any,
) -> list[Any]:
    """Do what Chain.decode_batch promises."""
    inputs.check_count("k", k)
    inputs.check_count("threads", threads)
    chosen = choose(method, k)
    if isinstance(allowed, Automaton):
        chain, allowed = chain.constrained(allowed), None
    sentences = _sentences(chain, emissions, lengths, mask, allowed)
    if not sentences:
        return []
    model = chain._model_for(sentences[0])
    sizes = [len(sentence) for sentence in sentences]
    most = at_most(k, chain.labels, max(sizes))
    labels = np.empty(most * sum(sizes), np.int64)
    totals = np.empty(most * len(sizes), np.float64)
    bounds = np.empty(len(sizes), np.float64)
    results = np.empty(8 * len(sizes), np.int64)
    model.decode_many(sentences, labels, totals, bounds, results, chosen.code, chosen.request(most), threads)
    return _collect(chain, sentences, labels, totals, bounds, results, k, most, chosen, infeasible)


def _collect(
    chain: Chain,
    sentences: list[NDArray[Any]],
    labels: NDArray[np.int64],
    totals: NDArray[np.float64],
    bounds: NDArray[np.float64],
    results: NDArray[np.int64],
    k: int,
    most: int,
    method: Method,
    infeasible: Any,
) -> list[Any]:
    out: list[Any] = []
    place = 0
    optimal = Status.OPTIMAL
    rows = results.reshape(-1, 8).tolist()
    for n, (row, score, bound) in enumerate(zip(rows, totals[::most].tolist(), bounds.tolist(), strict=True)):
        size = len(sentences[n])
        end = place + most * size
        if k == 1 and row[0] == 0:
            found = Solution(labels[place:end], score if size else 0.0, bound if size else 0.0, optimal, row)
            out.append(found)
        elif size == 0:
            out.append(chain.decode(sentences[n], k=k))
        elif row[0] == INFEASIBLE and feasible_in_double(chain, sentences[n]):
            out.append(chain.decode(sentences[n].astype(inputs.DOUBLE), k=k, method=method))
        else:
            result = (row[0], row[1], score, bound, row[2], *row[3:])
            paths, scores = labels[place:end].reshape(most, size), totals[n * most : (n + 1) * most]
            out.append(chain._settle(result, paths, scores, sentences[n], k, infeasible, n))
        place = end
    return out


def feasible_in_double(chain: Chain, sentence: NDArray[Any]) -> bool:
    """Whether a sentence has a path after all: sums may have gone out of single precision's range."""
    if sentence.dtype != inputs.SINGLE:
        return False
    return chain.decode(sentence.astype(inputs.DOUBLE), method="viterbi", infeasible="return").optimal


def _sentences(chain: Chain, emissions: Any, lengths: Any, mask: Any, allowed: Any) -> list[NDArray[Any]]:
    if type(emissions) is list and allowed is None and lengths is None and mask is None:
        # The common case: arrays that can be taken as they are.
        model = chain._model or chain._prepare(chain._dtype)
        if model.takes(emissions):
            return emissions
    names = "emissions[{}]"
    padded = hasattr(emissions, "ndim") and hasattr(emissions, "shape")
    if padded:
        array = inputs.as_array("emissions", emissions)
        if array.ndim != 3:
            raise InvalidInput(f"a padded batch of emissions must have shape (B, T, L), not {array.shape}")
        sizes = inputs.lengths_from(array.shape[0], array.shape[1], lengths, mask)
        parts: list[Any] = [array[b, :size] for b, size in enumerate(sizes)]
    elif lengths is not None or mask is not None:
        raise InvalidInput("lengths and mask belong to a padded (B, T, L) array; a list has its own lengths")
    else:
        parts = list(emissions)
    sentences = [
        inputs.as_emissions(part, chain.labels, chain._dtype, names.format(n)) for n, part in enumerate(parts)
    ]
    for sentence in sentences:
        chain._check_length(len(sentence))
    # One precision for all, so that a sentence's answer does not depend on its neighbours' type.
    if any(sentence.dtype != sentences[0].dtype for sentence in sentences):
        sentences = [sentence.astype(inputs.DOUBLE, order="C", copy=False) for sentence in sentences]
    if allowed is None:
        return sentences
    if len(allowed) != len(sentences):
        raise InvalidInput(f"allowed has {len(allowed)} masks for {len(sentences)} sentences")
    return [
        chain._masked(
            sentence, allowed[n][: len(sentence)] if padded else allowed[n], names.format(n), f"allowed[{n}]"
        )
        for n, sentence in enumerate(sentences)
    ]
