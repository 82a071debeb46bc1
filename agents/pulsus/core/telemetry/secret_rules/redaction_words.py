"""Secrets that rarer words announce: settings with a blank, lists, protocols and sentences.

redaction_rules.py applies these rules after those of its own names. Where the words are ordinary
ones (`pass: 12 tests`), the value decides: a secret has letters and digits. Every pattern is linear
in the text: what repeats has a bound. Passwords in sentences are masked in
`redaction_sentences.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from pulsus.core.telemetry.secret_rules.redaction_forms import (
    Marked,
    any_mark,
    group_rules,
    hide_in_lines,
)

_NO_PATH: Final = r"(?![\[/~.$({<>%])"
LIKELY: Final = (
    rf"{_NO_PATH}(?=[^\s\"']{{0,99}}[A-Za-z])(?=[^\s\"']{{0,99}}(?:[\d!@#$%^&*+]|(?-i:[a-z][A-Z])))"
    r"[^\s\"'<>;,&]{6,}[^\s\"'<>;&]*"
)
"""A word with a letter and a digit, a sign or a capital within, that is no path."""
RANDOM: Final = (
    rf"{_NO_PATH}(?=[^\s\"']{{0,99}}[A-Z])(?=[^\s\"']{{0,99}}[a-z])(?=[^\s\"']{{0,99}}\d)"
    r"[\w+/=.~!@#$%^&*-]{12,}"
)
"""A word that does not occur in sentences."""
_ANY: Final = rf"{_NO_PATH}[^\s\"'<>;,]+"
_GAP: Final = r"[ \t]{1,20}"
_SIGN: Final = r"\\*[\"']?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}\\*[\"']?"
_NAME: Final = (
    r"(?:password|passwd|passphrase|passwort|kennwort|passcode|secret|token|api[_-]?key"
    r"|(?:access|private|secret)[_-]?key|pwd|pass)"
)

_NAMES: Final = (
    # What names only a secret.
    r"(?i:((?<![a-z0-9])(?:(?:db|ftp|smtp|imap|mail|user|root|admin|proxy"
    r"|ldap|bind|login|sql|pg)[._-]?pass(?![a-z])|pswd|sekret|secretstring|secretbinary|(?:wpa|ike|"
    rf"ipsec)[._-]?psk|default_authtok|şifre){_SIGN}){_ANY})",
    # What may also name a number, a state or a folder.
    r"(?i:((?<![a-z0-9])(?:(?!(?-i:PASS):[ \t]\S{0,99}(?:test|spec|case|check|step))"
    r"pass|creds?|pw|otp|pepper|x-session-id"
    r"|(?:unseal|session|hmac|storage|deploy|encryption|licen[sc]e|activation|gossip|munge|fastly|tsig"
    r"|fernet|jwt|aes|app|recovery)[ ._-]?key(?:[ \t]\d{1,2})?"
    r"|(?:recovery|backup|activation|licen[sc]e)[ _-]codes?|_auth|dkim private"
    rf"){_SIGN}){LIKELY})",
    rf"((?<=[a-z])Pass{_SIGN}){LIKELY}",
    # A key in a variable of an environment.
    r"((?<![A-Z0-9_])(?!PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION|REGISTRY|HOST)[A-Z][A-Z0-9_]{1,40}"
    rf"_KEY=)(?i:{LIKELY})",
    r"(\b(?:OP|BW)_SESSION(?:_\w{1,40})?=)(?!\[|\$)[^\s\"']+",
    r"(?i:((?<![a-z])secret_?id=)(?!\[|\$)[^\s\"'&]+)",
    # `creds: bob:v` and `basic_auth: bob:v`.
    rf"(?i:((?:creds?|basic_auth){_SIGN}[\w.@-]{{1,64}}:){LIKELY})",
    rf"(?i:({_NAME}(?:\d{{1,3}}|[._](?:main|old|new|prod|dev|test|stage|primary|default|root|admin"
    rf"|backup|hash|encrypted|encoded|plain|plaintext|\d{{1,3}})){_SIGN}){LIKELY})",
    r"(?i:((?<![a-z])(?:password|passwd|passphrase|api_?key|secret)s=)"
    r"(?![\[({$]|(?:\d{1,6}|true|false|none|null|yes|no|inherit)\b)[^\s\"'&;]+)",
)
_BLANKS: Final = (
    rf"(?im:(^[ \t]{{0,40}}(?:env|arg|set|setenv|setx|export|default){_GAP}[\w.-]{{0,60}}?{_NAME}"
    rf"{_GAP}){LIKELY}(?=[ \t]*\r?$))",
    # A directive of a server, a line of an installer, a relay of a mail server.
    rf"(?m:(^[ \t]{{0,40}}[A-Z]\w{{1,40}}Pass(?:word|wd|phrase){_GAP}){_ANY}(?=[ \t]*\r?$))",
    rf"(?im:(^[ \t]{{0,8}}[\w-]{{1,20}}{_GAP}[\w/.-]{{0,60}}?pass(?:word|phrase)"
    rf"[\w/.-]{{0,40}}{_GAP}(?:password|string){_GAP})(?!\[)\S[^\r\n]*)",
    rf"(?im:((?:^|passwd:[ ])\[[\w.:-]{{1,99}}\]:\d{{2,5}}{_GAP}[\w.@+-]{{1,64}}:){_ANY})",
    rf"(?i:(password_maps[ \t]{{0,8}}=[ \t]{{0,8}}(?:static|inline):\{{?[ ]?"
    rf"[\w.@+-]{{1,64}}[:=]){_ANY})",
    # A line of a name and its value; a type of a database column is no value.
    r"(?im:(^[ \t]{0,40}[\w.-]{0,60}?(?:password|passwd|passphrase|passwort|pwd|api_?key)"
    rf"(?:{_GAP}REG_\w{{1,12}})?{_GAP})(?!n?(?:var)?char|string|text|sha\d|md5|pam_|file)"
    rf"{LIKELY}(?=[ \t]*\r?$))",
    rf"((?i:{_NAME}){_GAP}){RANDOM}",
    r"(?i:(\b(?:r[ow]community6?|snmp-server[ \t]community|(?:tacacs|radius)-server"
    r"[ \t]{1,8}(?:host[ \t]{1,8}\S{1,64}[ \t]{1,8})?key(?:[ \t]{1,8}\d)?"
    r"|(?:radius|tsig|tacacs)[ -](?:secret|key)|munge key|erlang\.?[ ]?cookie(?:[ \t]contains)?)"
    rf"{_GAP}[\"']?)(?!is\b|was\b){_ANY})",
    rf"(?im:(\bcommunity{_GAP}){_ANY}(?={_GAP}r[ow]\b))",
    rf"(?i:(\b(?:enable|username[ \t]\S{{1,64}}){_GAP}(?:privilege[ \t]\d{{1,2}}[ \t])?"
    rf"(?:secret|password){_GAP}\d{{1,2}}{_GAP}){_ANY})",
    r"(?i:(\bsecret[ \t]{1,8}\")(?!\[)[^\"\r\n]+(?=\"[ \t]{0,8};))",
    rf"(?i:(\bpassword_pbkdf2{_GAP}\S{{1,64}}{_GAP}){_ANY})",
    r"(?i:(\bidentified[ \t]{1,8}with[ \t]{1,8}[\w'\"`]{1,64}[ \t]{1,8}(?:by|as)[ \t]{1,8}[\"'])"
    r"(?!\[)[^\"'\r\n]+)",
    # chap-secrets and pap-secrets: client, server, secret.
    rf"(\"[^\"\r\n]{{1,64}}\"{_GAP}\"?\*\"?{_GAP}\")(?!\[)[^\"\r\n]+",
    rf"(?m:(^(?:chap-secrets:[ \t])?[\w.@-]{{1,64}}{_GAP}\*{_GAP}){LIKELY}(?={_GAP}\*))",
)
_LISTS: Final = (
    r"(?i:((?:password|passphrase|passwd|api_?key)s[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\[({])"
    r"(?=[^\[\](){}]{0,40}[\w])[^\[\](){}]{1,2000}(?=[\])}]))",
    r"(?i:((?:token|secret|credential|cred)s?[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\[({])(?!redacted)"
    r"(?=[^\[\](){}]{0,400}(?:[\[(,:=][ \t]{0,8}|[\"'{(]|(?<=\[))"
    rf"(?-i:{RANDOM}))[^\[\](){{}}]{{1,2000}}(?=[\])}}]))",
    rf"(?i:(\b(?:name|key)[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}[\"']?[\w.-]{{0,60}}?{_NAME}[\"']?,"
    rf"[^{{}}\r\n]{{0,120}}?\bval(?:ue)?[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}[\"']?){_ANY})",
    rf"(?i:(<\w[\w:.-]{{0,40}}[ \t][^<>\r\n]{{0,200}}?\b(?:name|key|id)=[\"'][\w.-]{{0,60}}?{_NAME}"
    r"[\"'][^<>\r\n/]{0,100}>(?:<!\[CDATA\[)?)(?!\[)[^<\s][^<]*)",
    rf"(?i:(<\w[^<>\r\n]{{0,200}}?\b(?:name|key)=[\"'][\w.-]{{0,60}}?{_NAME}[\"'][^<>\r\n]{{0,100}}?"
    r"\bvalue=[\"'])(?!\[)[^\"'<>\r\n]+)",
    r"(?i:(<\w[^<>\r\n]{0,200}?\bvalue=[\"'])(?!\[)[^\"'<>\r\n]+(?=[\"'][ \t]{1,8}[^<>\r\n]{0,99}?"
    rf"\b(?:name|key)=[\"'][\w.-]{{0,60}}?{_NAME}[\"']))",
    r"(?i:(<value>)(?!\[)[^<]+(?=</value>\s{0,80}<plaintext>))",
)
_WHOLE: Final = (
    r"(?i:(\bencrypt[ \t]{0,8}=[ \t]{0,8}\")(?=[^\"]{0,99}\d)[\w+/=]{16,})",
    r"((?::|\A)[ \t]{0,8}(?:PSK|XAUTH|EAP|NTLM|PIN)[ \t]{1,8}\")(?!\[)[^\"\r\n]+",
)
"""Forms that look at the text around their line."""
_TALK: Final = (
    rf"(?i:(\bpassword[ \t]for[ \t]\S{{1,64}}?(?:[ \t]is|:)[ \t]{{1,3}}[\"']?){LIKELY})",
    rf"(?i:(\btyped[ \t]){LIKELY}(?=[ \t]{{1,8}}as[ \t](?:the[ \t]|a[ \t])?password))",
    # Jest and Go begin such a line with the name of a test.
    rf"(?m:(^(?:[a-z]{{1,12}}[ \t])?PASS[ \t])(?!\S{{0,99}}(?i:test|spec|case|check|step)){LIKELY}"
    r"(?=[ \t]*\r?$))",
    r"(?m:((?:^|[ \t])AUTH[ \t](?:(?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5|[\w.@-]{1,32})[ \t])?)"
    rf"{LIKELY}(?=[ \t]*\r?$))",
    r"(?i:(\"AUTH\"[ \t](?:\"[^\"\r\n]{1,64}\"[ \t])?\")(?!\[)[^\"\r\n]+(?=\"[ \t]*\r?$))",
    rf"(?m:(^\w{{1,8}}[ \t]LOGIN[ \t]\S{{1,64}}[ \t]){_ANY}(?=[ \t]*\r?$))",
    rf"(?im:((?:^|nickserv[ \t])identify[ \t](?:[\w-]{{1,32}}[ \t])?){LIKELY}(?=[ \t]*\r?$))",
)

_MARKS: Final = {
    _NAMES: (
        *(
            "pass",
            "cred",
            "pw",
            "otp",
            "pepper",
            "session",
            "secret",
            "key",
            "code",
            "_auth",
            "encrypt",
        ),
        *("pswd", "sekret", "secret", "psk", "authtok", "şifre", "dkim", "token", "kennwort"),
    ),
    _BLANKS: (
        *("password", "passwd", "passphrase", "passwort", "kennwort", "passcode", "secret"),
        *("token", "key", "pwd", "pass", "community", "cookie", "psk", "xauth", "eap", "ntlm"),
        *("pin", "identified", "]:", "* ", "*\t", '"*"'),
    ),
    _WHOLE: ("encrypt", "psk", "xauth", "eap", "ntlm", "pin"),
    _LISTS: ("pass", "key", "token", "secret", "cred", "pwd", "plaintext", "kennwort"),
    _TALK: ("password", "pass", "auth", "login", "identify"),
}


def _table(*groups: tuple[str, ...]) -> tuple[Marked, ...]:
    return tuple(group_rules(group, _MARKS[group]) for group in groups)


_LINE_RULES: Final = _table(_NAMES, _BLANKS, _TALK)
_OTHER_RULES: Final = _table(_WHOLE, _LISTS)


def _hide(text: str) -> str:
    lower = text.lower()
    for marks, rule in _OTHER_RULES:
        if any(mark in lower for mark in marks):
            text = rule(text)
    return text


WORDS: Final[tuple[Callable[[str], str], ...]] = (
    partial(hide_in_lines, rules=_LINE_RULES, marks=any_mark(_LINE_RULES)),
    _hide,
)
"""The rules of this module. A text is only searched for a form if it has a word of it."""
