"""The learners of taggers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

from certus.errors import InvalidInput
from certus.learn.learner import Learner


class Learners(Mapping[str, type[Learner]]):
    """Learners by name; the file of one is imported when it is first asked for.

    Args:
        places: the module and the class of each.
    """

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places = dict(places)
        self._kinds: dict[str, type[Learner]] = {}

    def register(self, kind: type[Learner]) -> None:
        """Add a learner that is defined elsewhere, or put it in place of the one of its name."""
        self._kinds[kind.name] = kind

    def __getitem__(self, name: str) -> type[Learner]:
        if name not in self._kinds:
            module, kind = self._places[name]
            self._kinds[name] = getattr(import_module(module), kind)
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._places, **self._kinds})

    def __len__(self) -> int:
        return len({**self._places, **self._kinds})


LEARNERS = Learners({
    "pruned-crf": ("certus.learn.pruned_crf", "PrunedCrfLearner"),
    "perceptron": ("certus.learn.perceptron", "PerceptronLearner"),
    "crf": ("certus.learn.crf.learner", "CrfLearner"),
    "latent-crf": ("certus.learn.latent_crf", "LatentCrfLearner"),
    "hmm": ("certus.learn.hmm.learner", "HmmLearner"),
    "refinement": ("certus.learn.refinement.learner", "RefinementLearner"),
})  # fmt: skip


def make_learner(name: str, given: Mapping[str, Any], spell: Callable[[str], str] = str) -> Learner:
    """Make a learner with the options that a user gave; ``spell`` says how messages write their names.

    ``crf`` with an order above 1 is a pruned CRF: unpruned ones of higher order are out of reach.
    """
    asked = name
    if name == "crf" and given.get("order", 1) > 1:
        name = "pruned-crf"
    if name not in LEARNERS:
        raise InvalidInput(f"there is no learner {name!r}; there are {', '.join(LEARNERS)}")
    kind = LEARNERS[name]
    known = {f.name for f in fields(kind)}
    if given.get("order") == 1 and "order" not in known:
        given = {option: value for option, value in given.items() if option != "order"}
    unknown = [option for option in given if option not in known]
    if unknown:
        why = "" if name == asked else f", which {asked} with an order above 1 is"
        those = ", ".join(map(spell, sorted(known)))
        raise InvalidInput(f"{spell(unknown[0])} is no option of the learner {name}{why}; those are {those}")
    return kind(**given)
