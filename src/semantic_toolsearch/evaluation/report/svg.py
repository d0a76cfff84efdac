"""SVG as matplotlib writes it in; small SVG that follows a page's colours, or stands alone, out."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Final

__all__ = ["page_svg"]

_HEAD: Final = re.compile(r"^.*?<svg[^>]*viewBox=\"([\d. -]+)\"[^>]*>", re.DOTALL)
_METADATA: Final = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_ID: Final = re.compile(r' id="([^"]+)"')
_USED: Final = re.compile(r"(?:url\(#|href=\"#)([^)\"]+)")
_FONT: Final = re.compile(r"""(['"]|&quot;)?DejaVu Sans\1?""")
_COLOUR: Final = re.compile(r"#[0-9a-f]{6}\b")
_EMPTY: Final = re.compile(r"<g>\s*</g>\s*")

_PIXELS: Final = 4 / 3
"""Pixels of a point."""


def page_svg(text: str, title: str, variables: Mapping[str, str]) -> str:
    """Strip what a page does not need and name the drawing for screen readers.

    Args:
        text: A whole SVG document.
        title: What the drawing shows.
        variables: By colour in lower-case hexadecimal digits, what takes its place.

    Raises:
        ValueError: The text is no SVG document with a viewBox.
    """
    found = _HEAD.match(text)
    if found is None:
        raise ValueError("the text is no SVG document with a viewBox")
    width, height = (float(length) for length in found[1].split()[2:])
    body = text[found.end() :]
    body = _COMMENT.sub("", _METADATA.sub("", body)).replace("xlink:href", "href")
    used = set(_USED.findall(body))
    body = _ID.sub(lambda each: each[0] if each[1] in used else "", body)
    body = _EMPTY.sub("", _FONT.sub("system-ui, sans-serif", body))
    body = _COLOUR.sub(lambda colour: variables.get(colour[0], colour[0]), body)
    name = html.escape(" ".join(title.split()))
    size = f'width="{width * _PIXELS:.0f}" height="{height * _PIXELS:.0f}" viewBox="{found[1]}"'
    root = f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-label="{name}" {size}>'
    return f"{root}\n<title>{name}</title>\n{body.strip()}\n"
