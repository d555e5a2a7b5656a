"""Cascades of passes: what they close, what they keep, how their thresholds are chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus import DependencyParser, Trees, _native
from certus.annotation.columns import select_columns
from certus.errors import InvalidInput, ModelError
from certus.formats import build
from certus.learn.arcs.cascade import choose_threshold
from certus.learn.arcs.treebank import Treebank
from tests.models import invented_treebank as invented
from tests.reference.dependency import list_trees

SMALL: dict[str, Any] = {"hash_bits": 14, "epochs": 2, "projective": "yes"}
CASCADES = ("length", "length local", "local-short", "length vine", "first", "length vine first second")
FILTERS = ("posteriors", "max-marginals")


@pytest.mark.parametrize("single", [False, True])
def test_heads_are_learned_by_the_likelihood_of_trees(single: bool) -> None:
    trees = Treebank(invented.sentences(20, 1))
    model = DependencyParser(hash_bits=14, epochs=1, projective="no").fit(invented.sentences(20, 1)).model
    plan = model.plans[0]
    unlabelled = np.zeros(trees.tokens, np.int32)
    corpus = _native.TreeCorpus(plan, plan, trees.select(model.columns), trees.heads, unlabelled)
    for number, sentence in enumerate(invented.sentences(20, 1)):
        learner = _native.HeadLearner(corpus, plan, rate=0.1, trees=True, single_root=single)
        words = len(sentence)
        count = words ** (words - 1) if single else (words + 1) ** (words - 1)  # of trees
        first, later = (learner.epoch(np.array([number])) for _ in range(2))
        assert first == pytest.approx(np.log(count) / words)
        assert later < first or words == 1


def fit(cascade: str, filter: str = "posteriors", **more: Any) -> DependencyParser:
    parser = DependencyParser(cascade=cascade, filter=filter, **SMALL | more)
    return parser.fit(invented.sentences(120, 1), dev=invented.sentences(60, 2))


def list_arcs(parser: DependencyParser, sentences: list[Any], passes: int = 9) -> list[set[tuple[int, int]]]:
    """Return the arcs that the first passes leave open, for each sentence."""
    cascade = parser.model.selector.native_cascade
    assert cascade is not None
    found = cascade.prune([select_columns(one, parser.columns) for one in sentences], passes)
    ends = np.cumsum(found.count)
    pairs = list(zip(found.heads.tolist(), found.modifiers.tolist(), strict=True))
    return [set(pairs[end - count : end]) for end, count in zip(ends, found.count, strict=True)]


def score_by_pass(parser: DependencyParser, sentence: Any, number: int) -> NDArray[np.float64]:
    """Return what a pass scores all arcs, as ``certus.Trees`` takes it."""
    model = parser.model
    weights = np.append(model.arrays[f"pass{number}"], np.int16(0))
    one = np.ones(1, np.uint8)
    step = float(model.arrays[f"pass{number}_step"])
    cascade = model.selector.native_cascade
    scorer = _native.ArcModel(None, cascade, None, None, model.plans[0], weights, step, one, one)
    return scorer.score_arcs([select_columns(sentence, parser.columns)])[0]


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("cascade", CASCADES)
def test_what_is_learned_keeps_right_trees_and_closes_other_arcs(cascade: str, filter: str) -> None:
    parser = fit(cascade, filter)
    gold = list(invented.sentences(60, 3))
    words = sum(map(len, gold))
    kept = arcs = right = 0
    answers = parser.parse_batch(gold)
    for sentence, opened, answer in zip(gold, list_arcs(parser, gold), answers, strict=True):
        tree = {(int(head), word) for word, head in enumerate(sentence.columns["head"], 1)}
        kept += len(tree & opened)
        arcs += len(opened)
        right += len(tree & {(head, word) for word, head in enumerate(answer.heads, 1)})
    assert kept > 0.98 * words
    assert right > 0.97 * words
    possible = sum(len(sentence) ** 2 for sentence in gold)
    assert arcs < (1.0 if cascade == "length" else 0.6) * possible


@pytest.mark.parametrize("filter", FILTERS)
def test_a_first_order_pass_closes_what_its_trees_say(filter: str) -> None:
    parser = fit("first", filter, filter_loss=0.2)
    threshold = parser.description["cascade"]["passes"][0]["threshold"]
    trees = Trees(projective=True, single_root=True)
    gold = list(invented.sentences(25, 4))
    for sentence, opened in zip(gold, list_arcs(parser, gold), strict=True):
        scores = score_by_pass(parser, sentence, 0)
        if filter == "posteriors":
            values = trees.marginals(scores).probabilities
            least = threshold
        else:
            values = np.full(scores.shape, -np.inf)
            for cell in zip(*np.nonzero(np.isfinite(scores)), strict=True):
                held = scores.copy()
                held[cell[0]] = -np.inf
                held[cell] = scores[cell]
                best = trees.decode(held, infeasible="return")
                values[cell] = best.score
            each = values[np.isfinite(values)]
            least = threshold * each.max() + (1 - threshold) * each.mean()
        close = np.abs(values - least) < 1e-6 * max(1.0, abs(least))
        wanted = {(head, word + 1) for word, head in zip(*np.nonzero(values >= least), strict=True)}
        unsure = {(head, word + 1) for word, head in zip(*np.nonzero(close), strict=True)}
        assert wanted ^ opened <= unsure
        assert opened


@pytest.mark.parametrize("cascade", ["local", "local-short", "vine", "first", "second"])
@pytest.mark.parametrize("filter", FILTERS)
def test_thresholds_are_the_highest_that_lose_few_trees(cascade: str, filter: str) -> None:
    parser = fit(cascade, filter, filter_loss=0.1, parsing_loss=0)
    dev = list(invented.sentences(60, 2))
    lost = 0
    for sentence, opened in zip(dev, list_arcs(parser, dev), strict=True):
        tree = {(int(head), word) for word, head in enumerate(sentence.columns["head"], 1)}
        lost += not tree <= opened
    assert lost <= 6


@pytest.mark.parametrize("cascade", ["local", "local-short", "vine", "first", "second"])
def test_parsing_closes_more_than_learning_and_loses_few_words(cascade: str) -> None:
    dev = list(invented.sentences(60, 2))
    for number in range(0, 60, 10):  # trees that passes take for unlikely: each word hangs on the one before
        columns = {**dev[number].columns, "head": list(map(str, range(len(dev[number]))))}
        dev[number] = build(list(dev[number].words), columns)
    words = sum(map(len, dev))
    opened_before = None
    for loss in (0.0, 0.05):
        options: dict[str, Any] = {"filter_loss": 0, "parsing_loss": loss, **SMALL}
        parser = DependencyParser(cascade=cascade, **options)
        opened = list_arcs(parser.fit(invented.sentences(120, 1), dev=dev), dev)
        lost = sum(
            (int(head), word) not in arcs
            for sentence, arcs in zip(dev, opened, strict=True)
            for word, head in enumerate(sentence.columns["head"], 1)
        )
        assert lost <= loss * words
        if opened_before is not None:
            assert all(one <= other for one, other in zip(opened, opened_before, strict=True))
            assert sum(map(len, opened)) < sum(map(len, opened_before))
        opened_before = opened


def test_thresholds_are_chosen_by_share() -> None:
    highest = np.array([0.5, 0.1, 0.3, 0.2, 0.4])
    assert choose_threshold(highest, 0.0, 1.0) == 0.1
    assert choose_threshold(highest, 0.39, 1.0) == 0.2
    assert choose_threshold(highest, 0.4, 1.0) == 0.3
    assert choose_threshold(highest, 1.0, 1.0) == 0.5
    assert choose_threshold(highest, 1.0, 0.25) == 0.25
    assert choose_threshold(np.zeros(0), 0.5, 1.0) == 0.0


def test_the_dictionary_goes_by_lengths_that_were_seen() -> None:
    def annotate(heads: str, tags: str) -> Any:
        words = [f"w{n}" for n in range(len(tags.split()))]
        columns = {"upos": tags.split(), "head": heads.split(), "deprel": ["x"] * len(words)}
        return build(words, columns)

    parser = DependencyParser(cascade="length", **SMALL)
    parser.fit([annotate("2 0 2 3", "A V N A"), annotate("0 1", "V A")])
    opened = list_arcs(parser, [annotate("0 1 1 1 1", "V A A N B")])[0]
    assert {(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)} <= opened  # the root's
    assert (1, 2) in opened  # V to A were one word apart
    assert (1, 3) not in opened  # and never two
    assert (1, 4) not in opened  # V to N were one word apart
    assert {(1, 5), (5, 1), (2, 1), (4, 5)} <= opened  # what was not seen may be of any length


def test_passes_follow_each_other_and_all_leave_a_tree() -> None:
    parser = fit("length vine first second", filter_loss=1.0)
    gold = list(invented.sentences(40, 5))
    before = list_arcs(parser, gold, 0)
    counts = [sum(map(len, before))]
    for passes in (1, 2, 3):
        after = list_arcs(parser, gold, passes)
        assert all(one <= other for one, other in zip(after, before, strict=True))
        counts.append(sum(map(len, after)))
        before = after
    assert counts[0] < sum(len(sentence) ** 2 for sentence in gold)
    assert counts[-1] < counts[0] / 2
    for sentence, answer in zip(gold, parser.parse_batch(gold), strict=True):
        assert answer.optimal
        assert len(answer.heads) == len(sentence)
    ranked = parser.parse(gold[0], k=3)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_answers_are_the_best_trees_over_arcs_that_are_left(order: int, filter: str) -> None:
    """Small sentences have all arcs; of others, what is proven is said to be about the rest."""
    options: dict[str, Any] = {"cascade": "length vine first", **SMALL | {"epochs": 1}}
    parser = DependencyParser(order=order, filter=filter, parsing_loss=0.2, **options)
    parser.fit(invented.sentences(30, 1), dev=invented.sentences(30, 2))
    short = [sentence for sentence in invented.sentences(60, 5) if len(sentence) <= 6]
    assert len(short) > 10
    for sentence in short:
        answer = parser.parse(sentence)
        trees = list_trees(len(sentence), True, True)
        assert answer.optimal
        assert answer.pruned == 0
        assert answer.score == max(parser.score(sentence, heads) for heads in trees)
    long = list(invented.long_sentences(12, 5))
    lost = 0
    for sentence, opened in zip(long, list_arcs(parser, long), strict=True):
        answer = parser.parse(sentence)
        assert answer.pruned == (len(sentence) ** 2 - len(opened) if len(sentence) > 21 else answer.pruned)
        assert opened.issuperset((h, m) for m, h in enumerate(answer.heads.tolist(), 1)) or not answer.pruned
        assert answer.optimal == (answer.pruned == 0)
        lost += answer.pruned
    assert lost > 0


def test_without_dev_thresholds_are_chosen_on_trees_that_are_left_out() -> None:
    parser = DependencyParser(cascade="length vine first", **SMALL).fit(invented.sentences(150, 1))
    assert all(0 < each["threshold"] <= 0.1 for each in parser.description["cascade"]["passes"])


def test_without_pruning_all_arcs_are_scored() -> None:
    parser = fit("length vine first")
    for sentence in invented.long_sentences(10, 6):
        pruned, whole = parser.parse(sentence), parser.parse(sentence, pruning=0)
        assert whole.pruned == 0
        assert pruned.pruned > 0
        assert whole.score >= pruned.score
        assert whole.optimal
    with pytest.raises(
        InvalidInput, match="pruning is for cascade='heads', and this parser has 'length vine first'"
    ):
        parser.parse(sentence, pruning=0.1)


def test_coarse_scores_are_not_exchanged() -> None:
    """They are part of what trees score."""
    train = list(invented.sentences(30, 1))
    coarse, other = fit("coarse"), fit("length vine first")
    for parser, given in (
        (coarse, {"cascade": "heads"}),
        (coarse, {"candidates": 3}),
        (other, {"cascade": "coarse"}),
    ):
        with pytest.raises(
            InvalidInput, match="coarse scores are part of what its trees score: train a parser"
        ):
            parser.change_cascade(train, **given)


def test_models_with_a_cascade_are_kept(tmp_path: Path) -> None:
    parser = fit("length vine first second", "max-marginals")
    parser.save(tmp_path / "m.certus")
    again = certus.load(tmp_path / "m.certus")
    gold = list(invented.sentences(30, 7))
    assert again.description["passes"] == ["length", "vine", "first", "second"]
    assert [a.value for a in again.parse_batch(gold)] == [a.value for a in parser.parse_batch(gold)]
    assert [a.pruned for a in again.parse_batch(gold)] == [a.pruned for a in parser.parse_batch(gold)]
    parser.description["cascade"]["passes"][0]["kind"] = "magic"
    parser.save(tmp_path / "bad.certus")
    with pytest.raises(ModelError, match="a pass that no parser has"):
        certus.load(tmp_path / "bad.certus")


def test_words_alone_are_enough() -> None:
    parser = fit("length vine first second", columns="word")
    assert parser.description["cascade"]["lengths"] is False
    sentence = next(invented.sentences(1, 9))
    assert len(parser.parse(sentence.words).heads) == len(sentence)
    assert parser.parse([]).heads.tolist() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cascade": "magic"}, "cascade is 'magic'"),
        ({"cascade": ""}, "it may be auto, coarse, heads, or some of length"),
        ({"cascade": "vine length"}, "length comes first"),
        ({"cascade": "vine vine"}, "each pass once"),
        ({"cascade": "vine", "projective": "no"}, "need projective trees"),
        ({"filter": "magic"}, "filter is 'magic'"),
        ({"filter_loss": 2}, "filter_loss is 2"),
        ({"reach": 0}, "reach is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        DependencyParser(**given)
