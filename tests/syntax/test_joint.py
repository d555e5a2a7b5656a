"""Joint parsing and tagging: the proven answer is the best, and what is not proven is bounded."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from certus import Status, Tagger
from certus.errors import Infeasible, InvalidInput
from certus.relax import OPTIMIZERS, Decomposition, JointSolution, Subgradient, Trace
from certus.relax.solution import ByPart
from certus.syntax import Grammar
from certus.syntax.constituency.part import TreePart
from certus.syntax.joint.parsing import JointParse, JointParser, parse_fixed, parse_jointly
from certus_bench.joint import Trial, choose_trial, try_weights
from certus_bench.joint_arrays import write_arrays
from certus_bench.joint_program import solve_program
from tests.learn.problems import Problem
from tests.models import invented
from tests.syntax import chunk_trees
from tests.syntax.joint_problems import Toy, ToyTagger, best, toy, trees


def parser_of(given: Toy, **options: Any) -> JointParser | None:
    grammar = given.grammar()
    if not set(grammar.tags) & set(given.tagger.labels):
        return None
    return JointParser(grammar, given.tagger, **options)  # type: ignore[arg-type]


def assert_is(found: JointParse[Any], given: Toy, weight: float) -> None:
    """The scores are those of the tree and of the sequence of its tags."""
    tags = tuple(int(tag[1:]) for tag in found.tags)
    assert found.tree.tags == found.tags
    assert found.tree.words == given.sentence
    assert found.tag_score == given.sequences[tags]
    assert found.parse_score == trees(given)[tags]
    assert found.score == found.parse_score + weight * found.tag_score


MANY = {"auto": range(1200)}


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_proven_answers_equal_brute_force(optimizer: str) -> None:
    for seed in MANY.get(optimizer, range(200)):
        given, weight = toy(seed), 1 + seed % 2
        parser = parser_of(given, weight=weight)
        if parser is None:
            continue
        found, wanted = (
            parser.parse(given.sentence, optimizer=optimizer, infeasible="return"),
            best(given, weight),
        )
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
    looser = proven = 0
    for seed in range(50 * block, 50 * block + 50):
        given = toy(seed, pruned=True)
        parser = parser_of(given)
        if parser is None:
            continue
        found = parser.parse(given.sentence, infeasible="return")
        if found.tree is None:
            assert best(given) == -np.inf
            continue
        assert found.lattice_optimal
        assert found.score == found.lattice_bound
        assert best(given) <= found.bound < np.inf
        assert not found.optimal or found.score == best(given)
        whole = "proven: no tree with tags scores more"
        assert found.claim.startswith(
            whole if found.optimal else "proven within the tagger's pruned lattice alone"
        )
        proven += found.optimal and not given.tagger.lattices([given.sentence]).exact[0]
        assert_is(found, given, 1)
        assert found.pruning is not None
        looser += found.pruning < parser.pruning
        lattice = given.tagger.lattices([given.sentence], pruning=found.pruning)
        assert found.score == best(given, allowed=_sequences(lattice))
    assert looser
    assert proven


def test_the_chart_of_the_proof_serves_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounding what a lattice lacks takes a chart of all tags; few sentences need another one."""
    made: list[TreePart] = []
    part = Grammar.part

    def keep(self: Grammar, *given: Any, **options: Any) -> TreePart:
        made.append(part(self, *given, **options))
        return made[-1]

    monkeypatch.setattr(Grammar, "part", keep)
    for seed in range(20):
        given = toy(seed, pruned=True)
        parser = parser_of(given)
        if parser is None or given.tagger.lattices([given.sentence]).exact[0]:
            continue
        parser.parse(given.sentence, infeasible="return")
    assert made
    assert sum(one.parses == 1 for one in made) > len(made) / 2


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


# --------------------------------------------------------------------------------- a relaxation with a gap


def appendix() -> JointParser:
    """Rush et al. (2010), appendix A: half of two trees and half of two sequences agree, none of them do."""
    binary = [("TOP", a, "X", 0.0 if a == "T0" else -1.0) for a in ("T0", "T1")]
    binary += [("X", a, b, 0.0 if a != b else -1.0) for a in ("T0", "T1") for b in ("T0", "T1")]
    words = {tag: dict.fromkeys("abc", 0.0) for tag in ("T0", "T1")}
    problem = Problem(0, 2, labels=2)
    problem.crf.weights = {
        ("full", *tags): -1.0 for tags in product(range(2), repeat=3) if tags not in ((0, 0, 0), (0, 1, 1))
    }
    tagger: Any = ToyTagger(problem, ["T0", "T1"], [0.0] * 3)
    return JointParser(Grammar.of_rules(binary, [], words), tagger)


def test_the_gap_of_the_papers_appendix_is_seen_and_closed() -> None:
    parser, words = appendix(), ["a", "b", "c"]
    relaxed = parser.parse(words, max_iterations=50, max_nodes=1, tighten=False, optimizer=Subgradient())
    assert not relaxed.optimal
    assert relaxed.score == -1 < relaxed.bound
    assert min(relaxed.trace.dual) >= 0, "the relaxation's best point scores 0"
    packed = write_arrays(next(parser.problems(words)))
    linear, integer = (solve_program(packed, integer=whole) for whole in (False, True))
    assert linear is not None
    assert integer is not None
    assert linear.score == pytest.approx(0, abs=1e-9)
    assert linear.pair is None
    assert integer.score == pytest.approx(-1)
    for optimizer in OPTIMIZERS:
        proven = parser.parse(words, optimizer=optimizer)
        assert proven.optimal
        assert proven.score == proven.bound == -1


# ------------------------------------------------------------------------------------------ trained models


@pytest.fixture(scope="module")
def trained() -> tuple[Grammar, Tagger]:
    grammar = Grammar.fit(chunk_trees.trees(200, 1))
    return grammar, Tagger("upos", order=2, epochs=4).fit(invented.sentences(200, 1))


def test_whole_sentences_whatever_the_threads(trained: tuple[Grammar, Tagger]) -> None:
    words = invented.words(25, 7)
    answers = [parse_jointly(*trained, words, threads=threads) for threads in (1, 3)]
    for one, other in zip(*answers, strict=True):
        assert one.lattice_optimal
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


def test_the_weight_is_chosen_on_trees(trained: tuple[Grammar, Tagger]) -> None:
    held_out = chunk_trees.trees(15, 9)
    trials = try_weights(*trained, held_out, weights=(0.01, 2.0))
    assert [trial.weight for trial in trials] == [0.01, 2.0]
    assert all(0 < trial.f1 <= 1 and 0 < trial.tags <= 1 for trial in trials)
    assert choose_trial([Trial(1, 0.8, 0.9), Trial(2, 0.81, 0.95), Trial(3, 0.82, 0.93)]).weight == 2
    with pytest.raises(InvalidInput, match="at least one tree"):
        try_weights(*trained, [])


def test_sentences_without_a_joint_tree_are_covered_if_asked(trained: tuple[Grammar, Tagger]) -> None:
    parser = JointParser(*trained)
    words = [".", ".", ".", "lo", "lo", "."]
    with pytest.raises(Infeasible, match="no tree of the grammar has tags"):
        parser.parse(words)
    alone = parser.parse(words, infeasible="return")
    assert (alone.tree, alone.tags, alone.status, alone.pruning) == (None, [], Status.INFEASIBLE, None)
    covered = parser.parse(words, cover=True)
    assert covered.status is Status.INFEASIBLE
    assert covered.tree.words == words
    assert covered.tags == covered.tree.tags


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


def test_a_limit_before_any_answer_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search ends with nothing found, the status is the limit's, never INFEASIBLE."""
    solve = Decomposition.solve

    def stop(self: Decomposition, **limits: Any) -> JointSolution:
        found = solve(self, **limits)
        found.value, found.score, found.status = ByPart(), -np.inf, Status.SECONDS
        return found

    monkeypatch.setattr(Decomposition, "solve", stop)
    seed = next(seed for seed in range(100) if parser_of(toy(seed)) and best(toy(seed), 1.0) > -np.inf)
    parser = parser_of(toy(seed))
    assert parser is not None
    found = parser.parse(toy(seed).sentence, infeasible="return")
    assert found.value is None
    assert found.status is Status.SECONDS
    assert found.bound >= best(toy(seed), 1.0)
    covered = parser.parse(toy(seed).sentence, cover=True)
    assert covered.value is not None
    assert covered.tags == covered.value.tags
    assert covered.status is Status.SECONDS


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1.0, 1e9])
def test_a_better_sequence_outside_of_the_lattice_leaves_nothing_proven(unit: float) -> None:
    """Whether the bound meets the score is seen at the scale of the scores, not of 1."""
    by_part = ("indicators", "scores", "average", "calls", "skipped", "completions")
    parts: dict[str, Any] = dict.fromkeys(by_part, ByPart({}))
    parts |= {"trace": Trace(), "limit": None, "work": {"nodes": 1}}
    found = JointSolution(ByPart({}), -2 * unit, -2 * unit, Status.OPTIMAL, **parts)
    tree: Any = None
    scores = -unit, -unit
    better: JointParse[Any] = JointParse(tree, [], found, 0.0, scores, outside=-1.9 * unit)
    assert (better.status, better.bound) == (Status.FEASIBLE, -1.9 * unit)
    assert (better.lattice_optimal, better.lattice_bound) == (True, -2 * unit)
    worse: JointParse[Any] = JointParse(tree, [], found, 0.0, scores, outside=-2.1 * unit)
    rounded: JointParse[Any] = JointParse(tree, [], found, 0.0, scores, outside=-2 * unit * (1 - 1e-9))
    for one in (worse, rounded):
        assert (one.status, one.bound) == (Status.OPTIMAL, -2 * unit)
