"""Learns which arcs are worth scoring: coarse scores, a model of heads, or passes (Rush and Petrov 2012)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.arcs.options import COARSE, HEADS, ArcOptions
from certus.storage.declaration import Array, reals, whole

HEAD_BITS = {"tags": 20, "arcs": 22}  # of the table of a model of heads, or the parser's if they are fewer
PASS_BITS = 18  # of each pass, likewise: what stays in a cache is read fast
RATE = 0.1  # of AdaGrad
PRIOR = (
    0.6  # how many times log-probabilities of arcs in trees are added to scores: chosen on trees of Talbanken
)
COARSE_SCALE = 0.4  # how many times log-probabilities of heads bound scores: chosen on dev trees of EWT
COARSE_CAP = 0.5  # the most that features add to that, where a wrong head costs 1
LEAST_STEP = 1e-30  # of the weights of a model that coarse scores are measured in
COARSE_FOLDS = 4  # parts of the training data, each with coarse scores that were learned from the others
# Heads less likely than this many times the best one are learned from without siblings and grandparents, and
# not at all. Parsing begins with fewer (native/scoring/arc_model.cpp).
CANDIDATE_RATIO, LIKELY_RATIO = 0.02, 3e-4
LEAST_RATIO = 1e-300  # between the probabilities of heads that are taken for possible
TRADE = 0.5  # between the best score and the mean of all, in the filter loss that passes are learned by
HELD_OUT = 10  # without dev data, one tree in so many is not learned from, and thresholds are chosen on these
HIGHEST = {"posteriors": 0.1, "max-marginals": 1.0}  # thresholds, however well dev trees are kept
EARLIER = 0.25  # of the share of words that the last pass may lose: what each pass before it may
LOWEST = -1.0  # of thresholds of max-marginals: what is as far below their mean as the best is above it
LENGTH_BITS = 14  # of the table of lengths; native/scoring/arc_grid.hpp
Order = Callable[[int, int], NDArray[np.int64]]  # of an epoch of a stage


class _Chooser:
    """What the native model asks of a selector; each has one of these."""

    @property
    def native_heads(self) -> _native.HeadModel | None:
        """A model of heads."""
        return None

    @property
    def native_cascade(self) -> _native.ArcCascade | None:
        """Passes one after the other."""
        return None

    @property
    def native_coarse(self) -> _native.CoarseModel | None:
        """A model whose scores bound all others."""
        return None


@dataclass(frozen=True, eq=False)
class HeadSelector(_Chooser):
    """A distribution over the heads of each word; those far less likely than the best are left out.

    Attributes:
        plan: of the templates.
        arrays: "heads", the weights, and "head_step", their unit; "head_prior" where it is one of trees: how
            many times the logarithms of the probabilities of their arcs are added to scores.
        single_root: whether its trees have one root.
    """

    plan: _native.ArcPlan
    arrays: Mapping[str, NDArray[Any]]
    single_root: bool

    @cached_property
    def native_heads(self) -> _native.HeadModel | None:
        """For the native model."""
        return _native.HeadModel(
            self.plan,
            self.arrays["heads"],
            float(self.arrays["head_step"]),
            prior=float(self.arrays.get("head_prior", 0)),
            single_root=self.single_root,
        )

    @property
    def declared(self) -> dict[str, Array]:
        """What a model file holds of it."""
        prior = {"head_prior": reals(types="float64", least=0)} if "head_prior" in self.arrays else {}
        return _declare_weights("heads", "head_step") | prior

    def describe(self) -> dict[str, Any] | None:
        """Return None: it is no cascade."""
        return None


@dataclass(frozen=True, eq=False)
class CoarseSelector(_Chooser):
    """Scores of all arcs, which all other features only refine: an upper bound of every arc.

    Heads far less likely than the best one are scored further where their bound does not close them.

    Attributes:
        plan: of the templates.
        arrays: "coarse", the weights, and "coarse_step", their unit; "coarse_scale" and "coarse_cap": an arc
            with its parts scores at most the scale times its coarse score, and the cap.
    """

    plan: _native.ArcPlan
    arrays: Mapping[str, NDArray[Any]]

    @cached_property
    def native_coarse(self) -> _native.CoarseModel:
        """For the native model."""
        step, scale, cap = (float(self.arrays[f"coarse_{name}"]) for name in ("step", "scale", "cap"))
        return _native.CoarseModel(self.plan, self.arrays["coarse"], step, scale=scale, cap=cap)

    @property
    def declared(self) -> dict[str, Array]:
        """What a model file holds of it."""
        limits = {name: reals(types="float64", least=0) for name in ("coarse_scale", "coarse_cap")}
        limits["step"] = reals(types="float64", least=LEAST_STEP)
        return _declare_weights("coarse", "coarse_step") | limits

    def describe(self) -> dict[str, Any] | None:
        """Return what a model file says about it."""
        return {"coarse": True}


@dataclass(frozen=True)
class Pass:
    """A pass of a cascade.

    Attributes:
        kind: "local", "local-short", "vine", "first" or "second".
        reach: how long short arcs are, for passes that look at these.
        posterior: whether arcs are closed by their probability.
        single_root: whether its trees have one root.
        threshold: below which arcs are closed: a probability; or, of max-marginals, how far it lies from
            their mean (0) to the best score (1).
    """

    kind: str
    reach: int
    posterior: bool
    single_root: bool
    threshold: float = 0.0

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the native passes."""
        names = ("kind", "reach", "posterior", "single_root")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class CascadeSelector(_Chooser):
    """A dictionary of lengths, if ``column`` is one of tags, and passes.

    Attributes:
        plan: of the templates.
        column: the number of the column of tags that lengths go by, or -1.
        passes: in their order.
        arrays: "lengths", and "pass0" and "pass0_step" of the first pass, and so on.
    """

    plan: _native.ArcPlan
    column: int
    passes: Sequence[Pass]
    arrays: Mapping[str, NDArray[Any]]

    @cached_property
    def native_cascade(self) -> _native.ArcCascade | None:
        """For the native model."""
        cascade = _native.ArcCascade(self.plan, self.column, self.arrays["lengths"])
        for number, each in enumerate(self.passes):
            step = float(self.arrays[f"pass{number}_step"])
            cascade.add(self.arrays[f"pass{number}"], **each.settings, step=step, at=each.threshold)
        return cascade

    @property
    def declared(self) -> dict[str, Array]:
        """What a model file holds of it."""
        held = {"lengths": whole(str(1 << LENGTH_BITS), types="uint16")}
        for number in range(len(self.passes)):
            held |= _declare_weights(f"pass{number}", f"pass{number}_step")
        return held

    def describe(self) -> dict[str, Any]:
        """Return what a model file says about it."""
        return {"lengths": self.column >= 0, "passes": [asdict(each) for each in self.passes]}


def _declare_weights(weights: str, step: str) -> dict[str, Array]:
    return {weights: whole("pruning", types="int16", least=-(2**15)), step: reals(types="float64", least=0)}


Selector: TypeAlias = HeadSelector | CascadeSelector | CoarseSelector


@dataclass(frozen=True, eq=False)
class Chosen:
    """What chooses arcs, and those that it leaves of the training data.

    Attributes:
        selector: what chooses arcs.
        candidates: of the training data.
        folds: coarse models, each learned without the sentences that it scores; none where nothing is coarse.
        likely: arcs of the training data that are scored by themselves where features refine a coarse model.
    """

    selector: Selector
    candidates: _native.ArcCandidates
    folds: tuple[_native.CoarseModel, ...] = ()
    likely: _native.ArcCandidates | None = None


def learn_selector(
    options: ArcOptions,
    passes: Sequence[str],
    plan: _native.ArcPlan,
    column: int,
    train: _native.TreeCorpus,
    dev: _native.TreeCorpus | None,
    order: Order,
    *,
    single_root: bool,
) -> Chosen:
    """Learn what chooses arcs.

    Args:
        options: of the parser.
        passes: their names in their order; or HEADS.
        plan: the templates.
        column: the number of the column of tags, or -1.
        train: trees to learn from.
        dev: trees to choose thresholds on.
        order: of the sentences in each epoch.
        single_root: whether trees have one root.
    """
    if passes == COARSE:
        return _learn_coarse(options, plan, train, order)
    if passes == HEADS:
        return _learn_heads(options, plan, train, order, single_root)
    with_lengths = "length" in passes and column >= 0
    column = column if with_lengths else -1
    lengths = (
        _native.learn_lengths(train, plan, column) if with_lengths else np.zeros(1 << LENGTH_BITS, np.uint16)
    )
    opened = _native.OpenArcs(train, plan, column, lengths, True)
    held = None if dev is None else _native.OpenArcs(dev, plan, column, lengths, False)
    arrays: dict[str, NDArray[Any]] = {"lengths": lengths}
    made: list[Pass] = []
    kinds = [name for name in passes if name != "length"]
    for number, kind in enumerate(kinds):
        settings = Pass(kind, options.reach, options.filter == "posteriors", single_root)
        learner = _native.PassLearner(opened, plan, **settings.settings, at=TRADE, rate=RATE)
        for epoch in range(options.pruning_epochs):
            learner.epoch(_leave_out(order(epoch, 2 + number), None if held else HELD_OUT))
        weights, step = learner.compile()
        highest = (held or opened).find_highest_thresholds(
            plan, weights, **settings.settings, step=step, each=1 if held else HELD_OUT
        )
        most = HIGHEST[options.filter]
        safe = choose_threshold(highest.sentences, options.filter_loss, most)
        lost = options.parsing_loss * (1 if kind == kinds[-1] else EARLIER)
        sharp = max(safe, choose_threshold(highest.words, lost, most))
        opened.close(plan, weights, **settings.settings, step=step, at=safe)
        if held is not None:
            held.close(plan, weights, **settings.settings, step=step, at=sharp)
        arrays |= {f"pass{number}": weights, f"pass{number}_step": np.asarray(step, np.float64)}
        made.append(Pass(**settings.settings, threshold=sharp))
    return Chosen(CascadeSelector(plan, column, made, arrays), opened.list())


def _learn_heads(
    options: ArcOptions, plan: _native.ArcPlan, train: _native.TreeCorpus, order: Order, single_root: bool
) -> Chosen:
    in_trees = options.pruning_features == "arcs"
    learner = _native.HeadLearner(train, plan, rate=RATE, trees=in_trees, single_root=single_root)
    for epoch in range(options.pruning_epochs):
        learner.epoch(order(epoch, 0))
    weights, step = learner.compile()
    arrays: dict[str, NDArray[Any]] = {"heads": weights, "head_step": np.asarray(step, np.float64)}
    if in_trees:
        arrays["head_prior"] = np.asarray(PRIOR, np.float64)
    # Many features know by heart which heads are right here, so that few others would be left to learn from.
    ratio = min(options.pruning, LEAST_RATIO) if in_trees else options.pruning
    chosen = _native.choose_candidates(train, plan, learner.weights(), ratio, options.candidates)
    return Chosen(HeadSelector(plan, arrays, single_root), chosen)


def _learn_coarse(
    options: ArcOptions, plan: _native.ArcPlan, train: _native.TreeCorpus, order: Order
) -> Chosen:
    def learn(fold: int | None) -> tuple[CoarseSelector, NDArray[np.float32]]:
        learner = _native.HeadLearner(train, plan, rate=RATE, trees=False, single_root=False)
        for epoch in range(options.pruning_epochs):
            seen = order(epoch, 0)
            learner.epoch(seen if fold is None else seen[seen % folds != fold])
        weights, step = learner.compile()
        arrays = {"coarse": weights}
        numbers = {"step": step, "scale": COARSE_SCALE, "cap": COARSE_CAP}
        arrays |= {f"coarse_{name}": np.asarray(number, np.float64) for name, number in numbers.items()}
        return CoarseSelector(plan, arrays), learner.weights()

    folds = min(COARSE_FOLDS, train.sentences)
    selector, weights = learn(None)
    made = (
        tuple(learn(fold)[0].native_coarse for fold in range(folds))
        if folds > 1
        else (selector.native_coarse,)
    )
    chosen = _native.choose_candidates(train, plan, weights, CANDIDATE_RATIO, options.candidates)
    likely = _native.choose_candidates(train, plan, weights, LIKELY_RATIO, train.tokens + 1)
    return Chosen(selector, chosen, made, likely)


def _leave_out(order: NDArray[np.int64], each: int | None) -> NDArray[np.int64]:
    return order if each is None else order[order % each != 0]


def choose_threshold(highest: NDArray[np.float64], loss: float, most: float) -> float:
    """Return the highest threshold at which at most this share of words, or of sentences, lose an arc.

    Args:
        highest: for each of them the highest threshold at which it loses none.
        loss: the share.
        most: the highest threshold there may be.
    """
    if not highest.size:
        return 0.0
    allowed = math.floor(loss * highest.size)
    return float(np.clip(np.sort(highest)[min(allowed, highest.size - 1)], LOWEST, most))


def restore_selector(
    plan: _native.ArcPlan, column: int, cascade: Any, arrays: Mapping[str, NDArray[Any]], single_root: bool
) -> Selector:
    """Return what a model file describes; ``cascade`` is None where it has none."""
    if cascade is not None and "coarse" in cascade:
        return CoarseSelector(plan, arrays)
    if cascade is None:
        return HeadSelector(plan, arrays, single_root)
    passes = [Pass(**each) for each in cascade["passes"]]
    return CascadeSelector(plan, column if cascade["lengths"] else -1, passes, arrays)
