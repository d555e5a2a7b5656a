"""What is fuzzed, by name: each target takes bytes, and raises nothing but what it finds wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.fuzz import commands, loaders, problems, texts
from tests.fuzz.choices import Choices
from tests.fuzz.names import FORMATS, KINDS

Target = Callable[[bytes], None]


def make_target(name: str, folder: Path) -> Target:
    """Return a target; what it needs on disk is made in a folder."""
    group, _, one = name.partition("-")
    if group == "read":
        if one in FORMATS:
            return partial(texts.read_format, format=None if one == "any" else one)
        others: dict[str, Target] = {
            "trees": texts.read_trees,
            "templates": texts.parse_templates,
            "target": texts.parse_target,
            "dictionary": partial(texts.load_dictionary, folder=folder),
            "links": texts.read_links,
            "pairs": texts.read_pairs,
            "arpa": texts.read_arpa,
            "fg": partial(texts.read_graphs, path=folder / "graphs.fg"),
            "uai": partial(texts.read_graphs, path=folder / "graphs.uai"),
        }
        return others[one]
    if group == "load":
        if one in KINDS:
            model = loaders.read_model(loaders.make_models(folder)[one]())
            return lambda data: loaders.load_changed(model, data, folder / "changed.certus")
        return partial(loaders.load_bytes, path=folder / "changed.certus")
    if group == "solve":
        return problems.SOLVERS[one]
    commands.prepare_folder(folder)
    options = {command: commands.list_options(command) for command in commands.COMMANDS}
    return lambda data: commands.run_command(commands.choose_arguments(Choices(data), options), folder)
