"""The features of certus.CRF that get a weight are those of CRFsuite, whatever options meet."""

from __future__ import annotations

import pytest

from certus import CRF

X = [[{"word": word, "bias": 1.0} for word in text.split()] for text in ["a b a", "b a", "a c", "a b a b"]]
Y = [list(labels) for labels in ["XYX", "YX", "XY", "XYXY"]]


# As python-crfsuite 0.9.12 has them: what was never seen has a frequency of 0, which no threshold lets pass.
@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("transitions", [False, True])
def test_min_freq_holds_for_what_was_not_seen(states: bool, transitions: bool) -> None:
    crf = CRF(c2=0.1, min_freq=3, all_possible_states=states, all_possible_transitions=transitions).fit(X, Y)
    assert set(crf.state_features_) == {("word:a", "X"), ("word:b", "Y"), ("bias", "X"), ("bias", "Y")}
    assert set(crf.transition_features_) == {("X", "Y"), ("Y", "X")}


def test_without_a_threshold_everything_that_is_possible_gets_a_weight() -> None:
    crf = CRF(c2=0.1, all_possible_states=True, all_possible_transitions=True).fit(X, Y)
    assert len(crf.state_features_) == 8
    assert len(crf.transition_features_) == 4
