"""Links of two directions merged by rule, and drawn."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import certus
from certus.align import draw_links, draw_page, draw_svg, symmetrize

FORWARD = {(0, 0), (1, 1), (1, 2), (3, 4)}
BACKWARD = {(0, 0), (1, 1), (2, 1), (4, 5), (0, 5)}


@pytest.mark.parametrize(
    ("method", "links"),
    [
        ("forward", FORWARD),
        ("backward", BACKWARD),
        ("intersection", {(0, 0), (1, 1)}),
        ("union", FORWARD | BACKWARD),
        ("grow-diag", {(0, 0), (1, 1), (1, 2), (2, 1)}),
        ("grow-diag-final", {(0, 0), (1, 1), (1, 2), (2, 1), (3, 4), (0, 5), (4, 5)}),
        ("grow-diag-final-and", {(0, 0), (1, 1), (1, 2), (2, 1), (3, 4), (4, 5)}),
    ],
)
def test_rules(method: str, links: set[tuple[int, int]]) -> None:
    assert symmetrize(FORWARD, BACKWARD, method) == tuple(sorted(links))


def test_unknown_rule() -> None:
    with pytest.raises(certus.InvalidInput, match="grow-diag-final-and"):
        symmetrize(FORWARD, BACKWARD, "grow")


def test_drawing() -> None:
    assert draw_links(["a", "bc"], ["xy", "z"], [(0, 1), (1, 0)]) == "   x\n   y z\n a · ■\nbc ■ ·\n"
    assert draw_links([], ["x"], []) == " x\n"


def test_pictures() -> None:
    picture = draw_svg(["a", "<b>"], ["x"], [(0, 0)], [[0.9], [0.001]])
    shapes = [
        shape.get("class") for shape in ElementTree.fromstring(picture).iter() if shape.tag.endswith("rect")
    ]
    assert shapes == ["p", "l"]
    assert "&lt;b&gt;" in picture
    assert "".join(draw_page([picture, picture])).count("<svg") == 2
    for given in ({"links": [(2, 0)]}, {"links": [], "probabilities": [[1.0]]}):
        with pytest.raises(certus.InvalidInput):
            draw_svg(["a", "b"], ["x"], **given)
