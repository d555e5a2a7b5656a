"""What a learner of taggers is: options, and ``fit``, ``make_decoder``, ``describe`` and ``restore``.

A learner is a frozen dataclass whose fields are its options. Each is declared once, with a default, a help
text and the range of its values; the command line, the documentation and the checks are made of that. What a
learner has learned is a ``Learned``: labels, arrays and notes, which is all that a model file holds of it.

To add a learner, write a subclass in a file of its own and add a line to ``certus.learn.learners``.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from certus.errors import InvalidInput, ModelError
from certus.learn.features.inventory import Inventory
from certus.storage.declaration import Declaration

if TYPE_CHECKING:  # what tagging does not need is not imported: it starts sooner
    from numpy.typing import NDArray

    from certus.annotation.targets import Target
    from certus.learn.decoder import Decoder
    from certus.learn.features.data import Examples
    from certus.learn.features.templates import Templates
    from certus.learn.progress import Progress

LARGEST, GREATEST = 2**63 - 1, 1e30  # what kernels hold: whole numbers, and others whose sums stay finite


def option(default: Any, help: str, *, least: float | None = None, most: float = inf) -> Any:
    """Declare an option with its default, what it does, and the least and most it may be."""
    return field(default=default, metadata={"help": help, "least": least, "most": most})


def check_options(options: Any) -> None:
    """Refuse values out of the range that their declaration gives, in a dataclass made of ``option``."""
    for f in fields(options):
        value, least = getattr(options, f.name), f.metadata["least"]
        if least is None:
            continue
        whole = isinstance(f.default, int)
        if not isinstance(value, Integral if whole else Real):
            raise InvalidInput(f"{f.name} is {value!r}; a {'whole ' if whole else ''}number is needed")
        if not value >= least:
            raise InvalidInput(f"{f.name} is {value}; it must be at least {least:g}")
        most = min(f.metadata["most"], LARGEST if whole else GREATEST)
        if value > most:
            raise InvalidInput(f"{f.name} is {value}; it may be {most:g} at the most")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a learner learns from.

    Attributes:
        target: what to predict.
        examples: annotated sentences to learn from.
        held_out: others, to measure accuracy on; None without any.
        available: all columns that the sentences have; ``examples`` hold those that the learner chose.
        templates: the feature templates that the user gave; None for those that suit the data.
        layout: the names of the columns of the file, in its order; None where it is no column file.
    """

    target: Target
    examples: Examples
    held_out: Examples | None
    available: Sequence[str]
    templates: Templates | None
    layout: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, as a model file holds it.

    Attributes:
        inventory: the labels.
        arrays: by name.
        notes: what else the description of the model says; ``columns`` at least, the words first.
        accuracy: the share of held-out tokens that get the right label; None without any.
    """

    inventory: Inventory
    arrays: Mapping[str, NDArray[Any]]
    notes: Mapping[str, Any]
    accuracy: float | None = None


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """One way to learn a tagger, and to use what was learned."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    about: ClassVar[str]
    proves: ClassVar[bool] = True  # whether answers come with a proof that they are the best
    shares_parts: ClassVar[bool] = True  # whether labels share the weights of their parts
    looks_at: ClassVar[str] = "words alone"
    declaration: ClassVar[Declaration] = Declaration({})  # what its arrays in a model file must be
    agreement_scale: ClassVar[float] = 1.0  # how many times larger than log-probabilities its scores are

    rare: int = option(10, "Words seen at most this often are rare: unknown words are like them.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_options(self)

    @property
    def history(self) -> int:
        """How many labels back transitions look."""
        return 1

    def check_templates(self, templates: Templates) -> None:
        """Refuse feature templates that the learner cannot use; most learners use none."""
        raise InvalidInput(f"the learner {self.name} looks at {self.looks_at}: leave the templates out")

    def choose_columns(
        self, available: Sequence[str], target: Target, templates: Templates | None
    ) -> tuple[str, ...]:
        """Return the columns that it looks at in sentences that have these, the words first."""
        return ("word",)

    @abstractmethod
    def fit(
        self,
        data: TrainingData,
        *,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object],
        threads: int,
    ) -> Learned:
        """Learn from annotated sentences.

        Args:
            data: the sentences.
            checkpoint: a file to keep the state of training in, and to go on from; None for none.
            progress: is called after each epoch, by learners that have epochs.
            threads: how many to use; what is learned does not depend on it.
        """

    @abstractmethod
    def make_decoder(self, learned: Learned) -> Decoder:
        """Make what labels sentences by what was learned."""

    def describe(self, learned: Learned) -> dict[str, Any]:
        """Return what a model file says about the model, as JSON has it."""
        return {
            "learner": self.name,
            "options": self.export_options(),
            "labels": learned.inventory.labels,
            **learned.notes,
        }

    def restore(
        self, target: Target, arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]
    ) -> Learned:
        """Return what was learned, from the arrays and the description of a model file."""
        for name in ("columns", "labels", *({"layout"} & description.keys())):
            _check_names(name, description[name])
        inventory = self.list_labels(target, description["labels"])
        self.declaration.check(arrays, **self.list_sizes(len(inventory)))
        return Learned(inventory, arrays, description)

    def list_sizes(self, labels: int) -> dict[str, int]:
        """Return the sizes, by name, that arrays of a model with so many labels have."""
        return {"labels": labels}

    def list_labels(self, target: Target, labels: Sequence[str]) -> Inventory:
        """Return labels by number, with the parts whose weights they share, if they share any."""
        return Inventory(labels, target.parts if self.shares_parts else None)

    def export_options(self) -> dict[str, Any]:
        """Return the options as JSON has them."""
        values = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _check_names(what: str, names: object) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ModelError(f"its {what} are no list of texts")
    if len(set(names)) < len(names):
        raise ModelError(f"one of its {what} occurs twice")
