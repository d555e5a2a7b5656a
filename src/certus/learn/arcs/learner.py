"""Learns the weights of a dependency parser, and makes what parses with them.

Two models are learned. The first gives each word a distribution over heads, from tags above all, or one over
trees, from all features of arcs; it chooses which arcs are scored at all. The second scores arcs with their
relations, and what else its templates are of, and learns from the best trees that it finds, or from what head
automata pick by themselves (Koo et al. 2010): by MIRA (McDonald, Crammer and Pereira 2005) or by the averaged
perceptron (Collins 2002).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.columns import Columns
from certus.errors import InvalidInput
from certus.learn import training
from certus.learn.arcs import defaults
from certus.learn.arcs.cascade import (
    HEAD_BITS,
    PASS_BITS,
    Chosen,
    Order,
    Selector,
    learn_selector,
    restore_selector,
)
from certus.learn.arcs.options import COARSE, HEADS, ArcOptions
from certus.learn.arcs.templates import ArcTemplates
from certus.learn.arcs.treebank import Treebank
from certus.learn.checkpoint import Checkpoint
from certus.learn.progress import Progress
from certus.learn.trainer import Arrays, EpochTrainer
from certus.storage.declaration import Declaration, reals, whole
from certus.version import __version__

LABEL_BITS = 21  # of the table of the model of relations, or those of the parser if they are fewer
LABEL_STAGE = 100  # apart from all others, for the order of sentences
LABEL_EPOCHS = 10
LABEL_RATE = 0.01  # the most that a weight of a relation changes by
MOST_WORDS = 4_000  # of a sentence that is parsed: the memory for its arcs grows with the square
RARE = 0.1  # the share of trees with crossing arcs below which parsers leave them out
SEVERAL_ROOTS = 0.005  # the share of trees with several roots up to which parsers give trees one
# What a model file holds: of relations, and of the weights that score arcs; beside it, of what chooses arcs.
DECLARED = {
    "of_root": whole("relations", types="uint8", below="2"),
    "of_others": whole("relations", types="uint8", below="2"),
    "weights": whole("table+relations", types="int16", least=-(2**15)),
    "step": reals(types="float64", least=0),
}
DECLARED_LABELS = {
    "labels": whole("label_table+relations", types="int16", least=-(2**15)),
    "label_step": reals(types="float64", least=0),
}


@dataclass(frozen=True, eq=False)
class ArcModel:
    """What was learned, as a model file holds it.

    Attributes:
        relations: by number.
        columns: that features look at, the words first.
        pruning: templates of the model that chooses arcs.
        templates: of the model that scores them.
        hash_bits: of its table.
        pruning_bits: of the tables of what chooses arcs.
        single_root: whether trees have one root.
        projective: whether trees have no crossing arcs.
        passes: that choose arcs, by their names; or HEADS.
        cascade: what was learned of them, as a model file describes it; None for a model of heads.
        labels: templates of the relations of a tree that was found; None where they are chosen with the arcs.
        arrays: by name, as declared.
    """

    relations: Sequence[str]
    columns: Sequence[str]
    pruning: ArcTemplates
    templates: ArcTemplates
    hash_bits: int
    pruning_bits: int
    single_root: bool
    projective: bool
    passes: Sequence[str]
    cascade: Any
    labels: ArcTemplates | None
    arrays: Mapping[str, NDArray[Any]]

    @cached_property
    def plans(self) -> tuple[_native.ArcPlan, _native.ArcPlan]:
        """Both sets of templates, ready to run."""
        width = len(self.columns)
        return (
            _native.ArcPlan(self.pruning.compile(self.columns), width, self.pruning_bits),
            _native.ArcPlan(self.templates.compile(self.columns), width, self.hash_bits),
        )

    @property
    def tag_column(self) -> int:
        """The number of the column of tags that lengths of arcs go by; -1 without any."""
        return next(
            (self.columns.index(name) for name in ("upos", "xpos") if name in self.pruning.columns), -1
        )

    @cached_property
    def selector(self) -> Selector:
        """What chooses the arcs that are scored."""
        return restore_selector(self.plans[0], self.tag_column, self.cascade, self.arrays, self.single_root)

    @cached_property
    def native(self) -> _native.ArcModel:
        """What parses."""
        _, plan = self.plans
        found, chosen = self.arrays, self.selector
        return _native.ArcModel(
            chosen.native_heads,
            chosen.native_cascade,
            chosen.native_coarse,
            self._native_labels,
            plan,
            found["weights"],
            float(found["step"]),
            found["of_root"],
            found["of_others"],
        )

    @property
    def label_bits(self) -> int:
        """How large the table is of the model of relations."""
        return min(LABEL_BITS, self.hash_bits)

    @cached_property
    def label_plan(self) -> _native.ArcPlan:
        """The templates of relations, ready to run."""
        assert self.labels is not None
        return _native.ArcPlan(self.labels.compile(self.columns), len(self.columns), self.label_bits)

    @cached_property
    def _native_labels(self) -> _native.LabelModel | None:
        if self.labels is None:
            return None
        weights, step = self.arrays["labels"], float(self.arrays["label_step"])
        return _native.LabelModel(self.label_plan, weights, step, len(self.relations))

    def check(self) -> None:
        """Raise ModelError where an array is not as declared."""
        sizes = {"pruning": 1 << self.pruning_bits, "table": 1 << self.hash_bits}
        declared = DECLARED | self.selector.declared
        if self.labels is not None:
            declared = declared | DECLARED_LABELS
            sizes["label_table"] = 1 << self.label_bits
        Declaration(declared).check(self.arrays, relations=len(self.relations), **sizes)


class TreeTrainer(EpochTrainer[_native.TreeLearner]):
    """The native learner of trees, an epoch at a time."""

    def __init__(self, native: _native.TreeLearner, tokens: int) -> None:
        self._native, self._tokens = native, tokens

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences; return the share of words with a wrong head or relation."""
        return self._native.epoch(order).wrong / self._tokens

    def compile(self) -> Arrays:
        """Return the averaged weights."""
        weights, step = self._native.compile()
        return {"weights": weights, "step": np.asarray(step, np.float64)}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What learning ends with: the model, and its LAS on the dev data, with full relations."""

    model: ArcModel
    accuracy: float | None


def learn(
    options: ArcOptions,
    train: Treebank,
    dev: Treebank | None,
    templates: ArcTemplates | None,
    *,
    checkpoint: str | os.PathLike[str] | None,
    progress: Callable[[Progress], object],
    threads: int,
) -> Outcome:
    """Learn from trees.

    Args:
        options: how.
        train: what from.
        dev: held-out trees, to stop by; None without any.
        templates: of arcs; None for those of certus.learn.arcs.defaults.
        checkpoint: a file to keep the state of training in, and to go on from; None for none.
        progress: is called after each epoch, and ends training where it returns True.
        threads: for measuring on dev.
    """
    model = _prepare(options, train, templates)
    _, plan = model.plans
    corpus = _make_corpus(model, train)
    order = _make_order(options, corpus)

    chosen = _choose_arcs(options, model, corpus, dev)
    cascade = chosen.selector.describe()
    fixed = {**model.arrays, **chosen.selector.arrays, **_learn_labels(model, corpus, train, order)}
    learner = _native.TreeLearner(
        corpus,
        chosen.candidates,
        chosen.likely or chosen.candidates,
        list(chosen.folds),
        plan,
        of_root=fixed["of_root"],
        of_others=fixed["of_others"],
        mira=options.algorithm == "mira",
        from_automata=options.learn_from == "automata",
        aggressiveness=options.aggressiveness,
        relation_cost=options.relation_cost,
        burn_in=options.burn_in,
        projective=model.projective,
        single_root=model.single_root,
    )

    def complete(weights: Arrays) -> ArcModel:
        return _replace(model, cascade=cascade, arrays={**fixed, **weights})

    outcome = training.train(
        TreeTrainer(learner, train.tokens),
        epochs=options.epochs,
        patience=options.patience,
        order=lambda epoch: order(epoch, 1),
        measure=None if dev is None else lambda weights: measure(complete(weights), options, dev, threads),
        checkpoint=Checkpoint(
            checkpoint,
            _identify(options, model, train, dev),
            lambda best: complete(best).check(),
        ),
        progress=progress,
    )
    return Outcome(complete(outcome.weights), outcome.accuracy)


def _learn_labels(
    model: ArcModel, corpus: _native.TreeCorpus, train: Treebank, order: Order
) -> dict[str, NDArray[Any]]:
    """Return the weights of relations in trees that are known, if the model has any."""
    if model.labels is None:
        return {}
    learner = _native.LabelLearner(
        corpus,
        model.label_plan,
        train.select(model.columns),
        of_root=model.arrays["of_root"],
        of_others=model.arrays["of_others"],
        aggressiveness=LABEL_RATE,
    )
    for epoch in range(LABEL_EPOCHS):
        learner.epoch(order(epoch, LABEL_STAGE))
    weights, step = learner.compile()
    return {"labels": weights, "label_step": np.asarray(step, np.float64)}


def _make_order(options: ArcOptions, corpus: _native.TreeCorpus) -> Order:
    def order(epoch: int, stage: int) -> NDArray[np.int64]:
        return np.random.default_rng((options.seed, stage, epoch)).permutation(corpus.sentences)

    return order


def _choose_arcs(
    options: ArcOptions, model: ArcModel, corpus: _native.TreeCorpus, dev: Treebank | None
) -> Chosen:
    """Learn what chooses the arcs that are scored."""
    return learn_selector(
        options,
        model.passes,
        model.plans[0],
        model.tag_column,
        corpus,
        None if dev is None else _make_corpus(model, dev),
        _make_order(options, corpus),
        single_root=model.single_root,
    )


def relearn_selector(options: ArcOptions, model: ArcModel, train: Treebank, dev: Treebank | None) -> ArcModel:
    """Return a model with the same scores of arcs, and others of them scored: as ``options`` say."""
    passes = options.list_passes(model.projective)
    columns = [name for name in model.columns if name in options.list_columns()]
    pruning = _restrict(choose_pruning_templates(options, passes, columns), columns, False)
    bits = choose_pruning_bits(options, passes)
    bare = _replace(model, passes=passes, pruning=pruning, pruning_bits=bits, cascade=None)
    chosen = _choose_arcs(options, bare, _make_corpus(bare, train), dev)
    kept = (*DECLARED, *(DECLARED_LABELS if model.labels else ()))
    arrays = {name: model.arrays[name] for name in kept} | dict(chosen.selector.arrays)
    return _replace(bare, cascade=chosen.selector.describe(), arrays=arrays)


def _replace(model: ArcModel, **changes: Any) -> ArcModel:
    """Return a model with other fields; what was made of the old ones is not kept."""
    values = {name: getattr(model, name) for name in ArcModel.__dataclass_fields__}
    return ArcModel(**values | changes)


def _make_corpus(model: ArcModel, trees: Treebank) -> _native.TreeCorpus:
    """Return trees as the kernels see them; relations that the model has not get the first number."""
    numbers = {name: number for number, name in enumerate(model.relations)}
    relations = np.array([numbers.get(name, 0) for name in trees.relations], np.int32)
    return _native.TreeCorpus(*model.plans, trees.select(model.columns), trees.heads, relations)


def choose_templates(order: int) -> ArcTemplates:
    """Return the templates of what is scored: arcs, and beside them siblings and grandparents."""
    texts = (defaults.ARCS, defaults.SIBLINGS, defaults.GRANDPARENTS)
    return ArcTemplates("".join(texts[:order]))


def choose_pruning_templates(
    options: ArcOptions, passes: Sequence[str], columns: Sequence[str]
) -> ArcTemplates:
    """Return the templates of what chooses arcs, for data with these columns."""
    if passes == HEADS and options.pruning_features == "arcs":
        return ArcTemplates(defaults.BARE_ARCS)
    text = defaults.PRUNING if "upos" in columns else defaults.PRUNING_BY_WORDS
    if passes not in (HEADS, COARSE):
        text += defaults.OUTER if "upos" in columns else defaults.OUTER_BY_WORDS
    if "second" in passes:
        text += defaults.PRUNING_SIBLINGS if "upos" in columns else defaults.PRUNING_SIBLINGS_BY_WORDS
    return ArcTemplates(text)


def choose_pruning_bits(options: ArcOptions, passes: Sequence[str]) -> int:
    """Return how large the tables are of what chooses arcs."""
    if tuple(passes) == COARSE:
        return min(HEAD_BITS["tags"], options.hash_bits)
    bits = HEAD_BITS[options.pruning_features] if tuple(passes) == HEADS else PASS_BITS
    return min(bits, options.hash_bits)


def _choose_single_root(options: ArcOptions, train: Treebank) -> bool:
    """Return whether trees have one root; a slip in the training data does not allow several."""
    if options.single_root != "auto":
        return options.single_root == "yes"
    return train.several_roots <= SEVERAL_ROOTS * len(train)


def _prepare(options: ArcOptions, train: Treebank, templates: ArcTemplates | None) -> ArcModel:
    """Return a model without weights: relations, templates over columns that are filled."""
    allowed = options.list_columns()
    filled = [name for name in train.find_filled() if name in allowed]
    chosen = _restrict(templates or choose_templates(options.order), filled, templates is not None)
    projective = _choose_projective(options, train, chosen)
    passes = options.list_passes(projective)
    pruning = _restrict(choose_pruning_templates(options, passes, filled), filled, False)
    relations = sorted(set(train.relations))
    is_root = train.heads == 0
    names = np.array(train.relations)
    labels = None
    if options.relations == "second-pass":
        labels = _restrict(ArcTemplates(defaults.LABELS), filled, False)
    wanted = (*chosen.columns, *pruning.columns, *(() if labels is None else labels.columns))
    columns = tuple(dict.fromkeys(wanted))
    return ArcModel(
        relations,
        columns,
        pruning,
        chosen,
        options.hash_bits,
        choose_pruning_bits(options, passes),
        _choose_single_root(options, train),
        projective,
        passes,
        None,
        labels,
        {
            "of_root": np.isin(relations, names[is_root]).astype(np.uint8),
            "of_others": (np.isin(relations, names[~is_root]) | is_root.all()).astype(np.uint8),
        },
    )


def _choose_projective(options: ArcOptions, train: Treebank, templates: ArcTemplates) -> bool:
    """Tell whether crossing arcs are left out: where they are rare, that is faster and no worse."""
    if options.projective != "auto":
        return options.projective == "yes"
    if options.needs_projective():
        return True
    return templates.parts != ("arc",) and train.crossing < RARE * len(train)


def _restrict(templates: ArcTemplates, columns: Sequence[str], given: bool) -> ArcTemplates:
    """Leave out templates over columns that hold nothing; those that the user gave must not need any."""
    missing = [name for name in templates.columns if name not in columns and name != "word"]
    if given and "child" in templates.parts:
        raise InvalidInput("templates look at child, which is of relations in trees that are known only")
    if given and missing:
        raise InvalidInput(f"templates look at {missing[0]!r}, which the training data leave empty")
    return ArcTemplates(templates.restrict(columns))


def measure(model: ArcModel, options: ArcOptions, trees: Treebank, threads: int) -> float:
    """Return the share of words with the right head and relation."""
    found = parse(model, options, trees.select(model.columns), threads=threads)
    if len(found.heads) < trees.tokens:
        raise InvalidInput("a sentence of the dev data has no tree: raise candidates, or lower pruning")
    names = np.array(model.relations)
    right = (found.heads == trees.heads) & (names[found.relations] == np.array(trees.relations))
    return float(right.mean())


def parse(
    model: ArcModel,
    options: ArcOptions,
    cells: list[Columns],
    *,
    k: int = 1,
    pruning: float | None = None,
    seconds: float = math.inf,
    threads: int = 1,
) -> _native.ParsedTrees:
    """Find the best trees of sentences given as columns of cells."""
    for number, columns in enumerate(cells):
        check_length(len(columns[0]), f"sentence {number}")
    if pruning and model.cascade is not None:
        passes = " ".join(model.passes)
        raise InvalidInput(
            f"pruning is for cascade='heads', and this parser has {passes!r}: it may be 0, or left out"
        )
    return model.native.parse(
        cells,
        projective=model.projective,
        single_root=model.single_root,
        ratio=options.pruning if pruning is None else pruning,
        most=options.candidates,
        k=k,
        seconds=seconds,
        threads=threads,
    )


def check_length(words: int, place: str) -> None:
    """Refuse a sentence that is too long to be parsed; ``place`` says which it is."""
    if words > MOST_WORDS:
        raise InvalidInput(
            f"{place}: it has {words:,} words, and parsers take at most {MOST_WORDS:,}, for the memory of "
            "its arcs grows with the square: split it into sentences"
        )


def _identify(options: ArcOptions, model: ArcModel, train: Treebank, dev: Treebank | None) -> dict[str, Any]:
    """Return what tells one training run from another."""
    return {
        "certus": __version__,
        "options": asdict(options),
        "pruning": str(model.pruning),
        "templates": str(model.templates),
        "train": train.digest(),
        "dev": None if dev is None else dev.digest(),
    }
