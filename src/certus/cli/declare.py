"""Typer's commands, made from the options that ``certus.cli.options`` and the learners declare."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from certus.checks import read_seconds
from certus.cli.options import list_options, spell
from certus.errors import InvalidInput

Command = Callable[..., None]
LARGEST = 2**63 - 1

ModelArgument = Annotated[
    str | None,
    typer.Argument(metavar="MODEL", help="A model file; without one, the English model of Certus is used."),
]
InputArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE|TEXT", help="Files, or sentences in quotes; stdin by default."),
]


class PlainCommand(TyperCommand):
    """A command whose help says NUMBER and TEXT where typer would name types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values."""
        return _name_values(super().get_params(ctx), ctx)


class PlainGroup(TyperGroup):
    """A group of commands whose own help is plain."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values."""
        return _name_values(super().get_params(ctx), ctx)


def _name_values(params: Sequence[Any], ctx: Any) -> list[Any]:
    """Give a word for its value to each option that was declared without one."""
    for param in params:
        if not hasattr(param, "display_type_rich"):  # an older typer, whose help is plain
            continue
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None  # its name says what it is
        elif param.metavar is None:
            number = any(kind in param.display_type_rich(ctx) for kind in ("int", "float"))
            param.metavar = "" if param.is_flag else "NUMBER" if number else "TEXT"
    return list(params)


def with_options(kind: type[Any]) -> Callable[[Command], Command]:
    """Give a command the options that a class declares; they reach it as one object named ``options``."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> None:
            values = {one.name: given.pop(one.name) for one in fields(kind)}
            for one in fields(kind):
                _check_number(spell(one)[0], values[one.name], is_time=one.name == "seconds")
            command(**given, options=kind(**_restore_tuples(values)))

        return replace_parameters(call, command, "options", make_parameters(kind))

    return decorate


def _check_number(spelling: str, value: Any, *, is_time: bool) -> None:
    """Refuse a number that the kernels cannot hold, or that is none; a limit of time may be infinite."""
    if is_time:
        read_seconds(value, spelling)
        return
    if isinstance(value, int) and value > LARGEST:
        raise InvalidInput(f"{spelling} is {value}; {LARGEST} is the largest number there is")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{spelling} is {value}; a finite number is needed")


def _restore_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def make_parameters(kind: type[Any]) -> Iterator[Parameter]:
    """Yield what typer reads of the options that a class declares."""
    types = get_type_hints(kind)
    for declared in list_options(kind):
        about, default = declared.metadata, declared.default
        many = isinstance(default, tuple)
        made = typer.Option(*spell(declared), help=about["help"], min=about["least"], metavar=about["takes"])
        yield Parameter(
            declared.name,
            Parameter.KEYWORD_ONLY,
            default=[] if many else default,
            annotation=Annotated[list[str] if many else types[declared.name], made],
        )


def replace_parameters(
    command: Command, declared: Command, name: str, parameters: Iterable[Parameter]
) -> Command:
    """Let typer see a command with other parameters in place of one of its own."""
    own = inspect.signature(declared, eval_str=True).parameters
    kept = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own.values() if one.name != name]
    command.__dict__["__signature__"] = inspect.Signature([*kept, *parameters])
    return command
