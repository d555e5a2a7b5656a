"""``certus bench translate``: decoders of phrases beside each other: time, certificates, search errors.

Tables 1 and 2 and figure 7 of Rush, Chang and Collins (2013, "Optimal beam search for machine translation"),
on Multi30k with translators that ``certus train translator`` makes, or on tables of Moses.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from certus.errors import InvalidInput
from certus.translate import Beam, Program, Translation
from certus_bench.harness.benchmark import Benchmark, Tell, tell_part
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.timing import time_processor
from certus_bench.translate_report import (
    DECODERS,
    GROUPS,
    OPTIMAL,
    ROUNDS,
    SHORT,
    SHORT_COUNT,
    Gaps,
    Line,
    ProgramTimes,
    TranslatePlan,
    TranslateReport,
)
from certus_bench.translate_systems import Task, prepare_task
from certus_bench.translate_tables import lay_out, make_claims, paint

CALL_PATIENCE = 10.0  # seconds of each call
PROGRAM_PATIENCE = 5.0  # of HiGHS, whose time counts as this where it does not end
PROGRAM_EDGES = 30_000  # of graphs that HiGHS is given: beyond, it does not heed its limit of time
GAP_COUNT = 50  # sentences whose gaps are measured
SAME = 1e-6  # scores that differ by less are equal


def make_plan(
    data: Data = None,
    languages: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Source languages by commas: fr, de; mt for the toy tables, hansard for parliament.",
        ),
    ] = "fr,de",
    limits: Annotated[str, typer.Option(metavar="NUMBERS", help="Distortion limits; -1 for none.")] = "4,6",
    decoders: Annotated[str, typer.Option(metavar="NAMES", help="Which decoders, by commas.")] = ",".join(
        DECODERS
    ).replace(", ", "; "),
    count: Annotated[int, typer.Option(min=1, help="How many sentences to translate.")] = 300,
    seconds: Annotated[
        float,
        typer.Option(min=0.1, help="Processor time after which a decoder is given no more sentences."),
    ] = 5.0,
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
        decoders=tuple(name.replace(";", ",") for name in split_names(decoders)),
        count=count,
        seconds=seconds,
        part=part,
        models=models,
        threads=threads,
    )


def run(plan: TranslatePlan, tell: Tell) -> TranslateReport:
    """Train or open translators, and measure every decoder."""
    report = TranslateReport(plan, describe_machine(find_versions("highspy")))
    parts = [(system, limit) for system in plan.languages for limit in plan.limits]
    task: Task | None = None
    for number, (system, limit) in enumerate(parts):
        tell(f"{system}: opening or training", number / len(parts))
        if task is None or task.system != system:
            task = prepare_task(plan.data, system, plan.part, plan.models, plan.threads)
        inside = tell_part(tell, number / len(parts), (number + 1) / len(parts))
        compare(report, task, limit, *measure(task, plan, limit, inside))
    return report


def measure(
    task: Task, plan: TranslatePlan, limit: int, tell: Tell
) -> tuple[dict[str, list[float]], dict[str, list[Translation]]]:
    """Return the seconds and the answers of each decoder, which take turns until their time is over.

    A first call, which does not count, brings a sentence's phrases into the caches.
    """
    times: dict[str, list[float]] = {name: [] for name in plan.decoders}
    answers: dict[str, list[Translation]] = {name: [] for name in plan.decoders}
    sentences = task.sentences[: plan.count]
    for number, sentence in enumerate(sentences):
        tell(f"{task.system}, limit {limit}: sentence {number + 1}", number / len(sentences))
        call = partial(task.translator.translate, sentence, limit=None if limit < 0 else limit)
        call(seconds=CALL_PATIENCE)
        for name in plan.decoders:
            if sum(times[name]) <= plan.seconds or name == OPTIMAL:
                seconds, answer = time_processor(partial(call, method=DECODERS[name], seconds=CALL_PATIENCE))
                times[name].append(seconds)
                answers[name].append(answer)
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
        report.lower[f"{task.system}, limit {limit}"] = _count_lower(answers)
        _note_longest(report, f"{task.system}, limit {limit}", answers[OPTIMAL])
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


def _count_lower(answers: dict[str, list[Translation]]) -> int:
    """Return how many sentences have an answer that scores more than that of optimal beam search."""
    others = [found for name, found in answers.items() if name != OPTIMAL]
    return sum(
        any(n < len(found) and found[n].score > ours.score + SAME for found in others)
        for n, ours in enumerate(answers[OPTIMAL])
    )


def _note_longest(report: TranslateReport, system: str, answers: Sequence[Translation]) -> None:
    traces = [answer.trace for answer in answers if answer.trace is not None]
    best = max(traces, key=lambda trace: len(trace.bound), default=None)
    if best is not None and (report.longest is None or len(best.bound) > len(report.longest[1].bound)):
        report.longest = system, best


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
    """Measure bounds of the relaxation alone, from zero multipliers: all but what a beam adds in the end."""
    method = Beam(width=1, first_rounds=ROUNDS[-1])
    gaps: dict[int, list[float]] = {rounds: [] for rounds in ROUNDS}
    for n, sentence in enumerate(task.sentences[:GAP_COUNT]):
        if n in best:
            found = task.translator.translate(sentence, method=method, limit=None if limit < 0 else limit)
            bounds = [] if found.trace is None else found.trace.bound[:-1].tolist()
            for rounds in ROUNDS if bounds else ():
                gaps[rounds].append(max(bounds[min(rounds, len(bounds) - 1)] - best[n], 0.0))
    report.gaps += [Gaps(task.system, limit, rounds, gaps[rounds]) for rounds in ROUNDS]


def _add_program(report: TranslateReport, task: Task, limit: int) -> None:
    """Time HiGHS beside optimal beam search on short sentences."""
    try:
        import highspy  # noqa: F401
    except ImportError:
        return
    theirs, ours, solved, given = 0.0, 0.0, 0, 0
    for sentence in (words for words in task.sentences if 0 < len(words) <= SHORT):
        problem = task.translator.make_problem(sentence, limit=None if limit < 0 else limit)
        mine, answer = time_processor(partial(problem.decode, seconds=CALL_PATIENCE))
        try:
            spent, other = time_processor(
                partial(problem.decode, method=Program(edges=PROGRAM_EDGES), seconds=PROGRAM_PATIENCE)
            )
        except InvalidInput:  # too many edges
            continue
        if other.optimal and abs(other.score - answer.score) > 1e-4:
            report.fail([f"{task.system}: HiGHS finds {other.score}, optimal beam search {answer.score}"])
        theirs, ours, solved, given = theirs + spent, ours + mine, solved + other.optimal, given + 1
        if given == SHORT_COUNT:
            break
    if given:
        report.program[f"{task.system}, limit {limit}"] = ProgramTimes(given, solved, theirs, ours)


def _add_bleu(report: TranslateReport, task: Task, limit: int, answers: dict[str, list[Translation]]) -> None:
    from certus.evaluation.translations import measure_translations

    if task.references is None:
        return
    count = min(report.plan.count, len(task.references))
    for name, found in answers.items():
        if len(found) == count:
            try:
                texts = [answer.text for answer in found]
                bleu = measure_translations(task.references[:count], texts).bleu
            except InvalidInput:  # no sacrebleu
                return
            report.bleu.setdefault(f"{task.system}, limit {limit}", {})[name] = bleu


BENCHMARK = Benchmark(
    name="translate", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
