"""How much two directions have to agree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from certus.errors import InvalidInput

NEVER = -math.inf


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What a link of one direction costs where the other direction does not have it; ``-inf`` forbids.

    Attributes:
        adjacent: the other direction's link of that word is next to this one, in the same row or column.
        apart: it is farther away.
        alone: the other direction links that word to nothing.
    """

    adjacent: float = NEVER
    apart: float = NEVER
    alone: float = NEVER

    def __post_init__(self) -> None:
        """Refuse prices that reward disagreement."""
        for name in ("adjacent", "apart", "alone"):
            price = getattr(self, name)
            if not price <= 0:
                raise InvalidInput(f"{name} is {price}, but prices are not above 0; -inf forbids")


FULL = Agreement()
"""Both directions have the same links (Chang et al. 2014, §3)."""
ADJACENT = Agreement(adjacent=-1.0)
"""A link may differ from that of the other direction by one row or column (§4)."""
SOFT = Agreement(adjacent=-1.0, apart=-1.0, alone=-2.0)
"""Links may differ, at a price; what an Aligner uses."""

NO_LINK = 0.5
"""What an Aligner adds to the score of a word without a link: more of it means fewer links."""

AGREEMENTS = {"full": FULL, "adjacent": ADJACENT, "soft": SOFT}


def read_agreement(value: Agreement | str) -> Agreement:
    """Return an agreement by its name, or as it is."""
    if isinstance(value, Agreement):
        return value
    if value not in AGREEMENTS:
        raise InvalidInput(f"there is no agreement {value!r}; there are {', '.join(AGREEMENTS)}")
    return AGREEMENTS[value]
