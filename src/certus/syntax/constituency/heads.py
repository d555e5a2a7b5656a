"""Head rules: which child of a constituent carries it (Collins 1999, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence

from certus.annotation.trees import Tree, strip_functions

# For a label, from which side its children are searched, and for what, the first of the list first.
_RULES: dict[str, tuple[str, str]] = {
    "ADJP": ("left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("right", "CC RB IN"),
    "FRAG": ("right", ""),
    "INTJ": ("left", ""),
    "LST": ("right", "LS :"),
    "NAC": ("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": ("right", "IN TO VBG VBN RP FW"),
    "PRN": ("left", ""),
    "PRT": ("right", "RP"),
    "QP": ("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": ("right", "VP NP ADVP ADJP PP"),
    "S": ("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("left", "SQ S SINV SBARQ FRAG"),
    "SINV": ("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("left", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("right", ""),
    "VP": ("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": ("left", "CC WRB JJ ADJP"),
    "WHADVP": ("right", "CC WRB"),
    "WHNP": ("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("right", "IN TO FW"),
}
_SEARCHES = {label: (side, tuple(wanted.split())) for label, (side, wanted) in _RULES.items()}
# In noun phrases, several labels are as good as each other in each round; the side of each round.
_NOUNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("right", frozenset(["NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"])),
    ("left", frozenset(["NP"])),
    ("right", frozenset(["$", "ADJP", "PRN"])),
    ("right", frozenset(["CD"])),
    ("right", frozenset(["JJ", "JJS", "RB", "QP"])),
)
_PUNCTUATION = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-", "#"])


def find_head(label: str, children: Sequence[str]) -> int:
    """Return the place of the head among the labels of the children of a constituent."""
    names = [strip_functions(child) for child in children]
    found = _find_in_noun_phrase(names) if label in ("NP", "NX") else _search(label, names)
    # A conjunction is not headed by its last part but by the one before the first conjunction.
    if found > 1 and names[found - 1] == "CC" and names[found - 2] not in _PUNCTUATION:
        return found - 2
    return found


def _find_in_noun_phrase(names: list[str]) -> int:
    if names[-1] == "POS":
        return len(names) - 1
    for side, wanted in _NOUNS:
        for place in _list_places(side, len(names)):
            if names[place] in wanted:
                return place
    return _find_no_punctuation("right", names)


def _search(label: str, names: list[str]) -> int:
    side, wanted = _SEARCHES.get(label, ("left", ()))
    for one in wanted:
        for place in _list_places(side, len(names)):
            if names[place] == one:
                return place
    return _find_no_punctuation(side, names)


def _find_no_punctuation(side: str, names: list[str]) -> int:
    """Return the first from a side that is no punctuation."""
    for place in _list_places(side, len(names)):
        if names[place] not in _PUNCTUATION:
            return place
    return 0 if side == "left" else len(names) - 1


def _list_places(side: str, count: int) -> range:
    return range(count) if side == "left" else range(count - 1, -1, -1)


def find_head_leaf(tree: Tree) -> Tree:
    """Return the tag over the word that heads a tree."""
    while not tree.is_tag:
        children = tree.trees
        tree = children[find_head(strip_functions(tree.label), [child.label for child in children])]
    return tree
