"""Artifact clean-up (DeepSeek and others): cut tool-call markup from text (deep dive §15). Pure.

The name of a leaked call is compared with the offered tools. `agent/loop/agent_loop.py` withdraws
the text.

A leak and everything behind it is cut: what follows a call that nothing ran is invented. The same
text is cut at the same place whether it comes whole or in parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from pulsus.fast_dataclass import dataclass

_Step = Callable[[str, int], int | None]
"""Reads text at a position. Returns the position behind, or None if the text does not fit. Raises
_TextEndsError if the text ends before that is known."""

_TAGS: Final = (
    *("tool_calls", "tool_call", "function_calls", "function_call", "tool_use", "tool_code"),
    *("invoke", "function=", "minimax:tool_call", "antml:", "dsml", "end▁of▁thinking"),
)
"""Tags of Hermes and Qwen, Llama (`function=`), MiniMax, Claude and DeepSeek."""
_BARE: Final = ("minimax:tool_call", "[tool_calls]")
_FENCES: Final = ("tool_calls", "tool_call", "tool_code", "tool_use", "tool")
_ARGUMENT_KEYS: Final = ("parameters", "arguments", "input", "args", "params")
_CALL_KEYS: Final = ("tool_calls", "tool_call", "function_call")
_NAME_KEYS: Final = ("name", "tool_name", "tool", "function")

_END: Final = "\0"
"""Stands behind a whole text. It fits no shape, so nothing waits for more text."""

_NAME: Final = re.compile(r"[\w.-]+")
_BARS: Final = re.compile(r"[|｜]{1,2}")
_TOKEN: Final = re.compile(r"[\w▁][\w▁ ]*")
_SPACE: Final = re.compile(r"\s*")
_LANGUAGE: Final = re.compile(r"[a-z]*")
_CANDIDATE: Final = re.compile(r"[<`{\[]|(?<!\w)\w")
"""A leak begins at such a place only."""


class _TextEndsError(Exception):
    """The text may go on to be a leak."""


@dataclass(frozen=True, slots=True)
class MarkupLeak:
    """A leak in a text: `start` is the index of its first character, `cut` the end of what stays.

    A JSON call and a fenced call begin with the line break before them.
    """

    start: int
    cut: int


def find_leak(text: str, tools: Iterable[str]) -> MarkupLeak | None:
    """Return the first leak, or None. `tools` are the names of the tools that a model may call."""
    start, _ = _scan(text + _END, frozenset(tools), before="")
    if start is None:
        return None
    kept = len(text[:start].rstrip())
    begins_line = text[start] in "`{[" and "\n" in text[kept:start]
    return MarkupLeak(kept if begins_line else start, kept)


def remove_leaks(text: str, tools: Iterable[str]) -> str:
    """Return the text up to its first leak, without space at its end; all of it without a leak."""
    leak = find_leak(text, tools)
    return text if leak is None else text[: leak.cut]


def split_name_prefix(text: str, tools: Iterable[str]) -> tuple[str, str]:
    """Return the text, and the word at its end that may become the name of a tool."""
    last = re.search(r"(?<!\w)[\w.-]+\Z", text)
    if last and any(name.startswith(last[0]) for name in tools):
        return text[: last.start()], last[0]
    return text, ""


@dataclass(frozen=True, slots=True)
class MarkupFilter:
    """Removes leaks from a text that comes in parts. Frozen: each part gives the next filter.

    `held` is text that may be the beginning of a leak, or space before one. `leaked` is True once
    a leak was seen: the rest of the text is dropped.
    """

    tools: frozenset[str]
    held: str = ""
    shown_last: str = ""
    leaked: bool = False

    def feed(self, part: str) -> tuple[MarkupFilter, str]:
        """Return the next filter, and the text that can be shown now."""
        return self._take(self.held + part, at_end=False)

    def finish(self) -> tuple[MarkupFilter, str]:
        """Return the last filter, and the rest of the text."""
        return self._take(self.held, at_end=True)

    def _take(self, text: str, *, at_end: bool) -> tuple[MarkupFilter, str]:
        if self.leaked:
            return self, ""
        whole = text + _END if at_end else text
        start, waits = _scan(whole, self.tools, before=self.shown_last)
        if start is not None:
            return replace(self, held="", leaked=True), text[:start].rstrip()
        if at_end:
            return replace(self, held=""), text
        shown = text[:waits].rstrip()
        last = shown[-1:] or self.shown_last
        return replace(self, held=text[len(shown) :], shown_last=last), shown


def _scan(text: str, tools: frozenset[str], *, before: str) -> tuple[int | None, int]:
    """Return the start of the first leak, and the place from which the text has to wait.

    `before` is the character before the text. A text that ends in `_END` never waits.
    """
    shapes = _shapes(tools)
    for place in _CANDIDATE.finditer(text):
        start = place.start()
        if start == 0 and before and _is_word(before) and _is_word(text[0]):
            continue
        try:
            if any(_fits(shape, text, start) for shape in shapes):
                return start, start
        except _TextEndsError:
            return None, start
    return None, len(text)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fits(shape: Sequence[_Step], text: str, at: int) -> bool:
    for step in shape:
        behind = step(text, at)
        if behind is None:
            return False
        at = behind
    return True


@lru_cache(maxsize=16)
def _shapes(tools: frozenset[str]) -> tuple[Sequence[_Step], ...]:
    """Return the shapes of leaks."""
    tool = partial(_tool_name, tools)
    space = partial(_run_of, _SPACE)
    brace, quote = partial(_word, ("{",)), partial(_word, ('"',))
    call = (tool, partial(_word, ("(",)))
    json_call = (
        *(brace, space, quote, partial(_word, _NAME_KEYS), quote, space, partial(_word, (":",))),
        *(space, quote, tool, quote, space, _arguments_or_end),
    )
    json_calls = (brace, space, quote, partial(_word, _CALL_KEYS), quote)
    fence = partial(_word, ("```",))
    behind_fence = (fence, partial(_run_of, _LANGUAGE), space)
    plain = (call, json_call, json_calls, (partial(_word, ("[",)), space, *json_call))
    return (
        (partial(_word, ("</", "<")), partial(_word, _TAGS)),
        (partial(_word, ("<",)), partial(_some_of, _BARS), partial(_some_of, _TOKEN), _bar),
        (partial(_word, _BARE),),
        (fence, partial(_word, _FENCES), _no_word),
        *plain,
        *((*behind_fence, *shape) for shape in plain),
    )


def _word(words: Sequence[str], text: str, at: int) -> int | None:
    """Read one of the words, in letters of either case. Longer words come first."""
    rest = text[at : at + max(map(len, words))].lower()
    if at + len(rest) == len(text) and any(w.startswith(rest) and w != rest for w in words):
        raise _TextEndsError
    return next((at + len(word) for word in words if rest.startswith(word)), None)


def _run_of(pattern: re.Pattern[str], text: str, at: int) -> int | None:
    """Read as much as the pattern takes, possibly nothing."""
    found = pattern.match(text, at)
    if found is None or found.end() == len(text):
        raise _TextEndsError
    return found.end()


def _some_of(pattern: re.Pattern[str], text: str, at: int) -> int | None:
    """Read as much as the pattern takes, at least one character."""
    found = pattern.match(text, at)
    if at == len(text) or (found and found.end() == len(text)):
        raise _TextEndsError
    return found.end() if found else None


def _tool_name(tools: frozenset[str], text: str, at: int) -> int | None:
    """Read the whole name of a tool."""
    found = _NAME.match(text, at)
    if at == len(text) or (found and found.end() == len(text)):
        begun = found[0] if found else ""
        if any(name.startswith(begun) for name in tools):
            raise _TextEndsError
        return None
    return found.end() if found and found[0] in tools else None


def _bar(text: str, at: int) -> int | None:
    return at + 1 if text[at] in "|｜" else None


def _no_word(text: str, at: int) -> int | None:
    if at == len(text):
        raise _TextEndsError
    return None if _is_word(text[at]) else at


def _arguments_or_end(text: str, at: int) -> int | None:
    """Read the end of the object, or the key of the arguments: a list of tools has neither."""
    behind = _word(("}", ","), text, at)
    if behind is None or text[at] == "}":
        return behind
    behind = _run_of(_SPACE, text, behind)
    behind = None if behind is None else _word(('"',), text, behind)
    return None if behind is None else _word(_ARGUMENT_KEYS, text, behind)
