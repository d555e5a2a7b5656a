"""Refinement HMMs as taggers: what they observe, what they prove, what they tell, on the command line too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import certus
from certus import Status, Tagger
from certus.cli.app import app
from certus.cli.train import list_weaknesses
from certus.errors import InvalidInput
from certus.formats import Target, build, read
from certus.latent import MBR
from certus.learn.refinement import EmRefinement, RefinementWarning, SpectralRefinement
from certus.learn.refinement.choosing import Choice, choose_best
from certus.learn.refinement.observer import Observer
from certus.storage import model_file
from tests.models import invented

quiet = pytest.mark.filterwarnings("ignore::certus.learn.refinement.RefinementWarning")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refined") / "train.txt"
    path.write_text(invented.columns(150, 1), encoding="utf-8")
    return path


def made(file: Path, **options: Any) -> Tagger:
    return Tagger("chunk", "refinement", **{"hidden": 2, "smoothing": 0.1, **options}).fit(file)


# --------------------------------------------------------------------------------------------- observing


def test_words_are_observed_as_finely_as_they_are_frequent() -> None:
    observer = Observer("word", 2)
    sentences = [[["the", "the", "Paris", "Doris", "walking", "1999", "2001"]]]
    observed = observer.learn(sentences, rare=1)
    assert observed == [["the", "the", "\x01Aais", "\x01Aais", "\x01a", "\x019", "\x019"]]
    known = {name: n for n, name in enumerate(dict.fromkeys(observed[0]))}
    new = ["the", "Iris", "tennis", "7", "X-ray", "...", ""]
    names = [*known, "unseen"]
    assert [names[n] for n in observer.number_tokens([[new]], known)] == [
        "the", "\x01Aais", "\x01a", "\x019", "unseen", "unseen", "unseen"
    ]  # fmt: skip
    assert observer.learn([], 1) == []


def test_columns_are_observed_alone_or_with_frequent_words() -> None:
    cells = [[["a", "a", "b"], ["D", "D", "N"]]]
    assert Observer("pos", 4).learn(cells, 1) == [["D", "D", "N"]]
    assert Observer("pos+word", 4).learn(cells, 1) == [["D\x01a", "D\x01a", "N"]]
    assert Observer("pos+form", 4).columns == ("word", "pos")
    assert Observer("form", 4).columns == ("word",)


@pytest.mark.parametrize(
    ("target", "observe", "columns"),
    [
        ("chunk", "auto", ["word", "pos"]),
        ("pos", "auto", ["word"]),
        ("pos|chunk", "auto", ["word"]),
        ("chunk", "pos", ["word", "pos"]),
        ("chunk", "word", ["word"]),
    ],
)
@quiet
def test_what_is_observed(target: str, observe: str, columns: list[str], file: Path) -> None:
    tagger = Tagger(target, "refinement", hidden=2, smoothing=0.1, observe=observe).fit(file)
    assert tagger.columns == columns
    sentence = next(iter(read(file)))
    right = Target(target).labels(sentence)
    assert invented.share([tagger.tag(sentence).labels], [right]) > 0.5


# ------------------------------------------------------------------------------------------------ proofs


@quiet
@pytest.mark.parametrize("seed", range(3))
def test_em_proves_what_holds_by_enumeration(seed: int, file: Path) -> None:
    tagger = made(file, observe="pos", estimator="em", iterations=4, seed=seed)
    model = tagger.refinement
    assert isinstance(model, EmRefinement)
    for pos in (["DET", "NOUN"], ["ADP", "X", "VERB"], ["ADJ"]):
        words = ["a"] * len(pos)
        every = list(product(tagger.labels, repeat=len(words)))
        mass = np.exp(model.log_probabilities([(pos, list(labels)) for labels in every]))
        answer = tagger.tag({"word": words, "pos": pos}, confidence=True)
        own = every.index(tuple(answer.labels))
        assert answer.score == pytest.approx(np.log(mass[own]))
        assert answer.probability == pytest.approx(mass[own] / mass.sum())
        assert answer.status is Status.OPTIMAL
        assert answer.bound == answer.score
        assert mass[own] == pytest.approx(mass.max())
        ranked = np.sort(mass)[::-1][:4]
        assert [one.score for one in tagger.tag({"word": words, "pos": pos}, k=4)] == pytest.approx(
            np.log(ranked)
        )
        marginal = [mass[[y[t] == label for y in every]].sum() for t, label in enumerate(answer.labels)]
        assert answer.confidence == pytest.approx(np.array(marginal) / mass.sum(), abs=1e-6)


@quiet
def test_a_spectral_model_proves_nothing(file: Path) -> None:
    tagger = made(file)
    for answer in tagger.tag_batch(list(read(file))[:20], confidence=True):
        assert (answer.status, answer.bound) == (Status.FEASIBLE, np.inf)
        assert np.isfinite(answer.score)
        assert answer.probability is not None
        assert answer.confidence is not None
        assert answer.probability <= min(answer.confidence) + 1e-6
    assert tagger.tag({"word": [], "pos": []}).optimal


@quiet
@pytest.mark.parametrize("estimator", ["spectral", "em"])
def test_constraints_are_conditions(estimator: str, file: Path) -> None:
    tagger = made(file, observe="pos", estimator=estimator)
    sentence = {"word": ["a", "b", "c"], "pos": ["NOUN", "NOUN", "VERB"]}
    limits: Any = [["B-NP", "I-NP"], ["B-NP", "B-VP"], None]
    every = [y for y in product(tagger.labels, repeat=3) if y[0] in limits[0] and y[1] in limits[1]]
    bio = certus.bio(tagger.labels)
    legal = [y for y in every if bio.accepts([tagger.labels.index(label) for label in y])]
    model = tagger.refinement
    for rule, those in ((None, every), (bio, legal)):
        mass = np.exp(model.log_probabilities([(sentence["pos"], list(y)) for y in those]))
        answer = tagger.tag(sentence, allowed=limits, confidence=True, legal=rule)
        assert tuple(answer.labels) in those
        for t, label in enumerate(answer.labels):
            marginal = mass[[y[t] == label for y in those]].sum() / mass.sum()
            assert answer.confidence is not None
            assert answer.confidence[t] == pytest.approx(marginal, abs=1e-6)


@quiet
def test_what_the_model_rules_out(tmp_path: Path) -> None:
    teach = [build(["a", "b"], {"upos": ["FIRST", "X"]}) for _ in range(9)]
    tagger = Tagger("upos", "refinement", hidden=2, estimator="em").fit(teach)
    answer = tagger.tag(["a", "b", "c"], allowed=[None, ["FIRST"], None], infeasible="return")
    assert (answer.status, answer.labels, answer.position) == (Status.INFEASIBLE, [], 1)


# ---------------------------------------------------------------------------------------------- training


@quiet
@pytest.mark.parametrize("estimator", ["spectral", "em"])
def test_what_is_not_given_is_chosen_by_held_out_sentences(
    estimator: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice is the best that is measured, is told, and is what the model file is read by."""
    measured: dict[Choice, float] = {}

    def watch(measure: Any, hidden: Any, strengths: Any) -> Choice:
        def note(choice: Choice) -> float:
            measured[choice] = measure(choice)
            return measured[choice]

        return choose_best(note, hidden, strengths)

    monkeypatch.setattr("certus.learn.refinement.learner.choose_best", watch)
    short = {"iterations": 4, "restarts": 1} if estimator == "em" else {}
    tagger = Tagger("chunk", "refinement", estimator=estimator, **short).fit(file)  # type: ignore[arg-type]
    chosen = tagger.description["chosen"]
    best = [choice for choice, share in measured.items() if share == max(measured.values())]
    assert len(measured) == 6
    assert (chosen["hidden"], chosen["smoothing"]) in [(c.hidden, max(0.1 * c.strength, 1e-6)) for c in best]
    tagger.save(tmp_path / "m")
    loaded = certus.load(tmp_path / "m")
    sentences = list(read(file))[:20]
    assert [a.labels for a in loaded.tag_batch(sentences)] == [a.labels for a in tagger.tag_batch(sentences)]
    assert loaded.refinement.hidden == chosen["hidden"]


@quiet
def test_starts_of_em_are_chosen_by_held_out_sentences(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each start is measured once, where it ends; all sentences are then learned from, from the best one."""
    measured: list[float] = []
    measure = EmRefinement.measure_accuracy

    def note(self: EmRefinement, *given: Any, **named: Any) -> float:
        measured.append(measure(self, *given, **named))
        return measured[-1]

    monkeypatch.setattr(EmRefinement, "measure_accuracy", note)
    about: dict[str, Any] = {"estimator": "em", "hidden": 2, "smoothing": 0.1, "iterations": 4, "restarts": 3}
    tagger = Tagger("chunk", "refinement", **about).fit(file)
    assert len(measured) == 3
    chosen = tagger.refinement.diagnostics.chosen
    assert chosen is not None
    assert (measured[chosen[0]], chosen[1]) == (max(measured), 4)
    assert len(tagger.refinement.diagnostics.objective) == 1


def test_the_usual_is_chosen_unless_another_is_better() -> None:
    assert choose_best(lambda _: 1.0, [8, 4, 16], [1.0, 0.1]) == Choice(8, 1.0)
    assert choose_best(lambda choice: choice.hidden - choice.strength, [8, 4, 16], [1.0, 0.0]) == Choice(
        16, 0.0
    )
    assert choose_best(lambda _: 1 / 0, [3], [1.0]) == Choice(3, 1.0)  # nothing to choose, nothing to measure


@quiet
def test_an_inference_is_stored(file: Path, tmp_path: Path) -> None:
    tagger = made(file, estimator="em", iterations=3, inference="mbr")
    tagger.save(tmp_path / "m")
    found = certus.load(tmp_path / "m").latent.inference
    assert found == MBR(gain="spans", steps=30)
    assert tagger.latent.inference == found


@quiet
def test_em_takes_the_iteration_that_is_best_on_dev(file: Path) -> None:
    told: list[Any] = []
    dev = list(read(file))[:40]
    tagger = Tagger("chunk", "refinement", hidden=2, estimator="em", restarts=2, iterations=12)
    tagger.fit(file, dev, progress=told.append)
    assert [one.epoch for one in told] == list(range(1, 25))
    assert {one.epochs for one in told} == {24}
    model = tagger.refinement
    assert isinstance(model, EmRefinement)
    assert model.diagnostics.chosen is not None
    found = [answer.labels for answer in tagger.tag_batch(dev)]
    right = [Target("chunk").labels(sentence) for sentence in dev]
    assert tagger.description["accuracy"]["dev"] == pytest.approx(invented.share(found, right))


def test_too_little_is_told(file: Path, tmp_path: Path) -> None:
    sentences = [*read(file), *read_text(tmp_path, "x NOUN B-XP\n\n")]
    with pytest.warns(RefinementWarning, match="label 'B-XP' has 1 of 8 hidden states: it occurs once"):
        tagger = Tagger("chunk", "refinement").fit(sentences)
    assert tagger.description["problems"]["B-XP"].endswith("lower hidden, or add sentences that have it")
    tagger.save(tmp_path / "m")
    loaded = certus.load(tmp_path / "m")
    assert loaded.refinement.diagnostics.problems == tagger.refinement.diagnostics.problems
    assert isinstance(loaded.refinement, SpectralRefinement)
    with pytest.raises(InvalidInput, match="a refinement is what the learner refinement trains"):
        _ = Tagger("chunk", "perceptron", epochs=1).fit(sentences).refinement


def read_text(folder: Path, text: str) -> list[Any]:
    (folder / "more.txt").write_text(text, encoding="utf-8")
    return list(read(folder / "more.txt", "columns"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "mcmc"}, "estimator is 'mcmc'; there are spectral and em"),
        ({"restarts": 2}, "restarts is no option of the estimator spectral: leave it out"),
        ({"estimator": "em", "smooth_pairs": 1.0}, "smooth_pairs is no option of the estimator em"),
        ({"hidden": -1}, "hidden is -1; it must be at least 0"),
        ({"smoothing": -1.0}, "smoothing is -1.0; it must be at least 0"),
        ({"inference": "bmp"}, "inference is no option of the estimator spectral: leave it out"),
        ({"estimator": "em", "inference": "x"}, "inference is 'x'; there are ldi, bhp, bmp, mbr"),
        ({"templates": "word[0]"}, "the learner refinement looks at the columns of observe: leave the templ"),
        ({"latent": 2}, "latent is no option of the learner refinement"),
    ],
)
def test_refusals_of_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tagger("chunk", "refinement", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observe": "pos+tag"}, r"observe is 'pos\+tag'; name a column such as word or pos, or one with"),
        ({"observe": "+word"}, r"observe is '\+word'; name a column"),
        ({"observe": "chunk"}, "observe is 'chunk', but chunk is what is to be learned"),
        ({"observe": "lemma"}, "there is no column 'lemma'"),
        ({"hidden": 5000}, r"labels with 5000 hidden states each take .* GB: set hidden to \d+ at most"),
    ],
)
def test_refusals_in_training(options: dict[str, Any], message: str, file: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        made(file, **options)


@quiet
def test_one_answer_only(file: Path) -> None:
    tagger = made(file)
    sentence: Any = {"word": ["lo"], "pos": ["DET"]}
    with pytest.raises(InvalidInput, match=r"a spectral refinement has one answer .* k must be 1"):
        tagger.tag(sentence, k=2)
    with pytest.raises(InvalidInput, match="a refinement has no lattices of labels"):
        tagger.lattices([sentence])


# ------------------------------------------------------------------------------------------ command line


Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return invoke


def train(run: Run, data: Path, output: Path, *options: str) -> str:
    return run("train", "tagger", str(data), "--target", "chunk", "--learner", "refinement", *options,
               "-o", str(output))  # fmt: skip


@pytest.mark.parametrize("estimator", ["spectral", "em"])
def test_the_command_line(estimator: str, run: Run, file: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "m.certus", tmp_path / "out.txt"
    options = ["--hidden", "2", "--estimator", estimator, "--smoothing", "0.2", "--seed", "3"]
    options += ["--iterations", "5", "--restarts", "2"] if estimator == "em" else ["--rare", "3"]
    told = train(run, file, model, "--dev", str(file), *options)
    assert re.search(r"m.certus: 5 labels, dev \d+\.\d\d %", told)
    assert ("epoch  10/10" in told) == (estimator == "em")
    run("tag", str(model), str(file), "-o", str(out))
    assert re.sub(r"\S+$", "", out.read_text(encoding="utf-8"), flags=re.M) == re.sub(
        r"\S+$", "", file.read_text(encoding="utf-8"), flags=re.M
    )
    assert "100" in run("evaluate", str(file), str(file))
    assert run("evaluate", str(file), str(out))
    assert "0." in run("tag", str(model), str(file), "--confidence", "--legal", "bio")
    about = run("info", str(model))
    assert "pos+word" in about
    assert ("Marginals" in about) == (estimator == "spectral")
    assert json.loads(run("info", str(model), "--json"))["description"]["options"]["hidden"] == 2
    if estimator == "em":
        assert run("tag", str(model), str(file), "-k", "2")
        assert run("tag", str(model), str(file), "--inference", "mbr") == run(
            "tag", str(model), str(file), "--inference", "mbr", "--steps", "30"
        )
        return
    with pytest.raises(InvalidInput, match="k must be 1"):
        run("tag", str(model), str(file), "-k", "2")


def test_the_command_tells_what_an_estimate_lacks(run: Run, tmp_path: Path) -> None:
    """Fewer samples than states, features of a lower rank, and a singular block, each with what to change."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        lines += [f"w{rng.integers(9)} P{rng.integers(5)} A", "x Q B", "y R A", ""]
    text = "\n".join([*lines, "z Z C", "", ""])
    (tmp_path / "train.txt").write_text(text, encoding="utf-8")
    told = train(run, tmp_path / "train.txt", tmp_path / "m", "--hidden", "6", "--observe", "pos")
    assert "warning: label 'C' has 1 of 6 hidden states: it occurs once, fewer than its hidden" in told
    assert re.search(r"label 'B' has 1 of 6 hidden states: its features .* have rank \d at most; lower", told)
    assert re.search(r"label 'A' has \d of 6 hidden states: the block of its future and past is sing", told)
    about = " ".join(run("info", str(tmp_path / "m")).split())
    assert "label 'C' has 1 of 6 hidden states" in about
    assert "below 0 in 0 of 61 training sentences" in about


def test_a_command_with_many_weak_labels_is_brief(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("".join(f"w P L{n}\n\n" for n in range(9)), encoding="utf-8")
    told = train(run, tmp_path / "train.txt", tmp_path / "m")
    assert told.count("warning: label") == 5
    assert "warning: 4 more labels have too little to go by: certus info names all of them" in told
    assert "label 'L8' has 1 of 8" in " ".join(run("info", str(tmp_path / "m")).split())
    assert "warning" not in train(run, tmp_path / "train.txt", tmp_path / "m", "--quiet")


@quiet
def test_sentences_without_a_total_are_told(tmp_path: Path) -> None:
    """Little data, many states and no smoothing of moments: some totals come out negative."""
    (tmp_path / "train.txt").write_text(invented.columns(60, 1), encoding="utf-8")
    (tmp_path / "dev.txt").write_text(invented.columns(300, 2), encoding="utf-8")
    tagger = Tagger(
        "chunk", "refinement", hidden=8, smooth_pairs=0.0, smooth_seen=0.0, observe="word", rare=2
    )
    tagger.fit(tmp_path / "train.txt", tmp_path / "dev.txt")
    found = tagger.description["marginals"]
    assert (found["of"], found["sentences"]) == ("dev", 300)
    assert found["negative"] >= found["damped"] + found["plain"] > 0
    told = list(list_weaknesses(tagger.description))[-1]
    assert f"{found['damped'] + found['plain']} of 300 dev sentences have a total that is not above 0" in told
    for answer in tagger.tag_batch(list(read(tmp_path / "dev.txt")), confidence=True):
        assert np.isfinite(answer.score)
        assert min(answer.confidence or [0.0]) > 0


@quiet
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observe": "+"}, "observe is '\\+'; name a column"),
        ({"columns": ["word"]}, r"it observes pos\+word, not \['word'\]"),
        ({"labels": ["A"]}, "gives 5 for labels, which is 1"),
        ({"problems": 5}, "damaged"),
    ],
)
def test_descriptions_that_make_no_sense(
    change: dict[str, Any], message: str, file: Path, tmp_path: Path
) -> None:
    made(file).save(tmp_path / "m")
    read_back = model_file.read(tmp_path / "m")
    about = {**read_back.description, **change}
    model_file.write(tmp_path / "w", "tagger", read_back.arrays, about)
    with pytest.raises(certus.ModelError, match=message):
        certus.load(tmp_path / "w")
