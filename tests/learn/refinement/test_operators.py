"""Forward-backward of refinement HMMs against enumeration; models by their parameters; drawing from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from certus.chain import Automaton
from certus.errors import InvalidInput
from certus.learn.refinement import Observed, Operators, Parameters, Tensors, sampling
from certus.learn.refinement.operators import padded
from certus.learn.refinement.sampling import sample
from tests.reference import refinement as reference


def integer_operators(rng: np.random.Generator) -> tuple[Operators, int]:
    """Small whole numbers, negative ones too: sums are exact, and zeros and ties are common."""
    ranks = rng.integers(1, 3, rng.integers(1, 4))
    states, n, k = int(ranks.sum()), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    size = padded(states)

    def numbers(*shape: int) -> np.ndarray:
        out = np.zeros((*shape[:-1], size))
        out[..., :states] = rng.integers(-2, 3, shape)
        return out

    matrices = np.zeros((k, size, size))
    matrices[:, :states, :states] = rng.integers(-2, 3, (k, states, states))
    begin = np.concatenate([[0], np.cumsum(ranks)]).astype(np.int64)
    gain = numbers(n, states) if rng.random() < 0.5 else None
    return Operators(
        begin, numbers(states), matrices, rng.integers(k, size=n), gain, numbers(n, states)
    ), states


def observed(*sentences: np.ndarray) -> Observed:
    lengths = [len(x) for x in sentences]
    flat = np.concatenate(sentences).astype(np.int64) if sentences else np.zeros(0, np.int64)
    return Observed(flat, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


@pytest.mark.parametrize("seed", range(8))
def test_marginals_equal_enumeration_exactly(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(250):
        operators, states = integer_operators(rng)
        x = rng.integers(len(operators.matrix), size=rng.integers(1, 5))
        found = operators.compute_sums(observed(x))
        mu, total = reference.marginals(operators, states, x)
        assert found.sign[0] == np.sign(total)
        if total == 0:
            assert np.isneginf(found.log_mass[0])
            assert not found.marginals.any()
        else:
            assert found.log_mass[0] == pytest.approx(np.log(abs(total)), rel=1e-12, abs=1e-12)
            assert (found.marginals == mu / total).all()
            assert found.drift[0] == 0.0
        tally.append(1)


def random_model(rng: np.random.Generator) -> Parameters:
    l, m, n = rng.integers(1, 4, 3)  # noqa: E741
    return Parameters.random(int(l), int(m), int(n), seed=rng, concentration=float(rng.choice([0.2, 1.0])))


def random_legal(rng: np.random.Generator, labels: int) -> Automaton:
    names = [str(a) for a in range(labels)]
    pairs, start, end = (rng.random(shape) < 0.7 for shape in ((labels, labels), labels, labels))
    return Automaton(names, pairs, start=start, end=end)


@pytest.mark.parametrize("seed", range(4))
def test_sums_over_what_is_allowed_and_legal_equal_enumeration_exactly(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(250):
        operators, states = integer_operators(rng)
        labels = len(operators.begin) - 1
        x = rng.integers(len(operators.matrix), size=rng.integers(1, 5))
        legal = random_legal(rng, labels)
        allowed = rng.random((len(x), labels)) < 0.7
        every = reference.paths(states, len(x))
        label = np.searchsorted(operators.begin, every, side="right") - 1
        may = allowed[np.arange(len(x)), label].all(1) & np.array([legal.accepts(y) for y in label.tolist()])
        weight = np.where(may, reference.path_weights(operators, x, every), 0.0)
        found = operators.constrain(legal).compute_sums(observed(x), 1, allowed)
        assert found.sign[0] == np.sign(weight.sum())
        if weight.sum() != 0:
            mu = [
                [weight[label[:, t] == a].sum() / weight.sum() for a in range(labels)] for t in range(len(x))
            ]
            assert (found.marginals == np.array(mu)).all()
        chosen = rng.integers(labels, size=len(x))
        mass = reference.path_weights(operators, x, every)[(label == chosen).all(1)].sum()
        along = operators.compute_masses(observed(x), chosen)
        assert along.sign[0] == np.sign(mass)
        assert mass == 0 or along.log_mass[0] == pytest.approx(np.log(abs(mass)), rel=1e-12, abs=1e-12)
        tally.append(1)


def test_tensors_are_held_to_the_same() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        ranks, presents, n = rng.integers(1, 3, 3), rng.integers(1, 3, 3), 3
        states = int(ranks.sum())
        shapes = list(zip(ranks, presents, strict=True))
        tensors = Tensors(
            rng.integers(-2, 3, states).astype(float),
            tuple(rng.integers(-2, 3, (r, p, states)).astype(float) for r, p in shapes),
            tuple(rng.integers(-2, 3, (r, p)).astype(float) for r, p in shapes),
            tuple(rng.integers(-2, 3, (n, p)).astype(float) for _, p in shapes),
        )
        data = observed(rng.integers(n, size=3), rng.integers(n, size=2))
        legal, allowed = random_legal(rng, 3), rng.random((5, 3)) < 0.7
        found = tensors.constrain(legal).compute_sums(data, 1, allowed)
        expected = tensors.make_operators(np.arange(n)).constrain(legal).compute_sums(data, 1, allowed)
        assert (found.sign == expected.sign).all()
        assert (found.marginals == expected.marginals).all()


def test_few_sentences_share_a_matrix_as_many_do() -> None:
    model = Parameters.random(3, 4, 5, seed=6)
    drawn = sample(model, 700, seed=7)
    data = Observed(drawn.observations, drawn.offsets)
    many = model.operators.compute_sums(data, 2)
    for n in (0, 13, 699):
        tokens = slice(int(data.offsets[n]), int(data.offsets[n + 1]))
        one = model.operators.compute_sums(observed(data.observations[tokens]))
        assert (one.marginals == many.marginals[tokens]).all()
        assert one.log_mass[0] == many.log_mass[n]


def test_models_equal_enumeration() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        model = random_model(rng)
        x = rng.integers(model.observations, size=rng.integers(1, 4))
        found = model.operators.compute_sums(observed(x))
        mu, total = reference.marginals(model.operators, model.labels * model.hidden, x)
        np.testing.assert_allclose(found.marginals, mu / total, atol=1e-12)
        assert found.log_mass[0] == pytest.approx(np.log(total))
        labels = rng.integers(model.labels, size=len(x))
        along = model.operators.compute_masses(observed(x), labels)
        assert np.exp(along.log_mass[0]) == pytest.approx(reference.walk(model, labels, x)[0])


def test_a_change_of_basis_within_labels_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    model = Parameters.random(3, 2, 4, seed=3)
    x = rng.integers(4, size=7)
    plain = model.operators
    assert plain.gain is not None
    size = len(plain.start)
    basis = np.eye(size)
    for a in range(3):
        basis[2 * a : 2 * a + 2, 2 * a : 2 * a + 2] = rng.normal(size=(2, 2))
    inverse = np.linalg.inv(basis)
    turned = Operators(
        plain.begin,
        plain.start @ basis,
        np.stack([inverse @ (gain[:, None] * plain.matrices[0]) @ basis for gain in plain.gain]),
        np.arange(4),
        None,
        np.stack([inverse @ finish for finish in plain.finish]),
    )
    first, second = plain.compute_sums(observed(x)), turned.compute_sums(observed(x))
    np.testing.assert_allclose(first.marginals, second.marginals, atol=1e-10)
    assert first.log_mass[0] == pytest.approx(second.log_mass[0])
    assert second.drift[0] < 1e-8


def test_neither_company_nor_threads_change_a_bit() -> None:
    rng = np.random.default_rng(4)
    model = Parameters.random(5, 3, 6, seed=5)
    for operators in (model.operators, dense(model)):
        sentences = [rng.integers(6, size=length) for length in rng.integers(0, 12, 150)]
        together = operators.compute_sums(observed(*sentences), threads=3)
        offsets = observed(*sentences).offsets
        for n, x in enumerate(sentences):
            alone = operators.compute_sums(observed(x))
            assert (alone.marginals == together.marginals[offsets[n] : offsets[n + 1]]).all()
            assert alone.log_mass[0] == together.log_mass[n]
            assert alone.drift[0] == together.drift[n]


def dense(model: Parameters) -> Operators:
    """The same model with a matrix for each observation."""
    plain = model.operators
    assert plain.gain is not None
    matrices = plain.gain[:, :, None] * plain.matrices[0]
    return replace(plain, matrices=matrices, matrix=np.arange(len(matrices)), gain=None)


def test_long_sentences_do_not_underflow() -> None:
    model = Parameters.random(3, 2, 50, seed=6, length=5000.0)
    x = np.random.default_rng(7).integers(50, size=6000)
    found = model.operators.compute_sums(observed(x))
    assert -40_000 < found.log_mass[0] < -10_000
    np.testing.assert_allclose(found.marginals.sum(1), 1.0)
    assert found.drift[0] < 1e-9


def test_probabilities_near_the_smallest_number_do_not_overflow() -> None:
    model = Parameters.random(2, 2, 3, seed=12)
    tiny = replace(dense(model), start=model.operators.start * 2.0**-1034)
    found = tiny.compute_sums(observed(np.array([0, 2, 1, 1])))
    plain = model.operators.compute_sums(observed(np.array([0, 2, 1, 1])))
    assert found.log_mass[0] == pytest.approx(plain.log_mass[0] - 1034 * np.log(2), abs=1e-6)
    np.testing.assert_allclose(found.marginals, plain.marginals, atol=1e-6)


def test_all_label_sequences_add_up() -> None:
    model = Parameters.random(2, 2, 3, seed=8)
    x = np.array([0, 2, 1])
    every = reference.paths(2, 3)
    many = observed(*[x] * len(every))
    masses = np.exp(model.operators.compute_masses(many, every.reshape(-1)).log_mass)
    assert masses.sum() == pytest.approx(np.exp(model.operators.compute_sums(observed(x)).log_mass[0]))


def test_no_sentences_and_empty_ones() -> None:
    model = Parameters.random(2, 2, 3, seed=9)
    assert model.operators.compute_sums(observed()).marginals.shape == (0, 2)
    found = model.operators.compute_sums(observed(np.zeros(0), np.array([1]), np.zeros(0)))
    assert found.marginals.shape == (1, 2)
    assert found.sign.tolist() == [0, 1, 0]


def test_what_is_no_model_is_refused() -> None:
    model = Parameters.random(2, 2, 3, seed=0)
    with pytest.raises(InvalidInput, match=r"transition must have shape \(2, 2, 2, 2\), not"):
        replace(model, transition=model.transition[:1])
    with pytest.raises(InvalidInput, match="initial adds up to 2, not to 1"):
        replace(model, initial=model.initial * 2)
    with pytest.raises(InvalidInput, match="stop of label 0, state 0 add up to"):
        replace(model, stop=model.stop / 2)
    with pytest.raises(InvalidInput, match="emission of label 0, state 0"):
        replace(model, emission=model.emission / 2)
    with pytest.raises(InvalidInput, match="stop must hold probabilities"):
        replace(model, stop=-model.stop)
    with pytest.raises(InvalidInput, match="at least one label"):
        Parameters.random(0, 1, 1)


def test_drawn_sentences_are_as_the_model_says() -> None:
    model = Parameters.random(2, 2, 3, seed=10, length=4.0)
    drawn = sample(model, 40_000, seed=1)
    first = drawn.offsets[:-1]
    states = drawn.labels * 2 + drawn.hidden
    share = np.bincount(states[first], minlength=4) / len(first)
    np.testing.assert_allclose(share, model.initial.reshape(-1), atol=0.01)
    assert np.diff(drawn.offsets).mean() == pytest.approx(4.0, rel=0.03)
    for state in range(4):
        seen = np.bincount(drawn.observations[states == state], minlength=3)
        np.testing.assert_allclose(seen / seen.sum(), model.emission.reshape(4, 3)[state], atol=0.015)
    inner = np.setdiff1d(np.arange(len(states)), drawn.offsets[1:] - 1)
    pairs = np.bincount(states[inner] * 4 + states[inner + 1], minlength=16).reshape(4, 4)
    expected = model.transition.reshape(4, 4) / 0.75
    np.testing.assert_allclose(pairs / pairs.sum(1, keepdims=True), expected, atol=0.015)


def test_drawing_is_repeatable_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Parameters.random(2, 2, 3, seed=11)
    one, two = (sample(model, 50, seed=3) for _ in range(2))
    assert (one.observations == two.observations).all()
    assert (one.labels == two.labels).all()
    named = one.list_sentences(["A", "B"], ["x", "y", "z"])
    assert [len(x) for x, _ in named] == np.diff(one.offsets).tolist()
    assert named[0][1] == ["AB"[a] for a in one.labels[: one.offsets[1]]]
    assert one.list_sentences()[0][0] == [str(x) for x in one.observations[: one.offsets[1]]]
    assert len(sample(model, 0).list_sentences()) == 0
    with pytest.raises(InvalidInput, match="cannot draw"):
        sample(model, -1)
    monkeypatch.setattr(sampling, "_LONGEST", 1000)
    endless = replace(model, transition=model.transition / 0.875, stop=model.stop * 0)
    with pytest.raises(InvalidInput, match="raise the probabilities of stopping"):
        sample(endless, 1)


def test_arrays_that_kernels_must_not_see_are_refused() -> None:
    operators = Parameters.random(2, 2, 3, seed=0).operators
    x = np.array([0, 1])
    with pytest.raises(InvalidInput, match="observation 3 at token 1 is not one of 0 to 2"):
        operators.compute_sums(observed(np.array([0, 3])))
    with pytest.raises(InvalidInput, match="observation -1 at token 0"):
        operators.compute_masses(observed(np.array([-1, 0])), x)
    with pytest.raises(InvalidInput, match="label 2 at token 0 is not one of 0 to 1"):
        operators.compute_masses(observed(x), x + 2)
    with pytest.raises(InvalidInput, match="2 observations, but 1 labels"):
        operators.compute_masses(observed(x), x[:1])
    for wrong in ([0, 1], [0, 3], [1, 2], [0, 2, 1, 2], []):
        with pytest.raises(InvalidInput, match="offsets must rise from 0"):
            Observed(x, np.array(wrong, np.int64))
    for name, array in (
        ("start", operators.start[:4]),
        ("finish", operators.finish[:, :4]),
        ("matrix", x + 5),
    ):
        with pytest.raises(InvalidInput, match="do not fit each other"):
            replace(operators, **{name: array})  # type: ignore[arg-type]
