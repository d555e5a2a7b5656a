"""``certus tag``: files come out as they went in but for what is predicted, and text as CoNLL-U."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import certus
from certus.cli import quick, streams, tag
from certus.cli.app import app
from certus.cli.options import TagOptions
from certus.errors import CertusError, FormatError, InvalidInput, ModelError
from certus.formats import read
from tests.formats.samples import CONLLU
from tests.models import invented

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tagger of words (m.certus), one of chunks from words and pos, and one of both."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "train.txt").write_text(invented.columns(200, 1), encoding="utf-8")
    words = certus.Tagger("upos+feats", "perceptron", epochs=4).fit(invented.sentences(200, 1))
    words.save(folder / "m.certus")
    words.save(folder / "model-by-content")
    chunks = certus.Tagger("chunk", "perceptron", epochs=3).fit(folder / "train.txt")
    chunks.save(folder / "chunks.certus")
    certus.Tagger("pos|chunk", "hmm").fit(folder / "train.txt").save(folder / "joint.certus")
    return folder


@pytest.fixture
def folder(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with links to the models."""
    for name in ("m.certus", "model-by-content", "chunks.certus", "joint.certus"):
        (tmp_path / name).symlink_to(models / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tagged(*arguments: str, text: str | None = None) -> str:
    """Tag in this process and return what is written."""
    result = CliRunner().invoke(app, ["tag", *arguments], input=text, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def run(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, "tag", *arguments], capture_output=True, check=False, **options)


def without(text: str, *columns: int) -> list[list[str]]:
    """The fields of all lines, but for some columns of the tokens."""
    rows = [line.split("\t") for line in text.split("\n")]
    return [
        [field for place, field in enumerate(row) if place not in columns or "-" in row[0] or "." in row[0]]
        for row in rows
    ]


# ------------------------------------------------------------------------------------------ files in and out


def test_text_becomes_conllu(folder: Path) -> None:
    assert tagged("m.certus", "lo bakola runet.") == (
        "# text = lo bakola runet.\n"
        "1\tlo\t_\tDET\t_\tNumber=Sing\t_\t_\t_\t_\n"
        "2\tbakola\t_\tNOUN\t_\tCase=Nom|Number=Sing\t_\t_\t_\t_\n"
        "3\trunet\t_\tVERB\t_\tNumber=Sing|Person=3\t_\t_\t_\tSpaceAfter=No\n"
        "4\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
    )


def test_several_texts_and_lines(folder: Path) -> None:
    out = tagged("m.certus", "lo bakola.\n\nloi bakolai.", "lo runet.")
    assert out.count("# text = ") == 3
    (folder / "text.txt").write_text("lo bakola.\nlo runet.\n", encoding="utf-8")
    assert tagged("m.certus", "text.txt").count("# text = ") == 2


def test_conllu_changes_only_what_is_predicted(folder: Path) -> None:
    for text in (CONLLU, CONLLU.replace("\n", "\r\n"), "\ufeff" + CONLLU, invented.conllu(30, 4)):
        (folder / "in.conllu").write_bytes(text.encode())
        assert tagged("m.certus", "in.conllu", "-o", "out.conllu") == ""
        out = (folder / "out.conllu").read_bytes().decode()
        assert without(out, 3, 5) == without(text, 3, 5), "comments, ranges, empty nodes, other columns"
        assert out.count("Number=") > 0
        right = certus.load("m.certus").tag_batch(read("in.conllu"))
        for sentence, answer in zip(read("out.conllu"), right, strict=True):
            assert certus.load("m.certus").target.labels(sentence) == answer.labels


def test_tagging_ones_own_output_changes_nothing(folder: Path) -> None:
    once = tagged("m.certus", "lo bakola runet.", "--confidence")
    (folder / "once.conllu").write_text(once, encoding="utf-8")
    twice = tagged("m.certus", "once.conllu", "--confidence")
    assert [line for line in twice.split("\n") if line[:1].isdigit()] == [
        line for line in once.split("\n") if line[:1].isdigit()
    ]


def test_columns_stay_columns(folder: Path) -> None:
    text = invented.columns(20, 4)
    (folder / "gold.txt").write_text(text, encoding="utf-8")
    blank = "\n".join(" ".join([*line.split()[:2], "?"]) if line else "" for line in text.split("\n"))
    (folder / "in.txt").write_text(blank, encoding="utf-8")
    assert tagged("chunks.certus", "in.txt", "--columns", "word pos chunk") == text


def test_columns_that_lack_what_is_predicted_get_it(folder: Path) -> None:
    text = invented.columns(20, 4)
    for width, model, columns in ((1, "joint.certus", "word"), (2, "chunks.certus", "word pos")):
        short = "\n".join(" ".join(line.split()[:width]) for line in text.split("\n"))
        out = tagged(model, "--columns", columns, text=short)
        got = [line.split() for line in out.split("\n")]
        expected = [line.split() for line in text.split("\n")]
        assert [row[:width] for row in got] == [row[:width] for row in expected]
        right = sum(g == e for g, e in zip(got, expected, strict=True))
        assert right > 0.85 * len(expected)
    tabs = "lo\t1 x\r\nbakola\t2\r\n\r\n"
    (folder / "tabs.tsv").write_bytes(tabs.encode())
    done = run("joint.certus", "tabs.tsv", "--columns", "word note")
    assert done.stdout == b"lo\t1 x\tDET\tB-NP\r\nbakola\t2\tNOUN\tI-NP\r\n\r\n", done.stderr
    assert (
        tagged("joint.certus", "--columns", "word", text="lo  \nbakola\n")
        == "lo DET B-NP\nbakola NOUN I-NP\n"
    )


def test_text_for_what_conllu_has_no_place_for(folder: Path) -> None:
    assert tagged("joint.certus", "lo bakola.") == "lo\tDET\tB-NP\nbakola\tNOUN\tI-NP\n.\tPUNCT\tO\n\n"
    out = tagged("joint.certus", text="lo bakola .\nlo .\n")
    assert out.count("\n\n") == 2


def test_conllu_has_no_place_for_chunks(folder: Path) -> None:
    (folder / "in.conllu").write_text(CONLLU, encoding="utf-8")
    with pytest.raises(
        InvalidInput, match=r"in.conllu:5: the model predicts pos\|chunk, but there is no column"
    ):
        tagged("joint.certus", "in.conllu")


def test_stdin(folder: Path) -> None:
    expected = tagged("m.certus", "lo bakola.")
    assert tagged("m.certus", text="lo bakola.\n") == expected
    assert tagged("m.certus", "-", text="lo bakola.\n") == expected
    done = run("m.certus", "--quiet", input=b"lo bakola.\n")
    assert (done.stdout.decode(), done.stderr) == (expected, b"")


def test_who_types_gets_an_answer_at_once(folder: Path) -> None:
    pty = pytest.importorskip("pty")
    typing, terminal = pty.openpty()
    process = subprocess.Popen([*COMMAND, "tag", "m.certus"], stdin=terminal, stdout=subprocess.PIPE)
    os.close(terminal)
    assert process.stdout is not None
    for _ in range(2):
        os.write(typing, b"lo bakola.\n")
        lines = [process.stdout.readline() for _ in range(5)]
        assert lines[0] == b"# text = lo bakola.\n"
        assert lines[4] == b"\n"
    os.write(typing, b"\x04")  # the end of the input
    assert process.stdout.read() == b""
    process.stdout.close()
    assert process.wait() == 0
    os.close(typing)


def test_encodings(folder: Path) -> None:
    (folder / "in.txt").write_bytes("é DT\n\n".encode("latin-1"))
    arguments = ["joint.certus", "in.txt", "--columns", "word pos", "--encoding", "latin-1"]
    assert run(*arguments).stdout.startswith("é ".encode("latin-1"))
    tagged(*arguments, "-o", "out.txt")
    assert (folder / "out.txt").read_bytes().startswith("é ".encode("latin-1"))
    for more in ([], ["-o", "out.txt"]):
        with pytest.raises(InvalidInput, match="'ł' cannot be written in the encoding 'latin-1'; utf-8 has"):
            tagged("m.certus", "łódź", "--encoding", "latin-1", *more)


def test_compressed_files(folder: Path) -> None:
    tagged("m.certus", "lo bakola.", "-o", "out.conllu.gz")
    assert tagged("m.certus", "out.conllu.gz") == tagged("m.certus", "lo bakola.")


# -------------------------------------------------------------------------------------- more than the labels


def test_k_best_in_conllu(folder: Path) -> None:
    (folder / "in.conllu").write_text(CONLLU, encoding="utf-8")
    out = tagged("m.certus", "in.conllu", "-k", "3", "--confidence")
    (folder / "out.conllu").write_text(out, encoding="utf-8")
    sentences = list(read("out.conllu"))
    assert len(sentences) == 6
    answers = certus.load("m.certus").tag_batch(read("in.conllu"), k=3, confidence=True)
    for place, sentence in enumerate(sentences):
        answer = answers[place // 3][place % 3]
        assert certus.load("m.certus").target.labels(sentence) == answer.labels
        comments = [line for line in sentence.text.split("\n") if line.startswith("#")]
        assert comments[-3:] == [
            f"# rank = {place % 3 + 1}",
            f"# score = {answer.score:.6g}",
            f"# probability = {answer.probability:.6g}",
        ]
        assert ("Confidence=" in sentence.text) == (place % 3 == 0)
    first = out.split("\n")
    assert first[:3] == CONLLU.split("\n")[:3], "own comments first"
    assert first[6].startswith("1-2\t"), "then ours, then the range"


def test_confidence_in_conllu(folder: Path) -> None:
    out = tagged("m.certus", "lo bakola.", "--confidence")
    answer = certus.load("m.certus").tag(["lo", "bakola", "."], confidence=True)
    misc = [line.split("\t")[9] for line in out.split("\n") if "\t" in line]
    notes = [f"Confidence={p:.4f}" for p in answer.confidence]
    assert misc == [notes[0], f"SpaceAfter=No|{notes[1]}", notes[2]]
    assert f"# probability = {answer.probability:.6g}\n" in out


def test_confidence_in_columns(folder: Path) -> None:
    out = tagged("chunks.certus", "--columns", "word pos", "--confidence", text="lo DET\nbakola NOUN\n\n")
    answer = certus.load("chunks.certus").tag(
        {"word": ["lo", "bakola"], "pos": ["DET", "NOUN"]}, confidence=True
    )
    assert answer.labels[0] == "B-NP"
    first, second = (f"{label} {p:.4f}" for label, p in zip(answer.labels, answer.confidence, strict=True))
    assert out == f"lo DET {first}\nbakola NOUN {second}\n\n"
    again = tagged("chunks.certus", "--columns", "word pos chunk confidence", "--confidence", text=out)
    assert again == out


def test_k_best_in_columns(folder: Path) -> None:
    out = tagged("joint.certus", "--columns", "word", "-k", "2", text="lo\nbakola\n\n")
    first, second, rest = out.split("\n\n")
    assert rest == ""
    assert first == "lo DET B-NP\nbakola NOUN I-NP"
    assert second != first
    out = tagged("joint.certus", "lo bakola", "-k", "2", "--confidence")
    first, second, rest = out.split("\n\n")
    assert first.startswith("# rank = 1\n# score = ")
    assert all(line.endswith("\t_") for line in second.split("\n")[3:]), "not known of the second best"


def test_legal(folder: Path) -> None:
    text = "lo\nbakola\n\n" * 3
    for model, columns in (("joint.certus", "word"), ("chunks.certus", "word pos")):
        words = (
            text if model == "joint.certus" else text.replace("lo\n", "lo DET\n").replace("la\n", "la NOUN\n")
        )
        assert tagged(model, "--columns", columns, "--legal", "bio", text=words)
    with pytest.raises(InvalidInput, match="no scheme 'ioe1'; there are bio, iob1, bilou, iobes, bmes"):
        tagged("chunks.certus", "--legal", "ioe1", "x")
    with pytest.raises(InvalidInput, match="no column is in the scheme bio: its labels are ADJ"):
        tagged("m.certus", "--legal", "bio", "x")


def test_a_format_that_does_not_exist_is_refused_for_text_too(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="format 'xml' is unknown"):
        tagged("m.certus", "lo", "--format", "xml")


def test_a_model_that_is_not_there_is_not_text(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file wsj\.tagger; the model comes first"):
        tagged("wsj.tagger", "lo bakola")
    with pytest.raises(InvalidInput, match="there is no file english; the model comes first"):
        tagged("english", "m.certus")
    assert streams.sort_out("Hello.", ["Bye."]) == (None, ["Hello.", "Bye."])


def test_legal_looks_at_the_column_that_is_in_the_scheme() -> None:
    from certus.formats import Target

    labels = ["DET|B-NP", "NOUN|I-NP", "PUNCT|O"]
    made = tag.make_automaton("bio", Target("pos|chunk"), labels)
    assert made is not None
    assert made.accepts([0, 1, 2])
    assert not made.accepts([2, 1])
    with pytest.raises(
        InvalidInput, match=r"the model predicts pos\|ner, of which no column is in the scheme bio"
    ):
        tag.make_automaton("bio", Target("pos|ner"), ["DET|X", "NOUN|Y"])


def test_dictionary(folder: Path) -> None:
    (folder / "d.txt").write_text("lo\tADP PUNCT\n\nbakola\tADP\n", encoding="utf-8")
    listed = tag.read_dictionary("d.txt", "utf-8")
    assert listed == {"lo": ["ADP", "PUNCT"], "bakola": ["ADP"]}
    (folder / "j.txt").write_text("bakola\tVERB|B-VP\n", encoding="utf-8")
    assert "bakola\tVERB\tB-VP\n" in tagged("joint.certus", "lo bakola", "--dictionary", "j.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"lo ADP\n", "d.txt:1: a word, a tab and its labels are needed"),
        (b"lo\tADP\nla\t \n", "d.txt:2: a word, a tab"),
        (b"\tADP\n", "d.txt:1: a word, a tab"),
        (b"\xff\tADP\n", "cannot read the dictionary d.txt: .*utf-8"),
        (None, "cannot read the dictionary d.txt: No such file"),
        (b"lo\tNONE\n", "'NONE', allowed for 'lo', is no label of the tagger"),
    ],
)
def test_dictionaries_that_are_none(content: bytes | None, message: str, folder: Path) -> None:
    if content is not None:
        (folder / "d.txt").write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        tagged("joint.certus", "lo", "--dictionary", "d.txt")


def test_constraints_that_nothing_fits(folder: Path) -> None:
    (folder / "d.txt").write_text("lo\tNOUN|I-NP\n", encoding="utf-8")
    for more in ([], ["-k", "2"], ["--confidence"]):
        with pytest.raises(FormatError, match="<argument>:1: no label sequence fits the constraints here"):
            tagged("joint.certus", "lo", "--dictionary", "d.txt", "--legal", "bio", *more)


def test_threads_and_batches_do_not_matter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "in.conllu").write_text(invented.conllu(50, 9), encoding="utf-8")
    expected = tagged("m.certus", "in.conllu")
    assert tagged("m.certus", "in.conllu", "--threads", "3") == expected
    monkeypatch.setattr(tag, "BATCH", 7)
    assert tagged("m.certus", "in.conllu") == expected


# ------------------------------------------------------------------------------------- model, file or text


def test_the_first_argument(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert streams.sort_out("m.certus", []) == ("m.certus", ["-"])
    assert streams.sort_out("model-by-content", ["x"]) == ("model-by-content", ["x"])
    assert streams.sort_out("gone.certus", ["x"]) == ("gone.certus", ["x"])
    assert streams.sort_out(None, []) == (None, ["-"])
    assert streams.sort_out("-", []) == (None, ["-"])
    (folder / "text").write_text("x", encoding="utf-8")
    for text in ("A sentence.", "text", ".", "a\0b", "x" * 5000, "I like m.certus"):
        assert streams.sort_out(text, ["more"]) == (None, [text, "more"])
    monkeypatch.setattr("certus.models.loading.find_default_tagger", lambda: "m.certus")
    assert tagged("lo bakola.") == tagged("m.certus", "lo bakola.")
    assert tagged(text="lo bakola.") == tagged("m.certus", "lo bakola.")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["gone.certus", "x"], ModelError, "cannot read the model gone.certus: there is no such file"),
        (["bad.certus", "x"], ModelError, "bad.certus"),
        (["m.certus", "gone.conllu"], InvalidInput, "there is no file gone.conllu"),
        (["m.certus", "some/where"], InvalidInput, "there is no file some/where"),
        (["m.certus", "."], InvalidInput, "is a folder; a file is needed"),
        (["m.certus", ""], InvalidInput, "there is no word in the text ''"),
        (["m.certus", " \n "], InvalidInput, "there is no word in the text"),
        (["m.certus", "x\udcff"], InvalidInput, "is not in the encoding of the terminal"),
        (["m.certus", "empty.txt"], FormatError, "empty.txt: holds no sentence"),
        (["m.certus", "broken.conllu"], FormatError, "broken.conllu:2: there is no tab in this line"),
        (["m.certus", "bytes.txt"], FormatError, "bytes.txt:2: .*UTF-8"),
        (["chunks.certus", "lo bakola"], FormatError, "<argument>:1: there is no column 'pos'"),
        (["m.certus", "x", "--encoding", "none"], InvalidInput, "encoding 'none' is unknown"),
        (["m.certus", "x", "-o", "no/where"], CertusError, "cannot write no/where: there is no folder"),
        (["m.certus", "x", "-o", "."], CertusError, "cannot write .: it is a folder"),
    ],
)  # fmt: skip
def test_refusals(arguments: list[str], kind: type[Exception], message: str, folder: Path) -> None:
    (folder / "bad.certus").write_text("no model", encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "broken.conllu").write_text(CONLLU[:17] + "1 lo\n", encoding="utf-8")
    (folder / "bytes.txt").write_bytes(b"fine .\n\xff\xfe\n")
    before = sorted(os.listdir())
    for more in ([], ["-o", "out"]):
        if "-o" in arguments and more:
            continue
        with pytest.raises(kind, match=message):
            tagged(*arguments, *more)
        assert sorted(os.listdir()) == before, "nothing half-written"


def test_an_error_halfway_leaves_the_old_output(folder: Path) -> None:
    (folder / "in.conllu").write_text(invented.conllu(1000, 3) + "1\tlo\n\n", encoding="utf-8")
    (folder / "out.conllu").write_text("the old one", encoding="utf-8")
    with pytest.raises(FormatError, match=r"in.conllu:\d+: 2 columns instead of 10"):
        tagged("m.certus", "in.conllu", "-o", "out.conllu")
    assert (folder / "out.conllu").read_text(encoding="utf-8") == "the old one"


def test_errors_have_no_traceback(folder: Path) -> None:
    for arguments in (
        ["gone.certus"],
        ["m.certus", "x", "--legal", "none"],
        ["m.certus", "x", "--legal=none"],
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(b"Error: ")
        assert b"Traceback" not in done.stderr
    assert b"No such option" in run("m.certus", "--wrong").stderr


# ------------------------------------------------------------------------------------------- rough treatment


def test_a_broken_pipe(folder: Path) -> None:
    (folder / "in.conllu").write_text(invented.conllu(5000, 3), encoding="utf-8")
    process = subprocess.Popen(
        [*COMMAND, "tag", "m.certus", "in.conllu", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"1\t")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_a_full_disk(folder: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""
    (folder / "in.conllu").write_text(invented.conllu(200, 3), encoding="utf-8")
    before = sorted(os.listdir())

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))

    done = run("m.certus", "in.conllu", "-o", "out.conllu", preexec_fn=limit)
    assert done.returncode == 2
    assert b"cannot write out.conllu: File too large; nothing was left behind" in done.stderr
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout(folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "tag", "m.certus", "lo bakola."], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: cannot write to stdout: No space left on device")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_nothing(number: signal.Signals, folder: Path) -> None:
    before = sorted(os.listdir())
    process = subprocess.Popen(
        [*COMMAND, "tag", "m.certus", "-", "-o", "out.conllu"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background ignores SIGINT, and children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(500):  # until the file is being written
        if sorted(os.listdir()) != before:
            break
        time.sleep(0.02)
    assert sorted(os.listdir()) != before
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 128 + number
    assert b"Traceback" not in said
    assert sorted(os.listdir()) == before


# ------------------------------------------------------------------------------------------- the whole way


def test_train_tag_evaluate_info(folder: Path) -> None:
    (folder / "train.conllu").write_text(invented.conllu(200, 1), encoding="utf-8")
    (folder / "test.conllu").write_text(invented.conllu(50, 3), encoding="utf-8")

    def certus_(*arguments: str) -> str:
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    certus_("train", "tagger", "train.conllu", "--target", "upos+feats", "--epochs", "4", "-o", "new.certus")
    certus_("tag", "new.certus", "test.conllu", "-o", "out.conllu")
    report = json.loads(certus_("evaluate", "test.conllu", "out.conllu", "--json"))
    assert "upos" in json.dumps(report)
    told = json.loads(certus_("info", "new.certus", "--json"))
    assert told["description"]["target"] == "upos+feats"
    assert told["description"]["training"]["name"] == "train.conllu"


def test_info_without_a_model_is_of_the_english_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.models.loading.find_default_tagger", lambda: "m.certus")
    result = CliRunner().invoke(app, ["info", "--json"], catch_exceptions=False)
    assert json.loads(result.stdout)["path"] == "m.certus"


# -------------------------------------------------------------------------------------------- the short way


def declared() -> dict[str, tuple[str, Any, bool]]:
    """The options of ``certus tag`` as the command line declares them: what they set, default, a number.

    Those that always go the long way are left out.
    """
    command: Any = typer.main.get_command(app)
    options = [made for made in command.commands["tag"].params if made.param_type_name == "option"]
    found = [(made.opts, (made.name, made.default, made.min is not None)) for made in options]
    spelled = {spelling: about for spellings, about in found for spelling in spellings}
    assert set(quick.LONG) <= spelled.keys()
    return {spelling: about for spelling, about in spelled.items() if spelling not in quick.LONG}


def test_the_short_way_knows_every_option() -> None:
    known = {**quick.FLAGS, **quick.NUMBERS, **quick.TEXTS}
    assert known == {spelling: name for spelling, (name, *_) in declared().items()}
    for spelling, (_, default, number) in declared().items():
        text = quick.FLAGS if isinstance(default, bool) else quick.TEXTS
        assert spelling in (quick.NUMBERS if number else text)
    defaults = {name: default for name, default, _ in declared().values()}
    own = TagOptions()
    assert {name: getattr(own, name) for name in defaults} == defaults


def test_both_ways_lead_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    def record(*arguments: Any) -> None:
        calls.append(arguments)

    monkeypatch.setattr(tag, "run", record)
    pieces: list[list[str]] = [
        *(
            [],
            ["a b"],
            ["m.certus"],
            ["-"],
            ["--confidence"],
            ["--help"],
            ["--"],
            ["--none"],
            ["-k"],
            ["-k3"],
        ),
        *(["-k", "3"], ["-k", "0"], ["-o", "x"], ["-o", "-"], ["--threads", "2"], ["--legal", "bio"]),
        *(["--columns", "word pos"], ["--format=raw"]),
    ]
    plain = 0
    for one, other in itertools.product(pieces, pieces):
        arguments = ["tag", *one, *other]
        short = quick.read_plain_tag(arguments)
        if short is None:
            continue
        plain += 1
        calls.clear()
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, arguments
        assert calls == [short], arguments
    assert plain >= 80
    assert quick.read_plain_tag(["evaluate", "a", "b"]) is None
    assert quick.read_plain_tag([]) is None


def test_the_short_way_imports_little(folder: Path) -> None:
    code = (
        "import sys, numpy; before = set(sys.modules); "  # what the installation and NumPy bring is not ours
        "sys.argv = ['certus', 'tag', 'm.certus', 'lo bakola .']; "
        "from certus.cli import main; main(); "
        "heavy = {'typer', 'click', 'rich', 'pydantic', 'certus.learn.training', 'certus.learn.hmm', "
        "'certus.models.fitting', 'importlib.resources', 'unittest'} & sys.modules.keys() - before; "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_somebody_who_types_is_told_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not streams.is_typed(["-"])
    monkeypatch.setattr(streams, "is_interactive", lambda source: True)
    assert not streams.is_typed(["a.txt"])
    assert capsys.readouterr().err == ""
    assert streams.is_typed(["a.txt", "-"])
    assert capsys.readouterr().err == "Type one sentence per line; Ctrl-D ends.\n"
