"""``certus verify``: holds certificates against their problems."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO

from certus.cli.wording import format_count
from certus.errors import CertusError
from certus.verification import Certificate, CertificateError, Finding, LineReader, Problem, verify
from certus.verification.problem import LARGEST_FILE


def run(problem: str, certificate: str | None) -> None:
    """Print what is proven; leave with exit code 1 where a certificate is refuted."""
    if certificate is None:
        verify_lines(problem)
        return
    verdict = verify(Problem.load(problem), Certificate.load(certificate))
    print(verdict)
    if not verdict:
        sys.exit(1)


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


def verify_lines(path: str) -> None:
    """Check a file that ``--certificate`` wrote: a problem and its certificate on each line."""
    counts = dict.fromkeys(Finding, 0)
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
            if not verdict:
                print(f"{path}:{number}: {verdict}")
    if not any(counts.values()):
        raise CertificateError(f"{path} holds no certificate: nothing is proven")
    told = [f"{count:,} {finding.value}" for finding, count in counts.items() if count]
    print(f"{format_count(sum(counts.values()), 'certificate')}: {', '.join(told)}")
    if counts[Finding.REFUTED]:
        sys.exit(1)
