"""``--certificate FILE``: a line of JSON for each sentence, its problem and the certificate of its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from certus.chain import Automaton, Chain
from certus.chain.certificate import certify_answer
from certus.errors import InvalidInput
from certus.formats import Sentence
from certus.models.tagger import Tagger
from certus.solution import Solution, Status
from certus.storage.files import open_atomically
from certus.syntax.constituency.grammar import Grammar
from certus.verification import Certificate, Problem

T = TypeVar("T")


def write_certificates(
    answered: Iterable[T], path: str | None, certify: Callable[[T], tuple[Problem, Certificate]]
) -> Iterator[T]:
    """Yield answers as they come, and write a certificate of each; the file is there when all are done."""
    if path is None:
        yield from answered
        return
    with open_atomically(path) as file:
        for answer in answered:
            problem, certificate = certify(answer)
            line = {"problem": problem.as_json(), "certificate": certificate.as_json()}
            json.dump(line, file, allow_nan=False, separators=(",", ":"))
            file.write("\n")
            yield answer


class TaggingCertifier:
    """Certifies the labels of sentences by the chain of a first-order model."""

    def __init__(self, tagger: Tagger, legal: Automaton | None) -> None:
        self._tagger, self._chain, self._legal = tagger, _find_chain(tagger), legal
        self._numbers = {label: number for number, label in enumerate(tagger.labels)}

    def __call__(
        self, answered: tuple[Sentence, Sequence[Solution[list[str]]]]
    ) -> tuple[Problem, Certificate]:
        """Return a sentence as a problem, and the certificate of its labels."""
        sentence, (answer, *_) = answered
        problem = self._chain.state_problem(self._tagger.emissions(sentence), self._legal)
        possible = answer.status is not Status.INFEASIBLE
        labels = [self._numbers[label] for label in answer.value] if possible else None
        return problem, certify_answer(problem, labels)


def _find_chain(tagger: Tagger) -> Chain:
    try:
        return tagger.chain
    except InvalidInput:
        raise InvalidInput(
            "--certificate is of models whose scores are those of single labels and of pairs, such as "
            f"perceptron and crf, not of {tagger.learner.name}; "
            "--proof writes the scores and bounds of its answers"
        ) from None


def check_alone(options: Any, *names: str) -> None:
    """Refuse options that change what is asked, or ask for more than one answer."""
    if options.certificate is None:
        return
    given = [name for name in names if getattr(options, name) not in (None, False)]
    if options.k > 1 or given:
        spelled = ", ".join(["-k", *(f"--{name.replace('_', '-')}" for name in names)])
        raise InvalidInput(f"--certificate is of the best answer of the model alone: leave out {spelled}")


def certify_tree(grammar: Grammar, words: Sequence[str]) -> tuple[Problem, Certificate]:
    """Return the forest of a sentence as a problem, and the certificate of its best derivation."""
    forest = grammar.forest(words)
    found = forest.graph.viterbi(forest.scores, infeasible="return", certificate=True)
    assert found.certificate is not None
    return forest.graph.state_problem(forest.scores), found.certificate
