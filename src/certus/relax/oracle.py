"""Asks one part, and believes nothing that can be checked cheaply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.part import LARGEST, Choice, Forbidden, Part
from certus.relax.errors import Inconsistent, PartFailed
from certus.relax.layout import Block, Floats, Ints

REMEMBERED = 24  # answers against which a new one is checked
SLACK = 1e-9  # of the magnitudes involved: more than rounding, less than a lie


@dataclass(frozen=True, eq=False)
class Answer:
    """What a part said.

    Attributes:
        choice: as the part returned it.
        x: (n,) the indicators of its copies, as floats.
        score: of the structure.
        value: the score plus the multipliers of the copies it uses.
    """

    choice: Choice
    x: Floats
    score: float
    value: float

    @property
    def used(self) -> Ints:
        """The copies that are 1, in rising order."""
        return np.flatnonzero(self.x)


class Oracle:
    """One part with its copies: what the kernels ask where a part is a Python object.

    Attributes:
        part: what was added to the decomposition, and ``name`` its name.
        blocks: its copies.
        has_max_marginals: whether it offers them.
        completes: whether it offers ``complete`` and shares whole spaces.
    """

    def __init__(
        self, part: Part, name: str, weight: float, blocks: tuple[Block, ...], *, integral: bool = False
    ) -> None:
        self.part, self.name, self.blocks = part, name, blocks
        self.start = blocks[0].where.start if blocks else 0
        self.size = blocks[-1].where.stop - self.start if blocks else 0
        self.has_max_marginals = callable(getattr(part, "max_marginals", None))
        spaces = [block for block in blocks if not block.reserve]
        self.completes = hasattr(part, "complete") and bool(spaces) and all(b.all for b in spaces)
        self._integral = weight if integral else 0.0  # the weight with which scores have to be whole numbers
        self._memory = Memory(self.size)

    def maximize(self, multipliers: Floats) -> Answer | None:
        """Return the best structure under multipliers (n,) of its copies; None where they leave nothing."""
        try:
            choice = self._ask(self.part.maximize, self.adjustments(multipliers))
        except Forbidden:
            self._memory.check_nothing(multipliers, self.name)
            return None
        answer = self._read(choice, multipliers)
        self._memory.check(answer, multipliers, self.name)
        return answer

    def complete(self, used: Ints) -> Answer | None:
        """Ask a part that offers ``complete`` for the best structure with exactly these copies."""
        x = np.zeros(self.size, np.int8)
        x[used] = 1
        arrays: dict[str, NDArray[Any]] = {}
        for block in self.blocks:
            if not block.reserve:
                cells = arrays.setdefault(block.space, np.zeros(block.shape, np.int8)).reshape(-1)
                cells[block.cells] = x[self._own(block)]
        part: Any = self.part
        choice = self._ask(part.complete, arrays)
        if choice is None:
            return None
        answer = self._read(choice, None)
        self._memory.check_before(answer, SLACK * abs(answer.score), self.name, "the structure it completed")
        return answer

    def max_marginals(self, multipliers: Floats) -> Floats | None:
        """Ask a part for the best value of any structure that uses each of its copies: (n,)."""
        part: Any = self.part
        try:
            arrays = self._ask(part.max_marginals, self.adjustments(multipliers))
        except Forbidden:
            self._memory.check_nothing(multipliers, self.name)
            return None
        best = np.full(self.size, np.inf)
        for block in self.blocks:
            values = self._read_max_marginals(arrays, block)
            if values is not None:
                best[self._own(block)] = values.reshape(-1)[block.cells]
        self._memory.check_max_marginals(best, multipliers, self.name)
        return best

    def _read_max_marginals(self, arrays: Any, block: Block) -> Floats | None:
        """Return those of a space, None where the part says nothing of it."""
        if not isinstance(arrays, Mapping):
            raise Inconsistent(
                f"part {self.name} returned {type(arrays).__name__} as max-marginals, not arrays by name",
                self.name,
            )
        if block.space not in arrays:
            return None
        try:
            values = np.asarray(arrays[block.space], np.float64)
        except (TypeError, ValueError):
            values = np.full(block.shape, np.nan)
        if values.shape != block.shape or np.isnan(values).any():
            raise Inconsistent(
                f"part {self.name} returned max-marginals of {block.space!r} that are no numbers in an array "
                f"of shape {block.shape}",
                self.name,
            )
        return values

    def adjustments(self, multipliers: Floats) -> dict[str, Floats]:
        """Lay multipliers out as the part wants them: by name, in the shapes of its spaces.

        Those of agreements held in reserve are left out as long as they are all zero.
        """
        arrays: dict[str, Floats] = {}
        for block in self.blocks:
            values = multipliers[self._own(block)]
            if block.reserve and not values.any():
                continue
            if block.all and block.space not in arrays:
                arrays[block.space] = values.reshape(block.shape).copy()
            else:
                array = arrays.setdefault(block.space, np.zeros(block.shape))
                array.reshape(-1)[block.cells] += values
        return arrays

    def gather(self, choice: Choice) -> Floats:
        """Read the indicators of the copies from a choice."""
        x = np.empty(self.size)
        for block in self.blocks:
            x[self._own(block)] = self._indicators(choice, block).reshape(-1)[block.cells]
        return x

    def _own(self, block: Block) -> slice:
        return slice(block.where.start - self.start, block.where.stop - self.start)

    def _ask(self, question: Callable[[Any], Any], argument: Mapping[str, NDArray[Any]]) -> Any:
        """Call a method of the part; whatever it raises says which part it was."""
        try:
            return question(argument)
        except Forbidden:
            raise
        except Exception as error:
            raise PartFailed(
                f"part {self.name} raised {type(error).__name__}: {error}; the best answer so far is in "
                "this error's solution",
                self.name,
            ) from error

    def _read(self, choice: Any, multipliers: Floats | None) -> Answer:
        if not isinstance(choice, Choice):
            hint = "; where nothing is left, raise certus.relax.Forbidden" if choice is None else ""
            raise Inconsistent(
                f"part {self.name} returned {type(choice).__name__}, not a certus.relax.Choice{hint}",
                self.name,
            )
        if not isinstance(choice.indicators, Mapping):
            raise Inconsistent(
                f"part {self.name} returned {type(choice.indicators).__name__} as indicators, not arrays by "
                "the names of its spaces",
                self.name,
            )
        try:
            score = float(choice.score)
        except (TypeError, ValueError):
            raise Inconsistent(f"part {self.name} returned a score of {choice.score!r}", self.name) from None
        if not np.isfinite(score):
            raise Inconsistent(
                f"part {self.name} returned a structure that scores {choice.score}: scores are finite; "
                "where no structure is possible, raise certus.relax.Forbidden",
                self.name,
            )
        if abs(score) > LARGEST:
            raise InvalidInput(
                f"part {self.name} returned a score of {choice.score:.3g}, more than {LARGEST:.3g}; "
                "scale its scores down"
            )
        if self._integral and score * self._integral != round(score * self._integral):
            raise Inconsistent(
                f"part {self.name} returned a score of {choice.score}, but integral=True promised "
                "whole numbers",
                self.name,
            )
        x = self.gather(choice)
        value = score if multipliers is None else score + float(multipliers[x > 0].sum())
        if value == -np.inf:
            self._refuse_forbidden(x, multipliers)
        return Answer(choice, x, score, value)

    def _indicators(self, choice: Choice, block: Block) -> NDArray[Any]:
        if block.space not in choice.indicators:
            known = ", ".join(map(repr, choice.indicators)) or "none"
            raise Inconsistent(
                f"part {self.name} returned no indicators of {block.space!r}; it returned: {known}", self.name
            )
        array = np.asarray(choice.indicators[block.space])
        if array.shape != block.shape:
            raise Inconsistent(
                f"part {self.name} returned indicators of {block.space!r} in shape {array.shape}, "
                f"but its spaces say {block.shape}",
                self.name,
            )
        if array.dtype != np.bool_ and not ((array == 0) | (array == 1)).all():
            place = tuple(int(i) for i in np.argwhere((array != 0) & (array != 1))[0])
            raise Inconsistent(
                f"part {self.name} returned {array[place]} as the indicator of {block.space!r} at {place}: "
                "indicators are 0 or 1",
                self.name,
            )
        return array

    def _refuse_forbidden(self, x: Floats, multipliers: Floats | None) -> None:
        assert multipliers is not None
        bad = int(np.flatnonzero((x > 0) & (multipliers == -np.inf))[0])
        for block in self.blocks:
            own = self._own(block)
            if own.start <= bad < own.stop:
                cell = np.unravel_index(int(block.cells[bad - own.start]), block.shape)
                place = tuple(int(i) for i in cell)
                raise Inconsistent(
                    f"part {self.name} used the cell {place} of {block.space!r}, which the adjustments "
                    "forbid by -inf; where they leave no structure, raise certus.relax.Forbidden",
                    self.name,
                )


class Memory:
    """The last answers of a part. A part that maximises never contradicts them.

    Under the multipliers of now, no structure seen before may be worth more than the new one; and under the
    multipliers of any time before, the new structure may not be worth more than what was returned then.
    """

    def __init__(self, size: int) -> None:
        self.filled = self.next = 0
        self.x = np.zeros((REMEMBERED, size))
        self.scores = np.zeros(REMEMBERED)
        self.multipliers = np.zeros((REMEMBERED, size))  # where they are finite, else 0
        self.forbidden = np.zeros((REMEMBERED, size))  # 1 where they are -inf
        self.values = np.zeros(REMEMBERED)
        self.sizes = np.zeros(REMEMBERED)  # the largest multiplier: a part may round what is small beside it

    def check(self, answer: Answer, multipliers: Floats, name: str) -> None:
        """Compare an answer with those before, then remember it."""
        forbidden = (multipliers == -np.inf).astype(np.float64)
        finite = np.where(forbidden > 0, 0.0, multipliers)
        size = float(np.abs(finite).max(initial=0.0))
        if self.filled:
            slack = SLACK * (abs(answer.score) + size * (1 + answer.x.sum()) + 1e-300)
            most = float(self._find_worths(finite, forbidden).max())
            self._compare(most - answer.value, slack, name, "an earlier structure of its own")
            self.check_before(answer, slack, name, "the structure it returned now")
        i = self.next
        self.x[i], self.scores[i], self.values[i] = answer.x, answer.score, answer.value
        self.multipliers[i], self.forbidden[i], self.sizes[i] = finite, forbidden, size
        self.next = (i + 1) % REMEMBERED
        self.filled = min(self.filled + 1, REMEMBERED)

    def check_before(self, answer: Answer, slack: float, name: str, what: str) -> None:
        """Compare an answer with what was returned under earlier multipliers: it was there to be chosen."""
        n = self.filled
        if n:
            then = answer.score + self.multipliers[:n] @ answer.x
            then[self.forbidden[:n] @ answer.x > 0] = -np.inf
            excess = then - self.values[:n] - SLACK * (np.abs(self.values[:n]) + self.sizes[:n])
            self._compare(float(excess.max()), slack, name, f"at an earlier call, {what}")

    def check_nothing(self, multipliers: Floats, name: str) -> None:
        """Compare with earlier structures that nothing is left."""
        forbidden = (multipliers == -np.inf).astype(np.float64)
        if self.filled and (self.x[: self.filled] @ forbidden == 0).any():
            raise Inconsistent(
                f"part {name} raised Forbidden, but a structure that it returned before uses no cell that is "
                "forbidden",
                name,
            )

    def check_max_marginals(self, best: Floats, multipliers: Floats, name: str) -> None:
        """Compare max-marginals with earlier structures: none is worth more than those of its cells."""
        forbidden = (multipliers == -np.inf).astype(np.float64)
        finite = np.where(forbidden > 0, 0.0, multipliers)
        size = float(np.abs(finite).max(initial=0.0))
        worths, x = self._find_worths(finite, forbidden), self.x[: self.filled]
        least = np.where(x > 0, best, np.inf).min(axis=1, initial=np.inf)
        slack = SLACK * (np.abs(self.scores[: self.filled]) + size * (1 + x.sum(axis=1)) + 1e-300)
        wrong = np.flatnonzero(least < worths - slack)
        if len(wrong):
            raise Inconsistent(
                f"part {name} returned a max-marginal of {least[wrong[0]]:.9g}, but a structure that uses "
                f"the cell is worth {worths[wrong[0]]:.9g}",
                name,
            )

    def _find_worths(self, finite: Floats, forbidden: Floats) -> Floats:
        """Return what earlier structures are worth under these multipliers."""
        n = self.filled
        worths: Floats = self.scores[:n] + self.x[:n] @ finite
        worths[self.x[:n] @ forbidden > 0] = -np.inf
        return worths

    def _compare(self, excess: float, slack: float, name: str, what: str) -> None:
        if excess > slack:
            raise Inconsistent(
                f"part {name} does not maximise: {what} is worth {excess:.6g} more than what it returned. "
                "Its score has to be that of the structure without the adjustments, and no structure may "
                "have more with them",
                name,
            )
