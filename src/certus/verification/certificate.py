"""A certificate: an answer, what it claims, and the numbers that prove it; plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certus.verification.errors import CertificateError
from certus.verification.exact import read_fraction, write_fraction
from certus.verification.problem import PROBLEMS, check_format, read_json, write_json

FORMAT = "certus-certificate"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Certificate:
    """What an answer claims of a problem: ``score <= optimum <= bound``, and why.

    Attributes:
        kind: of the problem.
        fingerprint: of the problem: a certificate of another one is refused.
        answer: the structure, as lists of whole numbers; None where there is none.
        score: of the answer, exactly; None for -inf.
        bound: that no structure exceeds, exactly; None for -inf.
        proof: the numbers that make the bound true: see docs/certificates.md.
    """

    kind: str
    fingerprint: str
    answer: Any
    score: Fraction | None
    bound: Fraction | None
    proof: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return what a file holds."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "answer": self.answer,
            "score": write_fraction(self.score),
            "bound": write_fraction(self.bound),
            "proof": dict(self.proof),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON; whole or not at all."""
        write_json(path, self.as_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate that ``save`` wrote."""
        return cls.of_json(read_json(path), os.fspath(path))

    @classmethod
    def of_json(cls, given: Any, name: str = "the certificate") -> Certificate:
        """Make a certificate of what a file holds; its numbers are looked at when it is checked."""
        check_format(given, name, "a certificate", FORMAT, VERSION)
        kind, fingerprint, proof = given.get("kind"), given.get("fingerprint"), given.get("proof")
        if kind not in PROBLEMS or not isinstance(fingerprint, str) or not isinstance(proof, dict):
            raise CertificateError(f"{name} lacks a known kind, a fingerprint or a proof")
        score, bound = (read_fraction(what, given.get(what)) for what in ("score", "bound"))
        return cls(kind, fingerprint, given.get("answer"), score, bound, proof)
