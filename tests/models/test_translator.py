"""Translators: training, answers, files, terms, and tables of other tools."""

from __future__ import annotations

import copy
import gzip
import io
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.errors import FormatError, Infeasible, InvalidInput, ModelError, NotFitted, SmoothingWarning
from certus.formats import moses
from certus.learn.mira import Candidates, count_matches, find_bleu, learn_weights
from certus.learn.progress import Progress
from certus.translate import OptimalBeam, Stack, Terms, Weights, read_terms

NOUNS = {"Haus": "house", "Buch": "book", "Auto": "car", "Hund": "dog", "Kind": "child"}
ADJECTIVES = {"klein": "small", "gross": "big", "alt": "old"}
VERBS = {"schläft": "sleeps", "lebt": "lives"}


def make_pairs() -> list[tuple[list[str], list[str]]]:
    """Return sentences of a language whose adjectives follow their nouns, and their translations."""
    pairs = []
    for noun, translated in NOUNS.items():
        for adjective, quality in ADJECTIVES.items():
            for verb, action in VERBS.items():
                pairs.append((["das", noun, adjective, verb], ["the", quality, translated, action]))
        pairs.append((["das", noun], ["the", translated]))
    return pairs


@pytest.fixture(scope="module")
def translator() -> certus.Translator:
    pairs = make_pairs()
    sides = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return certus.Translator(tuning=2, k=5).fit(*sides, dev=(sides[0][:8], sides[1][:8]))


def write_tables(folder: Path) -> tuple[Path, certus.LanguageModel]:
    table = folder / "table"
    table.write_text(
        "das ||| the ||| 0.9 0.5 ||| 0-0 ||| 3 3 3\ndas ||| it ||| 0.1 0.5\n"
        "Haus ||| house ||| 1 1\nHaus ||| home ||| 0.25 0.5\ndas Haus ||| the house ||| 0.5 0.5\n",
        encoding="utf-8",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)  # of so few words
        return table, certus.LanguageModel(order=2).fit([["the", "house"], ["the", "home"], ["it"]] * 3)


def test_unseen_sentences_are_translated_and_proven(translator: certus.Translator) -> None:
    answer = translator.translate("das Kind alt lebt")
    assert answer.text == "the old child lives"
    assert answer.optimal
    assert answer.bound == answer.score
    assert sorted(i for one in answer.phrases for i in range(one.source_begin, one.source_end)) == [
        0,
        1,
        2,
        3,
    ]
    weighted = [
        value for values in answer.features.values() for value in values
    ] @ translator.weights.as_array()
    assert math.isclose(answer.score, weighted, rel_tol=1e-9)


def test_the_k_best_are_in_order_and_different(translator: certus.Translator) -> None:
    answers = translator.translate("das Haus klein schläft", k=8, distinct=True)
    assert isinstance(answers, certus.KBest)
    assert len(answers) == 8
    assert list(answers.scores) == sorted(answers.scores, reverse=True)
    assert len({answer.text for answer in answers}) == 8
    assert all(answer.optimal for answer in answers)


def test_batches_and_threads_change_nothing(translator: certus.Translator) -> None:
    sentences = [" ".join(pair[0]) for pair in make_pairs()[:9]] + ["", "unbekannt", "das unbekannt Haus"]
    alone = [translator.translate(sentence) for sentence in sentences]
    together = translator.translate_batch(sentences, threads=2)
    assert [(one.text, one.score) for one in alone] == [(one.text, one.score) for one in together]
    assert together[-3].text == ""
    assert together[-3].optimal
    assert together[-2].text == "unbekannt"
    assert together[-2].features["UnknownWordPenalty"] == (-100.0,)


def test_the_problem_of_a_sentence_has_the_same_optimum(translator: certus.Translator) -> None:
    problem = translator.make_problem("das Haus klein schläft")
    best = translator.translate("das Haus klein schläft")
    for method in ("auto", "ilp"):
        answer = problem.decode(method=method)
        assert math.isclose(answer.score, best.score, rel_tol=1e-9)
        assert answer.text == best.text


def test_no_stack_decoder_scores_more(translator: certus.Translator) -> None:
    for pair in make_pairs():
        best = translator.translate(pair[0]).score
        for width in (1, 3, 100):
            assert translator.translate(pair[0], method=Stack(width=width)).score <= best + 1e-9


def test_terms_are_forced_and_forbidden(translator: certus.Translator) -> None:
    sentence = "das Haus klein schläft"
    plain = translator.translate(sentence)
    forced = translator.translate(sentence, terms=Terms({("Haus", "klein"): ("tiny", "home")}))
    assert "tiny home" in forced.text
    assert forced.optimal
    forbidden = translator.translate(sentence, terms=Terms(forbidden=(("small", "house"),)))
    assert "small house" not in forbidden.text
    assert forbidden.optimal
    assert forbidden.score < plain.score
    nothing = Terms(forbidden=tuple((word,) for word in plain.words))
    with pytest.raises(Infeasible, match="sentence 1: "):
        translator.translate_batch(["", sentence], terms=nothing)
    answer = translator.translate(sentence, terms=nothing, infeasible="return")
    assert answer.status is certus.Status.INFEASIBLE


def test_the_longer_of_two_forced_terms_counts() -> None:
    found = Terms({("a", "b"): ("x",), ("b",): ("y",), ("b", "c", "d"): ("z",)}).find(
        ["a", "b", "c", "d", "b"]
    )
    assert len(found) == 2
    with pytest.raises(InvalidInput, match="forbidden"):
        Terms({("a",): ("x", "y")}, (("y",),))


def test_a_model_file_gives_the_same_answers(translator: certus.Translator, tmp_path: Path) -> None:
    path = tmp_path / "model.certus"
    translator.save(path)
    loaded = certus.load(path)
    assert isinstance(loaded, certus.Translator)
    for other in (loaded, copy.deepcopy(translator), pickle.loads(pickle.dumps(translator))):
        assert other.translate("das Kind alt lebt").score == translator.translate("das Kind alt lebt").score
    assert loaded.weights == translator.weights
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelError):
        certus.load(path)
    with pytest.raises(NotFitted):
        certus.Translator().translate("das")


def test_training_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    pairs, path = make_pairs(), tmp_path / "kept"
    sides = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    dev = sides[0][:8], sides[1][:8]
    whole = certus.Translator(tuning=3, k=5).fit(*sides, dev=dev)

    def stop(progress: Progress) -> None:
        if progress.dev is not None and progress.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        certus.Translator(tuning=3, k=5).fit(*sides, dev=dev, checkpoint=path, progress=stop)
    told: list[Progress] = []
    again = certus.Translator(tuning=3, k=5).fit(*sides, dev=dev, checkpoint=path, progress=told.append)
    stages = [progress.stage for progress in told if progress.stage is not None]
    assert [stage.split()[0] for stage in stages] == ["extracting", "estimating", "tuning"]
    assert again.description["training"] == whole.description["training"]
    assert np.allclose(again.translate("das Kind alt lebt").score, again.translate("das Kind alt lebt").bound)
    with pytest.raises(ModelError, match="another training run"):
        certus.Translator(tuning=1).fit(*sides, dev=dev, checkpoint=path)


def test_tables_of_moses_are_read(tmp_path: Path) -> None:
    table, model = write_tables(tmp_path)
    translator = certus.Translator.from_tables(table, model)
    answer = translator.translate("das Haus")
    assert answer.text == "the house"
    packed = tmp_path / "table.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    assert certus.Translator.from_tables(packed, model).translate("das Haus").score == answer.score
    with pytest.raises(InvalidInput, match="none of the 1 target words of the table, such as 'la'"):
        certus.Translator.from_tables(io.StringIO("das ||| la ||| 1\n"), model)
    logs = io.StringIO("das ||| the ||| -1\nHaus ||| house ||| 0\n")
    found = certus.Translator.from_tables(logs, model).translate("das Haus")
    assert math.isclose(found.features["TranslationModel"][0], -math.log(10), rel_tol=1e-6)


def test_the_best_phrases_of_a_span_are_searched() -> None:
    random = np.random.default_rng(5)
    words = list("bcdefgh")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        texts = [random.choice(words, size=random.integers(1, 6)).tolist() for _ in range(60)]
        model = certus.LanguageModel(order=3).fit(texts)
    targets = sorted({tuple(random.choice(words, size=random.integers(1, 4)).tolist()) for _ in range(80)})
    scores = dict(zip(targets, random.uniform(0.1, 1, len(targets)).round(6).tolist(), strict=True))
    lines = [f"a ||| {' '.join(target)} ||| {score:.6f}\n" for target, score in scores.items()]
    for options in (3, 20, 200):
        translator = certus.Translator.from_tables(io.StringIO("".join(lines)), model, options=options)
        weights = translator.weights

        def rate(target: tuple[str, ...], weights: Weights = weights) -> float:
            inside = model.score(list(target), begin=False, end=False)
            return weights.translation[0] * math.log(scores[target]) + weights.language_model * inside

        found = {tuple(phrase.target) for phrase in translator.make_problem("a").phrases}
        assert found == set(sorted(targets, key=rate, reverse=True)[:options])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a ||| b\n", 1, "2 fields"),
        ("a ||| b ||| 1\n\n", 2, "1 fields"),
        ("a ||| ||| 1\n", 1, "target phrase has no words"),
        ("||| b ||| 1\n", 1, "source phrase has no words"),
        ("a ||| b ||| x\n", 1, "no number"),
        ("a ||| b ||| nan\n", 1, "no number"),
        ("a ||| b |||\n", 1, "no scores"),
        ("a ||| b ||| 1\na ||| c ||| 1 2\n", 2, "2 scores"),
        ("a ||| <s> ||| 1\n", 1, "meaning of its own"),
        ("", None, "empty"),
    ],
)
def test_bad_tables_are_refused_with_their_line(
    text: str, line: int | None, reason: str, tmp_path: Path
) -> None:
    path, model = tmp_path / "table", write_tables(tmp_path)[1]
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=reason) as caught:
        certus.Translator.from_tables(path, model)
    assert caught.value.line == line
    assert str(path) in str(caught.value)


def test_weights_of_moses_are_read(tmp_path: Path) -> None:
    path = tmp_path / "moses.ini"
    path.write_text(
        "[feature]\nKENLM order=3\n[weight]\nLM0= 0.5\nTranslationModel0= 0.1 0.2 # two\n", encoding="utf-8"
    )
    table, model = write_tables(tmp_path)
    translator = certus.Translator.from_tables(table, model, weights=path)
    assert translator.weights == Weights(translation=(0.1, 0.2), language_model=0.5)
    for text, reason in (("LM0= x\n", "no numbers"), ("what\n", "line of weights"), ("", "no weights")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=reason):
            moses.read_weights(path)
    path.write_text("LM0= -1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="0 or more"):
        certus.Translator.from_tables(table, model, weights=path)
    path.write_text("Other0= 1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="no feature Other"):
        certus.Translator.from_tables(table, model, weights=path)


def test_terms_are_read(tmp_path: Path) -> None:
    path = tmp_path / "terms"
    path.write_text("das Haus ||| the building\n\n! small house\n", encoding="utf-8")
    assert read_terms(path) == Terms({("das", "Haus"): ("the", "building")}, (("small", "house"),))
    for text, reason in (
        ("a b\n", "to force"),
        ("a |||\n", "no words"),
        ("a ||| b\na ||| c\n", "two things"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=reason):
            read_terms(path)


def test_bad_requests_are_refused(translator: certus.Translator) -> None:
    with pytest.raises(InvalidInput, match="no option"):
        certus.Translator(nothing=1)
    with pytest.raises(InvalidInput, match="no method"):
        translator.translate("das", method="magic")
    with pytest.raises(InvalidInput, match="no word"):
        translator.translate(["two words"])
    with pytest.raises(InvalidInput, match="too long"):
        translator.translate(["das"] * 600)
    with pytest.raises(InvalidInput, match="lagrangian"):
        translator.translate("das", k=2, method="lagrangian")


def test_little_time_gives_an_answer_with_its_gap(translator: certus.Translator) -> None:
    sentence = ["das", "Haus", "klein", "schläft"] * 15
    answer = translator.translate(sentence, seconds=1e-9, limit=None)
    assert answer.words
    assert answer.bound >= answer.score
    assert translator.translate(sentence, method=OptimalBeam(rounds=1)).words


def test_mira_prefers_what_is_close_to_references() -> None:
    reference = ["a", "b", "c", "d", "e"]
    texts = ["a b c d e", "e d c b a", "a b x d e"]
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    lists = [Candidates(np.zeros((0, 2)), np.zeros((0, 9)))]
    lists[0].add(texts, features, reference)
    lists[0].add(texts[:1], features[:1], reference)
    assert len(lists[0].features) == 3
    start = np.array([0.0, 1.0])
    found = learn_weights(lists, start, tuned=np.array([True, True]), floors=np.full(2, -np.inf), step=1)
    assert np.argmax(features @ found) == 0
    assert find_bleu(count_matches(reference, reference)) == 1
    assert find_bleu(count_matches(["x"], reference)) == 0


@pytest.mark.parametrize("kind", ["phrases", "hierarchical"])
def test_words_of_a_file_that_are_not_utf8_are_refused(kind: str, tmp_path: Path) -> None:
    pairs = make_pairs()
    path = tmp_path / "model.certus"
    made = certus.Translator(model=kind, tuning=0).fit([a for a, _ in pairs], [b for _, b in pairs])
    made.save(path)
    path.write_bytes(path.read_bytes().replace(b"sleeps", b"sl\xff\xfeps"))
    with pytest.raises(ModelError, match=rf"{path.name}.*words are not UTF-8"):
        certus.load(path).translate("das Kind alt schläft")
