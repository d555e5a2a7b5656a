"""Parts that raise, lie, or are interrupted, and arguments that cannot be meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.errors import CertusError, InvalidInput
from certus.relax import (
    Bundle,
    Choice,
    Decomposition,
    Descent,
    Forbidden,
    Inconsistent,
    PartFailed,
    Subgradient,
)
from certus.relax.parts import ChainPart
from certus.solution import Status
from tests.reference.relax import ListedPart

Change = Callable[[Choice, Mapping[str, NDArray[np.float64]]], Choice]


def listed(seed: int) -> ListedPart:
    """Tag sequences of four words and three tags, all of them, under random scores."""
    tags = np.stack(np.meshgrid(*[np.arange(3)] * 4, indexing="ij"), -1).reshape(-1, 4)
    rng = np.random.default_rng(seed)
    return ListedPart(rng.normal(0, 5, len(tags)), {"t": np.eye(3, dtype=np.int8)[tags]})


class Changed(ListedPart):
    """A part whose answers from some call on are changed."""

    def __init__(self, part: ListedPart, change: Change, after: int = 0) -> None:
        super().__init__(part.scores, part.indicators)
        self.change, self.after = change, after

    def maximize(self, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        found = super().maximize(adjust)
        return self.change(found, adjust) if self.calls > self.after else found


def joint(change: Change, after: int = 0) -> Decomposition:
    d = Decomposition()
    a, b = d.add(Changed(listed(1), change, after), "odd"), d.add(listed(2), "even")
    d.agree((a, "t"), (b, "t"))
    return d


def stop(error: BaseException) -> Change:
    def change(*_: Any) -> Choice:
        raise error

    return change


def test_a_part_that_raises_leaves_the_best_so_far() -> None:
    optimum = joint(lambda choice, _: choice).solve().score
    with pytest.raises(PartFailed, match="part odd raised ZeroDivisionError: by accident") as caught:
        joint(stop(ZeroDivisionError("by accident")), after=4).solve(optimizer="subgradient")
    s = caught.value.solution
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert s is not None
    assert s.status is Status.STOPPED
    assert s.value
    assert -np.inf < s.score <= optimum <= s.bound < np.inf


def test_a_part_that_raises_at_once() -> None:
    with pytest.raises(PartFailed) as caught:
        joint(stop(ValueError("no"))).solve()
    s = caught.value.solution
    assert s is not None
    assert (s.score, s.bound, s.value) == (-np.inf, np.inf, {})


def test_an_interrupt_takes_the_best_so_far_with_it() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        joint(stop(KeyboardInterrupt()), after=4).solve(optimizer="subgradient")
    s = caught.value.solution  # type: ignore[attr-defined]
    assert s.status is Status.STOPPED
    assert np.isfinite(s.score)
    assert np.isfinite(s.bound)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda choice, _: None, "returned NoneType, not a certus.relax.Choice"),
        (lambda choice, _: replace(choice, score="much"), "a score of 'much'"),
        (lambda choice, _: replace(choice, score=np.nan), "scores are finite"),
        (lambda choice, _: replace(choice, score=-np.inf), "raise certus.relax.Forbidden"),
        (lambda choice, _: replace(choice, indicators={}), "no indicators of 't'; it returned: none"),
        (lambda choice, _: replace(choice, indicators={"t": np.ones(3)}), r"in shape \(3,\)"),
        (lambda choice, _: replace(choice, indicators={"t": np.full((4, 3), 0.5)}), r"0.5 .* at \(0, 0\)"),
    ],
)
def test_answers_that_cannot_be(change: Change, message: str) -> None:
    with pytest.raises(Inconsistent, match=message):
        joint(change).solve()


def with_adjustments(choice: Choice, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
    """Forget to take the adjustments off the score: the most likely mistake."""
    return replace(choice, score=choice.score + float(adjust["t"][choice.indicators["t"] > 0].sum()))


def test_a_part_that_does_not_maximise_is_found_out() -> None:
    def swindler(choice: Choice, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        return replace(choice, score=choice.score + 1e-3 * float(adjust["t"].max()))

    for change in (with_adjustments, swindler):
        with pytest.raises(Inconsistent, match=r"does not maximise|more than the bound"):
            joint(change, after=1).solve(optimizer="subgradient")


def test_a_forbidden_cell_is_not_used() -> None:
    def deaf(choice: Choice, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        return listed(1).maximize({})  # the best without adjustments, always

    with pytest.raises(Inconsistent, match=r"used the cell \(\d, \d\) of 't', which the adjustments forbid"):
        joint(deaf).solve()


def test_a_part_that_forgets_to_raise_forbidden_is_told_so() -> None:
    def stubborn(choice: Choice, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        return listed(1).maximize({})

    with pytest.raises(Inconsistent, match=r"part odd .*raise certus.relax.Forbidden"):
        joint(stubborn).solve()
    with pytest.raises(Inconsistent, match=r"part odd returned NoneType.*raise certus.relax.Forbidden"):
        joint(lambda choice, _: None).solve()  # type: ignore[arg-type,return-value]


def test_a_part_that_says_nothing_is_left_where_something_is() -> None:
    with pytest.raises(Inconsistent, match="part odd raised Forbidden, but a structure that it"):
        joint(stop(Forbidden("tired")), after=3).solve(optimizer="subgradient")


class Telling(ListedPart):
    """A part whose max-marginals or completions are changed."""

    def __init__(self, part: ListedPart, marginals: Any = None, completion: Any = None) -> None:
        super().__init__(part.scores, part.indicators)
        if marginals is not None:
            self.max_marginals = lambda adjust: marginals
        if completion is not None:
            self.complete = completion


@pytest.mark.parametrize(
    ("marginals", "message"),
    [
        ({"t": np.zeros((2, 2))}, r"max-marginals of 't' that are no numbers in an array of shape \(4, 3\)"),
        ({"t": np.full((4, 3), np.nan)}, "max-marginals of 't' that are no numbers"),
        ({"t": "abc"}, "max-marginals of 't' that are no numbers"),
        (5, "returned int as max-marginals"),
        ({"t": np.full((4, 3), -1000.0)}, "a max-marginal of -1000, but a structure that uses the cell"),
    ],
)
def test_max_marginals_that_cannot_be(marginals: Any, message: str) -> None:
    d = Decomposition()
    rng = np.random.default_rng(3)
    chain = ChainPart(certus.Chain(rng.normal(size=(3, 3))), rng.normal(size=(4, 3)))
    a, b = d.add(Telling(listed(1), marginals), "odd"), d.add(chain, "even")
    d.agree((a, "t"), (b, "labels"))
    with pytest.raises(Inconsistent, match=f"part odd .*{message}") as caught:
        d.solve(optimizer="descent")
    assert caught.value.solution is not None


def test_completions_that_score_more_than_the_maximum() -> None:
    d = Decomposition()
    lie = Telling(listed(1), completion=lambda used: Choice(None, 1000.0, used))
    a, b = d.add(lie, "odd"), d.add(listed(2), "even")
    d.agree((a, "t"), (b, "t"))
    with pytest.raises(Inconsistent, match=r"part odd does not maximise: .* structure it completed"):
        d.solve()


def test_indicators_that_are_none() -> None:
    with pytest.raises(Inconsistent, match="part odd returned NoneType as indicators"):
        joint(lambda choice, _: replace(choice, indicators=None)).solve()  # type: ignore[arg-type]


def test_whole_scores_are_checked() -> None:
    with pytest.raises(Inconsistent, match="integral=True promised"):
        joint(lambda choice, _: choice).solve(integral=True)


class TestArguments:
    def setup_method(self) -> None:
        self.d = Decomposition()
        self.a = self.d.add(listed(1), "first")
        self.b = self.d.add(listed(2), "second")

    @pytest.mark.parametrize(
        ("sides", "message"),
        [
            ([("a", "t")], "two sides or more"),
            ([("a", "t"), "b"], "is .part, name. or"),
            ([("a", "tags"), ("b", "t")], r"part first has no space 'tags'; its spaces are: 't' \(4, 3\)"),
            ([("a", "t"), (7, "t")], "7 is not a part .* The parts are: first, second"),
            ([("a", "t", [0, 12]), ("b", "t", [0, 1])], "part first, space 't': there is no cell 12"),
            ([("a", "t", [[0, 1]]), ("b", "t", [[4, 0]])], r"second, space 't': there is no cell \(4, 0\)"),
            ([("a", "t", [[0, 1, 2]]), ("b", "t", [0])], "coordinates need 2 numbers"),
            ([("a", "t", [0, 1]), ("b", "t", [0])], r"as many cells each; got first 't' \(4, 3\): 2 cells"),
            ([("a", "t", np.ones((3, 4), bool)), ("b", "t")], r"mask of cells needs the shape \(4, 3\)"),
            ([("a", "t", [0.5]), ("b", "t", [0])], "cells must be indices"),
        ],
    )
    def test_agreements(self, sides: list[Any], message: str) -> None:
        known = {"a": self.a, "b": self.b}
        given = [(known.get(s[0], s[0]), *s[1:]) if isinstance(s, tuple) else s for s in sides]
        with pytest.raises(InvalidInput, match=message):
            self.d.agree(*given)

    def test_handles_of_another_decomposition(self) -> None:
        other = Decomposition().add(listed(1), "stranger")
        with pytest.raises(InvalidInput, match="is not a part of this decomposition"):
            self.d.agree((self.a, "t"), (other, "t"))

    def test_spaces_of_other_shapes_need_cells(self) -> None:
        flat = self.d.add(ListedPart([0.0], {"t": np.zeros((1, 3, 4), np.int8)}), "flat")
        with pytest.raises(InvalidInput, match=r"same shape; got first 't' \(4, 3\), flat 't' \(3, 4\)"):
            self.d.agree((self.a, "t"), (flat, "t"))

    def test_parts(self) -> None:
        with pytest.raises(InvalidInput, match="method maximize"):
            self.d.add(object())  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="named 'first' already"):
            self.d.add(listed(3), "first")
        for weight in (0, -1.0, np.inf, "much"):
            with pytest.raises(InvalidInput, match="weight of a part"):
                self.d.add(listed(3), weight=weight)  # type: ignore[arg-type]

        class Shapeless(ListedPart):
            spaces = 3  # type: ignore[assignment]

        with pytest.raises(InvalidInput, match="needs spaces"):
            self.d.add(Shapeless([0.0], {}))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("option", "message"),
        [
            ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1, not 0"),
            ({"max_nodes": 1.5}, "max_nodes must be"),
            ({"seconds": -1}, "seconds is -1; it must be a number of at least 0"),
            ({"tolerance": 0.1}, "tolerance is a share"),
            ({"optimizer": "luck"}, "unknown optimizer 'luck'; choose one of: auto, subgradient, bundle"),
            ({"optimizer": 3}, "must be a name or an Optimizer"),
            ({"optimizer": "descent"}, "descent needs parts with max_marginals.* first, second"),
            ({"infeasible": "ignore"}, "infeasible must be"),
            ({"progress": "please"}, "progress must be"),
        ],
    )
    def test_options(self, option: dict[str, Any], message: str) -> None:
        self.d.agree((self.a, "t"), (self.b, "t"))
        with pytest.raises(InvalidInput, match=message):
            self.d.solve(**option)

    def test_options_of_optimisers(self) -> None:
        with pytest.raises(InvalidInput, match="unknown step rule"):
            Subgradient(rule="guess")  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="step must be"):
            Subgradient(step=0.0)
        with pytest.raises(InvalidInput, match="level must be"):
            Bundle(level=0.0)
        with pytest.raises(InvalidInput, match="share must be"):
            Descent(share=2.0)

    def test_nothing_to_solve(self) -> None:
        with pytest.raises(CertusError, match="no parts"):
            Decomposition().solve()
