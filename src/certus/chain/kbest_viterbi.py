"""k-best Viterbi: every node keeps its k best ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class KBestViterbi(Method):
    """The textbook k-best dynamic program, k·T·L² (Huang et al. 2012, section 3.4).

    Kept as the baseline of the papers' tables: it stores k·T·L back-pointers, the other methods do not.
    """

    name: ClassVar[str] = "kbest-viterbi"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    one: ClassVar[bool] = False
    many: ClassVar[bool] = True
    keeps_ways: ClassVar[bool] = True
