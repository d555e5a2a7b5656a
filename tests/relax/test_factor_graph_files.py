"""Factor graphs from files: the examples of the formats' descriptions, and files that are cut or wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from certus.errors import FormatError
from certus.relax import read_factor_graphs

OR = "3\n2\n0.75\n1.25\n-0.5\nOR 3 1 2 3\nPAIR 2 1 2 -1.05\n"
BUDGET = """\
8
6
-1.25
0.75
-0.5
2.0
-1.75
0.75
-0.75
1.75
DENSE 3 1 2 3 2 2 1 -0.75 0.75
DENSE 4 1 2 4 5 2 2 2 0.25 0.5 -0.25 -0.5
DENSE 3 1 2 6 2 2 1 0.25 -0.25
DENSE 4 1 2 7 8 2 2 2 -1.25 1.5 0.75 -0.5
BUDGET 5 1 3 4 6 7 4
BUDGET 5 -1 -3 -4 -6 -7 2
"""
UAI = (
    "MARKOV\n3\n2 2 3\n2\n2 0 1\n3 0 1 2\n\n4\n 4.0 2.4\n 1.0 0.0\n\n12\n"
    + " ".join(map(str, range(1, 13)))
    + "\n"
)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_ad3(tmp_path: Path) -> None:
    first, second = read_factor_graphs(write(tmp_path, "two.fg", OR + "\n" + BUDGET))
    assert list(first.solve().value) == [0, 1, 0]
    found = second.solve()
    on = np.array(found.value, bool)
    assert on[[0, 2, 3, 5, 6]].sum() <= 4
    assert (~on)[[0, 2, 3, 5, 6]].sum() <= 2
    assert on[:2].sum() == on[2] == on[3:5].sum() == on[5] == on[6:].sum() == 1
    every = (np.array([*map(int, f"{n:08b}")]) for n in range(256))
    assert found.score == found.bound == max(second.score(states) for states in every)


def test_uai(tmp_path: Path) -> None:
    (graph,) = read_factor_graphs(write(tmp_path, "x.uai", "c a comment\n" + UAI))
    found = graph.solve()
    assert list(found.value) == [
        0,
        1,
        2,
    ]  # 2.4 · 6, where 1 · 9 and 4 · 3 are less, and 0 · 12 is not allowed
    assert found.score == pytest.approx(np.log(2.4 * 6))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.fg", OR.replace("OR 3", "NOR 3"), r"x.fg:6: there is no factor 'NOR' here; there are: XOR"),
        ("x.fg", OR.replace("OR 3 1", "OR 3 4"), r"x.fg:6: a variable must be from -3 to 3, not 4"),
        ("x.fg", OR.replace("OR 3 1", "OR 3 0"), r"x.fg:6: .* there is no variable 0"),
        ("x.fg", OR.replace("OR 3 1", "OR 3 2"), r"x.fg:6: .* twice"),
        ("x.fg", OR.replace("1.25", "what"), r"x.fg:4: the score of a variable must be a number, not 'what'"),
        ("x.fg", OR.replace("1.25", "nan"), r"x.fg:4: .* not 'nan'"),
        ("x.fg", OR[:-7], r"x.fg:7: the file ends where the score of a pair should follow"),
        ("x.fg", OR.replace("PAIR 2 1", "PAIR 2 -1"), r"x.fg:7: a table cannot have negated variables"),
        ("x.fg", BUDGET.replace("DENSE 3 1 2 3 2 2 1", "DENSE 3 1 2 3 2 2 2"), r"x.fg:11: .* 4 states"),
        ("x.uai", UAI.replace("MARKOV", "MARKOW"), r"x.uai:1: a UAI file begins with MARKOV or BAYES"),
        ("x.uai", UAI.replace("2.4", "-2.4"), r"x.uai:9: a potential must not be below 0"),
        ("x.uai", UAI.replace("\n4\n", "\n5\n"), r"x.uai:8: the number of entries must be 4, not 5"),
        ("x.uai", UAI + "\n\n3", rf"x.uai:{UAI.count(chr(10)) + 3}: there is more in the file .*: '3'"),
        ("x.uai", "MARKOV\n2\n2 2\n1\n2 1 1\n4\n1 1 1 1", r"x.uai:5: a factor names a variable twice: 1 1"),
        ("x.uai", "MARKOV\n1\n99999999\n0", r"x.uai:3: the variables have more than 5000000 states"),
        ("x.uai", "", r"x.uai:1: the file ends"),
        ("x.fg", " \n", r"x.fg:1: the file is empty"),
        ("x.uai", "MARKOV\n99999999\n2", r"x.uai:3: the file ends"),
        ("x.txt", OR, r"end in .uai or .fg"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_factor_graphs(write(tmp_path, name, text))
