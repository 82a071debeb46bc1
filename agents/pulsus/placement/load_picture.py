"""The memory (RAM) of each host before and after a plan: as an SVG picture, and as blocks of text.
Pure.

A host above 100 % is red. `cli/place/place_command.py` writes the picture (`--plot`), and
`placement_text.py` there prints the rest of a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

_ROW = 28
_LEFT = 140
_WIDE = 400
_BEFORE, _AFTER, _OVER = "#9aa0a6", "#1a73e8", "#c5221f"
_NAME = 18
"""Characters of a host's name in the picture. The whole name is its tooltip."""
_TITLE = "RAM of each host before and after the plan"
_BLOCKS = 20
"""Characters of a bar in the terminal."""

Shares = Mapping[str, tuple[float, float]]
"""The RAM share of each host before and after, where 1.0 is all of its RAM."""


def picture_objection(data: bytes) -> str:
    """Return why the content is no picture of `load_svg`, or ''."""
    return "" if f'aria-label="{_TITLE}"'.encode() in data else f"its label is not {_TITLE!r}"


def load_svg(shares: Shares) -> str:
    """Return the picture: two bars for each host, the upper one before, the lower one after.

    A bar above 100 % is red, and ends at 100 %.
    """
    high, wide = _ROW * len(shares) + 50, _LEFT + _WIDE + 150
    rows = "".join(
        _row(name, before, after, 40 + number * _ROW)
        for number, (name, (before, after)) in enumerate(shares.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="{_TITLE}">\n'
        f'<rect width="{wide}" height="{high}" fill="#fff"/>\n'
        f'<text x="{_LEFT}" y="20" fill="#202124">RAM in use: grey before, blue after</text>\n'
        f'{rows}<line x1="{_LEFT + _WIDE}" y1="32" x2="{_LEFT + _WIDE}" y2="{high - 8}" '
        'stroke="#dadce0"/>\n</svg>\n'
    )


def _row(name: str, before: float, after: float, top: int) -> str:
    shown = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    return (
        f"<g><title>{escape(name)}: {before:.1%} before, {after:.1%} after</title>\n"
        f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end" fill="#202124">'
        f"{escape(shown)}</text>\n"
        + _bar(before, top, _BEFORE)
        + _bar(after, top + 11, _AFTER)
        + f'<text x="{_LEFT + _WIDE + 8}" y="{top + 14}" fill="#202124">'
        f"{before:.1%} → {after:.1%}</text></g>\n"
    )


def _bar(share: float, top: int, colour: str) -> str:
    wide = round(min(1.0, max(0.0, share)) * _WIDE, 1)
    fill = _OVER if share > 1 else colour
    return f'<rect x="{_LEFT}" y="{top}" width="{wide}" height="9" fill="{fill}"/>\n'


def load_lines(shares: Shares) -> Iterator[str]:
    """Yield a line for each host: its name, and a bar and a share before and after."""
    wide = max(map(len, shares), default=0)
    for name, (before, after) in shares.items():
        yield f"{name:<{wide}}  {_blocks(before)} {before:>6.1%}  {_blocks(after)} {after:>6.1%}"


def _blocks(share: float) -> str:
    full = max(0, min(_BLOCKS, round(share * _BLOCKS)))
    return "█" * full + "░" * (_BLOCKS - full)
