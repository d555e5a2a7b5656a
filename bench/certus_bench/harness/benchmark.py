"""What a benchmark is: options make a plan, a run makes a report, which is shown, drawn and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.console import Console, RenderableType

from certus.errors import CertusError
from certus.storage.figures import save_figure
from certus.storage.files import open_atomically
from certus_bench.harness.claims import Claim
from certus_bench.harness.pictures import NothingToDraw, check_picture
from certus_bench.harness.tables import conclude

Tell = Callable[[str, float], None]
"""Called with a line about what is being done and the share of the work that is done, from 0 to 1."""


def keep_quiet(text: str, share: float) -> None:
    """Tell nobody."""


def tell_part(tell: Tell, begin: float, end: float) -> Tell:
    """Return the Tell of a part of the work: its shares from 0 to 1 become those from begin to end."""
    return lambda text, share: tell(text, begin + (end - begin) * share)


@dataclass
class BenchmarkReport:
    """What a run found. Each benchmark adds fields of its own, which are also the keys of its JSON."""

    plan: Any
    machine: dict[str, Any]
    failures: list[str] = field(default_factory=list, kw_only=True)  # answers that were wrong

    def fail(self, problems: Iterable[str]) -> None:
        """Note wrong answers, each kind once."""
        self.failures.extend(problem for problem in problems if problem not in self.failures)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {one.name: to_json(getattr(self, one.name)) for one in fields(self)}


Plan = TypeVar("Plan")
Found = TypeVar("Found", bound=BenchmarkReport)


@dataclass(frozen=True, kw_only=True)
class Benchmark(Generic[Plan, Found]):
    """One benchmark, from the options of its command to its picture.

    ``make_plan`` declares the options of ``certus bench NAME``: its parameters, annotated for typer, and in
    its docstring the help.
    """

    name: str
    make_plan: Callable[..., Plan]
    run: Callable[[Plan, Tell], Found]
    lay_out: Callable[[Found], Iterable[RenderableType]]  # the tables
    make_claims: Callable[[Found], list[Claim]]
    paint: Callable[[Found], Any] | None = None  # makes a matplotlib figure; may raise NothingToDraw

    def show(self, report: Found, console: Console) -> None:
        """Print the tables, the claims, the machine, and what was wrong."""
        for made in self.lay_out(report):
            console.print(made)
        conclude(console, self.make_claims(report), report.machine, report.failures)

    def as_json(self, report: Found) -> dict[str, Any]:
        """Return all of a report as what JSON can hold; times are in seconds."""
        return {**report.as_dict(), "claims": to_json(self.make_claims(report))}

    def draw(self, report: Found, path: Path) -> None:
        """Draw a report to a file; its suffix says in which format."""
        check_picture(path)
        if self.paint is None:
            raise CertusError(f"the benchmark {self.name} has no picture")
        try:
            save_figure(self.paint(report), path)
        except NothingToDraw as error:
            raise CertusError(f"there is nothing to draw in {path.name}: {error}") from None


def to_json(value: Any) -> Any:
    """Turn records, paths and sets into what JSON can hold; a record may have an ``as_dict`` of its own."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [to_json(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value


def store(content: Any, path: Path) -> None:
    """Write JSON so that the file is either all there or not there."""
    with open_atomically(path) as file:
        json.dump(content, file, indent=1)
        file.write("\n")
