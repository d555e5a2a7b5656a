"""What a tagger takes is bounded by the input; what would not fit is refused with the size it needs."""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest

import certus
from certus import InvalidInput, Tagger
from tests.models import invented
from tests.patience import PATIENCE


def test_thousands_of_unknown_words_on_a_line_take_little() -> None:
    tagger = certus.load()
    words = [f"w{n}" for n in range(5000)]
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    answer = tagger.tag(words)
    assert len(answer.labels) == 5000
    assert answer.score <= answer.bound < float("inf")
    assert time.process_time() - began < 20 * PATIENCE  # without optimisation: 9.7 s with it, once
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kilobytes: 2.8 GB, once


@pytest.mark.parametrize(
    ("learner", "options", "message"),
    [
        ("latent-crf", {"latent": 10**8}, r"labels with 100,000,000 latent states each take [\d,.]+ GB"),
        (
            "latent-crf",
            {"latent": 10**15},
            r"latent states each take [\d,.]+ GB.*: set latent to \d+ at most",
        ),
        ("refinement", {"hidden": 10**11}, r"hidden states each take [\d,.]+ GB: set hidden to \d+ at most"),
        ("refinement", {"hidden": 10**11, "estimator": "em"}, r"each take [\d,.]+ GB: set hidden to \d+"),
    ],
)
def test_more_states_than_memory_holds_are_refused(
    learner: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tagger("upos", learner, **options).fit(invented.sentences(5, 1))
