"""Joint parsing and tagging: the proven answer is the best, and what is not proven is bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certus import Status, Tagger
from certus.errors import InvalidInput
from certus.relax import OPTIMIZERS, Subgradient
from certus.syntax import Grammar, Tree
from certus.syntax.joint import JointParse, JointParser, parse_fixed, parse_jointly
from tests.models import invented
from tests.syntax.joint_problems import Toy, best, toy, trees


def parser_of(given: Toy, **options: Any) -> JointParser | None:
    grammar = given.grammar()
    if not set(grammar.tags) & set(given.tagger.labels):
        return None
    return JointParser(grammar, given.tagger, **options)  # type: ignore[arg-type]


def assert_is(found: JointParse, given: Toy, weight: float) -> None:
    """The scores are those of the tree and of the sequence of its tags."""
    tags = tuple(int(tag[1:]) for tag in found.tags)
    assert found.tree.tags == found.tags
    assert found.tree.words == given.sentence
    assert found.tag_score == given.sequences[tags]
    assert found.parse_score == trees(given)[tags]
    assert found.score == found.parse_score + weight * found.tag_score


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
@pytest.mark.parametrize("block", range(5))
def test_proven_answers_equal_brute_force(block: int, optimizer: str) -> None:
    for seed in range(80 * block, 80 * block + 80):
        given, weight = toy(seed), 1 + seed % 2
        parser = parser_of(given, weight=weight)
        if parser is None:
            continue
        found, wanted = parser.parse(given.sentence, optimizer=optimizer), best(given, weight)
        if wanted == -np.inf:
            assert found.status is Status.INFEASIBLE
            assert found.tree is None
            continue
        assert found.optimal
        assert found.score == found.bound == wanted
        assert_is(found, given, weight)


@pytest.mark.parametrize("seed", range(150))
def test_bounds_hold_at_every_iteration(seed: int) -> None:
    given = toy(seed)
    parser = parser_of(given)
    wanted = best(given)
    if parser is None or wanted == -np.inf:
        return
    found = parser.parse(
        given.sentence, max_iterations=6, max_nodes=1, tighten=False, optimizer=Subgradient()
    )
    assert min(found.trace.dual) >= wanted - 1e-9
    assert found.bound >= wanted - 1e-9
    if found.tree is not None:
        assert_is(found, given, 1)
        assert found.score <= wanted
    if found.optimal:
        assert found.score == wanted
    else:
        assert found.status in (Status.ITERATIONS, Status.NODES)


@pytest.mark.parametrize("block", range(4))
def test_pruned_lattices_are_loosened_where_nothing_is_parsed(block: int) -> None:
    looser = 0
    for seed in range(50 * block, 50 * block + 50):
        given = toy(seed, pruned=True)
        parser = parser_of(given)
        if parser is None:
            continue
        found = parser.parse(given.sentence)
        if found.tree is None:
            assert best(given) == -np.inf
            continue
        assert found.optimal
        assert_is(found, given, 1)
        assert found.pruning is not None
        looser += found.pruning < parser.pruning
        lattice = given.tagger.lattices([given.sentence], pruning=found.pruning)
        assert found.score == best(given, allowed=_sequences(lattice))
    assert looser


def _sequences(lattices: Any) -> set[tuple[int, ...]]:
    """All sequences of the one lattice."""
    arcs = lattices.arcs(0)
    reached: dict[int, list[tuple[int, ...]]] = {0: [()]}
    for origin, target in sorted(
        zip(arcs.origin.tolist(), arcs.target.tolist(), strict=True), key=lambda a: a[1]
    ):
        reached.setdefault(target, []).extend((*y, int(arcs.label[target])) for y in reached.get(origin, []))
    ends = range(arcs.begin[-2], arcs.begin[-1])
    return {y[:-1] for end in ends for y in reached.get(end, [])}


# ------------------------------------------------------------------------------------------ trained models


def tree_of(tokens: list[tuple[str, str, str, str]]) -> Tree:
    """A flat tree of chunks."""
    chunks: list[tuple[str, list[Tree]]] = []
    for word, tag, _, chunk in tokens:
        name = chunk[2:] or "PU"
        if chunk[:1] != "I" or not chunks:
            chunks.append((name, []))
        chunks[-1][1].append(Tree(tag, [word]))
    return Tree("TOP", [Tree("S", [Tree(name, children) for name, children in chunks])])


@pytest.fixture(scope="module")
def trained() -> tuple[Grammar, Tagger]:
    grammar = Grammar.fit([tree_of(tokens) for tokens in invented.tokens(200, 1)])
    return grammar, Tagger("upos", order=2, epochs=4).fit(invented.sentences(200, 1))


def test_whole_sentences_whatever_the_threads(trained: tuple[Grammar, Tagger]) -> None:
    words = invented.words(25, 7)
    answers = [parse_jointly(*trained, words, threads=threads) for threads in (1, 3)]
    for one, other in zip(*answers, strict=True):
        assert one.optimal
        assert (one.tree, one.tags, one.score) == (other.tree, other.tags, other.score)
    right = [[token[1] for token in tokens] for tokens in invented.tokens(25, 7)]
    assert invented.share([answer.tags for answer in answers[0]], right) > 0.9


def test_fixed_tags_are_the_taggers(trained: tuple[Grammar, Tagger]) -> None:
    words = invented.words(25, 7)
    found = parse_fixed(*trained, words)
    for answer, tagging in zip(found, trained[1].tag_batch(words), strict=True):
        assert answer.value.tags == tagging.labels
    joint = parse_jointly(*trained, words, weight=1000.0, pruning=0.01)
    assert [answer.tags for answer in joint] == [answer.value.tags for answer in found]


def test_no_better_pair_scores_more_than_the_joint_one(trained: tuple[Grammar, Tagger]) -> None:
    words = invented.words(25, 8)
    for fixed, joint in zip(parse_fixed(*trained, words), parse_jointly(*trained, words), strict=True):
        best_tags = trained[1].tag(fixed.value.words).score
        assert fixed.score + best_tags <= joint.score + 1e-4


def test_refusals(trained: tuple[Grammar, Tagger]) -> None:
    grammar, tagger = trained
    with pytest.raises(InvalidInput, match="weight is 0"):
        JointParser(grammar, tagger, weight=0)
    with pytest.raises(InvalidInput, match="pruning is -1"):
        JointParser(grammar, tagger, pruning=-1)
    with pytest.raises(InvalidInput, match="without words"):
        JointParser(grammar, tagger).parse([])
    other = Tagger("feats", "hmm").fit(invented.sentences(50, 1))
    with pytest.raises(InvalidInput, match=r"no tag in common: the grammar has .*; the tagger, for 'feats'"):
        JointParser(grammar, other)
