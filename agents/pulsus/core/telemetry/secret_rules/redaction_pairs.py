"""Secrets whose name stands apart from their value: pairs of fields, members, the next line.

redaction_rules.py applies these rules after those of its own names. Where the words between are
ordinary ones, the value decides: a secret has letters and digits. Every pattern is linear in the
text: what repeats has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from pulsus.core.telemetry.secret_rules.redaction_forms import (
    Marked,
    any_mark,
    hide_in_lines,
    hide_value,
)
from pulsus.core.telemetry.secret_rules.redaction_words import LIKELY, RANDOM
from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_PASSWORD: Final = r"(?:password|passwd|passphrase|passwort|kennwort|passcode)"
_NAME: Final = (
    rf"(?:{_PASSWORD}|secret|token|api[_-]?key|(?:access|private|secret|signing|master)[_-]?key)"
)
_SIGN: Final = r"\\*[\"']?[ \t]{0,8}(?:=>|::|:=|[:=])[ \t]{0,8}\\*[\"']?"
_FIELD: Final = r"\\*[\"']?[ \t]{0,8}:[ \t]{0,8}\\*[\"']?"
_LISTED_NAME: Final = rf"\\*[\"'][\w.-]{{0,60}}?{_NAME}\\*[\"'],"
_IS: Final = r"\\*[\"']?[ \t]{0,8}[:=][ \t]{0,8}\\*[\"']?"
_KIND: Final = r"(?:parameter|variable|setting|secret)?_?"
_HEX: Final = r"(?<![\w-])[0-9a-f]{32,128}(?![\w-])"

_WORDS: Final = ("pass", "kennwort")
_ANY_NAME: Final = ("pass", "kennwort", "secret", "token", "key")
_LISTED_NAMES: Final = tuple(
    f"{end}{quote},"
    for end in (
        "word",
        "wd",
        "wort",
        "phrase",
        "code",
        "cret",
        "ken",
        "key",
        "epass",
        "pw",
        "pwd",
        "pass",
    )
    for quote in ('"', "'")
)
"""Ends of the names of secrets in a list of quoted words."""

_IN_LINES: Final[Mapping[str, tuple[str, ...]]] = {
    # A name that a word or an index follows: `password[0]=`, `Password (again):`.
    rf"(?i:({_NAME}[ \t]?(?:\[[\w\"']{{0,20}}\]|\([\w -]{{0,20}}\)|\.value){_SIGN}){LIKELY})": (
        *("]=", "]:", "] =", "] :", '"]', ")=", "):", ") =", ") :", ".value"),
    ),
    # A server tells the password that it made: `password is generated for root@localhost: …`.
    rf"(?i:(\b{_PASSWORD}\b[^\r\n:=\"'`|]{{1,80}}:[ \t]{{1,3}})(?!`)(?=\S{{0,99}}\d){LIKELY}"
    r"(?=[ \t.]*\r?\Z))": _WORDS,
    # LDAP: the password of the root of a directory, plain or in base64.
    r"(?i:(\b(?:olc)?rootpw::?[ \t]{1,8})(?!\[)\S+)": ("rootpw",),
    r"(?i:(\b(?:unicodepwd|(?:user|sambant|sambalm)password)::[ \t]{1,8})(?!\[)\S+)": (
        *("pwd::", "password::"),
    ),
    rf"(?i:(\b\w{{0,40}}cookie{_SIGN})(?-i:{RANDOM}))": ("cookie",),
    rf"(?i:(\bbearer:[ \t]{{0,3}})(?-i:{RANDOM}))": ("bearer:",),
    # Names that also tell a number or a state: the value is one that no sentence has.
    r"(?i:((?<![a-z0-9])(?:(?:[a-z0-9]{1,20}[_-])?(?:jwt|auth|ticket|session_?id|sid|auth_?key"
    r"|passkey|unlock_?code|cookie_?key|nonce|salt|hmac|tsig|snmp_?community)|pword|passw)"
    rf"\\*[\"']?[ \t]{{0,8}}(?:=>|:=|=)[ \t]{{0,8}}\\*[\"']?)(?-i:{RANDOM}|{_HEX}))": (
        *("jwt", "auth", "ticket", "session", "sid=", "sid =", "passkey", "unlock", "nonce"),
        *("salt", "hmac", "tsig", "community", "pword", "passw=", "cookie"),
    ),
    r"(?i:((?<![a-z0-9])(?:jwt|auth|ticket|auth_?key|passkey)\\*[\"']?[ \t]{0,8}:[ \t]{0,8}"
    rf"\\*[\"']?)(?-i:{RANDOM}))": ("jwt", "auth", "ticket", "passkey"),
    # A row of a record that is written downwards.
    rf"(?i:(^[ \t|]{{0,20}}[\w.-]{{0,60}}?{_NAME}[ \t]{{0,60}}\|[ \t]{{1,20}})(?=\S{{0,99}}\d)"
    rf"{LIKELY})": _ANY_NAME,
    # A call that sets a variable, and a pair of a list: `setenv("PASSWORD", "…")`.
    rf"(?i:(\b(?:set|put|add|append|define|replace|insert|update|header|config|env|with)\w{{0,40}}\("
    rf"(?:[ \t]?[bru]?[\"'][^\"'\r\n]{{0,60}}[\"'],){{0,2}}[ \t]?{_LISTED_NAME}"
    r"[ \t]{0,8}[bru]?\\*[\"'])(?!\[)[^\"'\\\r\n]+(?=\\*[\"']))": _LISTED_NAMES,
    rf"(?i:([\[(][ \t]?{_LISTED_NAME}[ \t]{{0,8}}[bru]?\\*[\"'])"
    rf"{LIKELY}(?=\\*[\"'][\])]))": _LISTED_NAMES,
    rf"(?i:([\[(][\[(][^\[\]()\r\n]{{0,200}}[\])],[ \t]{{0,8}}[\[(]{_LISTED_NAME}"
    r"[ \t]{0,8}[bru]?\\*[\"'])(?!\[)[^\"'\\\r\n]+(?=\\*[\"'][\])]))": _LISTED_NAMES,
    r"(?i:(\bheaders?\[[\"']authorization[\"']\][ \t]?=[ \t]?[bru]?[\"'])(?!\[)[^\"'\r\n]+)": (
        "authorization",
    ),
    # An option, and its value, as a program gets its words.
    rf"(?i:((?<=[\"'])--?(?:[a-z0-9]{{1,20}}[_-]){{0,4}}(?:{_NAME}|requirepass|pw|pwd|pass)\\*[\"'],"
    r"[ \t]{0,8}\\*[\"'])(?!\[redacted\]|-)[^\"'\\\r\n]+(?=\\*[\"'][ \t]{0,4}[,\])]))": (
        _LISTED_NAMES
    ),
    # The member of an object that has the value: `"password":{"value":"…"}`.
    rf"(?i:({_NAME}\\*[\"'][ \t]{{0,8}}:[ \t]{{0,8}}(?:\{{|\[redacted\])[^{{}}\r\n]{{0,200}}?"
    rf"\b(?:value|data|raw|plain(?:text)?|content){_FIELD})(?!\[)[^\"'\\\s,}}]+)": _ANY_NAME,
}
_IN_TEXT: Final[Mapping[str, tuple[str, ...]]] = {
    # Other fields may stand between the name and the value, and the sign may be another one.
    rf"(?i:((?:name|key|param){_IS}[\w.-]{{0,60}}?{_NAME}\\*[\"']?(?:,[ \t]{{0,8}}|,?\s{{1,80}})"
    r"(?:\\*[\"']?\w{1,30}\\*[\"']?[ \t]?[:=][^\r\n,:={}]{0,80}"
    r"(?:,[ \t]{0,8}|,?\r?\n[ \t]{0,80})){0,3}"
    rf"\\*[\"']?\w{{0,12}}val(?:ue)?{_IS})(?!\[)[^\s\"',;}}\]]+)": ("val",),
    # The default of a variable, as Terraform declares it.
    rf"(?i:(\bvariable[ \t]{{1,8}}\"[\w-]{{0,60}}?{_NAME}\"[ \t]{{0,8}}\{{[^{{}}]{{0,300}}?"
    r"\bdefault[ \t]{0,8}=[ \t]{0,8}\")(?!\[)[^\"\r\n]+)": ("variable",),
    # A part of a form that is sent in parts.
    rf"(?i:(\bname=\\*[\"'][\w.\[\]-]{{0,60}}?{_NAME}\]?\\*[\"'][^\r\n\"']{{0,100}}?(?:(?:\\r)?(?:\r?\n|\\n)){{2}})"
    r"(?![\[<-])[^\s\"'<\\][^\r\n\"'<\\]*)": ("name=",),
    # An option and its value as items of a list in YAML.
    rf"(?i:(-[ \t]{{1,4}}[\"']?--?(?:[a-z0-9]{{1,20}}[_-]){{0,4}}{_NAME}[\"']?[ \t]{{0,4}}\r?\n"
    r"[ \t]{0,80}-[ \t]{1,4}[\"']?)(?![-\[])[^\s\"'][^\r\n\"']*)": ("- -", '- "-', "- '-"),
    # Users and passwords of a new machine, as cloud-init reads them.
    r"(?i:(\bchpasswd:[ \t]*\r?\n(?:[ \t]{1,40}expire:[^\n]{0,40}\n)?[ \t]{1,40}list:"
    r"[ \t]*[|>]?[-+]?[ \t]*\r?\n)(?:[ \t]{1,40}[^\s\[]\S*[ \t]*(?:\r?\n|\Z)){1,50})": (
        "chpasswd:",
    ),
    # The value stands before its name.
    rf"(?i:(\b{_KIND}value{_FIELD})(?!\[)[^\"'\s,{{}}\[\]]{{1,400}}(?=\\*[\"']?(?:,\s{{0,80}}"
    rf"|\s{{1,80}})\\*[\"']?{_KIND}(?:name|key){_FIELD}[\w.-]{{0,60}}?{_NAME}\\*[\"']?(?:[\s,}}]"
    r"|\Z)))": ("value:", 'value"', "value'", "value\\", "value "),
    r"(?i:(<input\b[^<>]{0,200}?\btype=\\*[\"']password\\*[\"'][^<>]{0,200}?\bvalue=\\*[\"'])(?!\[)"
    r"[^\"'\\<>]+)": ("<input",),
    r"(?i:(<input\b[^<>]{0,200}?\bvalue=\\*[\"'])(?!\[)[^\"'\\<>]+(?=\\*[\"'][^<>]{0,200}?"
    r"\btype=\\*[\"']password\\*[\"']))": ("<input",),
    # Property lists and settings in XML.
    rf"(?i:(<(?:key|string|name)>[\w .-]{{0,60}}?{_NAME}</\w{{1,20}}>\s{{0,80}}<(?:string|value"
    r"|data)>)(?!\[)[^<]+)": ("</key>", "</string>", "</name>"),
    rf"(?i:(<\w[^<>\r\n]{{0,200}}?\b(?:name|key|id)=[\"'][\w.-]{{0,60}}?{_NAME}[\"']"
    r"[^<>\r\n]{0,100}>\s{0,80}<\w{1,20}>)(?!\[)[^<\s][^<]*)": ("name=", "key=", "id="),
}
_ALONE: Final = late_pattern(
    rf"(?m:^([ \t]{{0,40}}:?[ \t]{{0,8}}[\"']?)(?:{RANDOM})(?=[\"']?,?[ \t\r]*$))"
)
"""A line that is one word which no sentence has."""
_ANNOUNCES: Final = late_pattern(
    rf"(?i:{_NAME}[\"']?(?:[^:=]{{0,60}}[:=][ \t]{{0,8}}\\?)?[ \t\r]*\Z)"
)
_MOST_BEFORE: Final = 160


def _hide_next_line(text: str) -> str:
    """Hide a line of one word below a line that ends with the name of a secret and a sign."""

    def hide(found: re.Match[str]) -> str:
        before = (
            text[max(0, found.start() - _MOST_BEFORE) : found.start()].rstrip().rpartition("\n")
        )
        told = _ANNOUNCES.search(before[2])
        named = told and (before[2].rstrip("\\ \t\r")[-1:] in {":", "="} or ":" in found[1])
        return f"{found[1]}{MARK}" if named else found[0]

    return _ALONE.sub(hide, text)


def _table(patterns: Mapping[str, tuple[str, ...]]) -> tuple[Marked, ...]:
    return tuple((marks, hide_value(pattern)) for pattern, marks in patterns.items())


_LINE_RULES: Final = _table(_IN_LINES)
_TEXT_RULES: Final = (
    *_table(_IN_TEXT),
    (("pass", "secret", "token", "key", "kennwort"), _hide_next_line),
)


def _hide(text: str) -> str:
    lower = text.lower()
    for marks, rule in _TEXT_RULES:
        if any(mark in lower for mark in marks):
            text = rule(text)
    return text


PAIRS: Final[tuple[Callable[[str], str], ...]] = (
    partial(hide_in_lines, rules=_LINE_RULES, marks=any_mark(_LINE_RULES)),
    _hide,
)
"""The rules of this module. A text is only searched for a form if it has a word of it."""
