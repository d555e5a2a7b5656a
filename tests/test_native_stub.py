"""``src/certus/_native.pyi`` declares what the compiled module has: the same classes, members and parameters.

The stub is written by hand, since types such as ``Callable[[Progress], None]`` or a class that two precisions
share cannot be generated. nanobind generates another one from the module, to compare it with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from certus import _native

SOURCE = Path(__file__).parents[1] / "src" / "certus" / "_native.pyi"

PLAIN = ((), 0, frozenset[str]())  # what a function without parameters, or with **kwargs, is called with

Members = dict[str, frozenset[Any]]  # by qualified name: parameters of the overloads, nothing for values


def generate_stub() -> str:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_native, quiet=True)
    generator.put(_native)
    return str(generator.get())


def read_parameters(function: ast.FunctionDef) -> tuple[tuple[str, ...], int, frozenset[str]]:
    given = function.args
    names = tuple(parameter.arg for parameter in (*given.posonlyargs, *given.args))
    static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in function.decorator_list)
    bound = names[1:] if names[:1] in (("self",), ("cls",)) and not static else names
    return bound, len(given.defaults), frozenset(parameter.arg for parameter in given.kwonlyargs)


def walk(body: Sequence[ast.stmt], bases: Mapping[str, ast.ClassDef]) -> Iterator[tuple[str, Any]]:
    """Yield members and what each is called with; None for values, which are attributes or properties."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield node.name, None
            for base in [
                node,
                *(bases[b.id] for b in node.bases if isinstance(b, ast.Name) and b.id in bases),
            ]:
                yield from ((f"{node.name}.{name}", called) for name, called in walk(base.body, bases))
        elif isinstance(node, ast.FunctionDef):
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            called = (
                None
                if any(re.fullmatch(r"property|\w+\.setter", mark) for mark in marks)
                else read_parameters(node)
            )
            name = "__init__" if node.name == "__new__" else node.name
            if name not in ("__getstate__", "__setstate__"):
                yield name, called
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if "TypeAlias" not in ast.unparse(node.annotation):
                yield node.target.id, None
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, None


def read_members(text: str) -> Members:
    tree = ast.parse(text)
    bases = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    members: dict[str, set[Any]] = {}
    for name, called in walk(tree.body, bases):
        members.setdefault(name, set())
        if called is not None:
            members[name].add(called)
    # A constructor without parameters need not be written.
    constructors = {name: {PLAIN} for name in bases if not name.startswith("_")}
    plain = {f"{name}.__init__": called for name, called in constructors.items()}
    return {name: frozenset(called) for name, called in {**plain, **members}.items()}


def is_same(written: frozenset[Any], generated: frozenset[Any]) -> bool:
    """Whether two sets of signatures are the same; parameters without a name may have one in the stub."""
    if any(kind[2] or kind[1] for kind in written) and generated == {PLAIN}:
        return True  # **kwargs
    hide = {
        (tuple(None if re.fullmatch(r"arg\d*", name) else name for name in names), *rest)
        for names, *rest in generated
    }
    for names, *rest in written:
        shapes = [shape for shape in hide if len(shape[0]) == len(names) and list(shape[1:]) == rest]
        if not any(all(b in (None, a) for a, b in zip(names, shape[0], strict=True)) for shape in shapes):
            return False
    return len(written) == len(hide)


def compare(written: Members, generated: Members) -> list[str]:
    missing = [f"{name}: the module has it, the stub has not" for name in generated.keys() - written.keys()]
    stale = [f"{name}: the stub has it, the module has not" for name in written.keys() - generated.keys()]
    others = [
        f"{name}: declared as {sorted(map(str, written[name]))}, is {sorted(map(str, generated[name]))}"
        for name in written.keys() & generated.keys()
        if not is_same(written[name], generated[name])
    ]
    return sorted([*missing, *stale, *others])


def test_the_stub_declares_what_the_module_has() -> None:
    found = compare(read_members(SOURCE.read_text(encoding="utf-8")), read_members(generate_stub()))
    advice = (
        "correct src/certus/_native.pyi; `.venv/bin/python -m nanobind.stubgen -m certus._native` "
        "prints what nanobind knows:"
    )
    assert not found, "\n".join([advice, *found])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("class A:\n    def f(self, y: int) -> None: ...", "A.f: declared as"),
        ("class A:\n    def f(self, x: int = 1) -> None: ...", "A.f: declared as"),
        ("class A: ...", "A.f: the module has it"),
        ("class A:\n    def f(self, x: int) -> None: ...\ndef g() -> None: ...", "g: the stub has it"),
    ],
)
def test_a_stale_stub_is_caught(written: str, said: str) -> None:
    made = read_members("class A:\n    def f(self, x: int) -> None: ...")
    assert [line[: len(said)] for line in compare(read_members(written), made)] == [said]


def test_a_shared_base_class_counts_for_both() -> None:
    written = read_members(
        "class _A:\n    def f(self, x: int) -> None: ...\nclass B(_A): ...\nclass C(_A): ..."
    )
    generated = "class B:\n    def f(self, arg: int, /): ...\nclass C:\n    def f(self, x: str): ..."
    assert compare(written, read_members(generated)) == []
