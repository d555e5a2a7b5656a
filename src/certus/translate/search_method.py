"""What the ways to search for translations share, over phrases and over forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from certus.checks import check_count
from certus.errors import InvalidInput

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class SearchMethod:
    """A way to search. Subclasses add their options as fields and explain themselves in their docstring."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    proves: ClassVar[bool] = True  # whether it looks for a proof
    many: ClassVar[bool] = True  # whether it finds more than one derivation

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for one in fields(self):
            if one.type == "int":
                check_count(one.name, getattr(self, one.name))

    def fill_request(self, request: Any, k: int, distinct: bool, seconds: float) -> None:
        """Write down what the kernel is asked."""
        request.method = self.name
        request.k, request.distinct = k, distinct
        request.seconds = seconds
        for one in fields(self):
            setattr(request, one.name, getattr(self, one.name))


M = TypeVar("M", bound=SearchMethod)


def choose_among(
    method: str | M, k: int, methods: Mapping[str, type[M]], kind: type[M], default: type[M], found: str
) -> M:
    """Return the method meant, or say what is wrong with the choice; ``found`` is what a method finds."""
    if isinstance(method, str):
        if method != AUTO and method not in methods:
            raise InvalidInput(f"there is no method {method!r}; there are {', '.join([AUTO, *methods])}")
        method = (default if method == AUTO else methods[method])()
    if not isinstance(method, kind):
        raise InvalidInput(f"method must be a name or a {kind.__name__}, not {type(method).__name__}")
    if k > 1 and not method.many:
        raise InvalidInput(f"method {method.name!r} finds one {found}, not k = {k}; use optimal-beam")
    return method
