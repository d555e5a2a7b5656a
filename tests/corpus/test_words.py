"""Which words should agree."""

from __future__ import annotations

import numpy as np

from certus.annotation import vocabulary
from certus.corpus.words import Types, find_nodes, find_types, find_usual_labels, merge_pairs, suffix_relates

KNOWN = {"the", "cat", "cats", "Dog"}


def types(*sentences: str, case: bool = True) -> Types:
    def is_known(names: list[str]) -> np.ndarray:
        return np.array([name in KNOWN for name in names], bool)

    return find_types([sentence.split() for sentence in sentences], is_known, case)


def test_types() -> None:
    found = types("the Cat", "THE cat sat")
    assert found.names == ["the", "Cat", "THE", "cat", "sat"]
    assert found.tokens.tolist() == [0, 1, 2, 3, 4]
    assert found.first.tolist() == [0, 2, 5]
    assert found.keys == ["the", "cat", "sat"]
    assert found.key.tolist() == [0, 1, 0, 1, 2]
    assert found.known.tolist() == [True, False, False, True, False]
    assert types("the Cat", "THE cat", case=False).keys == ["the", "Cat", "THE", "cat"]


def test_nodes_are_for_unknown_words_that_have_company() -> None:
    found = types("the wug sat", "Wug wugs dog Dog the")
    nodes = find_nodes(found, 8, ())
    assert [found.keys[key] for key in nodes.keys] == ["wug", "dog"]
    of = dict(zip(found.names, nodes.of_type.tolist(), strict=True))
    assert of == {"the": -1, "wug": 0, "sat": -1, "Wug": 0, "wugs": -1, "dog": 1, "Dog": -3}


def test_a_suffix_brings_company() -> None:
    found = types("the wug sat", "wugs")
    nodes = find_nodes(found, 4, ("s",))
    assert [found.keys[key] for key in nodes.keys] == ["wug", "wugs"]
    assert nodes.pairs.tolist() == [[0, 1]]


def test_words_of_added_text_alone_have_no_node() -> None:
    found = types("the wug", "wug blick blick")
    assert [found.keys[key] for key in find_nodes(found, 2, ()).keys] == ["wug"]


def test_a_suffix_relates_if_known_words_say_so() -> None:
    pairs = [(f"word{n}", f"word{n}s") for n in range(12)]
    sentences = [[one, other] for one, other in pairs]
    found = find_types(sentences, lambda names: np.ones(len(names), bool), True)
    used = np.arange(24)
    same, apart = np.zeros(24, np.int32), np.arange(24, dtype=np.int32) % 2
    assert suffix_relates(found, "s", same, used)
    assert not suffix_relates(found, "s", apart, used)
    assert not suffix_relates(found, "x", same, used)
    assert not suffix_relates(found, "s", same[:8], used[:8])  # too few to tell
    unknown = find_types(sentences, lambda names: np.zeros(len(names), bool), True)
    assert not suffix_relates(unknown, "s", same, used)


def test_usual_labels() -> None:
    key, label = np.array([0, 0, 0, 2, 2]), np.array([1, 3, 3, 5, 4])
    assert find_usual_labels(key, label, 4).tolist() == [3, -1, 4, -1]
    assert find_usual_labels(np.zeros(0, np.int64), np.zeros(0, np.int64), 1).tolist() == [-1]


def test_joined() -> None:
    assert merge_pairs(5, np.array([[0, 1], [3, 4], [1, 3]])).tolist() == [0, 0, 2, 0, 0]
    assert merge_pairs(0, np.zeros((0, 2), np.int64)).tolist() == []


def test_vocabulary() -> None:
    keys = vocabulary.make_keys(["b", "a", "b"])
    assert len(keys) == 2
    assert keys.dtype == np.uint32
    assert vocabulary.contains(keys, ["a", "c", "b"]).tolist() == [True, False, True]
