"""Values of a secret's name that are more than one word: joined, in brackets, of several lines.

redaction_rules.py applies these rules around those of its own names, which hide one word. Every
pattern is linear in the text: what repeats has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from pulsus.core.telemetry.secret_rules.redaction_forms import any_mark, group_rules, hide_in_lines
from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_NAME: Final = (
    r"(?:password|passwd|passphrase|passwort|kennwort|passcode|mot[ ]de[ ]passe|secret|token"
    r"|api[_-]?key|(?:access|private|secret|signing|encryption)[_-]?key|(?<=[_-])(?:pwd|pass))"
)
_LINE_NAME: Final = (
    r"(?:password|passwd|passphrase|passwort|kennwort|passcode|mot[ ]de[ ]passe|secret|api[_-]?key"
    r"|pwd|pass)"
)
_SIGN: Final = r"\\*[\"']?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}"

_PRINTED: Final = (
    # What another command prints: `password=$(echo …)`.
    rf"(?i:({_NAME}=[\"']?)(?:\$\([^()\r\n]{{1,300}}\)|`[^`\r\n]{{1,300}}`))",
)
_TYPED: Final = (
    # A type, or an address, stands before the value.
    rf"(?i:({_NAME}\\*[\"']?\]?[ \t]{{0,8}}(?:=>|:|=|<-)?[ \t]{{0,8}}"
    r"(?:string\(\d{1,4}\)|0x[\da-f]{1,16}"
    r"|&?(?:'\w{1,10} )?\w{1,20}(?:\(\d{1,4}\))?[ \t]{0,3}:?=[ \t]{0,3}N?|(?<=<-)[ \t]?)"
    r"[ \t]{0,3}\\*[\"'])(?!\[)[^\"'\\\r\n]+)",
    r"(?i:(@(?:pwd|pass)[ \t]{1,8}\w{1,20}(?:\(\d{1,4}\))?[ \t]{0,3}=[ \t]{0,3}N?')"
    r"(?!\[)[^'\r\n]+)",
    rf"(?i:(#define[ \t]{{1,8}}\w{{0,60}}?{_NAME}[ \t]{{1,8}}\")(?!\[)[^\"\r\n]+)",
)
_TYPED_MARKS: Final = ("string(", "0x", " string", "str =", "str=", "char", "define", "<-", "@p")
_ANSWERED: Final = late_pattern(
    # A program that waits for the question of another one, and answers it.
    r"(?i:(\bexpect(?:_exact)?\b[^\r\n]{0,200}?(?:assw|assphrase|passcode|\bpin\b)[^\r\n]{0,60}?"
    r"[\s;{)]{1,20}(?:[\w.]{1,40}\.)?(?:exp_)?send(?:_user|line)?"
    r"(?:[ \t]{1,8}-{1,2}\w{0,8})?[ \t(]{1,8}\\*[\"']?)(?!\[)[^\"'\\\r\n\s)}]+)",
    words=("expect",),
)
_MANY: Final = late_pattern(
    r"[:=]>?[ \t]{0,8}(?:<<-?[\"']?(?P<end>\w{1,20})[\"']?\r?\n(?:[^\r\n]{0,2000}\r?\n){1,40}?"
    r"[ \t]{0,40}(?P=end)\b|\[(?!redacted\])[^\[\](){}]{1,1000}\]|\((?!\))[^\[\](){}]{1,1000}\)"
    # A set of words, and no object with members.
    r"|\{[^\[\](){}:]{1,1000}\}"
    # A quoted text of several lines, the later ones indented.
    r"|(?P<quote>[\"'])(?!\[redacted\])[^\"'\r\n]{1,400}\r?\n"
    r"(?:[ \t][^\"'\r\n]{0,400}\r?\n){0,20}"
    r"[ \t][^\"'\r\n]{0,400}(?P=quote)(?=[ \t]*,?[ \t]*(?:\r?\n|\Z)))"
)
"""Values that are in brackets, or more than one line."""
_NAMED_BEFORE: Final = late_pattern(
    rf"(?i:(?:{_NAME}|(?<![a-z])(?P<many>(?:password|passwd|secret|api_?key)s))"
    r"\\*[\"']?[ \t]{0,8}:?)\Z"
)
_FIRST: Final = late_pattern(r"[:=]>?[ \t]*")
_JOINT: Final = late_pattern(
    r"['\"\\](?<=[A-Za-z_-]['\"\\])"
    r"(?:['\"](?=[\w=: -])|[\w-]{1,20}['\"](?=[\w=: ])|\r?\n?(?=[A-Za-z]))",
    words=("'", '"', "\\"),
)
"""Quotes, a backslash or a continued line that split a word."""
_SPLIT: Final = late_pattern(
    r"[\w-]{1,41}(?:(?:''|\"\"|'[\w-]{1,20}'|\"[\w-]{1,20}\"|\\(?:\r?\n)?)[\w-]{0,40}){1,6}"
    r"(?=[ \t]{0,4}[=:]|[ \t]{1,4}\S)"
)
_MOST_NAME: Final = 60
_WORD_BEFORE: Final = late_pattern(r"[\w-]*\Z")
_QUOTES: Final = late_pattern(r"['\"\\\r\n]+")
_FULL_NAME: Final = late_pattern(rf"(?i:{_NAME})\Z")

_JOINED: Final = (
    # Quoted pieces side by side are one word to a shell: `password='a'"b"`.
    r"(=\$?[\"']?\[redacted\])(?:(?:\\?[\"'](?=[\w\"'$\\@!#%^*+~-]))(?!\"\")"
    r"[^\s\"'\\,;(){}\[\]]{0,200}(?:[\"'](?:[^\"'\r\n]{1,200}[\"'])?(?=[\s;|&]|\Z))?){1,8}",
)
_REST: Final = (
    # A value of several words. Another setting, a comment or code ends it.
    rf"(?i:(^[ \t]{{0,40}}(?:(?:-|export|set)[ \t]{{1,4}})?\\*[\"']?[\w.-]{{0,60}}?{_LINE_NAME}"
    r"[\"']?(?:[ \t]{0,4}:[ \t]{1,20}|[ \t]{1,4}=[ \t]{0,20}|(?-i:(?<=[a-z])=)"
    r"|(?-i:(?<=[A-Z])=)(?![^\r\n]{0,20}\][ \t]{1,8}(?:[a-z./]|[A-Z]\w{0,40}=))))"
    r"\[redacted\][ \t]{1,20}(?![#/(\[;|&,)}-]|(?:if|else|or|and|for|in|is|not|as)\b)"
    r"(?![^\r\n]{0,300}[\w\"'][ \t]?[:=])[^\r\n\"']{1,300}$)",
)


def _join_names(text: str) -> str:
    """Return the text with names of secrets whole that quotes or a continued line split."""
    parts, position = [], 0
    for joint in _JOINT.finditer(text):
        first = max(position, joint.start() - _MOST_NAME)
        start = joint.start() - len(_WORD_BEFORE.findall(text[first : joint.start()])[0])
        found = _SPLIT.match(text, start) if start >= position else None
        if found and _is_split_name(found[0]):
            parts += [text[position:start], _QUOTES.sub("", found[0])]
            position = found.end()
    return "".join(parts) + text[position:] if parts else text


def _is_split_name(word: str) -> bool:
    """Return True for a word that names a secret without its quotes, and with them does not."""
    whole = _FULL_NAME.search(_QUOTES.sub("", word))
    return whole is not None and not _FULL_NAME.search(word.rstrip("\"'"))


_BEFORE_LINES: Final = (
    group_rules(_TYPED, _TYPED_MARKS),
    group_rules(_PRINTED, ("=$(", '="$(', "='$(", "=`", '="`')),
)
_AFTER_LINES: Final = (group_rules((*_JOINED, *_REST), (MARK,)),)


def _hide_many(text: str) -> str:
    """Hide values in brackets, and those of several lines."""

    def hide(found: re.Match[str]) -> str:
        before = text[max(0, found.start() - _MOST_NAME) : found.start()]
        named = _NAMED_BEFORE.search(before)
        if not named or (named["many"] and found[0][0] == ":"):
            return found[0]
        quote = found["quote"] or ""
        return f"{_FIRST.findall(found[0])[0]}{quote}{MARK}{quote}"

    return _MANY.sub(hide, text)


VALUES: Final[tuple[Callable[[str], str], ...]] = (
    _join_names,
    partial(hide_in_lines, rules=_BEFORE_LINES, marks=any_mark(_BEFORE_LINES)),
    lambda text: _ANSWERED.sub(rf"\1{MARK}", text) if "expect" in text else text,
    _hide_many,
)
"""Rules that come before those which hide one word."""
RESTS: Final[tuple[Callable[[str], str], ...]] = (
    partial(hide_in_lines, rules=_AFTER_LINES, marks=any_mark(_AFTER_LINES)),
)
"""Rules that hide what follows a hidden word."""
