"""The optimisers of the dual, natively implemented; ``OPTIMIZERS`` lists them by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from certus import _native
from certus.errors import InvalidInput

_RULES = {
    "halving": _native.StepRule.HALVING,
    "inverse": _native.StepRule.INVERSE,
    "decay": _native.StepRule.DECAY,
    "polyak": _native.StepRule.POLYAK,
    "koo": _native.StepRule.KOO,
    "chang": _native.StepRule.CHANG,
}


@dataclass(frozen=True, kw_only=True)
class Optimizer(ABC):
    """A way to minimise the dual. Subclasses have its options as fields and explain it."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    needs_max_marginals: ClassVar[bool] = False

    @property
    @abstractmethod
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""


@dataclass(frozen=True, kw_only=True)
class Auto(Optimizer):
    """The optimiser that certified problems of the kind soonest when all were compared.

    For up to three parts a bundle: two large parts, such as a parser and a tagger, it brings together in half
    the iterations of any subgradient rule. With more parts its model is poor for long, and its quadratic
    program large. Where all of them are native and know their max-marginals, they are swept one after the
    other, first by coordinate descent (Kolmogorov 2006; Globerson & Jaakkola 2007), then by a proximal bundle
    that asks one part at a time (Swoboda & Kolmogorov 2019). Otherwise descent, as long as it falls, and two
    kinds of subgradients take turns, each from the best multipliers of all. ``certus bench relax`` prints the
    comparison.
    """

    name: ClassVar[str] = "auto"
    papers: ClassVar[tuple[str, ...]] = ("rush2010", "rush2011")

    @property
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""
        return _native.OptimizerOptions(_native.RelaxMethod.AUTO)


@dataclass(frozen=True, kw_only=True)
class Subgradient(Optimizer):
    """Move every copy's multiplier against its deviation from the mean of its variable.

    With two parts this is figure 1 of Rush et al. (2010), u <- u - step · (y - z); with more it is the update
    of Komodakis et al. (2007).

    Args:
        rule: how the step shrinks. With t the number of times that the dual rose from one iteration to the
            next:
            ``halving``: step / 2^t (Rush et al. 2010, appendix B);
            ``koo``: step / (1 + t) (Koo et al. 2010, appendix A.1);
            ``inverse``: the same, from a first step that is divided by the number of copies in disagreement;
            ``decay``: step · 0.95^k after k iterations, whatever the dual does;
            ``chang``: step · 0.95^k after k updates that did not lower the dual (Chang & Collins 2011);
            ``polyak``: (dual - best score) / ||subgradient||^2, times ``step`` if one is given. Where no
            score is known yet, the target is an estimate that drops as the dual does.
        step: the first step. None: 0.5 for halving, as in the paper; for the others the gap after the first
            iteration, as Koo et al. have it, which all but ``koo`` divide by the number of copies in
            disagreement.
    """

    name: ClassVar[str] = "subgradient"
    papers: ClassVar[tuple[str, ...]] = ("komodakis2007", "koo2010", "rush2010")
    rule: Literal["halving", "inverse", "decay", "polyak", "koo", "chang"] = "halving"
    step: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.rule not in _RULES:
            raise InvalidInput(f"unknown step rule {self.rule!r}; choose one of: {', '.join(_RULES)}")
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0):
            raise InvalidInput(f"step must be a number above zero, not {self.step!r}")

    @property
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""
        method = _native.RelaxMethod.SUBGRADIENT
        return _native.OptimizerOptions(method, rule=_RULES[self.rule], step=float(self.step or 0.0))


@dataclass(frozen=True, kw_only=True)
class Bundle(Optimizer):
    """Minimise, instead of the dual, its model from below, near the best multipliers so far.

    Everything a part has chosen is a plane under its term of the dual; the model is the sum over parts of the
    highest of their planes. The next multipliers minimise the model plus the squared distance from the best
    ones, by 2t (Lemaréchal 2001; Kiwiel 1990), where t is chosen by levels (Lemaréchal, Nemirovskii &
    Nesterov 1995): the model shall fall to the best score known. native/relax/bundle.hpp says more.

    Args:
        level: the share of the way to the best score that the model shall fall, above 0 up to 1. It becomes
            less while the dual does not fall.
        share: the same of what the model can fall, where it cannot reach the best score.
        margin: by how much the best whole shall win in every part, in shares of the gap, spread over the
            cells in which choices differ.
        columns: how many choices of each part are kept; those of the mixture always are.
    """

    name: ClassVar[str] = "bundle"
    papers: ClassVar[tuple[str, ...]] = ("lemarechal1995",)
    level: float = 1.0
    share: float = 0.3
    margin: float = 0.03
    columns: int = 100

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("level", "share"):
            if not 0 < getattr(self, name) <= 1:
                raise InvalidInput(f"{name} must be above 0 and at most 1, not {getattr(self, name)!r}")
        if not 0 <= self.margin < 1:
            raise InvalidInput(f"margin must be from 0 to below 1, not {self.margin!r}")
        if self.columns < 2:
            raise InvalidInput(f"a bundle needs at least 2 columns, not {self.columns!r}")

    @property
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""
        return _native.OptimizerOptions(
            _native.RelaxMethod.BUNDLE,
            level=self.level,
            share=self.share,
            margin=self.margin,
            columns=self.columns,
        )


@dataclass(frozen=True, kw_only=True)
class Descent(Optimizer):
    """Move the max-marginals of the copies of each variable towards their mean.

    For one variable at a time, making them equal minimises the dual exactly (Globerson & Jaakkola 2007;
    Kolmogorov 2006); here all variables move at once, by a share that shrinks when the dual rises. Needs
    parts that offer ``max_marginals``; each iteration asks them for the maxima and for these. Like all
    coordinate descent it may stall above the minimum, where another optimiser has to go on.

    Args:
        share: of the way to the mean, at first; above 0 up to 1.
    """

    name: ClassVar[str] = "descent"
    papers: ClassVar[tuple[str, ...]] = ("globerson2007",)
    needs_max_marginals: ClassVar[bool] = True
    share: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not 0 < self.share <= 1:
            raise InvalidInput(f"share must be above 0 and at most 1, not {self.share!r}")

    @property
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""
        return _native.OptimizerOptions(_native.RelaxMethod.DESCENT, share=self.share)


@dataclass(frozen=True, kw_only=True)
class Admm(Optimizer):
    """Alternate between the parts and the point on which they are to agree (AD3, Martins et al. 2015).

    Every part finds the mixture of its structures that scores most, less a penalty on the squared distance
    from the mean of all; the multipliers then fall by what is still apart. Constraints that count (exactly
    one, at most one, at least one, budgets) know the nearest point; other parts are asked for their maxima,
    up to ten times per iteration, by an active set. The bound is that of the parts' maxima under the
    multipliers.

    Args:
        penalty: the first one; it doubles or halves as the distances show. None: what a cell is worth to
            its part, in the mean.
    """

    name: ClassVar[str] = "admm"
    papers: ClassVar[tuple[str, ...]] = ("martins2015",)
    penalty: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.penalty is not None and not (np.isfinite(self.penalty) and self.penalty > 0):
            raise InvalidInput(f"penalty must be a number above zero, not {self.penalty!r}")

    @property
    def native(self) -> _native.OptimizerOptions:
        """The options, as the kernels take them."""
        return _native.OptimizerOptions(_native.RelaxMethod.ADMM, step=float(self.penalty or 0.0))


OPTIMIZERS: dict[str, type[Optimizer]] = {
    optimizer.name: optimizer for optimizer in (Auto, Subgradient, Bundle, Descent, Admm)
}


def choose(optimizer: str | Optimizer) -> Optimizer:
    """Return the optimiser meant, or say what is wrong with the choice."""
    if isinstance(optimizer, Optimizer):
        return optimizer
    if not isinstance(optimizer, str):
        raise InvalidInput(f"optimizer must be a name or an Optimizer, not {type(optimizer).__name__}")
    if optimizer not in OPTIMIZERS:
        raise InvalidInput(f"unknown optimizer {optimizer!r}; choose one of: {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[optimizer]()
