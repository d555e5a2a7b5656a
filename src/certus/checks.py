"""Turns the arrays people have into what the kernels take, without copying where that is possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput
from certus.solution import OnInfeasible


class Tensor(Protocol):
    """A torch tensor, as far as it is used here; torch itself is not needed."""

    @property
    def device(self) -> Device:
        """Where it lies."""

    def detach(self) -> Tensor:
        """Return the same numbers without gradients."""

    def is_floating_point(self) -> bool:
        """Whether it holds floats."""

    def element_size(self) -> int:
        """Bytes per number."""

    def float(self) -> Tensor:
        """Return the same numbers in single precision."""

    def numpy(self) -> NDArray[np.generic]:
        """Return an array that shares its memory."""

    def __array__(self) -> NDArray[np.generic]: ...


class Device(Protocol):
    """Where a tensor lies: ``type`` is "cpu" for what can be decoded here."""

    type: str


class Shared(Protocol):
    """An array of another library that can be shared through DLPack."""

    def __dlpack__(self, /, *, stream: None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


# What people pass: NumPy arrays, nested sequences, torch tensors.
Scores: TypeAlias = ArrayLike | Tensor  # numbers; -inf forbids
Mask: TypeAlias = ArrayLike | Tensor  # booleans
Lengths: TypeAlias = ArrayLike | Tensor  # whole numbers
# What becomes of scores.
Floats: TypeAlias = NDArray[np.floating]  # float32 or float64
Precision: TypeAlias = np.dtype[np.floating]

SINGLE: Precision = np.dtype(np.float32)
DOUBLE: Precision = np.dtype(np.float64)

D = TypeVar("D", bound=np.generic)  # what an array holds


def as_array(name: str, value: Scores) -> Floats:
    """Return a float32 or float64 array that shares memory with ``value`` where it can.

    Torch tensors are taken as they lie in CPU memory; integers and booleans become float64, half precision
    float32.
    """
    if type(value) is np.ndarray and (value.dtype is SINGLE or value.dtype is DOUBLE):
        return value
    array = _read_array(name, value)
    kind = array.dtype.kind
    if array.dtype in (SINGLE, DOUBLE):  # also other byte orders, which are converted
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if kind == "f":
        return array.astype(SINGLE if array.dtype.itemsize < SINGLE.itemsize else DOUBLE)
    if kind in "biu":
        return array.astype(DOUBLE)
    if array.size == 0:
        return array.astype(DOUBLE)
    raise InvalidInput(f"{name} must hold numbers, not {array.dtype}")


def is_array(value: object) -> bool:
    """Whether a value is one array or tensor, of any library, and not a list of them."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def freeze(array: NDArray[D]) -> NDArray[D]:
    """Return an array that nobody can write to: itself where that is so, otherwise a read-only copy."""
    owner: object = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if owner is None or isinstance(owner, bytes) else seal(array.copy())


def seal(array: NDArray[D]) -> NDArray[D]:
    """Return the same array, which nobody else has, made read-only: ``freeze`` need not copy it."""
    array.flags.writeable = False
    return array


def _read_array(name: str, value: ArrayLike | Tensor) -> NDArray[Any]:
    """Return what NumPy makes of a value, without copying where it lies in memory as an array does."""
    if _has_masked(value):
        raise InvalidInput(
            f"{name} is a masked array with masked elements: fill them first "
            "(scores.filled(-np.inf) forbids what is masked)"
        )
    if _is_tensor(value):
        return _from_torch(name, value)
    try:
        array: NDArray[Any] = np.from_dlpack(value) if _has_dlpack_only(value) else np.asarray(value)
    except (ValueError, BufferError) as error:
        raise InvalidInput(f"{name} is not a rectangular array of numbers: {error}") from None
    return array


def _has_masked(value: object) -> bool:
    """Whether any element of a masked array, or of a list of them, is masked: NumPy would forget it."""
    if isinstance(value, list | tuple):
        return any(_has_masked(each) for each in value)
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def _has_dlpack_only(value: object) -> TypeGuard[Shared]:
    return hasattr(value, "__dlpack__") and not hasattr(value, "__array__")


def _is_tensor(value: object) -> TypeGuard[Tensor]:
    return hasattr(value, "detach")


def _from_torch(name: str, tensor: Tensor) -> NDArray[np.generic]:
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        raise InvalidInput(f"{name} lies on {tensor.device}; decoding runs on the CPU: pass {name}.cpu()")
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    return tensor.numpy()


def as_emissions(value: Scores, labels: int, dtype: Precision, name: str = "emissions") -> Floats:
    """Return a (T, L) array with unit stride over labels, in single precision only if ``dtype`` is, too."""
    array = as_array(name, value)
    if array.ndim != 2:
        if array.size == 0 and array.ndim < 2:
            return np.empty((0, labels), dtype)
        raise InvalidInput(f"{name} must have shape (T, L), not {array.shape}")
    if array.shape[1] != labels:
        raise InvalidInput(
            f"{name} has {array.shape[1]} labels per position (shape {array.shape}), "
            f"but the transitions are over {labels} labels"
        )
    if dtype is DOUBLE and array.dtype is not DOUBLE:
        return array.astype(DOUBLE, order="C")
    strides, size = array.strides, array.itemsize
    if (strides[1] != size and labels > 1) or strides[0] % size or not array.flags.aligned:
        return np.ascontiguousarray(array)
    return array


def as_vector(name: str, value: Scores | None, labels: int, dtype: Precision | None = None) -> Floats | None:
    """Return a checked (L,) array of scores, or None."""
    if value is None:
        return None
    array = as_array(name, value)
    if dtype is not None and isinstance(value, Sequence):
        array = array.astype(dtype)
    if array.shape != (labels,):
        raise InvalidInput(f"{name} must have shape ({labels},), one score per label, not {array.shape}")
    check_finite(name, array)
    return freeze(array)


def check_count(name: str, value: object, *, least: int = 1) -> None:
    """Refuse an argument or option that is not a whole number, or is below the least that makes sense."""
    if type(value) is int and value >= least:  # the common case, without the price of isinstance
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {value!r}")


def read_seconds(seconds: float | None, name: str = "seconds") -> float:
    """Return a limit of time as the kernels take it: a number of seconds, and infinity where there is none.

    Raises:
        InvalidInput: it is negative, NaN, or not a number.
    """
    if seconds is None:
        return math.inf
    is_number = isinstance(seconds, int | float | np.number) and not isinstance(
        seconds, bool | np.complexfloating
    )
    if not (is_number and seconds >= 0):  # NaN is not, either
        raise InvalidInput(f"{name} is {seconds!r}; it must be a number of at least 0, or inf for no limit")
    try:
        return float(seconds)
    except OverflowError:  # of a whole number
        return math.inf


def check_infeasible(value: OnInfeasible) -> None:
    """Refuse a policy for infeasible problems that does not exist."""
    if value not in ("raise", "return"):
        raise InvalidInput(f'infeasible must be "raise" or "return", not {value!r}')


def check_finite(name: str, array: Floats) -> None:
    """Refuse NaN and +inf, naming the position. ``-inf`` is fine: it forbids."""
    bad = np.isnan(array) | np.isposinf(array)
    if bad.any():
        refuse(name, tuple(int(i) for i in np.argwhere(bad)[0]), array)


def check_magnitudes(name: str, array: Floats, largest: float) -> None:
    """Refuse finite numbers whose magnitude is above ``largest``, naming the position."""
    low, high = array.min(initial=0.0), array.max(initial=0.0)
    if low == -np.inf:
        low = np.min(array, where=array > -np.inf, initial=0.0)
    if high > largest or low < -largest:
        place = np.argwhere(np.isfinite(array) & (np.abs(array) > largest))[0]
        raise InvalidInput(
            f"{name}[{', '.join(map(str, place.tolist()))}] is {array[tuple(place)]:.3g}; the magnitudes of "
            f"scores go up to {largest:.3g} here: scale them down, or use -inf for what is forbidden"
        )


def refuse(name: str, where: tuple[int, ...], array: Floats) -> NoReturn:
    """Raise the error for a score that is NaN or +inf."""
    place = ", ".join(map(str, where))
    raise InvalidInput(
        f"{name}[{place}] is {float(array[where])}; scores must be finite, or -inf for what is forbidden"
    )


def refuse_sums(length: int, arrays: Mapping[str, Floats | None]) -> NoReturn:
    """Raise the error for scores that may add up beyond float64; it names that of the largest magnitude."""
    largest, where = 0.0, ""
    for name, array in arrays.items():
        if array is None or not array.size:
            continue
        sizes = np.abs(np.where(np.isneginf(array), 0, array))
        at = np.unravel_index(int(sizes.argmax()), sizes.shape)
        if sizes[at] >= largest:
            largest, where = float(sizes[at]), f"{name}[{', '.join(map(str, at))}] is {array[at]}"
    raise InvalidInput(
        f"the scores of a label sequence may add up beyond the range of float64: {where}, and there are "
        f"{length} positions; scale them down, and forbid by -inf instead of a number"
    )


def as_mask(name: str, value: Mask, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a checked boolean array of the shape given."""
    mask = _read_array(name, value)
    if mask.dtype != bool and not (mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all()):
        raise InvalidInput(f"{name} must hold booleans, not {mask.dtype}")
    if mask.shape != shape:
        raise InvalidInput(f"{name} must have shape {shape}, not {mask.shape}")
    return mask.astype(bool, copy=False)


def as_labels(value: ArrayLike, length: int, labels: int) -> NDArray[np.int64]:
    """Return a checked (T,) or (n, T) array of label ids."""
    array = _read_array("labels", value)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidInput(f"labels must be whole numbers, not {array.dtype}")
    if array.ndim not in (1, 2) or array.shape[-1] != length:
        raise InvalidInput(f"labels must have shape (T,) or (n, T) with T = {length}, not {array.shape}")
    bad = np.argwhere((array < 0) | (array >= labels))
    if bad.size:
        where = tuple(int(i) for i in bad[0])
        place = ", ".join(map(str, where))
        raise InvalidInput(f"labels[{place}] is {array[where]}, but labels go from 0 to {labels - 1}")
    return np.ascontiguousarray(array, np.int64)


def read_lengths(batch: int, longest: int, lengths: Lengths) -> list[int]:
    """Return the length of each sentence of a padded batch."""
    array = _read_array("lengths", lengths)
    if array.shape != (batch,) or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInput(
            f"lengths must hold one whole number per sentence: {batch} of them, not {array.shape}"
        )
    bad = np.flatnonzero((array < 0) | (array > longest))
    if bad.size:
        raise InvalidInput(
            f"lengths[{bad[0]}] is {array[bad[0]]}, but sentences have at most {longest} positions"
        )
    return [int(n) for n in array]
