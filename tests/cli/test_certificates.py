"""``certus tag --certificate``, ``certus parse --certificate``, and ``certus verify`` of what they write."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from certus.verification import LineReader, certify
from tests.models import invented

TREES = "(S (NP (D the) (N dog)) (VP (V barks)))\n(S (NP (D a) (N cat)) (VP (V sees) (NP (D the) (N dog))))\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "train.conllu").write_text(invented.conllu(40, 1), "utf-8")
    (folder / "trees.mrg").write_text(TREES, "utf-8")
    for kind in ("crf", "pruned-crf"):
        certus.Tagger("upos", kind, epochs=2).fit(folder / "train.conllu").save(folder / f"{kind}.certus")
    certus.Tagger("upos", "refinement", hidden=1).fit(folder / "train.conllu").save(
        folder / "spectral.certus"
    )
    certus.ConstituencyParser().fit(folder / "trees.mrg").save(folder / "parser.certus")
    return folder


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.output + (f"{done.exception}" if done.exception else "")


@pytest.mark.parametrize("learner", ["crf", "pruned-crf"])
def test_tags(folder: Path, learner: str) -> None:
    path = folder / "tags.jsonl"
    model, dictionary = folder / f"{learner}.certus", folder / "dictionary.txt"
    dictionary.write_text("the\tDET\n", "utf-8")
    constraints = "--dictionary", dictionary
    code, output = run(
        "tag", model, folder / "train.conllu", "--certificate", path, "-o", folder / "o", *constraints
    )
    assert code == 0, output
    code, output = run("verify", path)
    assert code == 0, output
    assert output.startswith("40 certificates: ")
    assert "refuted" not in output
    lines = path.read_text("utf-8").splitlines()
    reader = LineReader()
    held = [both for both in map(reader.read, lines) if both is not None]
    assert len(held) == 40
    assert certus.verify(*held[3])
    if learner == "pruned-crf":  # what sentences have in common stands once
        assert len(lines) == 41
        path.write_text("\n".join(lines[1:]), "utf-8")
        code, output = run("verify", path)
        assert code == 1
        assert "needs 'weights'" in output.replace("\n", " ")


def test_trees(folder: Path) -> None:
    path = folder / "trees.jsonl"
    code, output = run("parse", folder / "parser.certus", folder / "trees.mrg", "--certificate", path)
    assert code == 0, output
    code, output = run("verify", path)
    assert (code, output.split(":")[0]) == (3, "2 certificates")  # sums of logarithms are rounded
    assert "not optimal within the tolerance of 0; the largest gap is" in output.replace("\n", " ")
    code, output = run("verify", path, "--tolerance", "1e-9")
    assert (code, output.split(":")[0]) == (0, "2 certificates")
    lines = path.read_text("utf-8").splitlines()
    changed = json.loads(lines[1])
    changed["certificate"]["proof"]["inside"][0] = -1000
    path.write_text(f"{lines[0]}\n{json.dumps(changed)}\n", "utf-8")
    code, output = run("verify", path)
    assert code == 1
    assert f"{path}:2: refuted: edge " in output.replace("\n", "")
    path.write_text(lines[0][:-9], "utf-8")
    code, output = run("verify", path)
    assert code == 1
    assert f"{path}:1: " in output


def test_the_grammar_certifies(folder: Path) -> None:
    grammar = certus.load(folder / "parser.certus").grammar
    for words in (["the", "dog", "barks"], ["barks", "the"]):
        found = grammar.parse(words, infeasible="return", certificate=True)
        verdict = certus.verify((grammar, words), found)
        assert verdict
        assert (verdict.score is None) == (found.value is None)
    assert certus.verify(
        (grammar, ["the", "dog", "barks"]), grammar.parse(["the", "dog", "barks"], certificate=True)
    )
    with pytest.raises(certus.InvalidInput, match="k must be 1"):
        grammar.parse(["the", "dog", "barks"], k=2, certificate=True)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["tag", "crf.certus", "train.conllu", "-k", "2"], "--certificate is of the best answer"),
        (["tag", "spectral.certus", "train.conllu"], "--certificate is of models that look for the best"),
        (["parse", "parser.certus", "trees.mrg", "-k", "2"], "--certificate is of the best answer"),
    ],
)
def test_what_has_none_is_refused(folder: Path, command: list[str], reason: str) -> None:
    paths = [str(folder / word) if "." in word else word for word in command]
    code, output = run(*paths, "--certificate", folder / "none.jsonl")
    assert code
    assert reason in output
    assert not (folder / "none.jsonl").exists()


def test_exit_codes_say_how_good_an_answer_is(tmp_path: Path) -> None:
    chain, emissions = certus.Chain(np.zeros((2, 2))), np.array([[1.0, 0.0], [0.0, 2.0]])
    problem, held = chain.state_problem(emissions), chain.decode(emissions, certificate=True).certificate
    assert held is not None
    files = {name: tmp_path / f"{name}.json" for name in ("problem", "best", "poor", "none", "wrong")}
    problem.save(files["problem"])
    held.save(files["best"])
    far = [[1e300, 0.0], [0.0, 0.0]]
    certify(problem, [0, 1], {"potentials": far}).save(files["poor"])
    certify(problem, None, {"potentials": [[0.0, 0.0], [0.0, 0.0]]}).save(files["none"])
    replace(held, bound=held.bound and held.bound - 1).save(files["wrong"])
    for name, tolerance, expected in (
        ("best", None, 0),
        ("best", 1, 0),
        ("poor", None, 3),
        ("poor", 1e299, 3),
        ("poor", 1e301, 0),
        ("none", None, 3),
        ("none", 1e9, 3),
        ("wrong", None, 1),
        ("wrong", 1e9, 1),
    ):
        options = [] if tolerance is None else ["--tolerance", str(tolerance)]
        code, output = run("verify", files["problem"], files[name], *options)
        assert code == expected, (name, tolerance, output)
    for refused in ("-1", "nan", "inf"):
        _, output = run("verify", files["problem"], files["best"], "--tolerance", refused)
        assert "it must be a finite number of at least 0" in output


def test_that_nothing_is_possible_is_an_answer(tmp_path: Path) -> None:
    chain, emissions = certus.Chain(np.full((2, 2), -np.inf)), np.zeros((2, 2))
    held = chain.decode(emissions, certificate=True, infeasible="return").certificate
    assert held is not None
    chain.state_problem(emissions).save(tmp_path / "problem.json")
    held.save(tmp_path / "certificate.json")
    code, output = run("verify", tmp_path / "problem.json", tmp_path / "certificate.json")
    assert (code, output.strip()) == (0, "proven: nothing is possible")
