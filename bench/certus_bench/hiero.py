"""``certus bench hiero``: decoders of hierarchical grammars: time, certificates, search errors.

The comparisons with cube pruning and with linear and integer programs of Rush and Collins (2011, "Exact
decoding of syntactic translation models through Lagrangian relaxation", section 7), on Multi30k with
translators that ``certus train translator --model hierarchical`` makes.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from certus.models.translator import Translator
from certus.translate import Translation
from certus_bench.harness.benchmark import Benchmark, Tell, keep_quiet
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.timing import time_processor
from certus_bench.hiero_report import (
    DECODERS,
    LIMITS,
    PATIENCE,
    SLOW,
    DecoderRow,
    HieroPlan,
    HieroReport,
    lay_out,
    make_claims,
)

SAME = 1e-6  # scores that differ by less are equal


def make_plan(
    data: Data = None,
    *,
    language: Annotated[str, typer.Option(help="The source language: de or fr.", metavar="NAME")] = "de",
    part: Annotated[
        str, typer.Option(help="What to translate: val or test2016.", metavar="NAME")
    ] = "test2016",
    count: Annotated[int, typer.Option(min=1, help="How many sentences.", metavar="NUMBER")] = 300,
    longest: Annotated[
        int, typer.Option(min=1, help="The most words of those that are translated.", metavar="NUMBER")
    ] = 1000,
    decoders: Annotated[
        str,
        typer.Option(help=f"Which decoders, by commas. There are also {', '.join(SLOW)}.", metavar="NAMES"),
    ] = ",".join(DECODERS),
    order: Annotated[
        int, typer.Option(min=1, help="The order of the language model that is trained.", metavar="NUMBER")
    ] = 3,
    options: Annotated[
        int,
        typer.Option(
            min=1,
            help="The most target sides for each source side: fewer make smaller forests.",
            metavar="NUMBER",
        ),
    ] = 20,
    seconds: Annotated[
        float, typer.Option(min=0.001, help="The most time that a sentence may take.", metavar="NUMBER")
    ] = PATIENCE,
    model: Annotated[
        Path | None, typer.Option(help="The translator; it is trained and kept here if there is none.")
    ] = None,
    threads: Annotated[
        int, typer.Option(min=1, help="How many threads train the model.", metavar="NUMBER")
    ] = 1,
) -> HieroPlan:
    """Compare exact search with cube pruning on hierarchical grammars: time, share proven, search errors.

    Proven answers are held against those of all others; if one is better, the exit code is 1.
    """
    return HieroPlan(
        data=require_data(data),
        language=language,
        part=part,
        count=count,
        longest=longest,
        decoders=split_names(decoders),
        order=order,
        options=options,
        seconds=seconds,
        model=model,
        threads=threads,
    )


def prepare(plan: HieroPlan) -> Translator:
    """Return the translator."""
    if plan.model is not None and plan.model.is_file():
        return Translator.load(plan.model)
    folder = plan.data / "mt/multi30k"
    sides = _read(folder / f"train.{plan.language}"), _read(folder / "train.en")
    dev = _read(folder / f"val.{plan.language}"), _read(folder / "val.en")
    translator = Translator(model="hierarchical", order=plan.order).fit(*sides, dev=dev, threads=plan.threads)
    if plan.model is not None:
        translator.save(plan.model)
    return translator


def _read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def run(plan: HieroPlan, tell: Tell = keep_quiet) -> HieroReport:
    """Let every decoder translate every sentence."""
    report = HieroReport(plan, describe_machine(find_versions("highspy")))
    tell("the translator", 0)
    translator = prepare(plan)
    translator.options = replace(translator.options, options=plan.options)
    lines = _read(plan.data / f"mt/multi30k/{plan.part}.{plan.language}")[: plan.count]
    sentences = [line for line in lines if len(line) <= plan.longest]
    report.sentences = len(sentences)
    times: dict[str, list[float]] = {}
    answers: dict[str, list[Translation]] = {}
    for number, name in enumerate(plan.decoders):
        tell(name, number / len(plan.decoders))
        method = (DECODERS | SLOW)[name]
        measured = [
            time_processor(partial(translator.translate, sentence, method=method, seconds=plan.seconds))
            for sentence in sentences
        ]
        times[name] = [seconds for seconds, _ in measured]
        answers[name] = [answer for _, answer in measured]
    compare(report, times, answers)
    return report


def compare(
    report: HieroReport, times: dict[str, list[float]], answers: dict[str, list[Translation]]
) -> None:
    """Add what the decoders came to; every claim of an optimum is held against all others."""
    best = [max(found[n].score for found in answers.values()) for n in range(report.sentences)]
    for name, found in answers.items():
        behind = [best[n] - answer.score > SAME for n, answer in enumerate(found)]
        for n, answer in enumerate(found):
            if (answer.optimal and behind[n]) or answer.bound < best[n] - SAME:
                report.fail([f"sentence {n}: {name} proves {answer.bound}, and there is {best[n]}"])
        report.rows.append(
            DecoderRow(
                name,
                statistics.median(times[name]),
                statistics.mean(times[name]),
                max(times[name]),
                100 * statistics.mean(answer.optimal for answer in found),
                100 * statistics.mean(behind),
                statistics.mean(answer.stats.get("items", 0) for answer in found),
                [_measure_share(times[name], found, limit) for limit in LIMITS],
                [answer.stats["parts"] for answer in found if answer.optimal and answer.stats.get("parts")],
                _measure_fractional(found) if name == "lp" else None,
            )
        )
    found = next(iter(answers.values()))
    report.edges = statistics.median(answer.stats.get("edges", 0) for answer in found)


def _measure_share(seconds: list[float], found: list[Translation], limit: float) -> float:
    """Return the share of sentences, in percent, that were proven in time."""
    done = zip(seconds, found, strict=True)
    return 100 * statistics.mean(answer.optimal and spent <= limit for spent, answer in done)


def _measure_fractional(found: list[Translation]) -> float | None:
    """Return the share of linear programs, in percent, whose solution is no derivation."""
    solved = [answer for answer in found if answer.bound < math.inf]
    return 100 * statistics.mean(not answer.optimal for answer in solved) if solved else None


BENCHMARK = Benchmark(name="hiero", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
