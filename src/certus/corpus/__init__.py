"""Tagging a corpus as a whole: words that the tagger never saw get labels that agree (Rush et al. 2012)."""

from __future__ import annotations

from certus.corpus.agreement import Agreement
from certus.corpus.mrf import Mrf
from certus.corpus.result import Consistent, Iteration
from certus.corpus.solver import METHODS, Limits
from certus.corpus.tagging import tag

__all__ = ["METHODS", "Agreement", "Consistent", "Iteration", "Limits", "Mrf", "tag"]
