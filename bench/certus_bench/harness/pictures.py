"""What the pictures of all benchmarks have in common."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from certus.errors import CertusError

FORMATS = (".png", ".svg", ".pdf")
TEAL, BLUE, PURPLE, RED, ORANGE = "#0b7a75", "#3d5a98", "#8f6bb3", "#d1495b", "#e08e45"
OLIVE, GREY, PALE = "#a3a380", "#8d8d8d", "#bdbdbd"


class NothingToDraw(CertusError):
    """The run did not measure what the picture shows."""


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any time is spent on measuring."""
    if path.suffix not in FORMATS:
        raise CertusError(
            f"cannot draw {path.name!r}: give the picture a name that ends in {', '.join(FORMATS)}"
        )
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise CertusError("drawing needs matplotlib: pip install 'certus[plot]'") from None


def make_figure(width: float, height: float, dpi: int = 160) -> Any:
    """Return an empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def dress_axes(
    axes: Any, title: str, x: str = "", y: str = "", *, size: int = 11, legend: bool = True
) -> None:
    """Give axes a title, names and a quiet look."""
    axes.set_title(title, loc="left", fontsize=size, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    if legend:
        axes.legend(fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def make_logarithmic(axes: Any, ticks: Iterable[int]) -> None:
    """Make both axes logarithmic, the horizontal one with plain numbers at these places."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    places = sorted(set(ticks))
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
