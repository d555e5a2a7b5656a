"""``certus verify``: holds a certificate against its problem."""

from __future__ import annotations

import sys

from certus.verification import Certificate, Problem, verify


def run(problem: str, certificate: str) -> None:
    """Print what is proven; leave with exit code 1 where the certificate is refuted."""
    stated = Problem.load(problem)
    verdict = verify(stated, Certificate.load(certificate))
    print(verdict)
    if not verdict:
        sys.exit(1)
