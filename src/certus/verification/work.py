"""The most that a check may take: files are refused that would keep it busy for longer than some minutes."""

from __future__ import annotations

from certus.verification.errors import CertificateError

MOST_STEPS = 1_000_000_000  # additions and comparisons of exact numbers


def limit_steps(what: str, steps: int) -> None:
    """Refuse what takes too many steps to be checked."""
    if steps > MOST_STEPS:
        raise CertificateError(
            f"{what} would take {steps:,} steps to be checked; the most is {MOST_STEPS:,}: it is too large"
        )
