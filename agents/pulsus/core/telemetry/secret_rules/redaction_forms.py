"""Forms of secrets beside a name and a sign: addresses, options and files.

Passwords in addresses without a scheme, `Authorization` headers, cookies, lines of `.pgpass` and
Kubernetes Secrets are masked here. `redaction_rules.py` has the names and shapes, and applies these
rules too. Every pattern is linear in the text: what repeats has a bound, or begins with fixed
letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_ONE: Final = r"(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s\"']+)"
"""A value: quoted, or one word."""

_NO_LABEL: Final = (
    r"(?!(?:mailto|sips?|xmpp|acct|npm|from|to|b?cc|reply-to|sender|e?-?mail|author|contact|by|pkg|user"
    r"|sha\d{1,3})\b)"
)
"""Words before the address of a person, and not before a password."""
_FOUR: Final = r"\d{1,3}(?:\.\d{1,3}){3}"
_DOTTED: Final = rf"(?!sha\d)(?:{_FOUR}|[a-z][\w-]{{0,62}}(?:\.[\w-]{{1,63}}){{1,8}})"

_ADDRESSES: Final = (
    # A password with signs that end an address: it reaches to the last `@`. A port does not.
    r"(://[^\s/:\"'<>]{1,128}:)(?!\d{1,5}(?:[/?#\"',;)\]}]|\s|\Z))"
    r"(?:[^\s\"'<>]|[\"'](?![,:}\])\s]|\Z)){1,256}(?=@)",
    # A token in place of a user.
    r"(://)(?=[^\s/:@]{0,200}\d)[^\s/:@\"'<>\[\]]{16,256}(?=@)",
    r"(?i:(%3A(?:%2F|/){2}[^\s/%]{0,128}%3A)[^\s/\[]{1,256}?(?=%40))",
    r"(?i:(\bjdbc:oracle:\w{1,20}:[^\s/@]{1,64}/|\bsqlplus[ \t]{1,8}[\w$#]{1,64}/)"
    r"[^\s@\"']{1,128}(?=@))",
)
_BARE: Final = (
    # An address without a scheme, as in `//bob:…@host` and `bob:…@host/path`.
    r"((?<![\w:/])//[\w.%+-]{1,64}:)(?!\[redacted\])[^\s/@\"'<>]{1,256}(?=@[\w\[])",
    rf"(?i:((?<![\w./@%+-])(?:(?<!:)|(?<=pserver:)){_NO_LABEL}[\w.+-]{{1,64}}:)(?!\[redacted\]|//)"
    rf"[^\s/@:\"'<>,;(){{}}]{{1,128}}(?=@(?:{_DOTTED}|localhost|[a-z][\w-]{{0,62}})(?::\d{{2,5}}\b|::|:?/)))",
    r"((?<![\w./@%+-])[\w.+-]{1,64}:)(?!\[redacted\]|//)[^\s/@:\"'<>]{1,128}(?=@(?:tcp|udp|unix)\d?\()",
    # Oracle: `user/…@host:1521`.
    r"((?<![\w/.:-])[\w$#]{1,64}/)(?!\[redacted\])[^\s/@\"'<>]{1,128}(?=@(?://[\w.-]{1,99}|[\w.-]{1,99}:1521\b))",
    rf"(?i:((?<![\w.:/@%+-]){_NO_LABEL}[\w.+-]{{1,64}}:)(?!\[redacted\]|//)(?=[^\s@]{{0,99}}[\d!#$%^&*])"
    rf"(?=[^\s@]{{0,99}}[a-z])[^\s/@:\"'<>,;(){{}}]{{6,128}}(?=@{_DOTTED}))",
    rf"(?i:((?<![\w.:/@%+-]){_NO_LABEL}[\w.+-]{{1,64}}:)(?!\[redacted\]|//)"
    rf"[^\s/@:\"'<>,;(){{}}]{{1,128}}(?=@{_FOUR}\b))",
)
_MAY_BE_BARE: Final = late_pattern(r"[:/][^\s@\"'<>]{1,256}@")
_HEADERS: Final = (
    r"(?i:(\b(?:proxy-)?authorization\\*[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[bru]?\\*\")[^\"\r\n\[]"
    r"[^\"\r\n]*)",
    r"(?i:(\b(?:proxy-)?authorization\\*[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[bru]?\\*')[^'\r\n\[]"
    r"[^'\r\n]*)",
    r"(?i:(\b(?:proxy-)?authorization:[ \t]{0,8})[a-z][\w-]{0,30}[ \t]{1,8}[\w-]{1,40}="
    r"[^\s,]{0,200},[^\r\n]*)",
    # A cookie is known by what stands behind it, or by the jar that it is in.
    r"(?i:((?<![\w.-])[\w.-]{1,60}=)(?!\[)[^\s;\"']{1,400}"
    r"(?=;[ \t]?(?:path|domain|expires|max-age|httponly|secure|samesite)\b))",
    r"(?i:(\bcookies?\\*[\"']?[ \t]{0,4}[:=][ \t]{0,4}\{)(?!\[)[^{}\r\n]{1,1000}(?=\}))",
    r"(?i:(<cookie[ ][^\s=<>]{1,60}=)(?!\[)[^\s<>]+(?=[ ]for\b))",
    r"(?i:(\bcookie[ \t]{0,4}=[ \t]{0,4}[\"'])(?!\[)[^\"'\r\n]+)",
    r"(?i:(\bauthorization[ \t]{1,8}[\"'](?:basic|bearer|token)[ \t]{1,8})(?!\[)[^\s\"']+)",
    r"(?i:(\bauthorization%3a(?:%20|\+){0,4}(?:[a-z]{1,20}(?:%20|\+))?)(?!\[)[^\s&\"'%]+)",
    r"(?i:(\b(?:set-)?cookie\\*[\"']?[ \t]{0,8}[:,][ \t]{0,8}[bru]?\")(?:[^\"\\\r\n\[]|\\.)(?:"
    r"[^\"\\\r\n]|\\.)*)",
)
_WORDS: Final = (
    r"password|passwort|kennwort|passphrase|passcode|mot de passe|contraseña|senha"
    r"|pin|api[ -]key|token|secret"
)
_SET: Final = (
    r"\b(?:set|change|reset|update|replace|rotate|overwrite|make|switch)[ \t]{1,3}"
    r"(?:\S{1,40}[ \t]{1,3}){0,4}?[\w.-]{0,40}?(?:password|passwd|passphrase|passwort|kennwort"
    r"|\bpasscode|\bpin|secret|token|api[ _-]?key|(?:secret|access|private)[ _-]key)"
    r"(?:[ \t]{1,3}(?:of|for|on|in|at|from)[ \t]{1,3}\S{1,64}){0,2}[ \t]{1,3}"
)
"""The verb tells "set the token to …" from "copy the token to web1"."""
_SET_VALUE: Final = r"(?!\d{1,3}(?!\S))(?=\S{0,99}[\d!@#$%^&*])[^\s\[\"']\S*"
_SENTENCES: Final = (
    rf"(?i:({_SET}(?:to|with|as|into)[ \t]{{1,3}}(?:be[ \t])?){_SET_VALUE})",
    rf"(?i:({_SET}(?:to|with|as|into)[ \t]{{1,3}}(?:be[ \t])?[\"'])[^\"'\r\n\[][^\"'\r\n]*)",
    rf"(?i:({_SET}from[ \t]{{1,3}}){_SET_VALUE}(?=[ \t]{{1,3}}to[ \t]))",
    # "the password is wrong" is no secret: one has a digit or a sign.
    rf"(?i:(\b(?:{_WORDS})[ \t]{{1,3}}(?:is|was|ist|lautet|est|es)[ \t]{{0,3}}:?[ \t]{{1,3}})"
    r"(?=\S{0,99}[\d!@#$%^&*])[^\s\[]\S*)",
    r"(?i:(\buser(?:name)?[ \t]{1,8}\S{1,64}[ \t]{1,8}password[ \t]{1,8})(?!\d{1,2}[ \t])"
    r"(?=\S{0,99}[\d!@#$%^&*])[^\s\[]\S*)",
)
_TOLD: Final = (
    # A program tells which secret it refused.
    r"(?i:(\b(?:token|api[ -]key|secret(?:[ ]key)?|passphrase)[ \t](?:is[ \t])?[\"'])"
    r"(?=[^\s\"']{0,99}[a-z])(?=[^\s\"']{0,99}\d)[^\s\"'\[]{6,}(?=[\"']))",
    r"(?i:(\bapi[ -]key[ \t](?:provided:[ \t]?)?)(?=\S{0,99}[a-z])(?=\S{0,99}\d)[^\s\"'\[.]{8,})",
    r"(?i:(\b(?:secret|access|api|private)[ -]key[ \t]is[ \t][\"'])(?!\[)[^\s\"']+(?=[\"']))",
    r"(?i:(\bapi[ -]key[ \t]provided:[ \t]?)(?!\[)[^\s\"'.]+)",
    r"(?i:(\bwith[ \t](?:the[ \t])?(?:password|token|passphrase)[ \t:]{1,3})(?=\S{0,99}[a-z])"
    r"(?=\S{0,99}[\d!@#$%^&*])[^\s\"'\[]\S{5,})",
    r"(?i:(\b(?:set|check|verify|change|reset|hash|update)_?password\([ \t]?[bru]?\\*[\"'])(?!\[)"
    r"[^\"'\\\r\n]+)",
)
_ACCOUNTS: Final = (
    r"(?i:((?<!\S)--(?:user|auth|creds?|login|basic)[ =][\"']?[\w.@+-]{1,64}:)(?!\[|//)"
    r"(?=\S{0,99}[\d!#$%^&*])(?=\S{0,99}[a-z])[^\s\"',;]{6,})",
    # A user and a password, where a word says so.
    r"(?i:(\b(?:credentials?|creds?|basic[_-]?auth|user(?:name)?:pass(?:wd|word)?|userpass)"
    r"(?:\\*[\"']?[ \t]{0,4}[:=]|[ \t]is)?[ \t]{0,3}\\*[\"']?(?<![a-z])[\w.@+-]{1,64}:)"
    r"(?!\[|//|\d{1,5}\b)[^\s\"',;:]{3,})",
    r"(?i:(\b(?:login|auth)\\*[\"']?[ \t]{0,4}[:=][ \t]{0,3}\\*[\"']?[\w.@+-]{1,64}:)(?!\[|//)"
    r"(?=\S{0,99}[\d!@#$%^&*])(?=\S{0,99}[a-z])[^\s\"',;]{6,})",
)
_COMMANDS: Final = (
    r"(?i:(\b(?:env|setx?|setenv|export)[ \t]{1,8}(?:-\w{1,8}[ \t]{1,8}){0,2}(?="
    r"[a-z0-9]{0,60}_)\w{0,60}?"
    rf"(?:password|passwd|passphrase|pwd|secret|token|_key|_pass)[ \t]{{1,8}})(?![=\[]){_ONE})",
    r"((?i:--?pass\w{0,5}-?(?:command|cmd|eval)[ =][\"']?(?:echo|printf)[ \t]{1,8}))"
    rf"(?!\[){_ONE}",
    rf"(?i:(\bset[ \t]{{1,8}}password\b[^\r\n=]{{0,100}}=[ \t]{{0,8}}(?:\w{{1,20}}\()?)"
    rf"(?!\[){_ONE})",
)
_SETTINGS: Final = (
    # The next line has the value, and no key of its own.
    r"(?im:((?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key)[\"']?"
    r"[ \t]{0,8}[:=][ \t]{0,8}(?:\\|#[^\r\n]{0,200})?\r?\n)"
    r"[ \t]{1,40}(?![\w.\"'-]{1,60}[ \t]?[:=])(?:\"[^\"\r\n\[][^\"\r\n]*\"|'[^'\r\n\[][^'\r\n]*'"
    r"|[^\s\"'#\[({-][^\s\"'#({]*)(?=[ \t]*,?[ \t]*$))",
    r"(?im:((?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key)[\"']?"
    r"[ \t]{0,8}=\\\r?\n)[^\s\[]\S*)",
    # The same without blanks before it: the line above has only the name, as a program asks for it.
    r"(?im:(^[ \t]{0,40}(?:[\w' -]{1,40}[ \t_-])?(?:password|passwd|passphrase|passwort|kennwort)"
    r"[ \t]{0,4}:[ \t]{0,8}\r?\n(?:[ \t]{0,8}\r?\n)?)[ \t]{0,40}"
    r"(?![\w.\"'-]{1,60}[ \t]?[:=])[^\s\"'#\[({<>`*|-][^\s\"'#({]*(?=[ \t]*$))",
    r"(?im:((?:passwords?|tokens?|api_?keys?|secret)[\"']?[ \t]{0,8}:[ \t]{0,8}\r?\n)"
    r"(?:[ \t]{0,40}-[ \t]{1,8}[^\s:\[][^\s:]*[ \t]*(?:\r?\n|\Z)){1,99})",
)
_SIGN_AT_END: Final = late_pattern(r"[:=][ \t]{0,8}(?:\\|#[^\r\n]{0,200})?\r?\n")
_NAME_END: Final = late_pattern(
    r"(?i:passwords?|passwd|passphrase|passwort|kennwort|secret|tokens?|api_?keys?)"
    r"[\"']?[ \t]{0,8}\Z"
)
_MOST_NAME: Final = 24
_PASSWORD_FILE: Final = (
    # A line of .pgpass: host, port, database, user, password.
    r"(?m:^([\w.*-]{1,128}:(?:\d{1,5}|\*):(?:\*|[A-Za-z_][\w-]{0,63}):(?:\*|[A-Za-z_]"
    r"[\w.-]{0,63}):)[^\s:\[][^\s:]*$)",
)
_SECRET_OBJECT: Final = late_pattern(r"^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?Secret\b", re.M)
_DATA: Final = late_pattern(
    r"(?m)^([ \t]*)(?:data|stringData):[ \t]*\r?\n((?:\1[ \t]+[^\n]*(?:\n|\Z))+)"
)
_STRING_DATA: Final = late_pattern(
    r"(?m)^([ \t]*)(?:stringData):[ \t]*\r?\n((?:\1[ \t]+[^\n]*(?:\n|\Z))+)"
)
_MEMBER: Final = late_pattern(r"(?m)^([ \t]*[\"']?[\w.-]{1,128}[\"']?:[ \t]*)\S[^\n]*")


def _hide_next_lines(text: str) -> str:
    """Hide the values in the line below a name and its sign."""
    ends = (_NAME_END.search(text, max(0, at - _MOST_NAME), at) for at in _line_ends(text))
    for rule in _SETTING_RULES if any(ends) else ():
        text = rule(text)
    return text


def _line_ends(text: str) -> Iterator[int]:
    return (found.start() for found in _SIGN_AT_END.finditer(text))


def _hide_bare_addresses(text: str) -> str:
    """Hide passwords of addresses that have no scheme."""
    for rule in _BARE_RULES if _MAY_BE_BARE.search(text) else ():
        text = rule(text)
    return text


def _hide_secret_object(text: str) -> str:
    """Hide the values of a Kubernetes Secret."""
    pattern = _DATA if _SECRET_OBJECT.search(text) else _STRING_DATA
    return pattern.sub(lambda found: _MEMBER.sub(rf"\1{MARK}", found[0]), text)


def replace_with(pattern: re.Pattern[str], replacement: str) -> Callable[[str], str]:
    """Return the rule that puts `replacement` for each match of the pattern."""
    # A reference to `pattern.sub` would compile the pattern now.
    return lambda text: pattern.sub(replacement, text)


def hide_value(pattern: str) -> Callable[[str], str]:
    """Return the rule that keeps the first group of each match, and hides what follows it."""
    return replace_with(late_pattern(pattern), rf"\1{MARK}")


Marked = tuple[tuple[str, ...], Callable[[str], str]]
"""A rule, and texts in lower case, one of which every text has that it changes."""

_NAMED: Final = (
    *("password", "passwort", "kennwort", "passphrase", "passcode", "passwd", "pwd", "_pass"),
    *(
        "mot de passe",
        "contrase",
        "senha",
        "pin ",
        "api key",
        "api-key",
        "api_key",
        "apikey",
        "token",
        "secret",
        "_key",
    ),
)
_MARKS: Final = {
    _HEADERS: (
        *("authorization", "cookie", "; path", "; domain", "; expires", "; max-age", "; httponly"),
        *("; secure", "; samesite", ";path", ";domain", ";expires", ";httponly", ";secure"),
    ),
    _ADDRESSES: ("://", "%3a", "jdbc:oracle", "sqlplus"),
    _SENTENCES: _NAMED,
    _COMMANDS: _NAMED,
    _TOLD: ("token", "key", "secret", "passphrase", "password"),
    _ACCOUNTS: ("cred", "auth", "userpass", "user:pass", "username:pass", "login", "--user"),
}


def group_rules(patterns: Iterable[str], marks: tuple[str, ...]) -> Marked:
    """Return the patterns as one rule. Each text is searched for their marks only once."""
    rules = tuple(map(hide_value, patterns))

    def apply(text: str) -> str:
        for rule in rules:
            text = rule(text)
        return text

    return marks, apply


def _apply(rules: tuple[Marked, ...], text: str) -> str:
    lower = text.lower()
    for marks, rule in rules:
        if any(mark in lower for mark in marks):
            text = rule(text)
    return text


def hide_in_lines(text: str, rules: tuple[Marked, ...], marks: re.Pattern[str]) -> str:
    """Apply rules, none of which reaches beyond a line, to the lines that have a mark of theirs.

    `marks` finds any of their marks in a line of lower case: most lines have none.
    """
    if not marks.search(lower := text.lower()):
        return text
    lines = text.split("\n")
    for number, plain in enumerate(lower.split("\n")):
        if marks.search(plain):
            lines[number] = _apply(rules, lines[number])
    return "\n".join(lines)


def any_mark(rules: tuple[Marked, ...]) -> re.Pattern[str]:
    """Return what finds any mark of these rules."""
    words = tuple(dict.fromkeys(mark for marks, _ in rules for mark in marks))
    return late_pattern("|".join(map(re.escape, words)), words=words)


_BARE_RULES: Final = tuple(map(hide_value, _BARE))
_LINE_RULES: Final = (
    *(group_rules(group, marks) for group, marks in _MARKS.items()),
    (("@",), _hide_bare_addresses),
)
_SETTING_RULES: Final = tuple(map(hide_value, _SETTINGS))
_FORM_RULES: Final = (
    (_NAMED, _hide_next_lines),
    (("data:",), _hide_secret_object),
    group_rules(_PASSWORD_FILE, (":",)),
)

FORMS: tuple[Callable[[str], str], ...] = (
    partial(hide_in_lines, rules=_LINE_RULES, marks=any_mark(_LINE_RULES)),
    partial(_apply, _FORM_RULES),
)
"""Rules for the other forms. A text is only searched for a form if it has a mark of it."""
