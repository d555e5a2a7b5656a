"""What a pruned CRF proves: its answers are those of brute force over all sequences, however much was pruned.

``CERTUS_PROOFS=1000000 pytest tests/learn/test_pruned_proofs.py -k campaign`` checks that many answers.
"""

from __future__ import annotations

import decimal
import os
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from certus import _native
from certus.annotation.tagging import Tagging
from certus.errors import InvalidInput
from certus.lattice.lattices import TagLattices
from certus.learn.decoder import Decoded
from certus.models.answers import find_best
from tests.learn.problems import Problem, Sentence, cascade, features
from tests.learn.test_native_tagger import Scores, is_legal, random_allowed, satisfies, tag
from tests.reference.pruned_crf import Crf, Name

PROOFS = int(os.environ.get("CERTUS_PROOFS", "1000"))
FIRST = int(os.environ.get("CERTUS_SEED", "0"))  # of the models


def whole_numbers(seed: int, order: int, labels: int) -> Problem:
    """A problem whose weights are small whole numbers: sums are exact, and ties are common."""
    problem = Problem(seed, order, labels=labels)
    draw = problem.rng
    weights = problem.crf.weights
    problem.named = bool(draw.random() < 0.8)
    problem.crf.weights = {name: float(draw.integers(-3, 4)) or 1.0 for name in weights}
    return problem


def random_thresholds(problem: Problem) -> list[float]:
    """From nearly nothing pruned to nearly everything, differently at each level."""
    levels = [0.0, 0.01, 0.1, 0.3, 0.6, 1.0]
    return [levels[i] for i in problem.rng.integers(len(levels), size=1 + problem.crf.order)]


def restrict(problem: Problem, sentence: Sentence, scores: Scores) -> tuple[dict[str, Any], Scores]:
    """Constraints, or none, and the sequences that they leave."""
    draw = problem.rng
    options: dict[str, Any] = {}
    if draw.random() < 0.3:
        allowed = random_allowed(problem, len(sentence))
        options["allowed"] = [allowed]
        scores = {y: s for y, s in scores.items() if satisfies(y, allowed)}
    if draw.random() < 0.3:
        legal = draw.random((problem.crf.labels + 1,) * 2) < 0.7
        options["legal"] = legal
        scores = {y: s for y, s in scores.items() if is_legal(y, legal)}
    return options, scores


def check_answers(problem: Problem, count: int) -> int:
    """Check some answers; return how many are proven. Where a limit was hit, bounds still hold."""
    taggers = [problem.tagger(random_thresholds(problem)) for _ in range(4)]
    proven = 0
    for n in range(count):
        if n % 16 == 0:  # to score all sequences takes much longer than to tag
            sentence = problem.sentence(1)
            every = problem.crf.all_scores(features(sentence))
        options, scores = restrict(problem, sentence, every)
        k = int(problem.rng.choice([1, 1, 2, 5, 20]))
        found = tag(taggers[n % 4], sentence, k, **options)
        ranked = sorted(scores.values(), reverse=True)
        assert [scores[labels] for labels in found.labels] == found.scores
        assert len(set(found.labels)) == len(found.labels)
        if not ranked:
            assert (found.labels, found.bound) == ([], -np.inf)
        elif found.optimal:
            assert found.scores == ranked[:k]
            assert found.bound == ranked[0]
        else:
            assert found.scores[0] <= ranked[0] <= found.bound < np.inf
        proven += found.optimal or not ranked
    return proven


def test_campaign() -> None:
    """Answers of models of orders 1 to 4, with constraints and k."""
    proven = models = 0
    each = min(64, max(4, PROOFS // 64))
    for models in range(1, PROOFS // each + 1):
        seed = FIRST + models
        problem = whole_numbers(seed, 1 + seed % 4, labels=2 + seed // 4 % 4)
        proven += check_answers(problem, each)
        if models % 1000 == 0:
            print(f"{models * each:,} answers, {proven:,} of them proven, none wrong", flush=True)
    assert proven >= 0.99 * models * each


def test_lists_whose_lattice_begins_with_ties() -> None:
    """Sequences worse than paths of the lattice to the same state still count among several answers."""
    seed = 13_012_008  # a list of two under legal: the lattice has two of -11, and outside are -5, -6 and -7
    assert check_answers(whole_numbers(seed, 1, labels=4), 64) == 64


def stop_early(seed: int, **limit: Any) -> int:
    """Check the bound of an answer that a limit may have stopped; return what stopped it, 0 for nothing."""
    problem = whole_numbers(seed, 1 + seed % 4, labels=2 + seed // 4 % 4)
    tagger = problem.tagger([1.0] * (1 + problem.crf.order))
    sentence = problem.sentence(1)
    options, scores = restrict(problem, sentence, problem.crf.all_scores(features(sentence)))
    found = tagger.tag([[sentence]], k=1 + seed % 3, **limit, **options)
    if not scores:
        assert not found.found[0]
        return 0
    best = max(scores.values())
    assert found.scores[0] <= best <= found.bounds[0] < np.inf
    assert not found.optimal[0] or found.scores[0] == best
    assert not (found.optimal[0] and found.stopped[0])
    return int(found.stopped[0])


def test_limits_of_time() -> None:
    """Where the time is over at once, the answer has a bound that holds, and says why it is not proven."""
    assert any([stop_early(seed, seconds=1e-9) for seed in range(500)])


def test_limits_of_rounds() -> None:
    """After as many searches as are asked for, the answer has a bound that holds, and says why."""
    assert {stop_early(seed, max_iterations=1 + seed % 2) for seed in range(500)} == {0, 2}


def test_all_scores_are_those_of_each() -> None:
    """What brute force adds up position by position is the sum over all weights of a sequence."""
    for seed in range(8):
        problem = whole_numbers(seed, 1 + seed % 4, labels=3)
        sentence = features(problem.sentence(0, 4))
        for labels, score in problem.crf.all_scores(sentence).items():
            assert score == problem.crf.score(sentence, labels)


def check_interval(problem: Problem, thresholds: list[float]) -> tuple[float, float]:
    """Check the intervals of a sentence; return how wide that of all sequences is, and how high it ends.

    The former is a share of the sum, the latter a difference of logarithms from the truth.
    """
    sentence = problem.sentence(1)
    options, scores = restrict(problem, sentence, problem.crf.all_scores(features(sentence)))
    if not scores:
        return 0, 0
    found = problem.tagger(thresholds).tag([[sentence]], confidence=True, **options)
    truth = np.logaddexp.reduce(list(scores.values()))
    least, most = found.log_partitions[0], found.log_partition_bounds[0]
    assert least - 1e-5 <= truth <= most + 1e-5
    share = np.exp(least - most)
    for t, (y, p) in enumerate(zip(found.labels, found.confidences, strict=True)):
        exact = sum(np.exp(s - truth) for labels, s in scores.items() if labels[t] == y)
        assert p * share - 1e-5 <= exact <= p * share + 1 - share + 1e-5
    return 1 - share, most - truth


def test_intervals_hold_the_true_probabilities() -> None:
    """What pruning left and what it may have dropped: the truth lies between, of all labels and of each."""
    widest = 0.0
    for seed in range(FIRST, FIRST + PROOFS // 2):
        problem = whole_numbers(seed, 1 + seed % 4, labels=2 + seed % 4)
        widest = max(widest, check_interval(problem, random_thresholds(problem))[0])
    assert widest > 0.01
    tagger, sentence = problem.tagger([0.0] * (1 + problem.crf.order)), problem.sentence(1)
    exact = tagger.tag([[sentence]], confidence=True)
    assert exact.log_partitions[0] == exact.log_partition_bounds[0]


def test_intervals_hold_where_scores_are_far_apart() -> None:
    """Sums over paths are right, too, where what is in range at one word is out of range at the next."""
    for seed in range(PROOFS // 2):
        problem = whole_numbers(seed, 1 + seed % 4, labels=2 + seed % 4)
        for name in problem.crf.weights:
            if name[0] != "row":
                problem.crf.weights[name] *= float(problem.rng.choice([1.0, 100.0, 1000.0, 20000.0]))
        check_interval(problem, random_thresholds(problem))


def list_long(problem: Problem, least: int) -> list[Name]:
    """The n-grams of so many labels and more, or tags."""
    return [name for name in problem.crf.weights if name[0] != "row" and len(name) > least]


@pytest.mark.parametrize("order", [3, 4])
def test_intervals_hold_with_heavy_long_ngrams(order: int) -> None:
    """Their weights are large, and little is left of the states that have them."""
    wide = 0
    for seed in range(FIRST, FIRST + PROOFS // 4):
        problem = whole_numbers(seed, order, labels=2 + seed % 4)
        for name in list_long(problem, 4):
            problem.crf.weights[name] *= 5
        first = float(problem.rng.choice([0.0, 0.3, 1.0]))
        later = problem.rng.choice([0.1, 0.6, 1.0], order - 1).tolist()
        wide += check_interval(problem, [first, first, *later])[0] > 0.01
    assert wide > PROOFS // 16


@pytest.mark.parametrize("order", [1, 2, 3])
def test_intervals_hold_where_labels_are_dropped(order: int) -> None:
    """N-grams around labels that are no candidates are heavy: those of labels, of tags, or of three tags."""
    wide = 0
    for seed in range(FIRST, FIRST + PROOFS // 2):
        problem = whole_numbers(seed, order, labels=3 + seed % 3)
        kind, least = [("full", 2), ("coarse", 2), ("coarse", 4)][seed % 3]
        for name in problem.crf.weights:
            if name[0] == kind and len(name) >= least:
                problem.crf.weights[name] *= 2 if least == 2 else 6
        labels = float(problem.rng.choice([0.3, 1.0]))
        later = problem.rng.choice([0.0, 1.0], order - 1).tolist()
        wide += check_interval(problem, [labels, labels, *later])[0] > 0.01
    assert wide > PROOFS // 16


@pytest.mark.parametrize("order", [2, 3])
def test_intervals_hold_where_pairs_are_dropped(order: int) -> None:
    """All labels are candidates, but few pairs of them are states."""
    wide = 0
    for seed in range(FIRST, FIRST + PROOFS // 4):
        problem = whole_numbers(seed, order, labels=4)
        for name in list_long(problem, 3):
            problem.crf.weights[name] *= 2
        wide += check_interval(problem, [0.0, 0.0, *[1.0] * (order - 1)])[0] > 0.001
    assert wide > PROOFS // 32


@pytest.mark.parametrize("order", [3, 4])
def test_intervals_add_up_all_states_that_were_dropped(order: int) -> None:
    """Only states of two labels are dropped, and n-grams have two: the bound is the sum itself."""
    wide = 0
    for seed in range(FIRST, FIRST + PROOFS // 4):
        problem = whole_numbers(seed, order, labels=2 + seed % 4)
        problem.named = True
        weights, boundary = problem.crf.weights, {"full": problem.crf.labels, "coarse": problem.crf.groups}
        begin = [name for name in weights if name[0] != "row" and name[1] == boundary[str(name[0])]]
        for name in {*list_long(problem, 3), *begin}:  # the latter count for longer ones, too
            del weights[name]
        width, above = check_interval(problem, [0.0, 0.0, 0.0, 1.0, *[0.0] * (order - 3)])
        assert above < 1e-5
        wide += width > 0.01
    assert wide > PROOFS // 32


# Models whose answers would be wrong if a dropped label did not count by how much n-grams of three coarse
# tags that begin with its tag may exceed those that begin with a candidate's.
EXCEEDING = [2374, 2404, 2450, 2453, 2478, 2493, 2570, 2717, 2732, 2846, 2888, 2898, 2963, 2982]


@pytest.mark.parametrize("seed", EXCEEDING)
def test_bounds_count_the_contexts_of_dropped_labels(seed: int) -> None:
    """N-grams of three coarse tags are heavy, and some of them begin with the tag of a dropped label."""
    order = 2 + seed % 2
    problem = whole_numbers(seed, order, labels=3 + seed % 4)
    for name in problem.crf.weights:
        if name[0] != "row":
            problem.crf.weights[name] *= 4 if name[0] == "coarse" and len(name) >= 4 else 0.5
    labels = float(problem.rng.choice([0.3, 1.0]))
    tagger = problem.tagger([labels, labels, *problem.rng.choice([0.0, 1.0], order - 1).tolist()])
    sentence = problem.sentence(3, 6)
    best = max(problem.crf.all_scores(features(sentence)).values())
    found = tagger.tag([[sentence]])
    assert found.optimal[0]
    assert found.scores[0] == best == found.bounds[0]


# Models whose sums of dropped labels would be too small without the same, of 5,000 drawn.
EXCEEDING_SUMS = [100_209, 104_757]


@pytest.mark.parametrize("seed", EXCEEDING_SUMS)
def test_sums_count_the_contexts_of_dropped_labels(seed: int) -> None:
    """What n-grams of three coarse tags add after a dropped label is part of the sum of all sequences."""
    order = 2 + seed % 3
    problem = whole_numbers(seed, order, labels=2 + seed % 3)
    problem.named = seed % 4 < 2
    rng, weights = problem.rng, problem.crf.weights
    others, rows, heavy = (int(rng.choice(sizes)) for sizes in ([0, 0, 1], [0, 1, 1], [2, 4, 8]))
    for name in weights:
        long = name[0] == "coarse" and len(name) == 4
        weights[name] *= rows if name[0] == "row" else heavy if long else others
    levels = [0.0, 0.1, 0.3, 0.6, 1.0]
    tagger = problem.tagger([float(rng.choice(levels)) for _ in range(1 + order)])
    sentence = problem.sentence(3, 5)
    truth = np.logaddexp.reduce(list(problem.crf.all_scores(features(sentence)).values()))
    found = tagger.tag([[sentence]], confidence=True)
    assert found.log_partitions[0] - 1e-5 <= truth <= found.log_partition_bounds[0] + 1e-5


class ExactWeights(dict[Name, Fraction]):
    """Weights whose sums are exact, also with those that are not there."""

    def get(self, name: Name, default: object = None) -> Fraction:
        return super().get(name) or Fraction(0)


def make_rounded_problem(seed: int) -> Problem:
    """A problem whose sums are rounded in single precision; in some the weights of n-grams are very large."""
    problem = Problem(seed, 1 + seed % 3, labels=2 + seed // 3 % 3)
    problem.named = seed % 5 > 0
    scale = [1e-6, 1.0, 30.0, 1e3, 1e6][seed // 2 % 5]
    for name in problem.crf.weights:
        if name[0] != "row":
            problem.crf.weights[name] = float(np.float32(problem.rng.normal() * scale))
    return problem


def find_exact_masses(problem: Problem, sentence: Sentence) -> dict[tuple[int, ...], Decimal]:
    """Return exp(score) of all sequences over that of the best, to 50 digits; scores are exact."""
    exact = Crf(problem.crf.parts, problem.crf.groups, problem.crf.order)
    exact.weights = ExactWeights({name: Fraction(w) for name, w in problem.crf.weights.items()})  # type: ignore[assignment]
    every = product(range(exact.labels), repeat=len(sentence))
    scores: dict[tuple[int, ...], Any] = {y: exact.score(features(sentence), y) for y in every}
    most = max(scores.values())
    with decimal.localcontext(prec=50):
        return {y: (Decimal((s - most).numerator) / (s - most).denominator).exp() for y, s in scores.items()}


def read_tagging(tagger: _native.Tagger, sentence: Sentence, labels: int) -> Tagging:
    """Return what a tagger says of the probabilities of a sentence."""
    found = tagger.tag([[sentence]], confidence=True)
    decoded = Decoded(
        np.array([0, len(sentence)]),
        found.labels,
        found.found,
        found.scores.reshape(-1, 1),
        found.bounds,
        found.optimal,
        found.confidences,
        found.log_partitions,
        found.positions,
        log_partition_bound=found.log_partition_bounds,
        rounding=np.stack([found.roundings, found.dropped_roundings], axis=1),
    )
    return find_best(decoded, 0, [str(y) for y in range(labels)])


def test_intervals_count_the_rounding_of_scores() -> None:
    """Intervals hold the probabilities in exact arithmetic, whatever single precision makes of scores."""
    narrow = pruned = 0
    for seed in range(FIRST, FIRST + max(90, PROOFS // 8)):
        problem = make_rounded_problem(seed)
        sentence = problem.sentence(1, 4)
        thresholds = [0.0] * (1 + problem.crf.order) if seed % 2 else random_thresholds(problem)
        masses = find_exact_masses(problem, sentence)
        answer = read_tagging(problem.tagger(thresholds), sentence, problem.crf.labels)
        best = tuple(map(int, answer.labels))
        with decimal.localcontext(prec=50):
            total = sum(masses.values())
            assert answer.probability_interval is not None
            assert answer.confidence_intervals is not None
            least, most = map(Decimal, answer.probability_interval)
            assert least <= masses[best] / total <= most, seed
            for t, interval in enumerate(answer.confidence_intervals):
                truth = sum(mass for y, mass in masses.items() if y[t] == best[t]) / total
                least, most = map(Decimal, interval)
                assert least <= truth <= most, (seed, t)
        pruned += (answer.share or 0) < 1
        narrow += answer.rounding < 1e-4
    assert pruned > 20
    assert narrow > 30


def test_proofs_take_back_what_was_pruned() -> None:
    """With thresholds that leave one label per token the search is repeated; with none, once is enough."""
    for seed in range(20):
        problem = whole_numbers(seed, 2, labels=5)
        sentence = [["a", "b", "c", "d"]]
        found = problem.tagger([0.5, 1.0, 1.0]).tag([sentence])
        assert found.optimal[0]
        assert found.rounds[0] > 1
        assert problem.tagger([0.0] * 3).tag([sentence]).rounds[0] == 1


def test_lattices_bound_what_they_lack() -> None:
    """No sequence outside a lattice scores more than its bound, which is usually the score of the best."""
    close = pruned = 0
    for seed in range(200):
        problem = whole_numbers(seed, 1 + seed % 3, labels=4)
        sentence = problem.sentence(1)
        tagger = problem.tagger(random_thresholds(problem))
        lattices = TagLattices(_native.search_all(tagger, [[sentence]], 1.0, 1, bounded=True), "abcd")
        held = list_sequences(lattices)
        lacking = [s for y, s in problem.crf.all_scores(features(sentence)).items() if y not in held]
        most = max(lacking, default=-np.inf)
        assert most <= lattices.outside[0] < np.inf
        assert lacking or lattices.exact[0] or lattices.outside[0] > -np.inf
        pruned += bool(lacking)
        close += bool(lacking) and lattices.outside[0] == most
    assert pruned > 100
    assert close > 0.8 * pruned


def list_sequences(lattices: TagLattices) -> set[tuple[int, ...]]:
    """All sequences of the one lattice."""
    arcs = lattices.arcs(0)
    reached: dict[int, set[tuple[int, ...]]] = {0: {()}}
    for origin, target in sorted(zip(arcs.origin.tolist(), arcs.target.tolist(), strict=True)):
        before = reached.get(origin, set())
        reached.setdefault(target, set()).update((*y, int(arcs.label[target])) for y in before)
    return {y[:-1] for s in range(arcs.begin[-2], arcs.begin[-1]) for y in reached.get(s, set())}


def test_proofs_can_be_left_out() -> None:
    """Then nothing is searched twice, and what was pruned has no bound."""
    problem = whole_numbers(3, 2, labels=5)
    tagger = problem.tagger([0.5, 1.0, 1.0])
    sentences = [[["a", "b", "c", "d"]]]
    found = tagger.tag(sentences, prove=False)
    assert (found.rounds[0], found.optimal[0], found.bounds[0]) == (1, 0, np.inf)
    assert found.scores[0] <= tagger.tag(sentences).bounds[0]
    assert problem.tagger([0.0] * 3).tag(sentences, prove=False).optimal[0]


def test_sequences_of_another_model_are_refused() -> None:
    """Bounds are only as good as the list of what has a weight: it must be that of the table."""
    problem = whole_numbers(3, 2, labels=4)
    problem.named = True
    corpus = problem.corpus([], [])
    learner = problem.learner(corpus)
    learner.restore(problem.state())
    compiled = learner.compile(corpus, 0.0)
    rows = compiled["ngram_sequences"].reshape(-1, 3)
    nothing = int(rows.max())
    changed = rows.copy()
    changed[0, -1] = (changed[0, -1] + 1) % 4
    for wrong in (rows[:-1], changed, np.full_like(rows, nothing), rows[:, ::-1]):
        damaged = {**compiled, "ngram_sequences": np.ascontiguousarray(wrong).reshape(-1)}
        with pytest.raises(InvalidInput, match="not those that the table has weights of"):
            cascade(problem, damaged, [0.1] * 3)
    cascade(problem, compiled, [0.1] * 3)
