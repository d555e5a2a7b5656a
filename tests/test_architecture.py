"""Rooms know only what comes before them, in Python and in C++ alike, and no two modules know one another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.architecture import (
    NATIVE,
    PYTHON,
    Arrow,
    Layers,
    Order,
    describe_cycle,
    find_cycles,
    find_misplaced_namespaces,
    read_native_arrows,
    read_python_arrows,
)
from tests.hidden_names import find_hidden_names, find_repeated_names

ROOT = Path(__file__).parents[1]
PACKAGE, KERNELS = ROOT / "src" / "certus", ROOT / "native"


def read_all_arrows() -> dict[str, list[Arrow]]:
    return {"Python": read_python_arrows(PACKAGE), "C++": read_native_arrows(KERNELS)}


def name_arrow(arrow: Arrow) -> str:
    return str(arrow).split(": ", 1)[1]


def test_arrows_follow_the_order() -> None:
    arrows = read_all_arrows()
    found = Order(PYTHON).find_violations(arrows["Python"]) | Order(NATIVE).find_violations(arrows["C++"])
    assert not found, "\n".join(["arrows against the order of tests/architecture.py:", *found.values()])


def test_no_modules_know_one_another() -> None:
    cycles = [
        describe_cycle(cycle, arrows)
        for arrows in read_all_arrows().values()
        for cycle in find_cycles(arrows)
    ]
    assert not cycles, "\n".join(cycles)


def test_namespaces_follow_folders() -> None:
    assert not find_misplaced_namespaces(KERNELS)


def test_files_compiled_together_share_no_hidden_names() -> None:
    repeated = find_repeated_names(KERNELS)
    advice = "give one a more precise name, for files of a folder are compiled as one:"
    assert not repeated, "\n".join([advice, *repeated])


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("constexpr Index kMost = 3;", "kMost"),
        ("constexpr double kShares[] = {0.5, 1};", "kShares"),
        ("template <class S>\nclass Search : Base<S> { void run(); };", "Search"),
        ("using Rows = Table<const double>;", "Rows"),
        ("template <class S, class T = Dense<S>>\nauto find(const S& s) -> T { if (s) return {}; }", "find"),
        ("[[gnu::noinline]] bool is_late(Time end = now()) noexcept;", "is_late"),
    ],
)
def test_hidden_names_are_found(code: str, name: str) -> None:
    file = f'#include "a.hpp"\nnamespace certus {{\nnamespace {{\n// Not = this;\n{code}\n}}  // namespace\n'
    assert find_hidden_names(f"{file}int seen() {{ return 1; }}\n}}") == {name}


def test_a_hidden_name_of_two_files_is_caught(tmp_path: Path) -> None:
    hidden = "namespace certus { namespace { bool raise(%s x) { return x; } } }"
    plant(tmp_path / "native", [("chain/a.cpp", hidden % "int"), ("chain/b.cpp", hidden % "double")])
    assert find_repeated_names(tmp_path / "native") == ["native/chain: raise is defined by a.cpp, b.cpp"]


@pytest.mark.parametrize(("root", "layers"), [(PACKAGE, PYTHON), (KERNELS, NATIVE)], ids=["Python", "C++"])
def test_every_folder_is_a_declared_room(root: Path, layers: Layers) -> None:
    folders = {
        path.parent.relative_to(root).as_posix() for path in root.rglob("*.[pch]*") if path.suffix != ".pyc"
    }
    undeclared = [name for name in sorted(folders - {"."}) if Order(layers).find_layer(name) is None]
    assert not undeclared, f"declare these rooms in tests/architecture.py: {undeclared}"


def test_the_root_of_native_holds_folders_only() -> None:
    assert [path.name for path in KERNELS.iterdir() if path.is_file()] == []


def plant(root: Path, files: Iterable[tuple[str, str]]) -> Path:
    """Write a small tree of sources."""
    for name, text in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    "line",
    [
        "import certus.models.tagger",
        "from certus.models.tagger import Tagger",
        "from certus.models import tagger",
        "from ..models.tagger import Tagger",
        "from .. import models",
        "if TYPE_CHECKING:\n    from certus.models import Tagger",
        "def fit():\n    from certus.models.tagger import Tagger",
        "import_module('certus.models.tagger')",
        "from certus import Chain",
        "import certus_bench.chain",
    ],
)
def test_an_import_against_the_order_is_caught(line: str, tmp_path: Path) -> None:
    empty = [
        (f"certus/{name}.py", "")
        for name in ("__init__", "models/__init__", "models/tagger", "chain/__init__")
    ]
    root = plant(tmp_path, [*empty, ("certus/chain/problem.py", f"x = 1\n{line}\n")]) / "certus"
    (violation,) = Order(PYTHON).find_violations(read_python_arrows(root)).values()
    number = 2 + line.count("\n")
    assert violation.startswith(f"certus/chain/problem.py:{number}: chain/problem -> ")
    assert "chain may not know " in violation or "only cli/bench.py may import" in violation


def test_imports_along_the_order_are_fine(tmp_path: Path) -> None:
    files = [
        ("certus/__init__.py", "from certus.chain import Chain\nfrom certus.models import Tagger\n"),
        ("certus/chain/__init__.py", "from certus.chain.problem import Chain\n"),
        (
            "certus/chain/problem.py",
            "from certus.errors import A\nfrom ..errors import B\nimport numpy\n",
        ),
        ("certus/errors.py", ""),
        ("certus/models/__init__.py", "from certus import chain\n"),
        ("certus/cli/bench.py", "import certus_bench\nfrom certus import __version__\n"),
    ]
    arrows = read_python_arrows(plant(tmp_path, files) / "certus")
    assert [name_arrow(arrow) for arrow in arrows if arrow.source == "models"] == ["models -> chain"]
    assert not Order(PYTHON).find_violations(arrows)
    assert not find_cycles(arrows)


def test_a_room_that_nobody_declared_is_caught(tmp_path: Path) -> None:
    root = (
        plant(tmp_path, [("certus/attic/box.py", "import certus.errors"), ("certus/errors.py", "")])
        / "certus"
    )
    (violation,) = Order(PYTHON).find_violations(read_python_arrows(root)).values()
    assert "the room of attic/box is not declared" in violation


@pytest.mark.parametrize("path", ["learn/rows.hpp", "../learn/rows.hpp"])
def test_an_include_against_the_order_is_caught(path: str, tmp_path: Path) -> None:
    files = [
        ("native/learn/rows.hpp", '#include "scoring/table.hpp"\n#include <vector>\n'),
        ("native/scoring/table.hpp", f'#pragma once\n#  include "{path}"\n'),
    ]
    arrows = read_native_arrows(plant(tmp_path, files) / "native")
    (violation,) = Order(NATIVE).find_violations(arrows).values()
    rule = "scoring may not know learn, which comes later"
    assert violation == f"native/scoring/table.hpp:2: scoring/table -> learn/rows: {rule}"
    assert find_cycles(arrows) == [("learn/rows", "scoring/table")]


def test_a_cycle_inside_a_room_is_caught(tmp_path: Path) -> None:
    files = [
        ("certus/chain/a.py", "from certus.chain.b import B"),
        ("certus/chain/b.py", "def f():\n    from certus.chain.c import C"),
        ("certus/chain/c.py", "from certus.chain import a"),
        ("certus/chain/d.py", "from certus.chain import a"),
        ("certus/chain/__init__.py", "from certus.chain.d import D"),
    ]
    arrows = read_python_arrows(plant(tmp_path, files) / "certus")
    assert find_cycles(arrows) == [("chain/a", "chain/b", "chain/c")]
    assert "certus/chain/b.py:2: chain/b -> chain/c" in describe_cycle(
        ("chain/a", "chain/b", "chain/c"), arrows
    )


def test_a_module_that_imports_its_package_is_a_cycle(tmp_path: Path) -> None:
    files = [
        ("certus/chain/__init__.py", "from .a import A"),
        ("certus/chain/a.py", "from certus.chain import A"),
    ]
    assert find_cycles(read_python_arrows(plant(tmp_path, files) / "certus")) == [("chain", "chain/a")]


def test_a_namespace_of_another_folder_is_caught(tmp_path: Path) -> None:
    files = [
        ("native/base/a.hpp", "namespace certus {\n"),
        ("native/learn/b.hpp", "namespace certus::learn::crf {\n"),
        ("native/scoring/c.hpp", "namespace certus::learn {\n"),
    ]
    wrong = find_misplaced_namespaces(plant(tmp_path, files) / "native")
    assert wrong == {
        "native/scoring/c.hpp": "native/scoring/c.hpp: namespace certus::learn instead of certus::scoring"
    }
