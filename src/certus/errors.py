"""Every error Certus raises on purpose. Each says what happened, where, and what to do."""

from __future__ import annotations


class CertusError(Exception):
    """The base of all errors of this package."""


class InvalidInput(CertusError, ValueError):
    """An argument cannot be used as it is; the message names it and the position of the fault."""


class FormatError(InvalidInput):
    """A file does not hold what it should.

    Attributes:
        reason: what is wrong, and what to do.
        source: the name of the file, or None.
        line: the line of the fault, counted from 1, or None when it is the whole file.
    """

    def __init__(self, reason: str, source: str | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        place = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        super().__init__(place + reason)

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str | None, int | None]]:
        return type(self), (self.reason, self.source, self.line)


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


class RefinementWarning(UserWarning):
    """An estimate is possible, but some labels have less to go by than was asked for."""
