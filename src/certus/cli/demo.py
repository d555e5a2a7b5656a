"""``certus demo``: one short sentence, and all that can be asked about it."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import certus
from certus.solution import KBest, Solution

WORDS = ("time", "flies", "like", "an", "arrow")
TAGS = ("NOUN", "VERB", "ADP", "DET")
# (T, L) how well each tag fits each word, and (L, L) how well it follows another, [from, to].
EMISSIONS = np.array([
    [2.6, 1.9, -2.0, -3.0],
    [1.8, 2.0, -2.0, -3.0],
    [-1.0, 1.0, 1.6, -3.0],
    [-3.0, -3.0, -2.0, 4.0],
    [4.0, -1.0, -3.0, -3.0],
])  # fmt: skip
TRANSITIONS = np.array([
    [0.1, 1.2, 0.8, -1.0],
    [1.0, -2.0, 0.8, 1.2],
    [0.3, -2.0, -2.0, 1.3],
    [2.0, -3.0, -3.0, -3.0],
])  # fmt: skip

NAMES = ("Marie", "Curie", "taught", "in", "Paris")
CHUNKS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
CHUNK_EMISSIONS = np.array([
    [1.2, 1.0, -1.0, 0.2, -2.0],
    [0.1, 0.9, 2.1, -1.0, -1.0],
    [3.0, -2.0, -1.0, -2.0, -2.0],
    [3.0, -2.0, -2.0, -1.0, -1.0],
    [0.5, 0.2, -1.0, 1.8, 1.9],
])  # fmt: skip

SENTENCE = "They can fish where the river bends."


def run(console: Console | None = None) -> None:
    """Print the demonstration."""
    console = console or Console()
    chain = certus.Chain(TRANSITIONS)
    console.print()
    _best(console, chain)
    _runners_up(console, chain.decode(EMISSIONS, k=3), chain)
    _legal(console)
    _tagged(console)
    _speed(console)
    console.print()


def _names(labels: Any, names: tuple[str, ...]) -> list[str]:
    return [names[label] for label in labels]


def _heading(console: Console, title: str, code: str) -> None:
    console.print(Text.assemble((title, "bold"), "  ", (code, "cyan")))


def _grid(words: tuple[str, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for word in words:
        table.add_column(word, justify="center", header_style="italic")
    return table


def _best(console: Console, chain: certus.Chain) -> None:
    """Show the best sequence, its proof, and how sure the model is of each tag."""
    best: Solution = chain.decode(EMISSIONS)
    sure = chain.marginals(EMISSIONS).confidence(best.labels)
    _heading(console, "The best sequence, and the proof", "certus.Chain(transitions).decode(emissions)")
    table = _grid(WORDS)
    table.add_row("tag", *(Text(name, "bold green") for name in _names(best.labels, TAGS)))
    table.add_row("confidence", *(f"{p:.0%}" for p in sure))
    console.print(table)
    console.print(
        f"  score {best.score:.1f}, bound {best.bound:.1f}: [green]{best.status.value}[/green], "
        f"{best.status.message}\n"
    )


def _runners_up(console: Console, top: KBest, chain: certus.Chain) -> None:
    _heading(console, "The three best", "chain.decode(emissions, k=3)")
    marginals = chain.marginals(EMISSIONS)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", *WORDS):
        table.add_column(name, justify="center", header_style="italic")
    table.add_column("score", justify="right")
    table.add_column("probability", justify="right")
    first = top[0].labels
    for rank, solution in enumerate(top, 1):
        tags = [
            Text(name, "" if same else "yellow")
            for name, same in zip(_names(solution.labels, TAGS), solution.labels == first, strict=True)
        ]
        probability = marginals.probability(solution.score)
        table.add_row(f"{rank}.", *tags, f"{solution.score:.1f}", f"{probability:.0%}")
    console.print(table)


def _legal(console: Console) -> None:
    """Decode the same scores without and with the rules of BIO."""
    _heading(console, "Legal BIO", "chain.decode(emissions, allowed=certus.bio(labels))")
    chain = certus.Chain(np.zeros((len(CHUNKS), len(CHUNKS))))
    free = chain.decode(CHUNK_EMISSIONS)
    legal = chain.decode(CHUNK_EMISSIONS, allowed=certus.bio(CHUNKS))
    table = _grid(NAMES)
    for name, solution, colour in (("anything goes", free, "red"), ("legal", legal, "green")):
        differs = free.labels != legal.labels
        tags = [
            Text(tag, f"bold {colour}" if new else "")
            for tag, new in zip(_names(solution.labels, CHUNKS), differs, strict=True)
        ]
        table.add_row(f"{name} ({solution.score:.1f})", *tags)
    console.print(table)


def _tagged(console: Console) -> None:
    """Tag a sentence with the English model, where it is installed."""
    from certus.formats import build, tokenize
    from certus.models.loading import load

    try:
        tagger = load()
    except certus.ModelError:
        return
    words = tokenize(SENTENCE)
    answer = tagger.tag(words, confidence=True)
    upos = tagger.target.fill(build(words), answer.labels)["upos"]
    _heading(console, "A trained tagger", f'certus tag "{SENTENCE}"')
    table = _grid(tuple(words))
    table.add_row("tag", *(Text(tag, "bold green") for tag in upos))
    table.add_row("confidence", *(f"{p:.0%}" for p in answer.confidence))
    console.print(table)
    about = tagger.description["training"]
    console.print(
        f"  {len(tagger.labels):,} labels, learned from {about['tokens']:,} tokens of {about['name']}\n"
    )


def _speed(console: Console, labels: int = 1000, length: int = 25) -> None:
    """Decode one large lattice, here and in plain NumPy."""
    from certus_bench.lattices import peaked
    from certus_bench.rivals import numpy_viterbi

    _heading(console, "Fast", f"{labels:,} labels, {length} words, scores like a trained model's")
    sample = peaked(labels, length)
    emissions, transitions = sample.sentences[0], sample.transitions
    chain = certus.Chain(transitions)
    best = chain.decode(emissions)
    ours = min(_clock(lambda: chain.decode(emissions)) for _ in range(20))
    theirs = min(_clock(lambda: numpy_viterbi(emissions, transitions)) for _ in range(2))
    dense = chain.decode(emissions, method="viterbi")
    agree = "equals" if np.isclose(dense.score, best.score, rtol=1e-5) else "DIFFERS FROM"
    console.print(
        f"  plain NumPy Viterbi {theirs * 1e3:.1f} ms, Certus [bold green]{ours * 1e3:.3f} ms[/bold green]: "
        f"{theirs / ours:,.0f} times as fast"
    )
    console.print(f"  {best.status.value}; its score, {best.score:.2f}, {agree} that of the dense sweep")


def _clock(call: Any) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin
