"""Does the request ask for what changed lately, and the tool find what did not, or the reverse?

"files changed in the last 2 days" shares its words with a tool for files that stayed unchanged, and
is its opposite. Nothing in a count of words shows that. The score of such a tool is halved in
`scorer.py`. Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern

Age = Literal["old", "recent"]

_DONE = (
    r"(?:(?:chang|touch|edit|updat|us|access|creat|add|open|mov)ed"
    r"|modified|written|read|changing)\b"
)
_NEGATION = (
    r"\b(?:not|never|nobody|no\s+one|nothing|none|without|isn|wasn|hasn|haven|weren|aren|didn)\b"
)
_LEFT_ALONE = late_pattern(
    rf"(?i){_NEGATION}[^,.;:!?]{{0,40}}?\b{_DONE}|\bun(?:touched|changed|used|modified|accessed)\b"
    rf"|\b{_DONE}[^,.;:!?]{{0,40}}?\b(?:longer|more)\s+than\s+[^,.;:!?]{{1,20}}\bago\b",
    words=(
        "not",
        "never",
        "nobody",
        "one",
        "without",
        "isn",
        "wasn",
        "hasn",
        "haven",
        "weren",
        "aren",
        "didn",
        "untouched",
        "unchanged",
        "unused",
        "unmodified",
        "unaccessed",
        "ago",
    ),
)
_OLD = late_pattern(
    r"(?i)\b(?:stale|old|older|oldest|outdated)\b|(?<!\S)-[acm](?:time|min)\s+\+\d",
    words=("stale", "old", "outdated", "-atime", "-ctime", "-mtime", "-amin", "-cmin", "-mmin"),
)
_SPAN = (
    r"(?:(?:in|within|during|over|for|from)\s+(?:the\s+|these\s+)?(?:last|past)\b"
    r"|(?:in|within)\s+\d+\s+(?:minutes?|hours?|days?|weeks?|months?)\b"
    r"|since\b|today\b|yesterday\b|recently\b|lately\b|just\s+now\b|this\s+(?:morning|week|month)\b"
    r"|last\s+(?:night|week|month|hour)\b|less\s+than\s+[^,.;:!?]{1,20}\bago\b)"
)
_RECENT = late_pattern(
    rf"(?i)\b{_DONE}[^,.;:!?]{{0,40}}?\b{_SPAN}|\b(?:recently|lately|today|just|newly)\s+{_DONE}"
    r"|\b(?:newer|younger|fresher)\s+than\b|\b(?:newest|youngest|latest)\s+files?\b"
    r"|(?<!\S)-[acm](?:time|min)\s+-\d|(?<!\S)-newer\b",
    words=(
        "last",
        "past",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "since",
        "recently",
        "lately",
        "now",
        "morning",
        "ago",
        "just",
        "newly",
        "newer",
        "younger",
        "fresher",
        "newest",
        "youngest",
        "latest",
        "-atime",
        "-ctime",
        "-mtime",
        "-amin",
        "-cmin",
        "-mmin",
    ),
)


def age_asked_for(request: str) -> Age | None:
    """Return "recent" for what changed lately, "old" for what did not; None for both or neither."""
    return _find_age(request)


def age_mismatch(asked: Age | None, tool: ToolSpec) -> str | None:
    """Return why request and tool are opposites, in one line; None if they are not."""
    own = _find_age_of_tool(tool.name, tool.summary) if asked else None
    if own is None or own == asked:
        return None
    told = {"recent": "what changed lately", "old": "what stayed unchanged for long"}
    return f"the request asks for {told[asked or own]}, the tool finds {told[own]}"


@lru_cache(maxsize=16384)
def _find_age_of_tool(name: str, summary: str) -> Age | None:
    return _find_age(f"{name.replace('_', ' ')}. {summary}")


def _find_age(text: str) -> Age | None:
    alone = _LEFT_ALONE.search(text)
    old = bool(alone or _OLD.search(text))
    recent = not alone and bool(_RECENT.search(text))
    if old == recent:
        return None
    return "old" if old else "recent"
