"""What a solve shows: laziness, traces, progress, pictures, names, weights; problems without agreement."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.errors import CertusError
from certus.relax import Decomposition, NoAgreement, Progress, Subgradient, Trace
from certus.relax.parts import AtMostOne, ChainPart, ExactlyOne, TreePart
from tests.relax.test_failing import listed


def two_chains(seed: int = 0, length: int = 8, labels: int = 5) -> Decomposition:
    """A loopy problem that takes a while: two chains over the same positions in different orders."""
    rng = np.random.default_rng(seed)
    d = Decomposition()
    order = rng.permutation(length)
    a = d.add(
        ChainPart(certus.Chain(rng.normal(size=(labels, labels))), rng.normal(size=(length, labels))), "a"
    )
    b = d.add(
        ChainPart(certus.Chain(rng.normal(size=(labels, labels))), rng.normal(size=(length, labels))), "b"
    )
    cells = (order[:, None] * labels + np.arange(labels)).reshape(-1)
    d.agree((a, "labels", cells), (b, "labels"))
    return d


def test_the_trace_goes_down_and_up() -> None:
    s = two_chains(3).solve()
    assert s.optimal
    t = s.trace
    assert len(t) == s.stats["iterations"] == len(t.step) == len(t.seconds) == len(t.primal)
    assert (np.diff(t.bound) <= 0).all()
    assert (np.diff(t.best) >= 0).all()
    assert (np.diff(t.seconds) >= 0).all()
    assert t.bound[-1] >= s.bound == s.score == t.best[-1]
    assert all(dual >= s.score - 1e-9 for dual in t.dual)


def test_same_input_same_output() -> None:
    first, second = two_chains(5).solve(), two_chains(5).solve()
    assert first.trace.dual == second.trace.dual
    assert first.stats == second.stats


def test_parts_are_asked_only_when_something_changed() -> None:
    """Two pairs that share nothing: the pair that agrees at once is not asked again."""
    d = Decomposition()
    rng = np.random.default_rng(4)
    hard = [
        d.add(ChainPart(certus.Chain(rng.normal(size=(5, 5))), rng.normal(size=(9, 5)))) for _ in range(2)
    ]
    easy = [d.add(ExactlyOne([3.0, 1.0]), f"easy {n}") for n in range(2)]
    d.agree((hard[0], "labels"), (hard[1], "labels", np.arange(45).reshape(9, 5)[::-1].reshape(-1)))
    d.agree((easy[0], "cells"), (easy[1], "cells"))
    s = d.solve(optimizer=Subgradient(), tighten=False, max_nodes=1, max_iterations=20)
    assert s.stats["iterations"] > 3
    assert s.calls["easy 0"] == 1
    assert s.skipped["easy 0"] >= s.stats["iterations"] - 1


def test_weights_count() -> None:
    d = Decomposition()
    a, b = d.add(ExactlyOne([4.0, 0.0]), "a", weight=2.0), d.add(ExactlyOne([0.0, 7.0]), "b")
    d.agree((a, "cells"), (b, "cells"))
    s = d.solve()
    assert s.score == s.bound == 8.0
    assert (s.scores[a], s.scores[b]) == (4.0, 0.0)
    assert list(s.value["a"]) == [0]
    with pytest.raises(KeyError, match="the parts are: a, b"):
        s.value["c"]


def test_no_agreement_is_needed() -> None:
    d = Decomposition()
    a, b = d.add(ExactlyOne([4.0, 0.0])), d.add(TreePart(np.array([[1.0, 0.0]])))
    s = d.solve()
    assert s.optimal
    assert s.score == 5.0
    assert list(s.value[a]) == [0]
    assert list(s.value[b]) == [0]


def test_agreement_is_transitive() -> None:
    d = Decomposition()
    parts = [d.add(ExactlyOne(scores)) for scores in ([3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 0.0, 2.0])]
    for left, right in itertools.pairwise(parts):
        d.agree((left, "cells"), (right, "cells"))
    s = d.solve()
    assert s.score == s.bound == 4.0
    assert {int(s.value[part][0]) for part in parts} == {2}


def test_a_packing_is_found() -> None:
    """Three sets, each pair with an element in common: one can be chosen, half of each would be better."""
    d = Decomposition()
    elements = [d.add(AtMostOne([1.0, 1.0])) for _ in range(3)]
    for n in range(3):
        d.agree((elements[n], "cells", [0]), (elements[(n + 1) % 3], "cells", [1]))
    s = d.solve()
    assert s.score == s.bound == 2.0
    relaxed = d.solve(max_nodes=1, tighten=False, max_iterations=100)
    assert relaxed.bound == pytest.approx(3.0)
    assert d.solve(max_nodes=1, integral=True, tighten=False).bound >= 2.0


def test_progress_is_told() -> None:
    told: list[Progress] = []
    s = two_chains(3).solve(progress=told.append)
    assert [now.iteration for now in told] == list(range(1, s.stats["iterations"] + 1))
    assert told[-1].bound == s.trace.bound[-1]
    assert told[-1].nodes == s.stats["nodes"]


def test_the_progress_line(capfd: pytest.CaptureFixture[str]) -> None:
    two_chains(3).solve(progress=True)
    assert "\n\n" not in capfd.readouterr().err


def test_the_limit_of_time() -> None:
    d = two_chains(1, length=14, labels=8)
    s = d.solve(seconds=1e-9)
    assert s.limit == "seconds"
    assert s.stats["iterations"] == 1
    assert s.score <= s.bound
    assert "time" in s.status.message


def test_the_picture(tmp_path: Path) -> None:
    s = two_chains(3).solve(tighten=False)
    s.trace.plot(tmp_path / "trace.png", title="two chains")
    assert (tmp_path / "trace.png").stat().st_size > 10_000
    with pytest.raises(CertusError, match="nothing to draw"):
        Trace().plot()


def test_errors_can_be_pickled() -> None:
    assert "agree" in str(pickle.loads(pickle.dumps(NoAgreement())))


def test_solutions_show_themselves() -> None:
    s = two_chains(3).solve()
    assert "optimal" in repr(s)
    assert "iterations" in repr(s)
    d = Decomposition()
    a, b = d.add(listed(1), "a"), d.add(listed(2), "b")
    d.agree((a, "t"), (b, "t"))
    assert "bound=" in repr(d.solve(max_iterations=1))
