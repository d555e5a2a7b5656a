"""Counts derivations exactly, however many: in remainders natively, put together here.

One pass counts modulo 2^64. Where the count is larger (its logarithm is known from a log-sum pass), it is
taken modulo as many primes as needed, and the Chinese remainder theorem gives the number itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

from certus.errors import InvalidInput

MOST_BITS = 100_000  # some 1,600 passes
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide every number below 2^64


def count_exactly(log_count: float, remainder: Callable[[int], int]) -> int:
    """Return a count.

    Args:
        log_count: its natural logarithm, roughly.
        remainder: gives the count modulo a number, or modulo 2^64 for 0.
    """
    bits = log_count / math.log(2) * 1.001 + 2
    if bits < 64:
        return remainder(0)
    if not bits <= MOST_BITS:
        raise InvalidInput(
            f"the number of derivations has about {log_count / math.log(10):.3g} digits, too many to be "
            "worth writing down; log_partition of scores that are all zero is its logarithm"
        )
    count, modulus = 0, 1
    for prime in _list_primes():
        step = (remainder(prime) - count) * pow(modulus, -1, prime) % prime
        count, modulus = count + modulus * step, modulus * prime
        if modulus.bit_length() > bits:
            return count
    raise AssertionError("there are more primes than that")


def _list_primes() -> Iterator[int]:
    """Yield primes below 2^62, the largest first."""
    number = 2**62
    while True:
        number = _find_prime_before(number)
        yield number


@cache
def _find_prime_before(number: int) -> int:
    number -= 1
    while not _is_prime(number):
        number -= 1
    return number


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test, which is exact below 2^64 with these witnesses."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, witness, odd, twos) for witness in _WITNESSES)


def _passes(number: int, witness: int, odd: int, twos: int) -> bool:
    power = pow(witness, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
