"""How good predictions are: accuracy by column, chunks and entities, attachment, significance."""

from certus.chain.spans import Span, spans
from certus.evaluation.compare import compare
from certus.evaluation.report import F1, Accuracy, Report, Share, SpanReport
from certus.evaluation.significance import Difference, differences

__all__ = [
    "F1",
    "Accuracy",
    "Difference",
    "Report",
    "Share",
    "Span",
    "SpanReport",
    "compare",
    "differences",
    "spans",
]
