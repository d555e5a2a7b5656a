"""The parameters of a CRF: stored as given, checked when training begins."""

from __future__ import annotations

import os
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from certus.checks import check_count
from certus.errors import InvalidInput
from certus.learn.crf.algorithms import ALGORITHMS, Algorithm, check_least

_ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
_OPTIONS = {field.name for kind in ALGORITHMS.values() for field in fields(kind)}  # type: ignore[arg-type]
Self = TypeVar("Self", bound="CRFParameters")


class CRFParameters:
    """What scikit-learn wants of an estimator's parameters. CRF says what they mean."""

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: None = None,
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.threads = threads
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as they were given."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters; they take effect at the next fit."""
        for name in params:
            if name not in PARAMETERS:
                raise InvalidInput(f"CRF has no parameter {name!r}; it has {', '.join(PARAMETERS)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _make_algorithm(self) -> Algorithm:
        name = "lbfgs" if self.algorithm is None else self.algorithm
        kind = ALGORITHMS.get(_ALIASES.get(name, name)) if isinstance(name, str) else None
        if kind is None:
            raise InvalidInput(f"unknown algorithm {name!r}; choose one of: {', '.join(ALGORITHMS)}")
        if self.trainer_cls is not None:
            raise InvalidInput("trainer_cls must be None: training is not CRFsuite's")
        given = {n: as_number(getattr(self, n)) for n in sorted(_OPTIONS & set(PARAMETERS))}
        given = {n: value for n, value in given.items() if value is not None}
        own = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        foreign = [n for n in given if n not in own]
        if foreign:
            raise InvalidInput(
                f"algorithm {kind.name!r} has no {', '.join(foreign)}; "
                f"it has {', '.join(sorted(own & set(PARAMETERS)))}"
            )
        return kind(**given)

    def _check_common(self) -> tuple[float, int, int]:
        min_freq, seed = as_number(0.0 if self.min_freq is None else self.min_freq), as_number(self.seed)
        check_least("min_freq", min_freq, 0)
        check_count("seed", seed, least=0)
        if self.model_filename is not None and not Path(self.model_filename).resolve().parent.is_dir():
            raise InvalidInput(f"model_filename is in a folder that does not exist: {self.model_filename}")
        return min_freq, self._check_threads(), seed

    def _check_threads(self) -> int:
        threads: int = as_number(self.threads)
        check_count("threads", threads)
        return threads

    def __repr__(self) -> str:
        given = {n: v for n, v in self.get_params().items() if v != PARAMETERS[n]}
        return f"CRF({', '.join(f'{n}={v!r}' for n, v in given.items())})"


def as_number(value: Any) -> Any:
    """Turn a NumPy scalar, as random search draws them, into the number it is."""
    return value.item() if isinstance(value, np.generic) else value


PARAMETERS: dict[str, Any] = {
    name: parameter.default for name, parameter in signature(CRFParameters).parameters.items()
}
