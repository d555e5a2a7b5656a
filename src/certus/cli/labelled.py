"""Sentences with their labels, as ``certus tag`` writes them.

CoNLL-U and column files keep all but the predicted columns. Columns that a column file lacks are appended.
Text becomes CoNLL-U, or two and more columns where CoNLL-U has no place for what is predicted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from certus.annotation.sentence import Layout, Sentence, replace
from certus.annotation.tagging import Tagging
from certus.annotation.targets import Target
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import join_sentences
from certus.formats.conllu import FIELDS, build

CONFIDENCE = "confidence"  # the column of column files, and the attribute under MISC
PROOF = "proof"  # the column of files that have no comments
_NOTE = re.compile(r"(?:^|\|)Confidence=[^|]*")
_PROVEN = re.compile(r"# optimal = (?:yes|no)\r?")
_COMMENT = re.compile(r"# (rank|score|bound|optimal|claim|probability|least_probability) = ")


def write_labelled(
    target: Target, answered: Iterable[tuple[Sentence, Sequence[Tagging]]], k: int, proof: bool = False
) -> Iterator[str]:
    """Yield the texts of sentences with their answers, as they go into one file.

    Args:
        target: what the labels are of.
        answered: sentences as they were read, each with its answers.
        k: how many were asked for; several are numbered.
        proof: whether to say how good each answer is proven to be.
    """
    return join_sentences(
        made for sentence, answers in answered for made in write_answers(target, sentence, answers, k, proof)
    )


def write_answers(
    target: Target, sentence: Sentence, answers: Sequence[Tagging], k: int, proof: bool = False
) -> Iterator[tuple[str, Layout]]:
    """Yield the text of a sentence with each of its answers, best first, and the layout of that.

    Args:
        target: what the labels are of.
        sentence: as it was read.
        answers: Taggings, at most k.
        k: how many were asked for; several are numbered.
        proof: whether to say how good each answer is proven to be: in comments of CoNLL-U, in a column of
            other files.
    """
    refuse_infeasible(sentence, answers)
    confident = answers[0].confidence is not None
    place = append_missing_columns(lay_out_columns(sentence, target), target, confident)
    if proof and "misc" not in place.columns and PROOF not in place.columns:
        place = append_columns(place, [PROOF])
    for rank, answer in enumerate(answers, 1):
        fields = target.fill(place, answer.labels)
        if confident:
            fields |= fill_confidences(place, answer.confidence)
        if proof and PROOF in place.columns:
            fields[PROOF] = [name_proof(answer, rank if k > 1 else None)] * len(place)
        comments = describe_answer(answer, rank if k > 1 else None, proof and PROOF not in place.columns)
        yield insert_comments(replace(place, fields), comments, about_labels=True), place.layout


def refuse_infeasible(sentence: Sentence, answers: Sequence[Tagging]) -> None:
    """Name the place of a word that the constraints leave no label for."""
    position = answers[0].position if answers else 0
    if position is not None:
        line = sentence.line_of(position)
        raise FormatError("no label sequence fits the constraints here", sentence.source, line)


def lay_out_columns(sentence: Sentence, target: Target) -> Sentence:
    """Make a sentence with columns of one that is a line of text."""
    if sentence.layout.format not in ("text", "raw"):
        return sentence
    if set(target.fields) <= set(FIELDS):
        made = build(sentence.words, text=sentence.text.strip("\ufeff\r\n ") or None)
    else:
        text = "".join(f"{word}\n" for word in sentence.words)
        layout = Layout("columns", ("form",), "\t")
        made = Sentence({"form": sentence.words}, text + "\n", range(len(sentence)), 1, "", layout)
    made.source, made.top = sentence.source, sentence.top
    return made


def append_missing_columns(sentence: Sentence, target: Target, confident: bool) -> Sentence:
    """Append the columns to be written that a sentence lacks."""
    missing = [name for name in target.fields if name not in sentence.columns]
    if missing and "id" in sentence.columns:  # the columns of CoNLL-U and CoNLL-X are fixed
        raise InvalidInput(
            f"{sentence.source}:{sentence.line}: the model predicts {target.expression}, but there is no "
            f"column {missing[0]!r} to write it to; the columns are {', '.join(sentence.columns)}"
        )
    if confident and "misc" not in sentence.columns and CONFIDENCE not in sentence.columns:
        missing.append(CONFIDENCE)
    return append_columns(sentence, missing) if missing else sentence


def append_columns(sentence: Sentence, names: Sequence[str]) -> Sentence:
    """Return a sentence with more columns, which hold ``_`` still."""
    separator = sentence.layout.separator
    lines = sentence.text.split("\n")
    for row in sentence.rows:
        line = lines[row].removesuffix("\r")
        bare = line.rstrip(" \t") if separator == " " else line
        lines[row] = bare + (separator + "_") * len(names) + "\r" * lines[row].endswith("\r")
    columns = {**sentence.columns, **{name: ["_"] * len(sentence) for name in names}}
    layout = Layout(sentence.layout.format, tuple(columns), separator)
    return Sentence(columns, "\n".join(lines), sentence.rows, sentence.top, sentence.source, layout)


def fill_confidences(sentence: Sentence, found: Sequence[float] | None) -> dict[str, list[str]]:
    """Return the column that confidences go to; those of lower ranks are not known."""
    values = ["_"] * len(sentence) if found is None else [f"{p:.4f}" for p in found]
    if CONFIDENCE in sentence.columns:
        return {CONFIDENCE: values}
    old = (_NOTE.sub("", misc).lstrip("|") for misc in sentence.columns["misc"])
    return {"misc": [_add_note(misc, value) for misc, value in zip(old, values, strict=True)]}


def _add_note(misc: str, value: str) -> str:
    if value == "_":
        return misc or "_"
    return f"Confidence={value}" if misc in ("", "_") else f"{misc}|Confidence={value}"


def name_proof(answer: Tagging, rank: int | None) -> str:
    """Return what the column of proofs holds: ``optimal``, or how much better other labels may be.

    In a list of several it is ``rank=2,optimal``: no labels are better but those of better ranks.
    """
    proof = "optimal" if answer.optimal else f"gap={answer.gap:.6g}"
    return proof if rank is None else f"rank={rank},{proof}"


def describe_answer(answer: Tagging, rank: int | None, proof: bool = False) -> list[str]:
    """Say which of several answers one is, and how good."""
    made = [] if rank is None else [f"# rank = {rank}"]
    if rank is not None or proof:
        made.append(f"# score = {answer.score:.9g}" if proof else f"# score = {answer.score:.6g}")
    if proof:
        made += [f"# bound = {answer.bound:.9g}", f"# optimal = {'yes' if answer.optimal else 'no'}"]
    if proof and (rank is not None or answer.is_part):
        made.append(f"# claim = {answer.claim}")
    if answer.probability is not None:
        made.append(f"# probability = {answer.probability:.6g}")
    if proof and answer.probability_interval is not None:
        made.append(f"# least_probability = {answer.probability_interval[0]:.6g}")
    return made


def insert_comments(sentence: Sentence, comments: Sequence[str], *, about_labels: bool = False) -> str:
    """Return the text with comments after its own; in columns separated by blanks there are none.

    Args:
        sentence: as it was read.
        comments: to be added; those of the same names are replaced.
        about_labels: whether the labels are new, so that what ``--proof`` wrote about others goes.
    """
    if sentence.layout.separator != "\t":
        return sentence.text
    lines, at = _drop_comments(sentence, comments, about_labels)
    if not comments:
        return "\n".join(lines)
    while at and lines[at - 1].strip() and not lines[at - 1].startswith("#"):  # ranges and empty nodes
        at -= 1
    end = "\r" * lines[at].endswith("\r")
    mark = "\ufeff" * lines[at].startswith("\ufeff")
    lines[at] = lines[at].removeprefix("\ufeff")
    lines[at:at] = [comment + end for comment in comments]
    lines[at] = mark + lines[at]
    return "\n".join(lines)


def _drop_comments(sentence: Sentence, comments: Sequence[str], about_labels: bool) -> tuple[list[str], int]:
    """Return the lines of a sentence without comments that others replace, and where its first token is."""
    lines, at = sentence.text.split("\n"), sentence.rows[0]
    written = {comment.partition(" = ")[0] for comment in comments}
    proven = about_labels and any(map(_PROVEN.fullmatch, lines[:at]))
    kept = [
        line
        for line in lines[:at]
        if line.partition(" = ")[0] not in written and not (proven and _COMMENT.match(line))
    ]
    return kept + lines[at:], len(kept)
