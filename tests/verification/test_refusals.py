"""Certificates of other problems, cut off, or made to do harm: refused by name, soon, without a crash."""

from __future__ import annotations

import contextlib
import copy
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import certus
from certus.verification import Certificate, CertificateError, Problem
from tests.verification.problems import KINDS, Solved
from tests.verification.test_mutations import list_numbers

HOSTILE: list[Any] = [None, True, -1, 10**400, 1e308, 5e-324, "1/0", "9" * 5000, "x", [], [[]], {}, [None]]


def write(solved: Solved, folder: Path) -> tuple[Path, Path]:
    """Write a problem and its certificate."""
    assert solved.solution.certificate is not None
    solved.problem.save(folder / "problem.json")
    solved.solution.certificate.save(folder / "certificate.json")
    return folder / "problem.json", folder / "certificate.json"


@pytest.mark.parametrize("kind", KINDS)
def test_of_another_problem(kind: str) -> None:
    one, other = (KINDS[kind](np.random.default_rng(seed)) for seed in (11, 13))
    with pytest.raises(CertificateError, match="the certificate is of another problem"):
        certus.verify(one.problem, other.solution)


@pytest.mark.parametrize("kind", KINDS)
def test_cut_off(kind: str, tmp_path: Path) -> None:
    problem, certificate = write(KINDS[kind](np.random.default_rng(1)), tmp_path)
    for path in (problem, certificate):
        whole = path.read_bytes()
        for size in range(0, len(whole) - 2, max(1, len(whole) // 40)):
            path.write_bytes(whole[:size])
            with pytest.raises(CertificateError, match="is not JSON, or cut off"):
                certus.verify(problem, certificate)
        path.write_bytes(whole)
    assert certus.verify(problem, certificate)


@pytest.mark.parametrize("kind", KINDS)
def test_anything_in_any_place(kind: str) -> None:
    rng = np.random.default_rng(2)
    for seed in range(5):
        solved = KINDS[kind](np.random.default_rng(seed))
        assert solved.solution.certificate is not None
        given = solved.solution.certificate.as_json()
        parts = [("proof", name) for name in given["proof"]]
        places = [*list_numbers(given), ("answer",), ("proof",), ("score",), *parts]
        for n in rng.permutation(len(places))[:10]:
            for harm in HOSTILE:
                changed = copy.deepcopy(given)
                holder = changed
                for step in places[n][:-1]:
                    holder = holder[step]
                holder[places[n][-1]] = harm
                began = perf_counter()
                with contextlib.suppress(CertificateError):
                    certus.verify(solved.problem, Certificate.of_json(changed))
                assert perf_counter() - began < 5


def test_problems_that_do_not_fit_together() -> None:
    rng = np.random.default_rng(4)
    for make in KINDS.values():
        solved = make(np.random.default_rng(3))
        assert solved.solution.certificate is not None
        given, claimed = solved.problem.as_json(), solved.solution.certificate.as_json()
        places = list(list_numbers(given))
        for place in [places[n] for n in rng.permutation(len(places))[:20]]:
            for harm in HOSTILE:
                changed = copy.deepcopy(given)
                holder = changed
                for step in place[:-1]:
                    holder = holder[step]
                holder[place[-1]] = harm
                with contextlib.suppress(CertificateError):
                    problem = Problem.of_json(changed)
                    certus.verify(
                        problem, Certificate.of_json(claimed | {"fingerprint": problem.fingerprint})
                    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "is not JSON, or cut off"),
        ("NaN", "is not JSON"),
        ('{"format": "certus-certificate", "version": 7}', "version 7"),
        ('{"format": "certus-problem", "version": 1}', "is not a certificate"),
        ("[]", "is not a certificate"),
        ('{"format": "certus-certificate", "version": 1, "kind": "poem"}', "lacks a known kind"),
    ],
)
def test_what_is_no_certificate(text: str, reason: str, tmp_path: Path) -> None:
    problem, certificate = write(KINDS["chain"](np.random.default_rng(0)), tmp_path)
    certificate.write_text(text)
    with pytest.raises(CertificateError, match=reason):
        certus.verify(problem, certificate)


def test_trees_of_branches_end(tmp_path: Path) -> None:
    solved = KINDS["factor graph"](np.random.default_rng(4))
    assert solved.solution.certificate is not None
    given = solved.solution.certificate.as_json()
    for nodes in (
        [{"variable": 0, "off": 0, "on": 0}],
        [{"variable": 0, "off": 1, "on": 1}, {"variable": 1, "off": 1, "on": 1}],
        [{"variable": v, "off": v + 1, "on": v + 1} for v in range(3)],
        [],
    ):
        try:
            verdict = certus.verify(solved.problem, Certificate.of_json(given | {"proof": {"nodes": nodes}}))
        except CertificateError:
            continue
        assert not verdict


def test_files_of_arrays_that_are_none(tmp_path: Path) -> None:
    _, certificate = write(KINDS["chain"](np.random.default_rng(0)), tmp_path)
    path = tmp_path / "problem.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(CertificateError, match="is not a file of arrays"):
        certus.verify(path, certificate)
    np.savez(path, emissions=np.array([object()]), transitions=np.zeros((1, 1)))
    with pytest.raises(CertificateError, match="is not a file of arrays"):
        certus.verify(path, certificate)
    np.savez(path, emissions=np.zeros((1, 1)))
    with pytest.raises(CertificateError, match="needs 'transitions'"):
        certus.verify(path, certificate)


def test_the_command(tmp_path: Path) -> None:
    problem, certificate = write(KINDS["chain"](np.random.default_rng(5)), tmp_path)

    def run(*paths: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from certus.cli import main; main()", "verify", *map(str, paths)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    good = run(problem, certificate)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("proven: ")
    given = json.loads(certificate.read_text())
    certificate.write_text(json.dumps(given | {"score": 1000, "bound": 1000}))
    bad = run(problem, certificate)
    assert bad.returncode == 1
    assert bad.stdout.startswith("refuted: ")
    certificate.write_text(json.dumps(given | {"fingerprint": "0" * 64}))
    other = run(problem, certificate)
    assert other.returncode == 2
    assert other.stderr.startswith("Error: the certificate is of another problem: of a chain 000000000000, ")
    assert run(problem, tmp_path / "missing").returncode == 2


def test_the_checker_knows_nothing_of_the_solvers() -> None:
    folder = Path(certus.__file__).parent
    allowed = {"certus.errors", "certus.verification", "certus.storage.files"}
    for path in (folder / "verification").glob("*.py"):
        for line in path.read_text("utf-8").splitlines():
            if line.strip().startswith(("from certus", "import certus")):
                module = line.split()[1]
                assert module in allowed or module.startswith("certus.verification."), (path.name, line)
