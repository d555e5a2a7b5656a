"""The intersected dynamic program: trees whose nodes know the tagger's states at both of their ends.

The construction of Bar-Hillel, Perles and Shamir (1964), which Rush et al. (2010) name as the exact
alternative to dual decomposition: a node over the words i..j becomes one node for each pair of states
at i and j. A rule then costs as many steps as there are triples of states, which few grammars bear; here
it is the referee.
"""

from __future__ import annotations

import numpy as np

from certus_bench.joint_arrays import Floats, Ints, JointArrays, Pair


def solve(problem: JointArrays) -> Pair | None:
    """Return the best tree and sequence that agree, or None where none do."""
    return _Chart(problem).best() if len(problem.forest) else None


class _Chart:
    """``inside[node][p, q]``: the best way to cover a node, from state p before it to state q at its end.

    States are counted from the first of their position.
    """

    def __init__(self, problem: JointArrays) -> None:
        self.problem, self.forest = problem, problem.forest
        begin = problem.arcs.begin
        self.sizes = np.diff(begin)
        self.steps = self._steps(begin)
        forest = self.forest
        self.words: dict[int, int] = {int(node): n for n, node in enumerate(forest.word)}
        self.edges: list[list[int]] = [[] for _ in range(len(forest))]
        self.inside = [
            np.full((self.sizes[i], self.sizes[j]), -np.inf)
            for i, j in zip(forest.begin, forest.end, strict=True)
        ]
        for node, number in self.words.items():
            self.inside[node] = self._word(number)
        for edge in reversed(range(len(forest.head))):  # children first
            head = int(forest.head[edge])
            self.edges[head].append(edge)
            self.inside[head] = np.maximum(self.inside[head], self._edge(edge))

    def _steps(self, begin: Ints) -> list[Floats]:
        """Return for each position the scores of going on from its states to those of the next."""
        arcs, scores, at = self.problem.arcs, self.problem.arc_scores(), self.problem.positions()
        steps = [np.full((a, b), -np.inf) for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True)]
        for origin, target, score in zip(arcs.origin, arcs.target, scores, strict=True):
            t = at[origin]
            steps[t][origin - begin[t], target - begin[t + 1]] = score
        return steps

    def _word(self, number: int) -> Floats:
        forest, arcs = self.forest, self.problem.arcs
        t = int(forest.position[number])
        labels = arcs.label[arcs.begin[t + 1] : arcs.begin[t + 2]]
        return np.where(labels == forest.tag[number], self.steps[t] + forest.word_score[number], -np.inf)

    def _edge(self, edge: int) -> Floats:
        left, right = self.inside[self.forest.left[edge]], self.forest.right[edge]
        over: Floats = (
            left if right < 0 else (left[:, :, None] + self.inside[right][None]).max(1, initial=-np.inf)
        )
        return over + float(self.forest.score[edge])

    def best(self) -> Pair | None:
        ends = self.inside[0][0][:, None] + self.steps[-1]
        score = float(ends.max(initial=-np.inf))
        if score == -np.inf:
            return None
        last = int(np.argwhere(ends == score)[0][0])
        edges: list[int] = []
        tags = np.zeros(self.problem.length, np.int64)
        self._trace(0, 0, last, edges, tags)
        return Pair(score, np.array(edges, np.int64), tags)

    def _trace(self, node: int, p: int, q: int, edges: list[int], tags: Ints) -> None:
        """Walk down what made the score of a node between two states."""
        goal, forest = self.inside[node][p, q], self.forest
        if node in self.words and self._word(self.words[node])[p, q] == goal:
            number = self.words[node]
            tags[forest.position[number]] = forest.tag[number]
            return
        edge = next(e for e in self.edges[node] if self._edge(e)[p, q] == goal)
        edges.append(edge)
        left, right = int(forest.left[edge]), int(forest.right[edge])
        if right < 0:
            return self._trace(left, p, q, edges, tags)
        middle = int((self.inside[left][p] + self.inside[right][:, q]).argmax())
        self._trace(left, p, middle, edges, tags)
        self._trace(right, middle, q, edges, tags)
