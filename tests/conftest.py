"""What the whole suite shares."""

from __future__ import annotations

import signal
from collections.abc import Iterator

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many answers were compared with brute force."""
    equal: list[int] = config.stash.get(EQUAL, [])
    if equal:
        terminalreporter.write_line(f"{sum(equal):,} answers equalled brute force exactly")
