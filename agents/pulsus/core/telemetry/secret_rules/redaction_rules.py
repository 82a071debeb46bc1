"""Patterns of the redactor: names that announce a secret, and shapes of secrets.

Patterns of known tokens (AWS, GitHub, Slack, ...) are the lines of `secret_shapes.txt`; JWTs,
password hashes, URL passwords, cookies and `Authorization` headers stand here, and more of these
forms in `redaction_forms.py`. Private keys (PEM) are in `redaction_private_keys.py`, command lines
in `command_secrets.py`, sentences in `redaction_sentences.py`, tables in `redaction_tables.py`,
values of several words in `redaction_values.py`, name and value apart in `redaction_pairs.py`,
rarer words in `redaction_words.py`. `core/telemetry/redaction.py` loads this module with the first
text that is no plain word. Each pattern is compiled at its first use, and is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pulsus.core.telemetry.secret_rules.command_secrets import hide_in_commands
from pulsus.core.telemetry.secret_rules.redaction_forms import FORMS, replace_with
from pulsus.core.telemetry.secret_rules.redaction_pairs import PAIRS
from pulsus.core.telemetry.secret_rules.redaction_private_keys import KEYS
from pulsus.core.telemetry.secret_rules.redaction_sentences import hide_in_sentences
from pulsus.core.telemetry.secret_rules.redaction_tables import hide_columns
from pulsus.core.telemetry.secret_rules.redaction_values import RESTS, VALUES
from pulsus.core.telemetry.secret_rules.redaction_words import WORDS
from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py, which imports this module late."""

_NAME = (
    r"(?:(?<![/\\])passwd(?!:[ \t]+(?:files|compat|sss|db|systemd|ldap|nis)\b)"
    r"|password|passphrase|(?<=[_-])pwd|(?<=[_-])pass|(?<![\w/.-])pass(?==)|mysql_pwd|secret|token"
    r"|api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key|private[_-]?key|account[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|ssh[_-]?key|subscription[_-]?key|client[_-]?key[_-]?data"
    r"|secret_key_base|pre[_-]?shared[_-]?key|(?<![a-z])psk(?==)|(?:(?<=[a-z])|(?<!"
    r"[a-z0-9]))_auth(?==)|app_key(?==base64)"
    r"|(?<=;)pwd|requirepass|masterauth|x-amz-signature|x-amz-credential"
    r"|passwort|kennwort|geheimnis|mot[ _-]?de[ _-]?passe|contrase[ñn]a|senha|has[łl]o"
    r"|пароль|parola"
    r"|wachtwoord|l[öo]senord|密码|密碼|パスワード|비밀번호|passcode"
    r"|sshpass(?==)|(?<=\.)pass(?=[ \t]{0,8}=)"
    r"|(?<=[\"'])pass(?=[\"'][ \t]{0,8}:[ \t]{0,8}[\"'])|master[_-]?key"
    # A folder, and a word that says nothing, is no secret.
    r"|pwd(?=[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?[^\s\"'/~.$\\:=])"
    r"|(?<![a-z0-9_.-])pin(?=[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?\w{4})"
    r"|credentials?(?=[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?(?=[^\s\"']{0,99}\d)[^\s\"'/~.${\[:=]))"
)
_IN_NAMES = (
    *("pass", "key", "token", "secret", "auth", "pwd", "psk", "x-amz-", "credential"),
    *("pin=", "pin:", "pin ", "pin\t", 'pin"', "pin'"),
    *("kennwort", "geheimnis", "contrase", "senha", "haslo", "parola", "wachtwoord", "losenord"),
)
"""Every name that `_NAME` matches in an ASCII text has one of these, in lower case."""
_IN_OTHER_NAMES = ("lösenord", "hasło", "пароль", "密码", "密碼", "パスワード", "비밀번호")
"""The same of names with other letters."""
_PARTS = late_pattern(f"(?={'|'.join(map(re.escape, (*_IN_NAMES, *_IN_OTHER_NAMES)))})")
_MOST_BEFORE = 24
"""Characters of a name before its part are fewer: `subscription-key` has 13."""
SECRET_KEY = late_pattern(
    rf"(?:{_NAME}|authorization|credentials?|(?:^|set[_-])cookie|passwords|passphrases|api_?keys"
    r"|(?<![a-z])creds?|secretstring|secretbinary|(?:wpa|ike|ipsec)[_-]?psk|pswd)\Z",
    re.I,
    words=(*_IN_NAMES, *_IN_OTHER_NAMES, "cookie", "cred", "pswd", "pin"),
)


def _join_shapes() -> str:
    """Return one pattern of all lines in `secret_shapes.txt`."""
    text = Path(__file__).with_name("secret_shapes.txt").read_text(encoding="utf-8")
    return "|".join(line for line in text.splitlines() if line and not line.startswith("#"))


_TOKEN = late_pattern(rf"(?<![A-Za-z0-9])(?:{_join_shapes()})")
_HASH = late_pattern(
    r"(?<![A-Za-z0-9])\$(?:1|5|6|7|y|gy|2[abxy]?|3|8|9|14|apr1|argon2(?:id|i|d)|scrypt"
    r"|sm3|sha1|md5|bcrypt-sha256|pbkdf2(?:-sha\d{1,3})?)\$(?:[^\s:\"',;]|,(?=[a-z]=)){12,}"
    r"|(?<![\w$])\$[PHS]\$[./A-Za-z0-9]{28,}"
    r"|(?<![A-Za-z0-9])(?:pbkdf2_sha\d{1,3}|bcrypt(?:_sha256)?|scrypt|argon2)"
    r"\$(?:[^\s:\"',;]|,(?=[a-z]=)){24,}",
    words=("$",),
)
"""A hashed password, as the shadow file keeps it."""

_HOOK = late_pattern(
    r"(//hooks\.slack\.com/(?:services|workflows)/|//discord(?:app)?\.com/api/webhooks/"
    r"|//api\.telegram\.org/bot|//[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/)[^\s\"'<>]+",
    words=("hooks.slack", "discord", "api.telegram", "webhook.office"),
)
"""An address that is a secret itself."""

# A value: quoted (the closing quote may be missing), quoted within a quoted text, or one word.
_QUOTED = (
    r'"""[^"]*(?:"""|\Z)|\'\'\'[^\']*(?:\'\'\'|\Z)|"(?:[^"\\\r\n]|\\.)*|\'(?:[^\'\\\r\n]|\\.)*'
)
_ESCAPED = r"\\+[\"'](?:[^\"'\\\r\n]|\\(?![\"']))*"
_WORD = r"(?:(?:bearer|basic)[ \t]{1,8})?[^\s\"']+"
_SIGN = r"(?:\\*[\"']|%22|&quot;|&#34;)?\]?[ \t]{0,8}(?::=|=>|::|[:=]|%3[DdAa])"

_DOCKER_AUTH = late_pattern(
    r"(\"(?:auth|identitytoken)\"[ \t]{0,8}:[ \t]{0,8}\")[A-Za-z0-9+/=_.-]{8,}",
    words=("auth", "identitytoken"),
)
# As in redis.conf and SQL: a blank is the sign.
_SAID = late_pattern(
    r"(\b(?:bindpw|rootpw)[ \t]{1,8}(?:--[a-z]{1,12}[ \t]{1,8}){0,3}(?!--)"
    r"|\b(?:requirepass|masterauth|wpa-psk|pre-shared-key|shared-secret)[ \t]{1,8}"
    r"|\bidentified[ \t]{1,8}by[ \t]{1,8}"
    r"|\bsnmp-server[ \t]{1,8}community[ \t]{1,8}"
    # Settings of routers and of keepalived.
    r"|\b(?:auth_pass|authentication-key|key-string)[ \t]{1,8}"
    r"|\bneighbor[ \t]{1,8}\S{1,64}[ \t]{1,8}password[ \t]{1,8}"
    r"|\benable[ \t]{1,8}password[ \t]{1,8}(?=\S{1,99}[ \t]{0,8}$)"
    r"|\bmessage-digest-key[ \t]{1,8}\d{1,3}[ \t]{1,8}md5[ \t]{1,8}"
    r"|^(?:line|hostname)[ \t][^\r\n]{1,60}\r?\n[ \t]{0,8}password[ \t]"
    r"|\b(?:password|secret)[ \t]{1,8}[05789][ \t]{1,8}(?=\S{0,99}\d)"
    r"|\bpassword[ \t]{1,8}(?=['\"]))([\"'][^\"'\r\n]*[\"']|[^\s\"']+)",
    re.I | re.M,
    words=("pw", "pass", "masterauth", "psk", "key", "secret", "identified", "community"),
)
_HEADER = late_pattern(
    r"(\b(?:proxy-)?authorization(?:\\*[\"'])?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}(?:\\*[\"'])?)"
    r"(?:(?:bearer|basic|token)[ \t]{0,8}\r?\n[ \t]{1,20}[^\s\"']+"
    r"|(?:digest|aws4-hmac-sha256)\b[^\r\n]*|(?:[a-z][\w-]{0,30}[ \t]{1,8})?[^\s\"']+)",
    re.I,
    words=("authorization",),
)
_COOKIE = late_pattern(
    r"(\b(?:set-)?cookie(?:\\*[\"'])?[ \t]{0,8}:[ \t]{0,8}(?:\\*[\"'])?)[^\r\n\"']+",
    re.I,
    words=("cookie",),
)
# "basic authentication" is prose: a credential has a digit, a sign or a capital within.
_SCHEME = late_pattern(
    r"(\b(?i:bearer|basic)[ \t]{1,8})(?=[A-Za-z.~-]{0,200}?(?:[0-9=_+/]|[a-z][A-Z]))"
    r"[A-Za-z0-9._~+/=-]{8,}",
    words=("bearer", "basic"),
)
_BLOCK = late_pattern(
    rf"({_NAME}[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}(?:[!&][\w!/-]{{0,40}}[ \t]{{1,8}}){{0,2}})"
    r"[|>][-+0-9]{0,3}[ \t]*\r?\n(?:(?:[ \t]{0,80}\r?\n){0,3}[ \t]+[^\s][^\n]*(?:\n|\Z))+",
    re.I,
)
_ASSIGNED = late_pattern(
    # What ends a pattern of `sed`, begins an object or stands for something else is no value.
    rf"({_NAME}{_SIGN}[ \t]{{0,64}}"
    r"(?!/{1,2}[gpdI]{0,3}['\"`]|(?:…|\.\.\.)(?!\w)|(?-i:YES|NO)(?!\w)|\{[ \t]*\r?\n)"
    r"(?:(?:[bru]{1,2}|\$)(?=[\"'])"
    r"|[\w.]{1,60}\([bru]?(?=[\"']))?)"
    rf"({_QUOTED}|{_ESCAPED}|{_WORD})",
    re.I,
)
# A variable's name and value in fields of their own: environments and settings in YAML, JSON, XML.
_FIELD = r"\\*[\"']?[ \t]{0,8}:[ \t]{0,8}"
_PAIR = late_pattern(
    rf"(\b(?:parameter|variable|setting|secret)?_?(?:name|key){_FIELD}\\*[\"']?[\w.-]{{0,60}}?{_NAME}\\*[\"']?(?:,\s{{0,80}}"
    rf"|\s{{1,80}})\\*[\"']?"
    rf"(?:parameter|variable|setting|secret)?_?value{_FIELD})({_QUOTED}|{_ESCAPED}|{_WORD})",
    re.I,
)
_NAMED = late_pattern(rf"(?:{_NAME}|authorization|cookie){_SIGN}", re.I)
_SIGN_CHARS = 40
"""No sign is longer; a value is searched for the next name up to here behind its end."""
_FLAG = late_pattern(
    r"((?<![\w-])--?(?:[a-z0-9]{1,20}[_-]){0,4}(?:password|passphrase|passwd|pass|pwd|token|secret"
    r"|secret-id"
    r"|api-?key|access-key|secret-key|secret-access-key|credentials?|storepass|keypass|passcode|hmac-key|requirepass"
    rf")[ \t]{{1,8}})(?!-)({_QUOTED}|{_WORD})",
    re.I,
    words=("pass", "pwd", "token", "secret", "key", "credential"),
)
_ELEMENT = late_pattern(
    rf"(<[\w:.-]{{0,40}}?{_NAME}(?:[ \t][^<>\r\n]{{0,200}})?>\s{{0,80}}(?:<!\[CDATA\[)?"
    rf"(?=[^<\s])|<name>"
    rf"[\w.-]{{0,60}}?{_NAME}</name>\s{{0,80}}<value>)[^<\"'\r\n]+",
    re.I,
)
_ATTRIBUTE = late_pattern(
    rf"({_NAME}\\*[\"'][ \t]{{1,8}}(?:value|content)=\\*[\"'])[^<\"'\r\n]+",
    re.I,
)
_VALUE = late_pattern(r"(?i:value|content)=")
_NETRC = late_pattern(
    r"(\b(?:login\s{1,8}\S{1,128}|machine[ \t]{1,8}\S{1,128}|default)"
    r"(?:\s{1,8}account[ \t]{1,8}\S{1,128})?\s{1,8}password[ \t]{1,8})\S+",
    re.I,
    words=("password",),
)
_URL = late_pattern(r"(://[^\s/:@\"'<>?#]{0,256}:)[^\s/\"'<>?#]{1,512}@", words=("://",))
_QUERY = late_pattern(
    r"([?&#;](?:sig|signature|x-amz-signature|x-goog-signature|code|key|auth|sid|otp|ticket"
    r"|j?session(?:_?id)?)=)[^\s&\"'<>#]{8,}",
    re.I,
    words=("=",),
)
# Starts only where a word starts, so a long run of "eyJ" is scanned once.
_JWT = late_pattern(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
    words=("eyj",),
)


def _keep_quote(match: re.Match[str]) -> str:
    opening = re.match(r"\\*[\"']", match[2])
    return f"{match[1]}{opening[0] if opening else ''}{MARK}"


def _hide_assigned(text: str) -> str:
    """Hide the value after a secret's name and a sign. A value may end in the next such name."""
    parts, position = [], 0
    lower = text.lower()
    while match := _search_named(_ASSIGNED, text, lower, position):
        parts.append(text[position : match.start()])
        following = _find_name_before_sign(text, match.start(2), match.end())
        if following is None:
            parts.append(_keep_quote(match))
            position = match.end()
        else:
            parts.append(match[1] + (MARK if following > match.start(2) else ""))
            position = following
    return "".join(parts) + text[position:]


def _hide_blocks(text: str) -> str:
    """Hide the lines below a secret's name, as YAML writes a long text."""
    parts, position = [], 0
    lower = text.lower()
    while match := _search_named(_BLOCK, text, lower, position):
        parts += [text[position : match.start()], f"{match[1]}{MARK}\n"]
        position = match.end()
    return "".join(parts) + text[position:]


def _search_named(
    pattern: re.Pattern[str], text: str, lower: str, position: int
) -> re.Match[str] | None:
    """Return the first match of a pattern that begins with `_NAME`, from `position` on.

    `lower` is the text in lower case. To try all names at each place of a text is slow: only the
    places before a part that each name has are tried.
    """
    if len(lower) != len(text):  # a capital of some languages has two small letters
        return pattern.search(text, position)
    tried = position
    for part in _PARTS.finditer(lower, position):
        for start in range(max(tried, part.start() - _MOST_BEFORE), part.start() + 1):
            found = pattern.match(text, start)
            if found:
                return found
        tried = part.start() + 1
    return None


def _find_name_before_sign(text: str, start: int, end: int) -> int | None:
    """Return where, between start and end, a secret's name begins whose sign reaches the end."""
    found = (m for m in _NAMED.finditer(text, start, end + _SIGN_CHARS) if m.end() >= end)
    return next((m.start() for m in found if m.start() < end), None)


def may_name_secret(text: str) -> bool:
    """Return False only if `_NAME` matches nowhere in the text.

    Letters of other alphabets that count as `k` or `s` where case is ignored, such as the sign for
    kelvin, are read as such when the text is folded (folded_text.py).
    """
    lower = text.lower()
    if any(part in lower for part in _IN_NAMES):
        return True
    return not text.isascii() and any(part in lower for part in _IN_OTHER_NAMES)


def _if_secret_named(rule: Callable[[str], str]) -> Callable[[str], str]:
    """Apply the rule only to texts that may name a secret: to search for all names is slow."""
    return lambda text: rule(text) if may_name_secret(text) else text


def _hide_attributes(text: str) -> str:
    return _ATTRIBUTE.sub(rf"\1{MARK}", text) if _VALUE.search(text) else text


RULES: tuple[Callable[[str], str], ...] = (
    *KEYS,
    hide_in_commands,
    *FORMS,
    *VALUES,
    _if_secret_named(_hide_blocks),
    # Before all that hide a word, which might be the name of what comes next.
    _if_secret_named(_hide_assigned),
    replace_with(_HEADER, rf"\1{MARK}"),
    replace_with(_COOKIE, rf"\1{MARK}"),
    replace_with(_URL, rf"\1{MARK}@"),
    replace_with(_TOKEN, MARK),
    replace_with(_HASH, MARK),
    replace_with(_HOOK, rf"\1{MARK}"),
    replace_with(_JWT, MARK),
    replace_with(_SCHEME, rf"\1{MARK}"),
    _if_secret_named(lambda text: _PAIR.sub(_keep_quote, text)),
    lambda text: _FLAG.sub(_keep_quote, text),
    _if_secret_named(replace_with(_ELEMENT, rf"\1{MARK}")),
    _if_secret_named(_hide_attributes),
    replace_with(_NETRC, rf"\1{MARK}"),
    replace_with(_DOCKER_AUTH, rf"\1{MARK}"),
    replace_with(_SAID, rf"\1{MARK}"),
    replace_with(_QUERY, rf"\1{MARK}"),
    *WORDS,
    *PAIRS,
    *RESTS,
    hide_columns,
    hide_in_sentences,
)


SHAPES: tuple[Callable[[str], str], ...] = (
    *KEYS,
    replace_with(_URL, rf"\1{MARK}@"),
    replace_with(_TOKEN, MARK),
    replace_with(_HASH, MARK),
    replace_with(_HOOK, rf"\1{MARK}"),
    replace_with(_JWT, MARK),
)
