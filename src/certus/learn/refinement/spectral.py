"""The spectral estimator of refinement HMMs: projections, then the method of moments (figure 4).

Write F, P, R, D for the projected future, past, present and destiny of a token with label a, F' for the
future of the next token under its label b, and P~ and D~ for P and D divided by their singular values, so
that E[F P~' | a] and E[R D~' | a] are identities. Then the operators are (equations 1 to 4)

    C^{b|a}  = p(b | a) E[F' (x) P~ (x) R | a, b]       c^a_x = p(x | a) E[D~ | a, x]
    C^{*|a}  = p(* | a) E[P~ (x) R | a, end]            c^1_a = p_1(a) E[F | a, first]

All tokens are used, each counted once, where the paper draws one from each sentence: under its drawing a
token's chance falls with the length of its sentence, which makes future and past dependent.

Moments of rare pairs are blended with lower-order ones, in the manner of Cohen et al. 2013: with n
occurrences of (a, b) and w = sqrt(n) / (C + sqrt(n)),

    E~_3 = w E_3 + (1 - w) (w E_2 + (1 - w) (w E_1 + (1 - w) E_0))

where E_3 = E[F' P~ R | a, b], E_2 is the mean of the three products of a pair's moment with a single's,
E_1 the product of the three means, and E_0 that of the means given the labels alone: here (1, 0, ..., 0),
since projections are centred. At w = 0 this is the plain HMM; smoothing draws the estimate to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.refinement.choosing import LITTLE
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.data import LabelledCorpus
from certus.learn.refinement.diagnostics import Block
from certus.learn.refinement.projection import Projection, project
from certus.learn.refinement.templates import Indicators
from certus.learn.refinement.tensors import Tensors

_CELLS = 1 << 17  # numbers that are held at once while moments are added up: they stay in the cache
_REPEAT = 4  # how often observations occur on average, from which on they are taken together

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smoothing:
    """How strongly moments are drawn to lower-order ones.

    Attributes:
        pairs: C for pairs of labels, in square roots of occurrences.
        seen: C for observations under a label.
        counts: pseudo-occurrences in p(b | a), p(x | a) and p_1(a).
    """

    pairs: float = 20.0
    seen: float = 5.0
    counts: float = 0.1

    def scale(self, strength: float) -> Smoothing:
        """Return so many times this; of counts a little is always left, so that nothing is impossible."""
        return Smoothing(strength * self.pairs, strength * self.seen, max(strength * self.counts, LITTLE))


@dataclass(frozen=True, eq=False)
class Projected:
    """The projected variables; present and destiny by observation.

    Attributes:
        future, past: (tokens, m), padded with 0 beyond the rank of the label.
        present: for each label, (n + 1, r) the present of each observation; 0 where the label never has it.
        destiny: for each label, (n + 1, r) the mean destiny of each observation, likewise.
        pasts: for each label, the block of future and past; ``presents``, that of present and destiny.
    """

    future: Array
    past: Array
    present: tuple[Array, ...]
    destiny: tuple[Array, ...]
    pasts: tuple[Block, ...]
    presents: tuple[Block, ...]


def project_all(
    corpus: LabelledCorpus,
    features: Mapping[str, Indicators],
    hidden: int,
    *,
    tolerance: float,
    rare: float,
    seed: int,
) -> Projected:
    """Project the variables of every token, label by label."""
    future, past = (np.zeros((len(corpus.labels), hidden)) for _ in range(2))
    rng = np.random.default_rng(seed)
    present: list[Array] = []
    destiny: list[Array] = []
    pasts: list[Block] = []
    presents: list[Block] = []
    for rows in _group_places(corpus.labels, len(corpus.names.labels)):
        weight = corpus.weights[rows]
        own = {name: indicators.of(rows) for name, indicators in features.items()}
        found = project(own["future"], own["past"], weight, hidden, tolerance=tolerance, rare=rare, rng=rng)
        future[rows, : found.rank] = found.project_left()
        past[rows, : found.rank] = found.project_right()
        pasts.append(Block(found.rank, found.sizes, found.singular))
        found = project(
            own["present"], own["destiny"], weight, hidden, tolerance=tolerance, rare=rare, rng=rng
        )
        for table, kept in zip(_average_by_observation(corpus, rows, found), (present, destiny), strict=True):
            kept.append(table)
        presents.append(Block(found.rank, found.sizes, found.singular))
    return Projected(future, past, tuple(present), tuple(destiny), tuple(pasts), tuple(presents))


def _average_by_observation(
    corpus: LabelledCorpus, rows: NDArray[np.int64], found: Projection
) -> tuple[Array, Array]:
    """Return the present and the mean destiny of each observation, for the tokens of a label."""
    x, size = corpus.observations[rows], corpus.names.unseen + 1
    values, first = np.unique(x, return_index=True)
    present = np.zeros((size, found.rank))
    present[values] = found.project_left(first)
    destiny = np.empty((size, found.rank))
    _native.indicator_transposed_times(
        x[:, None].astype(np.int32),
        np.ascontiguousarray(corpus.weights[rows]),
        found.project_right(),
        destiny,
    )
    destiny[values] /= destiny[values, :1]  # the constant adds up to the weight
    return present, destiny


def estimate(corpus: LabelledCorpus, counts: Counts, projected: Projected, smoothing: Smoothing) -> Tensors:
    """Return the operators that fit the moments."""
    ranks = [found.rank for found in projected.pasts]
    begin = np.concatenate([[0], np.cumsum(ranks)]).astype(np.int64)
    p_follow = counts.estimate_following(smoothing.counts)
    follow, stop = [], []
    for a, rank in enumerate(ranks):
        shape = rank, projected.presents[a].rank
        tensor = np.zeros((*shape, begin[-1]))
        tensor[0, 0, begin[:-1]] = p_follow[a, :-1]
        ending = np.zeros(shape)
        ending[0, 0] = p_follow[a, -1]
        follow.append(tensor)
        stop.append(ending)
    for a, b, rows in _list_pairs(corpus):
        weight = corpus.weights[rows] / corpus.weights[rows].sum()
        past = projected.past[rows, : ranks[a]]
        present = projected.present[a][corpus.observations[rows]]
        w = _blend(corpus.weights[rows].sum(), smoothing.pairs)
        if b == len(ranks):
            stop[a] = p_follow[a, b] * _blend_second(weight, past, present, w)
        else:
            future = projected.future[rows + 1, : ranks[b]]
            blended = _blend_third(weight, past, present, future, corpus.observations[rows], w)
            follow[a][:, :, begin[b] : begin[b + 1]] = p_follow[a, b] * blended
    seen = _estimate_observed(counts, projected, smoothing)
    return Tensors(
        _estimate_start(corpus, counts, projected, smoothing, begin), tuple(follow), tuple(stop), tuple(seen)
    )


def _blend(count: float, constant: float) -> float:
    root = float(np.sqrt(count))
    return root / (constant + root)


def _blend_third(
    weight: Array, past: Array, present: Array, future: Array, x: NDArray[np.int64], w: float
) -> Array:
    """Return the blended third moment, [past, present, future]."""
    p, r, f = weight @ past, weight @ present, weight @ future
    pr, pf, rf = (past.T * weight) @ present, (past.T * weight) @ future, (present.T * weight) @ future
    first = p[:, None, None] * r[:, None] * f
    second = (pr[:, :, None] * f + pf[:, None, :] * r[:, None] + p[:, None, None] * rf) / 3
    blended = w * second + (1 - w) * w * first
    blended[0, 0, 0] += (1 - w) ** 2
    return w * _compute_third(weight, past, present, future, x) + (1 - w) * blended


def _compute_third(weight: Array, past: Array, present: Array, future: Array, x: NDArray[np.int64]) -> Array:
    """Return the third moment, as products of matrices over portions of the tokens.

    The present depends on the observation x alone, so where observations repeat, past and future are
    multiplied for each observation first, and the present comes in once for each.
    """
    order = np.argsort(x, kind="stable")
    starts = np.flatnonzero(np.diff(x[order], prepend=-1))
    if len(starts) * _REPEAT <= len(x):
        groups = np.split(order, starts[1:])
        sums = np.stack([(past[rows] * weight[rows, None]).T @ future[rows] for rows in groups])
        return np.asarray(np.einsum("xpf,xr->prf", sums, present[order[starts]], optimize=True))
    shape = past.shape[1], present.shape[1], future.shape[1]
    moment = np.zeros((shape[0] * shape[1], shape[2]))
    step = max(1, _CELLS // (shape[0] * shape[1]))
    for begin in range(0, len(weight), step):
        own = slice(begin, begin + step)
        both = (past[own] * weight[own, None])[:, :, None] * present[own, None, :]
        moment += both.reshape(len(both), -1).T @ future[own]
    return moment.reshape(shape)


def _blend_second(weight: Array, past: Array, present: Array, w: float) -> Array:
    blended = (1 - w) * w * np.outer(weight @ past, weight @ present)
    blended[0, 0] += (1 - w) ** 2
    return w * ((past.T * weight) @ present) + blended


def _estimate_observed(counts: Counts, projected: Projected, smoothing: Smoothing) -> Iterator[Array]:
    """Yield c^a_x for all x, label by label: p(x | a) (1, w E[D~ | a, x])."""
    given = counts.estimate_observed(smoothing.counts)
    for seen, p, destiny in zip(counts.seen, given, projected.destiny, strict=True):
        root = np.sqrt(seen)
        w = np.divide(root, smoothing.seen + root, out=np.zeros_like(root), where=root > 0)
        vectors = destiny * w[:, None]
        vectors[:, 0] = 1.0
        yield vectors * p[:, None]


def _estimate_start(
    corpus: LabelledCorpus,
    counts: Counts,
    projected: Projected,
    smoothing: Smoothing,
    begin: NDArray[np.int64],
) -> Array:
    start = np.zeros(begin[-1])
    given = counts.estimate_first(smoothing.counts)
    start[begin[:-1]] = given
    first = corpus.first
    for a, chosen in enumerate(_group_places(corpus.labels[first], len(given))):
        if len(chosen):
            rows = first[chosen]
            weight = corpus.weights[rows]
            own = projected.future[rows, 1 : begin[a + 1] - begin[a]]
            mean = (weight / weight.sum()) @ own
            start[begin[a] + 1 : begin[a + 1]] = given[a] * _blend(weight.sum(), smoothing.pairs) * mean
    return start


def _group_places(codes: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Return the places of each code, in their order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=size))[:-1])


def _list_pairs(corpus: LabelledCorpus) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield each pair of labels that follow each other, and the first tokens; b = L is the end."""
    size = len(corpus.names.labels) + 1
    following = np.full(len(corpus.labels), size - 1)
    following[corpus.inner] = corpus.labels[corpus.inner + 1]
    for code, rows in enumerate(_group_places(corpus.labels * size + following, size * (size - 1))):
        if len(rows):
            yield code // size, code % size, rows
