"""What ``certus.citation`` says of what was used."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS, IterativeViterbiAStar, Staggered
from certus.citations import PAPERS, References
from certus.corpus import Mrf
from certus.latent import LDI
from certus.learn.learners import LEARNERS
from certus.relax import OPTIMIZERS, Decomposition
from certus.relax.parts import ExactlyOne
from certus.syntax import Grammar, JointParser


def list_keys(references: References) -> list[str]:
    return [paper.key for paper in references]


def test_everything_is_named_without_arguments() -> None:
    everything = certus.citation()
    assert list_keys(everything) == list(PAPERS)
    assert [paper.year for paper in everything] == sorted(paper.year for paper in everything)


@pytest.mark.parametrize(
    ("used", "keys"),
    [
        (Staggered, ["kaji2010"]),
        (IterativeViterbiAStar(), ["huang2012"]),
        (LDI(), ["sun2009"]),
        (Decomposition(), ["rush2010", "rush2011"]),
        (certus.Tagger("upos", "pruned-crf"), ["mueller2013"]),
        (certus.Tagger("upos", "refinement"), ["stratos2013"]),
        (certus.ConstituencyParser(), ["klein2003", "huang2005"]),
        (certus.CRF(), ["lafferty2001"]),
        (Grammar, ["klein2003", "huang2005"]),
        (JointParser, ["rush2010"]),
        (Mrf, ["rush2012"]),
        (OPTIMIZERS["subgradient"], ["komodakis2007", "koo2010", "rush2010"]),
    ],
)
def test_what_was_used_names_its_papers(used: certus.citations.Citable, keys: list[str]) -> None:
    assert list_keys(certus.citation(used)) == keys


def test_several_are_named_once_each() -> None:
    d = Decomposition()
    d.add(ExactlyOne([1.0, 2.0]))
    assert list_keys(certus.citation(Staggered(), d, d.solve(), Staggered)) == [
        "kaji2010",
        "rush2010",
        "rush2011",
    ]


def test_whatever_is_listed_by_name_names_papers_that_are_known() -> None:
    papers = [method.papers for method in METHODS.values()]
    papers += [optimizer.papers for optimizer in OPTIMIZERS.values()]
    papers += [learner.papers for learner in LEARNERS.values()]
    assert {key for keys in papers for key in keys} <= set(PAPERS)


def test_text_and_bibtex() -> None:
    (paper,) = references = certus.citation(Staggered)
    assert str(references) == repr(references) == str(paper)
    assert str(paper) == (
        "Nobuhiro Kaji, Yasuhiro Fujiwara, Naoki Yoshinaga & Masaru Kitsuregawa (2010). Efficient Staggered "
        "Decoding for Sequence Labeling. In Proceedings of the 48th Annual Meeting of the Association for "
        "Computational Linguistics, pages 485–494."
    )
    assert references.bibtex.startswith(
        "@inproceedings{kaji2010,\n  author = {Nobuhiro Kaji and Yasuhiro Fuj"
    )
    assert "  pages = {485--494},\n  year = {2010},\n}" in references.bibtex
    assert "@article{viterbi1967," in certus.citation().bibtex


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_keys_name_author_and_year(paper: certus.citations.Paper) -> None:
    family = paper.authors[0].split()[-1].lower()
    plain = family.replace("ü", "ue").replace("é", "e")
    assert (
        paper.key.rstrip("abcdefghijklmnopqrstuvwxyz") == f"{plain}{paper.year}"
    )  # a word may tell two of a year apart
    assert not paper.pages or re.fullmatch(r"\d+–\d+", paper.pages)


def test_what_names_no_papers_is_refused() -> None:
    nothing_published: Any = np.zeros(3)
    with pytest.raises(certus.InvalidInput, match="ndarray names no papers; pass the method, learner"):
        certus.citation(nothing_published)
