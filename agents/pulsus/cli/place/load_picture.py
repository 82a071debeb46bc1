"""The load of each host before and after a plan, as an SVG picture. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_ROW = 28
_LEFT = 120
_WIDE = 400


def load_svg(shares: Mapping[str, tuple[float, float]]) -> str:
    """Return the picture: two bars for each host, the upper one before, the lower one after."""
    high = _ROW * len(shares) + 50
    rows = "".join(
        _row(name, before, after, 40 + number * _ROW)
        for number, (name, (before, after)) in enumerate(shares.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDE + 140}" height="{high}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="RAM of each host">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n<text x="{_LEFT}" y="20">RAM in use: '
        "grey before, blue after</text>\n"
        f"{rows}</svg>\n"
    )


def _row(name: str, before: float, after: float, top: int) -> str:
    def bar(share: float, y: int, colour: str) -> str:
        wide = round(min(1.0, share) * _WIDE, 1)
        return f'<rect x="{_LEFT}" y="{y}" width="{wide}" height="9" fill="{colour}"/>\n'

    return (
        f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name[:16])}</text>\n'
        + bar(before, top, "#9aa0a6")
        + bar(after, top + 11, "#1a73e8")
        + f'<text x="{_LEFT + _WIDE + 8}" y="{top + 14}">{before:.1%} → {after:.1%}</text>\n'
    )
