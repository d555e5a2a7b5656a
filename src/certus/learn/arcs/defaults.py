"""The templates of arcs that parsers use where no others are given.

Templates over columns that the training data leave empty are left out.
"""

PRUNING = """\
head.upos modifier.upos
head.upos modifier.upos distance
head.xpos modifier.xpos distance
head.upos modifier.upos head.upos[1] modifier.upos[-1]
head.upos modifier.upos head.upos[-1] modifier.upos[1]
head.upos modifier.upos head.upos[1] modifier.upos[1]
head.upos modifier.upos head.upos[-1] modifier.upos[-1]
head.upos modifier.upos modifier.upos[1] distance
head.upos modifier.upos modifier.upos[-1] distance
head.upos modifier.upos head.upos[1] distance
head.upos modifier.upos head.upos[-1] distance
head.upos modifier.word distance
head.word modifier.upos distance
head.upos distance
modifier.upos distance
between.upos head.upos modifier.upos
head.feats modifier.feats
head.upos modifier.feats distance
"""
"""For the model that chooses which arcs are scored: few, over tags above all."""

PRUNING_BY_WORDS = """\
distance
head.word distance
modifier.word distance
head.word modifier.word
suffix(head.word, 2) suffix(modifier.word, 2) distance
suffix(head.word, 3) suffix(modifier.word, 3)
suffix(head.word, 2) suffix(modifier.word, 2) suffix(head.word[1], 2) suffix(modifier.word[-1], 2)
suffix(head.word, 2) suffix(modifier.word, 2) suffix(head.word[-1], 2) suffix(modifier.word[1], 2)
"""
"""The same where there are no tags."""

OUTER = """\
head.upos head.upos[1] head.upos[-1]
modifier.upos modifier.upos[1] modifier.upos[-1]
modifier.word modifier.upos
head.word head.upos
head.upos head.upos[3]
head.upos head.upos[-3]
modifier.upos modifier.upos[3]
modifier.upos modifier.upos[-3]
between.upos modifier.upos
between.upos head.upos
"""
"""With these in cascades, of one word each: outer arcs have no other. Three words away lies the border."""

OUTER_BY_WORDS = """\
modifier.word
head.word
suffix(head.word, 3)
suffix(modifier.word, 3)
"""
"""The same where there are no tags."""

PRUNING_SIBLINGS = """\
sibling.upos modifier.upos
head.upos sibling.upos modifier.upos
head.upos sibling.upos modifier.upos distance
sibling.upos modifier.upos distance
head.word sibling.upos modifier.upos
head.upos sibling.word modifier.upos
head.upos sibling.upos modifier.word
"""
"""For passes of the second order."""

PRUNING_SIBLINGS_BY_WORDS = """\
sibling.word modifier.word
suffix(head.word, 2) suffix(sibling.word, 2) suffix(modifier.word, 2)
suffix(sibling.word, 3) suffix(modifier.word, 3) distance
"""
"""The same where there are no tags."""

ARCS = """\
head.word head.upos
head.word
head.upos
modifier.word modifier.upos
modifier.word
modifier.upos
head.word modifier.word
head.word head.upos modifier.word modifier.upos
head.upos modifier.word modifier.upos
head.word modifier.word modifier.upos
head.word head.upos modifier.upos
head.word head.upos modifier.word
head.word modifier.upos
head.upos modifier.word
head.upos modifier.upos
head.word head.upos distance
head.upos distance
modifier.word modifier.upos distance
modifier.upos distance
head.word modifier.word distance
head.upos modifier.word distance
head.word modifier.upos distance
head.upos modifier.upos distance
head.xpos modifier.xpos
head.xpos modifier.xpos distance
head.word modifier.xpos distance
head.xpos modifier.word distance
head.lemma modifier.lemma
head.lemma modifier.lemma distance
head.lemma modifier.upos
head.upos modifier.lemma
head.lemma modifier.upos distance
head.upos modifier.lemma distance
head.upos head.upos[1] modifier.upos[-1] modifier.upos
head.upos[-1] head.upos modifier.upos[-1] modifier.upos
head.upos head.upos[1] modifier.upos modifier.upos[1]
head.upos[-1] head.upos modifier.upos modifier.upos[1]
head.upos head.upos[1] modifier.upos[-1] modifier.upos distance
head.upos[-1] head.upos modifier.upos[-1] modifier.upos distance
head.upos head.upos[1] modifier.upos modifier.upos[1] distance
head.upos[-1] head.upos modifier.upos modifier.upos[1] distance
head.upos head.upos[1] modifier.upos distance
head.upos[-1] head.upos modifier.upos distance
head.upos modifier.upos modifier.upos[1] distance
head.upos modifier.upos modifier.upos[-1] distance
head.xpos head.xpos[1] modifier.xpos[-1] modifier.xpos
head.xpos[-1] head.xpos modifier.xpos[-1] modifier.xpos
head.xpos head.xpos[1] modifier.xpos modifier.xpos[1]
head.xpos[-1] head.xpos modifier.xpos modifier.xpos[1]
head.upos head.word[1] modifier.upos
head.upos modifier.word[-1] modifier.upos
head.upos head.word[-1] modifier.upos
head.upos modifier.word[1] modifier.upos
head.upos[1] modifier.word
head.upos[-1] modifier.word
head.word modifier.upos[1]
head.word modifier.upos[-1]
between.upos head.upos modifier.upos
between.xpos head.xpos modifier.xpos
each(head.feats) each(modifier.feats) head.upos modifier.upos
each(head.feats) each(modifier.feats) distance
each(modifier.feats) head.upos modifier.upos distance
each(head.feats) head.upos modifier.upos distance
each(modifier.feats) head.word
each(head.feats) modifier.word
suffix(modifier.word, 3) head.upos modifier.upos
suffix(head.word, 3) head.upos modifier.upos
suffix(modifier.word, 2) suffix(head.word, 2) head.upos modifier.upos
relation head.upos modifier.upos
relation head.upos modifier.upos distance
relation head.xpos modifier.xpos
relation modifier.word
relation modifier.word head.upos
relation modifier.word modifier.upos head.upos distance
relation head.word modifier.upos
relation head.word modifier.upos distance
relation head.word modifier.word
relation modifier.lemma
relation modifier.lemma head.lemma
relation head.lemma modifier.upos
relation modifier.lemma head.upos
relation modifier.upos modifier.upos[1] head.upos
relation modifier.upos modifier.upos[-1] head.upos
relation modifier.upos modifier.upos[-1] modifier.upos[1] distance
relation head.upos head.upos[1] modifier.upos
relation head.upos head.upos[-1] modifier.upos
relation modifier.word[1] modifier.upos head.upos
relation modifier.word[-1] modifier.upos head.upos
relation modifier.word[1] modifier.word
relation modifier.word[-1] modifier.word
relation each(modifier.feats) head.upos modifier.upos
relation each(modifier.feats) head.word
relation each(modifier.feats) modifier.word
relation each(head.feats) each(modifier.feats)
relation each(head.feats) modifier.upos
relation suffix(modifier.word, 3) head.upos modifier.upos
relation suffix(head.word, 3) head.upos modifier.upos
relation between.upos head.upos modifier.upos
relation shape(modifier.word) modifier.upos head.upos
"""
"""For arcs and their relations: the features of McDonald, Crammer and Pereira (2005) and of Martins, Almeida
and Smith (2013) over words, tags, lemmas, morphology, the tags around and between, and distances."""

BARE_ARCS = "".join(f"{line}\n" for line in ARCS.splitlines() if not line.startswith("relation "))
"""The same without relations: for the model that chooses arcs, where it is to leave few."""

SIBLINGS = """\
sibling.upos modifier.upos
head.upos sibling.upos modifier.upos
head.upos sibling.upos modifier.upos distance
sibling.upos modifier.upos distance
sibling.word modifier.word
sibling.upos modifier.word
sibling.word modifier.upos
head.word sibling.upos modifier.upos
head.upos sibling.word modifier.upos
head.upos sibling.upos modifier.word
head.xpos sibling.xpos modifier.xpos
sibling.xpos modifier.xpos
head.lemma sibling.upos modifier.upos
head.upos sibling.lemma modifier.upos
head.upos sibling.upos modifier.lemma
sibling.lemma modifier.lemma
head.upos sibling.feats modifier.feats
sibling.feats modifier.feats head.lemma
head.upos sibling.upos modifier.upos modifier.upos[1]
head.upos sibling.upos modifier.upos modifier.upos[-1]
head.upos sibling.upos sibling.upos[1] modifier.upos
head.upos sibling.upos sibling.upos[-1] modifier.upos
"""
"""For neighbouring modifiers of a head, after Koo et al. (2010) and Martins, Almeida and Smith (2013)."""

GRANDPARENTS = """\
grandparent.upos head.upos modifier.upos
grandparent.upos modifier.upos
grandparent.upos head.upos modifier.upos distance
grandparent.word head.upos modifier.upos
grandparent.upos head.word modifier.upos
grandparent.upos head.upos modifier.word
grandparent.word modifier.word
grandparent.upos modifier.word
grandparent.word modifier.upos
grandparent.xpos head.xpos modifier.xpos
grandparent.xpos modifier.xpos
grandparent.lemma head.upos modifier.upos
grandparent.upos head.lemma modifier.upos
grandparent.upos head.upos modifier.lemma
grandparent.lemma modifier.lemma
grandparent.lemma head.lemma modifier.lemma
grandparent.feats head.feats modifier.feats
grandparent.upos head.feats modifier.feats
grandparent.upos grandparent.upos[1] head.upos modifier.upos
grandparent.upos grandparent.upos[-1] head.upos modifier.upos
grandparent.upos head.upos modifier.upos modifier.upos[1]
grandparent.upos head.upos modifier.upos modifier.upos[-1]
grandparent.upos head.upos head.upos[1] modifier.upos
grandparent.upos head.upos head.upos[-1] modifier.upos
grandparent.upos head.upos sibling.upos modifier.upos
grandparent.upos sibling.upos modifier.upos
grandparent.word head.upos sibling.upos modifier.upos
grandparent.upos head.word sibling.upos modifier.upos
grandparent.upos head.upos sibling.word modifier.upos
grandparent.upos head.upos sibling.upos modifier.word
grandparent.xpos head.xpos sibling.xpos modifier.xpos
"""
"""For arcs with the arc into their head, and with a sibling as well (Koo and Collins 2010)."""

LABELS = (
    "\n".join(line.removeprefix("relation ") for line in ARCS.splitlines() if line.startswith("relation "))
    + """
child.upos modifier.upos head.upos
child.upos modifier.upos
child.upos modifier.word
child.upos child.upos[1] modifier.upos
child.word modifier.upos head.upos
child.word modifier.upos
child.word head.word
child.lemma modifier.upos head.upos
child.lemma modifier.upos head.lemma
child.feats modifier.upos head.upos
sibling.upos modifier.upos head.upos
sibling.word modifier.upos head.upos
sibling.upos modifier.upos head.word
sibling.upos modifier.word head.upos
sibling.feats modifier.feats head.upos
grandparent.upos head.upos modifier.upos
grandparent.word head.upos modifier.upos
grandparent.upos head.word modifier.upos
grandparent.upos head.upos modifier.word
modifier.upos modifier.upos[1] modifier.upos[2] head.upos
modifier.upos modifier.upos[-1] modifier.upos[-2] head.upos
head.feats modifier.feats
modifier.feats head.word distance
"""
)
"""For relations of trees that were found: of arcs, and of what is around them in the tree."""
