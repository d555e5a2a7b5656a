"""Labels test sentences in one way, and says how good that was and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter

import numpy as np

from certus.annotation.columns import select_columns
from certus.chain.spans import spans
from certus.formats import Sentence
from certus.latent import Inference
from certus.learn.decoders import starts
from certus.models.tagger import Tagger
from certus_bench.latent.plan import Row


class Measure:
    """Test sentences, ready to be labelled by any tagger that looks at the same columns.

    Args:
        sentences: annotated ones.
        target: the column that is predicted.
        columns: those that taggers look at.
        repeats: how many times to take the time.
    """

    def __init__(
        self, sentences: Sequence[Sentence], target: str, columns: Sequence[str], repeats: int
    ) -> None:
        self.cells = [select_columns(sentence, columns) for sentence in sentences]
        self._gold = [sentence.column(target) for sentence in sentences]
        self._spans = [set(spans(tags)) for tags in self._gold]
        self._first = starts(self.cells)
        self._repeats = repeats

    def __call__(self, name: str, tagger: Tagger, inference: Inference | None = None) -> Row:
        """Label all sentences; of a latent model, by an inference."""
        paths = prefixes = 0.0
        if inference is not None:
            latent = tagger.latent
            latent.inference = inference
            scores, pairs = latent.scores(self.cells), latent.pairs(self.cells)
            facts = latent.chain.infer(scores, self._first, inference, pairs=pairs).facts
            paths, prefixes = float(facts[:, 3].mean()), float(facts[:, 5].mean())
        times = []
        for _ in range(self._repeats):
            began = perf_counter()
            found = tagger.decode(self.cells)
            times.append(perf_counter() - began)
        names = tagger.labels
        tags = [names[label] for label in found.labels.tolist()]
        each = [tags[begin:end] for begin, end in zip(self._first[:-1], self._first[1:], strict=True)]
        exact = 100 * float(np.asarray(found.optimal, bool).mean())
        return Row(name, *self._quality(each), median(times), exact, paths, prefixes)

    def _quality(self, found: Sequence[list[str]]) -> tuple[float, float, float, float]:
        """Return sentence accuracy, precision, recall and F1, in percent."""
        right = made = wanted = whole = 0
        for tags, gold, gold_spans in zip(found, self._gold, self._spans, strict=True):
            own = set(spans(tags))
            right, made, wanted = right + len(own & gold_spans), made + len(own), wanted + len(gold_spans)
            whole += tags == list(gold)
        precision, recall = right / max(made, 1), right / max(wanted, 1)
        f1 = 2 * right / max(made + wanted, 1)
        return 100 * whole / len(found), 100 * precision, 100 * recall, 100 * f1
