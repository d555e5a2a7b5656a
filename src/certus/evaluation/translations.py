"""BLEU and chrF of translations, as sacrebleu measures them (Post 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from certus.errors import InvalidInput


@dataclass(frozen=True)
class TranslationReport:
    """How close translations are to their references.

    Attributes:
        sentences: how many there are.
        bleu: the BLEU of words as they are, from 0 to 100.
        chrf: the F score of character n-grams, from 0 to 100.
        precisions: of n-grams of 1 to 4 words, in percent.
        brevity: the factor for translations that are too short.
        signature: what sacrebleu calls the way in which BLEU was measured.
    """

    sentences: int
    bleu: float
    chrf: float
    precisions: tuple[float, ...]
    brevity: float
    signature: str

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, ready for JSON."""
        return asdict(self)


def measure_translations(references: Sequence[str], predictions: Sequence[str]) -> TranslationReport:
    """Return BLEU and chrF; words are what blanks separate, on both sides, and case is told apart.

    Args:
        references: sentences as people translated them.
        predictions: the same sentences as they were translated.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise InvalidInput("BLEU and chrF need sacrebleu: pip install 'certus[mt]'") from None
    if len(references) != len(predictions):
        raise InvalidInput(f"there are {len(references):,} references and {len(predictions):,} translations")
    if not references:
        raise InvalidInput("there are no sentences to compare")
    metric = BLEU(tokenize="none", force=True)
    bleu = metric.corpus_score(list(predictions), [list(references)])
    chrf = CHRF().corpus_score(list(predictions), [list(references)])
    return TranslationReport(
        len(references),
        bleu.score,
        chrf.score,
        tuple(bleu.precisions),
        bleu.bp,
        str(metric.get_signature()),
    )
