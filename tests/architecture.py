"""The order of the rooms, declared once, and what reads it off the sources: imports, includes, cycles.

A room is a folder (or a module) of ``src/certus`` or a folder of ``native``. A room may know the rooms of
its own layer and of the layers before it, never of a later one. Imports under ``TYPE_CHECKING`` and inside
functions count like any other.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Layers = tuple[tuple[str, ...], ...]

# The longest name that a module begins with is its room: learn/features comes before the rest of learn.
PYTHON: Layers = (
    # what all rooms share; these know only one another
    (
        "_native",
        "checks",
        "citations",
        "errors",
        "highs",
        "part",
        "ragged",
        "solution",
        "storage",
        "verification",
        "version",
    ),
    ("chain",),
    ("lattice",),
    ("latent",),
    ("hypergraph",),
    ("relax",),
    ("annotation",),
    ("formats",),
    ("evaluation",),
    ("syntax/constituency",),
    ("syntax/joint",),
    ("syntax/dependency",),
    ("syntax",),  # its __init__, which names what its folders hold
    ("align",),
    ("translate",),
    ("corpus",),
    ("learn/features",),
    ("learn",),
    ("models",),
    ("testing",),  # what is run on other people's parts, solvers and learners
    ("",),  # certus/__init__.py, which names what lies anywhere
    ("cli",),
)
NATIVE: Layers = (
    ("base",),
    ("chain",),
    ("lattice",),
    ("hypergraph",),
    ("latent",),
    ("relax",),
    ("syntax",),
    ("align",),
    ("translate",),
    ("corpus",),
    ("features",),
    ("scoring",),
    ("learn",),
    ("bindings",),
)
BENCH = "certus_bench"  # the benchmarks: a package of their own, which may import everything here
BENCH_DOOR = "cli/bench"  # the only module that may import them
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
NAMESPACE = re.compile(r"^namespace (certus[\w:]*) \{", re.MULTILINE)


@dataclass(frozen=True)
class Arrow:
    """One import or include: who knows whom, and where that is written. Modules are paths without suffix."""

    file: str
    line: int
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.source or '__init__'} -> {self.target or '__init__'}"


@dataclass(frozen=True)
class Order:
    """Rooms in layers: an arrow may stay in its layer or point to an earlier one."""

    layers: Layers

    def find_layer(self, module: str) -> int | None:
        """Return the number of the layer that a module belongs to, or None where its room is not declared."""
        depth = {room: number for number, rooms in enumerate(self.layers) for room in rooms}
        parts = module.split("/") if module else []
        names = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)] or [""]
        return next((depth[name] for name in names if name in depth), None)

    def find_violations(self, arrows: Iterable[Arrow]) -> dict[Arrow, str]:
        """Return the arrows against the order, each with file, line, arrow and rule as one line."""
        return {arrow: f"{arrow}: {rule}" for arrow in arrows if (rule := self._find_broken_rule(arrow))}

    def _find_broken_rule(self, arrow: Arrow) -> str | None:
        if arrow.target == BENCH:
            return None if arrow.source == BENCH_DOOR else f"only {BENCH_DOOR}.py may import the benchmarks"
        source, target = self.find_layer(arrow.source), self.find_layer(arrow.target)
        for module, layer in ((arrow.source, source), (arrow.target, target)):
            if layer is None:
                return f"the room of {module} is not declared in tests/architecture.py"
        if arrow.source and source is not None and target is not None and target > source:
            return f"{self._name(source)} may not know {self._name(target)}, which comes later"
        return None

    def _name(self, layer: int) -> str:
        return ", ".join(room or "certus/__init__.py" for room in self.layers[layer])


def read_python_arrows(root: Path) -> list[Arrow]:
    """Return every import between modules of the package at ``root``, and every import of the benchmarks."""
    modules = {
        _name_module(file, root): file for file in sorted(root.rglob("*.py*")) if file.suffix != ".pyc"
    }
    arrows = [
        Arrow(str(file.relative_to(root.parent)), line, module, target)
        for module, file in modules.items()
        for line, name in _read_imports(file, module, root.name)
        if (target := _resolve(name, root.name, modules)) is not None and target != module
    ]
    return list(dict.fromkeys(arrows))  # several names of one module on one line are one arrow


def _name_module(file: Path, root: Path) -> str:
    """Return ``chain/problem`` for chain/problem.py, ``chain`` for chain/__init__.py, "" for the package."""
    path = file.relative_to(root).with_suffix("")
    return "" if path == Path("__init__") else (path.parent if path.name == "__init__" else path).as_posix()


def _read_imports(file: Path, module: str, package: str) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of all that a file imports, ``a.b.c`` for ``from a.b import c``."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _resolve_relative(node, file, module, package)
            yield from ((node.lineno, f"{base}.{name.name}") for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                (node.lineno, argument.value)
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def _resolve_relative(node: ast.ImportFrom, file: Path, module: str, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = [package, *module.split("/")] if module else [package]
    climb = node.level - (file.name == "__init__.py")
    base = parts[: len(parts) - climb]
    return ".".join([*base, node.module] if node.module else base)


def _resolve(name: str, package: str, modules: Mapping[str, Path]) -> str | None:
    """Return the module behind a dotted name (a name that a package defines is the package's), or None."""
    first, *parts = name.split(".")
    if first == BENCH:
        return BENCH
    if first != package:
        return None
    return next(
        (path for end in range(len(parts), -1, -1) if (path := "/".join(parts[:end])) in modules), None
    )


def read_native_arrows(root: Path) -> list[Arrow]:
    """Return every include between files below ``root``; header and source of one name are one module."""
    arrows = []
    for file in sorted(root.rglob("*.[ch]pp")):
        text = file.read_text(encoding="utf-8")
        source = file.relative_to(root).with_suffix("").as_posix()
        for found in INCLUDE.finditer(text):
            beside, below = file.parent / found[1], root / found[1]
            path = Path(os.path.relpath(beside if beside.exists() else below, root))
            target = path.with_suffix("").as_posix()
            if target != source:
                line = text.count("\n", 0, found.start(1)) + 1
                arrows.append(Arrow(str(file.relative_to(root.parent)), line, source, target))
    return arrows


def find_cycles(arrows: Iterable[Arrow]) -> list[tuple[str, ...]]:
    """Return the strongly connected components of two modules or more, by Tarjan's algorithm."""
    graph: dict[str, list[str]] = {}
    for arrow in arrows:
        graph.setdefault(arrow.source, []).append(arrow.target)
        graph.setdefault(arrow.target, [])
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == index[module]:
            component = stack[stack.index(module) :]
            del stack[-len(component) :]
            if len(component) > 1:
                found.append(tuple(sorted(component)))

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(found)


def describe_cycle(cycle: Sequence[str], arrows: Iterable[Arrow]) -> str:
    """Return the arrows that close a cycle, one per line."""
    inside = [str(arrow) for arrow in arrows if arrow.source in cycle and arrow.target in cycle]
    return "\n".join(
        [f"modules know one another: {', '.join(name or '__init__' for name in cycle)}", *inside]
    )


def find_misplaced_namespaces(root: Path) -> dict[str, str]:
    """Return files whose namespace is not their folder's; base, chain and bindings use ``certus``."""
    wrong = {}
    for file in sorted(root.rglob("*.[ch]pp")):
        room = file.relative_to(root).parts[0]
        own = "certus" if room in ("base", "chain", "bindings") else f"certus::{room}"
        for name in NAMESPACE.findall(file.read_text(encoding="utf-8")):
            if name != own and not name.startswith(f"{own}::"):
                path = file.relative_to(root.parent).as_posix()
                wrong[path] = f"{path}: namespace {name} instead of {own}"
    return wrong
