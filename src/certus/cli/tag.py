"""``certus tag``: labels for text and files, in the format they come in."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from certus.annotation.tagging import Tagging
from certus.cli.labelled import write_labelled
from certus.cli.options import CORPUS, TagOptions
from certus.cli.outputs import check_outputs
from certus.cli.progress import is_watched, watch_files
from certus.cli.streams import deliver, is_typed, open_tagger, read_inputs, sort_out, wants_view
from certus.cli.view import show_labelled
from certus.errors import FormatError, InvalidInput
from certus.formats import Sentence, Target, guess
from certus.models.loading import locate
from certus.models.tagger import Tagger
from certus.storage.files import check_encoding

if TYPE_CHECKING:
    from certus.chain import Automaton

BATCH = 512  # sentences that are labelled together


def run(model: str | None, inputs: list[str], options: TagOptions) -> None:
    """Label the inputs and write them out, one by one or as a whole."""
    if options.consistent:
        from certus.cli.consistent import run as run_as_a_whole

        run_as_a_whole(model, inputs, options)
        return
    if options.find_given(CORPUS):
        raise InvalidInput(
            "--text, --delta, --memory and --known go with --consistent: add it, or leave them out"
        )
    check_encoding(options.encoding)
    guess.check(options.format, options.columns)
    model, inputs = sort_out(model, inputs)
    outputs = {"output": options.output}
    if options.certificate is not None:
        outputs["certificate"] = options.certificate
    check_outputs(outputs, [locate(model), options.dictionary, *inputs])
    tagger = open_tagger(model)
    set_inference(tagger, options)
    if options.unproven:
        tagger.proof = False
    legal = make_automaton(options.legal, tagger.target, tagger.labels)
    constraints = {
        "legal": legal,
        "dictionary": read_dictionary(options.dictionary, options.encoding),
    }
    waiting, pretty = is_typed(inputs), wants_view(inputs, options)
    if pretty:
        options = replace(options, confidence=True)
    sentences = read_inputs(inputs, tagger, options)
    summary = ProofSummary()
    answered = summary.watch(
        label_sentences(tagger, sentences, options, constraints, 1 if waiting else BATCH)
    )
    if options.certificate is not None:
        from certus.cli.certificates import TaggingCertifier, check_alone, write_certificates

        check_alone(options)
        certifier = TaggingCertifier(tagger, constraints)
        answered = write_certificates(answered, options.certificate, certifier)
    labelled = (
        show_labelled(tagger.target, answered)
        if pretty
        else write_labelled(tagger.target, answered, options.k, options.proof)
    )
    watched = is_watched(options.output)
    with watch_files(inputs, watched):
        deliver(labelled, options.output, options.encoding, waiting)
    if not pretty and not waiting and not options.quiet:
        print(summary, file=sys.stderr)


class ProofSummary:
    """Counts how many sentences were proven, and what that took."""

    def __init__(self) -> None:
        self.sentences = self.proven = self.searches = 0
        self._began = perf_counter()

    def watch(
        self, answered: Iterable[tuple[Sentence, Sequence[Tagging]]]
    ) -> Iterator[tuple[Sentence, Sequence[Tagging]]]:
        """Yield sentences with their answers, and count them."""
        for sentence, answers in answered:
            if answers:
                self.sentences += 1
                self.proven += all(answer.optimal for answer in answers)
                self.searches += max(1, answers[0].stats["iterations"])
            yield sentence, answers

    def __str__(self) -> str:
        mean = self.searches / max(1, self.sentences)
        return (
            f"{self.proven:,} of {self.sentences:,} sentences proven, "
            f"{mean:.2f} searches per sentence, {perf_counter() - self._began:.1f} s"
        )


def label_sentences(
    tagger: Tagger,
    sentences: Iterator[Sentence],
    options: TagOptions,
    constraints: dict[str, Any],
    batch: int,
) -> Iterator[tuple[Sentence, Sequence[Tagging]]]:
    """Label sentences in batches, and yield each with its answers, best first."""
    asked: dict[str, Any] = {"k": options.k, "confidence": options.confidence, "threads": options.threads}
    asked |= {"seconds": options.seconds, "max_iterations": options.max_iterations}
    while several := list(islice(sentences, batch)):
        answers = tagger.tag_batch(several, infeasible="return", **asked, **constraints)
        for sentence, answer in zip(several, answers, strict=True):
            yield sentence, answer if options.k > 1 else [answer]


def make_automaton(kind: str | None, target: Target, labels: list[str]) -> Automaton | None:
    """Make the automaton that a name stands for; of joint labels, the column that it fits is held to it."""
    if kind is None:
        return None
    from certus.chain.automaton import SCHEMES, name_scheme

    if kind not in SCHEMES:
        raise InvalidInput(f"there is no scheme {kind!r}; there are {', '.join(SCHEMES)}")
    found = None
    for column in reversed(target.fields):
        values = {label: _get_part(target, label, column) for label in labels}
        try:
            return SCHEMES[kind](labels, part=values.__getitem__)
        except InvalidInput:
            found = found or name_scheme(values.values())
    raise InvalidInput(
        f"the model predicts {target.expression}, of which no column is in the scheme {kind}: "
        f"its labels are {f'in the scheme {found}' if found else ', '.join(labels[:3]) + ', ...'}"
    )


def _get_part(target: Target, label: str, column: str) -> str:
    if len(target.fields) == 1:
        return label
    parts = (part for part in target.parts(label) if part.startswith(f"{column}="))
    return next(parts, "").removeprefix(f"{column}=")


def set_inference(tagger: Tagger, options: TagOptions) -> None:
    """Let a latent model infer as asked; labels of spans are reranked by F1, others by accuracy."""
    if options.inference is None and not options.steps:
        return
    from certus.latent.inference import make_inference

    latent, steps = tagger.latent, options.steps
    name = options.inference or latent.inference.name
    if steps and name in ("bhp", "bmp"):
        raise InvalidInput(f"steps is the limit of ldi and mbr; {name} has none")
    latent.inference = make_inference(name, steps, tagger.labels)


def read_dictionary(path: str | None, encoding: str) -> dict[str, list[str]] | None:
    """Read a tag dictionary, if one is given: a word, a tab, and its labels separated by blanks."""
    if path is None:
        return None
    listed: dict[str, list[str]] = {}
    try:
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(file, 1):
                word, _, labels = line.removeprefix("\ufeff").rstrip("\n").partition("\t")
                if not line.strip():
                    continue
                if not word or not labels.split():
                    raise FormatError("a word, a tab and its labels are needed", path, number)
                listed[word] = labels.split()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInput(f"cannot read the dictionary {path}: {reason}") from error
    return listed
