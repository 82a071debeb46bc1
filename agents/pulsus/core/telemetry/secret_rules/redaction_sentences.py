"""Secrets in the words of a person: "put X as the password", "creds are bob / X", "pw X".

A sentence names what a secret is for, and the shape of a word tells that it is one: it has letters
and digits, signs or capitals within, and is no path, host, file or number. A word that a name of a
secret leads to may have an easier shape. Each word is looked at a bounded number of times, so the
time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_LONGEST_LINE: Final = 600
"""Characters of a longer line: a person does not write one, and it is left to the other rules."""
_NEAR: Final = 12
"""Words between the name of a secret and what leads to the value."""

_MAY_NAME: Final = late_pattern(
    r"pass|pw|token|jeton|secret|key|pin|puk|otp|psk|cred|log|sign|auth|bind|connect|zugang|kennwort"
    r"|schl|contrase|clave|cl[ée]|community|senha|wachtwoord|parola|melde|entra"
)
"""Each sentence that this module looks at has one of these."""
_NAMES: Final = frozenset(
    (
        *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "pw's", "pass"),
        *("secret", "token", "jeton", "pin", "puk", "otp", "psk", "community", "login"),
        *("creds", "credentials", "zugangsdaten", "passwort", "kennwort", "contraseña", "clave"),
        *("api-key", "apikey", "api_key", "api-schlüssel", "senha", "wachtwoord", "parola"),
    )
)
_KEYS: Final = frozenset(("key", "keys", "schlüssel", "secrète", "passe", "clé", "api"))
"""Words that name a secret only beside one of `_KINDS`."""
_KINDS: Final = frozenset(
    (
        *("api", "secret", "access", "private", "encryption", "session", "license", "licence"),
        *("unseal", "enrollment", "signing", "hmac", "client", "shared", "recovery", "activation"),
        *("phrase", "mot", "clé"),
    )
)
_VERBS: Final = late_pattern(
    r"(?i)\b(?:set|put|use|using|swap|replace|exchange|rotate|changed?|store|make|give|tell|type"
    r"|goes|enter|try|create|log|sign|ssh|connect|auth|authenticate|unlock|encrypt|protect|mount|add|revoke|reset|update"
    r"|feed|enroll|bind|setze|ändere|nimm|melde|tausche|mets|connecte|utilise|pon"
    r"|cambia|entra)\b"
)
_MOVES: Final = late_pattern(
    r"(?i)\b(?:copy|move|send|upload|push|sync|mail|deploy|export|back up|restrict|assign"
    r"|limit|give)\b"
)
_ENTER: Final = late_pattern(
    r"(?i)\b(?:log(?:s|ged)?[ -]?(?:in|on|into)|login|sign(?:ed)?[ -]?in|connect|bind"
    r"|auth(?:enticate)?"
    r"|creds?|credentials?|zugangsdaten|melde(?: dich)?|connecte(?:-toi)?|entra|get into|use|try)\b"
)
_LEADS: Final = frozenset(
    (
        *("is", "be", "was", "are", "became", "namely", "now", "=", ":", "->", "→", "-->", "=>"),
        *("ist", "lautet", "est", "sera", "es", "será", "lo"),
    )
)
_LEADS_OF_SETTING: Final = frozenset(
    ("to", "with", "for", "by", "auf", "in", "à", "en", "a", "from")
)
"""These lead to a value only after a verb that sets, and not where something is moved."""
_FILLERS: Final = frozenset(
    (
        *("the", "a", "an", "its", "it", "new", "now", "please", "bitte", "as", "be", "him", "of"),
        *("one", "value", "own", "instead", "temporary", "initial", "old", "following", "this"),
    )
)
_BEHIND_USER: Final = frozenset(
    ("with", "and", "/", ":", "pw", "pass", "und", "et", "y", "mit", "using", "avec", "con")
)
_BEFORE_NAMES: Final = frozenset(
    (
        *(
            "id",
            "ids",
            "named",
            "called",
            "user",
            "username",
            "instance",
            "host",
            "number",
            "title",
        ),
        *("version", "commit", "file", "image", "tag", "branch", "release", "ticket"),
    )
)
"""Behind such a word stands a name, which is no secret."""
_NAME_BEHIND: Final = late_pattern(
    r"(?i)[\"'”“`)>]{0,2},?\s+(as|for|into|is|als|comme)\s+(?:[\w'’.-]{1,30}\s+){0,4}?[\w.-]{0,30}?"
    r"(?:password|passphrase|passwd|pw|pwd|passcode|token|secret|(?:\w{1,20}[ _-])?key|passwort"
    r"|kennwort|phrase secrète)\b"
)
_AS: Final = frozenset(("as", "als", "comme"))
_TRIM: Final = "\"'`“”„«»()[]<>{},;*"
_HEX: Final = late_pattern(r"[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PATH: Final = late_pattern(
    r"[/~$%.&!@].*|.*\*.*|\d+[:.][\w.+~:-]*|[A-Z]+#\d+|-{1,2}[A-Za-z].*|.*\[redacted\].*|.*://.*"
    r"|arn:.*|[a-z][\w.+-]*@[\w-]+(?:\.[\w-]+)*"
    r"|[+-]?[\d.,:/_-]+[A-Za-z%]{0,4}|[^\W\d_]+(?:['’-][^\W\d_]+)*|[\w.-]+(?:/[\w.*-]+)+/?"
    r"|[\w.-]+\.(?:ya?ml|json|conf|cfg|ini|toml|env|txt|md|py|sh|pem|crt|key|log|gz|tar|tgz|zip|xml"
    r"|csv|sql|service|socket|timer|properties|html?|js|ts|go|rs|tf|jks|p12)"
    r"|[A-Z0-9_]*_[A-Z0-9_]*|[\w.-]+[(\[].*|[\w.-]+=.*"
)
"""Paths, options, addresses, numbers with a unit, plain words, files, variables, calls, pairs."""
_NAMED: Final = late_pattern(
    r"(?:[a-z]+\d{0,5}|\d{1,4}|v\d+[a-z]?)(?:[._-](?:[a-z]*\d{0,5}|[a-z]\d[a-z]))*(?::\d+)?"
    r"|(?:[A-Z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]*)*-?[\d.]*[a-z]?|[A-Z][A-Z0-9]+-\d+"
    r"|[A-Za-z][a-z]*\d{0,5}(?:[.-][A-Za-z][a-z]*\d{0,5})*|[A-Za-z]+\d{0,5}(?:\.[A-Za-z]+\d{0,5}){2,}"
)
"""Names with a number: hosts, services, versions, classes, tickets."""
_DIGIT: Final = late_pattern(r"\d")
_LETTER: Final = late_pattern(r"[^\W\d_]")
_SIGN: Final = late_pattern(r"[!#$%^&+~?@]")
_INSIDE: Final = late_pattern(r"[a-z][^a-z]*[A-Z]|\d[A-Za-z_]|_\d")
"""A capital, or a digit, where a name has none."""
_LONGEST_WORD: Final = 200
_BITS: Final = late_pattern(r"\S+")
_QUOTED: Final = late_pattern(r"(?<![\w])[\"'`“„«] ?([^\"'`“”„«»]{6,60}?) ?[\"'`”“»](?![\w])")
_BEFORE_PHRASE: Final = late_pattern(
    r"(?i)(?:\b(?:use|type|enter|with|is|are|be|to|as|password|passphrase|token|secret|key|pin|pw"
    r"|pwd)|:)[:,]?\s{0,3}\Z"
)
_SHORT: Final = 20
_PASSWORDS: Final = frozenset(("password", "passwd", "passphrase", "pwd", "pw", "pass", "passcode"))


def hide_in_sentences(text: str) -> str:
    """Return `text` without secrets that stand in sentences of a person."""
    if not _MAY_NAME.search(text.lower()):
        return text
    lines = text.split("\n")
    return "\n".join(_hide_in_line(line) if len(line) <= _LONGEST_LINE else line for line in lines)


class _Word:
    """A word with its place, without the quotes, brackets and commas around it."""

    __slots__ = ("end", "ends", "leads", "low", "start", "stops", "text")

    def __init__(self, match: re.Match[str]) -> None:
        raw = match.group()
        left = len(raw) - len(raw.lstrip(_TRIM))
        text = raw.strip(_TRIM)
        text = text.rstrip(".:?" + _TRIM) or text
        text = text[:-2] if text[-2:] in {"'s", "’s"} else text
        self.text, self.low = text, text.lower()
        self.leads = raw.lower() in _LEADS or raw[-1:] == ":"
        self.stops = raw[-1:] in ".?" or raw[-2:] in {".'", '."', "'.", '".'}
        self.ends = raw[-1:] in ",;.?!"
        self.start = match.start() + left
        self.end = self.start + len(text)


def _hide_in_line(line: str) -> str:
    words = [_Word(found) for found in _BITS.finditer(line)]
    names = [at for at in range(len(words)) if _names_secret(words, at)]
    enters = _ENTER.search(line) is not None
    if not names and not enters:
        return line
    found: set[tuple[int, int]] = set()
    sets = _VERBS.search(line) is not None
    if names:
        moves = _MOVES.search(line) is not None
        found.update(_behind_names(words, names, sets=sets and not moves))
        found.update((word.start, word.end) for word in words if _is_named_behind(line, word))
        if sets:
            found.update(_in_same_sentence(words, names))
            found.update(_phrases(line))
    if enters:
        found.update(_behind_users(words, named=bool(names)))
    return _replace(line, sorted(found))


def _in_same_sentence(words: Sequence[_Word], names: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the places of words with the shape of a secret in a sentence that names one."""
    first = 0
    for at, word in enumerate(words):
        if not (word.stops or at == len(words) - 1):
            continue
        if any(first <= name <= at for name in names):
            for place in range(first, at + 1):
                before = words[place - 1].low if place else ""
                if place in names or before in _BEFORE_NAMES:
                    continue
                if _is_strong(words[place].text):
                    yield words[place].start, words[place].end
        first = at + 1


def _is_named_behind(line: str, word: _Word) -> bool:
    """Return True for X in "X as the password" and "X for the root password"."""
    if not _is_easy(word.text) or not (name := _NAME_BEHIND.match(line, word.end)):
        return False
    return name[1].lower() in _AS or _is_likely(word.text)


def _replace(line: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in spans:
        if start >= position:
            parts += [line[position:start], MARK]
            position = end
    return "".join(parts) + line[position:]


def _names_secret(words: Sequence[_Word], at: int) -> bool:
    low = words[at].low
    if "/" in low:
        return False
    if low in {"pass", "login"} and (words[at].leads or words[at].text != low):
        return False  # as in `PASS: test_2`
    if low in _NAMES or low.endswith(
        ("password", "passwd", "-passwort", "-kennwort", "passphrase")
    ):
        return True
    if low not in _KEYS:
        return low.endswith(("_token", "_secret", "_pass", "api_key", "secret_key", "access_key"))
    beside = {words[n].low for n in (at - 1, at - 2) if n >= 0}
    return not beside.isdisjoint(_KINDS) or _leads_to_value(words, at)


def _leads_to_value(words: Sequence[_Word], at: int) -> bool:
    """Return True for a key of any kind that a word with the shape of a secret follows."""
    if not (words[at].leads or (at + 1 < len(words) and words[at + 1].leads)):
        return False
    behind = next((w.text for w in words[at + 1 : at + 4] if not w.leads), "")
    return _is_strong(behind) or _HEX.fullmatch(behind) is not None


def _behind_names(
    words: Sequence[_Word], names: Sequence[int], *, sets: bool
) -> Iterator[tuple[int, int]]:
    """Yield the places of the words to which the name of a secret leads."""
    for name in names:
        led = not words[name].ends  # the next word, as in "pw X"
        for at in range(name + 1, min(name + 1 + _NEAR, len(words))):
            word = words[at]
            if word.leads or (sets and word.low in _LEADS_OF_SETTING):
                led = True
            elif word.low in _FILLERS or not word.text:
                continue
            else:
                easy = at == name + 1 and words[name].low in _PASSWORDS
                if led and (_is_easy(word.text) if easy else _is_likely(word.text)):
                    yield word.start, word.end
                led = False


def _behind_users(words: Sequence[_Word], *, named: bool) -> Iterator[tuple[int, int]]:
    """Yield the place of the word behind a user: "log in as bob with X", "creds are bob / X".

    If nothing else is `named` as a secret, the word has its shape, or stands behind "as bob with".
    """
    for at, word in enumerate(words):
        if word.low not in {"in", "on", "into"} and not _ENTER.fullmatch(word.low):
            continue
        for place in range(at + 1, min(at + 1 + _NEAR, len(words))):
            user, sign, value = words[place].text.replace(":", "/", 1).partition("/")
            if sign and user.isidentifier() and _is_likely(value):
                yield words[place].end - len(value), words[place].end
            if words[place - 1].low not in _BEHIND_USER:
                continue
            sure = named or words[max(0, place - 3)].low == "as"
            if _is_likely(words[place].text) if sure else _is_strong(words[place].text):
                yield words[place].start, words[place].end


def _is_easy(text: str) -> bool:
    """Return True for a word with letters and a digit or a sign that is no path or file."""
    if not 5 <= len(text) <= _LONGEST_WORD or _PATH.fullmatch(text):
        return False
    return bool(_LETTER.search(text) and (_DIGIT.search(text) or _SIGN.search(text)))


def _is_likely(text: str) -> bool:
    """Return True if the word may be a secret where something leads to one."""
    return _HEX.fullmatch(text) is not None or (_is_easy(text) and not _NAMED.fullmatch(text))


def _is_strong(text: str) -> bool:
    """Return True if the word has the shape of a secret wherever it stands."""
    if len(text) < 6 or not _DIGIT.search(text) or not _is_likely(text):
        return False
    mixed = not (text.islower() or text.isupper()) and _INSIDE.search(text)
    return bool(_SIGN.search(text) or mixed)


def _phrases(line: str) -> Iterator[tuple[int, int]]:
    """Yield the places of secrets of several words in quotes."""
    for found in _QUOTED.finditer(line):
        text = found[1]
        if " " not in text or not (_DIGIT.search(text) and _LETTER.search(text)):
            continue
        if _BEFORE_PHRASE.search(line, max(0, found.start() - _SHORT), found.start()):
            yield found.span(1)
