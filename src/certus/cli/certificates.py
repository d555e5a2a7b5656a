"""``--certificate FILE``: a line of JSON for each sentence, its problem and the certificate of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from certus.annotation.tagging import Tagging
from certus.errors import InvalidInput
from certus.formats import Sentence
from certus.models.tagger import Tagger
from certus.storage.files import open_atomically
from certus.syntax.constituency.grammar import Grammar
from certus.verification import Certificate, LineWriter, Problem

T = TypeVar("T")


def write_certificates(
    answered: Iterable[T], path: str | None, certify: Callable[[T], tuple[Problem, Certificate]]
) -> Iterator[T]:
    """Yield answers as they come, and write a certificate of each; the file is there when all are done."""
    if path is None:
        yield from answered
        return
    with open_atomically(path) as file:
        lines = LineWriter(file)
        for answer in answered:
            lines.write(*certify(answer))
            yield answer


class TaggingCertifier:
    """Certifies the labels of sentences under constraints."""

    def __init__(self, tagger: Tagger, constraints: Mapping[str, Any]) -> None:
        if not tagger.certifies:
            raise InvalidInput(
                "--certificate is of models that look for the best labels, as all learners but spectral "
                f"refinements do, not of this {tagger.learner.name}"
            )
        self._tagger, self._constraints = tagger, constraints

    def __call__(self, answered: tuple[Sentence, Sequence[Tagging]]) -> tuple[Problem, Certificate]:
        """Return a sentence as a problem, and the certificate of its labels."""
        sentence, (answer, *_) = answered
        problem = self._tagger.state_problem(sentence, **self._constraints)
        return problem, self._tagger.certify(sentence, problem, answer)


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
    found = forest.graph.decode(forest.scores, infeasible="return", certificate=True)
    assert found.certificate is not None
    return forest.graph.state_problem(forest.scores), found.certificate
