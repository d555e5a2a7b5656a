"""The papers behind what is here: ``certus.citation(used)`` says which to cite.

A class whose method is somebody's names their papers in ``papers``, by their keys in PAPERS.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from certus.errors import InvalidInput


@dataclass(frozen=True)
class Paper:
    """Where something was published. ``volume`` is given for articles in journals, ``venue`` for all."""

    key: str
    authors: tuple[str, ...]  # full names, in their order
    title: str
    venue: str
    year: int
    pages: str = ""
    volume: str = ""

    def __str__(self) -> str:
        names = " & ".join(filter(None, [", ".join(self.authors[:-1]), self.authors[-1]]))
        place = f"{self.venue} {self.volume}".strip() if self.volume else f"In {self.venue}"
        pages = f", pages {self.pages}" if self.pages else ""
        return f"{names} ({self.year}). {self.title}. {place}{pages}."

    @property
    def bibtex(self) -> str:
        """The entry for a bibliography in BibTeX."""
        journal = bool(self.volume)
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            "journal" if journal else "booktitle": self.venue,
            "volume": self.volume,
            "pages": self.pages.replace("–", "--"),
            "year": str(self.year),
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{'article' if journal else 'inproceedings'}{{{self.key},", *lines, "}"])


class References(tuple[Paper, ...]):
    """Papers to cite: as text when printed, as entries of BibTeX in ``bibtex``."""

    __slots__ = ()

    @property
    def bibtex(self) -> str:
        """The entries for a bibliography in BibTeX."""
        return "\n\n".join(paper.bibtex for paper in self)

    def __str__(self) -> str:
        return "\n".join(str(paper) for paper in self)

    __repr__ = __str__


class Citable(Protocol):
    """A class or an object that names the papers behind it."""

    @property
    def papers(self) -> tuple[str, ...]:
        """Keys of PAPERS."""


def citation(*used: Citable) -> References:
    """Return the papers behind what was used; without arguments, all papers behind this package.

    Args:
        used: solvers of chains, ways to infer, optimisers, decompositions, learners, taggers, parsers,
            grammars, and their answers.
    """
    if not used:
        return References(PAPERS.values())
    keys = [key for one in used for key in _read_keys(one)]
    return References(PAPERS[key] for key in dict.fromkeys(keys))


def _read_keys(used: object) -> tuple[str, ...]:
    keys = getattr(used, "papers", None)
    if isinstance(keys, tuple):
        return keys
    name = used.__qualname__ if isinstance(used, type) else type(used).__name__
    raise InvalidInput(
        f"{name} names no papers; pass the method, learner, optimiser, model or answer that you used, "
        "or nothing for all papers"
    )


def _index(papers: Iterable[Paper]) -> dict[str, Paper]:
    return {paper.key: paper for paper in papers}


_ACL = "Annual Meeting of the Association for Computational Linguistics"
_EMNLP = "Conference on Empirical Methods in Natural Language Processing"

PAPERS = _index(
    (
        Paper(
            "viterbi1967",
            ("Andrew J. Viterbi",),
            "Error Bounds for Convolutional Codes and an Asymptotically Optimum Decoding Algorithm",
            "IEEE Transactions on Information Theory",
            1967,
            "260–269",
            volume="13",
        ),
        Paper(
            "lemarechal1995",
            ("Claude Lemaréchal", "Arkadii Nemirovskii", "Yurii Nesterov"),
            "New Variants of Bundle Methods",
            "Mathematical Programming",
            1995,
            "111–147",
            volume="69",
        ),
        Paper(
            "vogel1996",
            ("Stephan Vogel", "Hermann Ney", "Christoph Tillmann"),
            "HMM-Based Word Alignment in Statistical Translation",
            "Proceedings of the 16th International Conference on Computational Linguistics",
            1996,
            "836–841",
        ),
        Paper(
            "chen1999",
            ("Stanley F. Chen", "Joshua Goodman"),
            "An Empirical Study of Smoothing Techniques for Language Modeling",
            "Computer Speech & Language",
            1999,
            "359–394",
            "13(4)",
        ),
        Paper(
            "lafferty2001",
            ("John Lafferty", "Andrew McCallum", "Fernando Pereira"),
            "Conditional Random Fields: Probabilistic Models for Segmenting and Labeling Sequence Data",
            "Proceedings of the 18th International Conference on Machine Learning",
            2001,
            "282–289",
        ),
        Paper(
            "collins2002",
            ("Michael Collins",),
            "Discriminative Training Methods for Hidden Markov Models: Theory and Experiments with "
            "Perceptron Algorithms",
            f"Proceedings of the 2002 {_EMNLP}",
            2002,
            "1–8",
        ),
        Paper(
            "klein2003",
            ("Dan Klein", "Christopher D. Manning"),
            "Accurate Unlexicalized Parsing",
            f"Proceedings of the 41st {_ACL}",
            2003,
            "423–430",
        ),
        Paper(
            "koehn2003",
            ("Philipp Koehn", "Franz Josef Och", "Daniel Marcu"),
            "Statistical Phrase-Based Translation",
            "Proceedings of HLT-NAACL 2003",
            2003,
            "127–133",
        ),
        Paper(
            "mcdonald2005",
            ("Ryan McDonald", "Koby Crammer", "Fernando Pereira"),
            "Online Large-Margin Training of Dependency Parsers",
            f"Proceedings of the 43rd {_ACL}",
            2005,
            "91–98",
        ),
        Paper(
            "huang2005",
            ("Liang Huang", "David Chiang"),
            "Better k-best Parsing",
            "Proceedings of the Ninth International Workshop on Parsing Technology",
            2005,
            "53–64",
        ),
        Paper(
            "huang2005hooks",
            ("Liang Huang", "Hao Zhang", "Daniel Gildea"),
            "Machine Translation as Lexicalized Parsing with Hooks",
            "Proceedings of the Ninth International Workshop on Parsing Technology",
            2005,
            "65–73",
        ),
        Paper(
            "kolmogorov2006",
            ("Vladimir Kolmogorov",),
            "Convergent Tree-Reweighted Message Passing for Energy Minimization",
            "IEEE Transactions on Pattern Analysis and Machine Intelligence",
            2006,
            "1568–1583",
            volume="28",
        ),
        Paper(
            "liang2006",
            ("Percy Liang", "Ben Taskar", "Dan Klein"),
            "Alignment by Agreement",
            "Proceedings of the Human Language Technology Conference of the North American Chapter of the "
            "Association for Computational Linguistics",
            2006,
            "104–111",
        ),
        Paper(
            "komodakis2007",
            ("Nikos Komodakis", "Nikos Paragios", "Georgios Tziritas"),
            "MRF Optimization via Dual Decomposition: Message-Passing Revisited",
            "International Conference on Computer Vision",
            2007,
        ),
        Paper(
            "globerson2007",
            ("Amir Globerson", "Tommi Jaakkola"),
            "Fixing Max-Product: Convergent Message Passing Algorithms for MAP LP-Relaxations",
            "Advances in Neural Information Processing Systems 20",
            2007,
        ),
        Paper(
            "morency2007",
            ("Louis-Philippe Morency", "Ariadna Quattoni", "Trevor Darrell"),
            "Latent-Dynamic Discriminative Models for Continuous Gesture Recognition",
            "Proceedings of the IEEE Conference on Computer Vision and Pattern Recognition",
            2007,
            "1–8",
        ),
        Paper(
            "chiang2007",
            ("David Chiang",),
            "Hierarchical Phrase-Based Translation",
            "Computational Linguistics 33(2)",
            2007,
            "201–228",
        ),
        Paper(
            "petrov2008",
            ("Slav Petrov", "Aria Haghighi", "Dan Klein"),
            "Coarse-to-Fine Syntactic Machine Translation using Language Projections",
            "Proceedings of the 2008 Conference on Empirical Methods in Natural Language Processing",
            2008,
            "108–116",
        ),
        Paper(
            "sontag2008",
            ("David Sontag", "Talya Meltzer", "Amir Globerson", "Tommi Jaakkola", "Yair Weiss"),
            "Tightening LP Relaxations for MAP using Message Passing",
            "Proceedings of UAI",
            2008,
            pages="503–510",
        ),
        Paper(
            "esposito2009",
            ("Roberto Esposito", "Daniele P. Radicioni"),
            "CarpeDiem: Optimizing the Viterbi Algorithm and Applications to Supervised Sequential Learning",
            "Journal of Machine Learning Research",
            2009,
            "1851–1880",
            volume="10",
        ),
        Paper(
            "sun2009",
            ("Xu Sun", "Jun'ichi Tsujii"),
            "Sequential Labeling with Latent Variables: An Exact Inference Algorithm and Its Efficient "
            "Approximation",
            "Proceedings of the 12th Conference of the European Chapter of the ACL",
            2009,
            "772–780",
        ),
        Paper(
            "kaji2010",
            ("Nobuhiro Kaji", "Yasuhiro Fujiwara", "Naoki Yoshinaga", "Masaru Kitsuregawa"),
            "Efficient Staggered Decoding for Sequence Labeling",
            f"Proceedings of the 48th {_ACL}",
            2010,
            "485–494",
        ),
        Paper(
            "koo2010",
            ("Terry Koo", "Alexander M. Rush", "Michael Collins", "Tommi Jaakkola", "David Sontag"),
            "Dual Decomposition for Parsing with Non-Projective Head Automata",
            f"Proceedings of the 2010 {_EMNLP}",
            2010,
            "1288–1298",
        ),
        Paper(
            "rush2010",
            ("Alexander M. Rush", "David Sontag", "Michael Collins", "Tommi Jaakkola"),
            "On Dual Decomposition and Linear Programming Relaxations for Natural Language Processing",
            f"Proceedings of the 2010 {_EMNLP}",
            2010,
            "1–11",
        ),
        Paper(
            "rush2011",
            ("Alexander M. Rush", "Michael Collins"),
            "Dual Decomposition for Natural Language Processing",
            f"Tutorials of the 49th {_ACL}",
            2011,
        ),
        Paper(
            "rush2011syntactic",
            ("Alexander M. Rush", "Michael Collins"),
            "Exact Decoding of Syntactic Translation Models through Lagrangian Relaxation",
            f"Proceedings of the 49th {_ACL}",
            2011,
            "72–82",
        ),
        Paper(
            "chang2011",
            ("Yin-Wen Chang", "Michael Collins"),
            "Exact Decoding of Phrase-Based Translation Models through Lagrangian Relaxation",
            f"Proceedings of the 2011 {_EMNLP}",
            2011,
            "26–37",
        ),
        Paper(
            "cherry2012",
            ("Colin Cherry", "George Foster"),
            "Batch Tuning Strategies for Statistical Machine Translation",
            "Proceedings of NAACL-HLT 2012",
            2012,
            "427–436",
        ),
        Paper(
            "huang2012",
            (
                "Zhiheng Huang",
                "Yi Chang",
                "Bo Long",
                "Jean-Francois Crespo",
                "Anlei Dong",
                "Sathiya Keerthi",
                "Su-Lin Wu",
            ),
            "Iterative Viterbi A* Algorithm for K-Best Sequential Decoding",
            f"Proceedings of the 50th {_ACL}",
            2012,
            "611–619",
        ),
        Paper(
            "rush2012",
            ("Alexander M. Rush", "Roi Reichart", "Michael Collins", "Amir Globerson"),
            "Improved Parsing and POS Tagging Using Inter-Sentence Consistency Constraints",
            "Proceedings of the 2012 Joint Conference on Empirical Methods in Natural Language Processing "
            "and Computational Natural Language Learning",
            2012,
            "1434–1444",
        ),
        Paper(
            "mueller2013",
            ("Thomas Müller", "Helmut Schmid", "Hinrich Schütze"),
            "Efficient Higher-Order CRFs for Morphological Tagging",
            f"Proceedings of the 2013 {_EMNLP}",
            2013,
            "322–332",
        ),
        Paper(
            "stratos2013",
            ("Karl Stratos", "Alexander M. Rush", "Shay B. Cohen", "Michael Collins"),
            "Spectral Learning of Refinement HMMs",
            "Proceedings of the Seventeenth Conference on Computational Natural Language Learning",
            2013,
            "56–64",
        ),
        Paper(
            "heafield2013",
            ("Kenneth Heafield", "Ivan Pouzyrevsky", "Jonathan H. Clark", "Philipp Koehn"),
            "Scalable Modified Kneser-Ney Language Model Estimation",
            f"Proceedings of the 51st {_ACL}",
            2013,
            "690–696",
        ),
        Paper(
            "rush2013",
            ("Alexander M. Rush", "Yin-Wen Chang", "Michael Collins"),
            "Optimal Beam Search for Machine Translation",
            f"Proceedings of the 2013 {_EMNLP}",
            2013,
            "210–221",
        ),
        Paper(
            "chang2014",
            ("Yin-Wen Chang", "Alexander M. Rush", "John DeNero", "Michael Collins"),
            "A Constrained Viterbi Relaxation for Bidirectional Word Alignment",
            f"Proceedings of the 52nd {_ACL}",
            2014,
            "1481–1490",
        ),
        Paper(
            "martins2015",
            (
                "André F. T. Martins",
                "Mário A. T. Figueiredo",
                "Pedro M. Q. Aguiar",
                "Noah A. Smith",
                "Eric P. Xing",
            ),
            "AD3: Alternating Directions Dual Decomposition for MAP Inference in Graphical Models",
            "Journal of Machine Learning Research",
            2015,
            pages="495–545",
            volume="16",
        ),
        Paper(
            "swoboda2019",
            ("Paul Swoboda", "Vladimir Kolmogorov"),
            "MAP Inference via Block-Coordinate Frank-Wolfe Algorithm",
            "Proceedings of the IEEE/CVF Conference on Computer Vision and Pattern Recognition",
            2019,
            "11146–11155",
        ),
    )
)
