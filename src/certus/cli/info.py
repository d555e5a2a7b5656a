"""``certus info``: what a model file holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.standard import make_printable
from certus.cli.wording import format_count
from certus.storage.model_file import ModelFile, read, verify

FEW = 12
# Fields of the description in the order of showing; others come after them, under their own names.
HEADINGS = {
    "target": "Target",
    "learner": "Learner",
    "order": "Order",
    "labels": "Labels",
    "tags": "Tags",
    "observe": "Observes",
    "observations": "Observations",
    "words": "Words",
    "ngrams": "N-grams",
    "states": "States",
    "discounts": "Discounts",
    "problems": "Problems",
    "marginals": "Marginals",
    "features": "Features",
    "columns": "Columns",
    "templates": "Templates",
    "options": "Options",
    "training": "Trained on",
    "dev": "Held out",
    "accuracy": "Accuracy",
    "licence": "Licence",
    "attribution": "Attribution",
    "date": "Date",
    "certus": "Written by Certus",
}


def run(
    path: str | os.PathLike[str],
    *,
    as_json: bool = False,
    labels: bool = False,
    check: bool = False,
    console: Console | None = None,
) -> None:
    """Print what a model file holds.

    Args:
        path: the model.

    Other args:
        as_json: print one JSON object, which holds everything.
        labels: name all labels, not only the first few.
        check: read the whole file and hold it against its checksum first.
        console: where to print; stdout by default.
    """
    model = verify(path) if check else read(path)
    console = console or Console()
    if as_json:
        plain = not (console.encoding or "").startswith("utf")
        text = json.dumps(summarize(model, verified=check), ensure_ascii=plain, indent=2)
        print(text, file=console.file)
    else:
        _show(model, console, every_label=labels, verified=check)


def summarize(model: ModelFile, *, verified: bool = False) -> dict[str, Any]:
    """Return what there is to say about a model, ready for JSON."""
    arrays = [
        {"name": name, "shape": list(array.shape), "dtype": array.dtype.name, "bytes": array.nbytes}
        for name, array in model.arrays.items()
    ]
    return {
        "path": model.path,
        "kind": model.kind,
        "bytes": model.size,
        "verified": verified,
        "description": model.description,
        "arrays": arrays,
    }


def _show(model: ModelFile, console: Console, *, every_label: bool, verified: bool) -> None:
    console.print(Text.assemble(("Model ", "bold"), (make_printable(model.path), "bold cyan")))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in _list_rows(model, every_label=every_label, verified=verified):
        table.add_row(Text(make_printable(heading)), Text(make_printable(text)))
    console.print(table)
    console.print()
    console.print(_lay_out_arrays(model))


def _list_rows(model: ModelFile, *, every_label: bool, verified: bool) -> Iterator[tuple[str, str]]:
    """Yield headings and texts; fields that a description lacks or leaves empty are left out."""
    yield "Kind", model.kind
    known = [name for name in HEADINGS if name in model.description]
    for name in [*known, *(name for name in model.description if name not in HEADINGS)]:
        text = _render_field(name, model.description[name], every_label)
        if text:
            yield HEADINGS.get(name, name), text
    yield "Size", f"{_format_bytes(model.size)} ({model.size:,} bytes)"
    if verified:
        yield "Checksum", "as written"


def _render_field(name: str, value: Any, every_label: bool) -> str:
    """Render a field of the description; one that is not of the usual form is rendered as what it is."""
    if name == "labels" and isinstance(value, list):
        return _list_labels(value, len(value) if every_label else FEW)
    if name in ("training", "dev") and isinstance(value, Mapping):
        counts = {"trees": "tree", "sentences": "sentence", "tokens": "token"}
        parts = [_render_count(value[count], noun) for count, noun in counts.items() if count in value]
        if "unseen" in value:
            parts.append(f"{_render(value['unseen'])} of unseen labels")
        others = {key: inner for key, inner in value.items() if key not in ("name", "unseen", *counts)}
        return ", ".join(filter(None, [_render(value.get("name")), *parts, _render(others)]))
    if name == "accuracy":
        return _render_shares(value)
    if name == "problems" and isinstance(value, Mapping):
        return "\n".join(map(_render, value.values()))
    if name == "marginals" and isinstance(value, Mapping):
        below, damped, plain = (_render(value.get(key)) for key in ("negative", "damped", "plain"))
        return (
            f"below 0 in {below} of {_render(value.get('sentences'))} {_render(value.get('of'))} sentences; "
            f"{damped} labelled with the model's memory halved, {plain} by the plain HMM"
        )
    return _render(value)


def _render_count(value: Any, noun: str) -> str:
    return format_count(value, noun) if isinstance(value, int) else f"{_render(value)} {noun}s"


def _list_labels(labels: list[Any], count: int) -> str:
    """Say how many labels there are, and name the first ``count``."""
    named = "  ".join(map(_render, labels[:count]))
    more = f"  ... (--labels names all {len(labels):,})" if count < len(labels) else ""
    return f"{len(labels):,}: {named}{more}" if labels else "none"


def _render_shares(value: Any) -> str:
    """Render shares of one, alone or by name, as percentages."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_render_shares(inner)}" for name, inner in value.items())
    return f"{value:.2%}" if isinstance(value, float) and 0 <= value <= 1 else _render(value)


def _render(value: Any) -> str:
    """Render any JSON value for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_render(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "  ".join(map(_render, value))
    return str(value)


def _format_bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _lay_out_arrays(model: ModelFile) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="Arrays", title_justify="left", title_style="bold"
    )
    table.add_column("name", overflow="fold")
    table.add_column("shape", justify="right")
    table.add_column("type")
    table.add_column("bytes", justify="right")
    for name, array in model.arrays.items():
        shape = " × ".join(f"{size:,}" for size in array.shape) or "one number"
        table.add_row(Text(make_printable(name)), shape, array.dtype.name, f"{array.nbytes:,}")
    return table
