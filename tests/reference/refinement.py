"""Refinement HMMs by enumeration: every path of labels and hidden states, written out."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.learn.refinement import Operators, Parameters

Array = NDArray[np.float64]


def paths(states: int, length: int) -> NDArray[np.int64]:
    """All paths: (states ** length, length)."""
    return np.stack(np.meshgrid(*[np.arange(states)] * length, indexing="ij"), -1).reshape(-1, length)


def path_weights(operators: Operators, observations: NDArray[np.int64], every: NDArray[np.int64]) -> Array:
    """The weight of each path, a product of entries of the operators."""
    weight = operators.start[every[:, 0]].copy()
    for t, x in enumerate(observations):
        if t + 1 < len(observations):
            matrix = operators.matrices[operators.matrix[x]]
            if operators.gain is not None:
                matrix = operators.gain[x][:, None] * matrix
            weight *= matrix[every[:, t], every[:, t + 1]]
        else:
            weight *= operators.finish[x][every[:, t]]
    return weight


def marginals(operators: Operators, states: int, observations: NDArray[np.int64]) -> tuple[Array, float]:
    """(T, L) sums of the weights of the paths with each label at each position, and the sum of all."""
    every = paths(states, len(observations))
    weight = path_weights(operators, observations, every)
    label = np.searchsorted(operators.begin, every, side="right") - 1
    mu = np.zeros((len(observations), len(operators.begin) - 1))
    for t in range(len(observations)):
        np.add.at(mu[t], label[:, t], weight)
    return mu, float(weight.sum())


def walk(model: Parameters, labels: Any, observations: Any) -> tuple[float, Array, Array]:
    """p(labels, x), (T, m) sums over the hidden paths through each state, and (T - 1, m, m) through pairs."""
    m, length = model.hidden, len(labels)
    single, pair = np.zeros((length, m)), np.zeros((max(0, length - 1), m, m))
    total = 0.0
    for hidden in product(range(m), repeat=length):
        p = model.initial[labels[0], hidden[0]] * model.stop[labels[-1], hidden[-1]]
        for t in range(length):
            p *= model.emission[labels[t], hidden[t], observations[t]]
            if t > 0:
                p *= model.transition[labels[t - 1], hidden[t - 1], labels[t], hidden[t]]
        total += p
        for t in range(length):
            single[t, hidden[t]] += p
            if t > 0:
                pair[t - 1, hidden[t - 1], hidden[t]] += p
    return total, single, pair


def one_way(labels: int, hidden: int, observations: int, seed: int) -> Parameters:
    """A model whose labels only ever rise, so that it has finitely many sentences."""
    rng = np.random.default_rng(seed)
    transition, stop = np.zeros((labels, hidden, labels, hidden)), np.zeros((labels, hidden))
    for a in range(labels):
        for h in range(hidden):
            p = rng.dirichlet(np.ones((labels - 1 - a) * hidden + 1))
            stop[a, h] = p[0]
            transition[a, h, a + 1 :] = p[1:].reshape(labels - 1 - a, hidden)
    initial = rng.dirichlet(np.ones(labels * hidden)).reshape(labels, hidden)
    return Parameters(initial, transition, stop, rng.dirichlet(np.ones(observations), (labels, hidden)))


def all_sentences(model: Parameters) -> tuple[list[tuple[list[str], list[str]]], Array]:
    """Every sentence of a one-way model with its probability."""
    sentences, weights = [], []
    for length in range(1, model.labels + 1):
        for labels in combinations(range(model.labels), length):
            for seen in product(range(model.observations), repeat=length):
                sentences.append(([f"x{x}" for x in seen], [f"a{a}" for a in labels]))
                weights.append(walk(model, labels, seen)[0])
    return sentences, np.array(weights)
