"""ARPA files: read, written, and refused with their line."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

import certus
from certus.errors import FormatError
from tests.translate.problems import make_ngrams, make_sentences, write_arpa

GOOD = """\
a preamble

\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-99 <s> -0.5
-1 </s>
-1.5 a -0.25
-2 <UNK>

\\2-grams:
-0.3 <s> a
-0.4 a </s>

\\end\\
"""


@pytest.mark.parametrize("name", ["m.arpa", "m.arpa.gz"])
def test_written_models_are_read_again(name: str, tmp_path: Path) -> None:
    with pytest.warns(certus.errors.SmoothingWarning):
        model = certus.LanguageModel(4).fit(make_sentences(1))
    model.write_arpa(tmp_path / name)
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"\\data\\\n")
    again = certus.load(tmp_path / name)
    assert again.order == 4
    assert again._arrays.keys() == model._arrays.keys()
    for key, array in model._arrays.items():  # the same words, states and scores, bit by bit
        assert (again._arrays[key] == array).all(), key
    again.write_arpa(tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_models_of_others(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_text(GOOD.replace("\n", "\r\n"))
    model = certus.LanguageModel.read_arpa(tmp_path / "m.arpa")
    assert model.words == ["a"]
    assert model.score("a") == pytest.approx(-0.7 * math.log(10))
    assert model.score("b") == pytest.approx((-0.5 - 2 - 1) * math.log(10))
    without = GOOD.replace("-2 <UNK>\n", "").replace("1=4", "1=3")
    (tmp_path / "m.arpa").write_text(without)
    read = certus.LanguageModel.read_arpa
    assert read(tmp_path / "m.arpa").score("b") == pytest.approx(-101.5 * math.log(10))
    assert read(tmp_path / "m.arpa", unknown=0).score("b") == -math.inf
    assert read(tmp_path / "m.arpa", unknown=0).perplexity(["b a", "a"]).perplexity == math.inf


def test_missing_contexts_and_suffixes_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_text(write_arpa(make_ngrams(5, 4)))
    model = certus.load(tmp_path / "m.arpa")
    model.write_arpa(tmp_path / "full.arpa")
    full = certus.load(tmp_path / "full.arpa")
    sentences = make_sentences(9, words=5)
    assert sum(full.description["ngrams"]) > len(make_ngrams(5, 4))
    assert full.score_batch(sentences).tolist() == model.score_batch(sentences).tolist()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\\data\\", "", 17, "no \\\\data\\\\ line"),
        ("\\data\\", "\\data\\\n\\data\\", 4, "second"),
        ("ngram 1=4", "ngram 2=4", 4, "is no count such as ngram 1=1000"),
        ("ngram 1=4", "ngram 1=x", 4, "is no count"),
        ("ngram 2=2", "", 8, "3 fields"),
        ("\\end\\", "\\3-grams:", 17, "does not say how many 3-grams"),
        ("ngram 2=2", "ngram 2=3", 17, "promised 3 2-grams, but there are 2"),
        ("ngram 1=4", "ngram 1=5", 13, "promised 5 1-grams, but there are 4"),
        ("\\2-grams:", "\\3-grams:", 13, "2-grams: is next"),
        ("\\end\\", "", 17, "cut off"),
        ("-1 </s>", "-1", 9, "1 fields"),
        ("-1 </s>", "-1 </s> 0 0", 9, "4 fields"),
        ("-1 </s>", "1 </s>", 9, "above 0"),
        ("-1 </s>", "-1x </s>", 9, "'-1x' is no log probability"),
        ("-1 </s>", "nan </s>", 9, "'nan' is no log probability"),
        ("a -0.25", "a 1e999", 10, "'1e999' is no back-off weight"),
        ("a -0.25", "a inf", 10, "'inf' is no back-off weight"),
        ("-1 </s>", "-1 b", 13, "has no word </s>"),
        ("-1 </s>", "-1 <s>", 9, "'<s>' is there twice"),
        ("-0.3 <s> a", "-0.3 <s> b", 14, "'b' is not among the 1-grams"),
        ("-0.3 <s> a", "-0.3 a </s>", 15, "there twice"),
        ("-0.3 <s> a", "-0.3 <s> a -0.1", 14, "4 fields"),
    ],
)
def test_bad_lines(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    assert old in GOOD
    path = tmp_path / "bad.arpa"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(FormatError, match=message) as caught:
        certus.LanguageModel.read_arpa(path)
    assert (caught.value.source, caught.value.line) == (str(path), line)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "latin.arpa"
    path.write_bytes(GOOD.replace(" a", " \xe9").encode("latin-1"))
    with pytest.raises(FormatError, match="0xe9") as caught:
        certus.LanguageModel.read_arpa(path)
    assert caught.value.line == 10
    assert certus.LanguageModel.read_arpa(path, encoding="latin-1").words == ["é"]
    (tmp_path / "cut.arpa.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    with pytest.raises(FormatError, match="decompressed"):
        certus.LanguageModel.read_arpa(tmp_path / "cut.arpa.gz")
    with pytest.raises(certus.InvalidInput, match="probability from 0 to 1"):
        certus.LanguageModel.read_arpa(path, unknown=2)
