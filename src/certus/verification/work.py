"""The most that a check may take: files are refused that would take many minutes, or much memory."""

from __future__ import annotations

from certus.verification.errors import CertificateError

MOST_STEPS = 1_000_000_000  # additions and comparisons of exact numbers
MOST_BYTES = 2 << 30  # of exact numbers that are held at once


def limit_steps(what: str, steps: int) -> None:
    """Refuse what takes too many steps to be checked."""
    if steps > MOST_STEPS:
        raise CertificateError(
            f"{what} would take {steps:,} steps to be checked; the most is {MOST_STEPS:,}: it is too large"
        )


def limit_memory(what: str, numbers: int, size: int) -> None:
    """Refuse what needs too much memory to be checked: so many numbers of so many bytes each."""
    if numbers * size > MOST_BYTES:
        raise CertificateError(
            f"{what} would take {numbers * size:,} bytes to be checked; the most is {MOST_BYTES:,}: "
            "it is too large"
        )
