"""The names of the targets; they import nothing, so that the coverage of all imports can be measured."""

from __future__ import annotations

FORMATS = ("any", "conllu", "conllx", "columns", "brackets", "text", "raw")
OTHERS = ("trees", "templates", "target", "dictionary", "links", "pairs", "arpa", "fg", "uai")
KINDS = (
    "hmm", "perceptron", "crf", "pruned-crf", "latent-crf", "refinement", "parser", "crf-items", "hypergraph",
    "dependency-parser", "aligner", "language-model",
)  # fmt: skip
PROBLEMS = ("chain", "forest", "trees", "matrix", "factor-graph")
NAMES = (
    *(f"read-{name}" for name in (*FORMATS, *OTHERS)),
    *(f"load-{name}" for name in (*KINDS, "bytes")),
    *(f"solve-{name}" for name in PROBLEMS),
    "command-line",
)
