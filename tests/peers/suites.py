"""Which suites are run, where their tests are, and what of them does not apply and why."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Suite:
    """The tests of a peer.

    Attributes:
        name: of the package on the index.
        tests: folders or files there, or a package that is installed with its tests.
        folder: of the source distribution, where they are run.
        shim: the module that puts Certus in its place; None where nothing can be run.
        left_out: parts of the names of tests that do not apply, each with the reason.
        reason: why nothing can be run.
    """

    name: str
    tests: tuple[str, ...] = ()
    folder: str = "tests"
    shim: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    reason: str = ""


_ROWS = "predict gives one list per sentence, also where all are equally long and theirs is a matrix"
SUITES = (
    Suite(
        "hmmlearn",
        ("--pyargs", "hmmlearn.tests.test_base", "hmmlearn.tests.test_categorical_hmm"),
        folder=".",
        shim="hmmlearn",
    ),
    Suite(
        "sklearn-crfsuite",
        (".",),
        shim="sklearn_crfsuite",
        left_out={
            "test_crf[": _ROWS,
            "test_crf_verbose[": _ROWS,
            "test_attributes": "it expects the size of a model in the format of CRFsuite",
        },
    ),
    Suite("seqeval", ("test_metrics.py", "test_v1.py"), shim="seqeval"),
    Suite(
        "nltk", reason="its tests of chains ask for forward and backward probabilities, which we do not give"
    ),
    Suite("librosa", ("test_sequence.py",), shim="librosa"),
    Suite(
        "conllu",
        ("test_integration.py",),
        shim="conllu",
        left_out={"serialize": "the source distribution lacks the files that it reads"},
    ),
    Suite("pytorch-crf", reason="its source distribution carries no tests"),
    Suite("python-crfsuite", reason="its objects have no counterpart; sklearn-crfsuite wraps them"),
    Suite("torch-struct", reason="it needs torch, and its kernels are differentiated through"),
)
