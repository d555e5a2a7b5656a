"""Training taggers by ``refinement``: the model, its arrays, and what is to be told of its estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn import options
from certus.learn.features.data import Examples
from certus.learn.features.inventory import Inventory
from certus.learn.refinement import SpectralRefinement
from certus.learn.refinement import learner as refinement
from certus.learn.refinement.decoder import RefinementDecoder
from certus.learn.refinement.decoding import Beliefs
from certus.learn.refinement.observer import Observer
from certus.learn.refinement.storage import pack, problems_of, restore
from certus.learn.training import Progress

_LOOKED_AT = 1000  # training sentences whose marginals are looked at where there are no others


def refine(
    examples: Examples,
    held_out: Examples | None,
    chosen: options.Refinement,
    observe: str,
    *,
    progress: Callable[[Progress], None],
    threads: int,
) -> tuple[Inventory, dict[str, NDArray[Any]], float | None, dict[str, Any]]:
    """Estimate a refinement HMM.

    Returns:
        Its labels, its arrays, its accuracy on held-out data, and what else its description has to say.
    """
    observer = Observer(observe, chosen.suffixes)
    model = refinement.estimate(examples, held_out, chosen, observer, progress=progress, threads=threads)
    decoder = RefinementDecoder(model, observer)
    told: dict[str, Any] = {
        "observe": observe,
        "columns": list(observer.columns),
        "observations": len(model.names.observations),
        "problems": problems_of(model.diagnostics),
    }
    inventory, accuracy = Inventory(model.names.labels), None
    beliefs = decoder.believe((held_out or examples).cells[: None if held_out else _LOOKED_AT], threads)
    if held_out is not None:
        right = beliefs.probabilities.argmax(axis=1) == inventory.numbers(held_out.labels)
        accuracy = float(right.mean())
    if isinstance(model, SpectralRefinement):
        told["marginals"] = {"of": "dev" if held_out else "training", **_marginals(beliefs)}
    return inventory, pack(model), accuracy, told


def reopened(
    chosen: options.Refinement,
    inventory: Inventory,
    arrays: Mapping[str, NDArray[Any]],
    description: Mapping[str, Any],
) -> RefinementDecoder:
    """Make what decodes a model of its arrays and its description."""
    observer = Observer(description["observe"], chosen.suffixes)
    if tuple(description["columns"]) != observer.columns:
        raise InvalidInput(f"it observes {description['observe']}, not {description['columns']}")
    model = refinement.make(chosen)
    restore(model, inventory.labels, arrays, description["problems"])
    return RefinementDecoder(model, observer)


def _marginals(beliefs: Beliefs) -> dict[str, Any]:
    """Count the sentences whose marginals are not those of any model, and how they were mended."""
    mended = np.bincount(beliefs.level, minlength=3).tolist()
    return {
        "sentences": len(beliefs.level),
        "negative": int((beliefs.negative > 0).sum()),
        "damped": mended[1],
        "plain": mended[2],
    }
