"""Training translators: alignment, phrases, a language model, and weights tuned on held-out pairs."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.align.symmetrize import SYMMETRIZATIONS
from certus.checks import check_count
from certus.errors import InvalidInput, ModelError, SmoothingWarning
from certus.learn.mira import Candidates, count_matches, learn_weights, measure_bleu
from certus.learn.progress import Progress
from certus.models.aligner import Aligner
from certus.models.language_model import LanguageModel
from certus.storage import model_file
from certus.translate.hierarchical_engine import HierarchicalEngine
from certus.translate.phrase_engine import PhraseEngine
from certus.translate.solution import Translation
from certus.translate.terms import Terms
from certus.translate.weights import OWN, Weights
from certus.version import __version__

Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
Arrays: TypeAlias = dict[str, NDArray[Any]]
Engine: TypeAlias = PhraseEngine | HierarchicalEngine
ENGINES: dict[str, type[PhraseEngine] | type[HierarchicalEngine]] = {
    engine.name: engine for engine in (PhraseEngine, HierarchicalEngine)
}
CHECKPOINT = "checkpoint"  # of model files
BATCH = 2000  # pairs aligned together
LONGEST_TUNED = 30  # source words of a pair that weights are tuned on
PATIENCE = 2  # rounds of tuning without a higher BLEU before it ends
START = Weights(
    translation=(0.2, 0.2, 0.2, 0.2),
    language_model=0.5,
    distortion=0.3,
    word=-0.5,
    phrase=0.2,
)  # as Moses begins, but for the penalty of words


@dataclass(frozen=True, kw_only=True)
class TranslatorOptions:
    """How a translator learns and searches.

    Attributes:
        model: "phrases", or "hierarchical" for rules with gaps.
        order: of the language model.
        max_phrase: the most words of a phrase.
        max_length: pairs with more words on a side are left out.
        symmetrization: how links are made of both directions' alignments: "exact" or one of
            certus.align.SYMMETRIZATIONS.
        most: translations of a phrase that are kept.
        options: translations of a phrase that a search looks at.
        limit: the longest jump, in words; None for any.
        span: of a hierarchical model: the most source words that a rule derives.
        held_out: pairs that weights are tuned on, where no others are given; fewer from little data.
        tuning: the most rounds of it; it ends where BLEU rises no more. 0 leaves the weights as they are.
        k: translations of each held-out sentence that a round of tuning adds.
    """

    model: str = PhraseEngine.name
    order: int = 3
    max_phrase: int = 7
    max_length: int = 80
    symmetrization: str = "grow-diag-final-and"
    most: int = 100
    options: int = 20
    limit: int | None = 6
    span: int = 10
    held_out: int = 400
    tuning: int = 10
    k: int = 30

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("order", "max_phrase", "max_length", "most", "options", "span", "k"):
            check_count(name, getattr(self, name))
        for name in ("held_out", "tuning"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 0:
                raise InvalidInput(f"{name} must be a whole number of at least 0")
        if self.limit is not None and (not isinstance(self.limit, int) or self.limit < 0):
            raise InvalidInput(f"limit must be a whole number of at least 0, or None, not {self.limit!r}")
        if self.model not in ENGINES:
            raise InvalidInput(f"there is no model {self.model!r}; there are {', '.join(ENGINES)}")
        if self.symmetrization not in ("exact", *SYMMETRIZATIONS):
            known = ", ".join(["exact", *SYMMETRIZATIONS])
            raise InvalidInput(f"there is no symmetrization {self.symmetrization!r}; there are {known}")

    @property
    def reach(self) -> int | None:
        """How far apart words may be that are translated together: the limit of jumps, or of spans."""
        return self.limit if self.model == PhraseEngine.name else self.span


def make_options(given: Mapping[str, Any]) -> TranslatorOptions:
    """Return options, or name the one that there is not."""
    known = {one.name for one in fields(TranslatorOptions)}
    for name in given:
        if name not in known:
            raise InvalidInput(f"a translator has no option {name!r}; it has {', '.join(sorted(known))}")
    return TranslatorOptions(**given)


@dataclass(frozen=True)
class TrainedTranslator:
    """What training makes."""

    engine: Engine
    language_model: LanguageModel
    weights: Weights
    description: dict[str, Any]


def train_translator(
    pairs: list[Pair],
    dev: list[Pair] | None,
    options: TranslatorOptions,
    *,
    progress: Callable[[Progress], object],
    checkpoint: str | os.PathLike[str] | None,
    threads: int,
) -> TrainedTranslator:
    """Return a translator of pairs; ``Translator.fit`` says what the arguments are."""
    began = time.perf_counter()

    def begin(stage: str) -> None:
        progress(Progress.begin(stage, time.perf_counter() - began))

    kept, left_out = _drop_repeated(pairs, options.max_length)
    if dev is None:
        dev, kept = _hold_out(kept, options)
    if not kept:
        raise InvalidInput("there is nothing to learn from: no pair has words on both sides")
    state = _Checkpoint(checkpoint, kept, dev, options)
    if state.links is None:
        begin(f"aligning {len(kept):,} pairs")
    links = _find_links(kept, options, state, progress, threads)
    begin(f"extracting {'phrases' if options.model == PhraseEngine.name else 'rules'}")
    extract = _extract if options.model == PhraseEngine.name else _extract_grammar
    arrays = extract(kept, links, options)
    begin("estimating the language model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)
        language_model = LanguageModel(order=options.order).fit([list(pair[1]) for pair in kept])
    engine = ENGINES[options.model](arrays, language_model.kernel, len(START.translation))
    tuning = _Tuning(engine, dev, options, threads)
    begin(f"tuning weights on {len(tuning.pairs):,} pairs")
    weights, rounds = tuning.run(state, progress)
    description = {
        "training": {"pairs": len(pairs), "different": len(kept), "left_out": left_out},
        "tuning": {"pairs": len(tuning.pairs), "rounds": rounds},
    }
    return TrainedTranslator(engine, language_model, weights, description)


def _drop_repeated(pairs: list[Pair], longest: int) -> tuple[list[Pair], dict[str, int]]:
    """Return each different pair once, without those that are empty or too long."""
    kept: dict[tuple[str, str], Pair] = {}
    left_out = {"empty": 0, "long": 0, "repeated": 0}
    for source, target in pairs:
        if isinstance(source, str) or isinstance(target, str):
            raise InvalidInput("a sentence is a text; give its words, text.split()")
        if not (len(source) and len(target)):
            left_out["empty"] += 1
        elif max(len(source), len(target)) > longest:
            left_out["long"] += 1
        else:
            key = " ".join(source), " ".join(target)
            left_out["repeated"] += key in kept
            kept.setdefault(key, (source, target))
    return list(kept.values()), left_out


def _hold_out(pairs: list[Pair], options: TranslatorOptions) -> tuple[list[Pair], list[Pair]]:
    """Return every so manieth pair, a tenth of all at most, and the others."""
    count = min(options.held_out, len(pairs) // 10) if options.tuning else 0
    if not count:
        return [], pairs
    chosen = set(range(0, len(pairs), len(pairs) // count)[:count])
    return [pairs[n] for n in sorted(chosen)], [pair for n, pair in enumerate(pairs) if n not in chosen]


def _find_links(
    pairs: list[Pair],
    options: TranslatorOptions,
    state: _Checkpoint,
    progress: Callable[[Progress], object],
    threads: int,
) -> Arrays:
    """Return the links of all pairs: their sources, targets, and where those of each pair begin."""
    if state.links is not None:
        return state.links
    aligner = Aligner().fit_pairs(
        pairs,
        progress=progress,
        checkpoint=state.aligner_path,
        threads=threads,
        max_length=options.max_length,
    )
    source: list[int] = []
    target: list[int] = []
    first = [0]
    for begin in range(0, len(pairs), BATCH):
        batch = pairs[begin : begin + BATCH]
        sides = [pair[0] for pair in batch], [pair[1] for pair in batch]
        for answer in aligner.align_batch(*sides, method=options.symmetrization, threads=threads):
            source += [link[0] for link in answer.links]
            target += [link[1] for link in answer.links]
            first.append(len(source))
    links: Arrays = {
        "link_source": np.array(source, np.int32),
        "link_target": np.array(target, np.int32),
        "link_first": np.array(first, np.int64),
    }
    state.keep_links(links)
    return links


def _extract(pairs: list[Pair], links: Arrays, options: TranslatorOptions) -> Arrays:
    """Return the arrays of a phrase table."""
    arrays: Arrays = {}
    sides: list[tuple[NDArray[np.uint32], NDArray[np.int64], int]] = []
    for place, side in enumerate(("source_", "target_")):
        numbers: dict[str, int] = {}
        ids = [
            numbers.setdefault(word, len(numbers))
            for word in chain.from_iterable(pair[place] for pair in pairs)
        ]
        vocabulary, known = _native.make_vocabulary(list(numbers), side)
        arrays |= vocabulary
        first = np.cumsum([0, *(len(pair[place]) for pair in pairs)], dtype=np.int64)
        sides.append((known[np.array(ids, np.int64)], first, len(vocabulary[f"{side}begin"]) - 1))
    (source, source_first, source_types), (target, target_first, target_types) = sides
    return arrays | _native.extract_phrases(
        source,
        source_first,
        target,
        target_first,
        links["link_source"],
        links["link_target"],
        links["link_first"],
        source_types,
        target_types,
        options.max_phrase,
        options.most,
    )


def _extract_grammar(pairs: list[Pair], links: Arrays, options: TranslatorOptions) -> Arrays:
    """Return the arrays of a hierarchical grammar."""
    request = _native.GrammarOptions()
    request.longest, request.most = options.span, options.most
    source, target = ([list(pair[place]) for pair in pairs] for place in (0, 1))
    ends = links["link_source"], links["link_target"], links["link_first"]
    return _native.extract_grammar(source, target, *ends, request)


class _Tuning:
    """Weights from held-out pairs: decode, add to the lists, learn, and again (Cherry & Foster 2012)."""

    def __init__(
        self, engine: Engine, pairs: Sequence[Pair], options: TranslatorOptions, threads: int
    ) -> None:
        short = [pair for pair in pairs if 0 < len(pair[0]) <= LONGEST_TUNED and len(pair[1])]
        self.pairs = short if options.tuning else []
        self._engine, self._options, self._threads = engine, options, threads
        width = engine.features + len(OWN)
        self._tuned = np.array([True] * (width - 1) + [False])  # what an unknown word costs stays as it is
        self._floors = np.full(width, -np.inf)
        self._floors[engine.features] = 1e-3  # the language model

    def run(
        self, state: _Checkpoint, progress: Callable[[Progress], object]
    ) -> tuple[Weights, list[dict[str, Any]]]:
        """Return the weights with the highest BLEU, and what each round came to."""
        rounds = state.rounds
        current = np.array(rounds[-1]["next"]) if rounds else START.as_array()
        width = len(current)
        lists = [Candidates(np.zeros((0, width)), np.zeros((0, 9))) for _ in self.pairs]
        began = time.perf_counter()
        start = len(rounds)
        for number in range(start, self._options.tuning if self.pairs else 0):
            if _has_settled(rounds):
                break
            bleu = self._decode(current, lists)
            following = learn_weights(lists, current, tuned=self._tuned, floors=self._floors, seed=number + 1)
            rounds.append({"weights": current.tolist(), "bleu": bleu, "next": following.tolist()})
            state.keep_rounds(rounds)
            current = following
            seconds = time.perf_counter() - began
            left = seconds / (number + 1 - start) * (self._options.tuning - number - 1)
            progress(Progress(number + 1, self._options.tuning, 1 - bleu, bleu, seconds, left))
        if not rounds:
            return START, []
        best = max(rounds, key=lambda one: float(one["bleu"]))
        shown = [{"bleu": round(float(one["bleu"]), 5)} for one in rounds]
        return Weights.from_array(best["weights"]), shown

    def _decode(self, weights: NDArray[np.float64], lists: list[Candidates]) -> float:
        """Add the k best translations of each sentence to the lists; return the BLEU of the best ones."""
        found = self._engine.translate(
            [pair[0] for pair in self.pairs],
            weights=Weights.from_array(weights),
            terms=Terms(),
            options=self._options.options,
            limit=self._options.reach,
            method=self._engine.choose_tuning_method(self._options.k),
            k=self._options.k,
            distinct=True,
            seconds=self._engine.usual_seconds,
            threads=self._threads,
        )
        counts = []
        for answers, candidates, (_, reference) in zip(found, lists, self.pairs, strict=True):
            texts = [answer.text for answer in answers]
            candidates.add(texts, np.array([_list_features(answer) for answer in answers]), reference)
            counts.append(count_matches(answers[0].words, reference))
        return measure_bleu(counts)


def _has_settled(rounds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last rounds of tuning had no higher BLEU than one before them."""
    found = [float(one["bleu"]) for one in rounds]
    return len(found) > PATIENCE and max(found[-PATIENCE:]) <= max(found[:-PATIENCE])


def _list_features(answer: Translation) -> list[float]:
    return [value for values in answer.features.values() for value in values]


class _Checkpoint:
    """The file that keeps links, and the rounds of tuning."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        pairs: list[Pair],
        dev: list[Pair],
        options: TranslatorOptions,
    ) -> None:
        self._path = path
        self.links: Arrays | None = None
        self.rounds: list[dict[str, Any]] = []
        self._identity: dict[str, Any] = {}
        if path is not None:
            digest = blake2b(digest_size=16)
            for source, target in [*pairs, ((), ()), *dev]:
                digest.update(
                    "\t".join([" ".join(source), " ".join(target), "\n"]).encode(errors="surrogatepass")
                )
            self._identity = {
                "certus": __version__,
                "options": asdict(options),
                "pairs": digest.hexdigest(),
            }
            self._load()

    @property
    def aligner_path(self) -> str | None:
        """Where the aligner keeps its training."""
        return None if self._path is None else f"{os.fspath(self._path)}.aligner"

    def keep_links(self, links: Arrays) -> None:
        """Keep links; the training of the aligner is over."""
        self.links = links
        self._save()
        if self.aligner_path is not None and os.path.exists(self.aligner_path):
            os.remove(self.aligner_path)

    def keep_rounds(self, rounds: list[dict[str, Any]]) -> None:
        """Keep what tuning has come to."""
        self.rounds = rounds
        self._save()

    def _save(self) -> None:
        if self._path is not None and self.links is not None:
            about = {"identity": self._identity, "rounds": self.rounds}
            model_file.write(self._path, CHECKPOINT, self.links, about)

    def _load(self) -> None:
        if self._path is None or not os.path.exists(self._path):
            return
        file = model_file.read(self._path)
        if file.kind != CHECKPOINT or file.description.get("identity") != self._identity:
            raise ModelError(
                f"{os.fspath(self._path)} is of another training run (other data or options): "
                "remove it, or name another file"
            )
        with model_file.blame_file(file, CHECKPOINT) as about:
            self.links = {name: np.array(array) for name, array in file.arrays.items()}
            self.rounds = list(about["rounds"])
