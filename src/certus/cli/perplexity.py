"""``certus evaluate --lm``: how well a language model predicts a text."""

from __future__ import annotations

import json

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.cli.options import EvaluateOptions
from certus.errors import InvalidInput
from certus.models.language_model import LanguageModel
from certus.models.loading import load
from certus.translate.scores import Perplexity


def run(text: str, model: str, options: EvaluateOptions) -> None:
    """Measure a model on a text and print what is found."""
    for name in ("train", "against", "judge", "format", "columns"):
        if getattr(options, name) is not None:
            raise InvalidInput(f"a text is measured without --{name}; leave it out")
    found = open_language_model(model).perplexity(text, encoding=options.encoding)
    if not found.tokens:
        raise InvalidInput(f"{text} holds no words: there is nothing to measure")
    if options.json:
        print(json.dumps(found.as_dict(), indent=1))
    else:
        console = Console()
        show(found, console if console.is_terminal else Console(width=120))


def open_language_model(path: str) -> LanguageModel:
    """Open a language model, and nothing else."""
    model = load(path)
    if not isinstance(model, LanguageModel):
        raise InvalidInput(f"{path} holds no language model; train one with certus train lm")
    return model


def show(found: Perplexity, console: Console) -> None:
    """Print the figures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    names = ("perplexity", "without unknown words", "bits per token", "sentences", "tokens", "unknown")
    for name in names:
        table.add_column(name, justify="right")
    table.add_row(
        Text(f"{found.perplexity:.2f}", "bold"),
        f"{found.known_perplexity:.2f}",
        f"{found.bits:.4f}",
        *(f"{count:,}" for count in (found.sentences, found.tokens, found.unknown)),
    )
    table.caption = "tokens are words and ends of sentences" + (
        f"; {found.blank:,} lines without words are left out" if found.blank else ""
    )
    console.print(table)
