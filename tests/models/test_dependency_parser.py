"""Dependency parsers: what they learn, what they answer, what they refuse."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

import certus
from certus import DependencyParser, Status
from certus._native import DependencyArcs, TreeScores64
from certus.annotation.columns import select_columns
from certus.annotation.dependencies import find_crossing, find_fault
from certus.annotation.sentence import Sentence
from certus.errors import FormatError, InvalidInput, ModelError
from certus.formats import build, read
from certus.learn.arcs.options import ArcOptions
from certus.learn.progress import Progress
from certus.models.jackknife import predict_tags
from certus.storage import model_file
from tests.attack.parsers import PARSERS
from tests.attack.tiny_models import draw_treebank, train_parser
from tests.models import invented_treebank as invented
from tests.reference.dependency import list_trees

PAGE = Path(__file__).parents[2] / "docs" / "dependency-parsing.md"
SMALL: dict[str, Any] = {"hash_bits": 16, "epochs": 4}


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    return DependencyParser(**SMALL).fit(invented.sentences(150, 1), dev=invented.sentences(40, 2))


def measure(parser: DependencyParser, **options: Any) -> float:
    gold = list(invented.sentences(60, 3))
    answers = parser.parse_batch(gold, **options)
    pairs = [
        (one, other)
        for sentence, answer in zip(gold, answers, strict=True)
        for one, other in zip(
            zip(sentence.columns["head"], sentence.columns["deprel"], strict=True),
            zip(map(str, answer.heads), answer.relations, strict=True),
            strict=True,
        )
    ]
    return sum(one == other for one, other in pairs) / len(pairs)


@pytest.mark.parametrize("algorithm", ["mira", "perceptron"])
def test_trees_of_a_simple_language_are_learned(algorithm: str) -> None:
    made = DependencyParser(algorithm=algorithm, **SMALL).fit(invented.sentences(150, 1))
    assert measure(made) > 0.97
    assert measure(made, pruning=0) > 0.95  # arcs that it never saw in training count, too


@pytest.mark.parametrize("algorithm", ["mira", "perceptron"])
@pytest.mark.parametrize("order", [2, 3])
def test_automata_by_themselves_are_learned_from(algorithm: str, order: int) -> None:
    options: dict[str, Any] = {"order": order, "projective": "no", "algorithm": algorithm, **SMALL}
    made = DependencyParser(learn_from="automata", **options).fit(invented.sentences(150, 1))
    assert measure(made) > 0.96
    other = DependencyParser(**options).fit(invented.sentences(150, 1))
    assert count_wrong_picks(made) < count_wrong_picks(other)


def test_features_of_arcs_leave_fewer_heads(tmp_path: Path) -> None:
    train = list(invented.sentences(150, 1))
    options: dict[str, Any] = {"projective": "no", **SMALL}
    tags = DependencyParser(**options).fit(train)
    # The table of their weights is larger; weights of trees are learned over more heads than are scored.
    arcs = DependencyParser(pruning_features="arcs", pruning=0.1, **options | {"hash_bits": 21}).fit(train)
    arcs.save(tmp_path / "p.certus")
    kept = certus.load(tmp_path / "p.certus")
    assert isinstance(kept, DependencyParser)
    assert measure(kept) > 0.97
    assert measure(kept, pruning=0) > 0.95
    changed = tags.change_cascade(train, pruning_features="arcs", pruning=0.1)
    assert measure(changed) > 0.97
    long = list(invented.long_sentences(15, 2))
    pruned = [sum(answer.pruned for answer in each.parse_batch(long)) for each in (tags, kept, changed)]
    assert min(pruned[1:]) > pruned[0]


def test_probabilities_of_arcs_in_trees_are_part_of_scores() -> None:
    """They sum to one over the heads of each word, and over the words that may be the root."""
    options: dict[str, Any] = {"projective": "no", **SMALL | {"epochs": 1}}
    parser = DependencyParser(pruning_features="arcs", pruning=0.1, **options)
    parser.fit(invented.sentences(20, 1))
    short = [sentence for sentence in invented.sentences(60, 5) if len(sentence) <= 5]
    with_prior = [parser.score_arcs(sentence)[0] for sentence in short]
    for sentence in short:
        trees = list_trees(len(sentence), False, True)
        best = max(parser.score(sentence, heads) for heads in trees)
        assert parser.parse(sentence, pruning=0).score == pytest.approx(best)
        assert parser.parse(sentence, pruning=0).optimal
        assert parser.parse(sentence, k=3, pruning=0)[0].score == pytest.approx(best)
        heads = parser.parse(sentence).heads
        assert parser.parse(sentence).score == pytest.approx(parser.score(sentence, heads))
    arrays = dict(parser.model.arrays)
    prior = float(arrays.pop("head_prior"))
    without = replace(parser.model, arrays=arrays).native
    for sentence, scores in zip(short, with_prior, strict=True):
        others, _ = without.score_arcs([select_columns(sentence, parser.columns)])
        with np.errstate(invalid="ignore"):
            probabilities = np.nan_to_num(np.exp((scores - others) / prior))
        assert probabilities.sum(axis=1) == pytest.approx(1)
        assert probabilities[:, 0].sum() == pytest.approx(1)


def count_wrong_picks(parser: DependencyParser) -> int:
    """Return the number of words that not exactly one automaton picks as its modifier."""
    wrong = 0
    for sentence in invented.sentences(60, 3):
        scored = parser.model.native.score_parts(
            [select_columns(sentence, parser.columns)],
            ratio=parser.options.pruning,
            most=parser.options.candidates,
        )
        arcs = DependencyArcs(len(sentence), scored.heads, scored.modifiers)
        parts = scored.grandparents, scored.grandsiblings
        native = TreeScores64(
            arcs, scored.arcs, scored.siblings, *(part if part.size else None for part in parts)
        )
        picked, parents = (np.empty(len(arcs), np.uint8) for _ in range(2))
        assert native.pick_freely(picked, parents) is not None
        heads = np.bincount(scored.modifiers[picked > 0], minlength=len(sentence) + 1)[1:]
        wrong += int((heads != 1).sum())
    return wrong


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("projective", ["no", "yes"])
def test_answers_are_the_best_trees_of_their_scores(order: int, projective: str) -> None:
    parser = DependencyParser(order=order, projective=projective, **SMALL | {"epochs": 1})
    parser.fit(invented.sentences(40, 1))
    short = [sentence for sentence in invented.sentences(60, 5) if len(sentence) <= 5]
    assert len(short) > 5
    for sentence in short:
        answer = parser.parse(sentence, pruning=0)
        trees = list_trees(len(sentence), parser.model.projective, True)
        totals = {heads: parser.score(sentence, heads) for heads in trees}
        assert totals[tuple(answer.heads.tolist())] == answer.score == max(totals.values())
        assert answer.status is Status.OPTIMAL
        assert answer.score == answer.bound
        assert answer.pruned == 0


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("projective", ["no", "yes"])
def test_the_k_best_are_the_best_k_of_all_trees(order: int, projective: str) -> None:
    parser = DependencyParser(order=order, projective=projective, **SMALL | {"epochs": 1})
    parser.fit(invented.sentences(40, 1))
    short = [sentence for sentence in invented.sentences(40, 5) if len(sentence) <= 5]
    for sentence in short if projective == "yes" else short[:3]:
        trees = list_trees(len(sentence), projective == "yes", True)
        totals = sorted((parser.score(sentence, heads) for heads in trees), reverse=True)
        for k in (2, 7, 500):
            ranked = parser.parse(sentence, k=k, pruning=0)
            assert [answer.score for answer in ranked] == totals[:k]
            assert len({tuple(answer.heads.tolist()) for answer in ranked}) == min(k, len(trees))
            assert ranked.exhausted == (k >= len(trees))
            assert all(answer.optimal and answer.bound == answer.score for answer in ranked)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    ("projective", "cascade"), [("yes", "heads"), ("yes", "length vine first"), ("no", "heads")]
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_proofs_are_about_all_trees(order: int, projective: str, cascade: str, k: int) -> None:
    """Whatever was pruned: trees that are called optimal are the best of the model, and bounds hold."""
    options = {"pruning": 0.5, "candidates": 1, "parsing_loss": 0.3, **SMALL | {"epochs": 1}}
    parser = DependencyParser(order=order, projective=projective, cascade=cascade, **options)
    parser.fit(invented.sentences(30, 1), dev=invented.sentences(30, 2))
    sentences = [*invented.sentences(25, 5), *invented.long_sentences(8, 6)]
    beaten = proven = 0
    for sentence in sentences:
        found: Any = parser.parse(sentence, k=k)
        whole: Any = parser.parse(sentence, k=k, pruning=0)
        for one, best in zip(found, whole, strict=True) if k > 1 else [(found, whole)]:
            assert best.optimal
            assert best.pruned == 0
            assert one.bound >= best.score
            assert one.score <= best.score or k > 1
            assert not one.optimal or one.score == best.score
            assert one.optimal == (one.bound == one.score)
            assert one.optimal or "pruned" in one.claim
            beaten += one.score < best.score
            proven += one.optimal
    assert beaten > 0
    assert proven > 0


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("projective", ["yes", "no"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_coarse_scores_prove_trees_among_all(order: int, projective: str, k: int) -> None:
    """Trees found over few arcs are those that are found when all arcs are scored."""
    options = {"candidates": 1, "cascade": "coarse", **SMALL | {"epochs": 2}}
    parser = DependencyParser(order=order, projective=projective, **options).fit(invented.sentences(30, 1))
    few = 0
    for sentence in [*invented.sentences(25, 5), *invented.long_sentences(8, 6)]:
        found: Any = parser.parse(sentence, k=k)
        whole: Any = parser.parse(sentence, k=k, pruning=0)
        for rank, (one, best) in enumerate(zip(found, whole, strict=True) if k > 1 else [(found, whole)]):
            assert best.optimal
            assert math.isfinite(one.bound)
            assert one.bound >= best.score
            assert one.score <= best.score
            assert one.optimal == (one.bound == one.score)
            assert parser.score(sentence, one.heads) == pytest.approx(one.score, rel=1e-12)
            if rank == 0:
                assert one.optimal
                assert one.score == best.score
            few += one.pruned > 0
    assert few > 0


@pytest.mark.parametrize("name", ["coarse 2 crossing", "coarse both crossing", "coarse both", "coarse 1"])
def test_coarse_lists_hold_each_tree_once(name: str) -> None:
    """Random trees are learned from, so that many arcs become candidates while they are searched."""
    parser = train_parser(0, **PARSERS[name])
    sentences = [sentence for sentence in draw_treebank(7, 60) if len(sentence) in (6, 7)]
    for parts in zip(sentences, sentences[1:], sentences[2:], strict=False):
        columns = {name: [x for part in parts for x in part.columns[name]] for name in ("form", "upos")}
        for k in (5, 40):
            ranked, whole = (parser.parse(columns, k=k, pruning=pruning) for pruning in (None, 0))
            assert len({tuple(answer.heads.tolist()) for answer in ranked}) == len(ranked) == k
            assert ranked[0].optimal
            for answer, best in zip(ranked, whole, strict=True):
                assert answer.bound >= best.score
                assert not answer.optimal or answer.score == best.score


def test_coarse_parsers_take_sentences_with_too_many_parts() -> None:
    """Some words may have so many modifiers that not all parts of likely arcs are scored."""
    parser = DependencyParser(cascade="coarse", **SMALL).fit(invented.sentences(60, 1))
    texts: dict[str, list[str]] = {"form": [], "upos": [], "feats": []}
    for sentence in invented.sentences(300, 9):
        for name, column in texts.items():
            column += sentence.columns[name]
    found = parser.parse(texts, seconds=0)
    assert found.score <= found.bound < math.inf
    assert parser.score(texts, found.heads) == pytest.approx(found.score)


def test_trees_found_in_no_time_have_bounds() -> None:
    for projective in ("yes", "no"):
        parser = DependencyParser(cascade="coarse", projective=projective, **SMALL).fit(
            invented.sentences(30, 1)
        )
        for sentence in invented.long_sentences(5, 7, 4):
            first, best = parser.parse(sentence, seconds=0), parser.parse(sentence, pruning=0)
            assert first.score <= best.score <= first.bound < math.inf


def test_the_time_is_kept_and_the_first_tree_returned(parser: DependencyParser) -> None:
    for sentence in invented.long_sentences(3, 7, 4):
        for pruning in (None, 0.0):
            found = parser.parse(sentence, seconds=0, pruning=pruning)
            assert len(found.heads) == len(sentence)
            assert found.bound >= parser.parse(sentence).score
            assert len(parser.parse(sentence, k=4, seconds=0, pruning=pruning)) >= 1


@pytest.mark.parametrize("projective", ["yes", "no"])
def test_lists_keep_to_the_time(projective: str) -> None:
    parser = DependencyParser(projective=projective, **SMALL | {"epochs": 1}).fit(invented.sentences(30, 1))
    sentence = next(invented.long_sentences(1, 7))
    start = monotonic()
    ranked = parser.parse(sentence, k=100_000, seconds=0.2, pruning=0)
    assert monotonic() - start < 4
    assert 1 <= len(ranked) < 100_000
    assert not ranked.exhausted


def test_sentences_that_are_too_long_are_refused_by_name(
    parser: DependencyParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certus.learn.arcs.learner.MOST_WORDS", 12)
    short, long = next(invented.sentences(1, 5)), next(invented.long_sentences(1, 6))
    with pytest.raises(InvalidInput, match=r"sentence 1: it has \d+ words, and parsers take at most 12"):
        parser.parse_batch([short, long])
    with pytest.raises(InvalidInput, match="parsers take at most 12"):
        parser.score_arcs(long)


def test_crossing_arcs_are_learned_where_there_are_any() -> None:
    words = {"upos": list("ABCD"), "head": ["3", "4", "0", "3"], "deprel": ["x", "y", "root", "z"]}
    sentences = [build(list("abcd"), words)] * 5
    parser = DependencyParser(**SMALL).fit(sentences)
    assert not parser.model.projective
    assert parser.parse(sentences[0]).heads.tolist() == [3, 4, 0, 3]
    assert [answer.optimal for answer in parser.parse(sentences[0], k=2)] == [True, True]
    held = DependencyParser(projective="yes", **SMALL).fit(sentences)
    assert find_crossing(held.parse(sentences[0]).value.heads) == 0


def test_scores_of_arcs_are_those_of_trees() -> None:
    parser = DependencyParser(order=1, **SMALL).fit(invented.sentences(40, 1))
    for sentence in invented.sentences(10, 5):
        answer = parser.parse(sentence)
        scores, relations = parser.score_arcs(sentence)
        total = sum(scores[word, head] for word, head in enumerate(answer.heads))
        assert total == pytest.approx(answer.score, rel=1e-12)
        named = [parser.relations[relations[word, head]] for word, head in enumerate(answer.heads)]
        assert answer.relations == named


def test_the_root_has_its_own_relations(parser: DependencyParser) -> None:
    for answer in parser.parse_batch(invented.sentences(30, 6), pruning=0):
        assert answer.value.heads.count(0) == 1
        assert [r == "root" for r in answer.relations] == [head == 0 for head in answer.heads]


def test_threads_and_batches_change_nothing(parser: DependencyParser) -> None:
    sentences = list(invented.sentences(30, 7))
    alone = [repr(parser.parse(sentence)) for sentence in sentences]
    assert [repr(answer) for answer in parser.parse_batch(sentences, threads=3)] == alone


def test_training_is_the_same_again_and_goes_on_where_it_was(tmp_path: Path) -> None:
    def fit(name: str, **more: Any) -> bytes:
        train, dev = list(invented.sentences(60, 1)), list(invented.sentences(20, 2))
        made = DependencyParser(hash_bits=12, epochs=4).fit(train, dev, **more)
        made.save(tmp_path / name)
        return (tmp_path / name).read_bytes()

    def stop(progress: Progress) -> bool:
        return progress.epoch == 2

    whole = fit("whole")
    kept = tmp_path / "kept"
    train, dev = list(invented.sentences(60, 1)), list(invented.sentences(20, 2))
    DependencyParser(hash_bits=12, epochs=4).fit(train, dev, checkpoint=kept, progress=stop)
    assert kept.exists()
    assert fit("resumed", checkpoint=kept, threads=2) == whole
    assert not kept.exists()
    DependencyParser(hash_bits=12, epochs=4).fit(train, dev, checkpoint=kept, progress=stop)
    with pytest.raises(ModelError, match="of another training run"):
        DependencyParser(hash_bits=12, epochs=5).fit(train, dev, checkpoint=kept)


def test_models_are_kept(parser: DependencyParser, tmp_path: Path) -> None:
    parser.save(tmp_path / "p.certus")
    sentence = next(invented.sentences(1, 8))
    for again in (certus.load(tmp_path / "p.certus"), pickle.loads(pickle.dumps(parser))):
        assert isinstance(again, DependencyParser)
        assert repr(again.parse(sentence)) == repr(parser.parse(sentence))
    assert parser.description["accuracy"]["dev"] > 0.95
    untrained = pickle.loads(pickle.dumps(DependencyParser(epochs=7, templates="head.upos")))
    assert untrained.options.epochs == 7


def test_sentences_of_any_length_have_a_tree(parser: DependencyParser) -> None:
    one = {"form": ["bark"], "upos": ["VERB"], "feats": ["_"]}
    assert parser.parse(one).heads.tolist() == [0]
    assert parser.parse({name: [] for name in one}).heads.tolist() == []
    plain = DependencyParser(order=1, **SMALL).fit(invented.sentences(40, 1))
    for made, pairs in ((plain, 500), (parser, 60)):
        long = {"form": ["lo", "nok"] * pairs, "upos": ["DET", "NOUN"] * pairs, "feats": ["_", "X|Y"] * pairs}
        heads = made.parse(long).value.heads
        assert heads.count(0) == 1
        assert find_fault(heads) is None


def test_several_roots_are_learned_where_trees_have_them() -> None:
    words = {"upos": ["A", "B"], "head": ["0", "0"], "deprel": ["root", "root"]}
    parser = DependencyParser(**SMALL).fit([build(["a", "b"], words)] * 5)
    assert parser.parse(words | {"form": ["a", "b"]}).heads.tolist() == [0, 0]
    held = DependencyParser(single_root="yes", **SMALL).fit([build(["a", "b"], words)] * 5)
    assert held.parse(words | {"form": ["a", "b"]}).value.heads.count(0) == 1


def test_a_slip_in_the_training_trees_does_not_allow_several_roots() -> None:
    words = {"upos": ["A", "B"], "head": ["0", "1"], "deprel": ["root", "x"]}
    slip = words | {"head": ["0", "0"], "deprel": ["root", "root"]}
    good = [build(["a", "b"], words)] * 400
    for slips, single in ((1, True), (10, False)):
        parser = DependencyParser(epochs=1, **{k: v for k, v in SMALL.items() if k != "epochs"})
        parser.fit([*good, *[build(["a", "b"], slip)] * slips])
        assert parser.description["single_root"] is single


def test_predicted_tags_are_learned_from() -> None:
    train, dev = list(invented.sentences(120, 1)), list(invented.sentences(40, 2))
    parser = DependencyParser(folds=3, **SMALL).fit(train, dev=dev)
    assert set(parser.columns) <= {"word", "upos", "feats"}
    assert measure(parser) > 0.9
    own = train[0].column("upos")
    made, held_out = predict_tags(train, dev, ["word", "upos", "feats"], folds=3, threads=1)
    assert train[0].column("upos") == own
    pairs = [pair for one, other in zip(train, made, strict=True) for pair in _pair_tags(one, other)]
    right = sum(one == other for one, other in pairs)
    assert 0.9 * len(pairs) < right
    assert held_out is not None
    assert [one.words for one in held_out] == [one.words for one in dev]


def test_predicted_tags_come_from_taggers_that_did_not_see_them() -> None:
    odd = {"upos": ["X", "Y"], "head": ["2", "0"], "deprel": ["x", "root"]}
    even = {"upos": ["Y", "X"], "head": ["2", "0"], "deprel": ["x", "root"]}
    sentences = [build(["a", "b"], odd if n % 2 else even) for n in range(20)]
    made, _ = predict_tags(sentences, None, ["upos"], folds=2, threads=1)
    assert [one.column("upos") for one in made[:2]] == [["X", "Y"], ["Y", "X"]]
    for folds, said in ((1, "folds is 1"), (30, "only 20 trees")):
        with pytest.raises(InvalidInput, match=said):
            predict_tags(sentences, None, ["upos"], folds=folds, threads=1)


def _pair_tags(one: Sentence, other: Sentence) -> list[tuple[str, str]]:
    return list(zip(one.column("upos"), other.column("upos"), strict=True))


def test_conll_x_is_learned_from_and_parsed(tmp_path: Path) -> None:
    lines = [
        "\t".join((*line.split("\t")[:8], "_", "_")) if "\t" in line else ""
        for line in invented.conllu(60, 1).splitlines()
        if not line.startswith("#")
    ]
    (tmp_path / "train.conll").write_text("\n".join(lines) + "\n")
    sentences = list(read(tmp_path / "train.conll", format="conllx"))
    assert sentences[0].column("upos") == sentences[0].columns["cpos"]
    parser = DependencyParser(**SMALL).fit(sentences)
    assert "upos" in parser.columns
    assert len(parser.parse(sentences[0]).heads) == len(sentences[0])


@pytest.mark.parametrize("order", [1, 3])
def test_templates_of_several_values_alone_are_enough(order: int) -> None:
    text = "each(head.feats) each(modifier.feats) distance\nbetween.upos head.upos modifier.upos"
    text += "\neach(modifier.feats) head.upos modifier.upos distance"
    if order == 3:
        text += "\neach(sibling.feats) modifier.upos\neach(grandparent.feats) modifier.upos"
    learned = DependencyParser(templates=text, hash_bits=16, epochs=4).fit(invented.sentences(60, 1))
    for sentence in invented.sentences(5, 2):
        best = learned.parse(sentence)
        assert best.optimal
        assert learned.score(sentence, best.heads) == pytest.approx(best.score)
    assert measure(learned) > 0.6


def test_words_alone_are_enough_where_nothing_else_is_looked_at() -> None:
    parser = DependencyParser(columns="word", **SMALL).fit(invented.sentences(150, 1))
    assert parser.columns == ["word"]
    assert len(parser.parse(next(invented.sentences(1, 9)).words).heads) > 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": 1}, "has no option 'colour'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"algorithm": "magic"}, "algorithm is 'magic'"),
        ({"learn_from": "magic"}, "learn_from is 'magic'; there are trees and automata"),
        ({"learn_from": "automata", "cascade": "coarse"}, "learn_from must be trees"),
        ({"pruning_features": "magic"}, "pruning_features is 'magic'; there are tags and arcs"),
        ({"single_root": "maybe"}, "single_root is 'maybe'"),
        ({"order": 4}, "order is 4"),
        ({"columns": "word colour"}, "columns is 'word colour'"),
        ({"hash_bits": 60}, "hash_bits is 60"),
        ({"templates": "heads.upos"}, "templates of arcs, line 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        DependencyParser(**given)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coarse_scale", -1.0),
        ("coarse_cap", math.nan),
        ("coarse_cap", math.inf),
        ("step", 0.0),
        ("step", 1e-310),
    ],
)
def test_damaged_coarse_scores_are_refused(name: str, value: float) -> None:
    parser = DependencyParser(cascade="coarse", **SMALL).fit(invented.sentences(20, 1))
    arrays = {**parser.model.arrays, name: np.asarray(value)}
    data = model_file.pack("dependency-parser", arrays, parser.description)
    with pytest.raises(ModelError, match=f"array '{name}' holds"):
        DependencyParser.from_file(model_file.unpack(data))


def test_what_cannot_be_learned_from_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(invented.conllu(2, 1).replace("\t0\troot", "\t77\troot"))
    with pytest.raises(FormatError, match=rf"{path}:\d+: .*its head is 77"):
        DependencyParser(**SMALL).fit(path)
    with pytest.raises(FormatError, match="there is no column 'head'"):
        DependencyParser(**SMALL).fit(read_text("a b c", tmp_path))
    with pytest.raises(InvalidInput, match="hold no tree"):
        DependencyParser(**SMALL).fit([])
    with pytest.raises(InvalidInput, match="templates look at 'xpos', which the training data leave empty"):
        DependencyParser(templates="head.xpos", **SMALL).fit(invented.sentences(3, 1))


def read_text(text: str, folder: Path) -> Any:
    (folder / "text.txt").write_text(text)
    return read(folder / "text.txt", format="text")


def test_what_cannot_be_parsed_is_refused(parser: DependencyParser) -> None:
    with pytest.raises(InvalidInput, match="not trained yet"):
        DependencyParser().parse(["a"])
    with pytest.raises(InvalidInput, match="looks at the columns word, upos, feats"):
        parser.parse(["a"])
    with pytest.raises(InvalidInput, match="seconds is -1"):
        parser.parse({"form": ["a"], "upos": ["X"], "feats": ["_"]}, seconds=-1)
    long = {"form": ["a"] * 1000, "upos": ["X"] * 1000, "feats": ["_"] * 1000}
    with pytest.raises(InvalidInput, match="too long for all its siblings"):
        parser.parse(long, pruning=0)
    with pytest.raises(InvalidInput, match="pruning is 3"):
        parser.parse({"form": ["a"], "upos": ["X"], "feats": ["_"]}, pruning=3)


def test_scores_are_sums_of_few_numbers(parser: DependencyParser) -> None:
    scores, relations = parser.score_arcs(next(invented.sentences(1, 4)))
    words = len(scores)
    assert scores.shape == relations.shape == (words, words + 1)
    own = np.arange(words)
    assert np.isneginf(scores[own, own + 1]).all()
    assert (relations[own, own + 1] == -1).all()
    assert np.isfinite(np.delete(scores.reshape(-1), own * (words + 1) + own + 1)).all()


def test_the_page_lists_the_options() -> None:
    rows = [
        f"| `{field.name}` | {field.default} | {field.metadata['help']} |\n" for field in fields(ArcOptions)
    ]
    table = "| option | default | |\n|---|---|---|\n" + "".join(rows)
    text = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- options -->\n", "<!-- /options -->"
    found = text[text.index(begin) + len(begin) : text.index(end)]
    assert found == table, f"put this between the marks of {PAGE.name}:\n{table}"
