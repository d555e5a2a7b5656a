"""What Certus promises about its taggers, held against a report."""

from __future__ import annotations

from collections.abc import Iterator

from certus_bench.claims import Claim
from certus_bench.entries import FLOOR
from certus_bench.tagger.plan import Report, Trained
from certus_bench.tagger.rivals import CRFSUITE, CRFSUITE_SECONDS, MARMOT
from certus_bench.tagger.tasks import EXACT


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it.

    A quick run learns too little, and too few labels, to say anything about them.
    """
    return [*_chunks(report), *_morphology(report), *_czech(report), *_exact(report), *_others(report)]


def _task(report: Report, corpus: str, what: str) -> Trained | None:
    return None if report.plan.quick else report.task(corpus, what)


def _seconds(report: Report, method: str, corpus: str) -> float | None:
    return None if report.plan.quick else report.seconds(method, corpus)


def _chunks(report: Report) -> Iterator[Claim]:
    joint, rival = _task(report, "conll2000", "perceptron"), _task(report, "conll2000", CRFSUITE)
    where = "CoNLL-2000 joint, test"
    yield Claim(f"accuracy, {where}", 94.0, True, _of(joint, "accuracy"), "%")
    slow, source = (
        (rival.seconds, "in this run") if rival else (CRFSUITE_SECONDS, f"quoted, {CRFSUITE_SECONDS:.0f} s")
    )
    yield Claim(
        f"training faster than CRFsuite's ({source}), {where}", 10, True, _over(slow, _of(joint, "seconds"))
    )
    yield Claim(
        f"sentences from tokens to tags, {where}", 10_000, True, _of(joint, "sentences_per_second"), "/s"
    )
    alone = _task(report, "conll2000-chunk", "PCRF 2")
    yield Claim("F1, CoNLL-2000 chunks, test, PCRF 2", 93.8, True, _of(alone, "f1"), "%")


def _morphology(report: Report) -> Iterator[Claim]:
    orders = [_task(report, "bosque", f"PCRF {order}") for order in (1, 2, 3)]
    where = "Bosque upos+feats"
    yield Claim(f"accuracy, {where}, test, order 2", 93.4, True, _of(orders[1], "accuracy"), "%")
    all_of = [row for row in orders if row]
    gain = None
    if len(all_of) == len(orders):
        gain = max(row.accuracy for row in all_of[1:]) - all_of[0].accuracy
    yield Claim(f"order 2 or 3 above order 1, {where}, test", 0.01, True, gain, "points")
    yield Claim(f"training, {where}, order 2", 40, False, _of(orders[1], "seconds"), "s")
    speed = _of(orders[1], "tokens_per_second")
    yield Claim(f"tokens tagged, {where}, order 2", 130_000, True, speed, "/s")
    most = max((row.megabytes for row in all_of), default=None)
    yield Claim(f"memory in training, {where}, any order", MARMOT[0].megabytes, False, most, "MB")


def _czech(report: Report) -> Iterator[Claim]:
    row, marmot = _task(report, "czech", "PCRF 2"), next(row for row in MARMOT if row.corpus == "czech")
    where = "Czech upos+feats, order 2, than MarMoT's (quoted)"
    yield Claim(f"higher accuracy, {where}, test", marmot.accuracy, True, _of(row, "accuracy"), "%")
    yield Claim(f"shorter training, {where}", marmot.seconds, False, _of(row, "seconds"), "s")
    yield Claim(f"less memory in training, {where}", marmot.megabytes, False, _of(row, "megabytes"), "MB")


def _exact(report: Report) -> Iterator[Claim]:
    for name in EXACT:
        row = _task(report, name, "perceptron")
        yield Claim(f"exact training, {name}", 300, False, _of(row, "seconds"), "s")
        yield Claim(
            f"sentences from tokens to tags, {name}", 2_000, True, _of(row, "sentences_per_second"), "/s"
        )
        auto, dense, floor = (_seconds(report, method, name) for method in ("auto", "viterbi", FLOOR))
        yield Claim(f"auto faster than viterbi, lattices of {name}", 250, True, _over(dense, auto))
        yield Claim(f"auto's time over reading the emissions once, {name}", 5, False, _over(auto, floor))


def _others(report: Report) -> Iterator[Claim]:
    seconds = report.startup.spread.median if report.startup else None
    yield Claim("certus tag, from start to first label", 0.3, False, seconds, "s")


def _of(row: Trained | None, figure: str) -> float | None:
    return None if row is None else getattr(row, figure)


def _over(numerator: float | None, denominator: float | None) -> float | None:
    return numerator / denominator if numerator is not None and denominator else None
