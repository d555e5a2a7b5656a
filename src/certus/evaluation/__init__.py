"""How good predictions are: accuracy by column, chunks and entities, attachment, significance."""

from certus.chain.spans import Span, find_spans
from certus.evaluation.compare import compare
from certus.evaluation.report import F1, Accuracy, EvaluationReport, Share, SpanReport
from certus.evaluation.significance import Difference, measure_differences

__all__ = [
    "F1",
    "Accuracy",
    "Difference",
    "EvaluationReport",
    "Share",
    "Span",
    "SpanReport",
    "compare",
    "find_spans",
    "measure_differences",
]
