"""What the file of a dependency parser says about its model, and the model that it describes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from certus.errors import InvalidInput
from certus.learn.arcs.learner import ArcModel, choose_pruning_bits
from certus.learn.arcs.options import HEADS, INPUTS, PASSES, ArcOptions
from certus.learn.arcs.templates import ArcTemplates
from certus.version import __version__


def describe(options: ArcOptions, model: ArcModel) -> dict[str, Any]:
    """Return what a model file says."""
    return {
        "options": asdict(options),
        "relations": list(model.relations),
        "columns": list(model.columns),
        "templates": str(model.templates).splitlines(),
        "pruning": str(model.pruning).splitlines(),
        "single_root": model.single_root,
        "projective": model.projective,
        "passes": list(model.passes),
        "cascade": model.cascade,
        "labels": None if model.labels is None else str(model.labels).splitlines(),
        "date": date.today().isoformat(),
        "certus": __version__,
    }


def restore(arrays: Mapping[str, Any], about: Mapping[str, Any], options: ArcOptions) -> ArcModel:
    """Return the model of a file; raise InvalidInput, KeyError or TypeError if it makes no sense."""
    for name in ("relations", "columns", "templates", "pruning"):
        values = about[name]
        if not isinstance(values, list) or not values or not all(isinstance(x, str) for x in values):
            raise InvalidInput(f"its {name} are no list of texts")
    columns = tuple(about["columns"])
    templates = ArcTemplates("\n".join(about["templates"]))
    pruning = ArcTemplates("\n".join(about["pruning"]))
    if columns[0] != "word" or not set(columns) <= set(INPUTS) or len(set(columns)) < len(columns):
        raise InvalidInput(f"its columns are {columns}")
    labels = None if about.get("labels") is None else ArcTemplates("\n".join(about["labels"]))
    named = {*templates.columns, *pruning.columns, *(() if labels is None else labels.columns)}
    if not named <= set(columns):
        raise InvalidInput("its templates look at columns that it does not list")
    passes = HEADS if about.get("cascade") is None else tuple(about["passes"])
    model = ArcModel(
        about["relations"],
        columns,
        pruning,
        templates,
        options.hash_bits,
        choose_pruning_bits(options, passes),
        about["single_root"] is True,
        about["projective"] is True,
        passes,
        _check_cascade(about.get("cascade")),
        labels,
        arrays,
    )
    model.check()
    return model


def _check_cascade(cascade: Any) -> Any:
    """Return what a model file says about its cascade, if it makes sense."""
    if cascade is None or cascade == {"coarse": True}:
        return cascade
    for each in cascade["passes"]:
        known = {"kind": str, "reach": int, "posterior": bool, "single_root": bool, "threshold": float}
        if set(each) != set(known) or not all(isinstance(each[name], known[name]) for name in known):
            raise InvalidInput("its cascade has a pass that no parser has")
        if each["kind"] not in PASSES[1:] or not 1 <= each["reach"] < 2**31 or math.isnan(each["threshold"]):
            raise InvalidInput("its cascade has a pass that no parser has")
    if not isinstance(cascade["lengths"], bool):
        raise InvalidInput("its cascade does not say whether it goes by lengths")
    return cascade
