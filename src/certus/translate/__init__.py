"""Language models: their estimation, and what they say about text; ``certus.LanguageModel`` uses them."""

from certus.translate.kneser_ney import Estimate, estimate_ngrams
from certus.translate.scores import Perplexity, Step, WordScore
from certus.translate.text import Text, add_texts, read_texts

__all__ = [
    "Estimate",
    "Perplexity",
    "Step",
    "Text",
    "WordScore",
    "add_texts",
    "estimate_ngrams",
    "read_texts",
]
