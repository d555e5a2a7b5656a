"""``certus.corpus.tag``: the labels of a corpus, consistent and proven."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from certus.annotation import vocabulary
from certus.annotation.columns import Words
from certus.checks import check_count
from certus.corpus.agreement import Agreement, number_groups
from certus.corpus.problem import CorpusProblem
from certus.corpus.result import Consistent, Iteration
from certus.corpus.solver import Clock, Limits, solve
from certus.errors import InvalidInput
from certus.lattice.model import SequenceModel

DELTA = Agreement(4.0, 3.0)  # in units of log-probabilities; close counts where labels have parts


def tag(
    tagger: SequenceModel,
    sentences: Iterable[Words],
    *,
    text: Iterable[Words] = (),
    delta: Agreement | float | Iterable[float] | None = None,
    max_iterations: int = 200,
    seconds: float | None = None,
    memory: float = 2.0,
    threads: int = 1,
    known: Collection[str] | None = None,
    groups: Callable[[str], Hashable] | None = None,
    case: bool = True,
    suffixes: Sequence[str] = ("s",),
    limits: Limits | None = None,
    progress: Callable[[Iteration], None] = lambda _: None,
) -> Consistent:
    """Label sentences so that words which the tagger never saw get labels that agree.

    The labels maximise the tagger's scores of all sentences, plus a bonus for every unknown word that has the
    label which its type agrees on (Rush et al. 2012). The answer comes with a bound, and with a proof for
    each sentence. What a pruned CRF drops is bounded, and sentences are searched again, with less dropped,
    where it might be needed. One that is told not to prove its answers (``tagger.proof = False``) drops more
    and is faster; the bound is then infinite.

    Args:
        tagger: a trained one.
        sentences: to be labelled, as for ``Tagger.tag``.
        text: more sentences, which nobody needs labels for; the unknown words in them help to decide.
        delta: the weights, as an Agreement, a number or up to three (same, close, null), in units of the
            tagger's scores; by default those that served well on UD English, fitted to the tagger.
        max_iterations: over the corpus.
        seconds: to stop after; the answer then says what is proven. Sentences whose turn comes later are
            searched no further than for their best labels.
        memory: gigabytes, about, that the lattices of a pruned CRF may take. Where more were needed, the
            bound is higher, and fewer sentences are certified.
        threads: for the tagger's part of the work.

    Other args:
        known: the words of the training data, for models that do not hold them.
        groups: gives a label its group; labels of a group are close. By default the coarse tag, if labels
            are made of several parts.
        case: whether word types that differ in case should agree.
        suffixes: that a type and the same type without them may agree in spite of, if known words do.
        limits: all there is to say about when to stop; ``max_iterations``, ``seconds`` and
            ``memory`` are then ignored.
        progress: is called after each iteration.
    """
    check_count("threads", threads)
    if isinstance(suffixes, str) or not all(suffixes):
        raise InvalidInput("suffixes must be a list of endings that are not empty")
    limits = limits or Limits(max_iterations=max_iterations, seconds=seconds, memory=memory)
    clock = Clock(limits.seconds)
    agreement = choose_delta(tagger) if delta is None else Agreement.of(delta)
    problem = CorpusProblem(
        tagger,
        sentences,
        text,
        _make_known_test(tagger, known),
        case,
        suffixes,
        agreement,
        _number_groups(tagger, groups),
        threads,
        clock,
        limits.memory * 5e8,  # half of it: fields of undecided pieces stand beside the lattices
    )
    return _solve_widening(problem, limits, progress)


def _solve_widening(
    problem: CorpusProblem, limits: Limits, progress: Callable[[Iteration], None]
) -> Consistent:
    """Solve a problem, and again with wider lattices of the sentences that might need what theirs lack."""
    began = time.perf_counter()
    field = problem.build_field()
    loaded = time.perf_counter()
    problem.solve(field, limits, progress)
    while not problem.clock.is_over and problem.widen(problem.outside):
        del field  # there is no room for two
        field = problem.build_field()
        problem.solve(field, limits, progress)
    if len(problem.outside):  # the best of what the lattices have, under the bound of all
        del field
        field = problem.build_field(with_outside=False)
        problem.trace += solve(field, limits, problem.agreement.same, problem.base, progress, problem.clock)
    problem.stats |= {"load_seconds": loaded - began, "solve_seconds": time.perf_counter() - loaded}
    return problem.collect_result(field)


def choose_delta(tagger: SequenceModel) -> Agreement:
    """Return the usual weights in units of the tagger's scores."""
    return DELTA.scale(tagger.agreement_scale)


def _make_known_test(
    tagger: SequenceModel, known: Collection[str] | None
) -> Callable[[list[str]], NDArray[np.bool_]]:
    """Return what tells known words."""
    if known is not None:
        if isinstance(known, str):
            raise InvalidInput("known must be a set of words, not a text")
        words = frozenset(known)
        return lambda names: np.fromiter((name in words for name in names), bool, len(names))
    keys = tagger.known
    return lambda names: vocabulary.contains(keys, names)


def _number_groups(tagger: SequenceModel, groups: Callable[[str], Hashable] | None) -> NDArray[np.int32]:
    if groups is not None:
        return number_groups([groups(label) for label in tagger.labels])
    return number_groups(tagger.coarse_labels)
