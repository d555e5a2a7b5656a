"""Reads the plain data of certificates and problems: believes nothing about their shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from certus.verification.errors import CertificateError


def take(holder: Any, name: str, what: str = "the certificate") -> Any:
    """Return an entry of a JSON object."""
    if not isinstance(holder, Mapping) or name not in holder:
        raise CertificateError(f"{what} has no {name!r}")
    return holder[name]


def read_list(what: str, value: Any, length: int | None = None) -> list[Any]:
    """Return a list, of a certain length if that is known."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        wanted = "a list" if length is None else f"a list of {length}"
        raise CertificateError(f"{what} must be {wanted}")
    return value


def read_index(what: str, value: Any, size: int) -> int:
    """Return a whole number from 0 to below ``size``."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise CertificateError(f"{what} must be a whole number from 0 to {size - 1}, not {str(value)[:50]}")
    return value


def read_indices(what: str, value: Any, size: int, length: int | None = None) -> list[int]:
    """Return a list of whole numbers from 0 to below ``size``."""
    return [read_index(f"{what}[{n}]", item, size) for n, item in enumerate(read_list(what, value, length))]


def read_floats(what: str, value: Any, length: int | None = None) -> list[float]:
    """Return a list of floats; None, which stands for -inf, becomes that."""
    return [read_float(f"{what}[{n}]", item) for n, item in enumerate(read_list(what, value, length))]


def read_float(what: str, value: Any) -> float:
    """Return a finite float, or -inf for None."""
    if value is None:
        return -math.inf
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number == value:
            return number
    raise CertificateError(f"{what} must be a number that a float holds, or null, not {str(value)[:50]!r}")
