"""CarpeDiem: open only the nodes whose own score makes them promising."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class CarpeDiem(Method):
    """Esposito & Radicioni (2009): T·L·log L when node scores decide, T·L² at worst.

    The labels of each position are opened in the order of their own scores, until no closed one can beat the
    best open one even with the best possible transition. Shines when transitions matter little; both Kaji et
    al. (2010, table 1) and Huang et al. (2012, table 4) find it slower than Viterbi on joint tagging and
    supertagging, where they do not.
    """

    name: ClassVar[str] = "carpediem"
    papers: ClassVar[tuple[str, ...]] = ("esposito2009",)
