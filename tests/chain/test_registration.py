"""A solver is one native file, one Python file and one line in the list of methods."""

from __future__ import annotations

from certus import Status, _native
from certus.chain import METHODS


def test_every_solver_has_a_method_and_every_method_a_solver() -> None:
    assert set(_native.METHODS) == set(METHODS)
    assert len(_native.METHODS) == len(set(_native.METHODS))


def test_numbers_of_solvers_do_not_depend_on_the_order_of_linking() -> None:
    assert list(_native.METHODS) == sorted(_native.METHODS)
    assert all(_native.METHODS[method().code] == name for name, method in METHODS.items())


def test_statuses_of_the_kernels_have_names_of_their_own() -> None:
    told = {status.name for status in _native.Status} - {"INVALID"}
    assert told <= {status.name for status in Status}
    assert all(Status.of_native(_native.Status[name]) is Status[name] for name in told)
