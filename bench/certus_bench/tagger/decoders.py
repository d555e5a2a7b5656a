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
from certus_bench.corpora import LARGE, CorpusFiles, select_corpora, select_mean_length
from certus_bench.entries import FLOOR, Entry, enter_method, list_entries
from certus_bench.harness.benchmark import Tell
from certus_bench.lattices import Sample
from certus_bench.referee import time_entries
from certus_bench.tagger.job import Job, run_job
from certus_bench.tagger.records import TaggerPlan, TaggerReport

EPOCHS = 10
KS = (1, 10, 100)  # Huang et al.'s figure 4; k = 5 is in the tables anyway
SMALL = "conll2000"  # the corpus of that figure here: the others are too large for its slowest methods
MAIN = (FLOOR, "viterbi", "auto")  # what the tasks need, if the decoders were not asked for
_BEAM_LOSS = 0.1  # percent of accuracy that Kaji et al. let a beam lose
_BEAM_SENTENCES = 300


def measure_decoders(report: TaggerReport, tell: Tell) -> None:
    """Add the times of all decoders to a report."""
    corpora = list(select_corpora(LARGE, report.plan.only))
    for n, corpus in enumerate(corpora):
        tell(f"decoders: training on {corpus.name}", n / len(corpora))
        tagger = train_perceptron(report.plan, corpus)
        time_decoders(report, corpus, tagger, partial(_tell_share, tell, (n + 0.5) / len(corpora)))


def _tell_share(tell: Tell, share: float, text: str) -> None:
    tell(text, share)


def describe_perceptron(plan: TaggerPlan, corpus: CorpusFiles) -> Job:
    """Describe the perceptron whose lattices are decoded."""
    epochs = {"epochs": plan.limit_epochs(EPOCHS)}
    return Job(corpus=corpus.name, what="perceptron", learner="perceptron", options=epochs, limit=plan.limit)


def train_perceptron(plan: TaggerPlan, corpus: CorpusFiles) -> Tagger:
    """Train a perceptron, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder) / "model.certus")
        run_job(plan, replace(describe_perceptron(plan, corpus), model=path, seconds=0.0))
        tagger: Tagger = load(path)
        return tagger


def time_decoders(
    report: TaggerReport,
    corpus: CorpusFiles,
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
    sample = score_sentences(tagger, select_mean_length(held_out, report.plan.sentences))
    if names is None:
        tell(f"{corpus.name}: how wide a beam has to be")
        width = find_beam_width(tagger, held_out[:_BEAM_SENTENCES])
        able = [
            *choose_entries(sample, more=corpus.name == SMALL),
            enter_method(f"beam ({width})", Beam(width=width), exact=False),
        ]
    else:
        able = [entry for entry in choose_entries(sample) if entry.name in names and entry.k == 1]
    where = f"{corpus.name}, {sample.labels} labels"
    rows, failures = time_entries(
        sample, corpus.name, where, able, report.plan.seconds,
        lambda n: tell(f"{corpus.name}: {able[n].name}, k={able[n].k}"),
    )  # fmt: skip
    report.decoders += rows
    report.fail(failures)


def choose_entries(sample: Sample, more: bool = False) -> list[Entry]:
    """Return what is timed on a sample: the floor, every method, and where they differ every k."""
    known = [entry for entry in list_entries() if entry.usual and entry.kind in ("certus", "floor")]
    known = [entry for entry in known if (sample.listed or not entry.listed) and entry.name != "beam"]
    if not more:
        return known
    timed = {(entry.name, entry.k) for entry in known}
    able = [name for name, kind in METHODS.items() if kind.many]
    return known + [enter_method(name, name, k) for k in KS for name in able if (name, k) not in timed]


def score_sentences(tagger: Tagger, sentences: Sequence[Sentence]) -> Sample:
    """Return the scores that a tagger gives to sentences."""
    chain = tagger.chain
    transitions = np.asarray(chain.transitions)
    return Sample(
        transitions,
        tuple(tagger.emissions(sentence) for sentence in sentences),
        listed=bool(np.count_nonzero(transitions) < transitions.size / 2),
        start=chain.start,
        end=chain.end,
        prior=chain.prior,
    )


def find_beam_width(tagger: Tagger, sentences: Sequence[Sentence]) -> int:
    """Return the smallest power of two at which a beam loses under 0.1 % of accuracy (Kaji et al. 5.3)."""
    chain, target = tagger.chain, tagger.target
    number = {name: n for n, name in enumerate(tagger.labels)}
    scores = [tagger.emissions(sentence) for sentence in sentences]
    gold = [np.array([number.get(y, -1) for y in target.labels(sentence)]) for sentence in sentences]
    best = _measure_accuracy(chain, "auto", scores, gold)
    width = 1
    while (
        width < len(number) and best - _measure_accuracy(chain, Beam(width=width), scores, gold) >= _BEAM_LOSS
    ):
        width *= 2
    return width


def _measure_accuracy(
    chain: Chain, method: str | Beam, scores: Sequence[NDArray[Any]], gold: Sequence[NDArray[Any]]
) -> float:
    right = [
        np.count_nonzero(chain.decode(emissions, method=method).labels == labels)
        for emissions, labels in zip(scores, gold, strict=True)
    ]
    return 100 * sum(right) / sum(map(len, gold))
