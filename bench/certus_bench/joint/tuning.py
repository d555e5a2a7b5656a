"""Choosing the weight of the tagger beside the grammar, on trees that neither has learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certus.annotation.trees import Tree, prepared
from certus.errors import InvalidInput
from certus.evaluation.evalb import compare
from certus.syntax.joint.parsing import parse_jointly

if TYPE_CHECKING:
    from certus.models.tagger import Tagger
    from certus.syntax.constituency.grammar import Grammar

WEIGHTS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Trial:
    """How good trees are with one weight.

    Attributes:
        weight: of the tagger's score.
        f1: of labelled brackets, from 0 to 1.
        tags: accuracy of the tags, from 0 to 1.
    """

    weight: float
    f1: float
    tags: float


def tune(
    grammar: Grammar,
    tagger: Tagger,
    trees: Iterable[Tree],
    *,
    weights: Sequence[float] = WEIGHTS,
    **options: Any,
) -> list[Trial]:
    """Parse the words of trees with several weights; ``best`` chooses among what comes out.

    Args:
        grammar: as for ``parse_jointly``, and learned from other trees.
        tagger: likewise.
        trees: to compare with.

    Other args:
        weights: to try.
        **options: of ``parse_jointly``.
    """
    gold = [tree for tree in map(prepared, trees) if tree is not None]
    if not gold or not len(weights):
        raise InvalidInput("to choose a weight takes at least one tree to compare with and one weight to try")
    words = [tree.words for tree in gold]
    trials = []
    for weight in weights:
        answers = parse_jointly(grammar, tagger, words, weight=weight, robust=True, **options)
        report = compare(gold, [answer.tree for answer in answers]).total
        trials.append(Trial(float(weight), report.f1, report.tags.accuracy))
    return trials


def best(trials: Sequence[Trial]) -> Trial:
    """Return the trial whose brackets and tags are best, by the mean of the two errors' shares.

    Brackets are wrong ten times as often as tags; taken as shares of their mean over the trials, both count
    alike. The first of equals is returned.
    """
    f1 = sum(1 - trial.f1 for trial in trials) or 1.0
    tags = sum(1 - trial.tags for trial in trials) or 1.0
    return min(trials, key=lambda trial: (1 - trial.f1) / f1 + (1 - trial.tags) / tags)
