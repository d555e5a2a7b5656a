"""certus.Trees: arrays in, heads with their proof out."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.solution import Status
from tests.reference.dependency import Heads, is_tree, list_trees

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 40
KINDS = pytest.mark.parametrize("kinds", ["", "s", "g", "sg", "t", "sgt"])
SHAPES = pytest.mark.parametrize("projective", [False, True])
ROOTS = pytest.mark.parametrize("single", [False, True])
Parts = dict[str, Any]


def draw(random: np.random.Generator, words: int, kinds: str) -> tuple[NDArray[np.float64], Parts]:
    def whole(*shape: int) -> NDArray[np.float64]:
        scores = random.integers(-4, 5, shape).astype(np.float64)
        scores[random.random(shape) < 0.05] = -np.inf
        return scores

    names = {"s": ("siblings", 3), "g": ("grandparents", 3), "t": ("grandsiblings", 4)}
    parts = {names[kind][0]: whole(*(words + 1,) * names[kind][1]) for kind in kinds}
    return whole(words, words + 1), parts


def score(heads: Heads, arcs: NDArray[np.float64], parts: Parts) -> float:
    """Add up what the page says a tree scores."""
    total = sum(arcs[word, head] for word, head in enumerate(heads))
    for head in range(len(heads) + 1):
        above = heads[head - 1] if head else 0
        own = [word for word, h in enumerate(heads, 1) if h == head]
        sides = ([word for word in own[::-1] if word < head], [word for word in own if word > head])
        for side in sides:
            for before, after in zip([0, *side], [*side, 0], strict=True):
                if "siblings" in parts:
                    total += parts["siblings"][head, before, after]
                if "grandsiblings" in parts:
                    total += parts["grandsiblings"][above, head, before, after]
        if "grandparents" in parts and head:
            total += sum(parts["grandparents"][above, head, word] for word in own)
    return float(total)


def enumerate_trees(
    kinds: str, projective: bool, single: bool
) -> Iterator[tuple[NDArray[np.float64], Parts, dict[Heads, float]]]:
    random = np.random.default_rng(6)
    for _ in range(PROBLEMS):
        words = int(random.integers(0, 5))
        arcs, parts = draw(random, words, kinds)
        trees = {heads: score(heads, arcs, parts) for heads in list_trees(words, projective, single)}
        yield arcs, parts, {heads: value for heads, value in trees.items() if value > -np.inf}


@KINDS
@SHAPES
@ROOTS
def test_against_enumeration(kinds: str, projective: bool, single: bool) -> None:
    solver = certus.Trees(projective=projective, single_root=single)
    for arcs, parts, trees in enumerate_trees(kinds, projective, single):
        if not trees:
            with pytest.raises(certus.Infeasible):
                solver.decode(arcs, **parts)
            continue
        best = solver.decode(arcs, **parts)
        assert best.optimal
        assert best.score == best.bound == max(trees.values()) == trees[tuple(best.heads.tolist())]
        ranked = solver.decode(arcs, k=5, **parts)
        assert ranked.scores.tolist() == sorted(trees.values(), reverse=True)[:5]
        assert ranked.exhausted == (len(trees) <= 5)
        assert len({tuple(tree.heads.tolist()) for tree in ranked}) == len(ranked)
        assert all(tree.optimal and trees[tuple(tree.heads.tolist())] == tree.score for tree in ranked)


@KINDS
@SHAPES
@ROOTS
def test_probabilities(kinds: str, projective: bool, single: bool) -> None:
    solver = certus.Trees(projective=projective, single_root=single)
    if kinds and not projective:
        with pytest.raises(certus.InvalidInput, match="scores of arcs only"):
            solver.marginals(np.zeros((1, 2)), **draw(np.random.default_rng(0), 1, kinds)[1])
        return
    for arcs, parts, trees in enumerate_trees(kinds, projective, single):
        if not trees:
            continue
        found = solver.marginals(arcs, **parts)
        total = np.logaddexp.reduce(list(trees.values()))
        assert found.log_partition == pytest.approx(total)
        expected = np.zeros(arcs.shape)
        for heads, value in trees.items():
            expected[np.arange(len(heads)), list(heads)] += np.exp(value - total)
        assert found.probabilities == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_arrays_as_they_are(dtype: type) -> None:
    """Any precision, any order in memory, read-only; what is given stays as it is."""
    random = np.random.default_rng(1)
    arcs: NDArray[Any] = random.integers(-9, 10, (6, 7)).astype(dtype)
    best = certus.Trees().decode(arcs)
    for other in (np.asfortranarray(arcs), arcs[:, ::-1][:, ::-1], arcs.tolist()):
        assert certus.Trees().decode(other).heads.tolist() == best.heads.tolist()
    arcs.flags.writeable = False
    assert certus.Trees(projective=True).decode(arcs).score <= certus.Trees().decode(arcs).score


class Tensor:
    """What is used of a torch tensor, which need not be installed."""

    def __init__(self, scores: NDArray[np.float32]) -> None:
        self.scores = scores
        self.device = SimpleNamespace(type="cpu")

    def detach(self) -> Tensor:
        return self

    def is_floating_point(self) -> bool:
        return True

    def element_size(self) -> int:
        return 4

    def float(self) -> Tensor:
        return self

    def numpy(self) -> NDArray[np.float32]:
        return self.scores

    def __array__(self) -> NDArray[np.float32]:
        raise AssertionError("torch would copy here, and refuse what has gradients")


def test_torch_tensors() -> None:
    arcs = np.random.default_rng(0).random((5, 6)).astype(np.float32)
    assert certus.Trees().decode(Tensor(arcs)).heads.tolist() == certus.Trees().decode(arcs).heads.tolist()


def test_own_column_is_not_looked_at() -> None:
    arcs = np.array([[1.0, np.nan], [2.0, 0.0]])[:1]
    assert certus.Trees().decode(arcs).heads.tolist() == [0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@SHAPES
def test_refusals_name_the_position(bad: float, projective: bool) -> None:
    arcs = np.zeros((3, 4))
    arcs[1, 3] = bad
    with pytest.raises(certus.InvalidInput, match=r"arcs\[1, 3\] is"):
        certus.Trees(projective=projective).decode(arcs)
    siblings = np.zeros((4, 4, 4))
    siblings[2, 1, 0] = bad
    with pytest.raises(certus.InvalidInput, match=r"siblings\[2, 1, 0\] is"):
        certus.Trees(projective=projective).decode(np.zeros((3, 4)), siblings)


def test_refuses_shapes() -> None:
    with pytest.raises(certus.InvalidInput, match=r"shape \(n, n \+ 1\)"):
        certus.Trees().decode(np.zeros((3, 3)))
    with pytest.raises(certus.InvalidInput, match="siblings must have the shape"):
        certus.Trees().decode(np.zeros((3, 4)), np.zeros((3, 3, 3)))
    with pytest.raises(certus.InvalidInput, match="k must be"):
        certus.Trees().decode(np.zeros((3, 4)), k=0)


@SHAPES
def test_the_word_without_a_head_is_named(projective: bool) -> None:
    arcs = np.zeros((3, 4))
    arcs[1] = -np.inf
    trees = certus.Trees(projective=projective)
    with pytest.raises(certus.Infeasible, match="word 2 has no head") as error:
        trees.decode(arcs)
    assert error.value.position == 2
    given = trees.decode(arcs, infeasible="return")
    assert given.status is Status.INFEASIBLE
    assert len(trees.decode(arcs, k=3, infeasible="return")) == 0
    loop = np.full((3, 4), -np.inf)
    loop[0, 0] = loop[1, 3] = loop[2, 2] = 0
    with pytest.raises(certus.Infeasible, match="no path of arcs leads from the root to word 2"):
        trees.decode(loop)
    two = np.full((2, 3), -np.inf)
    two[:, 0] = 0
    with pytest.raises(certus.Infeasible, match="one word hangs on the root"):
        certus.Trees(projective=projective, single_root=True).decode(two)


@SHAPES
@ROOTS
def test_empty_and_single_words(projective: bool, single: bool) -> None:
    trees = certus.Trees(projective=projective, single_root=single)
    assert trees.decode(np.empty((0, 1))).heads.tolist() == []
    assert trees.decode(np.empty((0, 1))).score == 0
    assert trees.decode([[2.5, 0.0]]).heads.tolist() == [0]


@KINDS
def test_batches(kinds: str) -> None:
    if "t" in kinds:
        return
    random = np.random.default_rng(2)
    drawn = [draw(random, words, kinds) for words in (3, 0, 4, 2, 5)]
    arcs = [np.where(scores == -np.inf, -9, scores) for scores, _ in drawn]
    parts: Parts = {
        name: [np.where(part[name] == -np.inf, -9, part[name]) for _, part in drawn] for name in drawn[0][1]
    }
    one = certus.Trees().decode_batch(arcs, **parts)
    many = certus.Trees().decode_batch(arcs, **parts, threads=2)
    alone = [
        certus.Trees().decode(a, **{name: part[n] for name, part in parts.items()})
        for n, a in enumerate(arcs)
    ]
    assert [tree.score for tree in one] == [tree.score for tree in many] == [tree.score for tree in alone]
    with pytest.raises(certus.InvalidInput, match="5 sentences, but 1 arrays of siblings"):
        certus.Trees().decode_batch(arcs, [np.zeros((4, 4, 4))])


def test_time_is_up() -> None:
    random = np.random.default_rng(3)
    words = 40
    arrays: Parts = {
        "arcs": np.zeros((words, words + 1)),
        "siblings": random.standard_normal((words + 1,) * 3),
    }
    for seconds in (0, 0.001):
        best = certus.Trees().decode(**arrays, seconds=seconds)
        assert best.status is Status.SECONDS
        assert best.score < best.bound
        assert is_tree(tuple(best.heads.tolist()))
        assert best.score == pytest.approx(score(tuple(best.heads.tolist()), arrays["arcs"], arrays))
    with pytest.raises(certus.InvalidInput, match="seconds"):
        certus.Trees().decode(np.zeros((1, 2)), np.zeros((2, 2, 2)), seconds=-1)


def test_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(certus.Trees(single_root=True)))
    assert again.single_root
    assert not again.projective


@KINDS
@ROOTS
def test_the_first_projective_tree_has_a_bound(kinds: str, single: bool) -> None:
    for arcs, parts, trees in enumerate_trees(kinds, True, single):
        found = certus.Trees(projective=True, single_root=single)
        first = found.decode(arcs, **parts, seconds=0, infeasible="return")
        if not trees:
            assert first.status is Status.INFEASIBLE or first.score == -np.inf
            continue
        best = max(trees.values())
        assert first.bound >= best >= first.score
        assert first.score == score(tuple(first.heads.tolist()), arcs, parts)
        assert not first.optimal or first.score == best
        ranked = found.decode(arcs, **parts, seconds=0, k=3, infeasible="return")
        assert all(one.bound >= best for one in ranked[:1])


def test_projective_trees_keep_to_the_time_and_to_memory() -> None:
    random = np.random.default_rng(5)
    words = 120
    arcs, grandparents = random.normal(size=(words, words + 1)), random.normal(size=(words + 1,) * 3)
    start = monotonic()
    found = certus.Trees(projective=True).decode(arcs, None, grandparents, seconds=0.2)
    assert monotonic() - start < 3
    assert found.status is Status.SECONDS
    assert found.score < found.bound < np.inf
    assert is_tree(found.heads.tolist())
    words = 160
    arcs, grandparents = random.normal(size=(words, words + 1)), random.normal(size=(words + 1,) * 3)
    with pytest.raises(certus.InvalidInput, match=r"160 words with 25600 arcs.* MB, more than 4096"):
        certus.Trees(projective=True).decode(arcs, None, grandparents)
    assert certus.Trees(projective=True).decode(arcs, None, grandparents, seconds=0.1).bound < np.inf


@SHAPES
def test_lists_keep_to_the_time(projective: bool) -> None:
    random = np.random.default_rng(5)
    words = 60 if projective else 40
    arrays: dict[str, Any] = {
        "arcs": random.normal(size=(words, words + 1)),
        "siblings": random.normal(size=(words + 1,) * 3),
        "grandparents": random.normal(size=(words + 1,) * 3),
    }
    start = monotonic()
    ranked = certus.Trees(projective=projective).decode(**arrays, k=10_000, seconds=0.3)
    assert monotonic() - start < 3
    assert 1 <= len(ranked) < 10_000
    assert not ranked.exhausted
    assert (np.diff(ranked.scores) <= 0).all()
    assert all(one.score <= one.bound for one in ranked)


def test_batches_take_what_single_sentences_take() -> None:
    random = np.random.default_rng(8)
    drawn = [draw(random, words, "sgt") for words in (3, 4, 2)]
    names = ("siblings", "grandparents", "grandsiblings")
    arrays: dict[str, Any] = {name: [parts[name] for _, parts in drawn] for name in names}
    trees = certus.Trees(projective=True)
    for k, threads in ((1, 1), (3, 1), (3, 2)):
        options: dict[str, Any] = {"k": k, "infeasible": "return"}
        found: Any = trees.decode_batch([arcs for arcs, _ in drawn], **arrays, **options, threads=threads)
        for one, (arcs, parts) in zip(found, drawn, strict=True):
            alone: Any = trees.decode(arcs, **parts, **options)
            if k == 1:
                assert (one.score, one.heads.tolist()) == (alone.score, alone.heads.tolist())
            else:
                assert one.scores.tolist() == alone.scores.tolist()
                assert one.exhausted == alone.exhausted
    nothing = np.full((2, 3), -np.inf)
    assert trees.decode_batch([nothing], infeasible="return")[0].status is Status.INFEASIBLE
