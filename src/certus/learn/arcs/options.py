"""The options of dependency parsers, each declared once."""

from __future__ import annotations

from dataclasses import dataclass

from certus.errors import InvalidInput
from certus.learn.learner import check_options, option

TAGGED = ("word", "upos", "feats")  # of these, what taggers predict, and words
ALGORITHMS = ("mira", "perceptron")
LEARN_FROM = ("trees", "automata")
RELATIONS = ("second-pass", "joint")
PRUNING_FEATURES = ("tags", "arcs")
FILTERS = ("posteriors", "max-marginals")
ANY_TREE = ("length", "local", "local-short")  # passes of cascades for all trees,
PASSES = (*ANY_TREE, "vine", "first", "second")  # and those for projective trees
HEADS = ("heads",)  # no cascade, but a model of each word's head
COARSE = ("coarse",)  # neither, but scores that bound all others
INPUTS = ("word", "upos", "xpos", "feats", "lemma")  # the columns that parsers look at, where they are filled


@dataclass(frozen=True, kw_only=True)
class ArcOptions:
    """How a dependency parser is learned, and what trees it looks for."""

    order: int = option(
        3, "What is scored beside arcs: 1 nothing, 2 siblings, 3 siblings and grandparents.", least=1, most=3
    )
    algorithm: str = option("mira", "How weights are learned: mira or perceptron.")
    learn_from: str = option(
        "trees",
        "What weights are learned from: the best trees; or what automata, one for each head, pick by "
        "themselves, which is faster, and makes trees with crossing arcs easier to prove.",
    )
    aggressiveness: float = option(0.005, "The most that mira changes a weight by.", least=0)
    relation_cost: float = option(
        0.5, "What mira takes a right head with a wrong relation for; a wrong head is 1.", least=0
    )
    relations: str = option(
        "second-pass",
        "How relations are chosen: joint, with the arcs; or second-pass, when the tree is found, by what is "
        "around each arc in it.",
    )
    epochs: int = option(10, "Passes over the training data.", least=1)
    patience: int = option(3, "Stop after this many epochs without a better dev LAS.", least=1)
    burn_in: int = option(1, "Epochs that averaged weights leave out.", least=0)
    seed: int = option(0, "The seed of the order in which sentences are seen.", least=0)
    hash_bits: int = option(24, "At most 2^bits weights, by a hash kernel.", least=10, most=30)
    cascade: str = option(
        "auto",
        "What chooses the arcs that are scored: coarse, a small model of all arcs whose scores bound all "
        "others, so that the best of all trees is found; heads, a model of each word's head; passes one "
        "after the other, of length, local, local-short, vine, first and second; or auto: coarse where trees "
        "are projective and weights learned from trees, otherwise heads.",
    )
    filter: str = option("posteriors", "What passes close arcs by: posteriors or max-marginals.")
    filter_loss: float = option(
        0.05,
        "The share of dev sentences that may lose an arc of their tree in each pass, for what weights are "
        "learned over.",
        least=0,
        most=1,
    )
    parsing_loss: float = option(
        0.02,
        "The share of dev words that may lose the arc into them in the last pass when sentences are parsed, "
        "four times that of each pass before it; passes close at least as much as in learning.",
        least=0,
        most=1,
    )
    reach: int = option(3, "How long the arcs are that local-short and vine look at.", least=1)
    pruning: float = option(
        3e-3,
        "Heads less likely than this many times the best one are not scored, with heads; 0 scores all.",
        least=0,
        most=1,
    )
    candidates: int = option(8, "How many heads are scored for each word at the most.", least=1)
    pruning_features: str = option(
        "tags",
        "What heads are left out by: tags above all, word by word, which is fast; or arcs: their "
        "probabilities in trees by all that they are scored by, so that more may be left out, with a pruning "
        "of 0.1. The logarithms of these also count 0.6 times in scores, and trees are easier to prove. "
        "Weights are then learned over as many heads as there are candidates.",
    )
    pruning_epochs: int = option(3, "Passes over the training data to learn which heads are likely.", least=1)
    columns: str = option(
        " ".join(INPUTS), "The columns that features may look at; those that are empty are left out."
    )
    folds: int = option(
        0,
        "Parts that the training data are tagged in, each by a tagger learned from the others, so that the "
        "parser learns from predicted tags; it then looks at word, upos and feats. 0 takes their own tags.",
        least=0,
    )
    projective: str = option(
        "auto",
        "Whether trees have no crossing arcs: yes, no, or auto: by how many of the training data do.",
    )
    single_root: str = option(
        "auto", "Whether a tree has one root: yes, no, or auto: as 199 of 200 training trees."
    )

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_options(self)
        for name, known in (
            ("algorithm", ALGORITHMS),
            ("learn_from", LEARN_FROM),
            ("relations", RELATIONS),
            ("filter", FILTERS),
            ("pruning_features", PRUNING_FEATURES),
        ):
            if getattr(self, name) not in known:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; there are {' and '.join(known)}")
        self._check_cascade()
        if not isinstance(self.columns, str):
            raise InvalidInput(f"columns is {self.columns!r}; it must be names with blanks between them")
        for name in ("projective", "single_root"):
            if getattr(self, name) not in ("auto", "yes", "no"):
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; it may be auto, yes or no")
        unknown = [name for name in self.list_columns() if name not in INPUTS]
        if unknown or not self.list_columns():
            raise InvalidInput(f"columns is {self.columns!r}; it may name some of {', '.join(INPUTS)}")

    def _check_cascade(self) -> None:
        names = self._name_passes()
        if names not in (HEADS, COARSE, ("auto",)) and (
            not names or any(name not in PASSES for name in names)
        ):
            known = ", ".join(PASSES)
            raise InvalidInput(
                f"cascade is {self.cascade!r}; it may be auto, coarse, heads, or some of {known}"
            )
        if "length" in names[1:] or len(set(names)) < len(names):
            raise InvalidInput(f"cascade is {self.cascade!r}; length comes first, and each pass once")
        if self.projective == "no" and self.needs_projective():
            raise InvalidInput(f"cascade is {self.cascade!r}; vine, first and second need projective trees")
        if names == COARSE and self.learn_from != "trees":
            raise InvalidInput(
                "cascade is 'coarse', whose features are learned from trees: learn_from must be trees"
            )

    def _name_passes(self) -> tuple[str, ...]:
        return tuple(self.cascade.replace(",", " ").split()) if isinstance(self.cascade, str) else ()

    def needs_projective(self) -> bool:
        """Tell whether a pass looks for projective trees."""
        return any(name in PASSES and name not in ANY_TREE for name in self._name_passes())

    def list_passes(self, projective: bool) -> tuple[str, ...]:
        """Return the names of the passes that choose the arcs to score; or HEADS."""
        names = self._name_passes()
        if names != ("auto",):
            return names
        return COARSE if projective and self.learn_from == "trees" else HEADS

    def list_columns(self) -> list[str]:
        """Return the columns that features may look at."""
        named = ["word" if name == "form" else name for name in self.columns.replace(",", " ").split()]
        wanted = [name for name in named if name in TAGGED] if self.folds else named
        return list(dict.fromkeys(wanted))
