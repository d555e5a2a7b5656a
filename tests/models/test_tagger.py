"""Taggers learn invented languages, and answer as they should: the same, whatever the way."""

from __future__ import annotations

import io
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus import Status, Tagger
from certus.formats import Sentence, Target, build, read
from certus.learn.learners import LEARNERS
from tests.models import invented
from tests.reference.chain import Scores, all_scores, best_of, log_sum, marginals

EXACT = ("perceptron", "hmm")
UNFEATURED = ("hmm", "refinement")
SEVERAL = [name for name in LEARNERS if name != "refinement"]  # those that have more than one answer
QUICK: dict[str, dict[str, Any]] = {name: {} if name in UNFEATURED else {"epochs": 5} for name in LEARNERS}
QUICK["refinement"] = {"hidden": 2, "smoothing": 0.1, "rare": 2}
pytestmark = pytest.mark.filterwarnings("ignore::certus.learn.refinement.RefinementWarning")
QUICK["latent-crf"] = {
    "epochs": 40,
    "latent": 2,
}  # iterations of L-BFGS go less far than passes of the others


def made(learner: str, target: str = "upos+feats", **options: Any) -> Tagger:
    return Tagger(target, learner, **{**QUICK[learner], **options})


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    """One tagger of each kind, for all that does not train."""
    return {name: made(name).fit(invented.sentences(300, 1)) for name in LEARNERS}


@pytest.fixture(scope="module")
def chunker(tmp_path_factory: pytest.TempPathFactory) -> Tagger:
    """A perceptron that looks at parts of speech."""
    file = tmp_path_factory.mktemp("chunks") / "train.txt"
    file.write_text(invented.columns(200, 1), encoding="utf-8")
    return Tagger("chunk", "perceptron", epochs=3).fit(file)


def labels_of(tagger: Tagger, words: list[list[str]], **options: Any) -> list[list[str]]:
    return [answer.labels for answer in tagger.tag_batch(words, **options)]


# ---------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("target", "floor"), [("upos", 0.94), ("upos+feats", 0.93), ("feats", 0.94)])
def test_every_learner_learns(learner: str, target: str, floor: float) -> None:
    if learner == "refinement":
        floor -= 0.03  # it observes one thing of a token: the word, or the ending of a rare one
    elif learner in ("crf", "latent-crf") and target == "upos+feats":
        floor -= 0.02  # those of them that cannot carry what they learned of a feature to other labels
    tagger = made(learner, target).fit(invented.sentences(300, 1))
    test = list(invented.sentences(100, 3))
    right = [Target(target).labels(sentence) for sentence in test]
    found = [answer.labels for answer in tagger.tag_batch(test)]
    assert invented.share(found, right) >= floor
    words = {word for sentence in invented.sentences(300, 1) for word in sentence.words}
    unknown = [[word not in words for word in sentence.words] for sentence in test]
    pairs = [
        f == r
        for new, f_, r_ in zip(unknown, found, right, strict=True)
        for u, f, r in zip(new, f_, r_, strict=True)
        if u
    ]
    assert len(pairs) > 50
    assert sum(pairs) / len(pairs) >= floor - 0.15, "words never seen are told by their endings"


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_file_a_stream_and_sentences_teach_the_same(learner: str, tmp_path: Path) -> None:
    text = invented.conllu(60, 1)
    file = tmp_path / "train.conllu"
    file.write_text(text, encoding="utf-8")
    sources: list[Any] = [file, str(file), list(read(file)), read(file), io.StringIO(text)]
    words = invented.words(20, 4)
    answers = [labels_of(made(learner).fit(source), words) for source in sources]
    assert all(answer == answers[0] for answer in answers)


def test_columns_teach_joint_labels(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(invented.columns(200, 1), encoding="utf-8")
    tagger = Tagger("pos|chunk", "perceptron", epochs=4).fit(file)
    assert tagger.columns == ["word"], "what is predicted is nothing to look at"
    found = labels_of(tagger, invented.words(50, 3))
    right = [[f"{pos}|{chunk}" for _, pos, _, chunk in one] for one in invented.tokens(50, 3)]
    assert invented.share(found, right) > 0.9


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_seed_gives_the_same_model_whatever_the_threads(learner: str, tmp_path: Path) -> None:
    models = []
    for n, threads in enumerate((1, 3, 1)):
        tagger = made(learner).fit(invented.sentences(80, 1), invented.sentences(30, 2), threads=threads)
        tagger.save(tmp_path / str(n))
        models.append((tmp_path / str(n)).read_bytes())
    assert models[0] == models[1] == models[2]


def test_another_seed_gives_another_model() -> None:
    weights = [
        made("perceptron", seed=seed).fit(invented.sentences(80, 1))._arrays["rows"] for seed in (0, 1)
    ]
    assert not np.array_equal(weights[0], weights[1])


def test_labels_that_training_lacks_are_counted_and_wrong() -> None:
    dev = [build(["lo", "xyz", "."], {"upos": ["DET", "WEIRD", "PUNCT"]})]
    for learner in LEARNERS:
        tagger = made(learner, "upos").fit(invented.sentences(100, 1), dev)
        assert tagger.description["dev"] == {
            "name": "sentences",
            "sentences": 1,
            "tokens": 3,
            "unseen": 1,
        }
        assert tagger.description["accuracy"]["dev"] == pytest.approx(2 / 3)


def test_the_description_says_what_was_done(tmp_path: Path) -> None:
    file = tmp_path / "train.conllu"
    file.write_text(invented.conllu(30, 1), encoding="utf-8")
    tagger = made("pruned-crf", order=3).fit(file, metadata={"licence": "CC0"})
    about = tagger.description
    assert about["training"] == {
        "name": "train.conllu",
        "sentences": 30,
        "tokens": sum(map(len, invented.words(30, 1))),
    }
    assert (about["target"], about["learner"], about["order"]) == ("upos+feats", "pruned-crf", 3)
    assert (about["licence"], about["labels"]) == ("CC0", tagger.labels)
    assert "accuracy" not in about
    assert repr(tagger) == f"Tagger('upos+feats', pruned-crf, {len(tagger.labels)} labels)"
    assert repr(Tagger()) == "Tagger('upos', pruned-crf, not trained)"


def test_templates_of_ones_own() -> None:
    tagger = made("perceptron", "upos", templates="suffix(word[0], 1..2)").fit(invented.sentences(100, 1))
    assert tagger.tag(["xyzet"]).labels == tagger.tag(["vwket"]).labels == ["VERB"]
    assert tagger.description["templates"] == ["suffix(word[0], 1..2)"]


@pytest.mark.parametrize(("labels", "lines"), [(1000, 13), (1001, 15)])
def test_many_bundles_look_at_the_neighbours_endings(labels: int, lines: int) -> None:
    teach = [build(["a", "b"], {"upos": ["X", "X"], "feats": [f"F=V{n}", f"F=V{n}"]}) for n in range(labels)]
    tagger = made("perceptron", "upos+feats", epochs=1).fit(teach)
    assert len(tagger.description["templates"]) == lines


@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_labels_are_counted_for_the_methods_that_try_the_commonest_first(
    learner: str, tmp_path: Path
) -> None:
    sentences = list(invented.sentences(40, 1))
    Tagger("upos", learner, epochs=1).fit(sentences).save(tmp_path / "m.certus")
    tagger: Any = certus.load(tmp_path / "m.certus")
    seen = [label for sentence in sentences for label in Target("upos").labels(sentence)]
    assert tagger.chain.prior.tolist() == [seen.count(label) for label in tagger.labels]
    emissions = tagger.emissions(sentences[0])
    first = tagger.chain.decode(emissions, method="staggered")
    assert first.score == pytest.approx(tagger.chain.decode(emissions).score)


def test_what_words_were_seen_with_is_part_of_the_model(tmp_path: Path) -> None:
    def one(word: str, tag: str) -> Sentence:
        return next(iter(read(io.StringIO(f"{word} {tag}\n\n"), format="columns", columns="word pos")))

    # Rare words are nouns, whatever they look like; frequent ones what they were.
    teach = [one(w, t) for w, t in (("is", "V"), ("the", "D")) for _ in range(12)]
    teach += [one(f"w{n}", "N") for n in range(12)]
    tagger = Tagger("pos", "perceptron", templates="seen(word[0])", min_count=1).fit(teach)
    tagger.save(tmp_path / "m.certus")
    for model in (tagger, certus.load(tmp_path / "m.certus")):
        assert [model.tag([word]).labels for word in ("is", "the", "new")] == [["V"], ["D"], ["N"]]


def test_crf_of_higher_order_is_a_pruned_one() -> None:
    assert Tagger("upos", "crf", order=2).learner == Tagger("upos", "pruned-crf", order=2).learner


# --------------------------------------------------------------------------------------------- answering


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_by_one_or_many_at_once(learner: str, taggers: dict[str, Tagger]) -> None:
    words, tagger = invented.words(60, 5), taggers[learner]
    one_by_one = [tagger.tag(sentence, confidence=True) for sentence in words]
    for threads in (1, 3):
        several = tagger.tag_batch(words, confidence=True, threads=threads)
        for one, other in zip(one_by_one, several, strict=True):
            assert (one.labels, one.score, one.probability) == (other.labels, other.score, other.probability)
            assert one.confidence == other.confidence


@pytest.mark.parametrize("learner", EXACT)
def test_exact_learners_prove_their_answers(learner: str, taggers: dict[str, Tagger]) -> None:
    for answer in taggers[learner].tag_batch(invented.words(30, 5)):
        assert answer.status is Status.OPTIMAL
        assert answer.bound == pytest.approx(answer.score, abs=1e-4)
        assert answer.gap == pytest.approx(0, abs=1e-4)
        assert repr(answer).endswith("optimal)")


def test_a_pruned_crf_claims_no_more_than_it_knows(taggers: dict[str, Tagger]) -> None:
    for answer in taggers["pruned-crf"].tag_batch(invented.words(30, 5)):
        assert answer.bound >= answer.score
        assert answer.status in (Status.OPTIMAL, Status.FEASIBLE)
        assert not answer.optimal or answer.bound == pytest.approx(answer.score)


@pytest.mark.parametrize("seed", range(8))
def test_the_perceptron_equals_brute_force_on_its_emissions(seed: int) -> None:
    tagger = made("perceptron", "upos", epochs=2).fit(invented.sentences(20, seed))
    words = invented.words(1, seed + 50)[0][:5]
    emissions, chain = tagger.emissions(words), tagger.chain
    assert emissions.shape == (len(words), len(tagger.labels))
    parts = (emissions, chain.transitions, chain.start, chain.end)
    problem = Scores(*(np.asarray(part, np.float64) for part in parts))
    totals = all_scores(problem)
    answers = tagger.tag(words, k=4, confidence=True)
    ids = [[tagger.labels.index(label) for label in answer.labels] for answer in answers]
    assert [answer.score for answer in answers] == pytest.approx(best_of(totals, 4), abs=1e-3)
    assert [totals[tuple(path)] for path in ids] == pytest.approx([one.score for one in answers], abs=1e-3)
    assert answers[0].probability == pytest.approx(np.exp(totals.max() - log_sum(totals)), abs=1e-4)
    expected = marginals(problem)[np.arange(len(words)), ids[0]]
    assert answers[0].confidence == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("learner", SEVERAL)
def test_k_best(learner: str, taggers: dict[str, Tagger]) -> None:
    tagger = taggers[learner]
    for words in invented.words(10, 6):
        several = tagger.tag(words, k=5, confidence=True)
        assert several[0].labels == tagger.tag(words).labels
        assert 1 <= len(several) <= 5
        assert len({tuple(one.labels) for one in several}) == len(several)
        scores = [one.score for one in several]
        assert scores == sorted(scores, reverse=True)
        assert sum(one.probability or 0.0 for one in several) <= 1 + 1e-4
        assert all(one.confidence is None for one in several[1:])
        if learner in EXACT:
            assert len(several) == 5
            assert all(one.optimal and one.bound == pytest.approx(one.score, abs=1e-4) for one in several)


@pytest.mark.parametrize("learner", EXACT)
def test_no_more_answers_than_there_are(learner: str, taggers: dict[str, Tagger]) -> None:
    tagger = taggers[learner]
    assert len(tagger.tag(["lo"], k=1000)) == len(tagger.labels)


@pytest.mark.parametrize("learner", LEARNERS)
def test_confidences_are_probabilities(learner: str, taggers: dict[str, Tagger]) -> None:
    for answer in taggers[learner].tag_batch(invented.words(30, 5), confidence=True):
        assert answer.confidence is not None
        assert answer.probability is not None
        assert all(0 <= p <= 1 for p in answer.confidence)
        assert 0 <= answer.probability <= min(answer.confidence) + 1e-5
    plain = taggers[learner].tag(["lo"])
    assert plain.confidence is None
    assert plain.probability is None


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("confidence", [False, True])
def test_an_empty_sentence(learner: str, k: int, confidence: bool, taggers: dict[str, Tagger]) -> None:
    if k > 1 and learner not in SEVERAL:
        pytest.skip("has one answer only")
    words: list[list[str]] = [["lo"], [], ["."]]
    answers: list[Any] = list(taggers[learner].tag_batch(words, k=k, confidence=confidence))
    empty = answers[1] if k == 1 else answers[1][0]
    assert (empty.labels, empty.status) == ([], Status.OPTIMAL)
    lengths = [len(answer.labels if k == 1 else answer[0].labels) for answer in answers]
    assert lengths == [1, 0, 1]
    assert taggers[learner].tag_batch([], k=k, confidence=confidence) == []


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "x",
        "ß",
        "İ",
        "e\u0301",
        "𝔘𝔫𝔦",
        "👩‍👩‍👧",
        "\u202eabc",
        "\x00",
        "\t",
        "א",
        "日本語",
        "a" * 10000,
        "\ufeff",
    ],
)
def test_odd_words(learner: str, word: str, taggers: dict[str, Tagger]) -> None:
    tagger = taggers[learner]
    answer = tagger.tag([word], confidence=True)
    assert answer.labels[0] in tagger.labels
    assert len(tagger.tag(["lo", word, "."]).labels) == 3


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_very_long_sentence(learner: str, taggers: dict[str, Tagger]) -> None:
    words = [word for sentence in invented.words(700, 7) for word in sentence]
    answer = taggers[learner].tag(words, confidence=True)
    assert answer.confidence is not None
    assert answer.probability is not None
    assert len(answer.labels) == len(answer.confidence) == len(words) > 4000
    assert np.isfinite(answer.score)
    assert 0 <= answer.probability <= 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_allowed_and_dictionary(learner: str, taggers: dict[str, Tagger]) -> None:
    tagger = taggers[learner]
    noun, verb = "NOUN|Case=Gen|Number=Plur", "VERB|Number=Sing|Person=3"
    words = ["lo", "bakolos", "lo"]
    assert tagger.tag(words, allowed=[None, [verb], None]).labels[1] == verb
    assert tagger.tag(words, allowed=[None, [verb, noun], None]).labels[1] in (verb, noun)
    limited = tagger.tag(words, allowed=[["ADP"], [noun], ["PUNCT"]], confidence=True)
    assert limited.labels == ["ADP", noun, "PUNCT"]
    assert limited.confidence == pytest.approx([1, 1, 1], abs=1e-4)
    assert limited.probability == pytest.approx(1, abs=1e-4)
    assert tagger.tag(words, dictionary={"lo": ["ADP"]}).labels[::2] == ["ADP", "ADP"]
    both = tagger.tag(words, dictionary={"lo": ["ADP"]}, allowed=[["PUNCT"], None, None])
    assert both.labels[::2] == ["PUNCT", "ADP"]
    if learner in SEVERAL:
        assert len(tagger.tag(words, allowed=[["ADP"], [noun, verb], ["PUNCT"]], k=5)) == 2
    many = tagger.tag_batch([words, words], allowed=[None, [None, [verb], None]])
    assert many[0].labels == tagger.tag(words).labels
    assert many[1].labels[1] == verb


@pytest.mark.parametrize("learner", LEARNERS)
def test_legal_sequences(learner: str, tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(invented.columns(60, 1), encoding="utf-8")
    options = {"templates": "length(word[0])"} if learner not in UNFEATURED else {}
    if learner == "refinement":
        options["observe"] = "word"
    tagger = made(learner, "chunk", **options).fit(file)
    bio = certus.bio(tagger.labels)

    def ids(labels: list[str]) -> list[int]:
        return [tagger.labels.index(label) for label in labels]

    words = [["abc"] * n for n in range(1, 6)]
    first = [[["I-NP", "B-PP"], *([None] * (len(one) - 1))] for one in words]
    free = tagger.tag_batch(words, allowed=first)
    legal = tagger.tag_batch(words, allowed=first, legal=bio, confidence=True)
    assert all(bio.accepts(ids(answer.labels)) for answer in legal)
    assert all(answer.labels[0] == "B-PP" for answer in legal)
    if learner not in SEVERAL:
        return  # it is not the probability of whole sequences that is largest
    for one, other in zip(free, legal, strict=True):
        assert other.score <= one.score + 1e-4
    assert tagger.tag(words[-1], allowed=bio).labels == tagger.tag(words[-1], legal=bio).labels
    same = zip(tagger.tag_batch(words, allowed=bio), tagger.tag_batch(words, legal=bio), strict=True)
    assert all((one.labels, one.score) == (other.labels, other.score) for one, other in same)
    with pytest.raises(certus.InvalidInput, match="allowed and legal are both automata"):
        tagger.tag(words[-1], allowed=bio, legal=bio)
    for answer in tagger.tag(words[-1], legal=bio, k=4):
        assert bio.accepts(ids(answer.labels))


@pytest.mark.parametrize("learner", LEARNERS)
def test_where_nothing_is_possible(learner: str, tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(invented.columns(60, 1), encoding="utf-8")
    options = {"templates": "word[0]"} if learner not in UNFEATURED else {}
    if learner == "refinement":
        options["observe"] = "word"
    tagger = made(learner, "chunk", **options).fit(file)
    bio = certus.bio(tagger.labels)
    for confidence in (False, True):
        words, allowed = [["lo"], ["lo", "lo"]], [[["I-NP"]], None]
        one, other = tagger.tag_batch(
            words, allowed=allowed, legal=bio, confidence=confidence, infeasible="return"
        )
        assert (one.status, one.labels, one.score, one.position) == (Status.INFEASIBLE, [], -np.inf, 0)
        assert len(other.labels) == 2
        if learner in SEVERAL:
            none = tagger.tag(
                ["lo"], allowed=[["I-NP"]], legal=bio, confidence=confidence, k=2, infeasible="return"
            )
            assert list(none) == []
            assert none.exhausted
        with pytest.raises(certus.Infeasible, match=r"sentence 0: no label sequence is possible: .* word 0"):
            tagger.tag_batch(words, allowed=allowed, legal=bio, confidence=confidence)
        with pytest.raises(certus.Infeasible, match=r"^no label sequence is possible") as caught:
            tagger.tag(["lo"], allowed=[["I-NP"]], legal=bio, confidence=confidence)
        assert caught.value.position == 0
    with pytest.raises(certus.InvalidInput, match='infeasible must be "raise" or "return"'):
        tagger.tag(["lo"], infeasible="ignore")  # type: ignore[call-overload]


def test_constraints_do_not_pile_up(taggers: dict[str, Tagger]) -> None:
    tagger = taggers["perceptron"]
    anything = np.ones((len(tagger.labels),) * 2, bool)
    for _ in range(20):
        tagger.tag(["lo"], legal=certus.Automaton(tagger.labels, anything))
    decoder: Any = tagger._decoder
    assert len(decoder._constrained) <= 1


def test_other_columns_come_as_mappings_or_sentences(chunker: Tagger) -> None:
    assert chunker.columns == ["word", "pos"]
    words, pos = ["lo", "baka", "."], ["DET", "NOUN", "PUNCT"]
    expected = ["B-NP", "I-NP", "O"]
    assert chunker.tag({"word": words, "pos": pos}).labels == expected
    assert chunker.tag({"pos": pos, "form": words, "more": []}).labels == expected
    text = io.StringIO("lo DET X\nbaka NOUN X\n. PUNCT X\n")
    (sentence,) = read(text, "columns")
    assert isinstance(sentence, Sentence)
    assert chunker.tag(sentence).labels == expected


def test_an_hmm_asks_for_words_only(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(invented.columns(60, 1), encoding="utf-8")
    tagger = made("hmm", "chunk").fit(file)
    assert tagger.columns == ["word"]
    assert "templates" not in tagger.description
    assert len(tagger.tag(["lo", "."]).labels) == 2


def test_an_hmm_holds_few_emissions_at_a_time(
    taggers: dict[str, Tagger], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*invented.words(20, 8), []]
    expected = [answer.labels for answer in taggers["hmm"].tag_batch(words)]
    for most in (1, 400, 4000):
        monkeypatch.setattr("certus.learn.decoder.MOST_BYTES", most)
        assert [answer.labels for answer in taggers["hmm"].tag_batch(words)] == expected


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.tag("a text"), "a sentence is a list of words, not a text: 'a text'"),
        (lambda t: t.tag(["a", None]), "word 1 of the sentence is None, which is no text"),
        (lambda t: t.tag(["\udcff"]), "word 0 of the sentence is '\\udcff', which is no text"),
        (lambda t: t.tag(["a"], k=0), "k must be a whole number of at least 1, not 0"),
        (lambda t: t.tag_batch([["a"]], threads=0), "threads must be a whole number of at least 1, not 0"),
        (lambda t: t.tag({"pos": ["X"]}), "the tagger looks at column 'word', which the sentence has not"),
        (lambda t: t.tag(["a"], allowed=[["NONE"]]), "'NONE', allowed for 'a', is no label of the tagger"),
        (lambda t: t.tag(["a"], allowed=["ADP"]), r"are a text; give a list: \['ADP'\]"),
        (lambda t: t.tag(["a"], allowed=[[]]), "no label at all is allowed for 'a'"),
        (lambda t: t.tag(["a"], allowed=[]), "sentence 0: allowed is for 0 words, but it has 1"),
        (lambda t: t.tag_batch([["a"]], allowed=[]), "allowed is for 0 sentences, but there are 1"),
        (lambda t: t.tag(["a"], dictionary={"b": ["NONE"]}), "'NONE', allowed for 'b', is no label"),
        (
            lambda t: t.tag(["a"], legal=certus.bio(["O", "B-X"])),
            "legal is over other labels than the tagger",
        ),
    ],
)
def test_refusals_in_tagging(call: Any, message: str, taggers: dict[str, Tagger]) -> None:
    with pytest.raises(certus.InvalidInput, match=message.replace("(", r"\(").replace("\\u", "\\\\u")):
        call(taggers["perceptron"])


def test_refusals_of_columns(chunker: Tagger) -> None:
    with pytest.raises(certus.InvalidInput, match="looks at the columns word, pos: give a mapping"):
        chunker.tag(["lo"])
    with pytest.raises(certus.InvalidInput, match="column 'pos' has 1 values for 2 words"):
        chunker.tag({"word": ["lo", "."], "pos": ["DET"]})
    with pytest.raises(certus.InvalidInput, match="there is no column 'pos'"):
        chunker.tag(build(["lo"]))


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_untrained_tagger(learner: str, tmp_path: Path) -> None:
    tagger = made(learner)
    for ask in (
        lambda: tagger.tag(["lo"]),
        lambda: tagger.tag(["lo"], allowed=[["N"]]),
        lambda: tagger.save(tmp_path / "m"),
        lambda: tagger.emissions(["lo"]),
        lambda: tagger.chain,
        lambda: tagger.known,
    ):
        with pytest.raises(certus.NotFitted, match="this tagger is not trained yet: call fit"):
            ask()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("upos", "svm"),
            {},
            "there is no learner 'svm'; there are pruned-crf, perceptron, crf, latent-crf, hmm, refinement",
        ),
        (("upos", "perceptron"), {"rate": 1.0}, "rate is no option of the learner perceptron; those are"),
        (("upos", "pruned-crf"), {"epochs": 0}, "epochs is 0; it must be at least 1"),
        (("upos", "pruned-crf"), {"epochs": 2.5}, "epochs is 2.5; a whole number is needed"),
        (("upos", "pruned-crf"), {"rate": "fast"}, "rate is 'fast'; a number is needed"),
        (("upos", "hmm"), {"seed": 1}, "seed is no option of the learner hmm; those are rare, suffixes"),
        (("upos", "pruned-crf"), {"order": 99}, "order is 99; orders go up to"),
        (("upos", "pruned-crf"), {"rate": float("nan")}, "rate is nan; it must be at least"),
        (("upos", "pruned-crf"), {"wanted": (4,)}, "at least two numbers, each at least 1"),
        (("upos", "perceptron"), {"decoder": "beam"}, "decoder is 'beam'; there are auto, viterbi"),
        (("upos", "perceptron"), {"templates": "word[0]\nsufix(word[0])"}, "templates, line 2: there is no"),
        (("upos", "hmm"), {"templates": "word[0]"}, "the learner hmm looks at words alone"),
        (("upos+",), {}, "lacks a column name"),
    ],
)
def test_refusals_of_options(arguments: tuple[str, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        Tagger(*arguments, **options)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.conllu", None, "there is no file .*a.conllu"),
        ("a.conllu", b"", "a.conllu: holds no sentence"),
        ("a.conllu", b"\n\n", "a.conllu: holds no sentence"),
        ("a.conllu", b"1 lo lo DET _ _ 0 root _ _\n\n", "a.conllu:1: there is no tab in this line"),
        ("a.conllu", b"1\tlo\tDET\n\n", "a.conllu:1: 3 columns instead of 10: this is not CoNLL-U"),
        ("a.conllu", b"\x89PNG\r\n\x1a\n\x00", "a.conllu:1: "),
        ("a.conllu", b"1\tlo\xff\t_\tX\t_\t_\t_\t_\t_\t_\n\n", "a.conllu:1: .*UTF-8"),
        ("a.conllu", b"1\tlo\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "all labels of target 'upos' are '_'"),
        ("a.txt", b"just some text , you see .\n", "a.txt:1: there is no column 'upos'"),
        ("a.txt", b"a DT B-NP\nb NN I-NP\n\n", "a.txt:1: there is no column 'upos'; the columns are form"),
    ],
)
def test_refusals_of_training_data(
    learner: str, name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    tagger = made(learner, "upos")
    with pytest.raises(certus.InvalidInput, match=message):
        tagger.fit(tmp_path / name)
    with pytest.raises(certus.InvalidInput, match="not trained yet"):
        tagger.tag(["lo"])


def test_refusals_of_sentences() -> None:
    pairs: Any = [(["lo"], ["DET"])]
    with pytest.raises(certus.InvalidInput, match="tuple is no annotated sentence: give a file, or"):
        Tagger().fit(pairs)
    with pytest.raises(certus.InvalidInput, match="the training data hold no sentence"):
        Tagger().fit([])
    with pytest.raises(certus.InvalidInput, match="the dev data hold no token"):
        Tagger().fit(invented.sentences(3, 1), [])
    with pytest.raises(certus.InvalidInput, match="threads must be a whole number of at least 1, not 0"):
        Tagger().fit(invented.sentences(3, 1), threads=0)


def test_a_fit_that_fails_leaves_the_tagger_as_it_was() -> None:
    tagger = made("perceptron", "upos").fit(invented.sentences(50, 1))
    before = tagger.tag(["lo", "."]).labels, tagger.description
    with pytest.raises(certus.InvalidInput):
        tagger.fit([])
    assert (tagger.tag(["lo", "."]).labels, tagger.description) == before


def test_proofs_are_switched_off_where_they_cost_something() -> None:
    data = list(invented.sentences(40, 1))
    tagger = Tagger("upos", "pruned-crf", epochs=1).fit(data)
    assert tagger.proof
    tagger.proof = False
    assert not pickle.loads(pickle.dumps(tagger)).proof
    exact = Tagger("upos", "perceptron", epochs=1).fit(data)
    with pytest.raises(certus.InvalidInput, match="only a pruned CRF answers without a proof"):
        exact.proof = False


@pytest.mark.parametrize("learner", ["pruned-crf", "perceptron", "hmm", "latent-crf"])
def test_limits_of_time(learner: str) -> None:
    short: dict[str, Any] = {} if learner == "hmm" else {"epochs": 2}
    tagger = certus.Tagger("upos", learner, **short).fit(invented.sentences(60, 1))
    words = invented.words(12, 2)
    with pytest.raises(certus.InvalidInput, match="seconds is -1; it must be a number of at least 0"):
        tagger.tag(words[0], seconds=-1)
    for found, right in zip(tagger.tag_batch(words, seconds=0), tagger.tag_batch(words), strict=True):
        assert right.optimal
        assert found.score <= right.score <= found.bound < math.inf
        assert found.status in (certus.Status.OPTIMAL, certus.Status.SECONDS)
    assert [a.labels for a in tagger.tag_batch(words, seconds=60)] == [
        a.labels for a in tagger.tag_batch(words)
    ]
