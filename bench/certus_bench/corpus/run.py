"""Learns from few sentences and labels many, with consistency and without (Rush et al. 2012, table 4)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from certus.annotation.sentence import replace
from certus.corpus import METHODS, Consistent, Limits, tag
from certus.errors import CertusError
from certus.evaluation import compare
from certus.evaluation.significance import differences
from certus.formats import Sentence, Target, read
from certus.models.tagger import Tagger
from certus_bench.corpus.plan import Plan, Report, Row, Steps
from certus_bench.environment import describe
from certus_bench.timing import Spread

Tell = Callable[[str, float], None]

_COMMAND = (sys.executable, "-c", "from certus.cli import main; main()", "tag")


def run(plan: Plan, tell: Tell = lambda _, __: None) -> Report:
    """Measure what a plan asks for.

    Args:
        plan: what to do.
        tell: called with a line about what is being measured and the share of the work that is done.
    """
    report = Report(plan, describe({}))
    corpus = _Corpus(plan)
    jobs = [(target, size) for target in plan.targets for size in plan.sizes]
    for n, (target, size) in enumerate(jobs):
        tagger = Tagger(target, order=plan.order).fit(corpus.train[:size])
        for count in dict.fromkeys((0, plan.text)):
            tell(f"{target}, {size} sentences, {count:,} of text", (n + 0.5 * (count > 0)) / len(jobs))
            report.rows.append(corpus.row(tagger, target, size, count))
        if target == plan.targets[0]:
            report.steps += [corpus.steps(tagger, method, size) for method in METHODS]
    return report


class _Corpus:
    """The sentences of the benchmark, read once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        most = max(plan.sizes)
        self.train = list(islice(read(plan.file("train")), most + plan.text))
        self.gold = list(read(plan.file(plan.part)))
        self.added = self.train[most:]

    def row(self, tagger: Tagger, target: str, size: int, count: int) -> Row:
        """Measure one tagger with so much text."""
        text = self.added[:count]
        tagging, apart = _timed(lambda: tagger.tag_batch([*self.gold, *text]), self.plan.repeats)
        consistent, found = _timed(lambda: tag(tagger, self.gold, text=text), self.plan.repeats)
        known = {word for sentence in self.train[:size] for word in sentence.words}
        reports = [
            compare(self.gold, _labelled(self.gold, tagger.target, labels), known)
            for labels in ([answer.labels for answer in apart[: len(self.gold)]], found.labels)
        ]
        base, model = (report.accuracies[target] for report in reports)
        p = next(test.p for test in differences(reports[1], reports[0]) if test.name == target)
        return Row(
            target=target,
            size=size,
            text=len(text),
            base=100 * base.accuracy,
            model=100 * model.accuracy,
            base_unknown=100 * base.unknown.accuracy,
            model_unknown=100 * model.unknown.accuracy,
            p=p,
            **_problem(found),
            tagging=tagging,
            consistent=consistent,
            command=self._command(tagger, text),
            shares=_shares(found),
        )

    def _command(self, tagger: Tagger, text: Sequence[Sentence]) -> tuple[float, float]:
        """Time the command from file to file: all files sentence by sentence, then with consistency."""
        with tempfile.TemporaryDirectory() as folder:
            model, more = str(Path(folder) / "model.certus"), Path(folder) / "text.txt"
            tagger.save(model)
            more.write_text("".join(" ".join(s.words) + "\n" for s in text), encoding="utf-8")
            gold, out = str(self.plan.file(self.plan.part)), str(Path(folder) / "out.conllu")
            extra = [str(more)] if text else []
            plain = [model, gold, "-o", out]
            apart = [[*plain], *([[model, *extra, "--format", "text", "-o", out]] if text else [])]
            whole = [*plain, "--consistent", *(["--text", *extra] if text else [])]
            times = []
            for _ in range(self.plan.repeats):
                times.append((sum(_call(command) for command in apart), _call(whole)))
            middle = len(times) // 2
            return sorted(t[0] for t in times)[middle], sorted(t[1] for t in times)[middle]

    def steps(self, tagger: Tagger, method: str, size: int) -> Steps:
        """Solve the problem without text in one way."""
        found = tag(tagger, self.gold, limits=Limits(method=method))
        best = tag(tagger, self.gold).score
        seconds = sum(iteration.seconds for iteration in found.trace)
        gaps = [iteration.bound - best for iteration in found.trace]
        solved = sum(iteration.solved for iteration in found.trace)
        return Steps(method, size, gaps, solved, 100 * found.stats["certified"], seconds)


def _timed(call: Callable[[], Any], repeats: int) -> tuple[Spread, Any]:
    """Time a call, and return its last answer."""
    times, answer = [], None
    for _ in range(repeats):
        begin = perf_counter()
        answer = call()
        times.append(perf_counter() - begin)
    return Spread.of(times), answer


def _call(arguments: Sequence[str]) -> float:
    begin = perf_counter()
    done = subprocess.run([*_COMMAND, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CertusError(f"certus tag failed: {done.stderr.strip()}")
    return perf_counter() - begin


def _labelled(gold: Sequence[Sentence], target: Target, labels: Sequence[Sequence[str]]) -> list[Sentence]:
    return [replace(one, target.fill(one, own)) for one, own in zip(gold, labels, strict=True)]


def _problem(found: Consistent) -> dict[str, Any]:
    names = ("nodes", "constrained", "components", "iterations")
    return {"certified": 100 * found.stats["certified"], **{name: found.stats[name] for name in names}}


def _shares(found: Consistent) -> list[float]:
    return [iteration.seconds / found.stats["load_seconds"] for iteration in found.trace]
