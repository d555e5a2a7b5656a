"""Chunk counts as the conlleval program makes them: one pass over gold and guessed tags side by side.

Its conditions are listed one by one, as in the program; those on S, and on B after E, are what its successors
add for IOBES.
"""

from __future__ import annotations

from collections.abc import Sequence

_ENDS = {
    ("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O"),
    ("E", "B"), ("E", "S"), ("S", "B"), ("S", "I"), ("S", "E"), ("S", "S"), ("S", "O"),
    ("B", "S"), ("I", "S"),
}  # fmt: skip
_STARTS = {
    ("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E"),
    ("E", "B"), ("S", "B"), ("B", "S"), ("I", "S"), ("E", "S"), ("O", "S"), ("S", "S"),
    ("S", "I"), ("S", "E"),
}  # fmt: skip


def _split(tag: str) -> tuple[str, str]:
    mark, _, kind = tag.partition("-")
    return mark, kind


def _end(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return (before[0], now[0]) in _ENDS or (before[0] != "O" and before[1] != now[1])


def _start(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return (before[0], now[0]) in _STARTS or (now[0] != "O" and before[1] != now[1])


def counts(gold: Sequence[str], guessed: Sequence[str]) -> tuple[int, int, int]:
    """Return how many chunks of a sentence are right, guessed, and in the gold tags."""
    right = found_guessed = found_gold = 0
    inside = False  # a chunk that began and went on alike in both
    last_gold = last_guess = ("O", "")
    for gold_tag, guess_tag in zip([*gold, "O"], [*guessed, "O"], strict=True):
        now_gold, now_guess = _split(gold_tag), _split(guess_tag)
        end_gold, end_guess = _end(last_gold, now_gold), _end(last_guess, now_guess)
        if inside:
            if end_gold and end_guess and last_gold[1] == last_guess[1]:
                inside = False
                right += 1
            elif end_gold != end_guess or now_gold[1] != now_guess[1]:
                inside = False
        start_gold, start_guess = _start(last_gold, now_gold), _start(last_guess, now_guess)
        if start_gold and start_guess and now_gold[1] == now_guess[1]:
            inside = True
        found_gold += start_gold
        found_guessed += start_guess
        last_gold, last_guess = now_gold, now_guess
    return right, found_guessed, found_gold
