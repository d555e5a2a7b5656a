"""What a decoding method is: a name, what it can do, and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native

CODES = {name: code for code, name in enumerate(_native.METHODS)}


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to decode. Subclasses add their options as fields and explain themselves in their docstring."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    exact: ClassVar[bool] = True  # the answer is always proven optimal
    one: ClassVar[bool] = True  # listed among the methods for one best path
    many: ClassVar[bool] = False  # can return more than one path
    keeps_ways: ClassVar[bool] = False  # keeps the k best ways to every label of every position

    @property
    def code(self) -> int:
        """The number by which the native code knows the method."""
        return CODES[self.name]

    def request(self, k: int) -> _native.Request:
        """Return what the native code is asked; methods with options extend it."""
        return _native.Request(k=k)
