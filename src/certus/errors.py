"""Every error Certus raises on purpose. Each says what happened, where, and what to do."""

from __future__ import annotations


class CertusError(Exception):
    """The base of all errors of this package."""


class InvalidInput(CertusError, ValueError):
    """An argument cannot be used as it is; the message names it and the position of the fault."""


class ModelError(CertusError):
    """A model file cannot be read or written; the message names the file, the reason and what to do."""


class Infeasible(CertusError):
    """No structure is allowed under the model: every path meets a score of ``-inf``.

    Attributes:
        position: the first position that no path reaches.
        sentence: the index of the sentence in its batch, or None for a single one.
    """

    def __init__(self, position: int, sentence: int | None = None) -> None:
        self.position = position
        self.sentence = sentence
        where = "" if sentence is None else f"sentence {sentence}: "
        super().__init__(
            f"{where}no label sequence is possible: the last one dies at position {position}. "
            "Look for -inf in the emissions there and in the transitions that lead there "
            "(or the end scores, if it is the last position); "
            'infeasible="return" gives a Solution with status INFEASIBLE instead of this error.'
        )

    def __reduce__(self) -> tuple[type[Infeasible], tuple[int, int | None]]:
        return type(self), (self.position, self.sentence)


class NotFitted(InvalidInput, AttributeError):
    """A model was asked for what only training gives it; also an AttributeError, as scikit-learn expects."""
