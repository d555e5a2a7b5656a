"""A short way to ``certus tag``.

The library of the command line takes as long to get ready as everything that tagging needs. Plain uses of the
one command that is run sentence by sentence are therefore read here, by the same declarations; all else, help
and mistakes too, goes the long way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from certus.cli.options import CORPUS, TagOptions, list_options, spell

_SPELLED = {spelling: one for one in list_options(TagOptions) for spelling in spell(one)}
LONG = tuple(
    spelling
    for spelling, one in _SPELLED.items()
    if one.metadata["about"] == CORPUS or one.type.startswith("float")
)
_SHORT = {spelling: one for spelling, one in _SPELLED.items() if spelling not in LONG}
FLAGS = {spelling: one.name for spelling, one in _SHORT.items() if one.type == "bool"}
NUMBERS = {spelling: one.name for spelling, one in _SHORT.items() if one.type in ("int", "int | None")}
TEXTS = {
    spelling: one.name for spelling, one in _SHORT.items() if one.type not in ("bool", "int", "int | None")
}


def read_plain_tag(arguments: Sequence[str]) -> tuple[str | None, list[str], TagOptions] | None:
    """Return the arguments of ``certus.cli.tag.run``, or None for whatever is not a plain ``tag ...``."""
    if list(arguments[:1]) != ["tag"]:
        return None
    rest, words = iter(arguments[1:]), []
    given: dict[str, Any] = {}
    for argument in rest:
        if argument in FLAGS:
            given[FLAGS[argument]] = True
        elif argument in NUMBERS:
            number = next(rest, "")
            if not (number.isascii() and number.isdigit() and len(number) < 19 and int(number) > 0):
                return None
            given[NUMBERS[argument]] = int(number)
        elif argument in TEXTS:
            text = next(rest, "-")
            if text.startswith("-"):
                return None
            given[TEXTS[argument]] = text
        elif argument.startswith("-") and argument != "-":
            return None
        else:
            words.append(argument)
    return (words[0] if words else None), words[1:], TagOptions(**given)
