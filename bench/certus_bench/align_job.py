"""Trains one aligner in a process of its own, so that its time and memory can be told.

It prints one line of JSON: the links of the first pairs in each direction and, if the aligner finds them
itself, of both, with the processor's seconds and the most memory that training took.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any

Job = Callable[[str, str, int], dict[str, list[str]]]  # source and target file, and how many pairs are judged

CERTUS: dict[str, dict[str, Any]] = {
    "certus": {},
    "certus hmm": {"model": "hmm"},
    "certus hmm, plain EM": {"model": "hmm", "agreement": False, "sparse": 0.0, "null": 0.2},
    "certus diagonal": {
        "model": "diagonal",
        "agreement": False,
        "sparse": 0.01,
        "stems": 0.0,
        "spelling": 0.0,
    },
    "certus ibm1": {"model": "ibm1"},
}


def align_by_certus(name: str, source: str, target: str, count: int) -> dict[str, list[str]]:
    """Train one of Certus's models."""
    import certus
    from certus.formats.parallel import read_pairs

    aligner = certus.Aligner(**CERTUS[name])
    aligner.fit_pairs((pair.source, pair.target) for pair in read_pairs(source, target))
    pairs = list(islice(read_pairs(source, target), count))
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return {
        method: [str(found) for found in aligner.align_batch(*sides, method=method)]
        for method in ("exact", "forward", "backward")
    }


def align_by_eflomal(source: str, target: str, count: int) -> dict[str, list[str]]:
    """Train eflomal with its defaults."""
    eflomal = import_module("eflomal")

    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("forward", "backward")]
        with open(source, encoding="utf-8") as left, open(target, encoding="utf-8") as right:
            eflomal.Aligner().align(left, right, links_filename_fwd=files[0], links_filename_rev=files[1])
        found = []
        for file in files:
            with open(file, encoding="utf-8") as lines:
                found.append([line.strip() for line in islice(lines, count)])
    return {"forward": found[0], "backward": found[1]}


def align_by_thot(source: str, target: str, count: int) -> dict[str, list[str]]:
    """Train the reimplementation of eflomal in sil-thot with its defaults, one direction after the other."""
    thot = import_module("thot.alignment")

    found: dict[str, list[str]] = {}
    for name, files in (("forward", (source, target)), ("backward", (target, source))):
        model = thot.EflomalAlignmentModel()
        model.emit_training_alignments = True
        model.read_sentence_pairs(*files)
        model.start_training()
        for _ in range(model.scheduled_iterations):
            model.train()
        model.end_training()
        found[name] = []
        for n in range(count):
            matrix = model.get_training_alignment(n)[1]
            links = [
                (i, j) if name == "forward" else (j, i)
                for i in range(matrix.row_length)
                for j in range(matrix.column_length)
                if matrix[i, j]
            ]
            found[name].append(" ".join(f"{i}-{j}" for i, j in sorted(links)))
    return found


@dataclass(frozen=True)
class Rival:
    """Another aligner."""

    module: str  # that has to be installed
    align: Job
    draws: (
        bool  # whether its runs differ; the random numbers of others begin with a seed that cannot be chosen
    )


RIVALS = {
    "eflomal": Rival("eflomal", align_by_eflomal, draws=True),
    "sil-thot": Rival("thot", align_by_thot, draws=False),
}


def main() -> None:
    """Run the aligner that the command line names."""
    name, source, target, count = sys.argv[1:]
    if name in CERTUS:
        found = align_by_certus(name, source, target, int(count))
    else:
        found = RIVALS[name].align(source, target, int(count))
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in usage)
    print(
        json.dumps({"links": found, "seconds": seconds, "megabytes": max(u.ru_maxrss for u in usage) / 1024})
    )


if __name__ == "__main__":
    main()
