"""What the spectral estimator looks at: features of the future, past, present and destiny of a token.

With a the labels and x the observations of a sentence, token i has (Stratos et al. 2013, section 5.1)

- a future   (a_i ... a_N, x_i ... x_N),
- a past     (a_1 ... a_i, x_1 ... x_{i-1}),
- a present  (a_i, x_i),
- a destiny  (a_1 ... a_N, x_1 ... x_{i-1}, x_{i+1} ... x_N).

Given the label and hidden state of the token, future and past are independent, and so are present and
destiny. Good features are those that tell the hidden states apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from certus.errors import InvalidInput
from certus.learn.refinement.data import LabelledCorpus
from certus.learn.refinement.templates import Indicators, Kind, View, check_templates

FeatureFunction: TypeAlias = Callable[[Sequence[str], Sequence["str | None"]], Iterable[Hashable]]
"""Takes the labels and observations that the variable holds, and names the features they have.

``present`` is given one label and one observation; ``past`` ends with the current label and the observation
before it; ``future`` begins with the current ones. ``destiny`` is given the whole sentence, turned so that
the current token comes first: ``labels[0]`` is its own, ``labels[1]`` the next, ``labels[-1]`` the one
before. An empty label and the observation None stand between the end and the beginning; the observation of
the current token is None as well.
"""

VARIABLES = ("future", "past", "present", "destiny")


def strip_mark(label: str) -> str:
    """Return the kind of a label in the usual chunk encodings: NP of B-NP; other labels as they are."""
    prefix, dash, kind = label.partition("-")
    return kind if dash and len(prefix) == 1 else label


@dataclass(frozen=True)
class Features:
    """The feature functions of the estimator: templates, or functions of one's own.

    Templates (see ``certus.learn.refinement.templates``) are evaluated for all tokens at once; functions
    are called token by token.

    Attributes:
        future: of (a_i ... a_N, x_i ... x_N).
        past: of (a_1 ... a_i, x_1 ... x_{i-1}).
        present: of (a_i, x_i).
        destiny: of all but x_i.
        kind: what makes a label into its kind, for the atoms pp, np and pos.
    """

    future: str | FeatureFunction = "a[1]*x[0] a[1]*x[1] x[0]*x[1] np"
    past: str | FeatureFunction = "a[-1]*x[-1] x[-1]*x[-2] pp"
    present: str | FeatureFunction = "x[0]"
    destiny: str | FeatureFunction = "a[-1]*x[-1] a[1]*x[1] pp np pos"
    kind: Kind = strip_mark

    def __post_init__(self) -> None:
        """Refuse templates that look at what they must not."""
        for what in VARIABLES:
            own = getattr(self, what)
            if isinstance(own, str):
                check_templates(what, own)
            elif not callable(own):
                raise InvalidInput(f"{what} must be templates or a function, not {own!r}")

    def list_templates(self) -> dict[str, str] | None:
        """Return the templates by variable; None where something is a function, which no file can hold."""
        own = {what: getattr(self, what) for what in VARIABLES}
        return own if self.kind is strip_mark and all(isinstance(x, str) for x in own.values()) else None

    def evaluate(self, corpus: LabelledCorpus) -> dict[str, Indicators]:
        """Return the features of every token, by variable."""
        view = View(corpus, self.kind)
        found = {}
        for what in VARIABLES:
            own = getattr(self, what)
            found[what] = (
                view.find_indicators(own) if isinstance(own, str) else _call_function(corpus, what, own)
            )
        return found


PAPER = Features(
    future="a[1]*x[0] a[1] x[0] np",
    past="a[-1]*x[-1] a[-1] x[-1] pp",
    present="x[0]",
    destiny="a[-1]*x[-1] a[-1] x[-1] pp pos",
)
"""The templates of Stratos et al. 2013, figure 6."""


def _call_function(corpus: LabelledCorpus, what: str, function: FeatureFunction) -> Indicators:
    names = {i: name for name, i in corpus.names.observations.items()}
    known: dict[Hashable, int] = {}
    rows: list[list[int]] = []
    for begin, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        labels = [corpus.names.labels[a] for a in corpus.labels[begin:end]]
        seen = [names[x] for x in corpus.observations[begin:end]]
        for i in range(len(labels)):
            features = function(*_select_part(what, labels, seen, i))
            rows.append([known.setdefault(feature, len(known)) for feature in dict.fromkeys(features)])
    width = max(1, *map(len, rows))
    ids = np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)
    return Indicators(ids, len(known))


def _select_part(
    what: str, labels: list[str], seen: list[str], i: int
) -> tuple[Sequence[str], Sequence[str | None]]:
    """Return the labels and observations of a sentence that one of its variables holds."""
    if what == "future":
        return labels[i:], seen[i:]
    if what == "past":
        return labels[: i + 1], seen[:i]
    if what == "present":
        return labels[i : i + 1], seen[i : i + 1]
    turned: list[str | None] = [None, *seen[i + 1 :], None, *seen[:i]]
    around: list[str] = [*labels[i:], "", *labels[:i]]
    return around, turned
