"""Two features have one key where they are one feature, and only there."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import InvalidInput
from certus._native import Extractor, word_keys
from certus.learn.features.templates import CHUNKING, MORPHOLOGY, Templates
from tests.reference import features as reference

EVERYTHING = """
bias
bias if rare
word[0]
word[-2]
word[3]
lower(word[1])
lower(word[1]) word[1]
shape(word[0])
shape(word[-1]) flags(word[0]) length(word[1])
flags(word[0])
length(word[0])
prefix(word[0], 1..32)
suffix(word[0], 1..32)
prefix(lower(word[0]), 2..5) if frequent
suffix(lower(word[-1]), 3) if rare
suffix(lower(word[1]), 1..4)
tag[-16] word[16]
tag[0] tag[1] tag[-1] word[0]
tag[1] tag[0]
each(tag[0])
each(lower(tag[1])) word[0]
word[0] each(tag[1]) if rare
suffix(tag[0], 1) shape(tag[0])
seen(word[0])
seen(word[1]) seen(word[-1])
seen(word[1]) suffix(word[0], 2) if rare
"""
ALPHABETS = (
    "ab",
    "aAbB",
    "aB1-.",
    "\u0061\u0301e\u0308N\u0303",  # combining marks
    "ΑάΣσςΩ",
    "ЖжЯяЁё",
    "ÀàÉéßẞİıſK",
    "ȺⱥȾⱦ",  # lower case is longer
    "😀👍🏽\u200d𐐀𝟘",
    "漢字かな١२３",
    "|\t \0a",
    "«»€–\u2010\u2011-ª",
)
Rows = list[list[reference.Feature]]


def extractor(templates: Templates, frequent: Sequence[str] = ()) -> Extractor:
    seen = word_keys([tags(word) for word in frequent])
    return Extractor(templates.compile(), len(templates.columns), word_keys(list(frequent)), seen=seen)


def tags(word: str) -> str:
    """Return what a word was seen with, so to speak."""
    return "NV"[len(word) % 2]


def by_token(keys: NDArray[np.uint64], ends: NDArray[np.unsignedinteger]) -> list[list[int]]:
    bounds = [0, *ends.tolist()]
    return [keys[a:b].tolist() for a, b in pairwise(bounds)]


def word(rng: random.Random) -> str:
    longest = rng.choice((0, 1, 2, 3, 5, 9, 17, 40))
    return "".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(0, longest)))


def sentence(rng: random.Random, columns: int = 2) -> list[list[str]]:
    length = rng.choice((0, 1, 2, 3, 7, 20))
    return [[word(rng) for _ in range(length)] for _ in range(columns)]


class Matching:
    """Checks that keys and features match one to one, over all it is shown."""

    def __init__(self) -> None:
        self.feature_of: dict[int, reference.Feature] = {}
        self.key_of: dict[reference.Feature, int] = {}

    def see(self, keys: list[list[int]], features: Rows) -> None:
        assert [len(row) for row in keys] == [len(row) for row in features]
        for key_row, feature_row in zip(keys, features, strict=True):
            for key, feature in zip(key_row, feature_row, strict=True):
                assert self.feature_of.setdefault(key, feature) == feature
                assert self.key_of.setdefault(feature, key) == key


@pytest.mark.parametrize("text", [EVERYTHING, CHUNKING.replace("pos", "tag"), MORPHOLOGY])
def test_keys_are_equal_where_features_are(text: str) -> None:
    rng = random.Random(1)
    templates = Templates(text, ("word", "tag"))
    sentences = [sentence(rng) for _ in range(400)]
    frequent = {w for columns in sentences for w in columns[0] if rng.random() < 0.3}
    native, matching = extractor(templates, sorted(frequent)), Matching()
    for columns in sentences:
        rows = by_token(*native.keys_of_all([columns]))
        matching.see(rows, reference.features(templates, columns, frequent, {w: tags(w) for w in frequent}))
        assert max(map(len, rows), default=0) <= native.most
    assert len(matching.key_of) > 5000


def test_every_character() -> None:
    """Case, kind and number of bytes of every character: alone, and followed by a letter."""
    templates = Templates("word[0]\nlower(word[0])\nshape(word[0])\nflags(word[0])\nsuffix(word[0], 1..3)")
    native, matching = extractor(templates), Matching()
    surrogates = range(0xD800, 0xE000)
    codes = [c for c in (*range(0x3100), *range(0xA600, 0x10100), 0x1D7D8, 0x10FFFF) if c not in surrogates]
    # Digits and letters that Python's version of Unicode has and the tables have not are nobody's error.
    words = [w for c in map(chr, codes) if unicodedata.category(c) != "Cn" for w in (c, c + "a")]
    matching.see(by_token(*native.keys_of_all([[words]])), reference.features(templates, [words], set()))


def test_what_was_seen_must_be_given() -> None:
    asks = Templates("seen(word[0])").compile()
    with pytest.raises(InvalidInput, match="what words were seen with"):
        Extractor(asks, 1, word_keys(["the"]))
    with pytest.raises(InvalidInput, match="an element for each frequent word"):
        Extractor(asks, 1, word_keys(["the"]), seen=word_keys(["D", "N"]))


def test_many_sentences_at_once() -> None:
    rng = random.Random(2)
    native = extractor(Templates(EVERYTHING, ("word", "tag")), ["ab"])
    sentences = [sentence(rng) for _ in range(60)]
    one_by_one = [row for columns in sentences for row in by_token(*native.keys_of_all([columns]))]
    assert by_token(*native.keys_of_all(sentences)) == one_by_one
    assert one_by_one


def test_rare_is_what_is_not_listed() -> None:
    templates = Templates("word[0] if rare\nword[0] if frequent\nword[1] if frequent")
    native = extractor(templates, ["the", "", "a" * 99])
    _, ends = native.keys_of_all([[["the", "dog", "", "The", "a" * 99]]])
    assert ends.tolist() == [2, 3, 5, 6, 8]
    nobody = Extractor(templates.compile(), 1, np.zeros(0, np.uint64))
    assert nobody.keys_of_all([[["the", "dog"]]])[1].tolist() == [1, 2]


def test_many_frequent_words() -> None:
    words = [f"word{n}" for n in range(5000)]
    native = extractor(Templates("word[0] if frequent"), words[::2])
    assert np.diff(native.keys_of_all([[words]])[1], prepend=0).tolist() == [1, 0] * 2500


def test_keys_are_the_same_everywhere() -> None:
    """Models hold keys: these numbers change only with the version of the program."""
    columns = [["Der", "Ärger", "of"], ["DET", "NOUN", "a|b"]]
    native = extractor(Templates(EVERYTHING.partition("seen")[0], ("word", "tag")), ["of"])
    keys, _ = native.keys_of_all([columns])
    digest = 0
    for key in keys.tolist():
        digest = (digest * 31 + key) % 2**64
    assert (len(keys), hex(digest)) == (82, "0xdc33e55c4da852ea")
    assert [hex(key) for key in word_keys(["", "a", "Straße", "internationalisation"]).tolist()] == [
        "0xda2021e89e117a00",
        "0xcc7f0097acdfb56c",
        "0x89a3ca4c6a665455",
        "0xf03a0e53873e81a2",
    ]


@pytest.mark.parametrize("shift", range(0, 64, 8))
def test_all_bits_are_mixed(shift: int) -> None:
    """Any 16 neighbouring bits spread similar features as evenly as chance would."""
    words = [f"{a}{b}" for a in "abcdefghijklmnopqrstuvwxyz" for b in range(300)]
    for text in ("word[0]", "shape(word[0]) word[0]", "suffix(word[0], 4)", "word[-1] word[1]"):
        keys = np.unique(extractor(Templates(text)).keys_of_all([[words]])[0])
        bits = (keys >> np.uint64(shift)) | (keys << np.uint64((64 - shift) % 64))
        cells = np.bincount((bits & np.uint64(0x3FF)).astype(np.int64), minlength=1024)
        expected = len(keys) / 1024
        chi_squared = float(((cells - expected) ** 2 / expected).sum())
        assert 800 < chi_squared < 1250  # 1023 ± 45
        assert len(keys) > 2000


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([["a"]], "there must be 2 columns, not 1"),
        ([["a"], ["b", "c"]], "column 1: it has 2 tokens, but the first column has 1"),
        ([["a", 3], ["b", "c"]], "column 0, token 1: expected str, not int"),
        ([["a"], "b"], "column 1: a column must be a list of str, not str"),
        ("ab", "columns must be a list of lists of str, not str"),
        (
            [["a"], ["b\ud800"]],
            r"column 1, token 0: 'b\\ud800' is no Unicode text: it holds a lone surrogate",
        ),
    ],
)
def test_bad_sentences(columns: list[list[str]], message: str) -> None:
    native = extractor(Templates("word[0]", ("word", "tag")))
    with pytest.raises(InvalidInput, match=message):
        native.keys_of_all([columns])
    with pytest.raises(InvalidInput, match="sentence 1"):
        native.keys_of_all([[["a"], ["b"]], columns])


def test_bad_words() -> None:
    with pytest.raises(InvalidInput, match="token 1: expected str, not NoneType"):
        word_keys(["a", None])  # type: ignore[list-item]


def test_damaged_programs_are_refused() -> None:
    program = Templates(EVERYTHING, ("word", "tag")).compile()
    none = np.zeros(0, np.uint64)
    with pytest.raises(InvalidInput, match="another version"):
        Extractor(np.array([99, 0], np.int32), 2, none)
    with pytest.raises(InvalidInput, match="at least one column"):
        Extractor(program, 0, none)
    with pytest.raises(InvalidInput, match="damaged templates"):
        Extractor(program, 1, none)
    for size in range(1, len(program)):
        with pytest.raises(InvalidInput, match="damaged templates"):
            Extractor(program[:size], 2, none)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        broken = program.copy()
        broken[rng.integers(1, len(program))] = rng.choice([-(2**31), -17, -1, 0, 1, 2, 7, 33, 2**31 - 1])
        try:
            native = Extractor(broken, 2, none)
        except InvalidInput:
            continue
        native.keys_of_all([[["Some", "words"], ["a|b", ""]]])


def test_a_hash_kernel_bounds_the_number_of_keys() -> None:
    templates = Templates("word[0]\nword[-1] word[0]")
    words = [f"w{n}" for n in range(3000)]
    none = np.zeros(0, np.uint64)
    free, _ = Extractor(templates.compile(), 1, none).keys_of_all([[words]])
    few, _ = Extractor(templates.compile(), 1, none, bits=6).keys_of_all([[words]])
    assert len(np.unique(free)) == 6000
    assert len(np.unique(few)) == 64
    pairs = {(a, b) for a, b in zip((free >> np.uint64(58)).tolist(), few.tolist(), strict=True)}
    assert len(pairs) == 64, "the key depends on the first bits alone"
    with pytest.raises(InvalidInput, match="1 to 48"):
        Extractor(templates.compile(), 1, none, bits=49)
