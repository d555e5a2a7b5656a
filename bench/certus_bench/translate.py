"""``certus bench translate``: decoders of phrases beside each other: time, certificates, search errors.

Tables 1 and 2 and figure 7 of Rush, Chang and Collins (2013, "Optimal beam search for machine translation"),
on Multi30k with translators that ``certus train translator`` makes, or on tables of Moses.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group

import certus
from certus.errors import InvalidInput
from certus.models.translator import Translator
from certus.translate import AStar, Beam, Lagrangian, Method, OptimalBeam, Program, Stack, Translation
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import time_processor

OPTIMAL, RELAXED, PROGRAM = "optimal-beam", "lagrangian", "HiGHS"
TOY = "mt"  # the tables of Moses's kind, without references
# By name: the method, and the most sentences that it is timed on.
DECODERS: dict[str, tuple[Method, int]] = {
    OPTIMAL: (OptimalBeam(), 1_000_000),
    "beam 100": (Beam(width=100), 1_000_000),
    "beam 1000": (Beam(width=1000), 1_000_000),
    "beam 100000": (Beam(width=100_000), 20),
    "stack 100": (Stack(width=100), 1_000_000),
    "stack 1000": (Stack(width=1000), 1_000_000),
    "stack 100, gaps": (Stack(width=100, gaps=True), 1_000_000),
    "stack 1000, gaps": (Stack(width=1000, gaps=True), 1_000_000),
    "A*": (AStar(pops=200_000), 50),
    RELAXED: (Lagrangian(), 100),
}
GROUPS = ((1, 10), (11, 20), (21, 30), (31, 1000))
ROUNDS = (1, 6, 11)  # of relaxation: the first is without multipliers
SHORT = 6  # words of sentences that HiGHS is given
SHORT_COUNT = 5
PATIENCE = 30.0  # seconds of each call
PROGRAM_PATIENCE = 5.0  # of HiGHS, whose time counts as this where it does not end
PROGRAM_EDGES = 30_000  # of graphs that HiGHS is given: beyond, it does not heed its limit of time
GAP_COUNT = 50  # sentences whose gaps are measured
SAME = 1e-6  # scores that differ by less are equal


@dataclass(frozen=True, kw_only=True)
class TranslatePlan:
    """What to translate, and how."""

    data: Path
    languages: tuple[str, ...] = ("fr", "de")
    limits: tuple[int, ...] = (4, 6)
    decoders: tuple[str, ...] = tuple(DECODERS)
    count: int = 300
    part: str = "test2016"
    models: Path | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = next((name for name in self.decoders if name not in DECODERS), None)
        if unknown is not None:
            raise InvalidInput(f"there is no decoder {unknown!r}; there are {', '.join(DECODERS)}")
        for language in self.languages:
            path = self.data / ("mt/input" if language == TOY else f"mt/multi30k/{self.part}.{language}")
            if not path.is_file():
                raise InvalidInput(f"there is no {path}: docs/benchmarks.md says which corpora are needed")


def make_plan(
    data: Data = None,
    languages: Annotated[
        str, typer.Option(metavar="NAMES", help="Source languages by commas: fr, de; mt for the toy tables.")
    ] = "fr,de",
    limits: Annotated[str, typer.Option(metavar="NUMBERS", help="Distortion limits; -1 for none.")] = "4,6",
    decoders: Annotated[str, typer.Option(metavar="NAMES", help="Which decoders, by commas.")] = ",".join(
        DECODERS
    ).replace(", gaps", "; gaps"),
    count: Annotated[int, typer.Option(min=1, help="How many sentences to translate.")] = 300,
    part: Annotated[str, typer.Option(metavar="NAME", help="Which part of Multi30k.")] = "test2016",
    models: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where translators are kept, as fr.certus.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of training.")] = 1,
) -> TranslatePlan:
    """Translate with every decoder: seconds, certificates and search errors by length of sentences."""
    return TranslatePlan(
        data=require_data(data),
        languages=split_names(languages),
        limits=tuple(int(limit) for limit in split_names(limits)),
        decoders=tuple(name.replace("; gaps", ", gaps") for name in split_names(decoders)),
        count=count,
        part=part,
        models=models,
        threads=threads,
    )


@dataclass(frozen=True)
class Line:
    """One decoder on the sentences of one length.

    Attributes:
        words: the shortest and the longest.
        sentences: how many were translated.
        seconds: of processor time, the mean.
        median: the same, the median.
        certified: the share that was proven optimal, in percent.
        exact: the share whose score is the best, where that is known, in percent.
    """

    system: str
    limit: int
    decoder: str
    words: tuple[int, int]
    sentences: int
    seconds: float
    median: float
    certified: float
    exact: float


@dataclass(frozen=True)
class Gaps:
    """How far bounds are from the optimum.

    Attributes:
        rounds: of relaxation.
        gaps: for each sentence that was proven.
    """

    system: str
    limit: int
    rounds: int
    gaps: list[float]


@dataclass
class TranslateReport(BenchmarkReport):
    """What was found.

    Attributes:
        lines: by system, limit, decoder and length.
        parts: the shares of graph, relaxation and beams in the time of optimal beam search, by system.
        gaps: after some rounds.
        program: seconds of HiGHS and of optimal beam search on short sentences.
        bleu: by system and decoder, where sacrebleu is installed.
        slowest: the longest time of optimal beam search.
        first: for each system and limit, the seconds of optimal beam search, sentence by sentence.
    """

    plan: TranslatePlan
    lines: list[Line] = field(default_factory=list)
    parts: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    gaps: list[Gaps] = field(default_factory=list)
    program: dict[str, tuple[float, float]] = field(default_factory=dict)
    bleu: dict[str, dict[str, float]] = field(default_factory=dict)
    slowest: float = 0.0
    first: dict[str, list[float]] = field(default_factory=dict)

    def find(self, system: str, limit: int, decoder: str) -> Line | None:
        """Return the line over all lengths."""
        key = system, limit, decoder, (1, 1000)
        return next((x for x in self.lines if (x.system, x.limit, x.decoder, x.words) == key), None)


@dataclass
class Task:
    """What is translated."""

    system: str
    translator: Translator
    sentences: list[list[str]]
    references: list[str] | None


def run(plan: TranslatePlan, tell: Tell) -> TranslateReport:
    """Train or open translators, and measure every decoder."""
    report = TranslateReport(plan, describe_machine({}))
    total = len(plan.languages) * len(plan.limits) * len(plan.decoders)
    done = 0
    for system in plan.languages:
        tell(f"{system}: opening or training", done / total)
        task = prepare(plan, system)
        for limit in plan.limits:
            answers: dict[str, list[Translation]] = {}
            times: dict[str, list[float]] = {}
            for name in plan.decoders:
                tell(f"{system}, limit {limit}: {name}", done / total)
                times[name], answers[name] = measure(task, limit, name)
                done += 1
            compare(report, task, limit, times, answers)
    return report


def prepare(plan: TranslatePlan, system: str) -> Task:
    """Return a translator and what it translates."""
    if system == TOY:
        folder = plan.data / "mt"
        model = certus.load(folder / "lm.arpa")
        lines = _read(folder / "input")[: plan.count]
        return Task(system, Translator.from_tables(folder / "tm", model), lines, None)
    folder = plan.data / "mt/multi30k"
    kept = None if plan.models is None else plan.models / f"{system}.certus"
    if kept is not None and kept.is_file():
        translator = Translator.load(kept)
    else:
        dev = _read(folder / f"val.{system}"), _read(folder / "val.en")
        sides = _read(folder / f"train.{system}"), _read(folder / "train.en")
        translator = Translator().fit(*sides, dev=dev, threads=plan.threads)
        if kept is not None:
            translator.save(kept)
    references = [" ".join(words) for words in _read(folder / f"{plan.part}.en")[: plan.count]]
    return Task(system, translator, _read(folder / f"{plan.part}.{system}")[: plan.count], references)


def _read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def measure(task: Task, limit: int, name: str) -> tuple[list[float], list[Translation]]:
    """Return the seconds and the answer of each sentence that a decoder is timed on."""
    method, most = DECODERS[name]
    times, answers = [], []
    for sentence in task.sentences[:most]:
        seconds, answer = time_processor(
            partial(
                task.translator.translate,
                sentence,
                method=method,
                limit=None if limit < 0 else limit,
                seconds=PATIENCE,
            )
        )
        times.append(seconds)
        answers.append(answer)
    return times, answers


def compare(
    report: TranslateReport,
    task: Task,
    limit: int,
    times: dict[str, list[float]],
    answers: dict[str, list[Translation]],
) -> None:
    """Add what the decoders came to; every claim of an optimum is held against all others."""
    best = _find_optima(report, task, answers)
    for name in answers:
        for words in (*GROUPS, (1, 1000)):
            inside = [n for n in range(len(answers[name])) if words[0] <= len(task.sentences[n]) <= words[1]]
            if inside:
                report.lines.append(
                    _make_line(task.system, limit, name, words, inside, times[name], answers[name], best)
                )
    if OPTIMAL in answers:
        report.slowest = max(report.slowest, *times[OPTIMAL])
        report.first[f"{task.system}, limit {limit}"] = times[OPTIMAL]
        _add_parts(report, f"{task.system}, limit {limit}", answers[OPTIMAL])
        _add_gaps(report, task, limit, best)
        _add_program(report, task, limit)
    _add_bleu(report, task, limit, answers)


def _find_optima(
    report: TranslateReport, task: Task, answers: dict[str, list[Translation]]
) -> dict[int, float]:
    """Return the proven optimum of each sentence; note whoever scores more, or proves something else."""
    best: dict[int, float] = {}
    for name, found in answers.items():
        for n, answer in enumerate(found):
            if answer.optimal and abs(best.setdefault(n, answer.score) - answer.score) > SAME:
                report.fail([f"{task.system}: {name} proves another optimum of sentence {n}"])
    for name, found in answers.items():
        for n, answer in enumerate(found):
            if n in best and answer.score > best[n] + SAME:
                report.fail([f"{task.system}: {name} scores more than the optimum of sentence {n}"])
            if n in best and answer.bound < best[n] - SAME:
                report.fail([f"{task.system}: {name} has a bound below the optimum of sentence {n}"])
    return best


def _make_line(
    system: str,
    limit: int,
    name: str,
    words: tuple[int, int],
    inside: Sequence[int],
    times: Sequence[float],
    answers: Sequence[Translation],
    best: dict[int, float],
) -> Line:
    seconds = [times[n] for n in inside]
    known = [n for n in inside if n in best]
    exact = sum(abs(answers[n].score - best[n]) <= SAME for n in known)
    return Line(
        system,
        limit,
        name,
        words,
        len(inside),
        statistics.fmean(seconds),
        statistics.median(seconds),
        100 * sum(answers[n].optimal for n in inside) / len(inside),
        100 * exact / max(len(known), 1),
    )


def _add_parts(report: TranslateReport, system: str, answers: Sequence[Translation]) -> None:
    sums = [0.0, 0.0, 0.0]
    for answer in answers:
        if answer.times is not None:
            parts = answer.times.graph, answer.times.relaxation, answer.times.beam
            sums = [a + b for a, b in zip(sums, parts, strict=True)]
    whole = sum(sums) or 1.0
    report.parts[system] = (100 * sums[0] / whole, 100 * sums[1] / whole, 100 * sums[2] / whole)


def _add_gaps(report: TranslateReport, task: Task, limit: int, best: dict[int, float]) -> None:
    for rounds in ROUNDS:
        gaps = []
        for n, sentence in enumerate(task.sentences[:GAP_COUNT]):
            if n in best:
                method = Lagrangian(rounds=rounds)
                found = task.translator.translate(sentence, method=method, limit=None if limit < 0 else limit)
                gaps.append(max(found.bound - best[n], 0.0))
        report.gaps.append(Gaps(task.system, limit, rounds - 1, gaps))


def _add_program(report: TranslateReport, task: Task, limit: int) -> None:
    """Time HiGHS beside optimal beam search on the shortest sentences."""
    try:
        import highspy  # noqa: F401
    except ImportError:
        return
    short = [s for s in task.sentences if 0 < len(s) <= SHORT][:SHORT_COUNT]
    spent = [0.0, 0.0]
    for sentence in short:
        problem = task.translator.make_problem(sentence, limit=None if limit < 0 else limit)
        ours, answer = time_processor(partial(problem.decode, seconds=PATIENCE))
        try:
            theirs, other = time_processor(
                partial(problem.decode, method=Program(edges=PROGRAM_EDGES), seconds=PROGRAM_PATIENCE)
            )
        except InvalidInput:  # too many edges
            continue
        if other.optimal and abs(other.score - answer.score) > 1e-4:
            report.fail([f"{task.system}: HiGHS finds {other.score}, optimal beam search {answer.score}"])
        spent = [spent[0] + theirs, spent[1] + ours]
    if spent[0]:
        report.program[f"{task.system}, limit {limit}"] = (spent[0], spent[1])


def _add_bleu(report: TranslateReport, task: Task, limit: int, answers: dict[str, list[Translation]]) -> None:
    from certus.evaluation.translations import measure_translations

    if task.references is None:
        return
    for name, found in answers.items():
        if len(found) == len(task.references):
            try:
                bleu = measure_translations(task.references, [answer.text for answer in found]).bleu
            except InvalidInput:  # no sacrebleu
                return
            report.bleu.setdefault(f"{task.system}, limit {limit}", {})[name] = bleu


def make_claims(report: TranslateReport) -> list[Claim]:
    """Return what has to hold."""
    claims = []
    for system in report.plan.languages:
        for limit in report.plan.limits:
            where = f"{system}, limit {limit}"
            ours, theirs = report.find(system, limit, OPTIMAL), report.find(system, limit, RELAXED)
            if ours is None:
                continue
            needed = 100.0 if system == TOY else 99.5
            claims.append(Claim(f"{where}: certified", needed, True, ours.certified, " %"))
            claims.append(Claim(f"{where}: median seconds", 0.3, False, ours.median, " s"))
            claims.append(Claim(f"{where}: mean seconds", 1.0, False, ours.seconds, " s"))
            if theirs is not None:
                same = statistics.fmean(report.first[where][: theirs.sentences])
                claims.append(
                    Claim(f"{where}: over relaxation alone", 3.5, True, divide(theirs.seconds, same))
                )
            program = report.program.get(where)
            if program is not None:
                claims.append(Claim(f"{where}: over HiGHS", 50, True, divide(program[0], program[1])))
    return claims


def lay_out(report: TranslateReport) -> Iterator[Group | str]:
    """Yield a table for each system and limit, and those of parts, gaps and BLEU."""
    for system in report.plan.languages:
        for limit in report.plan.limits:
            table = make_table(
                "decoder", "words", "sentences", "mean s", "median s", "certified %", "exact %"
            )
            for line in report.lines:
                if (line.system, line.limit) == (system, limit):
                    name = "all" if line.words == (1, 1000) else f"{line.words[0]}–{line.words[1]}"
                    figures = f"{line.seconds:.3f}", f"{line.median:.3f}", f"{line.certified:.1f}"
                    table.add_row(line.decoder, name, str(line.sentences), *figures, f"{line.exact:.1f}")
            yield add_title(f"{system}, distortion limit {limit}", table)
    table = make_table("optimal beam search", "graph %", "relaxation %", "beams %")
    for system, parts in report.parts.items():
        table.add_row(system, *(f"{part:.1f}" for part in parts))
    yield add_title("where the time goes", table)
    table = make_table("rounds of relaxation", "system", "median gap", "mean gap", "gap below 0.001 %")
    for one in report.gaps:
        if one.gaps:
            closed = 100 * sum(gap < 1e-3 for gap in one.gaps) / len(one.gaps)
            figures = (
                f"{statistics.median(one.gaps):.3f}",
                f"{statistics.fmean(one.gaps):.3f}",
                f"{closed:.1f}",
            )
            table.add_row(str(one.rounds), f"{one.system}, limit {one.limit}", *figures)
    yield add_title("gaps", table)
    table = make_table("BLEU", *DECODERS)
    for system, found in report.bleu.items():
        table.add_row(system, *(f"{found[name]:.2f}" if name in found else "" for name in DECODERS))
    yield add_title("BLEU of all sentences", table)


def paint(report: TranslateReport) -> Any:
    """Draw how many sentences have a gap of at most so much, after some rounds of relaxation."""
    if not any(one.gaps for one in report.gaps):
        raise pictures.NothingToDraw("no gap was measured")
    figure = pictures.make_figure(7, 4.2)
    axes = figure.subplots()
    first = report.gaps[0]
    colours = (pictures.RED, pictures.BLUE, pictures.TEAL)
    for one, colour in zip(report.gaps[: len(ROUNDS)], colours, strict=False):
        gaps = sorted(one.gaps)
        shares = [100 * (n + 1) / len(gaps) for n in range(len(gaps))]
        axes.plot(gaps, shares, color=colour, label=f"{one.rounds} rounds")
    pictures.dress_axes(
        axes, f"Bounds of {first.system}, distortion limit {first.limit}", "gap", "% of sentences"
    )
    return figure


BENCHMARK = Benchmark(
    name="translate", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
