"""Dependency parsers that prune, trained on a few invented trees: their proofs are about all trees.

The score of a tree is asked of the parser (``score``, which prunes nothing); the search is what is attacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import certus
from tests.attack.attack import Exact, Question, Truth
from tests.attack.tiny_models import TAGS, draw_words, train_parser
from tests.attack.trees import list_trees

ROUNDING = 1e-6  # relative: features are held in single precision
PARSERS: dict[str, dict[str, Any]] = {
    "heads 1": {"order": 1, "cascade": "heads", "projective": "no", "pruning": 0.3},
    "heads 2": {"order": 2, "cascade": "heads", "projective": "no", "candidates": 2},
    "heads 3": {"order": 3, "cascade": "heads", "projective": "no", "pruning": 0.3, "candidates": 3},
    "heads arcs": {
        "order": 3,
        "cascade": "heads",
        "projective": "no",
        "pruning": 0.1,
        "pruning_features": "arcs",
    },
    "heads projective": {"order": 3, "cascade": "heads", "projective": "yes", "candidates": 2},
    "cascade 1": {"order": 1, "projective": "yes"},
    "cascade 3": {"order": 3, "projective": "yes"},
    "cascade second": {"order": 3, "cascade": "length vine second", "projective": "yes", "filter_loss": 0.3},
    "cascade max": {"order": 2, "cascade": "length first", "projective": "yes", "filter": "max-marginals"},
    "cascade local": {"order": 2, "cascade": "local", "projective": "no", "filter_loss": 0.3},
    "joint": {"order": 2, "cascade": "heads", "projective": "no", "relations": "joint", "candidates": 2},
}


@dataclass(frozen=True)
class ParserProblem:
    """A sentence for one of the parsers."""

    parser: str
    model: int  # the seed of its treebank
    words: tuple[str, ...]
    tags: tuple[str, ...]
    seed: int


class Parsers:
    """The best trees under a model."""

    name = "parsers"

    def draw(self, rng: Random) -> ParserProblem:
        """Return a sentence of few words."""
        words = draw_words(rng, 1, 5)
        tags = tuple(rng.choice(TAGS) for _ in words)
        return ParserProblem(
            rng.choice(list(PARSERS)), rng.randrange(2), tuple(words), tags, rng.getrandbits(32)
        )

    def enumerate(self, problem: ParserProblem) -> Truth:
        """Score all trees, whether their arcs are pruned or not."""
        parser, sentence = make_parser(problem), list_columns(problem)
        model = parser.model
        found = {}
        for heads in list_trees(len(problem.words), model.projective, model.single_root):
            score = parser.score(sentence, heads)
            found[heads] = Exact(score, ROUNDING * (1 + abs(score)))
        return Truth(found)

    def ask(self, problem: ParserProblem) -> Iterator[Question]:
        """Ask for the best tree and for lists, with and without pruning and limits."""
        parser, sentence = make_parser(problem), list_columns(problem)
        rng = Random(problem.seed)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: parser.parse(sentence, **options)

        for k in (1, rng.choice([2, 5])):
            name = problem.parser + (" k" if k > 1 else "")
            yield Question(name, make_call(k=k), k=k, read=_read_heads)
            yield Question(f"{name} unpruned", make_call(k=k, pruning=0), k=k, exact=True, read=_read_heads)
        yield Question(f"{problem.parser} limited", make_call(seconds=1e-6), read=_read_heads)


def make_parser(problem: ParserProblem) -> certus.DependencyParser:
    """Return the parser of a problem."""
    return train_parser(problem.model, **PARSERS[problem.parser])


def list_columns(problem: ParserProblem) -> dict[str, list[str]]:
    """Return the sentence by columns."""
    return {"form": list(problem.words), "upos": list(problem.tags)}


def _read_heads(value: Any) -> tuple[int, ...]:
    return tuple(value.heads)
