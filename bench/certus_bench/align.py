"""``certus bench align``: how good links are beside other aligners, and how much joint decoding proves."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group
from rich.text import Text

import certus
from certus.align import symmetrize
from certus.errors import InvalidInput
from certus.evaluation.links import AerDifference, LinkReport, compare_links, compare_reports
from certus.formats.parallel import SentencePair, read_pairs
from certus.formats.pharaoh import GoldLinks, parse_links, read_links
from certus_bench import align_choice, align_paper, align_paper_tables, align_speed
from certus_bench.align_job import CERTUS, RIVALS
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet, tell_part
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, check_data, require_data, split_names
from certus_bench.harness.pictures import NothingToDraw
from certus_bench.harness.tables import add_title, make_table

TUNING = 100  # gold pairs that options were tuned on; figures are also given without them
PAPERS = "papers"  # among the names of aligners: the tables of Chang et al. (2014)
SPEED = "speed"  # likewise: rates, memory, and pairs that were not learned from
CHOICE = "choice"  # likewise: how the defaults are chosen; only if it is named
PARTS = (PAPERS, SPEED, CHOICE)
METHODS = ("exact", "forward", "backward", "intersection", "grow-diag")


@dataclass(frozen=True)
class AlignPlan:
    """What to train and to decode."""

    data: Path
    pairs: int = 100_000
    names: tuple[str, ...] = ()
    long: int = 60  # pairs of each group of lengths
    runs: int = 1  # of aligners that draw random numbers
    jobs: int = 1  # at the same time
    slow: int = 10  # of those, for what begins at 0
    programs: int = 0  # pairs that HiGHS solves, too
    program_seconds: float = 60.0

    @property
    def papers(self) -> align_paper.PaperPlan:
        """What the tables of Chang et al. are made of."""
        return align_paper.PaperPlan(self.long, self.slow, self.programs, self.program_seconds, TUNING)


def make_plan(
    data: Data = None,
    pairs: Annotated[
        int, typer.Option(metavar="NUMBER", min=100, help="How many training pairs, beside the gold ones.")
    ] = 100_000,
    only: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Aligners, separated by commas; speed; papers for the tables of Chang et al. (2014); "
            "choice for how the defaults are chosen.",
        ),
    ] = "",
    long: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="How many pairs of each length to decode jointly.")
    ] = 60,
    runs: Annotated[
        int,
        typer.Option(metavar="NUMBER", min=1, help="How often to train those that draw random numbers."),
    ] = 1,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, help="How many to train at the same time; seconds are of the processor."
        ),
    ] = 1,
    slow: Annotated[
        int,
        typer.Option(metavar="NUMBER", min=0, help="How many of these for LR and CONS that begin at 0."),
    ] = 10,
    programs: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="How many pairs HiGHS solves, too (certus[ilp]).")
    ] = 0,
    program_seconds: Annotated[
        float, typer.Option(metavar="NUMBER", min=1, help="The most time that HiGHS gets for a pair.")
    ] = 60.0,
) -> AlignPlan:
    """Train aligners on Hansards pairs and the gold pairs together, and compare their links with the gold.

    Then make tables 1 to 3 and figure 7 of Chang et al. (2014): two hidden Markov models, decoded jointly by
    the methods of the paper and by ours; gold pairs are joined to make long ones.
    --data is the folder that has align/hansard.train.en and the like.
    """
    root = require_data(data)
    check_data(root)
    installed = [name for name, rival in RIVALS.items() if find_spec(rival.module)]
    known = (*CERTUS, *installed, SPEED, PAPERS)
    names = split_names(only.replace("hmm, plain", "hmm plain")) or known
    names = tuple(name.replace("hmm plain", "hmm, plain") for name in names)
    for name in names:
        if name not in (*known, CHOICE):
            raise InvalidInput(f"there is no aligner {name!r} here; there are {', '.join((*known, CHOICE))}")
    return AlignPlan(root, pairs, names, long, runs, jobs, slow, programs, program_seconds)


@dataclass
class LinkRow:
    """How good an aligner's links are, by how they were merged."""

    aligner: str
    seconds: float  # of the processor, both directions
    megabytes: float
    aer: dict[str, float]  # of all gold pairs, by method
    aer_held_out: dict[str, float]  # of those that nothing was tuned on
    precision: float  # of the best method for the aligner
    recall: float
    runs: list[float]  # AER of each run, by the best method


@dataclass
class AlignReport(BenchmarkReport):
    """All figures."""

    plan: AlignPlan
    links: list[LinkRow] = field(default_factory=list)
    differences: dict[str, AerDifference] = field(default_factory=dict)  # Certus less another aligner
    papers: align_paper.PaperReport | None = None
    speed: align_speed.SpeedReport | None = None
    choice: align_choice.ChoiceReport | None = None


def run(plan: AlignPlan, tell: Tell = keep_quiet) -> AlignReport:
    """Train, align and decode everything."""
    report = AlignReport(plan, describe_machine(_list_versions(plan.names)))
    folder = plan.data / "align"
    gold = list(read_links(folder / "hansard.test.gold"))
    test = list(read_pairs(folder / "hansard.test.en", folder / "hansard.test.fr"))
    train = read_pairs(folder / "hansard.train.en", folder / "hansard.train.fr")
    best: dict[str, LinkReport] = {}
    with tempfile.TemporaryDirectory() as temporary:
        files = _write_pairs(Path(temporary), chain(test, islice(train, plan.pairs)))
        aligners = [name for name in plan.names if name not in PARTS]
        with ThreadPoolExecutor(plan.jobs) as pool:
            jobs = {name: _submit(pool, plan, name, files, len(test)) for name in aligners}
            for number, name in enumerate(aligners):
                tell(f"training {name}", number / (len(plan.names) + 1))
                best[name] = _judge(report, name, gold, [job.result() for job in jobs[name]])
    for name in best:
        if name != "certus" and "certus" in best:
            report.differences[name] = compare_reports(best["certus"], best[name])
    if SPEED in plan.names:
        tell("measuring speed", len(aligners) / (len(aligners) + 1))
        report.speed = align_speed.run(folder, plan.pairs, TUNING)
    if CHOICE in plan.names:
        report.choice = align_choice.run(folder, plan.pairs, TUNING, tell)
    if PAPERS in plan.names:
        part = tell_part(tell, len(aligners) / (len(aligners) + 1), 1)
        part("training the paper's HMMs", 0)
        report.papers = _decode_jointly(plan, test, gold, part)
        report.fail(report.papers.failures)
    return report


def _list_versions(names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in names:
        if name in RIVALS:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "?"
    return found


def _write_pairs(folder: Path, pairs: Iterable[SentencePair]) -> tuple[str, str]:
    """Write pairs to two files as they come: a job is charged with the memory of who starts it."""
    files = folder / "source", folder / "target"
    with files[0].open("w", encoding="utf-8") as source, files[1].open("w", encoding="utf-8") as target:
        for pair in pairs:
            source.write(" ".join(pair.source) + "\n")
            target.write(" ".join(pair.target) + "\n")
    return str(files[0]), str(files[1])


def _submit(
    pool: ThreadPoolExecutor, plan: AlignPlan, name: str, files: tuple[str, str], count: int
) -> list[Future[dict[str, Any]]]:
    runs = plan.runs if name in RIVALS and RIVALS[name].draws else 1
    return [pool.submit(_run_job, name, files, count) for _ in range(runs)]


def _run_job(name: str, files: tuple[str, str], count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "certus_bench.align_job", name, *files, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _judge(report: AlignReport, name: str, gold: list[GoldLinks], runs: list[dict[str, Any]]) -> LinkReport:
    """Add the row of an aligner, by all its runs; return the report of its best method."""
    links = [_merge_links(found["links"]) for found in runs]
    judged = {method: _pool([compare_links(gold, one[method]) for one in links]) for method in links[0]}
    held_out = {
        method: _pool([compare_links(gold[TUNING:], one[method][TUNING:]) for one in links])
        for method in links[0]
    }
    chosen = "exact" if "exact" in judged else min(judged, key=lambda method: judged[method].aer)
    best = judged[chosen]
    report.links.append(
        LinkRow(
            name,
            sum(found["seconds"] for found in runs) / len(runs),
            max(found["megabytes"] for found in runs),
            {method: one.aer for method, one in judged.items()},
            {method: one.aer for method, one in held_out.items()},
            best.precision,
            best.recall,
            [compare_links(gold, one[chosen]).aer for one in links],
        )
    )
    return best


def _merge_links(lines: dict[str, list[str]]) -> dict[str, list[GoldLinks]]:
    """Return links by method, those that rules make of two directions included."""
    links = {method: list(map(parse_links, several)) for method, several in lines.items()}
    for method in ("intersection", "grow-diag"):
        links[method] = [
            GoldLinks(merged := frozenset(symmetrize(a.possible, b.possible, method)), merged)
            for a, b in zip(links["forward"], links["backward"], strict=True)
        ]
    return links


def _pool(reports: list[LinkReport]) -> LinkReport:
    """Add up the counts of several runs, pair by pair: the AER of these is the mean of theirs, nearly."""
    pooled = np.sum([report.counts for report in reports], 0).tolist()
    return LinkReport([(a, b, c, d) for a, b, c, d in pooled])


def _decode_jointly(
    plan: AlignPlan, test: list[SentencePair], gold: list[GoldLinks], tell: Tell
) -> align_paper.PaperReport:
    folder = plan.data / "align"
    train = read_pairs(folder / "hansard.train.en", folder / "hansard.train.fr")
    pairs = chain(test, islice(train, plan.pairs))
    aligner = certus.Aligner(**align_paper.PAPER_HMM)
    aligner.fit_pairs((pair.source, pair.target) for pair in pairs)
    return align_paper.run(plan.papers, aligner, test, gold, tell)


def make_claims(report: AlignReport) -> list[Claim]:
    """Return what is promised, with what was measured."""
    rows = {row.aligner: row for row in report.links}
    own = rows.get("certus")
    limits = {100_000: 6.5, 10_000: 9.0, 1_000: 14.0}
    made = []
    if report.plan.pairs in limits:
        measured = None if own is None else 100 * own.aer["exact"]
        made.append(
            Claim(f"AER, {report.plan.pairs:,} pairs", limits[report.plan.pairs], False, measured, "%")
        )
    for name, found in report.differences.items():
        if name in RIVALS:
            made.append(Claim(f"AER less that of {name}", 0.0, False, 100 * found.difference, "points"))
    made.append(Claim("CPU seconds of training", 60.0, False, None if own is None else own.seconds, "s"))
    if report.speed:
        made += align_speed.make_claims(report.speed, report.plan.pairs)
    return made + (_claim_proofs(report.papers) if report.papers else [])


def _claim_proofs(papers: align_paper.PaperReport) -> list[Claim]:
    def share(solver: str, words: str) -> float:
        rows = [row for row in papers.solvers if row.solver == solver and words in ("", row.words)]
        return 100 * sum(row.proven for row in rows) / max(sum(row.pairs for row in rows), 1)

    made = [
        Claim(f"proven, exact, {words} words", needed, True, share("exact", words), "%")
        for words, needed in (("1–20", 100.0), ("21–40", 95.6), ("41–60", 95.0))
    ]
    made.append(Claim("proven, CONS, 1–60 words", 86.0, True, share("CONS", ""), "%"))
    if papers.programs:
        ratio = sum(row.program_seconds for row in papers.programs) / sum(
            row.seconds for row in papers.programs
        )
        made.append(Claim("seconds of HiGHS for ours, 21–30 words", 1000.0, True, ratio))
    return made


def lay_out(report: AlignReport) -> Iterator[Group]:
    """Yield the tables."""
    if report.links:
        yield _lay_out_links(report)
    if report.differences:
        table = make_table("Certus less", "AER points", "95 % interval", "p")
        for name, found in report.differences.items():
            interval = f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
            table.add_row(Text(name, "cyan"), f"{100 * found.difference:+.2f}", interval, f"{found.p:.4f}")
        yield add_title("differences, each aligner by its best method; paired bootstrap over pairs", table)
    if report.speed:
        yield align_speed.lay_out(report.speed)
    if report.choice:
        yield align_choice.lay_out(report.choice)
    if report.papers:
        yield from align_paper_tables.lay_out(report.papers, report.plan.papers)


def _lay_out_links(report: AlignReport) -> Group:
    table = make_table("aligner", *METHODS, "precision", "recall", "CPU s", "MB", "runs")
    for row in report.links:
        cells = [
            f"{100 * row.aer[m]:.2f} ({100 * row.aer_held_out[m]:.2f})" if m in row.aer else "–"
            for m in METHODS
        ]
        cells += [f"{100 * row.precision:.1f}", f"{100 * row.recall:.1f}", f"{row.seconds:.1f}"]
        span = f"{100 * min(row.runs):.2f} to {100 * max(row.runs):.2f}" if len(row.runs) > 1 else ""
        table.add_row(Text(row.aligner, "cyan"), *cells, f"{row.megabytes:.0f}", span)
    title = f"AER % (without the first {TUNING} gold pairs), {report.plan.pairs:,} pairs and the gold ones"
    return add_title(title, table)


def paint(report: AlignReport) -> Any:
    """Draw figures 7a and 7b of Chang et al. (2014)."""
    if report.papers is None:
        raise NothingToDraw("name papers in --only")
    return align_paper_tables.paint(report.papers)


BENCHMARK = Benchmark(
    name="align", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
