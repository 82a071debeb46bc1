"""Find paths that hold secrets, by the names in `commands/rules/sensitive.yaml`, in every spelling.

Private keys, password files and tokens: `is_secret` decides it for one path, also for a backup copy
(`id_rsa.bak`), and the agent's file tools ask it too. `secret_files.py` refuses the command.

Paths are compared in lower case, without `.`, `..`, doubled or closing slashes; a `~` is any home.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Final

from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass

_FILE: Final = Path(__file__).parents[1] / "rules" / "sensitive.yaml"

ORDINARY: Final = re.compile(r"\.(conf|log|service|list|md|txt|py|sh|c|h|js|html?|xml)$")
"""Names that a search among many folders may keep to: hardly a secret is called so."""

_COPY: Final = re.compile(
    r"(?:\.(?:gz|bz2|xz|zst|lz4|bak|backup|old|orig|save|sw[a-p]|dpkg-\w{1,9}|rpm\w{1,9}|\d{1,3})|~){1,4}$"
)
"""Endings of the names of copies: a copy of a secret is a secret."""

_SWAP: Final = re.compile(r"(^|/)\.(?=[^/]+\.sw[a-p]$)")
"""The dot that an editor puts before the name of a file that it has open."""

_WILD: Final = frozenset("*?[")

LONGEST: Final = 4096
"""Bytes of the longest path that can be opened."""


_CWD: Final = re.compile(r"/(?:cwd|exe|fd/[^/]+)/+(?:\./+)*\.\.(?:/|$)")

_THROUGH_OPEN_FILE: Final = re.compile(
    r"/+(?:proc/[^/]+/(?:task/[^/]+/)?|dev/)fd/+[^/]+/|/+dev/+std(?:in|out|err)/"
)
"""A path below an open folder, such as `/dev/stdin/x` with `< folder`."""


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """`parts` of a path from its end; a `folder` is secret with all that is in it. `root` is where
    such a path begins: `/`, `~` or, for a name, empty."""

    parts: tuple[str, ...]
    folder: bool
    root: str


@cache
def rules() -> Mapping[str, Any]:
    """Return the file as parsed. Effect: reads it, once."""
    raw: Mapping[str, Any] = rules_of(_FILE)
    return raw


@cache
def words(key: str) -> frozenset[str]:
    """Return the words that stand under `key` in the rules."""
    return frozenset(str(rules()[key]).split())


@lru_cache(maxsize=4096)
def normalize(path: str) -> str:
    """Return `path` in the one spelling that is compared: relative to `/`, in lower case."""
    if path[:1] == "~":
        path = re.sub(r"^~[^/]*", "/home/_", path)
    path = posixpath.normpath("/" + follow_links(path.lower())) if path else ""
    return path.lstrip("/")


@lru_cache(maxsize=4096)
def is_secret(path: str, *, names: bool = True) -> bool:
    """Return True if the file `path`, without its quotes, holds secrets or (`names`) is called
    as if."""
    if len(path) > LONGEST:
        return False
    known = normalize(path)
    below_root = path[:1] == "/" and _names_place(known, "rooted", _beginnings(known))
    return below_root or _is_secret_path(known, names) or unknown_parent(path)


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Return True if `path`, which may be a pattern itself, can be or end in one of `patterns`."""
    if len(path) > LONGEST or not normalize(path):
        return False
    return _is_pattern_match(simplify_pattern(normalize(path)), patterns, path[:1] in {"/", "~"})


@lru_cache(maxsize=4096)
def _is_pattern_match(path: str, patterns: tuple[str, ...], rooted: bool) -> bool:
    parts = path.split("/")
    return any(_has_ending(parts, one, rooted) for one in _split_patterns(patterns))


def holds_any(path: str, patterns: tuple[str, ...], called: str = "*") -> bool:
    """Return True if one of `patterns` lies below the folder `path`, in a file that is `called`
    so."""
    parts = [part for part in simplify_pattern(normalize(path)).split("/") if part]
    if path[:1] != "/" or len(path) > LONGEST or ORDINARY.search(called):
        return False
    return any(
        len(parts) < len(one)
        and all(map(patterns_overlap, parts, one))
        and patterns_overlap(simplify_pattern(called), one[-1])
        for one in _split_patterns(patterns)
    )


@cache
def _split_patterns(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(simplify_pattern(normalize(one)).split("/")) for one in patterns)


def _has_ending(parts: Sequence[str], others: Sequence[str], rooted: bool) -> bool:
    start = len(parts) - len(others)
    if start < 0 or not all(map(patterns_overlap, parts[start:], others)):
        return False
    return (rooted and start == 0) or bool(parts[start].strip("*?"))


def is_disk(path: str) -> bool:
    """Return True if `path` is, or as a pattern may be, a whole disk or a part of one."""
    return matches_any(path, _disk_patterns())


@cache
def _disk_patterns() -> tuple[str, ...]:
    return tuple(str(rules()["disks"]).split())


def _is_secret_path(path: str, names: bool) -> bool:
    beginnings = _beginnings(path)
    if _names_place(path, "places", beginnings):
        return not path.endswith(".pub")
    if names and _names_place(path, "names", beginnings) and not _is_public_path(path):
        return True
    if "." not in path and "~" not in path:
        return False  # no copy is called so
    original = _COPY.sub("", _SWAP.sub(r"\1", path))
    return (
        original not in {path, ""}
        and not original.endswith("/")
        and _is_secret_path(original, names)
    )


def _is_public_path(path: str) -> bool:
    name = path.rpartition("/")[2]
    return in_public_folder(path) or any(
        patterns_overlap(name, rule) for rule in rules()["public"] if rule[0] != "/"
    )


def in_public_folder(path: str) -> bool:
    """Return True if `path`, spelled as all are, lies where everybody may read."""
    folders = (rule[1:] for rule in rules()["public"] if rule[0] == "/")
    return path.startswith(tuple(folders))


@cache
def secret_places(key: str) -> tuple[SecretPlace, ...]:
    """Return the places that stand under `key` in the rules."""
    return tuple(_parse_place(str(rule)) for rule in rules()[key])


def _parse_place(rule: str) -> SecretPlace:
    root = rule[0] if rule[0] in "/~" else ""
    return SecretPlace(tuple(rule.lstrip("~/").rstrip("/").split("/")), rule.endswith("/"), root)


def unknown_parent(path: str) -> bool:
    """Return True if `path` goes below an open file, or up from a folder that a link of /proc
    names: it may lead anywhere."""
    if path[:1] == "/" and _THROUGH_OPEN_FILE.match(path):
        return True
    return ".." in path and _CWD.search(path) is not None


def _names_place(path: str, key: str, beginnings: Sequence[str]) -> bool:
    """Return True if `path`, spelled as all are, names one of the places under `key`.

    There are a thousand. Only those with one of the `beginnings` are compiled and tried.
    """
    known = _by_first_parts(key)
    return any(_compile_places(key, one).search(path) for one in beginnings if one in known)


def _beginnings(path: str) -> Sequence[str]:
    """Return the keys of `_by_first_parts` with places that `path` may name."""
    # `$` also matches before the end of a line.
    parts = path.rstrip("\n").split("/")
    return ("*", *parts, *map("/".join, pairwise(parts)))


@cache
def _compile_places(key: str, start: str) -> re.Pattern[str]:
    before = "^" if key == "rooted" else "(?:^|/)"
    places = _by_first_parts(key)[start]
    return re.compile(before + _any_of([[*_split_place(place)] for place in places]))


@cache
def _by_first_parts(key: str) -> Mapping[str, Sequence[SecretPlace]]:
    """Return the places under `key` by their first two parts, or by those before a pattern. All
    that begin with a pattern stand below `*`."""
    found: dict[str, list[SecretPlace]] = {}
    for place in secret_places(key):
        literal = takewhile(_WILD.isdisjoint, place.parts[:2])
        found.setdefault("/".join(literal) or "*", []).append(place)
    return found


def _any_of(choices: Sequence[Sequence[str]]) -> str:
    """Return an expression for any of `choices`, each in pieces. Those that begin alike share their
    beginning: to try one after the other takes long."""
    shared: dict[str, list[Sequence[str]]] = {}
    for first, *rest in choices:
        shared.setdefault(first, []).append(rest)
    found = [first + (_any_of(rests) if rests[0] else "") for first, rests in shared.items()]
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _split_place(place: SecretPlace) -> Iterator[str]:
    for part in place.parts[:-1]:
        yield from (*_split_part(part), "/")
    yield from (*_split_part(place.parts[-1]), "(?:/|$)" if place.folder else "$")


def _split_part(part: str) -> Iterator[str]:
    """Yield the pieces of one name as an expression: `*` is any characters but a leading dot, `?`
    one."""
    if part[0] in "*?":
        yield r"(?!\.)"
    for piece in re.findall(r"\[[^\]]*\]|[^\[]", part):
        yield {"*": "[^/]*", "?": "[^/]"}.get(piece) or (
            piece if len(piece) > 1 else re.escape(piece)
        )


_LINKS: Final = (
    (re.compile(r"^/dev/fd(?!/[012]$)(?=/|$)"), "/proc/self/fd"),
    (re.compile(r"^/dev/stdin(?=/)"), "/proc/self/fd/0"),
    (re.compile(r"^/dev/stdout(?=/)"), "/proc/self/fd/1"),
    (re.compile(r"^/dev/stderr(?=/)"), "/proc/self/fd/2"),
    (re.compile(r"^/dev/core(?=/|$)"), "/proc/kcore"),
    (re.compile(r"^/dev/log(?=/|$)"), "/run/systemd/journal/dev-log"),
    (re.compile(r"^/var/run(?=/|$)"), "/run"),
    (re.compile(r"^/var/lock(?=/|$)"), "/run/lock"),
    (re.compile(r"^/(bin|sbin|lib|lib32|lib64)(?=/|$)"), r"/usr/\1"),
    (re.compile(r"^/proc/(net|mounts)(?=/|$)"), r"/proc/self/\1"),
    (re.compile(r"^/proc/thread-self(?=/|$)"), "/proc/self/task/1"),
    (re.compile(r"^/etc/mtab(?=/|$)"), "/proc/self/mounts"),
    (re.compile(r"^/sys/class/[^/]+/[^/]+(?=/\.\.)"), "/sys/devices/x/x/x"),
    # The root of a process is the root of some system.
    (re.compile(r"^/proc/[^/]+(?:/task/[^/]+)?/root(?=/|$)"), ""),
    (re.compile(r"^/proc/self/fd/[^/]+(?=/)"), ""),
)
_FOLDERS_OF_LINKS: Final = frozenset(
    {"dev", "var", "proc", "etc", "sys", "bin", "sbin", "lib", "lib32", "lib64"}
)
"""The first part of each path that one of them matches."""


@lru_cache(maxsize=4096)
def follow_links(path: str) -> str:
    """Return `path` with its known links followed and its `..` resolved, in order."""
    if path[:1] != "/":
        return path
    at = ""
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part == "..":
            at = at.rpartition("/")[0]
            continue
        at = _follow_link(f"{at}/{part}")
    return at or "/"


def _follow_link(path: str) -> str:
    # `$` also matches before the end of a line.
    if path.split("/", 2)[1].rstrip("\n") not in _FOLDERS_OF_LINKS:
        return path
    for link, target in _LINKS:
        path, count = link.subn(target, path)
        if count:
            break
    return path


def leading_program(name: str) -> str:
    """Return the program whose rules hold for `name`: the first of those that are alike."""
    return _leader_by_program().get(name, name)


@cache
def _leader_by_program() -> Mapping[str, str]:
    groups = [str(group).split() for group in rules()["alike"]]
    return {name: group[0] for group in groups for name in group}
