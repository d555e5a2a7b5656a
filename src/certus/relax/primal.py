"""Wholes from parts: what one part chose, completed in the others; or variable by variable, as they vote."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certus.part import Forbidden
from certus.relax.dual import Dual, Evaluation
from certus.relax.layout import Floats
from certus.relax.oracle import Answer

OFTEN = 0.5  # calls for completions, a call for the dual; those of a part's own ``complete`` count a quarter
SHARE = 0.25
FEW = 3  # parts, whose completions are wholes often enough
DIVES = 20  # iterations between two dives, once a whole is known
LONGEST = 40  # the most calls of a dive, for each part


@dataclass(frozen=True, eq=False)
class Whole:
    """Structures of all parts in agreement, and the sum of their weighted scores."""

    score: float
    answers: tuple[Answer, ...]


class Completer:
    """Keeps the best whole, and finds new ones as often as the budget of calls allows.

    The budget counts calls, not time, so that the same problem takes the same way on any machine.
    """

    def __init__(self, dual: Dual) -> None:
        self.dual = dual
        self.best: Whole | None = None
        self._seen: set[bytes] = set()
        self._spent = self._earned = 0.0
        self._turn = self._rounds = 0
        base = ~dual.layout.reserve
        self._base = base[dual.layout.var]
        self._complete = [
            hasattr(oracle.part, "complete") and all(b.all for b in oracle.blocks if not b.reserve)
            for oracle in dual.oracles
        ]
        self._parts_of: list[list[int]] = [[] for _ in range(dual.layout.variables)]
        for part, own in enumerate(dual.layout.slices):
            for variable in np.unique(dual.layout.var[own]).tolist():
                self._parts_of[variable].append(part)
        self._can_dive = len(dual.oracles) > FEW and all(o.has_max_marginals for o in dual.oracles)
        # Parts that complete quickly first: they may end an attempt before the costly ones are asked.
        self._order = sorted(range(len(dual.oracles)), key=lambda p: not self._complete[p])

    @property
    def score(self) -> float:
        """The best score so far, -inf if no whole is known."""
        return self.best.score if self.best else -np.inf

    def offer(self, whole: Whole) -> None:
        """Keep a whole if it is the best."""
        if whole.score > self.score:
            self.best = whole

    def propose(self, evaluation: Evaluation) -> float:
        """Complete what the parts chose, within the budget; return the best score of this round, or NaN."""
        parts = len(self.dual.oracles)
        self._earned += OFTEN * parts
        found = np.nan
        if self._can_dive and self._spent <= self._earned and (not self.best or self._rounds >= DIVES):
            self._rounds = 0
            whole = self._dive(evaluation)
            if whole is not None:
                self.offer(whole)
                found = whole.score
        self._rounds += 1
        for offset in range(parts + 1):
            if self._spent > self._earned:
                break
            source = (self._turn + offset) % (parts + 1)
            whole = self._complete_from(source, evaluation)
            if whole is not None:
                self.offer(whole)
                found = np.fmax(found, whole.score)
        self._turn = (self._turn + 1) % (parts + 1)
        return float(found)

    def _complete_from(self, source: int, evaluation: Evaluation) -> Whole | None:
        """Fix what one part chose and ask the others in turn, each under what is fixed by then.

        One more source than there are parts: a variable is 1 where all choose it, else 0. That is no whole
        where something has to be chosen, but one wherever leaving things out is allowed.
        """
        layout = self.dual.layout
        fixed = np.full(layout.variables, -1.0)
        if source == len(self.dual.oracles):
            fixed[~layout.reserve] = (evaluation.ones == layout.count)[~layout.reserve]
        elif not self._fix(fixed, source, evaluation.answers[source].x):
            return None
        key = fixed.tobytes()
        if key in self._seen:
            return None
        self._seen.add(key)
        return self._complete_rest(fixed, evaluation, source)

    def _complete_rest(self, fixed: Floats, evaluation: Evaluation, source: int = -1) -> Whole | None:
        """Ask all parts but the source, each under what is fixed by then."""
        answers = list(evaluation.answers)
        for part in self._order:
            if part == source:
                continue
            answer = self._ask(part, fixed, evaluation)
            if answer is None or not self._fix(fixed, part, answer.x):
                return None
            answers[part] = answer
        return Whole(sum(answer.score for answer in answers), tuple(answers))

    def _dive(self, evaluation: Evaluation) -> Whole | None:
        """Fix one variable after the other as most parts have it, those first on which they are most united.

        After each, the cells that some part cannot use any more are fixed at 0. Where that leaves a part
        nothing, the variable gets the other value; where neither is possible, there is no whole this way.
        With dozens of small parts, what one of them chose hardly ever completes to a whole; this often does.
        """
        layout = self.dual.layout
        votes = evaluation.ones / layout.count
        fixed = np.full(layout.variables, -1.0)
        limit = self._spent + LONGEST * len(self.dual.oracles)
        for variable in np.argsort(-np.abs(votes - 0.5), kind="stable").tolist():
            if fixed[variable] >= 0 or layout.reserve[variable]:
                continue
            first = float(votes[variable] >= 0.5)
            for value in (first, 1 - first):
                tried = fixed.copy()
                tried[variable] = value
                if self._spent <= limit and self._propagate(tried, variable, evaluation):
                    fixed = tried
                    break
            else:
                return None
        return self._complete_rest(fixed, evaluation)

    def _propagate(self, fixed: Floats, variable: int, evaluation: Evaluation) -> bool:
        """Fix at 0 what parts cannot use once a variable is fixed; False if a part is left with nothing."""
        layout = self.dual.layout
        waiting = list(self._parts_of[variable])
        while waiting:
            part = waiting.pop()
            oracle, own = self.dual.oracles[part], layout.slices[part]
            wanted, active = fixed[layout.var[own]], self.dual.active[layout.var[own]]
            asked = self._combine(wanted, evaluation.multipliers[own])
            oracle.completions += 1
            self._spent += 1
            try:
                answer = oracle.complete(asked, active)
                losses = oracle.max_marginals(asked, active) - answer.value
            except Forbidden:
                return False
            if (answer.x[wanted == 1] == 0).any():
                return False
            # To leave out a cell that is fixed at 1 costs its bonus, which is more than anything else can.
            useless = np.unique(
                layout.var[own][self._base[own] & (wanted < 0) & (losses < -self.dual.bonus / 2)]
            )
            fixed[useless] = 0.0
            for other in useless.tolist():
                waiting.extend(p for p in self._parts_of[other] if p != part and p not in waiting)
        return True

    def _combine(self, wanted: Floats, multipliers: Floats) -> Floats:
        """Return what a part is asked: multipliers, and what is fixed at 0 and at 1."""
        asked = multipliers.copy()
        asked[wanted == 0] = -np.inf
        asked[wanted == 1] = self.dual.bonus
        return asked

    def _fix(self, fixed: Floats, part: int, x: Floats) -> bool:
        """Note the variables that a part sets; False if they contradict what is fixed already."""
        layout = self.dual.layout
        own = layout.slices[part]
        base = self._base[own]
        var, x = layout.var[own][base], x[base]
        known = fixed[var] >= 0
        if (fixed[var][known] != x[known]).any():
            return False
        fixed[var] = x
        return bool((fixed[var] == x).all())  # a part may have two copies of a variable

    def _ask(self, part: int, fixed: Floats, evaluation: Evaluation) -> Answer | None:
        layout, oracle = self.dual.layout, self.dual.oracles[part]
        own = layout.slices[part]
        wanted = fixed[layout.var[own]]
        oracle.completions += 1
        if self._complete[part] and (wanted[self._base[own]] >= 0).all():
            self._spent += SHARE
            return oracle.complete_with(wanted)
        self._spent += 1
        asked = self._combine(wanted, evaluation.multipliers[own])
        try:
            return oracle.complete(asked, self.dual.active[layout.var[own]])
        except Forbidden:
            return None
