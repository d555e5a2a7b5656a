"""Lattices of tags equal brute force under adjustments, whoever made them."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import Tagger, _native
from certus.errors import InvalidInput
from certus.lattice.lattices import TagLattices
from certus.part import Forbidden
from tests.learn.problems import Problem, features
from tests.learn.test_pruned_proofs import random_thresholds, whole_numbers
from tests.models import invented
from tests.reference.pruned_crf import Labels

Scores = dict[Labels, float]


def lattices_of(problem: Problem, sentences: list[list[str]], **options: Any) -> TagLattices:
    pruning = options.pop("pruning", 1.0)
    tagger = problem.tagger(*options.values())
    native = _native.search_all(tagger, [[one] for one in sentences], pruning, 2)
    return TagLattices(native, [str(y) for y in range(problem.crf.labels)])


def whole(problem: Problem) -> None:
    """Round all weights to integers, so that ties are common; sums stay exact."""
    weights = problem.crf.weights
    problem.crf.weights = {
        name: float(np.sign(w) * (round(abs(w)) % 3)) or 1.0 for name, w in weights.items()
    }


def draw(rng: np.random.Generator, count: int, labels: int) -> NDArray[np.float64]:
    """Draw integer adjustments; some forbid."""
    adjust = rng.integers(-3, 4, (count, labels)).astype(float)
    adjust[rng.random(adjust.shape) < 0.2] = -np.inf
    return adjust


def with_adjustments(scores: Scores, rows: dict[int, NDArray[np.float64]]) -> Scores:
    return {y: s + sum(float(row[y[t]]) for t, row in rows.items()) for y, s in scores.items()}


def assert_decoded(labels: Any, score: float, scores: Scores, adjusted: Scores) -> None:
    best = max(adjusted.values())
    if best == -np.inf:
        assert score == -np.inf
        assert (labels == -1).all()
        return
    found = tuple(labels.tolist())
    assert adjusted[found] == best
    assert scores[found] == score


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_cascades_equal_brute_force(order: int, integers: bool, seed: int) -> None:
    problem = Problem(seed, order)
    if integers:
        whole(problem)
    rng = np.random.default_rng(seed)
    sentences = [problem.sentence() for _ in range(6)]
    lattices = lattices_of(problem, sentences)
    L = problem.crf.labels
    assert lattices.exact.all()
    scores = [problem.crf.all_scores(features(sentence)) for sentence in sentences]
    for _ in range(4):
        which = rng.permutation(6)[: rng.integers(0, 7)]
        tokens = np.flatnonzero(rng.random(lattices.first[-1]) < 0.6)
        adjust = draw(rng, len(tokens), L)
        labels, found = lattices.decode(which, tokens, adjust, threads=int(rng.integers(1, 4)))
        place = 0
        for n, score in zip(which.tolist(), found.tolist(), strict=True):
            begin, end = lattices.first[n : n + 2].tolist()
            rows = {int(t) - begin: adjust[i] for i, t in enumerate(tokens) if begin <= t < end}
            adjusted = with_adjustments(scores[n], rows)
            assert_decoded(labels[place : place + end - begin], score, scores[n], adjusted)
            place += end - begin
        assert place == len(labels)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_max_marginals_and_arcs_equal_brute_force(order: int, seed: int) -> None:
    problem = Problem(seed, order)
    whole(problem)
    sentence = problem.sentence(1)
    lattices = lattices_of(problem, [[], sentence], thresholds=[0.1 * (seed % 2)] * (1 + order))
    scores = paths(lattices, 1)
    full = problem.crf.all_scores(features(sentence))
    assert all(full[y] == score for y, score in scores.items())
    assert lattices.exact.tolist() == [True, len(scores) == len(full)]
    adjust = draw(problem.rng, len(sentence), problem.crf.labels)
    assert_max_marginals(lattices.max_marginals(1, adjust), with_adjustments(scores, dict(enumerate(adjust))))
    assert_max_marginals(lattices.max_marginals(1), scores)
    assert lattices.max_marginals(0).shape == (0, problem.crf.labels)
    assert paths(lattices, 0) == {(): 0.0}


def assert_max_marginals(found: NDArray[np.float64], adjusted: Scores) -> None:
    for (t, label), best in np.ndenumerate(found):
        assert best == max((s for y, s in adjusted.items() if y[t] == label), default=-np.inf)


def paths(lattices: TagLattices, n: int) -> Scores:
    """All label sequences of a lattice that is spelled out."""
    arcs = lattices.arcs(n)
    last = len(arcs.begin) - 2
    reached: dict[int, list[tuple[Labels, float]]] = {0: [((), 0.0)]}
    for origin, target, score in sorted(
        zip(arcs.origin, arcs.target, arcs.score, strict=True), key=lambda a: a[1]
    ):
        reached.setdefault(int(target), []).extend(
            ((*labels, int(arcs.label[target])), s + score + arcs.node[target])
            for labels, s in reached.get(int(origin), [])
        )
    ends = [path for s in range(arcs.begin[last], arcs.begin[last + 1]) for path in reached.get(s, [])]
    assert len({y for y, _ in ends}) == len(ends)
    return {y[:-1]: s for y, s in ends}


def chained(problem: Problem, sentences: list[list[str]]) -> tuple[TagLattices, list[Scores]]:
    """Lattices of a chain with integer scores, and the scores of all sequences."""
    L = problem.crf.labels
    rng = problem.rng
    draw = rng.integers(-2, 3, (L + 2, L)).astype(float)
    draw[rng.random(draw.shape) < 0.1] = -np.inf
    first = np.cumsum([0, *map(len, sentences)])
    emissions = rng.integers(-2, 3, (first[-1], L)).astype(np.float32)
    model = _native.Model64(draw[None, :L].copy(), True, draw[L], draw[L + 1])
    lattices = TagLattices(_native.ChainLattices(model, first, emissions), list("abcdef"[:L]))
    ways = [list(product(range(L), repeat=len(sentence))) for sentence in sentences]
    return lattices, [
        {y: chain_score(y, emissions[begin:], draw) for y in all_labels}
        for all_labels, begin in zip(ways, first[:-1], strict=True)
    ]


def chain_score(y: Labels, emissions: NDArray[Any], transitions: NDArray[np.float64]) -> float:
    """The last two rows of the transitions are those of the start and the end."""
    if not y:
        return 0.0
    steps = sum(float(transitions[a, b]) for a, b in pairwise(y))
    ends = float(transitions[-2, y[0]] + transitions[-1, y[-1]])
    return steps + ends + sum(float(emissions[t, label]) for t, label in enumerate(y))


@pytest.mark.parametrize("seed", range(60))
def test_chains_equal_brute_force(seed: int) -> None:
    problem = Problem(seed, 1)
    sentences = [problem.sentence() for _ in range(4)]
    lattices, scores = chained(problem, sentences)
    assert lattices.exact.all()
    tokens = np.arange(lattices.first[-1])
    for adjust in (None, draw(problem.rng, len(tokens), problem.crf.labels)):
        labels, found = lattices.decode(None, None if adjust is None else tokens, adjust)
        for n in range(4):
            begin, end = lattices.first[n : n + 2].tolist()
            own = None if adjust is None else adjust[begin:end]
            adjusted = with_adjustments(scores[n], {} if own is None else dict(enumerate(own)))
            assert_decoded(labels[begin:end], float(found[n]), scores[n], adjusted)
            assert_max_marginals(lattices.max_marginals(n, own), adjusted)
    for n in range(4):
        assert paths(lattices, n) == {y: s for y, s in scores[n].items() if s > -np.inf}


@pytest.fixture(scope="module", params=["pruned-crf", "crf", "perceptron", "hmm"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    options: dict[str, Any] = {} if request.param == "hmm" else {"epochs": 4}
    return Tagger("upos", request.param, **options).fit(invented.sentences(200, 1))


def test_what_a_tagger_says_its_lattices_say(tagger: Tagger) -> None:
    words = [*invented.words(40, 3), []]
    answers = tagger.tag_batch(words)
    for threads in (1, 3):
        lattices = tagger.lattices(words, threads=threads)
        labels, scores = lattices.decode(threads=threads)
        names = [lattices.names[y] for y in labels]
        assert names == [name for answer in answers for name in answer.labels]
        assert scores == pytest.approx([answer.score for answer in answers], abs=1e-4)
    assert repr(lattices) == f"TagLattices(41 sentences, {len(labels):,} tokens, {len(tagger.labels)} labels)"


def test_less_pruning_leaves_more() -> None:
    tagger = Tagger("upos+feats", "pruned-crf", order=2, epochs=4).fit(invented.sentences(200, 1))
    words = invented.words(30, 3)
    counts = [
        sum(len(tagger.lattices(words, pruning=pruning).arcs(n).label) for n in range(30))
        for pruning in (1, 0.1, 0)
    ]
    assert counts[0] < counts[1] < counts[2]
    assert tagger.lattices(words, pruning=0).exact.all()
    assert not tagger.lattices(words).exact.all()


def test_parts_choose_labels(tagger: Tagger) -> None:
    words = invented.words(3, 4)
    lattices = tagger.lattices(words)
    part = lattices.part(1)
    assert part.spaces == {"tags": (len(words[1]), lattices.labels)}
    free = part.maximize({})
    assert free.value.tolist() == lattices.decode([1])[0].tolist()
    assert free.indicators["tags"].argmax(1).tolist() == free.value.tolist()
    assert part.max_marginals({})["tags"].max() == pytest.approx(free.score)
    adjust = np.zeros(part.spaces["tags"])
    adjust[0, free.value[0]] = -1000.0
    other = part.maximize({"tags": adjust})
    assert other.value[0] != free.value[0] or (part.max_marginals({})["tags"][0] > -np.inf).sum() == 1
    with pytest.raises(Forbidden, match="forbid all label sequences"):
        part.maximize({"tags": np.full(part.spaces["tags"], -np.inf)})


def test_refusals(tagger: Tagger) -> None:
    lattices = tagger.lattices([["lo", "x"], ["."]])
    L = lattices.labels
    row = np.zeros((1, L))
    refused: list[tuple[str, Any]] = [
        ("sentence 2 does not exist: there are 2", ([2],)),
        ("tokens and adjust go together", (None, [0])),
        (r"adjust has shape \(1, 2\); it must be \(1, ", (None, [0], np.zeros((1, 2)))),
        ("token 3 does not exist: there are 3", (None, [3], row)),
        ("token -1 does not exist", (None, [-1], row)),
        ("in ascending order", (None, [1, 0], np.zeros((2, L)))),
        ("adjust is nan for label .* at token 1;", (None, [1], row * np.nan)),
        ("adjust is inf for label", (None, [1], row + np.inf)),
        ("threads must be a whole number of at least 1", (None, None, None, 0)),
    ]
    for message, arguments in refused:
        with pytest.raises(InvalidInput, match=message):
            lattices.decode(*arguments)
    with pytest.raises(InvalidInput, match="pruning is -1"):
        tagger.lattices([["a"]], pruning=-1)
    with pytest.raises(InvalidInput, match="not trained yet"):
        Tagger().lattices([["a"]])


def test_what_lattices_lack_is_bounded_with_adjustments() -> None:
    """Decoding again is proven where its score is not below the bound; margins make it so."""
    proven = lacking = 0
    for seed in range(150):
        problem = whole_numbers(seed, 1 + seed % 3, labels=4)
        sentence = problem.sentence(1, 4)
        adjust = problem.rng.integers(-2, 3, (len(sentence), 4)).astype(float)
        margin = np.array([float((adjust.max(1) - adjust.min(1)).sum())])
        scores = problem.crf.all_scores(features(sentence))
        best = max(s + sum(adjust[t, y] for t, y in enumerate(labels)) for labels, s in scores.items())
        tagger = problem.tagger(random_thresholds(problem))
        for margins in (None, margin):
            native = _native.search_all(tagger, [[sentence]], 1.0, 1, bounded=True, margins=margins)
            lattices = TagLattices(native, "abcd")
            labels, score = lattices.decode(tokens=np.arange(len(sentence)), adjust=adjust)
            adjusted = score[0] + adjust[np.arange(len(sentence)), labels].sum()
            bound = lattices.bound_outside(tokens=np.arange(len(sentence)), adjust=adjust)[0]
            assert adjusted <= best <= max(adjusted, bound)
            if adjusted >= bound:
                assert adjusted == best
            lacking += not lattices.exact[0]
            proven += margins is not None and adjusted == best
    assert lacking > 50
    assert proven > 145
