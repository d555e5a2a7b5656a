"""The grammar and the tagger of the joint benchmark, and the weight between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from certus.annotation.trees import Tree, prepared
from certus.errors import InvalidInput
from certus.formats import brackets, build
from certus.models.parser import Parser
from certus.models.tagger import Tagger
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.joint.parsing import JointParser
from certus_bench.joint.plan import Plan, Report
from certus_bench.joint.tuning import best, tune


@dataclass(frozen=True)
class Models:
    """What is tested, and on what.

    Attributes:
        grammar: learned from all trees but those of the test.
        tagger: likewise; of order 2.
        weight: of the tagger, chosen by models that had not seen the end of the training trees.
        test: trees to compare with.
    """

    grammar: Grammar
    tagger: Tagger
    weight: float
    test: list[Tree]

    @property
    def parser(self) -> JointParser:
        """Both together."""
        return JointParser(self.grammar, self.tagger, weight=self.weight)


def learn(plan: Plan, report: Report, tell: Callable[[str, float], None]) -> Models:
    """Choose the weight on trees held out, then learn from all."""
    tell("reading the treebank", 0.0)
    trees = list(brackets.read(plan.file))
    if len(trees) <= plan.train:
        raise InvalidInput(
            f"{plan.file} has {len(trees)} trees; the benchmark learns from {plan.train} of them"
        )
    train, rest = trees[: plan.train], trees[plan.train :]
    held_out = train[-plan.held_out :]
    tell("learning without the trees held out", 0.05)
    grammar, tagger = _fit(plan, train[: -plan.held_out])
    tell("choosing the weight", 0.3)
    trials = tune(grammar, tagger, held_out)
    report.tuning = [(trial.weight, 100 * trial.f1, 100 * trial.tags) for trial in trials]
    report.weight = best(trials).weight
    tell("learning from all", 0.8)
    grammar, tagger = _fit(plan, train)
    test = [tree for tree in map(prepared, islice(rest, plan.test)) if tree is not None]
    return Models(grammar, tagger, report.weight, test)


def _fit(plan: Plan, trees: Sequence[Tree]) -> tuple[Grammar, Tagger]:
    """Learn separately, as in the paper."""
    plain = [tree for tree in map(prepared, trees) if tree is not None]
    sentences = [build(tree.words, {"xpos": tree.tags}) for tree in plain]
    tagger = Tagger("xpos", "pruned-crf", order=2, epochs=plan.epochs)
    return Parser().fit(trees).grammar, tagger.fit(sentences)
