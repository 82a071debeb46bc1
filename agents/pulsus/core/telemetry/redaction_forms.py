"""Forms of secrets beside a name and a sign: addresses, options, files and blocks of keys.

redaction_rules.py has the names and shapes, and applies these rules too. Every pattern is linear in
the text: what repeats has a bound, or begins with fixed letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_ONE: Final = r"(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s\"']+)"
"""A value: quoted, or one word."""

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
_HEADERS: Final = (
    r"(?i:(\b(?:proxy-)?authorization\\*[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[bru]?\\*\")[^\"\r\n\[]"
    r"[^\"\r\n]*)",
    r"(?i:(\b(?:proxy-)?authorization\\*[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[bru]?\\*')[^'\r\n\[]"
    r"[^'\r\n]*)",
    r"(?i:(\b(?:proxy-)?authorization:[ \t]{0,8})[a-z][\w-]{0,30}[ \t]{1,8}[\w-]{1,40}="
    r"[^\s,]{0,200},[^\r\n]*)",
    r"(?i:(\b(?:set-)?cookie\\*[\"']?[ \t]{0,8}[:,][ \t]{0,8}[bru]?\")(?:[^\"\\\r\n\[]|\\.)(?:"
    r"[^\"\\\r\n]|\\.)*)",
    rf"(\bcurl\b[^\r\n|;&]{{0,400}}?[ \t](?:-b|--cookie)[ =]?){_ONE}",
)
_FAR: Final = r"[^\r\n|;&]{0,160}?[ \t]"
_OPTIONS: Final = {
    "htpasswd": r"htpasswd[ \t]{1,8}-\w{0,8}b\w{0,8}[ \t]{1,8}(?:\S{1,99}[ \t]{1,8}){1,2}",
    "useradd usermod winrm netexec": (
        rf"(?:useradd|usermod|winrm|evil-winrm|netexec)\b{_FAR}-p[ \t]{{1,8}}"
    ),
    "freerdp mstsc": rf"(?:[xw]?freerdp|mstsc)\b{_FAR}/p:",
    "openssl": rf"openssl[ \t]{{1,8}}enc\b{_FAR}-[kK][ \t]{{1,8}}",
    "7z rar": rf"(?:7z[azr]?|rar|unrar)\b{_FAR}-h?p(?=\S)",
    "zip mosquitto_": rf"(?:zip|unzip|zipcloak|mosquitto_[a-z]{{1,4}})\b{_FAR}-P[ \t]{{0,8}}(?=\S)",
    "vault": r"vault[ \t]{1,8}login[ \t]{1,8}(?![-\w]{1,20}=|-)",
    "kubectl": rf"kubectl\b[^\r\n|;&]{{0,99}}?\bsecret\b{_FAR}--from-literal[ =][^\s=]{{1,99}}=",
    "lftp": rf"lftp\b{_FAR}-u[ \t]{{1,8}}[^\s,]{{1,99}},",
    "rclone": r"rclone[ \t]{1,8}obscure[ \t]{1,8}",
    "nmcli": rf"nmcli\b{_FAR}(?:password|wifi-sec\.psk)[ \t]{{1,8}}",
    "net": r"net[ \t]{1,8}use[ \t]{1,8}(?:[A-Za-z]:[ \t]{1,8})?\\\\\S{1,128}[ \t]{1,8}(?!/)",
}
"""Programs, with what stands before a password of theirs."""
_PIPED: Final = (
    rf"(\b(?:echo|printf)[ \t]{{1,8}}(?:-\w{{1,4}}[ \t]{{1,8}}){{0,2}}){_ONE}"
    r"(?=[ \t]{0,8}\|[^\r\n]{0,99}?(?:--password-stdin|--passphrase-fd|\bsudo[ \t]{1,8}-S"
    r"|\bchpasswd\b"
    r"|\bpasswd\b|\bcryptsetup\b))",
)
_WORDS: Final = (
    r"password|passwort|kennwort|passphrase|passcode|mot de passe|contraseña|senha"
    r"|pin|api[ -]key|token|secret"
)
_SENTENCES: Final = (
    # "the password is wrong" is no secret: one has a digit or a sign.
    rf"(?i:(\b(?:{_WORDS})[ \t]{{1,3}}(?:is|was|ist|lautet|est|es)[ \t]{{0,3}}:?[ \t]{{1,3}})"
    r"(?=\S{0,99}[\d!@#$%^&*])[^\s\[]\S*)",
    r"(?i:(\buser(?:name)?[ \t]{1,8}\S{1,64}[ \t]{1,8}password[ \t]{1,8})(?!\d{1,2}[ \t])"
    r"(?=\S{0,99}[\d!@#$%^&*])[^\s\[]\S*)",
)
_COMMANDS: Final = (
    r"(?i:(\b(?:env|setx?|setenv|export)[ \t]{1,8}(?:-\w{1,8}[ \t]{1,8}){0,2}(?="
    r"[a-z0-9]{0,60}_)\w{0,60}?"
    rf"(?:password|passwd|passphrase|pwd|secret|token|_key|_pass)[ \t]{{1,8}})(?![=\[]){_ONE})",
    rf"(?i:(\bset[ \t]{{1,8}}password\b[^\r\n=]{{0,100}}=[ \t]{{0,8}})(?!\[){_ONE})",
)
_SETTINGS: Final = (
    # The next line has the value, and no key of its own.
    r"(?im:((?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key)[\"']?"
    r"[ \t]{0,8}:[ \t]{0,8}\r?\n)"
    r"[ \t]{1,40}(?![\w.\"'-]{1,60}:)(?:\"[^\"\r\n\[][^\"\r\n]*\"|'[^'\r\n\[][^'\r\n]*'"
    r"|[^\s\"'#\[-][^\s\"'#]*)(?=[ \t]*$))",
    r"(?im:((?:passwords|tokens|api_?keys)[\"']?[ \t]{0,8}:[ \t]{0,8}\r?\n)"
    r"(?:[ \t]{0,40}-[ \t]{1,8}[^\s:\[][^\s:]*[ \t]*(?:\r?\n|\Z)){1,99})",
)
_PASSWORD_FILE: Final = (
    # A line of .pgpass: host, port, database, user, password.
    r"(?m:^([\w.*-]{1,128}:(?:\d{1,5}|\*):(?:\*|[A-Za-z_][\w-]{0,63}):(?:\*|[A-Za-z_]"
    r"[\w.-]{0,63}):)[^\s:\[][^\s:]*$)",
)
_KEYS: Final = (
    r"(?is:()-{4,5}(?: |%20|\+)?BEGIN(?: |%20|\+)[A-Z0-9 %+]{0,60}?KEY[A-Z0-9 %+]{0,20}-{4,5}"
    r".*?(?:-{4,5}(?: |%20|\+)?END[^\n-]{1,80}-{4,5}|\Z))",
    # The head of such a block in base64, from each of its three places.
    r"()(?:LS0tLS1CRUdJTi|0tLS0tQkVHSU4|tLS0tLUJFR0lO)"
    r"(?:[A-Za-z0-9+/=_-]|\\n|\r?\n[ \t]{0,20}(?=[A-Za-z0-9+/=]{20})){16,}",
)
_END: Final = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-{4,5}", re.I)
_KEY_LINE: Final = re.compile(r"[ \t>]*[A-Za-z0-9+/=]{1,128}[ \t\r]*")
_SECRET_OBJECT: Final = re.compile(r"^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?Secret\b", re.M)
_DATA: Final = re.compile(
    r"(?m)^([ \t]*)(?:data|stringData):[ \t]*\r?\n((?:\1[ \t]+[^\n]*(?:\n|\Z))+)"
)
_STRING_DATA: Final = re.compile(
    r"(?m)^([ \t]*)(?:stringData):[ \t]*\r?\n((?:\1[ \t]+[^\n]*(?:\n|\Z))+)"
)
_MEMBER: Final = re.compile(r"(?m)^([ \t]*[\"']?[\w.-]{1,128}[\"']?:[ \t]*)\S[^\n]*")


def _hide_end_of_key(text: str) -> str:
    """Hide the lines before the end of a private key whose beginning is elsewhere."""
    parts, position = [], 0
    for end in _END.finditer(text):
        start = end.start()
        while start > position:
            line = text.rfind("\n", position, start - 1) + 1 or position
            if not _KEY_LINE.fullmatch(text, line, start - 1 if text[start - 1] == "\n" else start):
                break
            start = line
        parts += [text[position:start], MARK]
        position = end.end()
    return "".join(parts) + text[position:] if parts else text


def _hide_secret_object(text: str) -> str:
    """Hide the values of a Kubernetes Secret."""
    pattern = _DATA if _SECRET_OBJECT.search(text) else _STRING_DATA
    return pattern.sub(lambda found: _MEMBER.sub(rf"\1{MARK}", found[0]), text)


def _replace(pattern: str) -> Callable[[str], str]:
    return partial(re.compile(pattern).sub, rf"\1{MARK}")


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
    _HEADERS: ("authorization", "cookie", "curl"),
    _ADDRESSES: ("://", "%3a", "jdbc:oracle", "sqlplus"),
    _PIPED: ("echo", "printf"),
    _SENTENCES: _NAMED,
    _COMMANDS: _NAMED,
    _SETTINGS: _NAMED,
    _PASSWORD_FILE: (":",),
    _KEYS: ("----", "ls0tls1crudjti", "0tls0tqkvhsu4", "tls0tlujfr0lo"),
}


def _table(groups: Mapping[tuple[str, ...], tuple[str, ...]]) -> tuple[Marked, ...]:
    return tuple((marks, _replace(each)) for group, marks in groups.items() for each in group)


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
    words = dict.fromkeys(mark for marks, _ in rules for mark in marks)
    return re.compile("|".join(map(re.escape, words)))


_BLOCK_RULES: Final = (
    *_table({_KEYS: _MARKS[_KEYS]}),
    (("----end ", "---- end "), _hide_end_of_key),
)
_LINE_RULES: Final = (
    *_table({group: each for group, each in _MARKS.items() if group not in {_KEYS, _SETTINGS}}),
    *((tuple(names.split()), _replace(rf"(\b{each}){_ONE}")) for names, each in _OPTIONS.items()),
)
_FORM_RULES: Final = (
    *_table({_SETTINGS: _MARKS[_SETTINGS]}),
    (("data:",), _hide_secret_object),
)

BLOCKS: tuple[Callable[[str], str], ...] = (partial(_apply, _BLOCK_RULES),)
"""Rules for whole keys: they come first."""

FORMS: tuple[Callable[[str], str], ...] = (
    partial(hide_in_lines, rules=_LINE_RULES, marks=any_mark(_LINE_RULES)),
    partial(_apply, _FORM_RULES),
)
"""Rules for the other forms. A text is only searched for a form if it has a mark of it."""
