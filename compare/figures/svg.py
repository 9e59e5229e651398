"""A figure's ``<svg>`` element as matplotlib writes it, made part of a page or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape


def for_page(element: str, name: str, titles: Mapping[str, str]) -> str:
    """An ``<svg>`` element as part of a page: identifiers start with `name`, and links to runs have `titles`."""
    own = set(re.findall(r'\bid="([^"]+)"', element))

    def prefixed(match: re.Match[str]) -> str:
        before, identifier = match.groups()
        return f"{before}{name}-{identifier}" if identifier in own else match.group()

    element = re.sub(r'(\bid="|href="#|url\(#)([^")]+)', prefixed, element)
    element = re.sub(
        r'<a xlink:href="#(run-[0-9]+)"[^>]*>',
        lambda match: f'<a href="#{match[1]}"><title>{escape(titles.get(match[1], match[1]))}</title>',
        element,
    )
    # As wide as the page, but not so wide that a single panel looks enlarged.
    element = re.sub(
        r'^<svg ([^>]*?)width="([\d.]+)pt" height="[^"]*"',
        lambda match: f'<svg {match[1]}style="max-width: {2 * float(match[2]):.0f}px"',
        element,
    )
    return re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", element.replace("xlink:href", "href")).strip()


def as_file(element: str) -> bytes:
    """An ``<svg>`` element as a file."""
    return ('<?xml version="1.0" encoding="utf-8"?>\n' + element).encode()
