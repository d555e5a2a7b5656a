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
from tests.attack.tiny_models import TAGS, copy_model, draw_words, train_parser
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
ARCS = "head.word modifier.word\nhead.upos modifier.upos\nhead.upos distance\n"
RELATIONS = "relation modifier.word\nrelation head.upos modifier.upos\n"
SIBLINGS = "head.upos sibling.upos modifier.upos\nsibling.word modifier.word\n"
GRANDPARENTS = "grandparent.upos head.upos modifier.upos\ngrandparent.word modifier.word\n"
BOTH = "grandparent.upos head.upos sibling.upos modifier.upos\n"
# Parsers that score few arcs and prove their trees to be the best of all; the text is one of templates.
COARSE: dict[str, dict[str, Any]] = {
    "coarse 1": {"order": 1, "candidates": 1},
    "coarse 2": {"order": 2, "candidates": 2, "relations": "joint"},
    "coarse 3": {"order": 3, "candidates": 1, "single_root": "no"},
    "coarse perceptron": {"order": 3, "algorithm": "perceptron", "hash_bits": 10},
    "coarse siblings": {"templates": ARCS + SIBLINGS},
    "coarse grandparents": {"templates": ARCS + RELATIONS + GRANDPARENTS, "candidates": 1},
    "coarse both": {"templates": ARCS + RELATIONS + BOTH, "candidates": 1, "single_root": "no"},
    "coarse all": {"templates": ARCS + SIBLINGS + GRANDPARENTS + BOTH, "candidates": 2},
}
for _name, _given in COARSE.items():
    for _kind, _projective in (("", "yes"), (" crossing", "no")):
        # Weights change much, so that all scores and bounds matter.
        PARSERS[_name + _kind] = {
            "cascade": "coarse",
            "projective": _projective,
            "aggressiveness": 1.0,
            **_given,
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
        words = draw_words(rng, 0, 5)
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

        coarse = problem.parser.startswith("coarse")
        for k in (1, rng.choice([2, 5, 2000])):
            name = problem.parser + (" k" if k > 1 else "")
            yield Question(name, make_call(k=k), k=k, exact=coarse and k == 1, read=_read_heads)
            yield Question(f"{name} unpruned", make_call(k=k, pruning=0), k=k, exact=True, read=_read_heads)
            seconds = rng.choice([0, 1e-6, 1e-4, 1e-3])
            yield Question(f"{name} limited", make_call(k=k, seconds=seconds), k=k, read=_read_heads)
        yield Question(f"{problem.parser} batch", lambda: _ask_batch(problem), read=_read_heads)


def make_parser(problem: ParserProblem) -> certus.DependencyParser:
    """Return the parser of a problem."""
    return train_parser(problem.model, **PARSERS[problem.parser])


def list_columns(problem: ParserProblem) -> dict[str, list[str]]:
    """Return the sentence by columns."""
    return {"form": list(problem.words), "upos": list(problem.tags)}


def _ask_batch(problem: ParserProblem) -> Any:
    """Parse with threads and a copy of the model that nobody has used; return the answer, or faults."""
    sentence = list_columns(problem)
    answers = copy_model(make_parser(problem)).parse_batch([sentence] * 3, threads=2)
    alone = make_parser(problem).parse(sentence)
    if len({(one.value, one.score, one.bound) for one in (*answers, alone)}) != 1:
        return [f"answers of one sentence differ in a batch: {answers}, alone: {alone}"]
    return answers[1]


def _read_heads(value: Any) -> tuple[int, ...]:
    return tuple(value.heads)
