"""Threads share objects: the first use from eight threads at once gives the answers of a single thread.

Every round takes a fresh object, since what is made on first use is what threads race for. A deadlock ends
the run with a traceback of all threads (see conftest.py). ``make sanitize`` runs this file under
ThreadSanitizer.
"""

from __future__ import annotations

import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus.align import align_matrix
from certus.chain import METHODS, SparseTransitions
from certus.chain.part import ChainPart
from certus.hypergraph import Hypergraph
from certus.latent import INFERENCES, LatentChain
from certus.learn.learners import LEARNERS
from certus.relax import OPTIMIZERS, Decomposition, FactorGraph
from tests.align.test_models import make_pairs
from tests.models import invented, invented_treebank, test_translator
from tests.syntax import invented_trees
from tests.translate.problems import make_sentences

THREADS = 8
RNG = np.random.default_rng(7)

Use = Callable[[Any], Any]
Uses = Mapping[str, Use]


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def share(make: Callable[[], Any], uses: Uses, rounds: int = 3) -> None:
    """Compare all uses of fresh objects, at once from many threads, with those of an object for each use."""
    expected = {name: use(make()) for name, use in uses.items()}
    for _ in range(rounds):
        for name, answers in use_at_once(make(), uses).items():
            for answer in answers:
                assert answer == expected[name], name


def use_at_once(shared: Any, uses: Uses) -> dict[str, list[Any]]:
    """Return the answers of every use on every thread; each thread begins with another one."""
    barrier = threading.Barrier(THREADS)
    answers: dict[str, list[Any]] = {name: [] for name in uses}
    errors: list[BaseException] = []
    names = list(uses)

    def run(first: int) -> None:
        barrier.wait()
        try:
            for name in names[first:] + names[:first]:
                answers[name].append(uses[name](shared))
        except BaseException as error:  # raised again on the thread of the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n % len(names),)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers


def read(found: Any) -> tuple[Any, ...]:
    """Return an answer of any kind as values that are compared exactly."""
    value = found.value.tolist() if isinstance(found.value, np.ndarray) else found.value
    return value, found.score, found.bound, found.status


def read_list(found: Any) -> list[tuple[Any, ...]]:
    return [read(one) for one in found]


# ------------------------------------------------------------------------------------------------ chains


def list_chain_uses(short: Any, long: Any) -> dict[str, Use]:
    """Return every method and question; short sentences are decoded with the interpreter's lock held."""

    def decode(method: str) -> Use:
        return lambda c: read(c.decode(short, method=method))

    def list_best(method: str) -> Use:
        return lambda c: read_list(c.decode(short, k=3, method=method))

    return {
        **{f"decode {name}": decode(name) for name, method in METHODS.items() if method.one},
        **{f"k best {name}": list_best(name) for name, method in METHODS.items() if method.many},
        "a long sentence": lambda c: read(c.decode(long)),
        "batch": lambda c: read_list(c.decode_batch([short, long, short])),
        "batch on threads": lambda c: read_list(c.decode_batch([short, long, short], threads=2)),
        "batch by sweeps": lambda c: read_list(c.decode_batch([short, short], method="viterbi")),
        "paths": lambda c: [read(path) for path, _ in zip(c.iterate(short), range(2), strict=False)],
        "marginals": lambda c: c.marginals(short).log_partition,
        "sample": lambda c: c.sample(short, 2, seed=3).tolist(),
        "score": lambda c: c.score(short, [0] * len(short)),
        "max-marginals": lambda c: ChainPart(c, short).max_marginals({})["labels"].tolist(),
    }


def draw_chain(kind: str, labels: int, length: int) -> Callable[[], certus.Chain]:
    transitions: Any
    if kind == "sparse":
        origin, target = np.unique(RNG.integers(0, labels, (4 * labels, 2)), axis=0).T
        transitions = SparseTransitions(labels, origin, target, RNG.normal(size=len(origin)), default=-3.0)
    elif kind == "mostly one score":
        transitions = np.where(RNG.random((labels, labels)) < 0.01, RNG.normal(size=(labels, labels)), -3.0)
    elif kind == "per position":
        transitions = RNG.normal(size=(length - 1, labels, labels))
    else:
        transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    start = RNG.normal(size=labels).astype(np.float32)
    return lambda: certus.Chain(transitions, start=start)


@pytest.mark.parametrize("labels", [40, 1100])  # above 1,024 the transpose is made on first use
@pytest.mark.parametrize("kind", ["dense", "sparse", "mostly one score"])
def test_chains(kind: str, labels: int) -> None:
    short, long = (RNG.normal(size=(length, labels)).astype(np.float32) for length in (3, 24))
    share(draw_chain(kind, labels, 3), list_chain_uses(short, long), rounds=2)


def test_chains_with_transitions_of_every_position() -> None:
    sentence = RNG.normal(size=(4, 60))
    share(draw_chain("per position", 60, 4), list_chain_uses(sentence, sentence))


@pytest.mark.parametrize("labels", [1500, 2100])
def test_tables_are_made_while_another_thread_keeps_the_interpreter(labels: int) -> None:
    """One thread makes a table without the interpreter's lock, another wants it and has the lock."""
    short, long = (RNG.normal(size=(length, labels)).astype(np.float32) for length in (3, 24))
    transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    starts: list[Use] = [
        lambda c: c.decode_batch([short, short]),
        lambda c: c.decode(long),
        lambda c: c.decode(short, k=5),
    ]
    expected = certus.Chain(transitions).decode(short).score
    for first in starts:
        chain = certus.Chain(transitions)
        maker = threading.Thread(target=first, args=(chain,))
        maker.start()
        time.sleep(0.0003)
        assert chain.decode(short).score == expected
        maker.join()


def test_ctrl_c_while_tables_are_made_leaves_a_chain_usable() -> None:
    """Whether the interrupted thread makes a table or waits for it, other threads get their answers."""
    labels = 3000
    transitions = RNG.normal(size=(labels, labels)).astype(np.float32)
    short = RNG.normal(size=(2, labels)).astype(np.float32)

    def decode(chain: certus.Chain) -> tuple[Any, ...]:
        return read(chain.decode(short, method="staggered"))

    expected = decode(certus.Chain(transitions))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupted = 0
    try:
        for delay in (0.005, 0.01, 0.02, 0.03):
            chain = certus.Chain(transitions)
            found: list[Any] = []
            timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
            others = [
                threading.Thread(target=lambda chain=chain, found=found: found.append(decode(chain)))
                for _ in range(2)
            ]
            is_decoding = False
            try:
                for thread in [*others, timer]:
                    thread.start()
                is_decoding = True
                decode(chain)
                is_decoding = False
                time.sleep(10)  # the signal ends it
            except KeyboardInterrupt:
                interrupted += is_decoding
            for thread in [timer, *others]:
                thread.join()
            assert found == [expected, expected]
            assert decode(chain) == expected
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted > 0


# ------------------------------------------------------------------------------- other problems over scores


def test_latent_chains() -> None:
    transitions, sentence = RNG.normal(size=(12, 12)), RNG.normal(size=(6, 12))

    def decode(inference: str) -> Use:
        return lambda c: read(c.decode(sentence, inference=inference))

    share(
        lambda: LatentChain(transitions, 3),
        {
            **{f"decode {name}": decode(name) for name in INFERENCES},
            "k best": lambda c: read_list(c.decode(sentence, k=3)),
            "marginals": lambda c: c.marginals(sentence).probabilities.tolist(),
            "one sequence": lambda c: c.log_probability(sentence, [0] * 6),
        },
    )


def test_trees() -> None:
    words = 7
    arcs, parts = RNG.normal(size=(words, words + 1)), RNG.normal(size=(2, *[words + 1] * 3))
    crossing, projective = certus.Trees(), certus.Trees(projective=True)
    share(
        lambda: (crossing, projective),
        {
            "arcs": lambda t: read(t[0].decode(arcs)),
            "siblings": lambda t: read(t[0].decode(arcs, parts[0])),
            "grandparents": lambda t: read(t[0].decode(arcs, parts[0], parts[1])),
            "k best": lambda t: read_list(t[0].decode(arcs, k=3)),
            "marginals": lambda t: t[0].marginals(arcs).log_partition,
            "batch": lambda t: read_list(t[0].decode_batch([arcs, arcs], threads=2)),
            "projective arcs": lambda t: read(t[1].decode(arcs)),
            "projective grandparents": lambda t: read(t[1].decode(arcs, parts[0], parts[1])),
            "projective k best": lambda t: read_list(t[1].decode(arcs, parts[0], k=3)),
            "projective marginals": lambda t: t[1].marginals(arcs, parts[0]).log_partition,
        },
    )


def test_hypergraphs() -> None:
    nodes = 40
    heads = np.sort(RNG.integers(1, nodes, 6 * nodes))
    heads = np.concatenate([[0], heads, [nodes - 1]])
    tails = np.array([int(RNG.integers(head)) for head in heads[1:] for _ in range(2)])
    offsets = np.concatenate([[0, 0], np.arange(2, 2 * len(heads), 2)])
    scores = RNG.normal(size=len(heads))
    rows = [dict.fromkeys(RNG.choice(len(heads), 8, replace=False).tolist(), 1.0)]

    def constrain(method: str) -> Use:
        return lambda g: read(g.with_constraints(rows, [1]).decode(scores, method=method))

    share(
        lambda: Hypergraph(heads, offsets, tails, nodes - 1),
        {
            "decode": lambda g: read(g.decode(scores)),
            "k best": lambda g: read_list(g.decode(scores, k=5)),
            "marginals": lambda g: g.marginals(scores).edges.tolist(),
            "max-marginals": lambda g: g.max_marginals(scores).edges.tolist(),
            "count": lambda g: g.count(),
            "sample": lambda g: [one.tolist() for one in g.sample(scores, 3, seed=1)],
            **{name: constrain(name) for name in ("auto", "branching", "astar", "tightening")},
        },
    )


def make_factor_graph() -> FactorGraph:
    rng, graph = np.random.default_rng(3), FactorGraph()
    variables = [graph.add_variable(rng.normal(size=3)) for _ in range(9)]
    for n in range(9):
        graph.add_table([variables[n], variables[(n + 1) % 9]], rng.normal(size=(3, 3)))
    graph.add_count([variable[0] for variable in variables], most=2)
    return graph


def make_decomposition() -> Decomposition:
    rng, joint = np.random.default_rng(4), Decomposition()
    transitions = rng.normal(size=(5, 5))
    parts = [joint.add(ChainPart(certus.Chain(transitions), rng.normal(size=(7, 5)))) for _ in range(2)]
    joint.agree(*((part, "labels") for part in parts))
    return joint


@pytest.mark.parametrize("make", [make_factor_graph, make_decomposition])
def test_relaxations(make: Callable[[], Any]) -> None:
    def solve(optimizer: str) -> Use:
        return lambda p: [
            getattr(p.solve(optimizer=optimizer), name) for name in ("score", "bound", "status")
        ]

    share(make, {name: solve(name) for name in OPTIMIZERS})


def test_alignments_of_matrices() -> None:
    scores = RNG.normal(size=(9, 8))
    methods: Uses = {
        name: lambda x, name=name: [*align_matrix(x, method=name).links]  # type: ignore[misc]
        for name in ("exact", "lr", "cons", "decomposition")
    }
    share(lambda: scores, methods)


# ------------------------------------------------------------------------------------------------ models


def share_model(model: Any, path: Path, uses: Uses, rounds: int = 3) -> None:
    """Compare the uses of a model that every round loads from its file."""
    model.save(path)
    share(lambda: certus.load(path), uses, rounds)


def read_tagging(found: Any) -> tuple[Any, ...]:
    return found.labels, found.score, found.bound, found.status, found.confidence


SPECTRAL: dict[str, Any] = {"hidden": 2, "smoothing": 0.1, "rare": 2}
TAGGERS: dict[str, tuple[str, dict[str, Any]]] = {
    "pruned-crf": ("pruned-crf", {"epochs": 3}),
    "pruned-crf of order 3": ("pruned-crf", {"epochs": 3, "order": 3}),
    "perceptron": ("perceptron", {"epochs": 3}),
    "crf": ("crf", {"epochs": 3}),
    "latent-crf": ("latent-crf", {"epochs": 5, "latent": 2}),
    "hmm": ("hmm", {}),
    "spectral refinement": ("refinement", SPECTRAL),
    "refinement by EM": ("refinement", {"hidden": 2, "estimator": "em"}),
}


@pytest.mark.parametrize("kind", TAGGERS)
@pytest.mark.filterwarnings("ignore::certus.learn.refinement.RefinementWarning")
def test_taggers(kind: str, tmp_path: Path) -> None:
    assert {learner for learner, _ in TAGGERS.values()} == set(LEARNERS)
    learner, options = TAGGERS[kind]
    tagger = certus.Tagger("upos", learner, **options).fit(invented.sentences(80, 1))
    sentences = [list(sentence.columns["form"]) for sentence in invented.sentences(12, 2)]
    legal = certus.Automaton(tagger.labels, ~np.eye(len(tagger.labels), dtype=bool))

    def tag(n: int) -> Use:
        return lambda t: read_tagging(t.tag(sentences[n]))

    uses: dict[str, Use] = {f"sentence {n}": tag(n) for n in range(len(sentences))}
    uses["confidence"] = lambda t: read_tagging(t.tag(sentences[0], confidence=True))
    uses["legal"] = lambda t: read_tagging(t.tag(sentences[1], legal=legal))
    uses["batch"] = lambda t: [one.labels for one in t.tag_batch(sentences, threads=2)]
    if learner != "refinement":
        uses["k best"] = lambda t: [read_tagging(one) for one in t.tag(sentences[2], k=3)]
    if learner not in ("refinement", "latent-crf"):
        uses["lattices"] = lambda t: t.lattices(sentences[:3]).decode()[1].tolist()
    share_model(tagger, tmp_path / "t.certus", uses)


@pytest.mark.filterwarnings("ignore::certus.learn.refinement.RefinementWarning")
def test_a_spectral_refinement_tags_on_threads() -> None:
    """Each thread contracts tensors with the observations of its own sentence."""
    tagger = certus.Tagger("upos", "refinement", **SPECTRAL).fit(invented.sentences(300, 1))
    sentences = [list(sentence.columns["form"]) for sentence in invented.sentences(100, 2)]
    expected = [tagger.tag(sentence, confidence=True).confidence for sentence in sentences]
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(3):
            found = pool.map(lambda sentence: tagger.tag(sentence, confidence=True), sentences)
            assert [one.confidence for one in found] == expected


def test_crf_estimators() -> None:
    features = [[{"word": str(n % 5), "odd": n % 2} for n in range(m, m + 6)] for m in range(20)]
    labels = [[str(n % 3) for n in range(m, m + 6)] for m in range(20)]
    state = pickle.dumps(certus.CRF(max_iterations=10).fit(features, labels))
    share(
        lambda: pickle.loads(state),
        {
            "predict": lambda c: c.predict(features).tolist(),
            "one": lambda c: c.predict_single(features[0]),
            "marginals": lambda c: c.predict_marginals(features[:3]).tolist(),
        },
    )


def test_dependency_parsers(tmp_path: Path) -> None:
    parser = certus.DependencyParser(hash_bits=12, epochs=1).fit(invented_treebank.sentences(40, 1))
    sentences = list(invented_treebank.sentences(4, 2))

    def parse(n: int) -> Use:
        return lambda p: read_parse(p.parse(sentences[n]))

    def read_parse(found: Any) -> tuple[Any, ...]:
        return [*found.heads], [*found.relations], found.score, found.bound, found.status

    uses: dict[str, Use] = {f"sentence {n}": parse(n) for n in range(4)}
    uses["k best"] = lambda p: [read_parse(one) for one in p.parse(sentences[0], k=3)]
    uses["everything"] = lambda p: read_parse(p.parse(sentences[1], pruning=0))
    uses["batch"] = lambda p: [read_parse(one) for one in p.parse_batch(sentences, threads=2)]
    uses["arcs"] = lambda p: p.score_arcs(sentences[2])[0].tolist()
    share_model(parser, tmp_path / "p.certus", uses)


def test_constituency_parsers(tmp_path: Path) -> None:
    parser = certus.ConstituencyParser(min_hidden=2).fit(invented_trees.trees(60))
    sentences = [[*tree.words] for tree in invented_trees.prepared_trees(4, seed=1)]

    def parse(n: int) -> Use:
        return lambda p: read_tree(p.parse(sentences[n]))

    def read_tree(found: Any) -> tuple[Any, ...]:
        return str(found.value), found.score, found.bound, found.status

    uses: dict[str, Use] = {f"sentence {n}": parse(n) for n in range(4)}
    uses["k best"] = lambda p: [read_tree(one) for one in p.parse(sentences[0], k=3)]
    uses["batch"] = lambda p: [read_tree(one) for one in p.parse_batch(sentences, threads=2)]
    uses["unknown word"] = lambda p: read_tree(p.parse([*sentences[1][:1], "zorg", *sentences[1][2:]]))
    uses["part"] = lambda p: p.part(sentences[2]).find_best_score()
    share_model(parser, tmp_path / "p.certus", uses)


def test_aligners(tmp_path: Path) -> None:
    aligner = certus.Aligner().fit(*make_pairs(1, 60))
    source, target = make_pairs(2, 6)
    share_model(
        aligner,
        tmp_path / "a.certus",
        {
            **{
                name: lambda a, name=name: a.align(source[0], target[0], method=name).links  # type: ignore[misc]
                for name in ("exact", "grow-diag", "intersection")
            },
            "batch": lambda a: [(x.links, x.score) for x in a.align_batch(source, target, threads=2)],
            "posteriors": lambda a: a.posteriors(source[1], target[1]).forward.tolist(),
            "lexicon": lambda a: sorted(a.lexicon())[:50],
        },
    )


@pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")
def test_language_models(tmp_path: Path) -> None:
    sentences = make_sentences(2, 20)
    share_model(
        certus.LanguageModel(order=5).fit(make_sentences(1, 100)),
        tmp_path / "m.certus",
        {
            "score": lambda m: m.score(sentences[0]),
            "batch": lambda m: m.score_batch(sentences).tolist(),
            "words": lambda m: [one.score for one in m.score_words(sentences[1])],
            "perplexity": lambda m: repr(m.perplexity(sentences)),
            "bound": lambda m: m.bound("w1", ["w0"]),
            "longer bound": lambda m: m.bound("w2", ["w0", "w1"]),
        },
        rounds=10,
    )


@pytest.mark.parametrize("model", ["phrases", "hierarchical"])
@pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")
def test_translators(model: str, tmp_path: Path) -> None:
    source, target = map(list, zip(*test_translator.make_pairs(), strict=True))
    translator = certus.Translator(model=model, tuning=0, order=4).fit(source, target)

    def translate(sentence: str, **options: Any) -> Use:
        return lambda t: read_translation(t.translate(sentence, **options))

    def read_translation(found: Any) -> tuple[Any, ...]:
        return found.text, found.score, found.bound, found.status

    uses: dict[str, Use] = {
        text: translate(text) for text in ("das Kind alt lebt", "das Auto", "das Haus gross unbekannt")
    }
    uses["k best"] = lambda t: [read_translation(one) for one in t.translate("das Buch klein", k=3)]
    uses["batch"] = lambda t: [one.text for one in t.translate_batch(["das Hund", "das Buch"], threads=2)]
    share_model(translator, tmp_path / "t.certus", uses)


@pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")
def test_translators_of_one_language_model(tmp_path: Path) -> None:
    """The bounds of a language model are made on first use, and translators go on using them."""
    lines = [f"s{n} ||| w{m} ||| 0.5 0.5\n" for n in range(40) for m in (n, (n + 1) % 40, (3 * n) % 40)]
    table = tmp_path / "table"
    table.write_text("".join(dict.fromkeys(lines)), encoding="utf-8")
    model = certus.LanguageModel(order=4).fit(make_sentences(1, 2000, words=40, longest=12))

    def translate(n: int) -> Use:
        sentence = [f"s{(n + m) % 40}" for m in range(6)]
        return lambda m: certus.Translator.from_tables(table, m).translate(sentence).text

    share_model(model, tmp_path / "m.certus", {f"sentence {n}": translate(n) for n in range(THREADS)}, 5)
