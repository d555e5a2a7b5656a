"""Refinement HMMs: each label has hidden states, found by EM or spectrally (Stratos et al. 2013).

One interface, ``Refinement``: ``fit(sentences)``, ``predict``, ``marginals``, ``log_probabilities``,
``diagnostics``. ``PlainHmm`` and ``Unigram`` are what refinement has to beat; ``Parameters`` is a model whose
probabilities are known.
"""

from certus.errors import RefinementWarning
from certus.learn.refinement.baselines import PlainHmm, Unigram
from certus.learn.refinement.data import Labelled, LabelledCorpus, Names, Observed
from certus.learn.refinement.diagnostics import Block, Diagnostics, LabelReport
from certus.learn.refinement.em import EmRefinement
from certus.learn.refinement.features import PAPER, FeatureFunction, Features
from certus.learn.refinement.model import Refinement, RefinementMarginals
from certus.learn.refinement.operators import Masses, Operators, Sums
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.spectral import Smoothing
from certus.learn.refinement.spectral_model import SpectralRefinement
from certus.learn.refinement.tensors import Tensors

__all__ = [
    "PAPER",
    "Block",
    "Diagnostics",
    "EmRefinement",
    "FeatureFunction",
    "Features",
    "LabelReport",
    "Labelled",
    "LabelledCorpus",
    "Masses",
    "Names",
    "Observed",
    "Operators",
    "Parameters",
    "PlainHmm",
    "Refinement",
    "RefinementMarginals",
    "RefinementWarning",
    "Smoothing",
    "SpectralRefinement",
    "Sums",
    "Tensors",
    "Unigram",
]
