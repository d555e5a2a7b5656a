"""What Koo et al. (2010) do, on a trained parser: tables 1 and 2, sections 7.4 to 7.6.

Dual decomposition with their step sizes, in so many iterations and without branching; linear and integer
programs; and what head automata pick by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from certus import _native
from certus.annotation.columns import select_columns
from certus.annotation.sentence import Sentence
from certus.models.dependency_parser import DependencyParser
from certus_bench.harness.timing import time_processor
from certus_bench.tree_program import Flow, Parts, solve_program

LIMITS = (5000, 1000, 250)  # iterations
# By name: whether a program is of whole numbers, and how it says that arcs make a tree.
PROGRAMS: dict[str, tuple[bool, Flow]] = {
    "LP(S)": (False, "single"),
    "LP(M)": (False, "multi"),
    "ILP": (True, "single"),
}
SECONDS = 60.0  # the most for one program


@dataclass(frozen=True)
class Limited:
    """Dual decomposition as in the paper: its step sizes, neither fixing nor branching.

    Attributes:
        iterations: the most of them.
        proven: the share of sentences with a certificate, in percent.
        uas: of the best trees found.
        seconds: of processor time per sentence, features included; ``whole`` is the same of our method, to
            the proof.
        recomputed: the share of head automata that are solved anew in an iteration, in percent.
        same: the share of sentences with the tree that is proven to be the best, in percent.
    """

    iterations: int
    proven: float
    uas: float
    seconds: float
    whole: float
    recomputed: float
    same: float


@dataclass(frozen=True)
class Programs:
    """One kind of program over some sentences.

    Attributes:
        name: one of PROGRAMS.
        sentences: how many.
        whole: the share of them where the best point is a tree, in percent.
        seconds: of processor time per sentence, features not included.
    """

    name: str
    sentences: int
    whole: float
    seconds: float


@dataclass(frozen=True)
class PaperTrial:
    """What the methods of the paper do with one parser.

    Attributes:
        branched: the share of sentences that our method proves by branching, in percent.
        limited: dual decomposition in so many iterations.
        precision: of what automata pick by themselves, in percent; and ``recall``.
        programs: linear and integer programs, over a few sentences.
    """

    branched: float
    limited: list[Limited]
    precision: float
    recall: float
    programs: list[Programs]


def hold_against_paper(
    parser: DependencyParser, gold: Sequence[Sentence], programs: int
) -> tuple[PaperTrial, list[str]]:
    """Return what the methods of the paper do, and where their answers differ from ours."""
    whole, best = _parse(parser, gold, 0)
    right = _list_heads(gold)
    begins = np.cumsum([0, *map(len, gold[:-1])])
    limited = []
    for most in LIMITS:
        seconds, found = _parse(parser, gold, most)
        limited.append(
            Limited(
                most,
                100 * float(found.proven.mean()),
                100 * float((found.heads == right).mean()),
                seconds / len(gold),
                whole / len(gold),
                100 * float(found.solved.sum() / max(1, found.automata.sum())),
                100 * float(np.logical_and.reduceat(found.heads == best.heads, begins).mean()),
            )
        )
    step = max(1, len(gold) // max(1, programs))
    chosen = list(range(0, len(gold), step))[:programs] if find_spec("highspy") else []
    solved, faults = _solve_programs(parser, [gold[n] for n in chosen], best.scores[chosen])
    branched = 100 * float((best.nodes > 1).mean())
    return PaperTrial(branched, limited, *_judge_picks(parser, gold), solved), faults


def _parse(parser: DependencyParser, gold: Sequence[Sentence], most: int) -> tuple[float, Any]:
    """Return processor seconds and trees: by the paper's method in so many iterations, or by ours for 0."""
    model, options = parser.model, parser.options
    call = partial(
        model.native.parse,
        [select_columns(sentence, parser.columns) for sentence in gold],
        projective=False,
        single_root=model.single_root,
        ratio=options.pruning,
        most=options.candidates,
        k=1,
        seconds=np.inf,
        threads=1,
        paper_iterations=most,
    )
    return time_processor(call)


def _list_heads(gold: Sequence[Sentence]) -> Any:
    return np.array([int(head) for sentence in gold for head in sentence.columns["head"]])


def _score_parts(parser: DependencyParser, sentence: Sentence) -> Parts:
    scored = parser.model.native.score_parts(
        [select_columns(sentence, parser.columns)],
        ratio=parser.options.pruning,
        most=parser.options.candidates,
    )
    kinds = (scored.siblings, scored.grandparents, scored.grandsiblings)
    return Parts(len(sentence), scored.heads, scored.modifiers, scored.arcs, *kinds)


def _judge_picks(parser: DependencyParser, gold: Sequence[Sentence]) -> tuple[float, float]:
    """Return precision and recall of the arcs that automata pick by themselves (section 7.6)."""
    found = right = 0
    for sentence in gold:
        parts = _score_parts(parser, sentence)
        arcs = _native.DependencyArcs(parts.words, parts.heads, parts.modifiers)
        kinds = (parts.siblings, parts.grandparents, parts.grandsiblings)
        scores = _native.TreeScores64(arcs, parts.arcs, *(kind if kind.size else None for kind in kinds))
        picked, parents = (np.empty(len(arcs), np.uint8) for _ in range(2))
        if scores.pick_freely(picked, parents) is None:
            continue
        heads = _list_heads([sentence])
        taken = picked > 0
        found += int(taken.sum())
        right += int((parts.heads[taken] == heads[parts.modifiers[taken] - 1]).sum())
    return 100 * right / max(1, found), 100 * right / max(1, sum(map(len, gold)))


def _solve_programs(
    parser: DependencyParser, gold: Sequence[Sentence], scores: Any
) -> tuple[list[Programs], list[str]]:
    """Solve every kind of program; integer programs must find what we find."""
    rows, faults = [], []
    for name, (integer, flow) in PROGRAMS.items() if gold else ():
        spent, whole = 0.0, 0
        for sentence, score in zip(gold, scores, strict=True):
            parts = _score_parts(parser, sentence)
            seconds, outcome = time_processor(
                partial(
                    solve_program,
                    parts,
                    SECONDS,
                    integer=integer,
                    flow=flow,
                    single_root=parser.model.single_root,
                )
            )
            spent += seconds
            whole += outcome is not None and outcome.is_whole
            if outcome is not None and integer and abs(outcome.score - score) > 1e-4 * max(1, abs(score)):
                faults.append(f"{sentence.source}:{sentence.line}: HiGHS finds {outcome.score}, we {score}")
        rows.append(Programs(name, len(gold), 100 * whole / len(gold), spent / len(gold)))
    return rows, faults
