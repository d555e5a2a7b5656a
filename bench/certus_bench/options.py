"""Turns what a user writes on the command line into a plan."""

from __future__ import annotations

from certus.errors import InvalidInput
from certus_bench.entries import select
from certus_bench.plan import LATTICES, SIZES, Plan, Size


def parse(
    *, sizes: str, lattices: str, methods: str, dtype: str, seconds: float, quick: bool, seed: int
) -> Plan:
    """Return the plan that the options of ``certus bench chain`` describe, or say which of them is wrong."""
    if dtype not in ("float32", "float64"):
        raise InvalidInput(f"dtype must be float32 or float64, not {dtype!r}")
    names = tuple(name.strip() for name in methods.split(",") if name.strip()) or None
    select(names)
    kinds = tuple(kind.strip() for kind in lattices.split(",") if kind.strip()) or LATTICES
    for kind in kinds:
        if kind not in LATTICES:
            raise InvalidInput(f"unknown kind of lattice {kind!r}; choose from: {', '.join(LATTICES)}")
    chosen = tuple(_size(text) for text in sizes.split(",") if text.strip()) or SIZES
    plan = Plan(sizes=chosen, lattices=kinds, methods=names, dtype=dtype, seconds=seconds, seed=seed)
    return plan.hurried() if quick else plan


def _size(text: str) -> Size:
    labels, _, length = text.strip().lower().replace("×", "x").partition("x")
    if not (labels.isdecimal() and length.isdecimal() and int(labels) >= 2 and int(length) >= 1):
        raise InvalidInput(
            f"sizes are written LABELSxLENGTH, such as 319x23, with at least 2 labels; not {text!r}"
        )
    return int(labels), int(length)
