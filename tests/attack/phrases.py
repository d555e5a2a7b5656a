"""Translation by phrases: repeated phrases, jumps and their limit, forbidden terms, language models.

What a language model scores is attacked elsewhere (``language_models.py``); here its scores are given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from certus.translate import (
    METHODS,
    AStar,
    Beam,
    Lagrangian,
    Method,
    OptimalBeam,
    Phrase,
    PhraseProblem,
    Program,
    Stack,
)
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible, pick
from tests.attack.ngrams import WORDS, Ngram, draw_ngrams, make_model
from tests.attack.scores import REAL, draw_regime

MOST = 2000  # derivations
SHARE = 2e-9  # of the scores of a derivation: the methods take 1e-9 for rounding
PROGRAM_SLACK = 1e-5  # what an integer program takes for rounding
LIMITED: tuple[Method, ...] = (
    OptimalBeam(rounds=1),
    Beam(width=1),
    Beam(width=3, first_rounds=5),
    Lagrangian(rounds=2),
    Lagrangian(from_zero=True),
    AStar(pops=3),
    Stack(width=1),
)


@dataclass(frozen=True)
class PhrasesProblem:
    """A sentence: phrases are (begin, end, target words, score)."""

    words: int
    phrases: tuple[tuple[int, int, tuple[str, ...], float], ...]
    ngrams: tuple[tuple[Ngram, float, float], ...]
    weight: float
    distortion: float
    limit: int | None
    forbidden: tuple[tuple[str, ...], ...]
    seed: int


class Phrases:
    """The best derivations."""

    name = "phrases"

    def draw(self, rng: Random) -> PhrasesProblem:
        """Return a sentence of few words and derivations."""
        regime = draw_regime(rng, names=("ties", "small", "small", *REAL), largest=6)
        ngrams = draw_ngrams(rng)
        while True:
            words = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])
            phrases = []
            for begin in range(words):
                for end in range(begin + 1, min(words, begin + 3) + 1):
                    usual = (1, 1, 2, 3) if end == begin + 1 else (0, 0, 1)
                    for _ in range(rng.choice(usual)):
                        target = tuple(rng.choices((*WORDS, "new"), k=rng.choice([1, 1, 2, 3])))
                        phrases.append((begin, end, target, regime.draw(rng, share=min(regime.share, 0.05))))
            if phrases and rng.random() < 0.5:  # the same phrase again, with another score
                for begin, end, target, _ in rng.sample(phrases, rng.randint(1, len(phrases))):
                    phrases.insert(
                        rng.randint(0, len(phrases)), (begin, end, target, regime.draw(rng, share=0))
                    )
            if phrases and rng.random() < 0.1:
                phrases.remove(rng.choice(phrases))
            terms = [
                tuple(rng.choices(WORDS, k=rng.randint(1, 3))) for _ in range(rng.choice([0, 0, 0, 1, 2]))
            ]
            problem = PhrasesProblem(
                words,
                tuple(phrases),
                ngrams,
                rng.choice([0.0, 1.0, 1.0, 0.5, 3.0]),
                rng.choice([0.0, 1.0, 0.3, -0.5]),
                rng.choice([None, None, 0, 1, 2]),
                tuple(terms),
                rng.getrandbits(32),
            )
            if sum(1 for _, _ in zip(range(MOST + 1), list_derivations(problem), strict=False)) <= MOST:
                return problem

    def enumerate(self, problem: PhrasesProblem) -> Truth:
        """Score every derivation."""
        model, found = make_model(problem.ngrams), {}
        for derivation in list_derivations(problem):
            text = spell(problem, derivation)
            if not any(_holds(text, term) for term in problem.forbidden):
                exact = _score(problem, derivation, problem.weight * model.score(text))
                if exact is not None:
                    found[derivation] = exact
        return Truth(found)

    def ask(self, problem: PhrasesProblem) -> Iterator[Question]:
        """Ask every method, with few rounds as well, for lists and for lists of different texts."""
        rng = Random(problem.seed)
        phrases = [Phrase(*phrase) for phrase in problem.phrases]
        made = PhraseProblem(
            problem.words,
            phrases,
            make_model(problem.ngrams),
            weight=problem.weight,
            distortion=problem.distortion,
            limit=problem.limit,
            forbidden=problem.forbidden,
        )

        truth = self.enumerate(problem)
        programmed = Truth(truth.scores, truth.slack + PROGRAM_SLACK)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: made.decode(**options)

        methods: list[str | Method] = ["auto", *METHODS, *pick(rng, LIMITED, 3)]
        for method in methods:
            named = isinstance(method, str)
            kind = METHODS.get(method, OptimalBeam) if isinstance(method, str) else type(method)
            if kind is Program and problem.forbidden:  # which it does not know
                continue
            infeasible = choose_infeasible(rng)
            for k in [1, rng.choice([2, 3, 10])] if kind.many else [1]:
                yield Question(
                    (method if isinstance(method, str) else kind.name + " limited") + (" k" if k > 1 else ""),
                    make_call(method=method, k=k, infeasible=infeasible),
                    k=k,
                    exact=named and kind in (OptimalBeam, AStar),
                    settles=named and kind is not Lagrangian,  # which ends where its rounds do
                    infeasible=infeasible,
                    read=_read_numbers,
                    truth=programmed if kind is Program else None,
                )
        yield Question(
            "auto distinct",
            make_call(k=5, distinct=True, infeasible="return"),
            k=5,
            exact=True,
            infeasible="return",
            read=_read_words,
            truth=_merge_texts(problem, truth),
        )
        yield Question(
            "auto seconds",
            make_call(seconds=1e-6, infeasible="return"),
            infeasible="return",
            read=_read_numbers,
        )


def list_derivations(problem: PhrasesProblem) -> Iterator[tuple[int, ...]]:
    """Yield all sequences of phrases that translate each word once, within the limit of jumps."""

    def extend(made: tuple[int, ...], covered: frozenset[int], end: int) -> Iterator[tuple[int, ...]]:
        if len(covered) == problem.words:
            yield made
            return
        for number, (begin, stop, _, _) in enumerate(problem.phrases):
            far = problem.limit is not None and abs(begin - end) > problem.limit
            if not far and covered.isdisjoint(range(begin, stop)):
                yield from extend((*made, number), covered | set(range(begin, stop)), stop)

    yield from extend((), frozenset(), 0)


def spell(problem: PhrasesProblem, derivation: Sequence[int]) -> tuple[str, ...]:
    """Return the target words of a derivation."""
    return tuple(word for number in derivation for word in problem.phrases[number][2])


def _score(problem: PhrasesProblem, derivation: Sequence[int], fluency: float) -> Exact | None:
    terms, end = [fluency], 0
    for number in derivation:
        begin, stop, _, score = problem.phrases[number]
        terms += [score, -problem.distortion * abs(begin - end)]
        end = stop
    return add_terms(terms, integral=False, share=SHARE)


def _holds(text: Sequence[str], term: Sequence[str]) -> bool:
    return any(tuple(text[i : i + len(term)]) == tuple(term) for i in range(len(text) - len(term) + 1))


def _merge_texts(problem: PhrasesProblem, truth: Truth) -> Truth:
    best: dict[Hashable, Exact] = {}
    for derivation, exact in truth.scores.items():
        assert isinstance(derivation, tuple)
        text = spell(problem, derivation)
        best[text] = max(exact, best.get(text, exact))
    return Truth(best, truth.slack)


def _read_numbers(value: Any) -> tuple[int, ...]:
    return tuple(phrase.number for phrase in value)


def _read_words(value: Any) -> tuple[str, ...]:
    return tuple(word for phrase in value for word in phrase.target)
