"""The independent checker of certificates: plain Python, exact arithmetic, nothing of the solvers.

``verify`` holds a certificate against its problem. What each kind of certificate claims, and why that proves
it, stands at the top of the file that checks it: ``chains``, ``ngrams``, ``forests``,
``spanning_trees``, ``decompositions``, ``latent_chains``.
"""

from certus.verification.certificate import Certificate
from certus.verification.errors import CertificateError
from certus.verification.lines import LineReader, LineWriter
from certus.verification.problem import Problem, make_problem
from certus.verification.verdict import Finding, Verdict
from certus.verification.verify import certify, read_problem, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "Finding",
    "LineReader",
    "LineWriter",
    "Problem",
    "Verdict",
    "certify",
    "make_problem",
    "read_problem",
    "verify",
]
