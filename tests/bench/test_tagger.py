"""The tagger benchmark, on corpora of a few made-up sentences: what it measures, notices and writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from certus.chain import METHODS
from certus.errors import CertusError, InvalidInput
from certus.formats import Target, read
from certus.models.tagger import Tagger
from certus_bench.corpora import CORPORA, select_corpora, select_mean_length
from certus_bench.entries import FLOOR, enter_method, score_path
from certus_bench.harness.benchmark import store
from certus_bench.harness.claims import Claim
from certus_bench.harness.tables import format_amount, format_number, lay_out_claims
from certus_bench.harness.timing import Spread
from certus_bench.referee import Row
from certus_bench.tagger import BENCHMARK, decoders, job, learning, oracle, orders, proofs, run, tasks
from certus_bench.tagger.claims import make_claims
from certus_bench.tagger.job import Job, measure_quality, perform_job, read_peak_megabytes, run_job
from certus_bench.tagger.records import (
    PARTS,
    Learning,
    PruningCost,
    Startup,
    TaggerPlan,
    TaggerReport,
    TrainedTagger,
)

WORDS = {
    "the": ("DET", "DT", "Definite=Def", "B-NP"),
    "dog": ("NOUN", "NN", "Number=Sing", "I-NP"),
    "doña": ("NOUN", "NNS", "Number=Plur", "I-NP"),
    "cat": ("NOUN", "NN", "Number=Sing", "I-NP"),
    "sleeps": ("VERB", "VBZ", "Number=Sing", "B-VP"),
    "sleep": ("VERB", "VBP", "Number=Plur", "B-VP"),
    "sees": ("VERB", "VBZ", "Number=Sing", "B-VP"),
    ".": ("PUNCT", ".", "_", "O"),
}
# A word beyond ASCII, so that the encoding of a corpus matters.
SHAPES = ("the dog sleeps .", "the doña sleep .", "the cat sees the dog .", "the dog sees the doña .")


def conllu(text: str) -> str:
    lines = []
    for n, word in enumerate(text.split(), 1):
        upos, xpos, feats, _ = WORDS[word]
        head = n + 1 if upos == "DET" else 0 if upos == "VERB" else max(1, n - 1)
        lines.append(f"{n}\t{word}\t{word}\t{upos}\t{xpos}\t{feats}\t{head}\tdep\t_\t_")
    return "\n".join(lines) + "\n\n"


def chunked(text: str) -> str:
    return "".join(f"{word} {WORDS[word][1]} {WORDS[word][3]}\n" for word in text.split()) + "\n"


def bracketed(text: str) -> str:
    """A sentence as a tree: a noun phrase, then a verb phrase that may have another."""
    *words, _ = text.split()
    verb = next(n for n, word in enumerate(words) if WORDS[word][0] == "VERB")
    tags = [f"({WORDS[word][1]} {word})" for word in words]
    subject, rest = " ".join(tags[:verb]), " ".join(tags[verb + 1 :])
    return f"(S (NP-SBJ {subject}) (VP {tags[verb]} {f'(NP {rest})' if rest else ''}) (. .))\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out every corpus, 40 sentences to learn from and 8 held out."""
    root = tmp_path_factory.mktemp("data")
    for corpus in CORPORA.values():
        for part in ("train", "dev", "test"):
            if part == "dev" and not corpus.dev:
                continue
            path = root / corpus.folder / corpus.name_file(part)
            path.parent.mkdir(parents=True, exist_ok=True)
            sentence = {".txt": chunked, ".mrg": bracketed}.get(corpus.suffix, conllu)
            text = "".join(map(sentence, SHAPES * (10 if part == "train" else 2)))
            path.write_bytes(text.encode(corpus.encoding))
    return root


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the jobs in this process, to save time."""
    for module in (decoders, orders, proofs, tasks):
        monkeypatch.setattr(module, "run_job", lambda plan, job: perform_job(plan.data, job))


def small(data: Path, *only: str) -> TaggerPlan:
    return TaggerPlan(data=data, only=frozenset(only), quick=True, seconds=0.001, sentences=2)


def model(**about: object) -> TrainedTagger:
    spread = Spread(1e-5, 1e-5, 1e-5)
    made = TrainedTagger(
        "conll2000", "perceptron", "test", 319, 9, 20.0, 99.0, 94.5, 80.0, 93.0, spread, 20.0
    )
    return replace(made, **about)  # type: ignore[arg-type]


def test_a_tenth_is_held_out_where_there_is_no_dev_file(data: Path) -> None:
    corpus = CORPORA["conll2000"]
    sizes = {part: len(list(corpus.read(data, part))) for part in ("train", "learn", "dev", "test")}
    assert sizes == {"train": 40, "learn": 36, "dev": 4, "test": 8}
    whole = [sentence.words for sentence in corpus.read(data, "train")]
    assert [sentence.words for sentence in corpus.read(data, "dev")] == whole[36:]
    assert len(list(corpus.read(data, "learn", 3))) == 3
    trees = CORPORA["wsj-supertags"]  # all in one file, of 8 sentences here: the one written last is of test
    assert [len(list(trees.read(data, part))) for part in ("train", "learn", "dev", "test")] == [7, 7, 0, 1]
    with_dev = CORPORA["bosque"]
    assert [len(list(with_dev.read(data, part))) for part in ("learn", "dev")] == [40, 8]


def test_a_missing_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"bosque needs .*train\.conllu"):
        CORPORA["bosque"].read(tmp_path, "train")


def test_missing_data_are_noticed_before_anything_is_trained(tmp_path: Path, here: None) -> None:
    for part in PARTS:
        with pytest.raises(InvalidInput, match="which is not there"):
            run(TaggerPlan(data=tmp_path, only=frozenset({part})))


def test_a_model_that_cannot_be_trained_stops_no_other(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(plan: TaggerPlan, job: Job) -> TrainedTagger:
        if job.what == "PCRF 2":
            raise CertusError("out of memory")
        return model(corpus=job.corpus, what=job.what)

    monkeypatch.setattr(orders, "run_job", fails)
    monkeypatch.setattr(tasks, "run_job", fails)
    report = run(small(data, "orders", "tasks", "bosque"))
    assert [row.what for row in report.orders] == ["PCRF 1", "PCRF 3", "PCRF 2, seen"]
    assert [row.what for row in report.tasks if not row.quoted] == ["PCRF 1", "PCRF 3"]
    assert report.failures == ["out of memory"]


def test_names_choose_parts_and_corpora(data: Path) -> None:
    assert TaggerPlan(data=data).parts == list(PARTS)
    assert TaggerPlan(data=data, only=frozenset({"tasks", "bosque"})).parts == ["tasks"]
    assert [corpus.name for corpus in select_corpora(("ewt", "bosque"), frozenset({"tasks", "bosque"}))] == [
        "bosque"
    ]
    assert [corpus.name for corpus in select_corpora(("ewt", "bosque"), frozenset({"tasks"}))] == [
        "ewt",
        "bosque",
    ]
    with pytest.raises(InvalidInput, match="nothing called 'speed'"):
        TaggerPlan(data=data, only=frozenset({"speed"}))
    with pytest.raises(InvalidInput, match="no folder"):
        TaggerPlan(data=data / "nowhere")
    hurried = TaggerPlan(data=data).hurry()
    assert (hurried.limit_epochs(10), hurried.limit_epochs(1), hurried.limit) == (2, 1, 1000)


def test_sentences_of_mean_length_keep_their_order(data: Path) -> None:
    sentences = list(read(data / "ud/en_ewt/dev.conllu"))  # lengths 4, 4, 6, 6 and again
    assert [len(sentence) for sentence in select_mean_length(sentences[:3], 2)] == [4, 4]
    assert select_mean_length(sentences, 3) == sentences[:3]


def test_every_decoder_is_timed_and_right_on_trained_lattices(data: Path, here: None) -> None:
    report = run(small(data, "decoders", "conll2000"))
    assert report.failures == []
    for name, method in METHODS.items():
        if method.one and name != "beam":
            assert report.find_seconds(name, "conll2000"), name
        if method.many:
            assert all(report.find_seconds(name, "conll2000", k) for k in (1, 5, 10, 100)), name
    assert report.find_seconds(FLOOR, "conll2000")
    assert any(row.method.startswith("beam (") for row in report.decoders)
    assert all(row.stats["iterations"] >= 1 for row in report.decoders if row.method == "staggered")


def test_a_decoder_that_forgets_the_ends_is_noticed(data: Path) -> None:
    tagger = Tagger("upos", "perceptron", epochs=2).fit(read(data / "ud/en_ewt/train.conllu"))
    sentences = list(read(data / "ud/en_ewt/dev.conllu"))[:2]
    sample = decoders.score_sentences(tagger, sentences)
    best = sample.chain.decode(sample.sentences[0])
    assert score_path(sample, 0, best.labels)[0] == pytest.approx(best.score)
    assert best.score == pytest.approx(tagger.tag(sentences[0]).score)
    without = replace(sample, start=np.full(sample.labels, 50.0, np.float32))
    assert score_path(without, 0, best.labels)[0] != pytest.approx(best.score)
    assert enter_method("auto", "auto").kind == "certus"


def test_a_beam_is_as_wide_as_it_has_to_be(data: Path) -> None:
    tagger = Tagger("pos|chunk", "perceptron", epochs=2).fit(data / "chunk/conll2000/train.txt")
    sentences = list(read(data / "chunk/conll2000/test.txt"))
    assert 1 <= decoders.find_beam_width(tagger, sentences) <= 2 * len(tagger.labels)


def test_learning_is_timed_whole_or_extrapolated(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = run(small(data, "training", "conll2000"))
    assert [row.decoder for row in report.training] == ["viterbi", "carpediem", "staggered", "auto"]
    assert all(row.measured == row.needed == 2 * 36 for row in report.training)
    monkeypatch.setattr(learning, "_PATIENCE", 1e-9)
    monkeypatch.setattr(learning, "_STEP", 3)
    *slow, fast = run(small(data, "training", "conll2000")).training
    assert not fast.extrapolated
    for row in slow:
        assert row.extrapolated
        assert row.measured == 2 * 4 * 3  # of each piece of each epoch
        assert row.seconds > 0


def test_orders_are_trained_from_several_seeds(data: Path, here: None) -> None:
    report = run(replace(small(data, "orders", "szeged"), seeds=2))
    assert [row.what for row in report.orders] == [row.what for row in report.seeds]
    assert [len(row.accuracies) for row in report.seeds] == [2, 2, 2, 2]
    assert [row.accuracies[0] for row in report.seeds] == [row.accuracy for row in report.orders]
    console = Console(width=200, record=True, file=StringIO())
    BENCHMARK.show(report, console)
    assert "of 2" in console.export_text()


def test_pruning_costs_little_and_an_oracle_loses_nothing(data: Path) -> None:
    rows = run(small(data, "oracle", "szeged", "basque")).pruning
    assert [(row.corpus, row.what, row.seed) for row in rows] == [
        (corpus, what, seed) for corpus in ("szeged", "basque") for what in oracle.MODELS for seed in (0, 1)
    ]
    for row in rows:
        assert len(row.lost) == len(row.lost_on_dev) == 2
        assert 0 < row.accuracy <= 100
        assert 0 < row.proven <= 100
        if row.what.startswith("oracle"):
            assert row.lost == (0.0, 0.0)
            assert row.accuracy == row.proven


def test_what_pruning_drops_is_counted_and_taken_back() -> None:
    gold, lengths = np.array([0, 3, 2, -1], np.int32), np.array([2, 1, 1])
    candidates = [np.array(labels, np.int32) for labels in ([0, 1], [1], [2], [0])]
    assert oracle.count_lost(candidates, gold, lengths) == 0.5  # the last sentence has an unknown label
    allowed = oracle.add_gold(candidates, gold, lengths)
    assert [[labels.tolist() for labels in one or [] if labels is not None] for one in allowed] == [
        [[0, 1], [1, 3]],
        [[2]],
        [[0]],
    ]


def test_orders_are_trained_on_dev_and_the_unpruned_crf_beside_them(data: Path, here: None) -> None:
    report = run(small(data, "orders", "ewt-upos", "basque"))
    assert [(row.corpus, row.what) for row in report.orders] == [
        *(("ewt-upos", what) for what in ("CRF 1", "PCRF 1", "PCRF 2", "PCRF 3")),
        *(("basque", what) for what in ("PCRF 1", "PCRF 2", "PCRF 3", "PCRF 2, seen")),
    ]
    assert all(row.part == "dev" and row.tokens_per_second > 0 for row in report.orders)


def test_proofs_are_counted_and_timed_on_test(data: Path, here: None) -> None:
    report = run(small(data, "proofs", "bosque"))
    assert [(row.corpus, row.order, row.sentences) for row in report.proofs] == [
        ("bosque", n, 8) for n in (1, 2, 3)
    ]
    for row in report.proofs:
        assert (row.proven, row.finite) == (100, 100)
        assert row.ratio == row.proven_token / row.unproven_token
        assert row.megabytes > 0
        assert 0 < row.more < 1000


def test_tasks_are_measured_on_test(data: Path, here: None) -> None:
    report = run(small(data, "tasks", "conll2000-chunk", "bosque", "ewt-parse", "ewt-upos"))
    assert {row.part for row in report.tasks} == {"test"}
    assert {row.what for row in report.tasks if row.corpus == "bosque" and row.quoted} == {
        "MarMoT 1", "MarMoT 2", "MarMoT 3",
    }  # fmt: skip
    chunks = report.find_task("conll2000-chunk", "PCRF 2")
    assert chunks is not None
    assert chunks.f1 == pytest.approx(100)
    assert report.find_task("bosque", "MarMoT 2") is None  # quoted figures are nothing that was measured
    assert report.find_seconds("auto", "ewt-parse")
    assert report.find_seconds("viterbi", "ewt-parse")
    assert report.startup is not None
    assert 0 < report.startup.spread.median < 60


def test_a_job_in_a_process_of_its_own(data: Path) -> None:
    plan = small(data)
    found = run_job(plan, Job(corpus="conll2000", what="p", learner="perceptron", options={"epochs": 2}))
    assert found.accuracy == pytest.approx(100)
    assert (found.labels, found.tokens, found.length) == (6, 180, 5)
    assert found.megabytes > 10
    assert found.sentences_per_second == pytest.approx(found.tokens_per_second / 5)
    with pytest.raises(CertusError, match=r"training x on conll2000 failed: .*no learner"):
        run_job(plan, Job(corpus="conll2000", what="x", learner="guess"))


def test_the_peak_of_memory_is_not_the_parents(data: Path) -> None:
    ballast = np.ones(400 << 17)  # 400 MB
    code = "from certus_bench.tagger.job import read_peak_megabytes; print(read_peak_megabytes())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ballast.nbytes == 400 << 20
    if sys.platform == "linux":
        assert float(done.stdout) < 390
    assert read_peak_megabytes() > float(done.stdout)


def test_quality_tells_unknown_words_and_chunks(data: Path) -> None:
    sentences = list(read(data / "chunk/conll2000/test.txt"))[:1]  # the dog sleeps .
    answers = [["DT|B-NP", "NN|B-NP", "VBZ|B-VP", ".|O"]]
    found = measure_quality(Target("pos|chunk"), sentences, answers, known={"the", "dog", "sleeps"})
    assert found["accuracy"] == pytest.approx(75)
    assert found["unknown"] == pytest.approx(100)
    assert found["f1"] == pytest.approx(100 * 2 * 1 / (3 + 2))
    everything = measure_quality(Target("pos"), sentences, [["DT", "NN", "VBZ", "."]], known=set(WORDS))
    assert everything == {"accuracy": pytest.approx(100), "unknown": None, "f1": None}


def test_claims_hold_what_was_measured_against_what_is_needed(data: Path) -> None:
    def row(method: str, seconds: float) -> Row:
        spread = Spread(seconds, seconds, seconds)
        return Row("ewt-parse", 3193, 16, method, "certus", 1, spread, 1, 1, False)

    report = TaggerReport(
        TaggerPlan(data=data), {}, [row("viterbi", 1.0), row("auto", 2e-3), row(FLOOR, 1e-4)]
    )
    report.tasks = [
        model(),
        *(model(corpus="bosque", what=f"PCRF {n}", accuracy=93 + n / 10, seconds=39 + n) for n in (1, 2, 3)),
    ]
    report.startup = Startup(Spread(0.2, 0.2, 0.2), "m")
    made = {claim.text: claim for claim in make_claims(report)}
    assert made["accuracy, CoNLL-2000 joint, test"].holds
    assert made["training faster than CRFsuite's (quoted, 220 s), CoNLL-2000 joint, test"].measured == 11
    assert made["order 2 or 3 above order 1, Bosque upos+feats, test"].measured == pytest.approx(0.2)
    assert made["accuracy, Bosque upos+feats, test, order 2"].holds is False
    assert made["training, Bosque upos+feats, order 2"].holds is False
    assert made["auto faster than viterbi, lattices of ewt-parse"].measured == pytest.approx(500)
    assert made["auto's time over reading the emissions once, ewt-parse"].holds is False
    assert made["exact training, bosque-xpos"].holds is None
    assert made["certus tag, from start to first label"].holds
    report.tasks.append(model(what=job.CRFSUITE, seconds=100.0))
    assert any("in this run" in claim.text and claim.measured == 5 for claim in make_claims(report))
    report.plan = report.plan.hurry()
    assert {c.text: c for c in make_claims(report)}["accuracy, CoNLL-2000 joint, test"].holds is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(94.456, "%", "94.46 %"), (12.345, "×", "12.3×"), (12345.6, "/s", "12,346/s"), (0.1234, "s", "0.123 s")],
)
def test_figures_carry_their_units(value: float, unit: str, text: str) -> None:
    assert format_amount(value, unit) == text


def test_tables_name_everything(data: Path, tmp_path: Path) -> None:
    def row(method: str, k: int, corpus: str = "conll2000") -> Row:
        counters = {"iterations": 3.0, "activated": 46.0}
        return Row(corpus, 319, 23, method, "certus", k, Spread(1e-3, 1e-3, 2e-3), 3, 3, False, counters)

    machine = {"processor": "x", "cores": 1, "python": "3", "numpy": "2", "certus": "1", "rivals": {}}
    report = TaggerReport(TaggerPlan(data=data), machine)
    report.decoders = [row("auto", 1), row("beam (4)", 1), row("auto", 5), row("beam (8)", 1, "czech-xpos")]
    report.decoders += [row("kbest-astar", k) for k in (1, 5)]
    fast = Learning("conll2000", 319, "auto", 10, 2.0, 100, 100)
    report.training = [replace(fast, decoder="viterbi", seconds=60.0, measured=10), fast]
    report.orders, report.tasks = [model(what="PCRF 2")], [model(), *job.MARMOT]
    dropped = PruningCost("szeged", 444, "4 labels", 0, 89.0, 89.1, (5.0, 4.0), (7.0, 6.5))
    report.pruning = [dropped, replace(dropped, seed=1, accuracy=89.5)]
    report.startup = Startup(Spread(0.2, 0.1, 0.3), "m")
    report.failures = ["auto is wrong"]
    console = Console(width=200, record=True, file=StringIO())
    BENCHMARK.show(report, console)
    text = console.export_text()
    for part in (
        "1,000 [500–1,000]", "1,000 (4)", "1,000 (8)", "3.00 (2.0)", "60 * (10 of 100)", "2 30×",
        "MarMoT 3 (quoted)", "89.25 ± 0.35", "6.5",
        "200 ms [100–300]", "what has to hold", "FAILED  auto is wrong", "5,000",
    ):  # fmt: skip
        assert part in text, part
    assert text.count("kbest-astar") == 2  # among the 5 best, and as k grows; not among methods for one path
    store(BENCHMARK.as_json(report), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == BENCHMARK.as_json(report)
    assert BENCHMARK.as_json(report)["training"][0]["extrapolated"] is True


def test_the_picture(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    spread = Spread(1e-3, 1e-3, 2e-3)
    rows = [Row("conll2000", 319, 23, "auto", "certus", k, spread, 3, 3, False) for k in (1, 5)]
    BENCHMARK.draw(TaggerReport(small(data), {}, rows), tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 1000
    with pytest.raises(CertusError, match="timed no decoder"):
        BENCHMARK.draw(TaggerReport(small(data), {}), tmp_path / "none.png")


def test_features_for_crfsuite_are_those_around_a_word() -> None:
    first, last = job.extract_features(["A", "re-do"])
    assert {"w-1=<", "w+0=A", "w+1=re-do", "ww+1=A|re-do", "title=True", "hyphen=False"} <= set(first)
    assert {"w-1=A", "w+1=>", "p3=re-", "s2=do", "hyphen=True"} <= set(last)


def test_crfsuite_runs_beside_if_it_is_installed(data: Path) -> None:
    pytest.importorskip("pycrfsuite")
    wanted = Job(corpus="conll2000", what=job.CRFSUITE, learner=job.CRFSUITE, options={"epochs": 5})
    found = perform_job(data, wanted)
    assert found.accuracy > 90
    assert found.labels == 6


def test_the_command_line(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from certus.cli import main; main()", "bench", "tagger", "--quick"]
    done = subprocess.run(
        [*command, "--data", str(data), "--only", "training,conll2000", "--json", str(tmp_path / "r.json")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "what has to hold" in done.stdout
    assert len(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["training"]) == 4
    environment = {name: value for name, value in os.environ.items() if name != "CERTUS_DATA"}
    lost = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert lost.returncode == 2
    assert "CERTUS_DATA" in lost.stderr


def test_claims_in_other_units_are_laid_out() -> None:
    console = Console(width=120, record=True, file=StringIO())
    console.print(
        lay_out_claims([Claim("speed", 10_000, True, 12_000.4, "/s"), Claim("size", 430, False, 500, "MB")])
    )
    text = console.export_text()
    assert "≥ 10,000/s" in text
    assert "12,000/s" in text
    assert "500 MB" in text
    assert "FAIL" in text
    assert format_number(0.12345) == "0.123"
