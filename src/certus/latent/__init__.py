"""Chains whose labels have latent states, and ways to find the most probable labels.

``certus.learn.refinement`` has hidden Markov models of this kind.
"""

from certus.latent.bhp import BHP
from certus.latent.bmp import BMP
from certus.latent.inference import INFERENCES, Inference
from certus.latent.ldi import LDI
from certus.latent.mbr import MBR
from certus.latent.model import LatentChain
from certus.latent.solution import LabelSequences, LatentSolution

__all__ = [
    "BHP",
    "BMP",
    "INFERENCES",
    "LDI",
    "MBR",
    "Inference",
    "LabelSequences",
    "LatentChain",
    "LatentSolution",
]
