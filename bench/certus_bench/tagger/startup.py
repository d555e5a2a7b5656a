"""Times ``certus tag`` from a shell: Python, the package, the model, the first label."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

from certus.errors import CertusError
from certus.models.loading import DEFAULT, default
from certus_bench.tagger.job import Job, run
from certus_bench.tagger.plan import Plan, Startup
from certus_bench.timing import Spread

_COMMAND = (sys.executable, "-c", "from certus.cli import main; main()", "tag")
_TEXT = "The quick brown fox jumps over the lazy dog."
_TIMES = 11


def measure(plan: Plan, folder: str) -> Startup:
    """Time the model that comes with the package; if there is none, one of the same kind made here.

    Args:
        plan: says how many times.
        folder: for that model.
    """
    if Path(str(default())).is_file():
        return Startup(first_label([], plan), DEFAULT)
    path = str(Path(folder) / "startup.certus")
    options = {"order": 2, "epochs": plan.epochs(3)}
    run(
        plan,
        Job(corpus="ewt-upos", what="", learner="pruned-crf", options=options, limit=plan.limit, model=path),
    )
    return Startup(first_label([path], plan), "EWT upos, order 2")


def first_label(model: list[str], plan: Plan) -> Spread:
    """Time a process from its start to the first line that it prints."""
    times = []
    for _ in range(3 if plan.quick else _TIMES):
        begin = perf_counter()
        with subprocess.Popen([*_COMMAND, *model, _TEXT], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            times.append(perf_counter() - begin)
            process.stdout.read()
        if not line:
            raise CertusError("certus tag printed nothing")
    return Spread.of(times[1:])  # the first one brings the files into memory
