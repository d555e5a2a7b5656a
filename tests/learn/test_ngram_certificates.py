"""Certificates of pruned CRFs: the checker proves the optimum, whatever was pruned and is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus.learn.ngram_certificate import LabelNgrams, certify_labels
from certus.verification import Certificate, CertificateError, Problem, make_problem
from tests.learn import problems
from tests.learn.problems import Sentence, features
from tests.learn.test_native_tagger import tag
from tests.learn.test_pruned_proofs import random_thresholds, restrict, whole_numbers
from tests.models import invented


def state(problem: problems.Problem, tagger: Any, sentence: Sentence, options: dict[str, Any]) -> Problem:
    """Return a sentence as plain data."""
    emissions = np.empty((len(sentence), problem.crf.labels), np.float32)
    tagger.emissions([[sentence]], emissions)
    for row, labels in zip(emissions, options.get("allowed", [[]])[0], strict=False):
        if labels is not None:
            row[~np.isin(np.arange(len(row)), labels)] = -np.inf
    rows = problem.state()["ngram_sequences"]
    coarse = np.array([parts[0] for parts in problem.crf.parts])
    ngrams = LabelNgrams(
        coarse, rows.reshape(-1, problem.crf.order + 1).astype(np.int64), tagger.weigh_sequences(rows)
    )
    return ngrams.state_problem(emissions, options.get("legal"))


def test_what_is_certified_is_the_optimum() -> None:
    """Orders 1 to 4, ties, constraints, and sentences that these leave nothing for."""
    infeasible = 0
    for seed in range(200):
        problem = whole_numbers(seed, 1 + seed % 4, labels=2 + seed % 4)
        tagger = problem.tagger(random_thresholds(problem))
        sentence = problem.sentence(1)
        options, scores = restrict(problem, sentence, problem.crf.all_scores(features(sentence)))
        found = tag(tagger, sentence, 1, **options)
        stated = state(problem, tagger, sentence, options)
        labels = list(found.labels[0]) if found.labels else None
        certificate = certify_labels(stated, labels, [set() for _ in sentence])
        verdict = certus.verify(stated, certificate)
        assert verdict.proven, (seed, str(verdict))
        best = max(scores.values(), default=None)
        assert (None if verdict.score is None else float(verdict.score)) == best, seed
        infeasible += best is None
    assert infeasible > 5


def test_a_worse_answer_is_told_by_how_much() -> None:
    problem = whole_numbers(9, 3, labels=4)
    tagger, sentence = problem.tagger([0.1] * 4), ["a", "b", "c", "d"]
    stated = state(problem, tagger, sentence, {})
    scores = problem.crf.all_scores(features(sentence))
    best, worst = max(scores, key=lambda y: scores[y]), min(scores, key=lambda y: scores[y])
    certificate = certify_labels(stated, list(best), [set() for _ in sentence])
    worse = Certificate.of_json(certificate.as_json() | {"answer": list(worst), "score": scores[worst]})
    verdict = certus.verify(stated, worse)
    assert not verdict.proven
    assert verdict.epsilon == scores[best] - scores[worst]
    with pytest.raises(CertificateError, match="of another problem"):
        certus.verify(state(problem, tagger, ["a", "b", "c", "a"], {}), certificate)


def test_coarse_tags_that_are_many_make_one_class() -> None:
    rng = np.random.default_rng(3)
    labels, length = 80, 4
    pairs = {(int(x), int(y)): float(rng.integers(-3, 9)) for x, y in rng.integers(0, labels, (900, 2))}
    problem = make_problem("ngrams", {
        "emissions": rng.integers(0, 4, (length, labels)).astype(float), "order": 1,
        "coarse": np.arange(labels), "offsets": 2 * np.arange(len(pairs) + 1),
        "sequences": np.array([*pairs]).ravel(), "weights": np.array([*pairs.values()]),
    })  # fmt: skip
    transitions = np.zeros((labels, labels))
    transitions[tuple(np.array([*pairs]).T)] = [*pairs.values()]
    best = certus.decode(problem.data["emissions"], transitions)
    certificate = certify_labels(problem, best.labels.tolist(), [set() for _ in range(length)])
    assert certus.verify(problem, certificate).score == best.score


WRONG = {
    "order": (0, "order must be from 1 to 16"),
    "coarse": ([0, 2], "coarse must have a number from 0 to 1"),
    "offsets": ([0, 2, 3, 7], "offsets must lead from 0"),
    "sequences": ([0, 1, 2, 3, 0, 2], "sequence 1 is none of 2 to 2 labels"),
    "weights": ([1.0, 2.0], "offsets must lead from 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_problems_that_do_not_fit_together(name: str) -> None:
    data: dict[str, Any] = {
        "emissions": np.zeros((2, 2)), "order": 1, "coarse": [0, 0], "offsets": [0, 2, 4, 6],
        "sequences": [0, 1, 3, 3, 0, 2], "weights": [1.0, 2.0, -np.inf],
    }  # fmt: skip
    certify_labels(make_problem("ngrams", data), [0, 1], [set(), set()])
    value, reason = WRONG[name]
    with pytest.raises(CertificateError, match=reason):
        certify_labels(make_problem("ngrams", data | {name: value}), [0, 1], [set(), set()])
    twice = data | {"sequences": [0, 1, 3, 3, 0, 1]}
    with pytest.raises(CertificateError, match="sequence 2 is listed twice"):
        certify_labels(make_problem("ngrams", twice), [0, 1], [set(), set()])


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> certus.Tagger:
    path = tmp_path_factory.mktemp("certificates") / "train.conllu"
    path.write_text(invented.conllu(40, 1), "utf-8")
    return certus.Tagger("upos+feats", "pruned-crf", order=3, epochs=2).fit(path)


def test_taggers_certify(tagger: certus.Tagger, tmp_path: Path) -> None:
    words = ["the", "dog", "barks", "unheard"]
    found = tagger.tag(words, certificate=True)
    verdict = certus.verify((tagger, words), found)
    assert verdict
    assert verdict.epsilon is not None
    assert verdict.epsilon < 1e-4
    assert float(verdict.score or 0) == pytest.approx(found.score, rel=1e-14)
    legal = certus.chain.Automaton(tagger.labels, ~np.eye(len(tagger.labels), dtype=bool))
    allowed = [tagger.labels[:2], None, tagger.labels[1:], None]
    constraints: dict[str, Any]
    for constraints in ({"allowed": allowed}, {"legal": legal}, {"dictionary": {"dog": tagger.labels[-2:]}}):
        found = tagger.tag(words, certificate=True, **constraints)
        stated = tagger.state_problem(words, **constraints)
        assert certus.verify(stated, found)
        with pytest.raises(CertificateError, match="of another problem"):
            certus.verify((tagger, words), found)
    only: dict[str, Any] = {"allowed": [[tagger.labels[0]]] * 4, "legal": legal}
    nothing = tagger.tag(words, certificate=True, infeasible="return", **only)
    assert str(certus.verify(tagger.state_problem(words, **only), nothing)) == "proven: nothing is possible"
    with pytest.raises(certus.InvalidInput, match="k must be 1, not 2"):
        tagger.tag(words, k=2, certificate=True)  # type: ignore[call-overload]
    assert certus.verify((tagger, []), tagger.tag([], certificate=True)).score == 0


@pytest.mark.parametrize(
    ("learner", "options"),
    [("pruned-crf", {"order": n}) for n in (1, 2, 3, 4)] + [("crf", {}), ("perceptron", {}), ("hmm", {})],
)
def test_scores_are_those_of_the_checker(learner: str, options: dict[str, Any], tmp_path: Path) -> None:
    """They are sums in double precision, however numbers are added up during the search."""
    (tmp_path / "train.conllu").write_text(invented.conllu(60, 1), "utf-8")
    tagger = certus.Tagger("upos+feats", learner, **options).fit(tmp_path / "train.conllu")
    for words in ([token[0] for token in tokens] for tokens in invented.tokens(20, 7)):
        found, best = tagger.tag(words, certificate=True), tagger.tag(words, k=5)
        exact = certus.verify((tagger, words), found).score
        assert found.score == found.bound == best[0].score == pytest.approx(float(exact or 0), rel=1e-14)
        assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)


def test_others_are_refused_by_name(tagger: certus.Tagger, tmp_path: Path) -> None:
    (tmp_path / "train.conllu").write_text(invented.conllu(20, 1), "utf-8")
    spectral = certus.Tagger("upos", "refinement", hidden=1).fit(tmp_path / "train.conllu")
    with pytest.raises(certus.InvalidInput, match="no certificates of this learner's answers"):
        spectral.tag(["the"], certificate=True)


@pytest.mark.parametrize(
    ("learner", "options"),
    [("hmm", {}), ("latent-crf", {"latent": 2}), ("refinement", {"estimator": "em", "hidden": 2})],
)
def test_generative_and_latent_taggers(learner: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Their answers are proven as those of chains and of latent chains are, under constraints, too."""
    (tmp_path / "train.conllu").write_text(invented.conllu(20, 1), "utf-8")
    tagger = certus.Tagger("upos", learner, **options).fit(tmp_path / "train.conllu")
    words = ["the", "dog", "sees", "unknown"]
    legal = certus.chain.Automaton(tagger.labels, ~np.eye(len(tagger.labels), dtype=bool))
    settings: list[dict[str, Any]] = [
        {},
        {"allowed": [None, tagger.labels[:2], None, None]},
        {"legal": legal},
    ]
    for constraints in settings:
        found = tagger.tag(words, certificate=True, **constraints)
        assert found.optimal
        problem = tagger.state_problem(words, **constraints)
        assert str(certus.verify(problem, found)).startswith("proven: ")
        if learner == "hmm":
            assert certus.verify(problem, found).score == pytest.approx(found.score, abs=1e-4)
    for short in ([], ["dog"]):
        assert certus.verify(tagger.state_problem(short), tagger.tag(short, certificate=True))
