"""Decoding with weights of features: features, scores and labels, all in the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput
from certus.learn.decoder import Cells, Decoded, Decoder, Request, find_starts
from certus.learn.features.inventory import Inventory
from certus.storage.declaration import Declaration, keys, reals, whole

if TYPE_CHECKING:  # certificates are imported when they are asked for: tagging starts sooner
    from certus.learn.ngram_certificate import LabelNgrams
    from certus.verification import Certificate, Problem

# What a model file holds of compiled features, and of those of pairs of labels.
FEATURES = {
    "slots": keys("slots", types="uint64"),
    "rows": keys("words", types="uint32"),
    "step": reals(types="float64"),
    "features": whole(),
    "weights": whole(),
    "frequent": keys("frequent", types="uint64"),
    "seen": keys("frequent", types="uint64").of_group("seen"),
    "label_counts": whole("labels").of_group("counts"),  # in what was learned from
    "pair_slots": keys("pair slots", types="uint64").of_group("pairs"),
    "pair_rows": keys("pair words", types="uint32").of_group("pairs"),
    "pair_step": reals(types="float64").of_group("pairs"),
    "pair_features": whole().of_group("pairs"),
    "pair_weights": whole().of_group("pairs"),
}
# With listed transitions between states, and the boundary as the state after the last.
CHAIN = Declaration(
    {
        **FEATURES,
        "transition_from": whole("transitions", below="states+1"),
        "transition_to": whole("transitions", below="states+1"),
        "transition_score": reals("transitions"),
    },
    work="4*states*states+4*pairs",
)
# With weights of label sequences, in a table.
CASCADE = Declaration({
    **FEATURES,
    "ngram_keys": keys("ngrams", types="uint64"),
    "ngram_weights": reals("ngrams"),
    "ngram_sequences": whole("numbers", types="uint16 uint32").of_group("sequences"),
    "thresholds": reals("order+1", least=0, most=1),
})  # fmt: skip


class FeatureDecoder(Decoder):
    """Scores of labels by the weights of features.

    With transitions among its arrays it decodes by the chain engine; with n-grams, by a cascade of pruned
    lattices that bounds what it dropped, and takes back what may be better. Both answer with a proof.
    """

    certifies = True

    def __init__(
        self,
        extractor: _native.Extractor,
        inventory: Inventory,
        tagset: _native.Tagset,
        arrays: Mapping[str, NDArray[Any]],
    ) -> None:
        self._made_of = extractor, tagset, arrays
        self._labels = len(inventory)
        self._coarse = inventory.table[:, 0].astype(np.int64)
        self._chain = (
            None if "ngram_keys" in arrays else make_chain(self._labels, arrays, arrays.get("label_counts"))
        )
        self._free = self._make(None)
        # For chains, one for each set of legal sequences, for as long as somebody has that set.
        self._constrained: WeakKeyDictionary[Automaton, _native.Tagger] = WeakKeyDictionary()

    def _get_tagger(self, legal: Automaton | None) -> _native.Tagger:
        """Return the kernels' tagger for legal sequences only, or for all."""
        if legal is None:
            return self._free
        if legal not in self._constrained:
            self._constrained[legal] = self._make(legal)
        return self._constrained[legal]

    def _make(self, legal: Automaton | None) -> _native.Tagger:
        extractor, tagset, arrays = self._made_of
        tagger = _native.Tagger(extractor, tagset, arrays["slots"], arrays["rows"], float(arrays["step"]))
        if self._chain is not None:
            chain = self._chain if legal is None else self._chain.constrain(legal)
            model: Any = chain.prepare(np.dtype(np.float32))
            tagger.use_chain(model)
        else:
            thresholds = [float(x) for x in arrays["thresholds"]]
            ngrams = arrays["ngram_keys"], arrays["ngram_weights"]
            tagger.use_cascade(len(thresholds) - 1, *ngrams, thresholds, arrays.get("ngram_sequences"))
        return tagger

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells."""
        constraints: dict[str, Any] = {} if request.allowed is None else {"allowed": request.allowed}
        legal = request.legal
        if self._chain is None and legal is not None:
            constraints["legal"] = tabulate_legal(legal)
            legal = None
        answers = self._get_tagger(legal).tag(
            cells,
            k=request.k,
            confidence=request.confidence,
            threads=request.threads,
            prove=self.proof and request.prove,
            seconds=request.seconds,
            max_iterations=request.max_iterations,
            **constraints,
        )
        return Decoded(
            find_starts(cells),
            answers.labels,
            answers.found,
            answers.scores.reshape(-1, request.k),
            answers.bounds,
            answers.optimal,
            answers.confidences,
            answers.log_partitions,
            answers.positions,
            answers.rounds if self._chain is None else None,
            answers.log_partition_bounds,
            answers.stopped,
            np.stack([answers.roundings, answers.dropped_roundings], axis=1),
        )

    def set_proof(self, proof: bool) -> None:
        """Say whether a cascade bounds what it dropped."""
        if self._chain is not None:
            super().set_proof(proof)
        self.proof = proof

    def get_settings(self) -> dict[str, Any]:
        """Return what a user may have set: whether answers are proven."""
        return {"proof": self.proof}

    def search(
        self, cells: Cells, *, pruning: float, threads: int, margins: NDArray[np.float64] | None = None
    ) -> _native.Lattices:
        """Return what there is to choose from: all sequences, or those that pruning leaves."""
        if self._chain is None:
            return _native.search_all(self._free, cells, pruning, threads, self.proof, margins)
        first = find_starts(cells)
        emissions = np.empty((int(first[-1]), self._labels), np.float32)
        self._free.emissions(cells, emissions, threads)
        model: Any = self._chain.prepare(np.dtype(np.float64))
        return _native.ChainLattices(model, first, emissions)

    def emissions(self, cells: list[list[str]]) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens of a sentence, (T, L)."""
        out = np.empty((len(cells[0]), self._labels), np.float32)
        self._free.emissions([cells], out)
        return out

    @cached_property
    def _ngrams(self) -> LabelNgrams:
        from certus.learn.ngram_certificate import LabelNgrams

        sequences = self._made_of[2].get("ngram_sequences")
        if sequences is None:
            raise InvalidInput(
                "this model does not list its n-grams, as models of older versions do not: train it again"
            )
        rows = sequences.reshape(-1, len(self._made_of[2]["thresholds"])).astype(np.int64)
        return LabelNgrams(self._coarse, rows, self._free.weigh_sequences(sequences))

    def state_problem(self, cells: list[list[str]], request: Request) -> Problem:
        """Return a sentence under constraints as plain data, which certificates of its labels are about."""
        emissions = self.emissions(cells)
        for row, labels in zip(emissions, (request.allowed or [None])[0] or (), strict=False):
            if labels is not None:
                row[np.setdiff1d(np.arange(self._labels), labels)] = -np.inf
        if self._chain is not None:
            return self._chain.state_problem(emissions, request.legal)
        legal = None if request.legal is None else tabulate_legal(request.legal)
        return self._ngrams.state_problem(emissions, legal)

    def certify(self, cells: list[list[str]], problem: Problem, labels: list[int] | None) -> Certificate:
        """Return the certificate of labels of a sentence; None where none are possible."""
        from certus.chain.certificate import certify_answer
        from certus.learn.ngram_certificate import certify_labels, list_kept

        if self._chain is not None:
            return certify_answer(problem, labels)
        likely = list_kept(self.search([cells], pruning=1.0, threads=1).lattice(0), problem.data["order"])
        return certify_labels(problem, labels, likely)

    @property
    def label_chain(self) -> Chain:
        """The transitions, where decoding is exact."""
        return super().label_chain if self._chain is None else self._chain


def make_chain(
    states: int, arrays: Mapping[str, NDArray[Any]], counts: NDArray[np.int64] | None = None
) -> Chain:
    """Make the chain of listed transitions; the state after the last stands for the boundary.

    ``counts`` tell how often each state was seen: ``staggered`` and the like try the commonest first.
    """
    origin, target, score = (arrays[f"transition_{name}"] for name in ("from", "to", "score"))
    matrix = np.zeros((states + 1, states + 1), np.float32)
    matrix[origin, target] = score
    prior = None if counts is None else counts.astype(np.float32)
    return Chain(matrix[:-1, :-1], start=matrix[-1, :-1], end=matrix[:-1, -1], prior=prior)


def tabulate_legal(automaton: Automaton) -> NDArray[np.bool_]:
    """Return what may follow what, with the boundary as the label after the last."""
    size = len(automaton.labels)
    table = np.zeros((size + 1, size + 1), bool)
    table[:-1, :-1] = automaton.legal
    table[-1, :-1] = automaton.start
    table[:-1, -1] = automaton.end
    return table
