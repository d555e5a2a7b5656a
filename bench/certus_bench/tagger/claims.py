"""What the documentation promises of taggers, held against a report."""

from __future__ import annotations

from collections.abc import Iterator

from certus_bench.entries import FLOOR
from certus_bench.harness.claims import Claim, divide, get_figure
from certus_bench.tagger.job import CRFSUITE, CRFSUITE_SECONDS, MARMOT
from certus_bench.tagger.records import TaggerReport, TrainedTagger
from certus_bench.tagger.tasks import EXACT


def make_claims(report: TaggerReport) -> list[Claim]:
    """Return every claim with what the report says about it.

    A quick run learns too little, and too few labels, to say anything about them.
    """
    return [
        *_claim_chunks(report),
        *_claim_morphology(report),
        *_claim_czech(report),
        *_claim_exact(report),
        *_claim_proofs(report),
        _claim_startup(report),
    ]


def _find_task(report: TaggerReport, corpus: str, what: str) -> TrainedTagger | None:
    return None if report.plan.quick else report.find_task(corpus, what)


def _find_seconds(report: TaggerReport, method: str, corpus: str) -> float | None:
    return None if report.plan.quick else report.find_seconds(method, corpus)


def _claim_chunks(report: TaggerReport) -> Iterator[Claim]:
    joint, rival = _find_task(report, "conll2000", "perceptron"), _find_task(report, "conll2000", CRFSUITE)
    where = "CoNLL-2000 joint, test"
    yield Claim(f"accuracy, {where}", 94.0, True, get_figure(joint, "accuracy"), "%")
    slow, source = (
        (rival.seconds, "in this run") if rival else (CRFSUITE_SECONDS, f"quoted, {CRFSUITE_SECONDS:.0f} s")
    )
    yield Claim(
        f"training faster than CRFsuite's ({source}), {where}",
        10,
        True,
        divide(slow, get_figure(joint, "seconds")),
    )
    yield Claim(
        f"sentences from tokens to tags, {where}",
        10_000,
        True,
        get_figure(joint, "sentences_per_second"),
        "/s",
    )
    alone = _find_task(report, "conll2000-chunk", "PCRF 2")
    yield Claim("F1, CoNLL-2000 chunks, test, PCRF 2", 93.8, True, get_figure(alone, "f1"), "%")


def _claim_morphology(report: TaggerReport) -> Iterator[Claim]:
    orders = [_find_task(report, "bosque", f"PCRF {order}") for order in (1, 2, 3)]
    where = "Bosque upos+feats"
    yield Claim(f"accuracy, {where}, test, order 2", 93.4, True, get_figure(orders[1], "accuracy"), "%")
    all_of = [row for row in orders if row]
    gain = None
    if len(all_of) == len(orders):
        gain = max(row.accuracy for row in all_of[1:]) - all_of[0].accuracy
    yield Claim(f"order 2 or 3 above order 1, {where}, test", 0.01, True, gain, "points")
    yield Claim(f"training, {where}, order 2", 40, False, get_figure(orders[1], "seconds"), "s")
    speed = get_figure(orders[1], "tokens_per_second")
    yield Claim(f"tokens tagged, {where}, order 2", 130_000, True, speed, "/s")
    most = max((row.megabytes for row in all_of), default=None)
    yield Claim(f"memory in training, {where}, any order", MARMOT[0].megabytes, False, most, "MB")


def _claim_czech(report: TaggerReport) -> Iterator[Claim]:
    row, marmot = _find_task(report, "czech", "PCRF 2"), next(row for row in MARMOT if row.corpus == "czech")
    where = "Czech upos+feats, order 2, than MarMoT's (quoted)"
    yield Claim(f"higher accuracy, {where}, test", marmot.accuracy, True, get_figure(row, "accuracy"), "%")
    yield Claim(f"shorter training, {where}", marmot.seconds, False, get_figure(row, "seconds"), "s")
    yield Claim(
        f"less memory in training, {where}", marmot.megabytes, False, get_figure(row, "megabytes"), "MB"
    )


def _claim_exact(report: TaggerReport) -> Iterator[Claim]:
    for name in EXACT:
        row = _find_task(report, name, "perceptron")
        yield Claim(f"exact training, {name}", 300, False, get_figure(row, "seconds"), "s")
        yield Claim(
            f"sentences from tokens to tags, {name}",
            2_000,
            True,
            get_figure(row, "sentences_per_second"),
            "/s",
        )
        auto, dense, floor = (_find_seconds(report, method, name) for method in ("auto", "viterbi", FLOOR))
        yield Claim(f"auto faster than viterbi, lattices of {name}", 250, True, divide(dense, auto))
        yield Claim(f"auto's time over reading the emissions once, {name}", 5, False, divide(auto, floor))


def _claim_proofs(report: TaggerReport) -> Iterator[Claim]:
    rows = [] if report.plan.quick else report.proofs
    where = "pruned CRFs, test, every corpus and order"
    yield Claim(f"proven, {where}", 99.9, True, min((row.proven for row in rows), default=None), "%")
    yield Claim(f"finite bounds, {where}", 100, True, min((row.finite for row in rows), default=None), "%")
    yield Claim(
        f"proven tagging over unproven, {where}", 1.5, False, max((row.ratio for row in rows), default=None)
    )
    yield Claim(
        f"more memory for proofs, {where}", 10, False, max((row.more for row in rows), default=None), "%"
    )


def _claim_startup(report: TaggerReport) -> Claim:
    seconds = report.startup.spread.median if report.startup else None
    return Claim("certus tag, from start to first label", 0.3, False, seconds, "s")
