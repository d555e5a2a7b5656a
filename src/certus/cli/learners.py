"""The options of learners on the command line, made of their declarations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import Field, fields
from inspect import Parameter
from typing import Annotated, Any

import typer

from certus.learn.learners import LEARNERS

NAMES = ", ".join(LEARNERS)
TABLE = "\n".join(f"    {name:<12} {kind.about}" for name, kind in LEARNERS.items())


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all learners, in place of its ``**given``.

    They reach the command by name; one that the user left out is None, so that each learner's own default
    holds. Whether a value makes sense is for the learner to say.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [made for made in signature.parameters.values() if made.kind is not Parameter.VAR_KEYWORD]
    declared = signature.replace(parameters=[*own, *_parameters()])
    command.__signature__ = declared  # type: ignore[attr-defined]  # what typer reads
    return command


def _parameters() -> Iterator[Parameter]:
    """Yield an option for each name, those that most learners share first."""
    declared: dict[str, dict[str, Field[Any]]] = {}
    for learner, kind in LEARNERS.items():
        for field in fields(kind):
            declared.setdefault(field.name, {})[learner] = field
    for name, of in sorted(declared.items(), key=lambda item: len(item[1]) == 1):
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(of))


def _annotation(of: dict[str, Field[Any]]) -> Any:
    """Return what typer reads of an option, from its declarations by learner; the first one explains it."""
    field = next(iter(of.values()))
    default, about = field.default, field.metadata["help"]
    alone = len(of) == 1
    if not alone and 2 * len(of) <= len(LEARNERS):
        about = f"Of {' and '.join(of)}: {about[0].lower()}{about[1:]}"
    listed = isinstance(default, tuple)
    made = typer.Option(
        help=f"{about} Default: {_defaults(of)}.",
        rich_help_panel=f"Options of {next(iter(of))}" if alone else "Options of learners",
        parser=_numbers if listed else None,
        metavar="NUMBER,..." if listed else None,
    )
    return Annotated[type(default) | None, made]


def _defaults(of: dict[str, Field[Any]]) -> str:
    """Return the default, or the first one and those of the learners that have another."""
    common, *_ = texts = [_shown(field.default) for field in of.values()]
    others = [f"{learner} {text}" for learner, text in zip(of, texts, strict=True) if text != common]
    return "; ".join([common, *others])


def _shown(default: Any) -> str:
    return ",".join(map(_shown, default)) if isinstance(default, tuple) else f"{default}"


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of numbers with commas between them") from None
