"""Dual decomposition: state the parts and where they agree, get the best whole, with its proof."""

from __future__ import annotations

from certus.relax.part import Adjustments, Choice, Forbidden, Part

__all__ = ["Adjustments", "Choice", "Forbidden", "Part"]
