"""How a solve is followed while it runs: by a function, or by a line on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from certus.errors import InvalidInput


@dataclass(frozen=True)
class Progress:
    """Where a solve stands, as it is reported while it runs."""

    iteration: int
    dual: float
    bound: float
    score: float
    nodes: int
    open: int
    seconds: float


Watch = Callable[[Progress], None]


def format_line(now: Progress) -> str:
    """Say in a line where a solve stands."""
    gap = now.bound - now.score
    branches = f", branch {now.nodes} ({now.open} open)" if now.nodes > 1 else ""
    return (
        f"iteration {now.iteration}{branches}: dual {now.dual:.6g}, bound {now.bound:.6g}, "
        f"best {now.score:.6g}, gap {gap:.3g}, {now.seconds:.1f} s"
    )


@contextmanager
def start_watch(progress: bool | Watch | None) -> Iterator[Watch | None]:
    """Give what a solve calls each iteration: nothing, the caller's function, or a live line."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is True:
        from rich.console import Console
        from rich.status import Status

        with Status("", console=Console(stderr=True)) as status:
            yield lambda now: status.update(format_line(now))
    else:
        raise InvalidInput(f"progress must be True, None or a function, not {progress!r}")
