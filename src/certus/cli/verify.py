"""``certus verify``: holds certificates against their problems."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import IO

from certus.cli.wording import format_count
from certus.errors import CertusError, InvalidInput
from certus.verification import Certificate, CertificateError, Finding, LineReader, Problem, verify
from certus.verification.problem import LARGEST_FILE

REFUTED, NOT_OPTIMAL = 1, 3  # exit codes; 2 is that of what cannot be read or is of another problem


def run(problem: str, certificate: str | None, tolerance: float = 0.0) -> None:
    """Print what is proven, and leave with the exit code that says so; 0 where the answers are optimal.

    Args:
        problem: a file; without a certificate, one that holds both on each line.
        certificate: a file.
        tolerance: how much more than its answer the bound of a certificate may be.
    """
    if not 0 <= tolerance < math.inf:
        raise InvalidInput(f"--tolerance is {tolerance}; it must be a finite number of at least 0")
    if certificate is None:
        verify_lines(problem, tolerance)
        return
    verdict = verify(Problem.load(problem), Certificate.load(certificate))
    print(verdict)
    _leave(not verdict, not verdict.is_within(tolerance))


def estimate(number: Fraction) -> float:
    """Return a number as a float; infinity where it is beyond floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _leave(is_refuted: bool, is_open: bool) -> None:
    if is_refuted or is_open:
        sys.exit(REFUTED if is_refuted else NOT_OPTIMAL)


def _read_lines(file: IO[str], path: str) -> Iterator[str]:
    """Yield lines; none that is too long to be held is read to its end."""
    number = 0
    try:
        while line := file.readline(LARGEST_FILE + 1):
            number += 1
            if len(line) > LARGEST_FILE:
                raise CertificateError(f"{path}:{number}: the line has more than {LARGEST_FILE:,} characters")
            yield line
    except UnicodeDecodeError as error:
        raise CertificateError(f"{path} is not in UTF-8 after line {number}: {error}") from None


def verify_lines(path: str, tolerance: float = 0.0) -> None:
    """Check a file that ``--certificate`` wrote: a problem and its certificate on each line."""
    counts = dict.fromkeys(Finding, 0)
    open_lines: list[tuple[float, int]] = []  # gaps above the tolerance, with their lines
    lines = LineReader()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(_read_lines(file, path), 1):
            try:
                held = lines.read(line)
                if held is None:
                    continue
                verdict = verify(*held)
            except (ValueError, RecursionError) as error:
                reason = str(error) if isinstance(error, CertusError) else f"not JSON, or cut off: {error}"
                raise CertificateError(f"{path}:{number}: {reason[:200]}") from None
            counts[verdict.finding] += 1
            if verdict and not verdict.is_within(tolerance):
                gap = math.inf if verdict.epsilon is None else estimate(verdict.epsilon)
                open_lines.append((gap, -number))
            if not verdict:
                print(f"{path}:{number}: {verdict}")
    if not any(counts.values()):
        raise CertificateError(f"{path} holds no certificate: nothing is proven")
    told = [f"{count:,} {finding.value}" for finding, count in counts.items() if count]
    print(f"{format_count(sum(counts.values()), 'certificate')}: {', '.join(told)}")
    if open_lines:
        gap, place = max(open_lines)
        print(
            f"{len(open_lines):,} not optimal within the tolerance of {tolerance:g}; "
            f"the largest gap is {gap:.3g}, on line {-place}"
        )
    _leave(counts[Finding.REFUTED] > 0, bool(open_lines))
