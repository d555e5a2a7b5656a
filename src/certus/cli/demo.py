"""``certus demo``: one short sentence, and all that can be asked about it."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import certus

Scores = NDArray[np.float32]
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
    _show_best(console, chain)
    _show_runners_up(console, chain)
    _show_legal(console)
    _show_tagger(console)
    _show_speed(console)
    console.print()


def _name_labels(labels: Any, names: tuple[str, ...]) -> list[str]:
    return [names[label] for label in labels]


def _print_heading(console: Console, title: str, code: str) -> None:
    console.print(Text.assemble((title, "bold"), "  ", (code, "cyan")))


def _make_grid(words: tuple[str, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for word in words:
        table.add_column(word, justify="center", header_style="italic")
    return table


def _show_best(console: Console, chain: certus.Chain) -> None:
    """Show the best sequence, its proof, and how sure the model is of each tag."""
    best = chain.decode(EMISSIONS)
    sure = chain.marginals(EMISSIONS).confidence(best.labels)
    _print_heading(console, "The best sequence, and the proof", "certus.Chain(transitions).decode(emissions)")
    table = _make_grid(WORDS)
    table.add_row("tag", *(Text(name, "bold green") for name in _name_labels(best.labels, TAGS)))
    table.add_row("confidence", *(f"{p:.0%}" for p in sure))
    console.print(table)
    console.print(
        f"  score {best.score:.1f}, bound {best.bound:.1f}: [green]{best.status.value}[/green], "
        f"{best.status.message}\n"
    )


def _show_runners_up(console: Console, chain: certus.Chain) -> None:
    _print_heading(console, "The three best", "chain.decode(emissions, k=3)")
    top, marginals = chain.decode(EMISSIONS, k=3), chain.marginals(EMISSIONS)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", *WORDS):
        table.add_column(name, justify="center", header_style="italic")
    table.add_column("score", justify="right")
    table.add_column("probability", justify="right")
    first = top[0].labels
    for rank, solution in enumerate(top, 1):
        tags = [
            Text(name, "" if same else "yellow")
            for name, same in zip(_name_labels(solution.labels, TAGS), solution.labels == first, strict=True)
        ]
        probability = marginals.probability(solution.score)
        table.add_row(f"{rank}.", *tags, f"{solution.score:.1f}", f"{probability:.0%}")
    console.print(table)


def _show_legal(console: Console) -> None:
    """Decode the same scores without and with the rules of BIO."""
    _print_heading(console, "Legal BIO", "chain.decode(emissions, allowed=certus.bio(labels))")
    chain = certus.Chain(np.zeros((len(CHUNKS), len(CHUNKS))))
    free = chain.decode(CHUNK_EMISSIONS)
    legal = chain.decode(CHUNK_EMISSIONS, allowed=certus.bio(CHUNKS))
    table = _make_grid(NAMES)
    for name, solution, colour in (("anything goes", free, "red"), ("legal", legal, "green")):
        differs = free.labels != legal.labels
        tags = [
            Text(tag, f"bold {colour}" if new else "")
            for tag, new in zip(_name_labels(solution.labels, CHUNKS), differs, strict=True)
        ]
        table.add_row(f"{name} ({solution.score:.1f})", *tags)
    console.print(table)


def _show_tagger(console: Console) -> None:
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
    _print_heading(console, "A trained tagger", f'certus tag "{SENTENCE}"')
    table = _make_grid(tuple(words))
    table.add_row("tag", *(Text(tag, "bold green") for tag in upos))
    table.add_row("confidence", *(f"{p:.0%}" for p in answer.confidence))
    console.print(table)
    about = tagger.description["training"]
    console.print(
        f"  {len(tagger.labels):,} labels, learned from {about['tokens']:,} tokens of {about['name']}\n"
    )


def _show_speed(console: Console, labels: int = 1000, length: int = 25) -> None:
    """Decode one large lattice, here and in plain NumPy."""
    _print_heading(console, "Fast", f"{labels:,} labels, {length} words, scores like a trained model's")
    emissions, transitions = draw_scores(labels, length)
    chain = certus.Chain(transitions)
    best = chain.decode(emissions)
    ours = min(_time_call(lambda: chain.decode(emissions)) for _ in range(20))
    theirs = min(_time_call(lambda: decode_in_numpy(emissions, transitions)) for _ in range(2))
    dense = chain.decode(emissions, method="viterbi")
    agree = "equals" if np.isclose(dense.score, best.score, rtol=1e-5) else "DIFFERS FROM"
    console.print(
        f"  plain NumPy Viterbi {theirs * 1e3:.1f} ms, Certus [bold green]{ours * 1e3:.3f} ms[/bold green]: "
        f"{theirs / ours:,.0f} times as fast"
    )
    console.print(f"  {best.status.value}; its score, {best.score:.2f}, {agree} that of the dense sweep")


def draw_scores(labels: int, length: int) -> tuple[Scores, Scores]:
    """Draw (T, L) emissions of which one stands out at each position, and (L, L) transitions, mostly zero."""
    rng = np.random.default_rng(0)
    weights = rng.normal(3, 5, (labels, labels))
    transitions = np.where(rng.random((labels, labels)) < 0.05, weights, 0.0)
    emissions = rng.normal(0, 4, (length, labels))
    emissions[np.arange(length), rng.integers(0, labels, length)] += rng.normal(25, 8, length)
    return emissions.astype(np.float32), transitions.astype(np.float32)


def decode_in_numpy(emissions: Scores, transitions: Scores) -> list[int]:
    """Decode as everyone's first version does: a broadcast sum, a maximum and an argmax per position."""
    best, pointers = emissions[0], []
    for row in emissions[1:]:
        arriving = best[:, None] + transitions
        pointers.append(arriving.argmax(axis=0))
        best = arriving.max(axis=0) + row
    path = [int(best.argmax())]
    for back in reversed(pointers):
        path.append(int(back[path[-1]]))
    return path[::-1]


def _time_call(call: Any) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin
