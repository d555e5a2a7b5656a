"""What ``certus bench translate`` translates: translators, trained or kept, and their test sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import certus
from certus.errors import InvalidInput
from certus.models.translator import Translator

TOY, HANSARDS = (
    "mt",
    "hansard",
)  # tables of Moses's kind, without references; French parliament, with held-out pairs
HELD_OUT = 2000  # pairs of the Hansards to tune on, and as many to test on


@dataclass(frozen=True)
class Task:
    """What is translated.

    Attributes:
        system: its name.
        translator: how.
        sentences: all that the corpus has.
        references: their translations, if there are any.
    """

    system: str
    translator: Translator
    sentences: list[list[str]]
    references: list[str] | None


def find_file(data: Path, system: str, part: str) -> Path:
    """Return a file that a system needs."""
    if system == TOY:
        return data / "mt/input"
    return data / ("align/hansard.train.fr" if system == HANSARDS else f"mt/multi30k/{part}.{system}")


def check_system(data: Path, system: str, part: str) -> None:
    """Refuse a system whose corpus is not there."""
    path = find_file(data, system, part)
    if not path.is_file():
        raise InvalidInput(f"there is no {path}: docs/benchmarks.md says which corpora are needed")


def prepare_task(data: Path, system: str, part: str, models: Path | None, threads: int) -> Task:
    """Return a translator and what it translates."""
    if system == TOY:
        folder = data / "mt"
        translator = Translator.from_tables(folder / "tm", certus.load(folder / "lm.arpa"))
        return Task(system, translator, _read(folder / "input"), None)
    read = _read_hansards if system == HANSARDS else _read_multi30k
    train, dev, test = read(data, system, part)
    kept = None if models is None else models / f"{system}.certus"
    if kept is not None and kept.is_file():
        translator = Translator.load(kept)
    else:
        sides = [pair[0] for pair in train], [pair[1] for pair in train]
        tuned = [pair[0] for pair in dev], [pair[1] for pair in dev]
        translator = Translator().fit(*sides, dev=tuned, threads=threads)
        if kept is not None:
            translator.save(kept)
    return Task(system, translator, [pair[0] for pair in test], [" ".join(pair[1]) for pair in test])


Pairs = list[tuple[list[str], list[str]]]


def _read_multi30k(data: Path, system: str, part: str) -> tuple[Pairs, Pairs, Pairs]:
    folder = data / "mt/multi30k"
    train, dev, test = (
        list(zip(_read(folder / f"{name}.{system}"), _read(folder / f"{name}.en"), strict=True))
        for name in ("train", "val", part)
    )
    return train, dev, test


def _read_hansards(data: Path, system: str, part: str) -> tuple[Pairs, Pairs, Pairs]:
    """Return the different pairs; the first of every so many is to tune on, and one half way on to test."""
    folder = data / "align"
    sides = (folder / f"hansard.train.{side}" for side in ("fr", "en"))
    lines = dict.fromkeys(
        zip(*(path.read_text(encoding="utf-8").splitlines() for path in sides), strict=True)
    )
    pairs = [(source.split(), target.split()) for source, target in lines]
    pairs = [pair for pair in pairs if pair[0] and pair[1]]
    step = max(2, len(pairs) // HELD_OUT)
    parts: tuple[Pairs, Pairs, Pairs] = ([], [], [])
    for number, pair in enumerate(pairs):
        parts[{0: 1, step // 2: 2}.get(number % step, 0)].append(pair)
    return parts


def _read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
