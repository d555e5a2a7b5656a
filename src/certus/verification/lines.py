"""Files of many certificates: on each line a problem and the certificate of its answer, as JSON.

What problems have in common, as sentences have the n-grams of their tagger, is on a line before the first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from certus.verification.certificate import Certificate
from certus.verification.errors import CertificateError
from certus.verification.problem import Problem

_COMMON = {"ngrams": ("order", "coarse", "offsets", "sequences", "weights")}


class LineWriter:
    """Writes problems with their certificates."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._common: dict[str, Any] = {}

    def write(self, problem: Problem, certificate: Certificate) -> None:
        """Write a line, and before it what it has in common with later ones, unless that was just written."""
        common = {name: problem.data[name] for name in _COMMON.get(problem.kind, ())}
        stated = problem.as_json()
        if any(not np.array_equal(common[name], self._common.get(name, ())) for name in common):
            self._write_line({"common": {name: stated[name] for name in common}})
            self._common = common
        own = {name: value for name, value in stated.items() if name not in common}
        self._write_line({"problem": own, "certificate": certificate.as_json()})

    def _write_line(self, line: Mapping[str, Any]) -> None:
        json.dump(line, self._file, allow_nan=False, separators=(",", ":"))
        self._file.write("\n")


class LineReader:
    """Reads what ``LineWriter`` wrote."""

    def __init__(self) -> None:
        self._common: dict[str, Any] = {}

    def read(self, line: str) -> tuple[Problem, Certificate] | None:
        """Return the problem and the certificate of a line; None for what others have in common."""
        both = json.loads(line)
        if not isinstance(both, dict) or not isinstance(both.get("problem", {}), dict):
            raise CertificateError("a line holds a problem and a certificate")
        if "common" in both:
            if not isinstance(both["common"], dict):
                raise CertificateError("what problems have in common must be their entries by name")
            self._common = both["common"]
            return None
        common = self._common if both.get("problem", {}).get("kind") in tuple(_COMMON) else {}
        problem = Problem.of_json({**common, **both["problem"]} if "problem" in both else None)
        return problem, Certificate.of_json(both.get("certificate"))
