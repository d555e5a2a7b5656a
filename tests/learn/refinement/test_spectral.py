"""The spectral estimator: exact on exact moments, consistent on samples, and plain about what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.learn.refinement import (
    PAPER,
    Features,
    LabelledCorpus,
    Observed,
    Parameters,
    PlainHmm,
    RefinementWarning,
    Smoothing,
    SpectralRefinement,
    projection,
    spectral,
    tensors,
)
from certus.learn.refinement.sampling import sample
from certus.learn.refinement.templates import View, rank_keys
from tests.reference import refinement as reference

NONE = Smoothing(pairs=0.0, seen=0.0, counts=0.0)
FULL = Features(
    future="a[1]*x[1]*x[0] x[0] a[1]",
    past="a[-1]*x[-1] a[-1]",
    destiny="a[-1]*x[-1] a[1]*x[1] a[-1]*a[1]",
)
SENTENCES = sample(Parameters.random(3, 2, 6, seed=1, concentration=0.4), 400, seed=2).list_sentences()


def exact(hidden: int, **options: object) -> SpectralRefinement:
    """Without smoothing or tolerance: what the moments say."""
    about = {"features": FULL, "smoothing": NONE, "tolerance": 1e-9, "rare": 0.0, "deficient": "ignore"}
    return SpectralRefinement(hidden, **{**about, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_exact_moments_give_the_marginals_of_the_model(seed: int, hidden: int) -> None:
    """All sentences there are, weighted by their probabilities, hold the population's moments."""
    model = reference.one_way(4, hidden, 4, seed)
    sentences, weights = reference.all_sentences(model)
    assert weights.sum() == pytest.approx(1)
    fitted = exact(hidden).fit(sentences, weights=weights)
    order = [fitted.names.observations[f"x{x}"] for x in range(4)]
    ids = fitted.names.encode([x for x, _ in sentences])
    back = np.argsort(order)
    truth = model.operators.compute_sums(Observed(back[ids.observations], ids.offsets))
    for n, found in enumerate(fitted.marginals([x for x, _ in sentences])):
        expected = truth.marginals[ids.offsets[n] : ids.offsets[n + 1]]
        np.testing.assert_allclose(found.raw, expected, atol=1e-8)
        np.testing.assert_allclose(found.probabilities, expected, atol=1e-8)
        assert found.level == 0
        assert found.log_probability == pytest.approx(truth.log_mass[n], abs=1e-8)
    along = fitted.log_probabilities(sentences)
    np.testing.assert_allclose(np.exp(along), weights, atol=1e-8)
    # Nothing came before the first label, so nothing tells its hidden states apart, and nothing needs to.
    assert [report.hidden for report in fitted.diagnostics.labels] == [1, hidden, hidden, hidden]


def test_more_states_than_the_model_has_are_found_out() -> None:
    sentences, weights = reference.all_sentences(reference.one_way(4, 2, 4, 7))
    with pytest.warns(
        RefinementWarning, match=r"label 'a1' has 2 of 3 hidden states: the block of its future"
    ):
        fitted = exact(3, deficient="warn").fit(sentences, weights=weights)
    assert [report.hidden for report in fitted.diagnostics.labels] == [1, 2, 2, 2]
    report = fitted.diagnostics.labels[2]
    assert report.past is not None
    assert report.past.singular[1] < 1e-9 < 1e-3 < report.past.singular[0]
    assert report.past.condition == pytest.approx(max(1.0, report.past.singular[0]) / report.past.singular[0])
    np.testing.assert_allclose(np.exp(fitted.log_probabilities(sentences)), weights, atol=1e-8)


def test_one_state_is_the_plain_hmm() -> None:
    fitted, plain = SpectralRefinement(1).fit(SENTENCES), PlainHmm().fit(SENTENCES)
    seen = [x for x, _ in SENTENCES] + [["0", "never seen", "1"]]
    for one, two in zip(fitted.marginals(seen), plain.marginals(seen), strict=True):
        np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-12)
        assert one.log_probability == pytest.approx(two.log_probability)
    assert not fitted.diagnostics.problems


def test_endless_smoothing_is_the_plain_hmm() -> None:
    smooth = Smoothing(pairs=1e12, seen=1e12)
    fitted = SpectralRefinement(3, smoothing=smooth, deficient="ignore").fit(SENTENCES)
    plain = PlainHmm().fit(SENTENCES)
    for one, two in zip(fitted.marginals([SENTENCES[0][0]]), plain.marginals([SENTENCES[0][0]]), strict=True):
        np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-6)


def test_the_error_falls_as_the_sample_grows() -> None:
    model = Parameters.random(3, 2, 8, seed=4, concentration=0.3)
    names = [str(x) for x in range(8)]
    test = sample(model, 300, seed=99)
    asked = [x for x, _ in test.list_sentences()]
    truth = model.operators.compute_sums(Observed(test.observations, test.offsets)).marginals
    errors = []
    for count in (500, 5_000, 50_000):
        sentences = sample(model, count, seed=5).list_sentences(observations=names)
        fitted = exact(2, tolerance=1e-4).fit(sentences, labels=["0", "1", "2"])
        found = np.concatenate([answer.probabilities for answer in fitted.marginals(asked)])
        errors.append(float(np.abs(found - truth).mean()))
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]
    plain = PlainHmm().fit(sentences, labels=["0", "1", "2"])
    found = np.concatenate([answer.probabilities for answer in plain.marginals(asked)])
    assert errors[2] < 0.3 * np.abs(found - truth).mean()


def test_functions_do_what_templates_do() -> None:
    def future(labels: Sequence[str], seen: Sequence[str | None]) -> Iterable[object]:
        following = labels[1] if len(labels) > 1 else None
        return [("ax", following, seen[0]), ("x", seen[1] if len(seen) > 1 else None)]

    def past(labels: Sequence[str], seen: Sequence[str | None]) -> Iterable[object]:
        before = labels[-2] if len(labels) > 1 else None
        return [("a", before), ("x", seen[-1] if seen else None)]

    def present(labels: Sequence[str], seen: Sequence[str | None]) -> Iterable[object]:
        assert len(labels) == len(seen) == 1
        return list(seen)

    def destiny(labels: Sequence[str], seen: Sequence[str | None]) -> Iterable[object]:
        assert seen[0] is None
        return [("before", labels[-1], seen[-1]), ("after", labels[1])]

    templates = Features("a[1]*x[0] x[1]", "a[-1] x[-1]", "x[0]", "a[-1]*x[-1] a[1]")
    functions = Features(future, past, present, destiny)
    one, two = (
        SpectralRefinement(2, features=f, deficient="ignore").fit(SENTENCES) for f in (templates, functions)
    )
    asked = [x for x, _ in SENTENCES[:50]]
    for left, right in zip(one.marginals(asked), two.marginals(asked), strict=True):
        np.testing.assert_allclose(left.raw, right.raw, atol=1e-8)


def test_atoms() -> None:
    corpus = LabelledCorpus.read([(list("uvwxy"), ["B-N", "I-N", "B-V", "O", "O"]), (["u"], ["O"])])

    def same(template: str, *tokens: Sequence[int]) -> None:
        """Whether tokens fall into these classes."""
        ids = View(corpus, lambda label: label[-1]).find_indicators(template).ids[:, 0]
        assert [np.flatnonzero(ids == i).tolist() for i in dict.fromkeys(ids)] == [list(t) for t in tokens]

    same("a[0]", [0], [1], [2], [3, 4, 5])
    same("a[1]", [0], [1], [2, 3], [4, 5])
    same("x[-1]", [0, 5], [1], [2], [3], [4])
    same("pp", [0, 1, 5], [2], [3, 4])
    same("np", [0, 1], [2], [3, 4, 5])
    same("pos", [0, 3], [1, 4], [2, 5])
    same("a[0]*pos", [0], [1], [2], [3], [4], [5])
    assert View(corpus, str).find_indicators("a[0] x[0]").size == 4 + 5


def test_codes_are_ranked_alike_in_both_ways() -> None:
    rng = np.random.default_rng(0)
    for size in (5, 3_000_000):
        keys = rng.integers(-1, min(size, 60), (40, 2)) * (1 if size == 5 else 50_000)
        keys[keys < 0] = -1
        codes, count = rank_keys(keys, size)
        values = np.unique(keys[keys >= 0])
        assert count == len(values)
        assert (codes == np.where(keys < 0, -1, np.searchsorted(values, keys))).all()


@pytest.mark.parametrize(
    ("what", "template"),
    [("future", "a[-1]"), ("future", "pp"), ("past", "x[0]"), ("past", "a[1]"), ("present", "x[1]"),
     ("destiny", "a[1]*x[0]"), ("future", "pos"), ("past", "y[0]"), ("present", "")],
)  # fmt: skip
def test_features_that_look_across_are_refused(what: str, template: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        Features(**{what: template})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="templates or a function"):
        Features(future=3)  # type: ignore[arg-type]


def test_what_a_label_lacks_is_named() -> None:
    rare = [*SENTENCES, (["0", "1"], ["rare", "rare"])]
    with pytest.warns(RefinementWarning) as caught:
        fitted = SpectralRefinement(4, features=PAPER).fit(rare)
    text = str(caught[0].message)
    assert caught[0].filename == __file__
    assert "label 'rare' has" in text
    assert "it occurs 2 times, fewer than its hidden states; lower hidden, or add sentences" in text
    assert text == str(fitted.diagnostics)
    with pytest.raises(
        InvalidInput, match=r"label 'rare' has .*; or allow fewer states by deficient=\"warn\""
    ):
        SpectralRefinement(4, features=PAPER, deficient="raise").fit(rare)
    poor = Features(future="a[1]", past="a[-1]")
    with pytest.raises(InvalidInput, match="features of the future or the past have rank 4 at most"):
        SpectralRefinement(9, features=poor, deficient="raise").fit(SENTENCES)
    blind = Features(destiny="a[0]")
    with pytest.raises(InvalidInput, match="block of its present and destiny is singular"):
        SpectralRefinement(2, features=blind, deficient="raise").fit(SENTENCES)


def test_a_label_never_seen_is_named() -> None:
    with pytest.raises(InvalidInput, match="never have the label '7': leave it out of labels, or add"):
        SpectralRefinement(2).fit(SENTENCES, labels=["0", "1", "2", "7"])


def test_totals_that_are_not_positive_are_told_and_mended() -> None:
    few = sample(Parameters.random(3, 3, 6, seed=8, concentration=0.2), 40, seed=1).list_sentences()
    asked = [
        x
        for x, _ in sample(
            Parameters.random(3, 3, 6, seed=8, concentration=3.0), 300, seed=2
        ).list_sentences()
    ]
    fitted = exact(3, smoothing=Smoothing(pairs=0.0, seen=0.0)).fit(few)
    plain = PlainHmm().fit(few)
    found = fitted.marginals(asked)
    levels = np.bincount([answer.level for answer in found], minlength=3)
    assert (levels > 0).all()
    raw = fitted.tensors.compute_sums(fitted.names.encode(asked))
    assert [answer.level > 0 for answer in found] == (raw.sign <= 0).tolist()
    damped = fitted.tensors.damp(0.5).compute_sums(fitted.names.encode(asked))
    for answer, sign, other in zip(found, damped.sign, plain.marginals(asked), strict=True):
        assert (answer.probabilities >= 0).all()
        np.testing.assert_allclose(answer.probabilities.sum(1), 1.0)
        assert answer.negative == max(0.0, -answer.raw.min())
        if answer.level == 2:
            assert sign <= 0
            np.testing.assert_allclose(answer.raw, other.raw)
    assert any(answer.negative > 0 for answer in found)


def test_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = SpectralRefinement(3, deficient="ignore").fit(SENTENCES)
    asked = [x for x, _ in SENTENCES] + [[]]
    whole = fitted.tensors.compute_sums(fitted.names.encode(asked))
    ids = fitted.names.find_label_ids(a for _, labels in SENTENCES for a in labels)
    along = fitted.tensors.compute_masses(fitted.names.encode(asked), ids)
    monkeypatch.setattr(tensors, "_BYTES", 3 * 8 * 16**2)
    parts = fitted.tensors.compute_sums(fitted.names.encode(asked))
    assert (parts.marginals == whole.marginals).all()
    assert (parts.log_mass == whole.log_mass).all()
    assert (fitted.tensors.compute_masses(fitted.names.encode(asked), ids).log_mass == along.log_mass).all()
    assert fitted.tensors.compute_sums(fitted.names.encode([])).marginals.shape == (0, 3)


def test_all_ways_to_decompose_and_to_add_up_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    features = Features(future="a[1]*x[1]*x[0] x[0]*x[1]", past="a[-1]*x[-1]*x[-2]")
    asked = [x for x, _ in SENTENCES[:40]]

    def marginals() -> np.ndarray:
        fitted = SpectralRefinement(2, features=features, deficient="ignore").fit(SENTENCES)
        return np.concatenate([answer.raw for answer in fitted.marginals(asked)])

    first = marginals()
    monkeypatch.setattr(projection, "_EXACT", 0)
    monkeypatch.setattr(projection, "_POWERS", 30)
    np.testing.assert_allclose(marginals(), first, atol=1e-6)
    monkeypatch.setattr(projection, "_WRITTEN", 0)
    np.testing.assert_allclose(marginals(), first, atol=1e-6)
    monkeypatch.setattr(spectral, "_REPEAT", 10**9)
    monkeypatch.setattr(spectral, "_CELLS", 30)
    np.testing.assert_allclose(marginals(), first, atol=1e-6)


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5)])
def test_a_decomposition_that_gives_up_is_done_otherwise(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = np.random.default_rng(0).normal(size=(shape[0], 3)) @ np.random.default_rng(1).normal(
        size=(3, shape[1])
    )
    singular = np.linalg.svd(matrix)[1]

    def give_up(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", give_up)
    u, s, v = projection._decompose(matrix)
    np.testing.assert_allclose(s, singular, atol=1e-12)
    np.testing.assert_allclose(u[:, :3] * s[:3] @ v[:3], matrix, atol=1e-12)
    np.testing.assert_allclose(u[:, :3].T @ u[:, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(v[:3] @ v[:3].T, np.eye(3), atol=1e-12)


def test_options_that_cannot_be_are_refused() -> None:
    for options in ({"hidden": 0}, {"hidden": 2, "tolerance": 0.0}, {"hidden": 2, "deficient": "hide"}):
        with pytest.raises(InvalidInput, match="must be"):
            SpectralRefinement(**options)


@pytest.mark.parametrize("seed", [2, 5])
def test_smoothing_is_chosen_by_held_out_sentences(seed: int) -> None:
    """On sentences of a known model the default is about as good as none; the usual smoothing is not."""
    model = Parameters.random(4, 2, 10, seed=seed, concentration=0.3)
    train, test = sample(model, 1000, seed=1).list_sentences(), sample(model, 200, seed=2)
    truth = model.operators.compute_sums(Observed(test.observations, test.offsets)).marginals
    asked = [x for x, _ in test.list_sentences()]

    def fit(smoothing: Smoothing | None) -> tuple[SpectralRefinement, float]:
        fitted = SpectralRefinement(2, smoothing=smoothing, deficient="ignore").fit(
            train, labels=list("0123")
        )
        found = np.concatenate([answer.probabilities for answer in fitted.marginals(asked)])
        return fitted, float(np.linalg.norm(found - truth))

    chosen, error = fit(None)
    assert error < 1.5 * fit(NONE)[1] < fit(Smoothing())[1]
    assert chosen.smoothing.pairs < Smoothing().pairs
    usual = SpectralRefinement(2, deficient="ignore").fit(train[:10])  # too few to choose by
    assert usual.smoothing == Smoothing()
