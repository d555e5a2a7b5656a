"""``certus bench dependency``: parsers of three orders, projective and not, on several treebanks.

Tables 1 and 3 of Koo et al. (2010, "Dual decomposition for parsing with non-projective head automata"): MST,
siblings, grandparents and siblings; how many trees are proven; seconds per sentence. Tuned on dev, tested on
test; tags, morphology and lemmas are those of the treebank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group

from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput
from certus.formats import read
from certus.learn.arcs.options import ALGORITHMS, LEARN_FROM, PRUNING_FEATURES, ArcOptions
from certus.models.dependency_parser import DependencyParser
from certus.solution import Status
from certus_bench.dependency_paper import PaperTrial, hold_against_paper
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import time_processor

# By name, the files to learn from, to stop by and to test on; None where there are none to stop by.
TREEBANKS: dict[str, tuple[str, str | None, str]] = {
    "ewt": ("ud/en_ewt/train.conllu", "ud/en_ewt/dev.conllu", "ud/en_ewt/test.conllu"),
    "bosque": ("ud/pt_bosque/train.conllu", "ud/pt_bosque/dev.conllu", "ud/pt_bosque/test.conllu"),
    "talbanken": (
        "ud/sv_talbanken/train.conllu",
        "ud/sv_talbanken/dev.conllu",
        "ud/sv_talbanken/test.conllu",
    ),
    "szeged": ("ud/hu_szeged/train.conllu", "ud/hu_szeged/dev.conllu", "ud/hu_szeged/test.conllu"),
    "basque": ("morph/basque/train.conll", None, "morph/basque/test.conll"),
}
ENCODINGS = {"basque": "latin-1"}  # of treebanks that are not in UTF-8
# UAS and LAS that the parser of order 3 has to reach on test.
NEEDED = {"ewt": (90.0, 88.0), "bosque": (91.0, 88.5), "talbanken": (84.5, 81.5), "szeged": (83.0, 79.5)}
SYSTEMS = {
    "arcs": (1, "no"),
    "siblings": (2, "no"),
    "grandparents": (3, "no"),
    "projective arcs": (1, "yes"),
    "projective siblings": (2, "yes"),
    "projective grandparents": (3, "yes"),
}
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 1000))


@dataclass(frozen=True, kw_only=True)
class DependencyPlan:
    """What to learn from and what to learn."""

    data: Path
    treebanks: tuple[str, ...] = tuple(TREEBANKS)
    systems: tuple[str, ...] = tuple(SYSTEMS)
    epochs: int = 8
    algorithm: str = "mira"
    learn_from: str = "trees"
    pruning: float = ArcOptions.pruning
    pruning_features: str = ArcOptions.pruning_features
    sentences: int = 1_000_000
    sample: int = 1_000_000
    programs: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        for what, names, known in (
            ("treebank", self.treebanks, TREEBANKS),
            ("system", self.systems, SYSTEMS),
            ("algorithm", (self.algorithm,), ALGORITHMS),
            ("way to learn", (self.learn_from,), LEARN_FROM),
            ("kind of features", (self.pruning_features,), PRUNING_FEATURES),
        ):
            unknown = next((name for name in names if name not in known), None)
            if unknown is not None:
                raise InvalidInput(f"there is no {what} {unknown!r}; there are {', '.join(known)}")
        for name in self.treebanks:
            for file in filter(None, TREEBANKS[name]):
                if not (self.data / file).is_file():
                    raise InvalidInput(
                        f"there is no {self.data / file}: docs/benchmarks.md says which corpora are needed"
                    )


def make_plan(
    data: Data = None,
    treebanks: Annotated[str, typer.Option(metavar="NAMES", help="Which treebanks, by commas.")] = ",".join(
        TREEBANKS
    ),
    systems: Annotated[str, typer.Option(metavar="NAMES", help="Which parsers, by commas.")] = ",".join(
        SYSTEMS
    ),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training data.")] = 8,
    algorithm: Annotated[
        str, typer.Option(help="How to learn: mira, or perceptron as in the paper.")
    ] = "mira",
    learn_from: Annotated[
        str, typer.Option(help="Learn crossing trees from: trees, or automata as in the paper.")
    ] = "trees",
    pruning: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out heads less likely than this many times the best one."),
    ] = ArcOptions.pruning,
    pruning_features: Annotated[
        str, typer.Option(help="What heads are left out by: tags, or arcs for all features of arcs.")
    ] = ArcOptions.pruning_features,
    sentences: Annotated[int, typer.Option(min=1, help="How many trees to learn from.")] = 1_000_000,
    sample: Annotated[
        int, typer.Option(min=1, help="How many test sentences to parse, evenly spread.")
    ] = 1_000_000,
    programs: Annotated[
        int, typer.Option(min=0, help="How many test sentences to solve as linear and integer programs.")
    ] = 0,
) -> DependencyPlan:
    """Train dependency parsers of three orders and test them: UAS, LAS, proofs, speed, training time."""
    return DependencyPlan(
        data=require_data(data),
        treebanks=split_names(treebanks),
        systems=split_names(systems),
        epochs=epochs,
        algorithm=algorithm,
        learn_from=learn_from,
        pruning=pruning,
        pruning_features=pruning_features,
        sentences=sentences,
        sample=sample,
        programs=programs,
    )


@dataclass(frozen=True)
class Trial:
    """A parser on the test part of a treebank.

    Attributes:
        uas: the share of words with the right head, in percent.
        las: with the right relation too, subtypes apart; universal relations, as in the CoNLL 2018 task.
        proven: the share of sentences whose tree is proven to be the best over the arcs scored, in percent.
        training: seconds of processor time.
        rate: words parsed per second of processor time, features included, on one thread.
        rates: the same by lengths of sentences.
        paper: what the methods of the paper do, where trees may cross and more than arcs is scored.
    """

    treebank: str
    system: str
    sentences: int
    words: int
    uas: float
    las: float
    proven: float
    training: float
    rate: float
    rates: dict[str, float]
    paper: PaperTrial | None = None


@dataclass
class DependencyReport(BenchmarkReport):
    """What was found."""

    plan: DependencyPlan
    trials: list[Trial] = field(default_factory=list)

    def find(self, treebank: str, system: str) -> Trial | None:
        """Return the trial of a parser on a treebank, if it was made."""
        return next((t for t in self.trials if (t.treebank, t.system) == (treebank, system)), None)


def run(plan: DependencyPlan, tell: Tell) -> DependencyReport:
    """Train and test every parser on every treebank."""
    report = DependencyReport(plan, describe_machine(find_versions("highspy")))
    pairs = [(treebank, system) for treebank in plan.treebanks for system in plan.systems]
    for done, (treebank, system) in enumerate(pairs):
        tell(f"{treebank}: {system}", done / len(pairs))
        report.trials.append(try_system(plan, treebank, system, report))
    return report


def try_system(plan: DependencyPlan, treebank: str, system: str, report: DependencyReport) -> Trial:
    """Train a parser and test it."""
    train, dev, test = (None if file is None else plan.data / file for file in TREEBANKS[treebank])
    order, projective = SYSTEMS[system]
    encoding = ENCODINGS.get(treebank, "utf-8")
    known = list(islice(read(str(train), encoding=encoding), plan.sentences))
    held_out = None if dev is None else list(read(str(dev), encoding=encoding))
    parser = DependencyParser(
        order=order,
        projective=projective,
        epochs=plan.epochs,
        algorithm=plan.algorithm,
        learn_from=plan.learn_from if is_relaxed(order, projective) else "trees",
        pruning=plan.pruning,
        pruning_features=plan.pruning_features,
    )
    training, _ = time_processor(partial(parser.fit, known, held_out))
    gold = list(read(str(test), encoding=encoding))
    gold = gold[:: max(1, len(gold) // plan.sample)]
    seconds, answers = time_processor(partial(parser.parse_batch, gold))
    for sentence, answer in zip(gold, answers, strict=True):
        if answer.score > answer.bound + 1e-6 * max(1, abs(answer.score)):
            report.fail([f"{treebank}, {system}: {sentence.source}:{sentence.line} scores above its bound"])
    words = sum(map(len, gold))
    uas, las = score(gold, answers)
    trial = Trial(
        treebank,
        system,
        len(gold),
        words,
        uas,
        las,
        100 * float(np.mean([answer.status is not Status.SECONDS for answer in answers])),
        training,
        words / seconds,
        measure_rates(parser, gold),
    )
    if not is_relaxed(order, projective):
        return trial
    paper, faults = hold_against_paper(parser, gold, plan.programs)
    report.fail([f"{treebank}, {system}: {fault}" for fault in faults])
    return replace(trial, paper=paper)


def is_relaxed(order: int, projective: str) -> bool:
    """Whether trees are found by dual decomposition."""
    return order > 1 and projective == "no"


def score(gold: Sequence[Sentence], answers: Sequence[Any]) -> tuple[float, float]:
    """Return UAS and LAS in percent, relations without their subtypes."""
    heads = labelled = words = 0
    for sentence, answer in zip(gold, answers, strict=True):
        columns = sentence.columns
        for head, relation, found, named in zip(
            columns["head"], columns["deprel"], answer.heads, answer.relations, strict=True
        ):
            right = head == str(found)
            heads += right
            labelled += right and relation.partition(":")[0] == named.partition(":")[0]
            words += 1
    return 100 * heads / words, 100 * labelled / words


def measure_rates(parser: DependencyParser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return words per second for sentences of each length."""
    rates = {}
    for low, high in LENGTHS:
        some = [sentence for sentence in gold if low <= len(sentence) <= high][:200]
        if some:
            seconds, _ = time_processor(partial(parser.parse_batch, some))
            rates[f"{low}–{high}" if high < 1000 else f"{low} and more"] = sum(map(len, some)) / seconds
    return rates


def make_claims(report: DependencyReport) -> list[Claim]:
    """Return what has to hold."""
    claims = []
    for name, (uas, las) in NEEDED.items():
        best = [t for t in report.trials if t.treebank == name and t.system.endswith("grandparents")]
        chosen = max(best, key=lambda trial: trial.las, default=None)
        claims += [
            Claim(f"UAS on {name}, order 3", uas, True, None if chosen is None else chosen.uas, "%"),
            Claim(f"LAS on {name}, order 3", las, True, None if chosen is None else chosen.las, "%"),
        ]
    proven = [trial.proven for trial in report.trials]
    claims.append(Claim("trees proven, the fewest", 100, True, min(proven, default=None), "%"))
    for name in report.plan.treebanks:
        claims += _hold_against_paper(report, name)
    rates = {"projective arcs": 60_000, "projective grandparents": 20_000, "grandparents": 5_000}
    for system, needed in rates.items():
        trial = report.find("ewt", system)
        claims.append(
            Claim(
                f"words per second on ewt, {system}", needed, True, None if trial is None else trial.rate, ""
            )
        )
    return claims


def _hold_against_paper(report: DependencyReport, treebank: str) -> list[Claim]:
    """Return what has to hold of certificates in 5,000 iterations, and of the cost of proving the rest."""
    claims = []
    for system in ("siblings", "grandparents"):
        trial = report.find(treebank, system)
        if trial is None or trial.paper is None:
            continue
        most = trial.paper.limited[0]
        claims += [
            Claim(f"certificates in {most.iterations:,} iterations, {treebank}, {system}", 98, True,
                  most.proven, "%"),
            Claim(f"time of the proof over that of stopping, {treebank}, {system}", 1.3, False,
                  most.whole / most.seconds),
        ]  # fmt: skip
    return claims


def lay_out(report: DependencyReport) -> Iterator[Group | str]:
    """Yield what was found."""
    for treebank in report.plan.treebanks:
        table = make_table("", "UAS", "LAS", "proven %", "words/CPU s", "training CPU s")
        trials = [trial for trial in report.trials if trial.treebank == treebank]
        for t in trials:
            figures = (
                f"{t.uas:.2f}",
                f"{t.las:.2f}",
                f"{t.proven:.2f}",
                f"{t.rate:,.0f}",
                f"{t.training:.0f}",
            )
            table.add_row(t.system, *figures)
        if trials:
            yield add_title(
                f"{treebank}: {trials[0].sentences:,} sentences, {trials[0].words:,} words", table
            )
        yield from lay_out_paper(treebank, [trial for trial in trials if trial.paper is not None])


def lay_out_paper(treebank: str, trials: Sequence[Trial]) -> Iterator[Group]:
    """Yield what the methods of the paper do."""
    table = make_table(
        "",
        "iterations",
        "certified %",
        "same tree %",
        "UAS",
        "ms/sentence",
        "ms to the proof",
        "automata solved %",
        "proven by branching %",
    )
    for trial in trials:
        assert trial.paper is not None
        for each in trial.paper.limited:
            table.add_row(
                trial.system,
                f"{each.iterations:,}",
                f"{each.proven:.2f}",
                f"{each.same:.2f}",
                f"{each.uas:.2f}",
                f"{1e3 * each.seconds:.2f}",
                f"{1e3 * each.whole:.2f}",
                f"{each.recomputed:.1f}",
                f"{trial.paper.branched:.2f}",
            )
    if trials:
        yield add_title(f"{treebank}: as in the paper, neither fixing nor branching", table)
    table = make_table("", "precision", "recall")
    programs = make_table("", "program", "sentences", "whole %", "ms/sentence")
    for trial in trials:
        assert trial.paper is not None
        table.add_row(trial.system, f"{trial.paper.precision:.2f}", f"{trial.paper.recall:.2f}")
        for row in trial.paper.programs:
            figures = (str(row.sentences), f"{row.whole:.1f}", f"{1e3 * row.seconds:.1f}")
            programs.add_row(trial.system, row.name, *figures)
    if trials:
        yield add_title(f"{treebank}: arcs that automata pick by themselves", table)
    if programs.row_count:
        yield add_title(f"{treebank}: programs, by HiGHS", programs)


def paint(report: DependencyReport) -> Any:
    """Draw words per second over the length of sentences, on the first treebank."""
    if not report.trials:
        raise pictures.NothingToDraw("no parser was tested")
    first = report.trials[0].treebank
    figure = pictures.make_figure(7, 4)
    axes = figure.subplots()
    for trial in report.trials:
        if trial.treebank == first:
            axes.plot(list(trial.rates), list(trial.rates.values()), marker="o", label=trial.system)
    axes.set_yscale("log")
    pictures.dress_axes(
        axes, f"Parsing {first}, one thread", "words per sentence", "words per CPU second, features included"
    )
    return figure


BENCHMARK = Benchmark(
    name="dependency", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
