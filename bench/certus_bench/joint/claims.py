"""What Certus promises about joint parsing and tagging, held against a report."""

from __future__ import annotations

from certus_bench.claims import Claim
from certus_bench.joint.plan import PAPER, PROOF, K, Quality, Report

FIXED, JOINT, AFTER_K = "fixed tags", "joint", f"joint, K={K}"


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it; a quick run learns too little for accuracy."""
    fixed, joint = (report.named(what) for what in (FIXED, JOINT))
    paper, fast = (report.iterations(method, 0.95) for method in (PAPER, PROOF))
    ratio = report.ratio("integer")
    ratios = fast / paper if fast is not None and paper else None
    return [
        Claim(
            f"certificates within {K} iterations of the paper's method",
            98.9,
            True,
            report.within(PAPER, K),
            "%",
        ),
        Claim(
            "certificates within 10 iterations of the paper's method", 90, True, report.within(PAPER, 10), "%"
        ),
        Claim("certificates with tightening and branching", 100, True, _proven(report), "%"),
        Claim("F1 of brackets, less that of fixed tags", 0, True, _gain(joint, fixed, "f1"), "points"),
        Claim("accuracy of tags, less that of fixed tags", 0, True, _gain(joint, fixed, "tags"), "points"),
        Claim("iterations of auto over the paper's method's, 95th percentile", 0.5, False, ratios),
        Claim(
            "faster than HiGHS, integer program, whole forest, 15-25 words",
            20,
            True,
            ratio.median if ratio else None,
        ),
    ]


def _proven(report: Report) -> float | None:
    rows = report.of(PROOF)
    return 100 * sum(row.proven for row in rows) / len(rows) if rows else None


def _gain(joint: Quality | None, fixed: Quality | None, figure: str) -> float | None:
    if joint is None or fixed is None:
        return None
    return float(getattr(joint, figure) - getattr(fixed, figure))
