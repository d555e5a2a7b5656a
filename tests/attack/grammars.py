"""Grammars of a few rules: the best trees, and the best tree and tags by a grammar and a tagger together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from certus.syntax import Grammar, JointParser
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible
from tests.attack.scores import draw_regime
from tests.attack.taggers import TaggerProblem, score_labels
from tests.attack.tiny_models import TAGS, WORDS, draw_words, train_tagger

MOST = 1500  # trees
TAGGERS = ("crf", "perceptron", "hmm", "pruned-crf 2", "pruned-crf 3")
OPTIMIZERS = ("auto", "subgradient", "bundle")
ROUNDING = 1e-5  # relative: scores of taggers are of single precision
Derived = tuple[str, tuple[str, ...], tuple[float, ...]]  # brackets, tags, scores


@dataclass(frozen=True)
class GrammarProblem:
    """A sentence, and rules: (parent, left, right, score), (start, child, score), (tag, word, score)."""

    words: tuple[str, ...]
    binary: tuple[tuple[str, str, str, float], ...]
    unary: tuple[tuple[str, float], ...]  # below the start symbol
    lexicon: tuple[tuple[str, str, float], ...]
    integral: bool
    tagger: str
    weight: float
    seed: int


class Grammars:
    """The best trees."""

    name = "grammars"

    def draw(self, rng: Random) -> GrammarProblem:
        """Return a sentence of few words."""
        names = ("ties", "small", "normal", "large", "mixed")
        regime = draw_regime(rng, names=names, largest=10, shares=(0.0,))
        tags = TAGS[: rng.randint(1, 3)] if rng.random() < 0.8 else (*TAGS[:2], "OTHER")
        symbols = (*tags, *("X", "Y", "Z")[: rng.randint(1, 3)])
        inner = symbols[len(tags) :]
        while True:
            words = [rng.choice(WORDS) for _ in draw_words(rng, 1, 4)]
            rules = [
                rule for rule in itertools.product((*inner, "TOP"), symbols, symbols) if rng.random() < 0.3
            ]
            problem = GrammarProblem(
                tuple(words),
                tuple((*rule, regime.draw(rng)) for rule in rules),
                tuple((symbol, regime.draw(rng)) for symbol in symbols if rng.random() < 0.6),
                tuple(
                    (tag, word, regime.draw(rng))
                    for tag, word in itertools.product(tags, sorted(set(words)))
                    if rng.random() < 0.8
                ),
                regime.integral,
                rng.choice(TAGGERS),
                rng.choice([0.5, 1.0, 2.0]),
                rng.getrandbits(32),
            )
            if {tag for tag, _, _ in problem.lexicon} == set(tags) and len(_list_trees(problem)) <= MOST:
                return problem

    def enumerate(self, problem: GrammarProblem) -> Truth:
        """Score all trees."""
        found: dict[str, Exact] = {}
        for tree, _, terms in _list_trees(problem):
            exact = add_terms(terms, integral=problem.integral)
            if exact is not None:
                found[tree] = exact
        return Truth(found)

    def ask(self, problem: GrammarProblem) -> Iterator[Question]:
        """Ask for the best trees, and together with a tagger."""
        rng = Random(problem.seed)
        words: dict[str, dict[str, float]] = {}
        for tag, word, score in problem.lexicon:
            words.setdefault(tag, {})[word] = score
        unary = [("TOP", child, score) for child, score in problem.unary]
        grammar = Grammar.of_rules(problem.binary, unary, words, start="TOP")

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: grammar.parse(list(problem.words), **options)

        for k in (1, rng.choice([2, 5, 1000])):
            infeasible = choose_infeasible(rng)
            yield Question(
                "parse" + (" k" if k > 1 else ""),
                make_call(k=k, infeasible=infeasible),
                k=k,
                exact=True,
                infeasible=infeasible,
                read=str,
            )
        yield from _ask_joint(problem, grammar, rng)


def _ask_joint(problem: GrammarProblem, grammar: Grammar, rng: Random) -> Iterator[Question]:
    tagger = train_tagger(problem.tagger)
    if not set(tagger.labels) & set(grammar.tags):
        return
    sequences = score_labels(TaggerProblem(problem.tagger, 0, problem.words, None, None, 0))
    found: dict[str, Exact] = {}
    for tree, tags, terms in _list_trees(problem):
        if tags in sequences:
            score = math.fsum([*terms, problem.weight * sequences[tags]])
            found[tree] = Exact(score, ROUNDING * (1 + math.fsum(map(abs, (*terms, sequences[tags])))))
    truth = Truth(found, 1e-9 * max((abs(exact.score) for exact in found.values()), default=0.0))
    pruning = rng.choice([1.0, 1.0, 0.0])
    parser = JointParser(grammar, tagger, weight=problem.weight, pruning=pruning)

    def make_call(**options: Any) -> Callable[[], Any]:
        return lambda: parser.parse(list(problem.words), **options)

    limits: tuple[dict[str, Any], ...] = ({}, {"max_iterations": 1}, {"seconds": 1e-6}, {"max_nodes": 1})
    for limit in limits:
        infeasible, optimizer = choose_infeasible(rng), rng.choice(OPTIMIZERS)
        yield Question(
            f"joint {problem.tagger}" + (" limited" if limit else ""),
            make_call(infeasible=infeasible, optimizer=optimizer, **limit),
            exact=not limit and pruning == 0,
            settles=not limit,
            infeasible=infeasible,
            read=str,
            truth=truth,
        )


def _list_trees(problem: GrammarProblem) -> list[Derived]:
    """Return all trees, up to one more than there may be."""
    words = problem.words

    def derive(symbol: str, begin: int, end: int) -> Iterator[Derived]:
        if end == begin + 1:
            for tag, word, score in problem.lexicon:
                if tag == symbol and word == words[begin]:
                    yield f"({tag} {word})", (tag,), (score,)
        for parent, left, right, score in problem.binary:
            for middle in range(begin + 1, end) if parent == symbol else ():
                ours = list(itertools.islice(derive(left, begin, middle), MOST))
                for one, other in itertools.product(ours, list(derive(right, middle, end)) if ours else ()):
                    brackets = f"({symbol} {one[0]} {other[0]})"
                    yield brackets, one[1] + other[1], (score, *one[2], *other[2])

    found = derive("TOP", 0, len(words))
    below = (
        (f"(TOP {tree})", tags, (score, *terms))
        for child, score in problem.unary
        for tree, tags, terms in derive(child, 0, len(words))
    )
    return list(itertools.islice(itertools.chain(found, below), MOST + 1))
