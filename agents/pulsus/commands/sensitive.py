"""Files whose content is a secret: refused before anything else is asked (SENSITIVE_PATH).

Every word of a command is looked at, in every spelling, but for programs that say of a file only
what it is called (`ls`), and for patterns that are searched for.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.levels import levels
from pulsus.commands.peeled import peeled, program
from pulsus.commands.places import contains_secrets, rules, secret, secret_pattern, words
from pulsus.commands.script import Script
from pulsus.commands.secret_calls import calls_for_secrets
from pulsus.commands.tables import Tables
from pulsus.commands.verdict import Finding, Reason
from pulsus.commands.words import Word
from pulsus.record import dataclass

_RUNS_FOUND: Final = {
    "find": {"-exec", "-execdir", "-ok", "-okdir"},
    "fd": {"-x", "-X", "--exec", "--exec-batch"},
    "fdfind": {"-x", "-X", "--exec", "--exec-batch"},
}
_SHELLS: Final = {
    *("sh", "bash", "dash", "zsh", "ksh", "ash", "su", "eval"),
    *("ssh", "docker", "podman", "kubectl"),
}
"""What takes a command as one word."""

_READING_LANGUAGES: Final = {"awk", "gawk", "mawk", "sed"}
"""Languages in which a file can be read."""

_FOLDER_OPTIONS: Final = {"-C", "--chdir", "--directory", "--cwd", "-D"}

_SEPARATORS: Final = re.compile(r"[\s'\"=,:;@()<>|&`{}\\]+")
_NAME: Final = re.compile(r"[\w.+@%~*?\[\]!^-]+")


@dataclass(frozen=True, slots=True)
class _Use:
    """How one program uses the files it is given.

    `names`: not all `*.pem` are secret to it. `deep`: it looks below a folder, into files called
    like `pattern`. `folders`: where the commands before it went.
    """

    program: str
    words: Sequence[Word]
    names: bool
    deep: bool
    pattern: str
    folders: tuple[str, ...]


def secrets_in(script: Script, tables: Tables) -> Iterator[Finding]:
    """A refusal for each word of `script` that names a secret."""
    folders: tuple[str, ...] = ()
    handed_on = any(map(_hands_on, (stage.words for stage in script.stages)))
    for stage in script.stages:
        use = _use(peeled(stage.words), (*folders, *_moved(stage.words)), handed_on)
        if use is None:
            continue
        if use.program in {"cd", "pushd"} and len(use.words) > 1:
            folders = (*folders, use.words[-1].text)
        yield from calls_for_secrets(use.words)
        if not _only_names(use, handed_on):
            apart = _keys_used(use.words, tables)
            yield from _read(use, searched_for(use.words, tables), apart)
    for redirect in script.redirects:
        if redirect.operator != "<<<":
            use = _Use("", (Word("<"), redirect.target), True, False, "*", folders)
            yield from _read(use, frozenset(), frozenset())


def secrets_in_text(text: str) -> Iterator[Finding]:
    """A refusal if `text`, which need not be a command that can be read, names a secret."""
    bare = re.sub(r"[\"'\\]", "", text)
    for whole in {*_expanded(text), *_expanded(bare)}:
        for token in re.split(r"[\s;&|<>()`=,:@{}]+", whole):
            if token and _is_secret(token, wild=True, names=bool(_NAME.fullmatch(token))):
                yield _refused(token)
                return


def _expanded(text: str) -> Iterator[str]:
    """`text`, and what its braces stand for: one level, one after another."""
    yield text
    for found in re.finditer(r"([^\s{}]*)\{([^{}\s]*,[^{}\s]*)\}([^\s{}]*)", text):
        for choice in found[2].split(","):
            yield found[1] + choice + found[3]


def _use(inner: Sequence[Word], folders: tuple[str, ...], handed_on: bool) -> _Use | None:
    if not inner:
        return None
    name = program(inner).lower()
    texts = [word.text for word in inner[1:]]
    public = str(_entry("public_parts", name) or "").split()
    recursive = _entry("recursive", name)
    always = recursive is not None and not recursive.strip()
    return _Use(
        name,
        inner,
        names=name not in words("no_files") and not set(public) & set(texts),
        deep=always
        or any(_gives(text, recursive or "") for text in texts)
        or bool(_RUNS_FOUND.get(name, set()) & set(texts))
        or (handed_on and name in words("names_only")),
        pattern=_pattern(texts),
        folders=folders,
    )


def _entry(key: str, name: str) -> str | None:
    """What the rules say of the program `name` below `key`; keys may list several."""
    return next((str(v) for k, v in rules()[key].items() if name in k.split()), None)


def _gives(text: str, options: str) -> bool:
    """Whether the word gives one of `options`, alone, with a value or among other letters."""
    for option in options.split():
        if text == option or text.startswith(option + "="):
            return True
        if len(option) == 2 and re.match(rf"-[A-Za-z0-9]*{option[1]}", text):
            return True
    return False


def _pattern(texts: Sequence[str]) -> str:
    """What the files that find or grep look into are called, where that is said once."""
    unsure = {"-o", "-or", "!", "-not", ",", "-iregex", "-regex"} & set(texts)
    named = [b for a, b in pairwise(texts) if a in {"-name", "-iname"}]
    included = [text[10:] for text in texts if text.startswith("--include=")]
    named += included + [b for a, b in pairwise(texts) if a == "--include"]
    return named[0] if len(named) == 1 and not unsure else "*"


def _moved(given: Sequence[Word]) -> Iterator[str]:
    """The folders a call says it runs in, or looks from."""
    texts = [word.text for word in given]
    for text, following in pairwise([*texts, ""]):
        if text in _FOLDER_OPTIONS:
            yield following
        elif text.startswith(("--chdir=", "--directory=", "--cwd=")):
            yield text.partition("=")[2]
        elif text[:2] == "-C" and text[2:3] in {"/", "~", "."}:
            yield text[2:]


def _hands_on(given: Sequence[Word]) -> bool:
    """Whether it runs a program on the names another program prints."""
    inner = program(peeled(given)).lower()
    around = {program((word,)) for word in given}
    return bool({"xargs", "parallel"} & around) and inner not in words("names_only")


def _only_names(use: _Use, handed_on: bool) -> bool:
    if use.program not in words("names_only") or handed_on:
        return False
    reading = _entry("names_only_but", use.program) or ""
    if any(_gives(word.text, reading) for word in use.words[1:]):
        return False
    options = _RUNS_FOUND.get(use.program, set())
    runs = [at for at, word in enumerate(use.words) if word.text in options]
    return all(program(use.words[at + 1 :]) in words("names_only") for at in runs)


def _read(use: _Use, searched: frozenset[int], apart: frozenset[int]) -> Iterator[Finding]:
    for at, word in enumerate(use.words[1:], 1):
        if at in searched:
            yield from _in_program(use.program, word)
        elif at not in apart:
            yield from _named(word, use)


def _named(word: Word, use: _Use) -> Iterator[Finding]:
    for text, whole in _parts(word, use.program):
        if any(_opened(path, word, use, whole=whole) for path in _from(use.folders, text)):
            yield _refused(text)
            return


def _in_program(name: str, word: Word) -> Iterator[Finding]:
    if name in _READING_LANGUAGES:
        tokens = _SEPARATORS.split(word.text)
        yield from (_refused(t) for t in tokens if t[:1] == "/" and secret(t, names=False))


def _opened(path: str, word: Word, use: _Use, *, whole: bool) -> bool:
    wild = word.wild or use.program in {"find", "fd", "locate", "plocate"}
    if _is_secret(path, wild=wild, names=use.names and bool(_NAME.fullmatch(_last(path)))):
        return True
    return use.deep and whole and contains_secrets(path, use.pattern)


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_secret(path: str, *, wild: bool, names: bool) -> bool:
    if secret(path, names=names):
        return True
    return wild and any(c in path for c in "*?[") and secret_pattern(path, names=names)


def searched_for(given: Sequence[Word], tables: Tables) -> frozenset[int]:
    """Where in the words of a call patterns stand, or programs in a language of their own.

    Nowhere where the words cannot be told apart by its table: then each is taken for a file.
    """
    level = next(levels(given, tables), None) if program(given) in words("patterns") else None
    if level is None:
        return frozenset()
    inline, files = words("pattern_options"), words("pattern_files")
    options = level.parsed.given
    found = [v for one in options if one.name in inline for v in one.values]
    if not found and not any(one.name in files for one in options):
        found = list(level.parsed.operands[:1])
    return _places(given, found)


def _keys_used(given: Sequence[Word], tables: Tables) -> frozenset[int]:
    """Where keys and the like stand that the program uses and does not show (`ssh -i`)."""
    options = (_entry("uses", program(given)) or "").split()
    if not options:
        return frozenset()
    known = [one for level in levels(given, tables) for one in level.parsed.given]
    used = [one for one in known if one.name in options]
    written = {f"{one.name}={v.text}" for one in used for v in one.values}
    joined = {at for at, word in enumerate(given) if word.text in written}
    return _places(given, [v for one in used for v in one.values]) | joined


def _places(given: Sequence[Word], found: Sequence[Word]) -> frozenset[int]:
    return frozenset(at for at, word in enumerate(given) if any(word is one for one in found))


def _parts(word: Word, name: str) -> Iterator[tuple[str, bool]]:
    """What of `word` may be a path, each with whether it is the whole word."""
    text = word.text
    yield text, True
    for sign in "=@:":
        if sign in text:
            yield text.partition(sign)[2], False
    if text[:1] == "-" and text[1:2] != "-":
        yield text[2:], False
    tokens = _SEPARATORS.split(text)
    if len(tokens) > 1:
        bare = name in _SHELLS
        yield from ((token, False) for token in tokens if token and (bare or "/" in token))


def _from(folders: Sequence[str], path: str) -> Iterator[str]:
    yield path
    if folders and path[:1] not in {"/", "~"}:
        at = ""
        for folder in folders:
            at = posixpath.join(at, folder)
        yield posixpath.join(at, path)


def _refused(word: str, rule: str = "secrets are kept there") -> Finding:
    return Finding("write_or_unknown", Reason("sensitive", word, rule))
