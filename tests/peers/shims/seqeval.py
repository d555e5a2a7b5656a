"""seqeval takes the spans that it counts from ``certus.chain.spans.find_spans``."""

from __future__ import annotations

import warnings
from typing import Any

from seqeval.metrics import sequence_labeling

from certus.chain.spans import find_spans, is_tag


def get_entities(seq: Any, suffix: bool = False) -> list[tuple[str, int, int]]:
    """Return (type, first, last) of each span, as seqeval writes them."""
    if any(isinstance(one, list) for one in seq):
        seq = [tag for one in seq for tag in [*one, "O"]]
    tags = ["-".join(reversed(tag.rsplit("-", 1))) for tag in seq] if suffix else list(seq)
    for tag in tags:
        if not is_tag(tag):
            warnings.warn(f"{tag} seems not to be NE tag.", stacklevel=2)
    return [(span.type or "_", span.start, span.end - 1) for span in find_spans(tags)]


def pytest_configure() -> None:
    """Replace the function that all measures use."""
    sequence_labeling.get_entities = get_entities
