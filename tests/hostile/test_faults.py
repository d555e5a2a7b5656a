"""Whatever goes wrong while a file is written, the old file or the whole new one stands, and nothing else."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import certus
from certus.errors import CertusError
from tests.hostile.faults import FAULTS, INTERRUPTS, MOMENTS, NUISANCES, kill_at
from tests.hostile.writers import Writer, make_writers

OLD = b"what was there before"
SOURCES = Path(certus.__file__).parent
BENCH = SOURCES.parents[1] / "bench" / "certus_bench"


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Writer]:
    return {writer.name: writer for writer in make_writers(tmp_path_factory.mktemp("inputs"))}


NAMES = [
    "a tagger", "a parser", "a CRF", "an aligner", "a language model", "a translator", "n-grams", "a lexicon",
    "a hypergraph", "a checkpoint", "a drawing", "a plot", "a picture", "sentences", "sentences, compressed",
    "trees", "a certificate", "certus tag", "certus parse", "certus translate", "certus train tagger",
    "certus align --phrases", "certus tag --certificate", "bench --json",
]  # fmt: skip


def test_every_writer_is_tried(writers: dict[str, Writer]) -> None:
    assert list(writers) == NAMES


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_leaves_the_old_file(
    writers: dict[str, Writer], name: str, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / f"output{writers[name].suffix}"
    for old in (None, OLD):
        if old is not None:
            path.write_bytes(old)
        with pytest.raises(CertusError, match=path.name), FAULTS[fault](tmp_path):
            writers[name].write(path)
        assert os.listdir(tmp_path) == ([] if old is None else [path.name])
        assert old is None or path.read_bytes() == old
    path.unlink()
    writers[name].write(path)
    assert path.stat().st_size > 20


@pytest.mark.parametrize("interrupt", INTERRUPTS)
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_leaves_the_old_file(
    writers: dict[str, Writer], name: str, interrupt: str, tmp_path: Path
) -> None:
    path = tmp_path / f"output{writers[name].suffix}"
    path.write_bytes(OLD)
    with pytest.raises(KeyboardInterrupt), INTERRUPTS[interrupt](tmp_path):
        writers[name].write(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("nuisance", NUISANCES)
@pytest.mark.parametrize("name", NAMES)
def test_short_writes_write_everything(
    writers: dict[str, Writer], name: str, nuisance: str, tmp_path: Path
) -> None:
    suffix = writers[name].suffix
    calm, troubled = tmp_path / f"calm{suffix}", tmp_path / f"troubled{suffix}"
    writers[name].write(calm)
    with NUISANCES[nuisance](tmp_path):
        writers[name].write(troubled)
    assert len(troubled.read_bytes()) == len(calm.read_bytes())
    assert sorted(os.listdir(tmp_path)) == sorted([calm.name, troubled.name])


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_a_whole_file(moment: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.hostile.test_faults", moment, str(tmp_path)]
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=SOURCES.parents[1],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert sorted(found) == sorted(NAMES)
    wanted = "new" if moment == "after rename" else "old"
    assert {name: state for name, state in found.items() if state != wanted} == {}


def kill_writers(moment: str, folder: Path) -> dict[str, str]:
    """Let a child write each file and die at a moment; return whether the old or the new file stands."""
    found = {}
    for number, writer in enumerate(make_writers(folder)):
        path = folder / str(number) / f"output{writer.suffix}"
        path.parent.mkdir()
        writer.write(path)
        size = path.stat().st_size
        path.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            with kill_at(moment):
                writer.write(path)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        left = path.read_bytes()
        stands = "old" if left == OLD else "new" if len(left) == size else "damaged"
        found[writer.name] = stands if killed else "not killed"
    return found


# ------------------------------------------------------------------------------- nothing else writes files


def find_calls(path: Path, where: str) -> Iterator[tuple[str, str]]:
    """Yield each call of a module: the function that it is in, and what is called, with its mode."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    yield f"{where}:{function.name}", _name_call(node)


def _name_call(call: ast.Call) -> str:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [
        argument.value
        for argument in [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return "open for writing" if name == "open" and any(set(m) & set("wax+") for m in modes) else name


def list_calls() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield from find_calls(path, path.relative_to(SOURCES).with_suffix("").as_posix())
    for path in sorted(BENCH.rglob("*.py")):
        yield from find_calls(path, "bench")


def test_files_are_written_atomically_or_not_at_all() -> None:
    writing = {
        "open for writing",
        "write_text",
        "write_bytes",
        "savefig",
        "tofile",
        "savez",
        "NamedTemporaryFile",
    }
    found = {(site, call) for site, call in list_calls() if call in writing}
    allowed = {
        ("storage/files:open_atomically", "open for writing"),
        ("storage/files:_make_sibling", "open for writing"),
        ("storage/files:_open_for_writing", "open for writing"),
        ("storage/figures:save_figure", "savefig"),
    }
    temporary = {("bench:_time_commands", "write_text")}  # text that the benchmark tags
    assert found - temporary == allowed


def test_every_place_that_writes_is_in_the_list(writers: dict[str, Writer]) -> None:
    sites = {site for site, call in list_calls() if call == "open_atomically"}
    assert sites == {writer.site for writer in writers.values()}


if __name__ == "__main__":
    print(json.dumps(kill_writers(sys.argv[1], Path(sys.argv[2]))))
