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


class ModelError(CertusError, ValueError):
    """A model file cannot be read or written; the message names the file, the reason and what to do."""


# The end of the message of an Infeasible, which the command line leaves out.
ADVICE_FOR_PYTHON = '; infeasible="return" gives a Solution with status INFEASIBLE instead of this error.'


class Infeasible(CertusError):
    """No structure is allowed under the model: each one meets a score of ``-inf``.

    The message says what is not possible, where the last structure dies, and what to look for;
    ``describe_infeasible`` puts it together.

    Attributes:
        position: the first position that no structure reaches, or None where there are no positions.
        sentence: the index of the sentence in its batch, or None for a single one.
    """

    def __init__(self, message: str, *, position: int | None = None, sentence: int | None = None) -> None:
        self.position = position
        self.sentence = sentence
        super().__init__(message)

    @classmethod
    def at_position(cls, position: int, sentence: int | None = None) -> Infeasible:
        """Return the error for a chain of which no label sequence gets past a position."""
        message = describe_infeasible(
            f"no label sequence is possible: the last one dies at position {position}",
            "Look for -inf in the emissions there and in the transitions that lead there "
            "(or the end scores, if it is the last position)",
            sentence,
        )
        return cls(message, position=position, sentence=sentence)


def describe_infeasible(problem: str, advice: str, sentence: int | None = None) -> str:
    """Return the message of an Infeasible: what is not possible and why, then what to do."""
    where = "" if sentence is None else f"sentence {sentence}: "
    return f"{where}{problem}. {advice}{ADVICE_FOR_PYTHON}"


class NotFitted(InvalidInput, AttributeError):
    """A model was asked for what only training gives it; also an AttributeError, as scikit-learn expects."""


class RefinementWarning(UserWarning):
    """An estimate is possible, but some labels have less to go by than was asked for."""


class SmoothingWarning(UserWarning):
    """A language model was estimated with discounts that are not those of its text."""
