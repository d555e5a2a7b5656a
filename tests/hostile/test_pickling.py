"""Models go through pickle, copy and pools of processes, and answer the same."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from typing import Any

import pytest

from certus import CRF, ConstituencyParser, DependencyParser, Tagger
from certus.latent import BHP
from tests.hostile import test_damaged_models as damaged


def make(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return damaged.MODELS[name]()


@pytest.mark.parametrize("name", damaged.MODELS)
def test_every_model_is_pickled_and_copied(name: str) -> None:
    model = make(name)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert type(again) is type(model)
        assert repr(damaged.use(again)) == repr(damaged.use(model))


@pytest.mark.parametrize(
    "model",
    [
        Tagger("upos", "crf", order=3, rate=0.2),
        ConstituencyParser(vertical=1),
        DependencyParser(epochs=3),
        CRF(c2=0.5),
    ],
)
def test_what_is_not_trained_keeps_its_options(model: Any) -> None:
    again = pickle.loads(pickle.dumps(model))
    assert repr(again) == repr(model)
    for name in ("learner", "options"):
        assert getattr(again, name, None) == getattr(model, name, None)


def test_what_a_user_has_set_is_kept() -> None:
    tagger = make("latent-crf")
    tagger.latent.inference = BHP()
    assert copy.deepcopy(tagger).latent.inference == BHP()


def tag(tagger: Tagger) -> list[str]:
    return tagger.tag(damaged.WORDS).labels


def test_a_pool_of_processes_takes_a_tagger() -> None:
    tagger = make("pruned-crf")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(tag, [tagger]) == [tag(tagger)]
