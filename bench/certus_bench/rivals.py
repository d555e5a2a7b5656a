"""What people use today, called the way its documentation says, on the same scores.

A rival is given its inputs in its own form before the clock starts: converting them is not counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus_bench.harness.timing import Call
from certus_bench.lattices import Sample

Load = Callable[[Sample], list[Call]]


def decode_in_numpy(emissions: NDArray[Any], transitions: NDArray[Any]) -> NDArray[np.int64]:
    """Decode as everyone's first version does: a broadcast sum, a maximum and an argmax for each position."""
    length, labels = emissions.shape
    pointers = np.empty((length, labels), np.int64)
    best = emissions[0]
    for t in range(1, length):
        arriving = best[:, None] + transitions
        pointers[t] = arriving.argmax(axis=0)
        best = arriving.max(axis=0) + emissions[t]
    path = np.empty(length, np.int64)
    path[-1] = best.argmax()
    for t in range(length - 1, 0, -1):
        path[t - 1] = pointers[t, path[t]]
    return path


def _load_numpy(sample: Sample) -> list[Call]:
    return [partial(decode_in_numpy, emissions, sample.transitions) for emissions in sample.sentences]


def _load_pytorch_crf(sample: Sample) -> list[Call]:
    import torch
    from torchcrf import CRF

    warnings.filterwarnings("ignore", module="torchcrf")
    torch.set_num_threads(1)
    crf = CRF(sample.labels, batch_first=True)
    crf.to(torch.from_numpy(sample.sentences[0]).dtype)
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(sample.transitions))
        crf.start_transitions.zero_()
        crf.end_transitions.zero_()

    def decode(emissions: Any) -> NDArray[np.int64]:
        with torch.no_grad():
            return np.array(crf.decode(emissions)[0])

    return [partial(decode, torch.from_numpy(emissions)[None]) for emissions in sample.sentences]


def _load_hmmlearn(sample: Sample) -> list[Call]:
    from hmmlearn import _hmmc

    # It takes the logarithm of probabilities in every call, but does not ask them to add up.
    start = np.ones(sample.labels)
    transitions = np.exp(sample.transitions.astype(np.float64))

    def decode(emissions: NDArray[np.float64]) -> Any:
        return _hmmc.viterbi(start, transitions, emissions)[1]

    return [partial(decode, emissions.astype(np.float64)) for emissions in sample.sentences]


def _load_dynamax(sample: Sample) -> list[Call]:
    import jax
    from dynamax.hidden_markov_model import hmm_posterior_mode

    jax.config.update("jax_enable_x64", sample.sentences[0].dtype == np.float64)
    start = jax.numpy.ones(sample.labels) / sample.labels
    # It takes the logarithm of probabilities, but does not ask them to add up.
    transitions = jax.numpy.exp(jax.numpy.asarray(sample.transitions))
    mode = jax.jit(hmm_posterior_mode)

    def decode(emissions: Any) -> Any:
        return np.asarray(mode(start, transitions, emissions))

    return _compile([partial(decode, jax.numpy.asarray(emissions)) for emissions in sample.sentences])


def _load_librosa(sample: Sample) -> list[Call]:
    import librosa

    # It wants rows of probabilities. What normalising takes from a row is given back by the emissions of
    # its label, at all positions but the last, which no transition leaves.
    scores = sample.transitions.astype(np.float64)
    rows = np.logaddexp.reduce(scores, axis=1)
    transitions = np.exp(scores - rows[:, None])

    def prepare(emissions: NDArray[Any]) -> NDArray[np.float64]:
        full = emissions.astype(np.float64)
        full[:-1] += rows
        return np.ascontiguousarray(np.exp(full - full.max(axis=1, keepdims=True)).T)

    decode = librosa.sequence.viterbi
    return _compile([partial(decode, prepare(emissions), transitions) for emissions in sample.sentences])


def _compile(calls: list[Call]) -> list[Call]:
    """Make the first call, in which these libraries compile themselves."""
    calls[0]()
    return calls


# The name in the tables: the module that has to be there, and how to set it up.
_RIVALS: dict[str, tuple[str, Load]] = {
    "NumPy": ("numpy", _load_numpy),
    "pytorch-crf": ("torchcrf", _load_pytorch_crf),
    "hmmlearn": ("hmmlearn", _load_hmmlearn),
    "dynamax": ("dynamax", _load_dynamax),
    "librosa": ("librosa", _load_librosa),
}
NAMES = tuple(_RIVALS)


def list_installed() -> dict[str, Load]:
    """Return the rivals that can be imported here, each with the function that sets it up."""
    return {name: load for name, (module, load) in _RIVALS.items() if find_spec(module)}


def list_versions(names: Sequence[str] | None) -> dict[str, str]:
    """Return the versions of the rivals that are installed, or of those among them that are named."""
    from importlib.metadata import version

    wanted = list_installed() if names is None else [name for name in list_installed() if name in names]
    return {name: version(name) for name in wanted if name != "NumPy"}
