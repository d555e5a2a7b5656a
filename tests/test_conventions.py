"""docs/api-conventions.md: every public class and function follows it, also those that do not exist yet.

The tables below say how to call each verb. A public verb that is in none of them fails a test, which says so.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import certus
from certus.align import align_matrix
from certus.cli import options as cli_options
from certus.cli.app import app
from certus.errors import SmoothingWarning
from certus.learn.learners import LEARNERS
from certus.ragged import Ragged
from certus.relax.parts import ChainPart
from certus.solution import KBest, LabelKBest, LabelSolution, Solution
from tests.models import invented, invented_treebank

WORDS = "seconds is .*; it must be a number of at least 0, or inf for no limit"
REFUSED: tuple[Any, ...] = (-1, -0.5, math.nan, np.float32("nan"), -math.inf, "1", True, [1.0], 1j)
# How an object that describes a method is asked; it gets what the verb has read.
OF_METHODS = ("request", "make_request", "fill_request")
METHOD_MODULES = ("certus.align.methods",)
VERBS = (
    "align",
    "align_batch",
    "decode",
    "decode_batch",
    "iterate",
    "marginals",
    "parse",
    "parse_batch",
    "sample",
    "solve",
    "tag",
    "tag_batch",
    "translate",
    "translate_batch",
)


@dataclass(frozen=True)
class Verb:
    """A public function, or a public method of a public class."""

    name: str  # certus.syntax.dependency.trees.Trees.decode
    parameters: Mapping[str, inspect.Parameter]
    extra: Mapping[str, Any]  # what **options: Unpack[...] stands for
    returns: Any

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def is_of_method(self) -> bool:
        """Whether it is how a method is asked, not how a user asks."""
        return self.last in OF_METHODS or self.name.startswith(METHOD_MODULES)


def list_modules() -> list[Any]:
    found = pkgutil.walk_packages(certus.__path__, "certus.")
    names = [one.name for one in found if one.ispkg and not one.name.startswith("certus.cli")]
    return [certus, *(importlib.import_module(name) for name in names)]


@cache
def list_objects() -> dict[str, Any]:
    """Return what the packages declare as public, by the place of its definition."""
    found = {}
    for module in list_modules():
        for name in getattr(module, "__all__", ()):
            made = getattr(module, name)
            if callable(made) and hasattr(made, "__qualname__"):
                found[f"{made.__module__}.{made.__qualname__}"] = made
    return found


def read_verb(name: str, function: Any) -> Verb:
    signature = inspect.signature(function)
    parameters, extra = dict(signature.parameters), {}
    for one in signature.parameters.values():
        if one.kind is one.VAR_KEYWORD and str(one.annotation).startswith("Unpack["):
            kind = str(one.annotation)[len("Unpack[") : -1]
            extra = inspect.get_annotations(function.__globals__[kind])
            del parameters[one.name]
    return Verb(name, parameters, extra, signature.return_annotation)


@cache
def list_verbs() -> tuple[Verb, ...]:
    found = {}
    for name, made in list_objects().items():
        if inspect.isfunction(made):
            found[name] = read_verb(name, made)
        if not inspect.isclass(made):
            continue
        for own, member in inspect.getmembers(made, callable):
            if own.startswith("_") or not inspect.isroutine(member):
                continue
            if (getattr(member, "__module__", None) or "").startswith("certus."):
                found[f"{name}.{own}"] = read_verb(f"{name}.{own}", inspect.unwrap(member))
    return tuple(found.values())


def list_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    list_objects()  # which imports them
    for one in kind.__subclasses__():
        yield one
        yield from list_subclasses(one)


def test_the_walk_meets_what_it_should() -> None:
    names = {verb.name for verb in list_verbs()}
    assert {
        "certus.chain.problem.Chain.decode",
        "certus.syntax.dependency.trees.Trees.decode",
        "certus.models.tagger.Tagger.tag",
        "certus.corpus.tagging.tag",
        "certus.translate.hierarchical_forest.decode_forest",
        "certus.syntax.joint.parsing.parse_jointly",
    } <= names
    assert len(names) > 200
    assert "seconds" in next(v for v in list_verbs() if v.last == "parse_jointly").extra


def test_k_is_given_by_name() -> None:
    asked = [verb for verb in list_verbs() if "k" in verb.parameters and not verb.is_of_method]
    assert len(asked) > 15
    wrong = [v.name for v in asked if v.parameters["k"].kind is not inspect.Parameter.KEYWORD_ONLY]
    assert not wrong, f"k must be keyword-only in {wrong}"
    late = [v.name for v in asked if v.last in VERBS and v.parameters["k"].default != 1]
    assert not late, f"k is 1 by default, not in {late}"


def test_what_is_not_possible_raises() -> None:
    asked = [verb for verb in list_verbs() if "infeasible" in verb.parameters]
    assert len(asked) > 15
    for verb in asked:
        parameter = verb.parameters["infeasible"]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, verb.name
        assert parameter.default == "raise", f'{verb.name}: infeasible must be "raise" by default'


def test_verbs_name_their_options_and_say_what_they_return() -> None:
    asked = [verb for verb in list_verbs() if verb.last in VERBS and not verb.is_of_method]
    assert {verb.last for verb in asked} == set(VERBS)
    for verb in asked:
        for one in verb.parameters.values():
            assert one.kind is not one.VAR_KEYWORD, f"{verb.name} takes **{one.name}: name the options"
            assert not _is_any(one.annotation), f"{verb.name}: {one.name} is {one.annotation}"
        assert verb.returns is not inspect.Signature.empty, verb.name
        assert not _is_any(verb.returns), f"{verb.name} returns {verb.returns}"


def _is_any(annotation: Any) -> bool:
    return annotation is typing.Any or "Any" in str(annotation).replace("[", " ").replace("]", " ").split()


def test_labels_are_those_of_label_sequences() -> None:
    kinds: list[type[Any]] = [Solution, *list_subclasses(Solution), KBest, *list_subclasses(KBest)]
    assert len(kinds) > 12
    for kind in kinds:
        assert hasattr(kind, "labels") == issubclass(kind, LabelSolution | LabelKBest), kind


# ---------------------------------------------------------------------------------------------- seconds


@cache
def make_tagger(learner: str = "pruned-crf") -> certus.Tagger:
    return certus.Tagger("upos", learner, epochs=2).fit(invented.sentences(40, 1))


@cache
def make_dependency_parser() -> certus.DependencyParser:
    options: dict[str, Any] = {"hash_bits": 12, "epochs": 1, "projective": "no", "columns": "upos"}
    return certus.DependencyParser(**options).fit(invented_treebank.sentences(30, 1))


@cache
def make_parser() -> certus.ConstituencyParser:
    trees = (
        "(S (NP (D the) (N dog)) (VP (V barks)))\n(S (NP (D a) (N cat)) (VP (V sees) (NP (D the) (N dog))))"
    )
    from certus.formats import brackets

    return certus.ConstituencyParser().fit(brackets.parse(trees))


@cache
def make_joint_parser() -> Any:
    from certus.formats.conllu import build
    from certus.syntax import JointParser

    words = ["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"]
    tags = ["D", "N", "V"], ["D", "N", "V", "D", "N"]
    sentences = [build(own, {"xpos": named}) for own, named in zip(words, tags, strict=True)]
    return JointParser(make_parser().grammar, certus.Tagger("xpos", "perceptron", epochs=2).fit(sentences))


PAIRS = (
    [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]] * 2,
    [["the", "house"], ["the", "book"], ["a", "book"]] * 2,
)


@cache
def make_aligner() -> certus.Aligner:
    return certus.Aligner().fit(*PAIRS)


@cache
def make_translator() -> certus.Translator:
    return certus.Translator(tuning=0, order=2).fit(*PAIRS)


@cache
def make_language_model() -> certus.LanguageModel:
    with pytest.warns(SmoothingWarning):
        return certus.LanguageModel(order=2).fit(PAIRS[1])


def make_forest() -> tuple[Any, list[float], list[Any]]:
    graph = certus.hypergraph.Hypergraph([0, 0, 1], [0, 0, 0, 1], [0], goal=1)
    return graph, [0.0, 1.0, 0.0], [["house"], ["book"], ["the", 0]]


def solve_parts(seconds: Any) -> Any:
    rng = np.random.default_rng(0)
    chains = [certus.Chain(rng.normal(size=(4, 4))) for _ in range(2)]
    decomposition = certus.relax.Decomposition()
    parts = [decomposition.add(ChainPart(c, rng.normal(size=(6, 4)))) for c in chains]
    space = next(iter(ChainPart(chains[0], np.zeros((6, 4))).spaces))
    decomposition.agree(*((part, space) for part in parts))
    return decomposition.solve(seconds=seconds)


def solve_graph(seconds: Any) -> Any:
    rng, graph = np.random.default_rng(0), certus.relax.FactorGraph()
    variables = [graph.add_variable(rng.normal(size=3)) for _ in range(12)]
    for n, one in enumerate(variables):
        for other in variables[:n]:
            graph.add_table([one, other], rng.normal(size=(3, 3)))
    return graph.solve(seconds=seconds) if seconds == 0 else graph.solve(seconds=seconds, max_nodes=1)


def decode_trees(seconds: Any) -> Any:
    rng = np.random.default_rng(0)
    return certus.Trees().decode(rng.normal(size=(6, 7)), rng.normal(size=(7, 7, 7)), seconds=seconds)


def infer_latent(seconds: Any) -> Any:
    chain = certus.latent.LatentChain(np.zeros((4, 4)), 2)
    return chain.infer(Ragged(np.zeros((3, 4)), np.array([0, 3])), certus.latent.LDI(), seconds=seconds)


def translate_problem(seconds: Any) -> Any:
    phrases = [certus.translate.Phrase(n, n + 1, [w], 0.0) for n in range(3) for w in ("the", "a", "book")]
    return certus.translate.PhraseProblem(3, phrases, make_language_model()).decode(seconds=seconds)


def translate_forest(seconds: Any) -> Any:
    forest = certus.translate.TranslationForest(*make_forest(), make_language_model())
    return forest.decode(seconds=seconds)


SENTENCE = {"form": ["lo", "nok"], "upos": ["DET", "NOUN"]}
SECONDS: dict[str, Callable[[Any], Any]] = {
    "align.matrix.align_matrix": lambda s: align_matrix(np.eye(3), null=0.5, seconds=s),
    "corpus.tagging.tag": lambda s: certus.corpus.tag(make_tagger(), [["lo", "zz"]], seconds=s),
    "corpus.solver.Limits": lambda s: certus.corpus.Limits(seconds=s),
    "hypergraph.constrained.Constrained.decode": lambda s: (
        make_forest()[0].with_constraints([{0: 1.0}], [1]).decode([0.0, 1.0, 0.0], seconds=s)
    ),
    "latent.model.LatentChain.infer": infer_latent,
    "models.aligner.Aligner.align": lambda s: make_aligner().align(["das"], ["the"], seconds=s),
    "models.aligner.Aligner.align_batch": lambda s: make_aligner().align_batch(
        [["das"]], [["the"]], seconds=s
    ),
    "models.dependency_parser.DependencyParser.parse": lambda s: make_dependency_parser().parse(
        SENTENCE, seconds=s
    ),
    "models.dependency_parser.DependencyParser.parse_batch": lambda s: make_dependency_parser().parse_batch(
        [SENTENCE], seconds=s
    ),
    "models.tagger.Tagger.decode": lambda s: make_tagger().decode([[["lo"]]], seconds=s),
    "models.tagger.Tagger.tag": lambda s: make_tagger().tag(["lo"], seconds=s),
    "models.tagger.Tagger.tag_batch": lambda s: make_tagger().tag_batch([["lo"]], seconds=s),
    "models.translator.Translator.translate": lambda s: make_translator().translate("das", seconds=s),
    "models.translator.Translator.translate_batch": lambda s: make_translator().translate_batch(
        ["das"], seconds=s
    ),
    "relax.decomposition.Decomposition.solve": solve_parts,
    "relax.factor_graph.FactorGraph.solve": solve_graph,
    "syntax.dependency.trees.Trees.decode": decode_trees,
    "syntax.dependency.trees.Trees.decode_batch": lambda s: certus.Trees().decode_batch(
        [np.zeros((2, 3))], seconds=s
    ),
    "syntax.joint.parsing.JointParser.parse": lambda s: make_joint_parser().parse(
        ["the", "dog", "barks"], seconds=s
    ),
    "syntax.joint.parsing.JointParser.parse_batch": lambda s: make_joint_parser().parse_batch(
        [["the", "dog", "barks"]], seconds=s
    ),
    "syntax.joint.parsing.parse_jointly": lambda s: certus.syntax.parse_jointly(
        make_joint_parser().grammar, make_joint_parser().tagger, [["the", "dog", "barks"]], seconds=s
    ),
    "translate.hierarchical_forest.TranslationForest.decode": translate_forest,
    "translate.hierarchical_forest.decode_forest": lambda s: certus.translate.decode_forest(
        *make_forest(), make_language_model(), seconds=s
    ),
    "translate.problem.PhraseProblem.decode": translate_problem,
}


def list_limited() -> set[str]:
    """Return the verbs, and the classes of options, that take a limit of time."""
    found = {
        verb.name.removeprefix("certus.")
        for verb in list_verbs()
        if not verb.is_of_method and ("seconds" in verb.parameters or "seconds" in verb.extra)
    }
    for name, made in list_objects().items():
        own = vars(made).get("__init__") if inspect.isclass(made) else None
        given = {} if own is None else inspect.signature(own).parameters
        if "seconds" in given and "None" in str(given["seconds"].annotation):
            found.add(name.removeprefix("certus."))
    return found


def test_every_limit_of_time_is_listed() -> None:
    assert list_limited() == set(SECONDS), "SECONDS says how to call each verb that takes seconds"


def test_no_limit_is_none_by_default() -> None:
    for verb in list_verbs():
        if "seconds" in verb.parameters and not verb.is_of_method:
            parameter = verb.parameters["seconds"]
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, verb.name
            expected = "model" if ".Translator." in verb.name else None
            assert parameter.default == expected, verb.name


# Their first answers may come with an infinite bound.
UNBOUNDED = ("models.dependency_parser",)


def list_solutions(found: Any) -> Iterator[Solution[Any]]:
    if isinstance(found, Solution):
        yield found
    elif isinstance(found, list):
        for one in found:
            yield from list_solutions(one)


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("seconds", [None, math.inf, 0, 0.0, 10, np.float32(5), 10**400])
def test_limits_of_time(name: str, seconds: Any) -> None:
    for found in list_solutions(SECONDS[name](seconds)):
        assert found.bound < math.inf or (seconds == 0 and name.startswith(UNBOUNDED))
        assert not found.score > found.bound
        assert found.optimal <= (found.score == found.bound)


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("seconds", REFUSED, ids=repr)
def test_limits_that_are_refused(name: str, seconds: Any) -> None:
    with pytest.raises(certus.InvalidInput, match=WORDS):
        SECONDS[name](seconds)


COMMANDS: dict[str, tuple[type, Callable[[], Any], str]] = {
    "tag": (cli_options.TagOptions, make_tagger, "lo nok"),
    "parse": (cli_options.ParseOptions, make_dependency_parser, ""),
    "align": (cli_options.AlignOptions, make_aligner, "das Haus ||| the house\n"),
    "translate": (cli_options.TranslateOptions, make_translator, "das Haus\n"),
}


def test_every_command_with_a_limit_is_listed() -> None:
    declared = {
        kind
        for _, kind in inspect.getmembers(cli_options, inspect.isclass)
        if "seconds" in getattr(kind, "__dataclass_fields__", {})
    }
    assert declared == {kind for kind, _, _ in COMMANDS.values()}


@pytest.mark.parametrize("command", COMMANDS)
def test_limits_of_time_on_the_command_line(command: str, tmp_path: Path) -> None:
    _, make, text = COMMANDS[command]
    model, given = tmp_path / "m.certus", tmp_path / "input.txt"
    make().save(model)
    if command == "parse":
        given = tmp_path / "input.conllu"
        text = invented_treebank.conllu(3, 2)
    given.write_text(text, "utf-8")
    for seconds in ("0", "inf", "10"):
        done = CliRunner().invoke(app, [command, str(model), str(given), "--seconds", seconds])
        assert done.exit_code == 0, (seconds, done.output, done.exception)
    for seconds in ("-1", "nan"):
        done = CliRunner().invoke(app, [command, str(model), str(given), "--seconds", seconds])
        assert isinstance(done.exception, certus.InvalidInput)
        assert f"--{WORDS.partition(' ')[0]} is {float(seconds)!r}; it must be a number" in str(
            done.exception
        )


# ---------------------------------------------------------------------------------- models not trained

NEVER_TRAINED = {"fit", "fit_pairs", "load", "from_file", "from_arrays", "from_tables", "read_arpa"}
NEVER_TRAINED |= {"get_params", "set_params"}
TREE = "(S (D the) (N dog))"
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "advance": (0, "a"),
    "align": (["a"], ["b"]),
    "align_batch": ([["a"]], [["b"]]),
    "bound": (1,),
    "certify": (["a"], None, None),
    "change_cascade": ([],),
    "choose_method": ("auto",),
    "decode": ([[["a"]]],),
    "emissions": (["a"],),
    "evaluate": ([],),
    "lattices": ([["a"]],),
    "lexicon": (),
    "make_problem": ("a",),
    "parse": (["a"],),
    "parse_batch": ([["a"]],),
    "part": (["a"],),
    "perplexity": (["a"],),
    "posteriors": (["a"], ["b"]),
    "potentials": (["a"], ["b"]),
    "predict": ([[{"a": 1}]],),
    "predict_kbest": ([[{"a": 1}]],),
    "predict_marginals": ([[{"a": 1}]],),
    "predict_marginals_single": ([{"a": 1}],),
    "predict_single": ([{"a": 1}],),
    "save": ("never-written",),
    "score": (["a"],),
    "score_arcs": (["a"],),
    "score_batch": ([["a"]],),
    "score_words": (["a"],),
    "search": ([[["a"]]],),
    "state_problem": (["a"],),
    "tag": (["a"],),
    "tag_batch": ([["a"]],),
    "translate": ("a",),
    "translate_batch": (["a"],),
    "write_arpa": ("never-written",),
}
SPECIAL: dict[tuple[str, str], tuple[Any, ...]] = {
    ("CRF", "score"): ([[{"a": 1}]], [["x"]]),
    ("DependencyParser", "score"): (["a"], [0]),
}


def list_models() -> dict[str, Any]:
    """Return an untrained model of each kind that can be fitted and saved."""
    kinds = [getattr(certus, name) for name in certus.__all__]
    named = {kind.__name__: kind for kind in kinds if hasattr(kind, "fit") and hasattr(kind, "save")}
    models = {name: kind() for name, kind in named.items() if name != "Tagger"}
    return models | {f"Tagger, {learner}": certus.Tagger("upos", learner) for learner in LEARNERS}


def exhaust(found: Any) -> None:
    """Make a generator begin."""
    if isinstance(found, Iterator):
        next(found)


@pytest.mark.parametrize("name", list_models())
def test_models_that_are_not_trained(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = list_models()[name]
    kind = type(model).__name__
    for verb, member in inspect.getmembers(model, inspect.ismethod):
        if verb.startswith("_") or verb in NEVER_TRAINED or not member.__module__.startswith("certus"):
            continue
        given = SPECIAL.get((kind, verb), ARGUMENTS.get(verb))
        assert given is not None, f"ARGUMENTS says how to call {kind}.{verb} before it is trained"
        options = {"k": 2} if verb == "predict_kbest" else {}
        with pytest.raises(certus.NotFitted, match="not trained yet: call fit"):
            exhaust(member(*given, **options))
    assert not list(tmp_path.iterdir())
