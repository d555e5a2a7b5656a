"""Certificates: true ones are accepted, and no change of one makes the checker prove what is false.

The truth is that of the problem's own kind. A certificate that is accepted must name the exact score of its
answer, and a bound that no structure exceeds.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import certus
from certus.latent import LatentChain
from certus.verification import Certificate, CertificateError, Problem, Verdict
from tests.attack.attack import Attack, Question, Truth
from tests.attack.chains import Chains, make_allowed, make_chain
from tests.attack.decompositions import Decompositions, make_decomposition
from tests.attack.factor_graphs import FactorGraphs, make_graph
from tests.attack.forests import Forests
from tests.attack.forests import make_graph as make_forest
from tests.attack.latent import LatentChains
from tests.attack.trees import DependencyTrees

KINDS: dict[str, Attack[Any]] = {
    kind.name: kind
    for kind in (Chains(), DependencyTrees(), Forests(), FactorGraphs(), Decompositions(), LatentChains())
}
MUTATIONS = 12


@dataclass(frozen=True)
class CertificateProblem:
    """A problem of another kind."""

    kind: str
    problem: Any
    seed: int


class Certificates:
    """The checker of certificates."""

    name = "certificates"

    def draw(self, rng: Random) -> CertificateProblem:
        """Return a problem that certificates are given for."""
        while True:
            kind = rng.choice(list(KINDS))
            problem = KINDS[kind].draw(rng)
            if _has_certificates(kind, problem):
                return CertificateProblem(kind, problem, rng.getrandbits(32))

    def enumerate(self, problem: CertificateProblem) -> Truth:
        """Return the truth of the problem's own kind."""
        return KINDS[problem.kind].enumerate(problem.problem)

    def ask(self, problem: CertificateProblem) -> Iterator[Question]:
        """Check the certificate, and changed ones."""
        yield Question(problem.kind, lambda: self._check(problem))

    def _check(self, problem: CertificateProblem) -> list[str]:
        rng = Random(problem.seed)
        best = self.enumerate(problem).list_best(1)
        stated, certificate = _certify(problem)
        wrong = []
        verdict = certus.verify(stated, certificate)
        if not verdict:
            wrong.append(f"a true certificate is refuted: {verdict}")
        wrong += _judge(verdict, best[0].score if best else None, problem.problem)
        given = certificate.as_json()
        for _ in range(MUTATIONS):
            changed = _mutate(copy.deepcopy(given), rng)
            try:
                verdict = certus.verify(stated, Certificate.of_json(changed))
            except CertificateError:
                continue
            faults = _judge(verdict, best[0].score if best else None, problem.problem)
            wrong += [f"{fault}; of the changed certificate {changed}" for fault in faults]
        return wrong


def _has_certificates(kind: str, problem: Any) -> bool:
    if kind == "trees":
        return not problem.projective and all(part is None for part in problem.parts)
    if kind == "latent":
        return problem.allowed is None
    if kind == "decompositions":  # the checker does not know all parts
        known = ("chain", "tree", "table", "one", "at-most-one", "budget", "or", "or-output", "knapsack")
        return problem.regime != "mixed" and all(part.kind in known for part in problem.parts)
    return not (kind == "factor-graphs" and len(problem.variables) > 8)


def _certify(problem: CertificateProblem) -> tuple[Problem, Certificate]:
    """Return the problem as the checker takes it, and the certificate of the library's answer."""
    own = problem.problem
    options: dict[str, Any] = {"certificate": True, "infeasible": "return"}
    if problem.kind == "chains":
        chain, allowed = make_chain(own), make_allowed(own)
        stated = chain.state_problem(own.emissions, allowed)
        found = chain.decode(own.emissions, allowed=allowed, **options)
    elif problem.kind == "trees":
        trees = certus.Trees(single_root=own.single_root)
        stated, found = trees.state_problem(own.arcs), trees.decode(own.arcs, **options)
    elif problem.kind == "forests":
        forest = make_forest(own)
        stated, found = forest.state_problem(own.scores), forest.decode(own.scores, **options)
    elif problem.kind == "factor-graphs":
        graph = make_graph(own)
        stated, found = graph.state_problem(), graph.solve(seconds=20, **options)
    elif problem.kind == "decompositions":
        whole, _ = make_decomposition(own, [part.make() for part in own.parts])
        stated, found = whole.state_problem(), whole.solve(seconds=20, **options)
    else:
        latent = LatentChain(own.transitions, own.owner, own.start, own.end)
        stated = latent.state_problem(own.emissions, own.pairs)
        found = latent.decode(own.emissions, pairs=own.pairs, **options)
    assert found.certificate is not None
    return stated, found.certificate


def _judge(verdict: Verdict, optimum: float | None, problem: Any) -> list[str]:
    """Return what an accepted certificate proves that is false; sums of whole numbers are exact."""
    if not verdict or not getattr(problem, "integral", False):
        return []
    if verdict.bound is None:
        return [] if optimum is None else [f"proves that nothing is possible, but {optimum} is"]
    if optimum is not None and verdict.bound < Fraction(optimum):
        return [f"proves the bound {verdict.bound}, but {optimum} is possible"]
    if verdict.score is not None and (optimum is None or verdict.score > Fraction(optimum)):
        return [f"proves the score {verdict.score}, but the best is {optimum}"]
    return []


def _mutate(given: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Change an answer, a claim or numbers of a proof."""
    choice = rng.randrange(5)
    if choice == 0 and isinstance(given["answer"], list) and given["answer"]:
        _change(given["answer"], rng)
    elif choice == 1:
        given["bound"] = given["score"]
    elif choice == 2:
        given["answer"] = given["score"] = given["bound"] = None
    elif choice == 3:
        given["bound"] = given["score"]
        _change(given["proof"], rng)
    else:
        for _ in range(rng.randint(1, 3)):
            _change(given["proof"], rng)
    return given


def _change(value: Any, rng: Random) -> None:
    """Change a number somewhere within lists and mappings."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    inner = value[key]
    if isinstance(inner, dict | list) and inner:
        _change(inner, rng)
    elif isinstance(inner, bool) or inner is None:
        value[key] = rng.choice([None, 0, 1, "-1"])
    elif isinstance(inner, int | float):
        value[key] = inner + rng.choice([-1, 1, -2, 0.5, -0.5, 10, -10])
    else:
        value[key] = rng.choice(["0", "1", "-1", "-5", "1/2", None, 3])
