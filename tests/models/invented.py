"""An invented language to learn: a few hundred stems, morphology in suffixes, agreement, ambiguous stems."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from certus.formats import Sentence, build

CASES = {("Nom", "Sing"): "a", ("Nom", "Plur"): "ai", ("Acc", "Sing"): "a", ("Acc", "Plur"): "ai",
         ("Gen", "Sing"): "os", ("Gen", "Plur"): "oi"}  # fmt: skip
PERSONS = {"Sing": "et", "Plur": "ent"}
DETERMINERS = {"Sing": "lo", "Plur": "loi"}
ADPOSITIONS = ("de", "pri", "sur")
Token = tuple[str, str, str, str]  # word, upos, feats, chunk


def language(stems: int = 120) -> dict[str, list[str]]:
    """Return the stems of each part of speech; some stems are of two."""
    dice = random.Random(5)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    made = sorted({"".join(dice.sample(syllables, 2)) + dice.choice("klmrst") for _ in range(3 * stems)})
    dice.shuffle(made)
    nouns, verbs, adjectives = made[:stems], made[stems - 20 : 2 * stems], made[2 * stems - 40 :]
    return {"NOUN": nouns, "VERB": verbs, "ADJ": adjectives}


def sentence(dice: random.Random, stems: dict[str, list[str]]) -> list[Token]:
    """Return a sentence: subject, verb, sometimes an object, a phrase with an adposition, a full stop."""
    number = dice.choice(("Sing", "Plur"))
    tokens = phrase(dice, stems, "Nom", number)
    verb = dice.choice(stems["VERB"]) + PERSONS[number]
    tokens.append((verb, "VERB", f"Number={number}|Person=3", "B-VP"))
    if dice.random() < 0.7:
        tokens += phrase(dice, stems, "Acc", dice.choice(("Sing", "Plur")))
    if dice.random() < 0.5:
        tokens.append((dice.choice(ADPOSITIONS), "ADP", "_", "B-PP"))
        tokens += phrase(dice, stems, "Gen", dice.choice(("Sing", "Plur")))
    return [*tokens, (".", "PUNCT", "_", "O")]


def phrase(dice: random.Random, stems: dict[str, list[str]], case: str, number: str) -> list[Token]:
    """Return a noun phrase whose words agree."""
    words = []
    if dice.random() < 0.6:
        words.append((DETERMINERS[number], "DET", f"Number={number}"))
    ending, features = CASES[case, number], f"Case={case}|Number={number}"
    if dice.random() < 0.4:
        words.append((dice.choice(stems["ADJ"]) + ending, "ADJ", features))
    words.insert(len(words) - dice.randrange(2), (dice.choice(stems["NOUN"]) + ending, "NOUN", features))
    return [(*word, "I-NP" if place else "B-NP") for place, word in enumerate(words)]


def tokens(count: int, seed: int) -> list[list[Token]]:
    """Return so many sentences."""
    dice, stems = random.Random(seed), language()
    return [sentence(dice, stems) for _ in range(count)]


def conllu(count: int, seed: int) -> str:
    """Return sentences as CoNLL-U."""
    made = []
    for one in tokens(count, seed):
        words, upos, feats, _ = zip(*one, strict=True)
        made.append(build(words, {"upos": upos, "feats": feats}).text)
    return "".join(made)


def columns(count: int, seed: int) -> str:
    """Return sentences in three columns: word, pos, chunk."""
    lines = ("".join(f"{word} {pos} {chunk}\n" for word, pos, _, chunk in one) for one in tokens(count, seed))
    return "\n".join(lines) + "\n"


def sentences(count: int, seed: int, features: bool = True) -> Iterator[Sentence]:
    """Yield sentences as objects."""
    for one in tokens(count, seed):
        words, upos, feats, _ = zip(*one, strict=True)
        yield build(words, {"upos": upos, "feats": feats} if features else {"upos": upos})


def words(count: int, seed: int) -> list[list[str]]:
    """Return the words of sentences alone."""
    return [[token[0] for token in one] for one in tokens(count, seed)]


def share(found: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> float:
    """Return the share of labels that are right."""
    pairs = [pair for f, r in zip(found, right, strict=True) for pair in zip(f, r, strict=True)]
    return sum(f == r for f, r in pairs) / len(pairs)
