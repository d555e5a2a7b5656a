"""Trains and measures one model: ``python -m certus_bench.tagger``, in a process of its own.

A process of its own has a peak of memory of its own, and nothing that ran before it helps or hinders it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from certus.chain.spans import spans
from certus.errors import CertusError
from certus.evaluation import F1, Share
from certus.formats import Sentence, Target
from certus_bench.tagger.corpora import CORPORA
from certus_bench.tagger.plan import Plan, Trained
from certus_bench.timing import Spread, Stopwatch


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to train and to measure.

    Attributes:
        corpus: its name.
        what: how tables call the model.
        learner: of the tagger.
        options: of the learner.
        learn: the part to learn from: ``learn`` or ``train``.
        part: the part to measure on: ``dev`` or ``test``.
        limit: the most sentences to learn from.
        seconds: budget for timing tagging.
        model: where to save the model; None keeps none.
    """

    corpus: str
    what: str
    learner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    learn: str = "learn"
    part: str = "dev"
    limit: int | None = None
    seconds: float = 2.0
    model: str | None = None


def run(plan: Plan, job: Job) -> Trained:
    """Run a job in a process of its own."""
    command = [sys.executable, "-m", "certus_bench.tagger", str(plan.data), json.dumps(asdict(job))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise CertusError(f"training {job.what} on {job.corpus} failed: {last[0]}")
    found = json.loads(done.stdout)
    return Trained(**{**found, "token": Spread(**found["token"])})


def perform(data: Path, job: Job) -> Trained:
    """Train and measure, in this process."""
    from certus.models.tagger import Tagger
    from certus_bench.tagger import rivals

    if job.learner == rivals.CRFSUITE:
        return rivals.crfsuite(data, job)
    corpus = CORPORA[job.corpus]
    options: dict[str, Any] = {
        name: tuple(x) if isinstance(x, list) else x for name, x in job.options.items()
    }
    tagger = Tagger(corpus.target, job.learner, **options)
    begin = perf_counter()
    tagger.fit(corpus.read(data, job.learn, job.limit))
    seconds, megabytes = perf_counter() - begin, peak_megabytes()
    if job.model is not None:
        tagger.save(job.model)
    known = {word for sentence in corpus.read(data, job.learn, job.limit) for word in sentence.words}
    held_out = list(corpus.read(data, job.part))
    answers = [answer.labels for answer in tagger.tag_batch(held_out)]
    return Trained(
        corpus=job.corpus,
        what=job.what,
        part=job.part,
        labels=len(tagger.labels),
        tokens=int(tagger.description["training"]["tokens"]),
        seconds=seconds,
        megabytes=megabytes,
        token=_speed(tagger, held_out, job.seconds),
        length=sum(map(len, held_out)) / len(held_out),
        **quality(tagger.target, held_out, answers, known),
    )


def quality(
    target: Target, sentences: Sequence[Sentence], answers: Sequence[Sequence[str]], known: set[str]
) -> dict[str, Any]:
    """Return accuracy, that on unknown words, and F1 of chunks if the target has them."""
    right, new, chunks = Share(), Share(), F1()
    has_chunks = "chunk" in target.fields
    for sentence, answer in zip(sentences, answers, strict=True):
        flags = [a == b for a, b in zip(target.labels(sentence), answer, strict=True)]
        unseen = [flag for flag, word in zip(flags, sentence.words, strict=True) if word not in known]
        right.add(sum(flags), len(flags))
        new.add(sum(unseen), len(unseen))
        if has_chunks:
            want, got = (
                set(spans(sentence.column("chunk"))),
                set(spans(target.fill(sentence, answer)["chunk"])),
            )
            chunks.add(len(want & got), len(got), len(want))
    return {
        "accuracy": 100 * right.accuracy,
        "unknown": 100 * new.accuracy if new.total else None,
        "f1": 100 * chunks.f1 if has_chunks else None,
    }


def _speed(tagger: Any, sentences: Sequence[Any], budget: float) -> Spread:
    """Time tagging from tokens in memory to label numbers: all sentences in one call, one thread."""
    cells = [[sentence.column(name) for name in tagger.columns] for sentence in sentences]
    watch = Stopwatch([lambda: tagger.decode(cells)], lambda _, __: None, budget)
    watch.turn()
    return watch.spread.scaled(1 / sum(map(len, sentences)))


def peak_megabytes() -> float:
    """Return the most memory that this process ever had.

    Linux keeps it by program in /proc; ``getrusage`` there counts what a process was forked from as well.
    """
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main(arguments: Sequence[str]) -> None:
    """Perform the job that the arguments describe and print what is found as JSON."""
    data, text = arguments
    print(json.dumps(asdict(perform(Path(data), Job(**json.loads(text))))))
