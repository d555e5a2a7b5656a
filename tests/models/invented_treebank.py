"""Trees over the invented language: nouns carry their phrases, the verb everything else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from certus.formats import Sentence, build
from tests.models import invented

_RELATIONS = {"Nom": "nsubj", "Acc": "obj", "Gen": "obl"}


def sentences(count: int, seed: int) -> Iterator[Sentence]:
    """Yield annotated sentences."""
    for tokens in invented.tokens(count, seed):
        heads, relations = find_tree(tokens)
        fields = {
            "upos": [token[1] for token in tokens],
            "feats": [token[2] for token in tokens],
            "head": list(map(str, heads)),
            "deprel": relations,
        }
        yield build([token[0] for token in tokens], fields)


def long_sentences(count: int, seed: int, parts: int = 3) -> Iterator[Sentence]:
    """Yield sentences of several main clauses: the verbs of later ones hang on that of the first."""
    clauses = sentences(count * parts, seed)
    for _ in range(count):
        words: list[str] = []
        fields: dict[str, list[str]] = {"upos": [], "feats": [], "head": [], "deprel": []}
        root = 0
        for clause in islice(clauses, parts):
            for word, (head, relation) in enumerate(
                zip(map(int, clause.column("head")), clause.column("deprel"), strict=True), len(words) + 1
            ):
                is_later = head == 0 and root > 0
                fields["head"].append(str(root if is_later else head + len(words) if head else 0))
                fields["deprel"].append("parataxis" if is_later else relation)
                root = root or (word if head == 0 else 0)
            for name in ("upos", "feats"):
                fields[name] += clause.column(name)
            words += clause.words
        yield build(words, fields)


def find_tree(tokens: list[invented.Token]) -> tuple[list[int], list[str]]:
    """Return heads and relations: all but nouns hang on the noun of their phrase."""
    tags = [token[1] for token in tokens]
    verb = tags.index("VERB") + 1
    heads, relations = [], []
    for place, (_, tag, feats, chunk) in enumerate(tokens):
        if tag == "VERB":
            heads.append(0)
        elif tag in ("NOUN", "PUNCT"):
            heads.append(verb)
        else:
            heads.append(_find_noun(tokens, place, chunk))
        case = feats.partition("Case=")[2].partition("|")[0]
        named = {"VERB": "root", "DET": "det", "ADJ": "amod", "ADP": "case", "PUNCT": "punct"}
        relations.append(named.get(tag) or _RELATIONS[case])
    return heads, relations


def _find_noun(tokens: list[invented.Token], place: int, chunk: str) -> int:
    """Return the noun of the phrase that a word stands in, or, for an adposition, stands before."""
    first = place + (chunk == "B-PP")
    while tokens[first][3] == "I-NP":
        first -= 1
    return next(n for n in range(first, len(tokens)) if tokens[n][1] == "NOUN") + 1


def conllu(count: int, seed: int) -> str:
    """Return the same as a file."""
    return "".join(sentence.text for sentence in sentences(count, seed))
