"""Dependency parsers: what they learn, what they answer, what they refuse."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus import DependencyParser, Status
from certus.errors import FormatError, InvalidInput, ModelError
from certus.formats import build, read
from certus.learn.progress import Progress
from tests.models import invented_treebank as invented
from tests.reference.dependency import list_trees

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
    assert measure(made, pruning=0) > 0.97


def test_answers_are_the_best_trees_of_their_scores(parser: DependencyParser) -> None:
    short = [sentence for sentence in invented.sentences(80, 5) if len(sentence) <= 6]
    assert len(short) > 10
    for sentence in short:
        answer = parser.parse(sentence, pruning=0)
        scores, relations = parser.score_arcs(sentence)
        totals = {
            heads: sum(scores[word, head] for word, head in enumerate(heads))
            for heads in list_trees(len(sentence), False, True)
        }
        assert answer.score == pytest.approx(max(totals.values()), rel=1e-12)
        assert totals[tuple(answer.heads)] == pytest.approx(answer.score, rel=1e-12)
        named = [parser.relations[relations[word, head]] for word, head in enumerate(answer.heads)]
        assert answer.relations == named
        assert answer.status is Status.OPTIMAL
        assert answer.score == answer.bound
        assert answer.pruned == 0


def test_the_root_has_its_own_relations(parser: DependencyParser) -> None:
    for answer in parser.parse_batch(invented.sentences(30, 6), pruning=0):
        assert answer.heads.count(0) == 1
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
    assert parser.parse(one).heads == [0]
    assert parser.parse({name: [] for name in one}).heads == []
    long = {"form": ["lo", "nok"] * 500, "upos": ["DET", "NOUN"] * 500, "feats": ["_", "X|Y"] * 500}
    for pruning in (None, 0):
        heads = parser.parse(long, pruning=pruning).heads
        assert heads.count(0) == 1
        assert certus.annotation.dependencies.find_fault(heads) is None


def test_several_roots_are_learned_where_trees_have_them() -> None:
    words = {"upos": ["A", "B"], "head": ["0", "0"], "deprel": ["root", "root"]}
    parser = DependencyParser(**SMALL).fit([build(["a", "b"], words)] * 5)
    assert parser.parse(words | {"form": ["a", "b"]}).heads == [0, 0]
    held = DependencyParser(single_root="yes", **SMALL).fit([build(["a", "b"], words)] * 5)
    assert held.parse(words | {"form": ["a", "b"]}).heads.count(0) == 1


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
        ({"single_root": "maybe"}, "single_root is 'maybe'"),
        ({"columns": "word colour"}, "columns is 'word colour'"),
        ({"hash_bits": 60}, "hash_bits is 60"),
        ({"templates": "heads.upos"}, "templates of arcs, line 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        DependencyParser(**given)


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
