"""The state of the process and the machine that figures depend on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np

import certus

# The command whose whole process is timed.
TAG_COMMAND = (sys.executable, "-c", "from certus.cli import main; main()", "tag")

_READY = "CERTUS_BENCH_READY"
_ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
}
# Without these glibc gives the (L, L) block that pytorch-crf makes at every position back to the system each
# time, and the page faults of getting it again slow it down. 32 MiB is the most that every glibc accepts.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(512 << 20)}


def restart_tuned() -> None:
    """Start this program again, the same command line, with the environment that fair timing needs.

    One thread for every numerical library; and, where torch is installed, an allocator that keeps its memory,
    which is what pytorch-crf needs with large label sets. Both are read when a process starts, hence the
    restart. Returns if the environment is like that already, or cannot be changed here.
    """
    wanted = dict(_ONE_THREAD)
    if find_spec("torch") and sys.platform == "linux":
        wanted.update(_KEEP_MEMORY)
    if _READY in os.environ or os.name != "posix" or all(os.environ.get(k) == v for k, v in wanted.items()):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **wanted, _READY: "1"})


def describe_machine(beside: Mapping[str, str]) -> dict[str, Any]:
    """Describe the machine, with the versions of the rivals that run beside Certus."""
    return {
        "processor": _name_processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "certus": certus.__version__,
        "rivals": dict(beside),
        "environment": {name: os.environ.get(name) for name in (*_ONE_THREAD, *_KEEP_MEMORY)},
    }


def find_versions(*names: str) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _name_processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
