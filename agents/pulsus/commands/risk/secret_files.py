"""Files whose content is a secret: refused before anything else is asked (SENSITIVE_PATH).

Password files, keys and tokens (`~/.ssh/id_rsa`, `/etc/shadow`, `.env`): the list of such paths is
`commands/rules/sensitive.yaml`, and a path is compared with it in `secret_paths.py`.
`secret_printing_calls.py` has commands that print secrets without naming a file. Secrets in output
are masked by `core/telemetry/redaction.py`.

Every word of a command is looked at, in every spelling, but for programs that say of a file only
what it is called (`ls`), and for patterns that are searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.inspectors.http import metadata_host
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.file_uses import FileUse
from pulsus.commands.risk.secret_paths import is_secret, matches_any, rules
from pulsus.commands.risk.secret_printing_calls import find_secret_calls
from pulsus.commands.risk.wildcard_secret_paths import contains_secrets, secret_pattern
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.working_dirs import resolve_paths

_SHELLS: Final = {
    *("sh", "bash", "dash", "zsh", "ksh", "ash", "su", "eval"),
    *("ssh", "docker", "podman", "kubectl", "duckdb"),
}
"""Programs that take a command as one word."""

_READING_LANGUAGES: Final = {"awk", "gawk", "mawk", "sed"}
"""Languages in which a file can be read."""

_READ_IN_SCRIPT: Final = re.compile(
    r"(?:^|[\s;{}0-9$/!])[rR]\s+(?P<sed>[^\s;}]+)|<\s*\"(?P<awk>[^\"]+)\"", re.MULTILINE
)
"""`r FILE` and `R FILE` of sed, `getline < "FILE"` of awk."""

_OWN_PATTERNS: Final = {
    *("find", "fd", "locate", "plocate", "git", "duckdb", "clickhouse-local", "clickhouse"),
    *("tar", "bsdtar", "unzip", "zipinfo", "7z", "rsync", "augtool", "journalctl", "lsof"),
}
"""Programs that know patterns of file names themselves, quoted ones too."""

_WILD: Final = frozenset("*?[")

_SEPARATORS: Final = re.compile(r"[\s'\"=,:;@()<>|&`{}\\]+")
_BRACES: Final = re.compile(r"([^\s{}]{0,256})\{([^{}\s]{0,256},[^{}\s]{0,256})\}([^\s{}]{0,256})")
_NAME: Final = re.compile(r"[\w.+@%~*?\[\]!^-]+")


def find_secrets(found: Sequence[FileUse], tables: Tables) -> Iterator[CallFinding]:
    """Yield a refusal of each call, by the first of its words that names a secret."""
    for use in found:
        yield from find_secret_calls(use.words, tables)
        if not use.only_names:
            yield from islice(_find_secret_words(use), 1)


def find_secrets_in_text(text: str) -> Iterator[CallFinding]:
    """Yield a refusal if `text`, which need not be a command that can be read, names a secret."""
    bare = re.sub(r"[\"'\\]", "", text)
    for part in dict.fromkeys((*text.split(), *bare.split())):
        for whole in _expand_braces(part):
            for token in re.split(r"[;&|<>()`=,:@{}]+", whole):
                if token and _is_secret(token, wild=True, names=_is_plain_name(_last_part(token))):
                    yield _refuse_word(token)
                    return


def _expand_braces(part: str) -> Iterator[str]:
    """Yield `part`, and the words that its braces stand for, one level deep."""
    yield part
    for found in _BRACES.finditer(part) if "{" in part else ():
        for choice in found[2].split(","):
            yield found[1] + choice + found[3]


def _find_secret_words(use: FileUse) -> Iterator[CallFinding]:
    for at, word in enumerate(use.words[1:], 1):
        if at in use.searched:
            yield from _find_secrets_in_script(use.program, word)
        elif at not in use.apart:
            yield from _find_named_secret(word, use)
        elif matches_any(word.text.partition("=")[2] or word.text, _patterns_never_used()):
            yield _refuse_word(word.text)


@cache
def _patterns_never_used() -> tuple[str, ...]:
    return tuple(str(rules()["never_used"]).split())


def _find_named_secret(word: Word, use: FileUse) -> Iterator[CallFinding]:
    host = metadata_host(word.text) if "://" in word.text else ""
    if host:
        yield _refuse_word(host, "a cloud machine gets its credentials there")
        return
    for text, whole in _path_candidates(word, use.program):
        for path in resolve_paths(use.folders, text) if use.folders else (text,):
            if _may_open_secret(path, word, use, whole=whole):
                yield _refuse_word(text)
                return


def _find_secrets_in_script(name: str, word: Word) -> Iterator[CallFinding]:
    if name in _READING_LANGUAGES:
        tokens = _SEPARATORS.split(word.text)
        yield from (_refuse_word(t) for t in tokens if t[:1] == "/" and is_secret(t, names=False))
        for read in _READ_IN_SCRIPT.finditer(word.text):
            path = read["sed"] or read["awk"]
            if is_secret(path, names=_is_plain_name(_last_part(path))):
                yield _refuse_word(path)


def _may_open_secret(path: str, word: Word, use: FileUse, *, whole: bool) -> bool:
    names = use.names and _is_plain_name(_last_part(path))
    if _is_secret(path, wild=word.wild or use.program in _OWN_PATTERNS, names=names):
        return True
    return use.deep and whole and contains_secrets(path, use.pattern)


def _is_plain_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text))


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_secret(path: str, *, wild: bool, names: bool) -> bool:
    if is_secret(path, names=names):
        return True
    return wild and not _WILD.isdisjoint(path) and secret_pattern(path, names=names)


def _path_candidates(word: Word, name: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of `word` that may be a path, each with True if it is the whole word."""
    text = word.text
    yield text, True
    for sign in "=@:":
        if sign in text:
            yield text.partition(sign)[2], False
    if name == "git":
        yield from _git_object_paths(text)
    if text[:1] == "-" and text[1:2] != "-":
        yield text[2:], False
    bare = name in _SHELLS
    tokens = _SEPARATORS.split(text) if bare or "/" in text else ()
    if len(tokens) > 1:
        yield from ((token, False) for token in tokens if token and (bare or "/" in token))


def _git_object_paths(text: str) -> Iterator[tuple[str, bool]]:
    """Yield files that git finds by a commit, a stage or a pathspec: `HEAD:.env`, `:0:.env`,
    `:(top,icase).env`, `:/.env`."""
    if ":" in text:
        behind = text.rpartition(":")[2]
        yield behind.lstrip("/!^"), False
        if behind[:1] == "(":
            yield behind.partition(")")[2], False


def _refuse_word(word: str, rule: str = "secrets are kept there") -> CallFinding:
    return refusal("sensitive", word, rule)
