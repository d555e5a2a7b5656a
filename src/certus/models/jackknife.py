"""Tags as a tagger would predict them, for training data that have right ones.

A parser that learns from right tags trusts them, and is misled by those of a tagger, which are wrong here and
there. So the data are tagged in parts, each by a tagger that was learned from the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from certus.annotation.sentence import Sentence, replace
from certus.errors import InvalidInput
from certus.models.tagger import Tagger

LEARNER = "pruned-crf"
EPOCHS = 6
TAGS = ("upos", "feats")  # what taggers predict


def predict_tags(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    columns: Sequence[str],
    *,
    folds: int,
    threads: int,
) -> tuple[list[Sentence], list[Sentence] | None]:
    """Return the sentences with predicted tags.

    Args:
        train: every ``folds``-th sentence is tagged by one tagger, which is learned from all others.
        dev: tagged by the first of these; None without any.
        columns: those of ``TAGS`` that are predicted, as far as they are filled.
        columns: those of ``TAGS`` that are predicted, as far as they are filled.
        folds: how many taggers.
        threads: for tagging.
    """
    if folds < 2:
        raise InvalidInput(f"folds is {folds}; there must be at least 2, or 0 for the tags of the data")
    if len(train) < folds:
        raise InvalidInput(f"folds is {folds}, but there are only {len(train)} trees to learn from")
    target = "+".join(name for name in TAGS if name in columns and _is_filled(train, name))
    if not target:
        raise InvalidInput("the training data have no tags to learn taggers from: leave folds out")
    made = list(train)
    held_out = None
    for fold in range(folds):
        tagger = Tagger(target, LEARNER, epochs=EPOCHS)
        tagger.fit([sentence for n, sentence in enumerate(train) if n % folds != fold], threads=threads)
        for n, sentence in zip(
            range(fold, len(train), folds), tag(tagger, train[fold::folds], threads), strict=True
        ):
            made[n] = sentence
        if fold == 0 and dev is not None:
            held_out = tag(tagger, dev, threads)
    return made, held_out


def tag(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> list[Sentence]:
    """Return sentences with the tags of a tagger in place of their own."""
    answers = tagger.tag_batch(sentences, threads=threads)
    return [
        replace(sentence, tagger.target.fill(sentence, answer.labels))
        for sentence, answer in zip(sentences, answers, strict=True)
    ]


def _is_filled(sentences: Sequence[Sentence], name: str) -> bool:
    return any(cell != "_" for sentence in sentences for cell in sentence.column(name))
