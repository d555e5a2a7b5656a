"""Labels are made of units that they share."""

from __future__ import annotations

import numpy as np
import pytest

from certus.formats import Target
from certus.learn.features.inventory import Inventory

NOUNS = ["NOUN|Case=Acc", "NOUN|Case=Nom", "PUNCT", "VERB|Case=Nom|Tense=Past"]


def units(inventory: Inventory, label: str) -> list[int]:
    row = inventory.table[inventory.number[label]]
    assert (row >= 0).sum() == np.argmin([*row, -1]), "units come first, then -1"
    return [int(unit) for unit in row if unit >= 0]


def test_what_labels_share() -> None:
    inventory = Inventory(NOUNS, Target("upos+feats").parts)
    nominative, verb = units(inventory, "NOUN|Case=Nom"), units(inventory, "VERB|Case=Nom|Tense=Past")
    accusative, mark = units(inventory, "NOUN|Case=Acc"), units(inventory, "PUNCT")
    assert len(set(nominative) & set(accusative)) == 1, "the coarse tag"
    assert len(set(nominative) & set(verb)) == 1, "the case"
    assert not set(mark) & {*nominative, *accusative, *verb}
    assert [len(found) for found in (nominative, accusative, verb, mark)] == [3, 3, 4, 2]


def test_coarse_tags_are_the_first_units_of_all() -> None:
    inventory = Inventory(NOUNS, Target("upos+feats").parts)
    assert inventory.groups == 3
    assert set(inventory.table[:, 0].tolist()) == {0, 1, 2}
    assert sorted(set(inventory.table.ravel().tolist()) - {-1}) == list(range(inventory.units))


@pytest.mark.parametrize("parts", [None, Target("upos").parts])
def test_labels_that_share_nothing_are_one_unit_each(parts: None) -> None:
    inventory = Inventory(["DET", "NOUN", "VERB"], parts)
    assert inventory.table.tolist() == [[0], [1], [2]]
    assert (inventory.groups, inventory.units, len(inventory)) == (3, 3, 3)


def test_equal_names_of_different_kinds_stay_apart() -> None:
    inventory = Inventory(["A", "A|A"], lambda label: label.split("|"))
    assert inventory.groups == 1
    a, twice = units(inventory, "A"), units(inventory, "A|A")
    assert set(a) & set(twice) == {0}, "the coarse tag A is neither the label A nor the part A"


def test_a_part_that_comes_twice_counts_once() -> None:
    inventory = Inventory(["X|a|a", "X|b"], lambda label: label.split("|"))
    assert len(units(inventory, "X|a|a")) == 3


def test_numbers() -> None:
    inventory = Inventory(NOUNS)
    assert inventory.number_labels(["PUNCT", "NONE", "NOUN|Case=Acc"]).tolist() == [2, -1, 0]
    assert inventory.number_labels(["PUNCT"]).dtype == np.int32
    assert inventory.number_labels([]).tolist() == []


def test_none_at_all() -> None:
    inventory = Inventory([])
    assert (len(inventory), inventory.groups, inventory.units) == (0, 0, 0)


def test_the_kernels_take_it() -> None:
    native = Inventory(NOUNS, Target("upos+feats").parts).to_native()
    assert (native.labels, native.groups) == (4, 3)
