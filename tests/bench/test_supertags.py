"""Supertags of trees: what a word heads, its arguments, and how the whole is attached."""

from __future__ import annotations

from pathlib import Path

import pytest

from certus.annotation.trees import Tree
from certus_bench.supertags import find_supertags, read_supertags

TRANSITIVE = (
    "(S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (JJ old) (NN cat)) "
    "(PP-LOC (IN in) (NP (NNP Paris))) (NP-TMP (NN today))) (. .))"
)


@pytest.mark.parametrize(
    ("tree", "supertags"),
    [
        (
            TRANSITIVE,
            "DT>NP NN-NP VBZ-VP[.NP]-S[NP.] DT>NP JJ>NP NN-NP IN-PP[.NP]<VP NNP-NP NN-NP<VP .<S",
        ),
        ("(S (NP-SBJ (PRP it)) (VP (MD may) (VP (VB rain))))", "PRP-NP MD-VP[.VP]-S[NP.] VB-VP"),
        (
            "(NP (NP (NNS dogs)) (SBAR (WHNP (WDT that)) (S (VP (VBP bark)))))",
            "NNS-NP-NP WDT-WHNP-SBAR[.S]<NP VBP-VP-S",
        ),
        ("(X (UH oh))", "UH-X"),
    ],
)
def test_supertags(tree: str, supertags: str) -> None:
    assert list(find_supertags(Tree.parse(tree))) == supertags.split()


def test_a_file_of_trees_becomes_columns(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(f"({TRANSITIVE})\n( (-NONE- *) )\n((S (VP (VB go) (NP (-NONE- *)))))\n", encoding="utf-8")
    first, second = read_supertags(path)
    assert first.words[:3] == ["the", "dog", "sees"]
    assert first.column("pos")[:3] == ["DT", "NN", "VBZ"]
    assert first.column("supertag")[2] == "VBZ-VP[.NP]-S[NP.]"
    assert (second.words, second.column("supertag")) == (["go"], ["VB-VP-S"])
