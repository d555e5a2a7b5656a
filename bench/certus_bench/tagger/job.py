"""Trains and measures one model, ours or CRFsuite's: ``python -m certus_bench.tagger``.

A process of its own has a peak of memory of its own, and nothing that ran before it helps or hinders it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from certus.chain.spans import find_spans
from certus.errors import CertusError
from certus.evaluation import F1, Share
from certus.formats import Sentence, Target
from certus.models.tagger import Tagger
from certus_bench.corpora import CORPORA
from certus_bench.harness.timing import Spread, Stopwatch, time_call
from certus_bench.tagger.records import TaggerPlan, TrainedTagger


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to train and to measure."""

    corpus: str  # its name
    what: str  # how tables call the model
    learner: str  # of the tagger
    options: Mapping[str, Any] = field(default_factory=dict)  # of the learner
    learn: str = "learn"  # the part to learn from: ``learn`` or ``train``
    part: str = "dev"  # the part to measure on: ``dev`` or ``test``
    limit: int | None = None  # the most sentences to learn from
    seconds: float = 2.0  # budget for timing tagging
    model: str | None = None  # where to save the model; None keeps none


def run_job(plan: TaggerPlan, job: Job) -> TrainedTagger:
    """Run a job in a process of its own."""
    command = [sys.executable, "-m", "certus_bench.tagger", str(plan.data), json.dumps(asdict(job))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise CertusError(f"training {job.what} on {job.corpus} failed: {last[0]}")
    found = json.loads(done.stdout)
    return TrainedTagger(**{**found, "token": Spread(**found["token"])})


def perform_job(data: Path, job: Job) -> TrainedTagger:
    """Train and measure, in this process."""
    if job.learner == CRFSUITE:
        return train_crfsuite(data, job)
    corpus = CORPORA[job.corpus]
    options: dict[str, Any] = {
        name: tuple(x) if isinstance(x, list) else x for name, x in job.options.items()
    }
    tagger = Tagger(corpus.target, job.learner, **options)
    seconds, _ = time_call(partial(tagger.fit, corpus.read(data, job.learn, job.limit)))
    megabytes = read_peak_megabytes()
    if job.model is not None:
        tagger.save(job.model)
    known = {word for sentence in corpus.read(data, job.learn, job.limit) for word in sentence.words}
    held_out = list(corpus.read(data, job.part))
    answers = [answer.labels for answer in tagger.tag_batch(held_out)]
    found = Measured(len(tagger.labels), int(tagger.description["training"]["tokens"]), seconds, megabytes)
    if job.learner == "pruned-crf":
        tagger.proof = False  # as the other taggers of the table
    token = _time_tagging(tagger, held_out, job.seconds)
    return _describe(job, found, token, held_out, measure_quality(tagger.target, held_out, answers, known))


class Measured(NamedTuple):
    """What learning a model came to."""

    labels: int
    tokens: int
    seconds: float
    megabytes: float


def _describe(
    job: Job, found: Measured, token: Spread, held_out: Sequence[Sentence], quality: dict[str, Any]
) -> TrainedTagger:
    length = sum(map(len, held_out)) / len(held_out)
    about: dict[str, Any] = {"corpus": job.corpus, "what": job.what, "part": job.part}
    return TrainedTagger(**about, **found._asdict(), token=token, length=length, **quality)


def measure_quality(
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
            want = set(find_spans(sentence.column("chunk")))
            got = set(find_spans(target.fill(sentence, answer)["chunk"]))
            chunks.add(len(want & got), len(got), len(want))
    return {
        "accuracy": 100 * right.accuracy,
        "unknown": 100 * new.accuracy if new.total else None,
        "f1": 100 * chunks.f1 if has_chunks else None,
    }


def _time_tagging(tagger: Any, sentences: Sequence[Any], budget: float) -> Spread:
    """Time tagging from tokens in memory to label numbers: all sentences in one call, one thread."""
    cells = [[sentence.column(name) for name in tagger.columns] for sentence in sentences]
    watch = Stopwatch([lambda: tagger.decode(cells)], lambda _, __: None, budget)
    watch.turn()
    return watch.spread.scale(1 / sum(map(len, sentences)))


def read_peak_megabytes() -> float:
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


def print_job(arguments: Sequence[str]) -> None:
    """Perform the job that the arguments describe and print what is found as JSON."""
    data, text = arguments
    print(json.dumps(asdict(perform_job(Path(data), Job(**json.loads(text))))))


CRFSUITE = "python-crfsuite"


def find_crfsuite() -> str | None:
    """Return the version that is installed, if any."""
    if not find_spec("pycrfsuite"):
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(CRFSUITE)
    except PackageNotFoundError:
        return "of unknown version"


def train_crfsuite(data: Path, job: Job) -> TrainedTagger:
    """Train CRFsuite's averaged perceptron and measure it, in this process."""
    import pycrfsuite

    corpus = CORPORA[job.corpus]
    target = Target(corpus.target)
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder) / "model.crfsuite")
        begin = perf_counter()
        trainer = pycrfsuite.Trainer(
            algorithm="ap", params={"max_iterations": job.options["epochs"]}, verbose=False
        )
        known: set[str] = set()
        tokens = 0
        for sentence in corpus.read(data, job.learn, job.limit):
            trainer.append(extract_features(sentence.words), target.labels(sentence))
            known.update(sentence.words)
            tokens += len(sentence)
        trainer.train(path)
        seconds, megabytes = perf_counter() - begin, read_peak_megabytes()
        del trainer
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        held_out = list(corpus.read(data, job.part))
        seconds_in_all, answers = time_call(
            lambda: [tagger.tag(extract_features(sentence.words)) for sentence in held_out]
        )
        each = seconds_in_all / sum(map(len, held_out))
        found = Measured(len(tagger.labels()), tokens, seconds, megabytes)
        quality = measure_quality(target, held_out, answers, known)
        return _describe(job, found, Spread(each, each, each), held_out, quality)


def extract_features(words: Sequence[str]) -> list[list[str]]:
    """Return the usual features of each word: neighbours, pairs of them, affixes, shape."""
    around = ["<<", "<", *words, ">", ">>"]
    found = []
    for at, word in enumerate(words, 2):
        left, right = around[at - 1], around[at + 1]
        found.append([
            *(f"w{n:+d}={around[at + n]}" for n in range(-2, 3)),
            f"w-1w={left}|{word}",
            f"ww+1={word}|{right}",
            *(f"p{n}={word[:n]}" for n in range(1, 5)),
            *(f"s{n}={word[-n:]}" for n in range(1, 5)),
            f"title={word[0].isupper()}",
            f"upper={word.isupper()}",
            f"digit={any(map(str.isdigit, word))}",
            f"hyphen={'-' in word}",
        ])  # fmt: skip
    return found


def _quote_marmot(corpus: str, order: int, labels: int, tokens: int, *figures: float) -> TrainedTagger:
    accuracy, seconds, speed, megabytes = figures
    about: dict[str, Any] = {"corpus": corpus, "what": f"MarMoT {order}", "part": "test", "quoted": True}
    quality: dict[str, Any] = {"accuracy": accuracy, "unknown": None, "f1": None}
    found = Measured(labels, tokens, seconds, megabytes)
    token = Spread(1 / speed, 1 / speed, 1 / speed)
    return TrainedTagger(**about, **found._asdict(), token=token, length=None, **quality)


# Taken earlier on one core of an AMD EPYC virtual machine with other load: MarMoT needs Java, so it is not
# run here. The Czech model had 5 iterations, the others 10.
MARMOT = (
    _quote_marmot("bosque", 1, 508, 171_776, 92.67, 147, 15_100, 430),
    _quote_marmot("bosque", 2, 508, 171_776, 93.15, 175, 13_500, 430),
    _quote_marmot("bosque", 3, 508, 171_776, 93.13, 162, 12_400, 430),
    _quote_marmot("czech", 2, 1_913, 103_938, 80.06, 264, 2_900, 484),
)
# What CRFsuite took to train there; held against where python-crfsuite is not installed or not run.
CRFSUITE_SECONDS = 220.0
