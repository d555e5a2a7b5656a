"""One number of a certificate is changed: it is refuted where that matters, and accepted where it does not.

Whether it matters is decided by listing all structures, in fractions. ``CERTUS_MUTATIONS=1000000`` is the
large campaign.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import certus
from certus.verification import Certificate, CertificateError
from tests.reference.certificates import Listing, shows_bound
from tests.verification.problems import KINDS

MUTATIONS = int(os.environ.get("CERTUS_MUTATIONS", 10_000))
# How many of the mutations are of which kind: those that are quick to decide have more.
SHARES = {"chain": 0.15, "forest": 0.2, "trees": 0.15, "latent": 0.15, "factor graph": 0.08, "mixture": 0.08}
SHARES["ngrams"] = 0.15
SHARES["parser"] = 0.04
Path = tuple[Any, ...]


def list_numbers(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where the numbers of a JSON object stand; null, which stands for -inf, is one."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in ("format", "version", "kind", "fingerprint", "impossible"):
                yield from list_numbers(item, (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from list_numbers(item, (*path, place))
    elif isinstance(value, int | float | None):
        yield path


def change(given: Any, path: Path, rng: np.random.Generator) -> Any:
    """Return a copy with another number at a place."""
    changed = copy.deepcopy(given)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    old = holder[path[-1]]
    steps: list[float] = [-3, -1, 1, 2]
    if {"potentials", "inside", "multipliers", "value", "root", "score", "bound"} & set(path):
        steps += [0.5, -0.25]
    new: Any = (
        None if old is not None and rng.random() < 0.1 else (old or 0) + steps[rng.integers(len(steps))]
    )
    holder[path[-1]] = new
    return changed


def is_true(listing: Listing, claimed: Any) -> bool:
    """Decide, structure by structure, whether the answer scores what is claimed and the bound is shown."""
    score, bound = (None if claimed[name] is None else Fraction(claimed[name]) for name in ("score", "bound"))
    if (claimed["answer"] is None) != (score is None) or (score is not None and bound is None):
        return False
    if score is not None and (sort_cells(listing, claimed["answer"]), score) not in listing.wholes:
        return False
    return shows_bound(listing, claimed["proof"], bound)


def sort_cells(listing: Listing, answer: Any) -> Any:
    """Return an answer with the cells of each part, which may come in any order, in their own."""
    if listing.problem.kind != "decomposition":
        return answer
    kinds = [part["kind"] for part in listing.parts]
    return [
        sorted(set(own)) if kind in ("count", "knapsack", "or-output", "siblings") else own
        for own, kind in zip(answer, kinds, strict=True)
    ]


@pytest.mark.parametrize("kind", [kind for kind in SHARES if kind not in ("latent", "ngrams")])
def test_changes_that_matter_are_refuted_and_no_others(kind: str) -> None:
    rng = np.random.default_rng(5)
    refuted = accepted = seed = 0
    while refuted + accepted < MUTATIONS * SHARES[kind]:
        seed += 1
        solved = KINDS[kind](np.random.default_rng(seed))
        assert solved.solution.certificate is not None
        listing = Listing(solved.problem)
        given = json.loads(json.dumps(solved.solution.certificate.as_json()))
        assert is_true(listing, given), seed
        places = list(list_numbers(given))
        for place in [places[n] for n in rng.permutation(len(places))[:60]]:
            changed = change(given, place, rng)
            try:
                verdict = bool(certus.verify(listing.problem, Certificate.of_json(changed)))
            except CertificateError:
                verdict = False
                refuted += 1
                continue  # not even the shape of one: nothing to decide
            assert verdict == is_true(listing, changed), (seed, place, changed)
            refuted, accepted = refuted + (not verdict), accepted + verdict
    assert refuted > accepted > 0


def test_classes_of_ngrams() -> None:
    """A changed number is refuted, or what is claimed is still true of all label sequences."""
    rng = np.random.default_rng(7)
    refuted = accepted = seed = 0
    while refuted + accepted < MUTATIONS * SHARES["ngrams"]:
        seed += 1
        solved = KINDS["ngrams"](np.random.default_rng(seed))
        assert solved.solution.certificate is not None
        listing = Listing(solved.problem)
        given = json.loads(json.dumps(solved.solution.certificate.as_json()))
        places = list(list_numbers(given))
        for place in [places[n] for n in rng.permutation(len(places))[:30]]:
            changed = change(given, place, rng)
            try:
                verdict = certus.verify(listing.problem, Certificate.of_json(changed))
            except CertificateError:
                verdict = None
            if not verdict:
                refuted += 1
                continue
            accepted += 1
            score, bound = (
                None if changed[name] is None else Fraction(changed[name]) for name in ("score", "bound")
            )
            assert score is None or (changed["answer"], score) in listing.wholes, (seed, place)
            best = listing.optimum
            assert best is None or (bound is not None and bound >= best), (seed, place)
            assert not verdict.proven or score == best, (seed, place)
    assert refuted > accepted > 0


def test_prefixes_of_latent_chains() -> None:
    """A changed label or prefix is refuted, or what it still proves is true."""
    rng = np.random.default_rng(6)
    count = refuted = seed = 0
    while count < MUTATIONS * SHARES["latent"]:
        seed += 1
        solved = KINDS["latent"](np.random.default_rng(seed))
        assert solved.solution.certificate is not None
        chain, emissions, pairs = solved.stating
        given = json.loads(json.dumps(solved.solution.certificate.as_json()))
        best = chain.decode(emissions, pairs=pairs, infeasible="return")
        places = list(list_numbers(given))
        for place in [places[n] for n in rng.permutation(len(places))[:30]]:
            changed, count = change(given, place, rng), count + 1
            try:
                verdict = certus.verify(solved.problem, Certificate.of_json(changed))
            except CertificateError:
                verdict = None
            if not verdict:
                refuted += 1
                continue
            if changed["answer"] is None:
                assert best.score == -np.inf, (seed, place)
                continue
            assert changed["score"] == 0, (seed, place)
            own = chain.log_probability(emissions, changed["answer"], pairs=pairs)
            assert verdict.epsilon is not None
            assert best.score - own <= float(verdict.epsilon) + 1e-9, (seed, place)
    assert refuted > count / 3
