"""What the whole suite shares."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

EQUAL = pytest.StashKey[list[int]]()


def pytest_configure() -> None:
    """Let Ctrl-C reach the tests that send it, also where the suite was started with it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> list[int]:
    """How many answers equalled brute force, seed by seed."""
    return pytestconfig.stash.setdefault(EQUAL, [])


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Take back the handlers of signals that the command line sets for its process: the suite's, here."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where several processes share the suite: tell the first what was counted here."""
    if hasattr(session.config, "workeroutput"):
        equal: list[int] = session.config.stash.get(EQUAL, [])
        session.config.workeroutput["equal"] = sum(equal)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add up what the processes counted."""
    node.config.stash.setdefault(EQUAL, []).append(getattr(node, "workeroutput", {}).get("equal", 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many answers were compared with brute force."""
    equal: list[int] = config.stash.get(EQUAL, [])
    if equal:
        terminalreporter.write_line(f"{sum(equal):,} answers equalled brute force exactly")
