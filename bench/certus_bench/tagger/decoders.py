"""Times every decoder on the lattices of trained models: Kaji et al.'s and Huang et al.'s tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import METHODS, Beam, Chain
from certus.formats import Sentence
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus_bench.chain import row_of
from certus_bench.entries import FLOOR, Entry, entries, ours
from certus_bench.lattices import Sample
from certus_bench.referee import Referee, Witness
from certus_bench.tagger.corpora import LARGE, Corpus, chosen, of_mean_length
from certus_bench.tagger.job import Job, run
from certus_bench.tagger.plan import Plan, Report
from certus_bench.timing import Stopwatch, race

EPOCHS = 10
KS = (1, 10, 100)  # Huang et al.'s figure 4; k = 5 is in the tables anyway
SMALL = "conll2000"  # the corpus of that figure here: the others are too large for its slowest methods
MAIN = (FLOOR, "viterbi", "auto")  # what the tasks need, if the decoders were not asked for
_BEAM_LOSS = 0.1  # percent of accuracy that Kaji et al. let a beam lose
_BEAM_SENTENCES = 300

Tell = Callable[[str, float], None]


def measure(report: Report, tell: Tell) -> None:
    """Add the times of all decoders to a report."""
    corpora = list(chosen(LARGE, report.plan.only))
    for n, corpus in enumerate(corpora):
        tell(f"decoders: training on {corpus.name}", n / len(corpora))
        tagger = trained(report.plan, corpus)
        time_on(report, corpus, tagger, partial(_later, tell, (n + 0.5) / len(corpora)))


def _later(tell: Tell, share: float, text: str) -> None:
    tell(text, share)


def job_of(plan: Plan, corpus: Corpus) -> Job:
    """Describe the perceptron whose lattices are decoded."""
    epochs = {"epochs": plan.epochs(EPOCHS)}
    return Job(corpus=corpus.name, what="perceptron", learner="perceptron", options=epochs, limit=plan.limit)


def trained(plan: Plan, corpus: Corpus) -> Tagger:
    """Train a perceptron, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder) / "model.certus")
        run(plan, replace(job_of(plan, corpus), model=path, seconds=0.0))
        tagger: Tagger = load(path)
        return tagger


def time_on(
    report: Report,
    corpus: Corpus,
    tagger: Tagger,
    tell: Callable[[str], None],
    names: Sequence[str] | None = None,
) -> None:
    """Time decoders on held-out sentences of a corpus.

    Args:
        report: takes the times.
        corpus: where the sentences come from.
        tagger: gives them their scores.
        tell: is told what is being timed.
        names: of decoders; by default all, and for the smallest label set more values of k.
    """
    held_out = list(corpus.read(report.plan.data, "dev"))
    sample = lattices(tagger, of_mean_length(held_out, report.plan.sentences))
    if names is None:
        tell(f"{corpus.name}: how wide a beam has to be")
        width = beam_width(tagger, held_out[:_BEAM_SENTENCES])
        able = [
            *usual(sample, more=corpus.name == SMALL),
            ours(f"beam ({width})", Beam(width=width), exact=False),
        ]
    else:
        able = [entry for entry in usual(sample) if entry.name in names and entry.k == 1]
    referee = Referee(sample, f"{corpus.name}, {sample.labels} labels")
    witnesses = [Witness(referee, entry) for entry in able]
    watches = [
        Stopwatch(entry.load(sample), witness, report.plan.seconds)
        for entry, witness in zip(able, witnesses, strict=True)
    ]
    race(watches, tick=lambda n: tell(f"{corpus.name}: {able[n].name}, k={able[n].k}"))
    for entry, witness, watch in zip(able, witnesses, watches, strict=True):
        report.rows.append(row_of(corpus.name, sample, entry, witness, watch))
    report.fail(referee.failures)


def usual(sample: Sample, more: bool = False) -> list[Entry]:
    """Return what is timed on a sample: the floor, every method, and where they differ every k."""
    known = [entry for entry in entries() if entry.usual and entry.kind in ("certus", "floor")]
    known = [entry for entry in known if (sample.listed or not entry.listed) and entry.name != "beam"]
    if not more:
        return known
    timed = {(entry.name, entry.k) for entry in known}
    able = [name for name, kind in METHODS.items() if kind.many]
    return known + [ours(name, name, k) for k in KS for name in able if (name, k) not in timed]


def lattices(tagger: Tagger, sentences: Sequence[Sentence]) -> Sample:
    """Return the scores that a tagger gives to sentences."""
    chain = tagger.chain
    transitions = np.asarray(chain.transitions)
    return Sample(
        transitions,
        tuple(tagger.emissions(sentence) for sentence in sentences),
        listed=bool(np.count_nonzero(transitions) < transitions.size / 2),
        start=chain.start,
        end=chain.end,
    )


def beam_width(tagger: Tagger, sentences: Sequence[Sentence]) -> int:
    """Return the smallest power of two at which a beam loses under 0.1 % of accuracy (Kaji et al. 5.3)."""
    chain, target = tagger.chain, tagger.target
    number = {name: n for n, name in enumerate(tagger.labels)}
    scores = [tagger.emissions(sentence) for sentence in sentences]
    gold = [np.array([number.get(y, -1) for y in target.labels(sentence)]) for sentence in sentences]
    best = _accuracy(chain, "auto", scores, gold)
    width = 1
    while width < len(number) and best - _accuracy(chain, Beam(width=width), scores, gold) >= _BEAM_LOSS:
        width *= 2
    return width


def _accuracy(
    chain: Chain, method: str | Beam, scores: Sequence[NDArray[Any]], gold: Sequence[NDArray[Any]]
) -> float:
    right = [
        np.count_nonzero(chain.decode(emissions, method=method).labels == labels)
        for emissions, labels in zip(scores, gold, strict=True)
    ]
    return 100 * sum(right) / sum(map(len, gold))
