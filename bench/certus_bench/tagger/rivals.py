"""Other taggers: python-crfsuite, run beside ours if it is installed, and MarMoT, quoted."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from certus.formats import Target
from certus_bench.tagger.corpora import CORPORA
from certus_bench.tagger.plan import Trained
from certus_bench.timing import Spread

CRFSUITE = "python-crfsuite"


def crfsuite_version() -> str | None:
    """Return the version that is installed, if any."""
    if not find_spec("pycrfsuite"):
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(CRFSUITE)
    except PackageNotFoundError:
        return "of unknown version"


def crfsuite(data: Path, job: Any) -> Trained:
    """Train CRFsuite's averaged perceptron and measure it, in this process."""
    import pycrfsuite

    from certus_bench.tagger.job import peak_megabytes, quality

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
            trainer.append(features(sentence.words), target.labels(sentence))
            known.update(sentence.words)
            tokens += len(sentence)
        trainer.train(path)
        seconds, megabytes = perf_counter() - begin, peak_megabytes()
        del trainer
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        held_out = list(corpus.read(data, job.part))
        begin = perf_counter()
        answers = [tagger.tag(features(sentence.words)) for sentence in held_out]
        each = (perf_counter() - begin) / sum(map(len, held_out))
        return Trained(
            corpus=job.corpus,
            what=job.what,
            part=job.part,
            labels=len(tagger.labels()),
            tokens=tokens,
            seconds=seconds,
            megabytes=megabytes,
            token=Spread(each, each, each),
            length=sum(map(len, held_out)) / len(held_out),
            **quality(target, held_out, answers, known),
        )


def features(words: Sequence[str]) -> list[list[str]]:
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


def _marmot(corpus: str, order: int, labels: int, tokens: int, *figures: float) -> Trained:
    accuracy, seconds, speed, megabytes = figures
    return Trained(
        corpus=corpus,
        what=f"MarMoT {order}",
        part="test",
        labels=labels,
        tokens=tokens,
        seconds=seconds,
        megabytes=megabytes,
        accuracy=accuracy,
        unknown=None,
        f1=None,
        token=Spread(1 / speed, 1 / speed, 1 / speed),
        length=None,
        quoted=True,
    )


# Taken earlier on one core of an AMD EPYC virtual machine with other load: MarMoT needs Java, so it is not
# run here. The Czech model had 5 iterations, the others 10.
MARMOT = (
    _marmot("bosque", 1, 508, 171_776, 92.67, 147, 15_100, 430),
    _marmot("bosque", 2, 508, 171_776, 93.15, 175, 13_500, 430),
    _marmot("bosque", 3, 508, 171_776, 93.13, 162, 12_400, 430),
    _marmot("czech", 2, 1_913, 103_938, 80.06, 264, 2_900, 484),
)
# What CRFsuite took to train there; held against where python-crfsuite is not installed or not run.
CRFSUITE_SECONDS = 220.0
