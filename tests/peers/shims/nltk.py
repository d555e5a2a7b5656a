"""NLTK's hidden Markov models decode by ``Chain.decode``; its Viterbi parser is ``Grammar.parse``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from nltk.parse import viterbi
from nltk.tag import hmm
from nltk.tree import ProbabilisticTree

import certus


def find_best_path(self: Any, sequence: Any) -> list[Any]:
    """Return the states of the best path."""
    states = self._states
    transitions = np.array([[self._transitions[a].logprob(b) for b in states] for a in states])
    start = np.array([self._priors.logprob(state) for state in states])
    emissions = np.array([[self._output_logprob(s, symbol) for s in states] for symbol in sequence])
    found = certus.decode(emissions, transitions, start=start)
    assert found.optimal
    return [states[label] for label in found.labels]


def parse(self: Any, tokens: Any) -> Iterator[Any]:
    """Yield the best tree, if there is one; rules of one or two symbols, and words."""
    from certus.syntax import Grammar

    binary, unary = [], []
    words: dict[str, dict[str, float]] = {}
    for rule in self._grammar.productions():
        left, right, score = str(rule.lhs()), rule.rhs(), rule.logprob()
        if len(right) == 1 and isinstance(right[0], str):
            words.setdefault(left, {})[right[0]] = score
        elif len(right) == 1:
            unary.append((left, str(right[0]), score))
        else:
            binary.append((left, str(right[0]), str(right[1]), score))
    grammar = Grammar.of_rules(binary, unary, words, start=str(self._grammar.start()))
    found = grammar.parse(list(tokens), infeasible="return")
    if found.value is not None:
        tree = ProbabilisticTree.fromstring(str(found.value))
        tree.set_logprob(found.score)
        yield tree


def pytest_configure() -> None:
    """Replace both ways to the best path, and the parser."""
    hmm.HiddenMarkovModelTagger._best_path = find_best_path
    hmm.HiddenMarkovModelTagger._best_path_simple = find_best_path
    viterbi.ViterbiParser.parse = parse
