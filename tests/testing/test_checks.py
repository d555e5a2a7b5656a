"""The checks pass what Certus has, and fail what is wrong in one way each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain import METHODS
from certus.learn.learners import LEARNERS
from certus.part import Choice, Forbidden
from certus.relax.parts import Budget, TablePart
from certus.solution import KBest, LabelSolution, Status
from certus.testing import CheckFailed, check_learner, check_part, check_solver
from tests.learn.test_dummy_learner import MajorityLearner
from tests.relax.test_parts import MAKERS
from tests.testing.lying_learners import LIES, LyingLearner


@pytest.mark.parametrize("maker", MAKERS)
def test_parts_of_certus(maker: Any) -> None:
    for seed in range(4):
        part, structures = maker(np.random.default_rng(seed))
        check_part(part, structures, trials=12, seed=seed)
        check_part(part, trials=12, seed=seed)


class Wrong(Budget):
    """A budget that can be wrong in several ways."""

    fault = ""
    asked = 0

    def maximize(self, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        """Be wrong as told."""
        if self.fault == "greedy":
            return Budget(self.scores, 1).maximize(adjust)
        if self.fault == "forbids" and adjust:
            raise Forbidden("nothing")
        if self.fault == "none" and adjust:
            return None  # type: ignore[return-value]
        choice = super().maximize(adjust)
        if self.fault == "adds" and adjust:
            return replace(choice, score=choice.score + float(adjust["cells"][choice.value].sum()))
        if self.fault == "shape":
            return replace(choice, indicators={"cells": np.zeros(9)})
        if self.fault == "halves":
            return replace(choice, indicators={"cells": choice.indicators["cells"] * 0.5})
        if self.fault == "changes" and adjust:
            adjust["cells"][:] = 0
        if self.fault == "drifts":
            self.asked += 1
            return replace(choice, score=choice.score + self.asked / 1000)
        return choice

    def state_part(self) -> dict[str, Any]:
        """Be wrong as told."""
        return {**super().state_part(), "most": 0} if self.fault == "states" else super().state_part()

    def max_marginals(self, adjust: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Be wrong as told."""
        right = super().max_marginals(adjust)
        return {"cells": right["cells"] + {"high": 1, "low": -1}.get(self.fault, 0)}

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Be wrong as told."""
        cells = np.flatnonzero(indicators["cells"])
        if self.fault == "completes others":
            return super().maximize({})
        if self.fault == "completes anything":
            cells = cells[: self.most]
        if len(cells) > self.most or (self.fault == "completes less" and len(cells) == 1):
            return None
        used = np.zeros(3, np.int8)
        used[cells] = 1
        more = 1.0 if self.fault == "completes more" else 0.0
        return Choice(cells, float(self.scores[cells].sum()) + more, {"cells": used})


@pytest.mark.parametrize(
    "fault",
    ["greedy", "forbids", "none", "adds", "shape", "halves", "changes", "drifts", "states", "high", "low"],
)
def test_wrong_parts(fault: str) -> None:
    part = Wrong(np.array([3.0, 2.0, -1.0]), 2)
    check_part(part)
    part.fault = fault
    with pytest.raises(CheckFailed):
        check_part(part)


@pytest.mark.parametrize(
    "fault", ["completes more", "completes others", "completes anything", "completes less"]
)
def test_wrong_completions(fault: str) -> None:
    part = Wrong(np.array([3.0, 2.0, -1.0]), 2)
    every = [np.array(cells) for cells in itertools.product((0, 1), repeat=3) if sum(cells) <= 2]
    structures = [(float(part.scores @ cells), {"cells": cells}) for cells in every]
    check_part(part, structures)
    part.fault = fault
    with pytest.raises(CheckFailed, match="complete"):
        check_part(part, structures)


def test_wrong_structures() -> None:
    table = TablePart(np.array([1.0, 2.0]))
    right = [(1.0, {"0": np.array([1, 0])}), (2.0, {"0": np.array([0, 1])})]
    check_part(table, right)
    with pytest.raises(CheckFailed, match="a structure that it does not have"):
        check_part(table, right[:1])
    with pytest.raises(CheckFailed, match="a structure is worth"):
        check_part(table, [*right, (3.0, {"0": np.array([0, 0])})])


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_certus(name: str) -> None:
    method = METHODS[name]

    def solve(chain: certus.Chain, emissions: Any, k: int) -> Any:
        return chain.decode(emissions, k=k, method=name)

    check_solver(solve, exact=method.exact, problems=60)
    if method.many:
        check_solver(solve, k=4, problems=40)


def greedy(chain: certus.Chain, emissions: Any, k: int) -> Any:
    """The best label of each position, said to be the best of all."""
    labels = emissions.argmax(axis=1)
    score = float(chain.score(emissions, labels))
    return LabelSolution(labels, score, score, Status.OPTIMAL)


def loose(chain: certus.Chain, emissions: Any, k: int) -> Any:
    """The best one, not said to be."""
    found = chain.decode(emissions)
    return LabelSolution(found.labels, found.score, found.score + 1, Status.FEASIBLE)


def say_there_are_more(chain: certus.Chain, emissions: Any, k: int) -> Any:
    """All there are, not said to be."""
    return KBest(list(chain.decode(emissions, k=k)))


def test_lists_that_are_exhausted_say_so() -> None:
    with pytest.raises(CheckFailed, match="does not say that it is exhausted"):
        check_solver(say_there_are_more, k=5)


@pytest.mark.parametrize("solve", [greedy, loose])
def test_wrong_solvers(solve: Any) -> None:
    with pytest.raises(CheckFailed, match="problem "):
        check_solver(solve)
    if solve is loose:
        check_solver(solve, exact=False)


def test_wrong_lists() -> None:
    with pytest.raises(CheckFailed, match="the 3 best score"):
        check_solver(lambda chain, emissions, k: chain.decode(emissions, k=2), k=3)


@pytest.mark.parametrize(("more", "message"), [(9, "no numbers"), (-9, "no numbers"), (0.5, "no numbers")])
def test_labels_that_are_none(more: float, message: str) -> None:
    def solve(chain: certus.Chain, emissions: Any, k: int) -> Any:
        found = chain.decode(emissions)
        return LabelSolution(found.labels + more, found.score, found.bound, found.status)

    with pytest.raises(CheckFailed, match=message):
        check_solver(solve)


@pytest.mark.parametrize(
    ("fault", "message"), [("status", "rank 1 .* is not proven"), ("exhausted", "says that it is exhausted")]
)
def test_lists_that_prove_too_little_or_too_much(fault: str, message: str) -> None:
    def solve(chain: certus.Chain, emissions: Any, k: int) -> Any:
        found = list(chain.decode(emissions, k=k, infeasible="return"))
        if fault == "status":
            found = [LabelSolution(one.value, one.score, one.bound, Status.FEASIBLE) for one in found]
        return KBest(found, exhausted=fault == "exhausted")

    with pytest.raises(CheckFailed, match=message):
        check_solver(solve, k=3)


@pytest.mark.filterwarnings("ignore::certus.errors.RefinementWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_of_certus(name: str) -> None:
    short: dict[str, Any] = {"epochs": 3} if "epochs" in LEARNERS[name].__dataclass_fields__ else {}
    check_learner(name, k=1 if name == "refinement" else 3, **short)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNERS, "_kinds", dict(LEARNERS))
    LEARNERS.register(MajorityLearner)
    LEARNERS.register(LyingLearner)


@pytest.mark.usefixtures("registered")
def test_another_learner() -> None:
    check_learner("majority", k=1, constraints=False, confidence=False)
    with pytest.raises(CheckFailed, match="get the right label"):
        check_learner("majority", k=1, constraints=False, confidence=False, least=1.0)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("lie", LIES)
def test_lying_learners(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_learner("liar")
    monkeypatch.setattr(LyingLearner, "lie", lie)
    with pytest.raises(CheckFailed, match=LIES[lie][1]):
        check_learner("liar")


@pytest.mark.usefixtures("registered")
def test_a_learner_that_is_another_one_once_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LyingLearner, "forgetful", True)
    with pytest.raises(CheckFailed, match="a model that was saved tags differently: the score of"):
        check_learner("liar")


@pytest.mark.usefixtures("registered")
def test_a_learner_that_certifies_other_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LyingLearner, "lie", "states")
    with pytest.raises(CheckFailed, match="the certificate is of labels that score"):
        check_learner("liar")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k = 2 is neither refused"),
        ({"confidence": False}, "confidence is neither refused"),
        ({"constraints": False}, "allowed is neither refused"),
    ],
)
def test_what_a_learner_has_is_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckFailed, match=message):
        check_learner("liar", **options)
