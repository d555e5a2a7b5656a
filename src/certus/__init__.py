"""Certus: the best label sequence, tree or combination of models, fast, with a bound that proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certus.chain import (
    Automaton,
    Chain,
    Marginals,
    SparseTransitions,
    bilou,
    bio,
    bmes,
    decode,
    iob1,
    iobes,
)
from certus.errors import CertusError, Infeasible, InvalidInput, ModelError, NotFitted
from certus.solution import KBest, LabelKBest, LabelSolution, Solution, Status
from certus.version import __version__ as __version__

if TYPE_CHECKING:
    from certus import align as align
    from certus import corpus as corpus
    from certus import evaluation as evaluation
    from certus import formats as formats
    from certus import hypergraph as hypergraph
    from certus import latent as latent
    from certus import learn as learn
    from certus import models as models
    from certus import relax as relax
    from certus import syntax as syntax
    from certus import testing as testing
    from certus import translate as translate
    from certus import verification as verification
    from certus.citations import citation
    from certus.models.aligner import Aligner
    from certus.models.crf import CRF
    from certus.models.dependency_parser import DependencyParser
    from certus.models.language_model import LanguageModel
    from certus.models.loading import load
    from certus.models.parser import ConstituencyParser
    from certus.models.tagger import Tagger
    from certus.models.translator import Translator
    from certus.syntax.dependency.trees import Trees
    from certus.verification.verify import verify

_LAZY = {  # so that `import certus` is quick
    "Aligner": "certus.models.aligner",
    "CRF": "certus.models.crf",
    "ConstituencyParser": "certus.models.parser",
    "DependencyParser": "certus.models.dependency_parser",
    "LanguageModel": "certus.models.language_model",
    "Tagger": "certus.models.tagger",
    "Translator": "certus.models.translator",
    "Trees": "certus.syntax.dependency.trees",
    "citation": "certus.citations",
    "load": "certus.models.loading",
    "verify": "certus.verification.verify",
}
_ROOMS = (
    "align",
    "corpus",
    "evaluation",
    "formats",
    "hypergraph",
    "latent",
    "learn",
    "models",
    "relax",
    "syntax",
    "testing",
    "translate",
    "verification",
)


def __getattr__(name: str) -> object:
    """Import what most programs do not need when it is first asked for."""
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"certus.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'certus' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """List what there is, also what is not imported yet."""
    return sorted({*__all__, *_LAZY, *_ROOMS})


__all__ = [
    "CRF",
    "Aligner",
    "Automaton",
    "CertusError",
    "Chain",
    "ConstituencyParser",
    "DependencyParser",
    "Infeasible",
    "InvalidInput",
    "KBest",
    "LabelKBest",
    "LabelSolution",
    "LanguageModel",
    "Marginals",
    "ModelError",
    "NotFitted",
    "Solution",
    "SparseTransitions",
    "Status",
    "Tagger",
    "Translator",
    "Trees",
    "bilou",
    "bio",
    "bmes",
    "citation",
    "decode",
    "iob1",
    "iobes",
    "load",
    "verify",
]
