"""Problems too large to enumerate, against two referees: HiGHS and CP-SAT."""

from __future__ import annotations

import numpy as np
import pytest

import certus
from certus.relax import Decomposition, Side
from certus.relax.parts import AtMostOne, ChainPart, TablePart
from tests.reference.cp_sat import Program, solve_programs


def integer_program(scores: list[float], rows: list[tuple[dict[int, float], float, float]]) -> float:
    """Maximise over 0/1 variables; rows are (coefficients, least, most)."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for score in scores:
        solver.addVar(0, 1)
        solver.changeColCost(solver.getNumCol() - 1, score)
        solver.changeColIntegrality(solver.getNumCol() - 1, highspy.HighsVarType.kInteger)
    for coefficients, least, most in rows:
        index = np.array(list(coefficients), np.int32)
        solver.addRow(least, most, len(index), index, np.array(list(coefficients.values())))
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    solver.run()
    return float(solver.getInfo().objective_function_value)


def test_packings() -> None:
    rng = np.random.default_rng(11)
    programs: list[Program] = []
    found = []
    for _ in range(8):
        sets, elements = 14, 9
        members = [rng.choice(elements, 3, replace=False) for _ in range(sets)]
        worth = 3.0 * rng.integers(1, 9, sets)
        d = Decomposition()
        sides: list[list[Side]] = [[] for _ in range(sets)]
        rows = []
        for element in range(elements):
            own = [s for s in range(sets) if element in members[s]]
            if own:
                part = d.add(AtMostOne(worth[own] / 3), f"element {element}")
                rows.append((dict.fromkeys(own, 1.0), -np.inf, 1.0))
                for place, s in enumerate(own):
                    sides[s].append((part, "cells", [place]))
        for tied in sides:
            d.agree(*tied)
        best = d.solve(integral=True, certificate=True)
        assert best.optimal
        assert best.score == round(integer_program(list(worth), rows))
        assert certus.verify(d, best).score == best.score
        programs.append((list(worth), rows))
        found.append(best.score)
    assert solve_programs(programs) == found


def test_graphical_models() -> None:
    rng = np.random.default_rng(12)
    programs: list[Program] = []
    found = []
    for _ in range(8):
        nodes, values = 7, 3
        d, rows, scores = Decomposition(), [], []
        sides: list[list[Side]] = [[] for _ in range(nodes)]
        scores += [0.0] * (nodes * values)
        rows += [({n * values + v: 1.0 for v in range(values)}, 1.0, 1.0) for n in range(nodes)]
        for a in range(nodes):
            for b in range(a + 1, nodes):
                if b == a + 1 or rng.random() < 0.3:
                    table = rng.integers(-9, 10, (values, values)).astype(float)
                    edge = d.add(TablePart(table), f"{a}-{b}")
                    sides[a].append((edge, "0"))
                    sides[b].append((edge, "1"))
                    first = len(scores)
                    scores += list(table.reshape(-1))
                    for v in range(values):
                        row = {first + v * values + w: 1.0 for w in range(values)}
                        rows.append(({**row, a * values + v: -1.0}, 0.0, 0.0))
                        column = {first + w * values + v: 1.0 for w in range(values)}
                        rows.append(({**column, b * values + v: -1.0}, 0.0, 0.0))
        for tied in sides:
            if len(tied) > 1:
                d.agree(*tied)
        s = d.solve(certificate=True)
        assert s.optimal
        assert s.score == round(integer_program(scores, rows))
        assert certus.verify(d, s).score == s.score
        programs.append((scores, rows))
        found.append(s.score)
    assert solve_programs(programs) == found


@pytest.mark.parametrize("reserve", [False, True])
def test_two_chains_in_the_same_order_add_up_to_one(reserve: bool) -> None:
    """An independent way to the optimum; with bigrams in reserve the relaxation is exact, at any length."""
    rng = np.random.default_rng(13)
    for _ in range(5):
        length, labels = (20, 6) if reserve else (10, 4)
        one, two = rng.integers(-5, 6, (2, labels, labels)).astype(float)
        emissions = rng.integers(-5, 6, (2, length, labels)).astype(float)
        d = Decomposition()
        a = d.add(ChainPart(certus.Chain(one), emissions[0], bigrams=reserve), "a")
        b = d.add(ChainPart(certus.Chain(two), emissions[1], bigrams=reserve), "b")
        d.agree((a, "labels"), (b, "labels"))
        if reserve:
            d.agree_lazily((a, "bigrams"), (b, "bigrams"))
        s = d.solve()
        assert s.optimal
        assert s.score == certus.decode(emissions.sum(axis=0), one + two).score
