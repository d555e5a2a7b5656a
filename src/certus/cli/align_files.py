"""What ``certus align`` writes beside links: phrase pairs and pictures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO, Any

from certus.align.drawing import draw_page, draw_svg
from certus.align.solution import Alignment
from certus.annotation.phrases import extract_phrases
from certus.errors import InvalidInput
from certus.formats.parallel import BARS, SentencePair
from certus.formats.pharaoh import format_links
from certus.models.aligner import Aligner

Found = Iterable[tuple[SentencePair, Alignment]]


def check_picture(path: str | None) -> None:
    """Refuse a picture of an unknown kind, before any work."""
    if path is not None and os.path.splitext(path)[1].lower() not in (".svg", ".html"):
        raise InvalidInput(f"--draw {path}: pictures of alignments are .svg or .html files")


def write_phrases(found: Found, file: IO[Any], longest: int) -> Iterator[tuple[SentencePair, Alignment]]:
    """Write the phrase pairs of alignments as they pass by; links are counted inside of a phrase pair."""
    for pair, answer in found:
        for phrase in extract_phrases(answer.links, len(pair.source), len(pair.target), max_length=longest):
            source = " ".join(pair.source[phrase.source_begin : phrase.source_end])
            target = " ".join(pair.target[phrase.target_begin : phrase.target_end])
            links = (
                (i - phrase.source_begin, j - phrase.target_begin)
                for i, j in filter(phrase.holds, answer.links)
            )
            file.write(f"{source} {BARS} {target} {BARS} {format_links(links)}\n")
        yield pair, answer


def write_pictures(
    found: Found, file: IO[Any], path: str, aligner: Aligner
) -> Iterator[tuple[SentencePair, Alignment]]:
    """Draw alignments as they pass by, and write the picture when all have."""
    pictures = []
    for pair, answer in found:
        probabilities = aligner.posteriors(pair.source, pair.target).links
        pictures.append(draw_svg(pair.source, pair.target, answer.links, probabilities))
        yield pair, answer
    if path.lower().endswith(".html"):
        file.writelines(draw_page(pictures))
    else:
        file.write(stack_pictures(pictures))


def stack_pictures(pictures: list[str]) -> str:
    """Return SVG pictures below one another as one."""
    if len(pictures) == 1:
        return pictures[0]
    parts, top, wide = [], 0, 0
    for picture in pictures:
        head = picture.split(">", 1)[0]
        width, height = (int(head.split(f'{name}="')[1].split('"')[0]) for name in ("width", "height"))
        parts.append(picture.replace("<svg ", f'<svg y="{top}" ', 1))
        top, wide = top + height, max(wide, width)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{top}">{"".join(parts)}</svg>'
