"""A CRF with the interface of sklearn-crfsuite's: feature dicts in, labels out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput, NotFitted
from certus.learn.crf.model import ItemCorpus, train_crf
from certus.models.crf import inputs
from certus.models.crf.fitted import FittedCRF
from certus.models.crf.inputs import Item, LabelLists, Sentences
from certus.models.crf.log import TrainingLog
from certus.models.crf.parameters import PARAMETERS, CRFParameters, as_number
from certus.models.crf.tagger import CRFTagger
from certus.storage import model_file

T = TypeVar("T")
_UNSAVED = {"model_filename", "trainer_cls", "keep_tempfiles", "verbose"}


class CRF(CRFParameters):
    """A first-order linear-chain CRF over feature dicts, for use in place of sklearn_crfsuite.CRF.

    A sentence is a list of tokens; a token is a dict of features, such as
    ``{"word": "dog", "upper": False, "length": 3}``, or a list of their names. A string value is part of the
    name (``word:dog``); numbers and booleans weigh it; nested dicts, lists and sets prefix the names inside
    them (``{"affix": {"og"}}`` is ``affix:og``). Features that were not in training are ignored.

    Parameters left at None take CRFsuite's defaults; those that the algorithm does not have are refused.
    ``certus.learn.crf.algorithms`` says what each does.

    Args:
        algorithm: ``lbfgs`` (the default), ``l2sgd``, ``ap``, ``pa``, ``arow``; or ``sgd``, stochastic
            gradient descent with a cumulative L1 penalty.
        c1, c2: coefficients of the L1 term (lbfgs, sgd) and the L2 term (lbfgs, l2sgd).
        max_iterations: iterations, or passes over the sentences.
        all_possible_states, all_possible_transitions: give a weight to what was not seen together, too.
        min_freq: give none to what was seen less often, nor to what was not seen at all if this is above 0.
        threads: for lbfgs and for prediction; results do not depend on it.
        seed: decides the order of sentences where the algorithm shuffles them.
        verbose: print a line for each iteration.
        model_filename: write the trained model to this file, too. If it is there already, the model in it
            answers until the next ``fit``.

    Other args:
        num_memories, epsilon, period, delta, linesearch, max_linesearch: of lbfgs; some of others, too.
        calibration_eta, calibration_rate, calibration_samples, calibration_candidates,
            calibration_max_trials: of l2sgd; the first is also the initial learning rate of sgd.
        pa_type, c, error_sensitive, averaging: of pa.
        variance, gamma: of arow.
        keep_tempfiles, trainer_cls: taken for compatibility; there are no temporary files to keep, and the
            trainer must be None, which is ours.
    """

    papers: ClassVar[tuple[str, ...]] = ("lafferty2001",)
    training_log_: list[dict[str, Any]] = cast(Any, None)  # before training

    def fit(
        self, X: Sentences, y: LabelLists, X_dev: Sentences | None = None, y_dev: LabelLists | None = None
    ) -> CRF:
        """Train.

        Args:
            X: sentences: lists of tokens, each a dict of features or a list of their names.
            y: their labels: lists of strings.
            X_dev: more sentences, whose accuracy goes to the training log after each iteration.
            y_dev: their labels.
        """
        algorithm = self._make_algorithm()
        min_freq, threads, seed = self._check_common()
        if (X_dev is None) != (y_dev is None):
            raise InvalidInput("X_dev and y_dev go together: give both or neither")
        vocabulary = _native.CrfVocabulary()
        X, y = inputs.as_list("X", X), inputs.check_label_lists("y", y)
        inputs.check_same_number("X", X, y)
        dev = (
            None
            if X_dev is None or y_dev is None
            else (inputs.as_list("X_dev", X_dev), inputs.check_label_lists("y_dev", y_dev))
        )
        if dev:
            inputs.check_same_number("X_dev", *dev)
        corpus = ItemCorpus.of_native(vocabulary.intern(X))
        inputs.check_same_lengths("X", corpus, y)
        names, gold = inputs.number_labels(y)
        log = TrainingLog(self.verbose, names, vocabulary, dev)
        chain = train_crf(
            corpus,
            gold,
            labels=max(len(names), 1),
            features=len(vocabulary),
            algorithm=algorithm,
            min_freq=min_freq,
            all_possible_states=bool(self.all_possible_states),
            all_possible_transitions=bool(self.all_possible_transitions),
            threads=threads,
            seed=seed,
            measure=log.measure,
            progress=log,
        )
        self._fitted = FittedCRF.of_training(names, vocabulary, chain)
        self.training_log_ = log.entries
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """Return the best labels of each sentence: an array of lists of strings."""
        model, X = self._get_fitted(), inputs.as_list("X", X)
        return _make_array(model.chain.predict(model.vocabulary, X, model.labels, self._check_threads()))

    def predict_single(self, xseq: Iterable[Item]) -> list[str]:
        """Return the best labels of one sentence."""
        labels: list[str] = self.predict([xseq])[0]
        return labels

    def predict_marginals(self, X: Sentences) -> NDArray[np.object_]:
        """Return each label's probability at each token: an array of lists of dicts."""
        model = self._get_fitted()
        corpus = model.read(inputs.as_list("X", X))
        found = model.chain.marginals(corpus, threads=self._check_threads())
        rows = [dict(zip(model.labels, row, strict=True)) for row in found.probabilities.tolist()]
        begin = corpus.sentence_begin.tolist()
        return _make_array([rows[a:b] for a, b in pairwise(begin)])

    def predict_marginals_single(self, xseq: Iterable[Item]) -> list[dict[str, float]]:
        """Return each label's probability at each token of one sentence."""
        rows: list[dict[str, float]] = self.predict_marginals([xseq])[0]
        return rows

    def predict_kbest(self, X: Sentences, *, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best label sequences of each sentence with their probabilities, best first.

        A sentence with fewer than k label sequences gets all of them.
        """
        model = self._get_fitted()
        check_count("k", k)
        corpus = model.read(inputs.as_list("X", X))
        out = []
        for s in range(corpus.sentences):
            found = model.chain.decode_kbest(corpus, s, k)
            names = [[model.labels[y] for y in path] for path in found.labels.tolist()]
            out.append(list(zip(names, np.exp(found.log_probabilities).tolist(), strict=True)))
        return out

    def score(self, X: Sentences, y: LabelLists) -> float:
        """Return the share of tokens that get the right label."""
        X, y = inputs.as_list("X", X), inputs.check_label_lists("y", y)
        inputs.check_same_number("X", X, y)
        predicted = self.predict(X)
        for s, (found, labels) in enumerate(zip(predicted, y, strict=True)):
            inputs.check_same_length("X", s, len(found), len(labels))
        return inputs.measure_accuracy(y, list(predicted))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained model to one file, whole or not at all; no pickle."""
        given = {name: as_number(value) for name, value in self.get_params().items() if name not in _UNSAVED}
        options = {name: value for name, value in given.items() if value != PARAMETERS[name]}
        self._get_fitted().save(path, {"algorithm": self._make_algorithm().name, **options})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CRF:
        """Read a model that ``save`` wrote."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> CRF:
        """Make a CRF of an opened model file."""
        fitted, options = FittedCRF.from_file(file)
        model = cls().set_params(**{name: value for name, value in options.items() if name in PARAMETERS})
        model._fitted = fitted
        return model

    @property
    def tagger_(self) -> CRFTagger:
        """The trained model by itself, with the methods of pycrfsuite.Tagger."""
        return self._look(CRFTagger)

    @property
    def classes_(self) -> list[str]:
        """The labels, in the order in which training met them."""
        return self._look(lambda model: list(model.labels))

    @property
    def attributes_(self) -> list[str]:
        """The features that have a weight."""
        return self._look(FittedCRF.list_attributes)

    @property
    def num_attributes_(self) -> int:
        """How many features have a weight."""
        return self._look(lambda model: model.chain.features)

    @property
    def size_(self) -> int:
        """The size of the model, in bytes."""
        return self._look(lambda model: model.nbytes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weights of features with labels, ``{(feature, label): weight}``, except those that are 0."""
        return self._look(FittedCRF.list_states)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weights of labels in a row, ``{(from, to): weight}``, except those that are 0."""
        return self._look(FittedCRF.list_transitions)

    def _look(self, find: Callable[[FittedCRF], T]) -> T:
        """Return something of the trained model; None without one, as in sklearn-crfsuite, whatever T is."""
        model = self._find_fitted()
        return cast(T, None) if model is None else find(model)

    def _find_fitted(self) -> FittedCRF | None:
        """Return what was trained, or read it from ``model_filename``; None if there is neither."""
        if "_fitted" not in self.__dict__ and self._is_kept():
            self._fitted, _ = FittedCRF.from_file(model_file.read(self.model_filename))
        return self.__dict__.get("_fitted")

    def _is_kept(self) -> bool:
        return self.model_filename is not None and os.path.exists(self.model_filename)

    def _get_fitted(self) -> FittedCRF:
        fitted = self._find_fitted()
        if fitted is None:
            raise NotFitted("this CRF is not trained yet: call fit(X, y) first, or CRF.load(path)")
        return fitted

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, which calls this, that here a label is a list of labels."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, dict=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__ or self._is_kept()


def _make_array(sentences: list[Any]) -> NDArray[np.object_]:
    """Make a row of lists, also where all are of one length."""
    out = np.empty(len(sentences), object)
    for s, sentence in enumerate(sentences):
        out[s] = sentence
    return out
