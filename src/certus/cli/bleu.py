"""``certus evaluate`` of translations: BLEU and chrF."""

from __future__ import annotations

import json
from itertools import islice

from certus.cli.options import EvaluateOptions
from certus.cli.wording import format_count
from certus.errors import CertusError
from certus.evaluation.translations import measure_translations
from certus.formats.blocks import decode
from certus.formats.guess import is_bracketed
from certus.formats.text import split_lines
from certus.storage.files import check_encoding, name_of, open_source

_SAMPLE = 200  # lines that tell what a file holds


def run(gold: str, predicted: str, options: EvaluateOptions) -> None:
    """Compare files line by line and print what is found."""
    found = measure_translations(_read(gold, options.encoding), _read(predicted, options.encoding))
    if options.json:
        print(json.dumps(found.as_dict(), indent=1))
        return
    precisions = " / ".join(f"{value:.1f}" for value in found.precisions)
    print(format_count(found.sentences, "sentence"))
    print(f"BLEU {found.bleu:.2f}   precisions {precisions}   brevity {found.brevity:.3f}")
    print(f"chrF {found.chrf:.2f}")


def _read(path: str, encoding: str) -> list[str]:
    check_encoding(encoding)
    with open_source(path) as chunk:
        return [line.strip() for line, _ in split_lines(decode(chunk, name_of(path), encoding))]


def looks_plain(*paths: str) -> bool:
    """Whether files hold text, one sentence per line: no columns, no trees, lines of different lengths."""
    return all(path != "-" and _is_plain(path) for path in paths)


def _is_plain(path: str) -> bool:
    try:
        with open_source(path) as chunk:
            lines = [line for line, _ in islice(split_lines(decode(chunk, path)), _SAMPLE)]
    except CertusError:
        return False
    full = [line for line in lines if line.strip()]
    if not full or any("\t" in line for line in full) or is_bracketed(path, "\n".join(full)):
        return False
    return len({len(line.split()) for line in full}) > 3 and 4 * len(full) > 3 * len(lines)
