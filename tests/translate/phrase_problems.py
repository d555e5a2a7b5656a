"""Random sentences to translate, whose scores are whole numbers: sums are exact in any order."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass

import numpy as np

import certus
from certus.translate import Phrase, PhraseProblem
from tests.reference import translate as reference
from tests.translate.problems import make_ngrams, make_sentences, write_arpa


@dataclass(frozen=True)
class RandomProblem:
    """A sentence, everything that its derivations score, and the same for the solvers."""

    words: int
    phrases: list[reference.Phrase]
    model: certus.LanguageModel
    distortion: int
    limit: int | None
    forbidden: list[list[str]]

    def make(self, *, forbid: bool = True) -> PhraseProblem:
        """Return it as the solvers take it."""
        phrases = [Phrase(one.begin, one.end, one.target, one.score) for one in self.phrases]
        forbidden = self.forbidden if forbid else []
        return PhraseProblem(
            self.words,
            phrases,
            self.model,
            distortion=self.distortion,
            limit=self.limit,
            forbidden=forbidden,
        )

    def enumerate(self, *, forbid: bool = True) -> list[tuple[float, reference.Derivation, str]]:
        """Return all derivations, best first: score, phrases, text."""
        terms = self.forbidden if forbid else []
        found = []
        for one in reference.enumerate_derivations(self.words, self.phrases, self.limit):
            text = reference.spell(one, self.phrases)
            if not reference.holds_term(text, terms):
                score = reference.score_derivation(one, self.phrases, self.model.score, self.distortion)
                found.append((score, one, " ".join(text)))
        return sorted(found, key=lambda item: -item[0])


def make_problem(seed: int) -> RandomProblem:
    """Return a random sentence of up to five words."""
    rng = random.Random(seed)
    words = rng.choice([0, 1, 1, 2, 3, 3, 4, 4, 5])
    vocabulary = [f"w{n}" for n in range(5)] + ["unseen"]
    spans = [(b, e) for b in range(words) for e in range(b + 1, min(words, b + 3) + 1)]
    phrases = {}
    for begin, end in spans:
        if end > begin + 1 and rng.random() < 0.5:
            continue
        for _ in range(rng.choice([0, 1, 1, 2, 2] if end > begin + 1 else [1, 1, 2, 2, 3])):
            target = tuple(rng.choices(vocabulary, k=rng.choice([1, 1, 2, 2, 3, 4])))
            phrases[begin, end, target] = reference.Phrase(begin, end, target, rng.randint(-6, 3))
    if words and rng.random() < 0.05:  # a word that nothing translates
        place = rng.randrange(words)
        phrases = {key: one for key, one in phrases.items() if not key[0] <= place < key[1]}
    terms = [rng.choices(vocabulary, k=rng.choice([1, 2, 2, 3])) for _ in range(rng.choice([0, 0, 1, 2]))]
    limit = rng.choice([None, 0, 1, 2, 3])
    return RandomProblem(words, list(phrases.values()), make_model(seed), rng.randint(0, 2), limit, terms)


def make_model(seed: int) -> certus.LanguageModel:
    """Return a language model whose scores are small whole numbers; every second one as pruning leaves it."""
    order = 1 + seed % 5
    if seed % 2:
        source = write_arpa(make_ngrams(seed, order))
        model = certus.LanguageModel.read_arpa(io.StringIO(source))
    else:
        model = certus.LanguageModel(order=order).fit(make_sentences(seed))
    arrays = dict(model._arrays)
    for name in ("arc_score", "backoff"):
        arrays[name] = np.round(arrays[name] * 2).clip(-12, 6).astype(np.float32)
    model._use(arrays, model.description)
    return model
