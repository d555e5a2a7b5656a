"""Choosing hidden states and smoothing of refinement HMMs by held-out sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

HIDDEN = (8, 4, 16, 2)  # what is tried, the usual first: another has to be better
STRENGTHS = (1.0, 0.1, 0.0)  # of smoothing: as usual, a tenth of that, none
HELD_OUT = 10  # of the training sentences, one in so many is held out to choose by
LITTLE = 1e-6  # occurrences added to those of each label where no smoothing is wanted
FEWEST = 20  # sentences to choose by anything but what is usual


@dataclass(frozen=True)
class Choice:
    """What a model is estimated with.

    Attributes:
        hidden: states of each label.
        strength: what the usual smoothing is multiplied by.
    """

    hidden: int
    strength: float


def choose_best(
    measure: Callable[[Choice], float], hidden: Iterable[int], strengths: Iterable[float]
) -> Choice:
    """Return the best choice: first the states are chosen, then, for that many, how much is smoothed.

    Args:
        measure: the share of held-out labels that a choice gets right.
        hidden: numbers of states to try, the usual first.
        strengths: of smoothing, the usual first.
    """
    numbers, shares = list(hidden), list(strengths)
    tried: dict[Choice, float] = {}

    def find_worth(choice: Choice) -> float:
        if choice not in tried:
            tried[choice] = measure(choice)
        return tried[choice]

    if len(numbers) == len(shares) == 1:
        return Choice(numbers[0], shares[0])
    best = max((Choice(number, shares[0]) for number in numbers), key=find_worth)  # the first of equal ones
    return max((Choice(best.hidden, share) for share in shares), key=find_worth)
