"""Exact agreement over scores of one's own."""

from __future__ import annotations

from certus.align.agreement import FULL, Agreement
from certus.align.methods import AlignMethod, choose_method
from certus.align.problem import read_problem
from certus.align.solution import Alignment
from certus.checks import Scores, check_infeasible, read_seconds
from certus.errors import Infeasible, describe_infeasible
from certus.solution import OnInfeasible, Status


def align_matrix(
    forward: Scores,
    backward: Scores | None = None,
    *,
    null: Scores | tuple[Scores, Scores] = 0.0,
    agreement: Agreement | str = FULL,
    method: AlignMethod | str = "exact",
    forward_steps: Scores | None = None,
    backward_steps: Scores | None = None,
    max_iterations: int | None = None,
    max_nodes: int | None = None,
    seconds: float | None = None,
    infeasible: OnInfeasible = "raise",
) -> Alignment:
    """Return the best pair of alignments that agree, and a proof.

    Each target word chooses a source word or nothing by ``forward``, each source word a target word or
    nothing by ``backward``; ``agreement`` says what it costs where the two differ. The score is the sum of
    all choices, those for nothing included, and of these costs (Chang et al. 2014).

    Args:
        forward: (I, J) scores of links, as a target word j sees source word i. NumPy or torch; ``-inf``
            forbids a link.
        backward: (I, J) scores of the same links as source words see them; ``forward`` by default, for one
            matrix of similarities.
        null: what it scores to choose nothing: a number, or two arrays, (J,) for target words and (I,) for
            source words.
        agreement: "full" (the same links in both directions), "adjacent", "soft", or an Agreement.

    Other args:
        method: "exact", which proves every answer unless a limit ends it; or one of the literature, to
            compare: "lr" and "cons" (Chang et al. 2014), "decomposition" (DeNero & Macherey 2011), or an
            object of certus.align.methods with options of its own.
        forward_steps: (I + 1, I + 1) scores of choices of neighbouring target words, from and to; 0 is
            nothing, and stands before the first word; source word i is i + 1.
        backward_steps: (J + 1, J + 1) of source words.
        max_iterations: of each ascent of the bound; None for the method's own number.
        max_nodes: of branching, for "exact".
        seconds: the most time it may take; None for no limit. An answer that is not proven by then has a
            ``bound`` above its ``score``.
        infeasible: whether a pair without any allowed alignment raises Infeasible, or returns one with that
            status.

    Example:
        >>> certus.align.align_matrix([[0.9, 0.1], [0.2, 0.8]], null=0.3).links
        ((0, 0), (1, 1))
    """
    check_infeasible(infeasible)
    chosen = choose_method(method, max_iterations=max_iterations, max_nodes=max_nodes)
    problem = read_problem(forward, backward, null, forward_steps, backward_steps, agreement)
    found = chosen.solve(problem, read_seconds(seconds))
    if found.status is Status.INFEASIBLE and infeasible == "raise":
        raise Infeasible(
            describe_infeasible(
                "no pair of alignments that agree is possible",
                "Look for words whose links are all -inf, and let them choose nothing (null)",
            )
        )
    return found
