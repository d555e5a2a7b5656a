"""What is said of certificates that cannot be checked, and of those that are wrong."""

from __future__ import annotations

from certus.errors import InvalidInput


class CertificateError(InvalidInput):
    """A certificate or a problem cannot be read, or they do not belong together."""


class Refuted(Exception):
    """A certificate does not prove what it claims; the message says where. ``verify`` makes it a verdict."""
