"""The options of learners on the command line, made of their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields
from inspect import Parameter
from typing import Annotated, Any

import typer

from certus.cli.declare import Command, replace_parameters
from certus.learn.learners import LEARNERS

NAMES = ", ".join(LEARNERS)
TABLE = "\n".join(f"    {name:<12} {kind.about}" for name, kind in LEARNERS.items())


_METAVARS = {tuple: "NUMBER,...", int: "NUMBER", float: "NUMBER", str: "TEXT"}


def with_learner_options(command: Command) -> Command:
    """Give a command the options of all learners, in place of its ``**given``.

    They reach the command by name; one that the user left out is None, so that each learner's own default
    holds. Whether a value makes sense is for the learner to say.
    """
    return replace_parameters(command, command, "given", _make_parameters(LEARNERS))


def with_options_of(learner: str, kind: type[Any]) -> Callable[[Command], Command]:
    """Give a command the options that one class declares, likewise; ``learner`` is what the help calls it."""
    return lambda command: replace_parameters(command, command, "given", _make_parameters({learner: kind}))


def _make_parameters(learners: Mapping[str, type[Any]]) -> Iterator[Parameter]:
    """Yield an option for each name, those that most learners share first."""
    declared: dict[str, dict[str, Field[Any]]] = {}
    for learner, kind in learners.items():
        for field in fields(kind):
            declared.setdefault(field.name, {})[learner] = field
    for name, of in sorted(declared.items(), key=lambda item: len(item[1]) == 1):
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_annotate(of))


def _annotate(of: dict[str, Field[Any]]) -> Any:
    """Return what typer reads of an option, from its declarations by learner; the first one explains it."""
    field = next(iter(of.values()))
    default, about = field.default, field.metadata["help"]
    alone = len(of) == 1
    if not alone and 2 * len(of) <= len(LEARNERS):
        about = f"For {' and '.join(of)}: {about[0].lower()}{about[1:]}"
    listed = isinstance(default, tuple)
    made = typer.Option(
        help=f"{about} Default: {_format_defaults(of)}.",
        rich_help_panel=f"Options of {next(iter(of))}" if alone else "Options of learners",
        parser=_parse_numbers if listed else None,
        metavar=_METAVARS.get(type(default)),
    )
    return Annotated[type(default) | None, made]


def _format_defaults(of: dict[str, Field[Any]]) -> str:
    """Return the default, or the first one and those of the learners that have another."""
    common, *_ = texts = [_format_default(field.default) for field in of.values()]
    others = [f"{learner} {text}" for learner, text in zip(of, texts, strict=True) if text != common]
    return "; ".join([common, *others])


def _format_default(default: Any) -> str:
    return ",".join(map(_format_default, default)) if isinstance(default, tuple) else f"{default}"


def _parse_numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of numbers with commas between them") from None
