"""How good predictions are: accuracy by column, chunks and entities, attachment, significance."""

from certus.evaluation.compare import compare
from certus.evaluation.report import F1, Accuracy, Report, Share, SpanReport
from certus.evaluation.significance import Difference, differences
from certus.evaluation.spans import Span, spans

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
