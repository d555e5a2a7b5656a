"""How numbers are put into words."""

from __future__ import annotations


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, which is plural unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
