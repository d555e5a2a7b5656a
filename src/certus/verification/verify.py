"""Checks certificates: proven, proven to within epsilon, or refuted, and where."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from certus.verification import chains, decompositions, forests, latent_chains, ngrams, spanning_trees
from certus.verification.certificate import Certificate
from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import show_fraction
from certus.verification.findings import Findings
from certus.verification.problem import Problem, make_problem
from certus.verification.verdict import Finding, Verdict

_CHECKS: dict[str, Callable[[Mapping[str, Any], Any, Mapping[str, Any]], Findings]] = {
    "chain": chains.check,
    "ngrams": ngrams.check,
    "forest": forests.check,
    "trees": spanning_trees.check,
    "latent": latent_chains.check,
    "decomposition": decompositions.check,
}
AnyProblem: TypeAlias = Problem | Mapping[str, Any] | tuple[Any, ...] | str | os.PathLike[str] | Any


def verify(problem: AnyProblem, certificate: Any) -> Verdict:
    """Check a certificate against its problem, in exact arithmetic.

    Nothing of the solvers is used: the problem's numbers and the certificate are all that is believed.

    Args:
        problem: a Problem, or what can state itself as one: ``(chain, emissions)``, ``(forest, scores)``,
            ``(trees, arcs)``, a decomposition, a factor graph; a mapping of its arrays with their ``kind``;
            or the path of a file.
        certificate: a Certificate, a solution that has one, or the path of a file.

    Raises:
        CertificateError: the certificate is of another problem, or one of the two cannot be read.
    """
    stated, given = read_problem(problem), _read_certificate(certificate)
    if given.kind != stated.kind or given.fingerprint != stated.fingerprint:
        raise CertificateError(
            f"the certificate is of another problem: of a {given.kind} {given.fingerprint[:12]}, "
            f"not of this {stated.kind} {stated.fingerprint[:12]}"
        )
    try:
        found = _CHECKS[stated.kind](stated.data, given.answer, given.proof)
        _compare(given, found)
    except Refuted as reason:
        return Verdict(Finding.REFUTED, reason=str(reason))
    exact = given.score == given.bound
    return Verdict(Finding.PROVEN if exact else Finding.WITHIN, given.score, given.bound)


def read_problem(problem: AnyProblem) -> Problem:
    """Return anything that states a problem as one."""
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, str | os.PathLike):
        return Problem.load(problem)
    if isinstance(problem, Mapping):
        return make_problem(problem.get("kind"), {k: v for k, v in problem.items() if k != "kind"})
    stating, arguments = (
        (problem[0], problem[1:]) if isinstance(problem, tuple) and problem else (problem, ())
    )
    state = getattr(stating, "state_problem", None)
    if not callable(state):
        raise CertificateError(
            f"a {type(stating).__name__} does not state a problem: give a certus.verification.Problem, "
            "(chain, emissions), (forest, scores), (trees, arcs), a decomposition, a factor graph or a file"
        )
    try:
        inspect.signature(state).bind(*arguments)
    except TypeError as reason:
        name = type(stating).__name__
        raise CertificateError(
            f"a {name} states a problem together with what it was asked, as in "
            f"certus.verify((chain, emissions), solution): {reason}"
        ) from None
    stated: Problem = state(*arguments)
    return stated


def _read_certificate(given: Any) -> Certificate:
    if isinstance(given, str | os.PathLike):
        return Certificate.load(given)
    if isinstance(given, Certificate):
        return given
    held = getattr(given, "certificate", None)
    if not isinstance(held, Certificate):
        raise CertificateError("there is no certificate: ask for one with certificate=True")
    return held


def _compare(claimed: Certificate, found: Findings) -> None:
    """Hold what is claimed against what was found."""
    if claimed.score != found.score:
        raise Refuted(f"the answer scores {_contrast(found.score, claimed.score)} as claimed")
    if found.bound is not None and (claimed.bound is None or claimed.bound < found.bound):
        raise Refuted(f"the proof shows a bound of {_contrast(found.bound, claimed.bound)} as claimed")
    if claimed.bound is None and claimed.score is not None:
        raise Refuted("there is an answer, but the bound says that nothing is possible")


def _contrast(found: Fraction | None, claimed: Fraction | None) -> str:
    """Say what was found, and what was not; by how much they differ, where they look the same."""
    left, right = show_fraction(found, digits=17), show_fraction(claimed, digits=17)
    if left != right or found is None or claimed is None:
        return f"{left}, not {right}"
    return f"{left}, but {show_fraction(found - claimed, digits=3)} more than {right}"


def certify(problem: Problem, answer: Any, proof: Mapping[str, Any]) -> Certificate:
    """Return the certificate that claims exactly what a proof shows; a solver's last step.

    Raises:
        CertificateError: the proof shows nothing.
    """
    try:
        found = _CHECKS[problem.kind](problem.data, answer, proof)
    except Refuted as reason:
        raise CertificateError(f"no certificate can be given: {reason}") from None
    bound = found.bound
    if bound is None and found.score is not None:
        raise CertificateError("no certificate can be given: the bound is below the answer")
    return Certificate(problem.kind, problem.fingerprint, answer, found.score, bound, proof)
