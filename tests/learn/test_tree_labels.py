"""Relations that are chosen when the tree is known: by what is around each arc."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import certus
from certus import DependencyParser
from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput, ModelError
from certus.formats import build
from tests.models import invented_treebank as invented

SMALL: dict[str, Any] = {"hash_bits": 14, "epochs": 2}


def annotate(words: str, tags: str, heads: str, relations: str) -> Sentence:
    columns = {"upos": tags.split(), "head": heads.split(), "deprel": relations.split()}
    return build(words.split(), columns)


# The relation of x depends on its modifier, which is as far from it as words can be seen by features of arcs.
WITH = annotate("v x a a a a a p", "V X A A A A A P", "0 1 1 1 1 1 1 2", "root far a a a a a p")


@pytest.mark.parametrize(("relations", "wanted"), [("second-pass", ["far", "near"]), ("joint", None)])
def test_relations_see_the_modifiers_of_a_word(relations: str, wanted: list[str] | None) -> None:
    """Heads are told by the form of the last word, which relations of arcs to x do not look at."""
    other = annotate("v x a a a a a q", "V X A A A A A P", "0 1 1 1 1 1 1 1", "root near a a a a a p")
    parser = DependencyParser(relations=relations, projective="no", **SMALL | {"epochs": 6})
    parser.fit([WITH, other] * 10)
    answers = parser.parse_batch([WITH, other])
    assert [answer.heads[7] for answer in answers] == [2, 1]
    found = [answer.relations[1] for answer in answers]
    assert found == wanted if wanted else found[0] == found[1]


def test_trees_and_scores_do_not_depend_on_how_relations_are_chosen() -> None:
    gold = list(invented.sentences(30, 3))
    answers = []
    for relations in ("second-pass", "joint"):
        parser = DependencyParser(relations=relations, patience=9, **SMALL).fit(invented.sentences(100, 1))
        answers.append(parser.parse_batch(gold))
    for one, other in zip(*answers, strict=True):
        assert (one.value.heads, one.score, one.bound) == (other.value.heads, other.score, other.bound)
    right = [
        named == wanted
        for sentence, answer in zip(gold, answers[0], strict=True)
        for named, wanted in zip(answer.relations, sentence.columns["deprel"], strict=True)
    ]
    assert sum(right) > 0.97 * len(right)


def test_they_are_kept_and_ranked_trees_have_them(tmp_path: Path) -> None:
    parser = DependencyParser(cascade="length vine first", **SMALL).fit(invented.sentences(100, 1))
    parser.save(tmp_path / "m.certus")
    again = certus.load(tmp_path / "m.certus")
    for sentence in invented.sentences(10, 4):
        ranked, kept = parser.parse(sentence, k=3), again.parse(sentence, k=3)
        assert [one.relations for one in ranked] == [one.relations for one in kept]
        assert ranked[0].relations == parser.parse(sentence).relations
        for answer in ranked:
            for head, relation in zip(answer.heads, answer.relations, strict=True):
                assert (relation == "root") == (head == 0)
    changed = parser.change_cascade(list(invented.sentences(100, 1)), cascade="length first")
    assert changed.parse(sentence).relations == parser.parse(sentence).relations
    parser.description["labels"] = ["head.colour"]
    parser.save(tmp_path / "bad.certus")
    with pytest.raises(ModelError, match="columns that it does not list"):
        certus.load(tmp_path / "bad.certus")


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="relations is 'magic'"):
        DependencyParser(relations="magic")
    with pytest.raises(InvalidInput, match="no sibling and no grandparent"):
        DependencyParser(templates="head.upos\nchild.upos sibling.upos")
    with pytest.raises(InvalidInput, match="of relations in trees that are known only"):
        DependencyParser(templates="head.upos\nchild.upos head.upos", **SMALL).fit(invented.sentences(5, 1))
    with pytest.raises(InvalidInput, match="is no option of cascades"):
        DependencyParser(**SMALL).fit(invented.sentences(20, 1)).change_cascade([], order=1)
