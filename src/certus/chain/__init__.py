"""Label sequences: the problem, and one file for each way to solve it."""

from certus.chain.astar import AStar
from certus.chain.auto import Auto
from certus.chain.automaton import Automaton, bilou, bio, bmes, iob1, iobes
from certus.chain.beam import Beam
from certus.chain.carpediem import CarpeDiem
from certus.chain.iterative_astar import IterativeAStar
from certus.chain.iterative_viterbi_astar import IterativeViterbiAStar
from certus.chain.kbest import KBestLabels
from certus.chain.kbest_astar import KBestAStar
from certus.chain.kbest_viterbi import KBestViterbi
from certus.chain.marginals import Marginals
from certus.chain.method import Method
from certus.chain.methods import METHODS
from certus.chain.model import Labels
from certus.chain.problem import Chain, decode
from certus.chain.sparse import SparseTransitions
from certus.chain.staggered import Staggered
from certus.chain.viterbi import Viterbi
from certus.chain.viterbi_astar import ViterbiAStar

__all__ = [
    "METHODS",
    "AStar",
    "Auto",
    "Automaton",
    "Beam",
    "CarpeDiem",
    "Chain",
    "IterativeAStar",
    "IterativeViterbiAStar",
    "KBestAStar",
    "KBestLabels",
    "KBestViterbi",
    "Labels",
    "Marginals",
    "Method",
    "SparseTransitions",
    "Staggered",
    "Viterbi",
    "ViterbiAStar",
    "bilou",
    "bio",
    "bmes",
    "decode",
    "iob1",
    "iobes",
]
