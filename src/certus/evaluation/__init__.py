"""How good predictions are: accuracy by column, chunks and entities, attachment, trees, significance."""

from certus.chain.spans import Span, find_spans
from certus.evaluation.attachment import Attachment, AttachmentReport, compare_attachment
from certus.evaluation.compare import compare
from certus.evaluation.report import (
    F1,
    Accuracy,
    AlignedScore,
    EvaluationReport,
    Share,
    SpanReport,
    UniversalReport,
)
from certus.evaluation.significance import Difference, measure_differences

__all__ = [
    "F1",
    "Accuracy",
    "AlignedScore",
    "Attachment",
    "AttachmentReport",
    "Difference",
    "EvaluationReport",
    "Share",
    "Span",
    "SpanReport",
    "UniversalReport",
    "compare",
    "compare_attachment",
    "find_spans",
    "measure_differences",
]
