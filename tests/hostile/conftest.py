"""What holds for every hostile test: limits of time and memory, and how many examples Hypothesis draws.

``CERTUS_EXAMPLES=20000`` draws as many examples, at random; by default they are few and always the same.
``CERTUS_RECORD=FILE`` appends a line of JSON about each property: how many answers were compared.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
from collections.abc import Generator, Iterator
from typing import IO

import pytest
from hypothesis import HealthCheck, settings

from tests.patience import PATIENCE, SANITIZED

SECONDS = 120.0  # the most that a test may take, by default
GIGABYTES = 6.0  # the most address space that a test may ask for, on top of what is mapped already

_EXAMPLES = os.environ.get("CERTUS_EXAMPLES")
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("few", derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW)
settings.register_profile(
    "many", max_examples=int(_EXAMPLES or 1), deadline=None, database=None, suppress_health_check=_SLOW
)
settings.load_profile("many" if _EXAMPLES else "few")

_STDERR = pytest.StashKey[IO[str]]()
_FAILED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and keep the stderr of the terminal, which a test that hangs is reported to."""
    config.addinivalue_line("markers", "limits(seconds, gigabytes): what a hostile test may take")
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is None:
        config.stash[_STDERR] = sys.stderr
        return
    with capture.global_and_fixture_disabled():
        config.stash[_STDERR] = os.fdopen(os.dup(2), "w")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what was opened."""
    if _STDERR in config.stash and config.stash[_STDERR] is not sys.stderr:
        config.stash[_STDERR].close()


@pytest.fixture(autouse=True)
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """End the run, with a traceback, when a test hangs; and let it have no more memory than it may."""
    marker = request.node.get_closest_marker("limits")
    given: dict[str, float] = {} if marker is None else marker.kwargs
    seconds, gigabytes = given.get("seconds", SECONDS), given.get("gigabytes", GIGABYTES)
    if not _EXAMPLES:
        faulthandler.dump_traceback_later(seconds * PATIENCE, exit=True, file=request.config.stash[_STDERR])
    before = resource.getrlimit(resource.RLIMIT_AS)
    if not SANITIZED:  # sanitizers map terabytes for their own use
        resource.setrlimit(resource.RLIMIT_AS, (_measure_mapped() + int(gigabytes * 2**30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        faulthandler.cancel_dump_traceback_later()


def _measure_mapped() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # not Linux
        return 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether a test failed, for the record of what it compared."""
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture
def compared(request: pytest.FixtureRequest) -> Iterator[dict[str, int]]:
    """Count what a property compared: answers, refusals, infeasible problems."""
    counts = {"examples": 0, "answers": 0, "proven": 0, "infeasible": 0, "refused": 0}
    yield counts
    path = os.environ.get("CERTUS_RECORD")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            failed = request.node.stash.get(_FAILED, False)
            file.write(json.dumps({"property": request.node.name, **counts, "failed": int(failed)}) + "\n")
