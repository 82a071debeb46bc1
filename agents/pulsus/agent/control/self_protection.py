"""Pulsus is no target of its own agent: its files, its program and its address.

No control level and no approval lifts this. Commands are looked at as the shell reads them. A
command that writes and cannot be read is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.linked_files import TooManyNames
from pulsus.agent.control.own_process import OwnProcess, is_own_name
from pulsus.agent.control.protected_places import ProtectedPlaces, Relation
from pulsus.commands.call_check.piped_file_names import check_piped_file_names
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import levels
from pulsus.commands.risk.file_uses import FileUse, find_uses, rule_for_program
from pulsus.commands.risk.risk_level import calls_in_text
from pulsus.commands.risk.secret_paths import words
from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name, unwrap, wrappers
from pulsus.commands.verdict import CommandVerdict
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse, tool_blocked

_SEPARATORS: Final = re.compile(r"[\s'\"=,:;@()<>|&`{}\\]+")
_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "csh", "tcsh"}
)
_LANGUAGES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("python", "pypy"), "cm"),
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "php": "rBRE",
    "lua": "e",
    "deno": "",
    "bun": "e",
    "tclsh": "",
    "guile": "c",
    "Rscript": "e",
}
"""General languages, and the letters of the options that give code."""

_GIT_CONTENT: Final = frozenset(
    {
        *(
            "show",
            "diff",
            "grep",
            "cat-file",
            "blame",
            "annotate",
            "archive",
            "bundle",
            "whatchanged",
        ),
        *("format-patch", "difftool", "range-diff", "diff-tree", "diff-index", "diff-files"),
        *("stash", "fast-export", "unpack-file", "checkout-index"),
    }
)
_GIT_PATCHES: Final = re.compile(
    r"-(?:p|u|L|W|S|G|-patch|-word-diff|-function-context|c|-cc|-stat)"
)
_GIT_REPLACING: Final = frozenset(
    {
        *("apply", "am", "pull", "merge", "rebase", "reset", "switch", "stash", "clean"),
        *("cherry-pick", "revert", "bisect", "read-tree", "checkout-index", "sparse-checkout"),
        *("filter-branch", "submodule"),
    }
)
"""Commands of git that change files of the work tree without naming them."""
_UNPACKERS: Final[Mapping[str, str]] = {
    "patch": "",
    "unzip unrar pax": "",
    "tar bsdtar gtar jar": r"-?[a-zA-Z]*x[a-zA-Z]*|--extract|--get",
    "cpio": r"-[a-z]*i[a-z]*|--extract",
    "7z 7za": r"[xe]",
}
"""Programs that write files whose names another file says, and the words that ask for it."""
_UNPACK_FOLDER: Final = re.compile(r"(?:-[CdoD]|--(?:directory|chdir)=?)(?P<folder>.*)")
_ATTRIBUTES: Final = frozenset({"chmod", "chown", "chgrp", "touch"})
_FIND_ACTIONS: Final = ("-delete", "-exec", "-ok", "-fprint", "-fls")
_FOLLOWING: Final[Mapping[str, str]] = {
    "grep egrep fgrep": "-R --dereference-recursive",
    "rg": "-L --follow",
    "ag ack": "-f --follow",
    "tar bsdtar gtar": "-h -L --dereference",
    "cpio": "-L --dereference",
    "rsync": "-L -k --copy-links --copy-dirlinks --copy-unsafe-links",
    "git": "",
}
"""Programs that look below folders, and the options with which they follow links there.

Others are taken to follow them."""
_FIND_PATTERNS: Final = frozenset(
    {
        *("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"),
        *("-regex", "-iregex", "-lname", "-ilname"),
    }
)
"""Tests of `find` whose value is a pattern of names below its folders, and opens nothing."""
_BEGINS_TESTS: Final = re.compile(r"-(?![HLP]$|D$|O\d?$)|[(!]|\\[(!]")
_DEEPEST: Final = 4
_OWN_PATTERNS: Final = frozenset(
    {"rsync", "tar", "bsdtar", "gtar", "zip", "7z", "cpio", "scp", "duckdb", "find", "fd", "git"}
)
"""Programs that know patterns of file names themselves, quoted ones too."""


@dataclass(frozen=True, slots=True)
class _Blocked:
    """The word that decides, and the rule in a sentence."""

    word: str
    rule: str


class SelfProtection:
    """Refuses calls on what belongs to Pulsus. `tables` are those that judge commands."""

    def __init__(self, places: ProtectedPlaces, own: OwnProcess, tables: Tables) -> None:
        self._places, self._own, self._tables = places, own, tables

    def refuse_paths(self, paths: Iterable[str], kind: CallKind) -> ToolResponse | None:
        """Return the refusal of a call that opens one of `paths`, or None.

        A read of a folder around them passes: the tools leave the protected places out.
        """
        for path in paths:
            relation = self._places.find(path)
            if relation == "inside" or (relation == "above" and kind == "write"):
                return self._refuse_file(_Blocked(path, "it belongs to Pulsus itself"), kind)
        return None

    def refuse_names(self, names: Iterable[str]) -> ToolResponse | None:
        """Return the refusal of a write on a service or container that runs Pulsus, or None."""
        for name in names:
            if is_own_name(name.rpartition(":")[2]):
                return _refuse_process(name, "the agent does not start or stop Pulsus itself")
        return None

    def refuse_command(
        self, command: str, kind: CallKind, verdict: CommandVerdict
    ) -> ToolResponse | None:
        """Return the refusal of a command, or None."""
        try:
            script = parse_command(command)
        except Unreadable as error:
            return self._refuse_unreadable(command, kind, error)
        started = self._own.find_start(script, verdict, writes=kind == "write")
        if started:
            return _refuse_process(started, "the agent does not start or stop Pulsus itself")
        reached = self._own.find_connection(script, verdict)
        if reached:
            return _refuse_process(reached, "this is the address of Pulsus itself")
        try:
            blocked = self._find_in_script(script, kind == "write", 0)
        except TooManyNames as error:
            blocked = _Blocked(str(error), "a link among them may lead to Pulsus itself")
        except Unreadable as error:
            blocked = None
            if kind == "write":
                return _refuse_unread(error)
        return self._refuse_file(blocked, kind) if blocked else None

    def _refuse_unreadable(
        self, command: str, kind: CallKind, error: Unreadable
    ) -> ToolResponse | None:
        """Return the refusal of a write that cannot be read. A read is refused by the gate."""
        if kind == "write":
            return _refuse_unread(error)
        for name, value in (("HOME", "~"), ("PWD", ".")):
            command = command.replace(f"${{{name}}}", value).replace(f"${name}", value)
        for call in calls_in_text(command):
            for word in call:
                for path in (word.text, *_SEPARATORS.split(word.text)):
                    if path and self._is_inside(path):
                        return self._refuse_file(_Blocked(word.text, "it is Pulsus's own"), kind)
        return None

    def _is_inside(self, pattern: str) -> bool:
        try:
            return self._places.find(pattern, wild=True) == "inside"
        except TooManyNames:
            return False  # the gate refuses the command in any case

    def _find_in_script(self, script: Script, writes: bool, depth: int) -> _Blocked | None:
        """Return the first word that names a protected place. Raises Unreadable."""
        if writes:
            self._require_known_targets(script)
        written = frozenset(
            id(word)
            for words_of in (
                *(stage.words for stage in script.stages),
                [redirect.target for redirect in script.redirects],
            )
            for word in words_of
        )
        for use in find_uses(script, self._tables):
            blocked = self._find_in_use(use, writes, written)
            if blocked is not None:
                return blocked
        for stage in script.stages:
            for text in _inner_scripts(stage):
                if depth >= _DEEPEST:
                    raise Unreadable(text[:40], "shells within shells are followed no deeper")
                blocked = self._find_in_script(parse_command(text), writes, depth + 1)
                if blocked is not None:
                    return blocked
        return None

    def _require_known_targets(self, script: Script) -> None:
        """Raise Unreadable if the words do not say what a command that writes would do."""
        for at, stage in enumerate(script.stages):
            inner = unwrap(stage.words)
            name = program_name(inner).rstrip("0123456789.")
            _require_known_code(stage, inner, name)
            if "xargs" in wrappers(stage.words) and name not in words("no_readers"):
                source = program_name(script.stages[at - 1].words) if stage.fed else ""
                lists = source == "find" or rule_for_program("listers", source) is not None
                lists = lists or rule_for_program("filters", source) is not None
                if not lists:
                    raise Unreadable(source or "xargs", "it decides what is changed")
        for found in check_piped_file_names(script, self._tables, fed=False):
            raise Unreadable(found.reason.word, found.reason.rule)

    def _find_in_use(self, use: FileUse, writes: bool, written: frozenset[int]) -> _Blocked | None:
        """Return the first word of a call that names a protected place.

        `written` are the words as the command has them: others were filled in by `xargs`.
        """
        whole_paths = 0
        skipped = self._subcommand_words(use)
        tests = _find_expression(use)
        for at, word in enumerate(use.words[1:], 1):
            if at in tests and use.words[at - 1].text in _FIND_PATTERNS:
                continue
            if at in use.searched and not writes:
                candidates: Iterator[tuple[str, bool]] = _paths_in_code(word.text)
            else:
                candidates = _path_candidates(word, is_name=at in skipped)
            is_operand = word.text[:1] != "-" and at not in skipped and at not in tests
            whole_paths += is_operand and at not in use.searched
            filled = word.wild and id(word) not in written and word.text != "*"
            for text, whole in candidates:
                wild = word.wild or use.program in _OWN_PATTERNS
                relation = self._places.find(text, use.folders, wild=wild, filled=filled)
                if relation and self._is_blocked(relation, use, writes, whole=whole):
                    return _Blocked(word.text, "it belongs to Pulsus itself")
                looks_below = whole and is_operand and at not in use.searched and not word.wild
                if looks_below and _follows_links(use) and self._has_links(text, use):
                    return _Blocked(word.text, "a link below it leads to Pulsus itself")
        if use.program and self._acts_on_folder(use, whole_paths, writes):
            rule = "it would change" if writes else "it would show"
            return _Blocked(program_name(use.words), f"{rule} files of Pulsus in its folder")
        return None

    def _is_blocked(self, relation: Relation, use: FileUse, writes: bool, *, whole: bool) -> bool:
        if relation == "inside":
            return True
        if not whole:
            return False
        shows_below = use.deep and not use.only_names
        return shows_below or (writes and not _only_looks(use))

    def _subcommand_words(self, use: FileUse) -> frozenset[int]:
        """Return the places of words that are no files: subcommands, names of other things."""
        name = use.program
        if name in words("no_readers") or name in words("no_files") or name in {"echo", "printf"}:
            return frozenset(range(1, len(use.words)))
        last = 1
        for level in levels(use.words, self._tables) if use.words and name else ():
            last = level.at
        return frozenset(range(1, last))

    def _acts_on_folder(self, use: FileUse, whole_paths: int, writes: bool) -> bool:
        """Return True if the call uses files of the folder that it is in, without naming one."""
        if use.program == "git":
            acts = _shows_content(use.words) or (writes and _replaces_files(use.words))
            return acts and self._is_in_project(use)
        if writes and _unpacks_here(use):
            return self._places.find(".", use.folders) is not None
        if not use.deep or whole_paths:
            return False
        return self._places.find(".", use.folders) is not None

    def _has_links(self, path: str, use: FileUse) -> bool:
        return self._places.has_links_inside(path, use.folders)

    def _is_in_project(self, use: FileUse) -> bool:
        """Return True if a call of git may be in the project's work tree."""
        named = [value.text for option, value in pairwise(use.words) if option.text == "-C"]
        if named and named[0][:1] in {"/", "~"}:
            # git ends if it cannot go there: the folder that it was started in does not matter.
            return self._places.is_in_project(posixpath.join(*named))
        return self._places.is_in_project("", use.folders)

    def _refuse_file(self, blocked: _Blocked, kind: CallKind) -> ToolResponse:
        code = "POLICY_BLOCKED" if kind == "write" else "SENSITIVE_PATH"
        return tool_blocked(
            "POLICY_BLOCKED" if code == "POLICY_BLOCKED" else "SENSITIVE_PATH",
            f"{blocked.word}: {blocked.rule}, and no approval changes that",
            auto_recoverable=False,
        )


def _require_known_code(stage: Stage, inner: Sequence[Word], name: str) -> None:
    """Raise Unreadable for code that a shell or a language is given in a way that is not read."""
    operands = [word.text for word in inner[1:] if word.text[:1] != "-" or word.text == "-"]
    codes = _LANGUAGES.get(name)
    if name in _SHELLS or name in {"source", ".", "eval"}:
        if stage.fed and (not operands or operands[0] in {"-", "/dev/stdin"}):
            raise Unreadable(name, "the program that it would run is written by another program")
        if name == "eval":
            raise Unreadable(name, "what it runs is not known before it runs")
    elif codes is not None:
        if stage.fed and (not operands or operands[0] in {"-", "/dev/stdin"}):
            raise Unreadable(name, "the program that it would run is written by another program")
        given = re.compile(rf"-[a-zA-Z]*[{codes}]") if codes else None
        has_code = given and any(given.match(one.text) for one in inner[1:] if one.text[:2] != "--")
        # `-m` runs a module: `own_process.py` looks at its name.
        if has_code and not (name in {"python", "pypy"} and _runs_module(inner)):
            raise Unreadable(name, "code of a general language is not followed")


def _only_looks(use: FileUse) -> bool:
    """Return True if a call that names a folder around the protected places leaves them alone."""
    if use.program == "find":
        return not any(word.text.startswith(_FIND_ACTIONS) for word in use.words[1:])
    return use.program == "mkdir" or (use.only_names and use.program not in _ATTRIBUTES)


def _find_expression(use: FileUse) -> range:
    """Return the places of the words of `find` behind the folders that it looks into."""
    if use.program != "find":
        return range(0)
    begins = (at for at, word in enumerate(use.words[1:], 1) if _BEGINS_TESTS.match(word.text))
    return range(next(begins, len(use.words)), len(use.words))


def _follows_links(use: FileUse) -> bool:
    """Return True if the call may open what a link below its folder leads to."""
    if not use.deep or use.only_names:
        return False
    texts = [word.text for word in use.words[1:]]
    options = next((v for k, v in _FOLLOWING.items() if use.program in k.split()), None)
    if options is not None:
        return any(_gives(text, option) for text in texts for option in options.split())
    if use.program != "find":
        return True
    unsure = {"-L", "-H", "-follow", "-o", "-or", "!", "-not", ",", "(", "\\("} & set(texts)
    return bool(unsure) or ("-type", "f") not in pairwise(texts)


def _gives(text: str, option: str) -> bool:
    if option[:2] == "--":
        return text.startswith(option)
    return re.match(rf"-[A-Za-z0-9]*{option[1]}", text) is not None


def _runs_module(inner: Sequence[Word]) -> bool:
    """Return True if the first option of Python that decides what runs is `-m`."""
    for word in inner[1:]:
        if word.text[:1] != "-" or word.text[:2] == "--":
            return False
        if "c" in word.text:
            return False
        if "m" in word.text:
            return True
    return False


def _inner_scripts(stage: Stage) -> Iterator[str]:
    """Yield the texts that a shell within the call would run."""
    inner = unwrap(stage.words)
    places = [at for at, word in enumerate(inner) if program_name((word,)) in {*_SHELLS, "su"}]
    for at in places:
        for place, word in enumerate(inner[at + 1 :], at + 1):
            text = word.text
            if text in {"--command"} or (text[:1] == "-" and text[1:2] != "-" and "c" in text):
                following = [each.text for each in inner[place + 1 :]]
                given = next((each for each in following if each[:1] != "-"), "")
                if given:
                    yield given
                break
    if "env" in wrappers(stage.words):
        words_of_env = [word.text for word in stage.words]
        for option, value in pairwise([*words_of_env, ""]):
            if option in {"-S", "--split-string"}:
                yield value
            elif option.startswith(("-S", "--split-string=")):
                yield option.removeprefix("-S").removeprefix("--split-string=")


def _path_candidates(word: Word, *, is_name: bool) -> Iterator[tuple[str, bool]]:
    """Yield each text in `word` that may be a path, with True for the whole word."""
    text = word.text
    if not is_name or _looks_like_path(text):
        yield text, True
    if text[:1] == "-" and text[1:2] != "-" and len(text) > 2:
        yield text[2:], True
    if text[:1] == "-" and "=" in text:
        yield text.partition("=")[2], True
    for sign in "=@:,":
        head, found, rest = text.partition(sign)
        if found and _looks_like_path(rest):
            yield rest, True
        if found and _looks_like_path(head) and head[:1] != "-":
            yield head, True
    if "file:" in text.casefold():
        start = text.casefold().index("file:")
        yield text[start:], True
    yield from _paths_in_code(text)


def _paths_in_code(text: str) -> Iterator[tuple[str, bool]]:
    tokens = _SEPARATORS.split(text)
    if len(tokens) > 1:
        yield from ((token, False) for token in tokens if token and _looks_like_path(token))


def _looks_like_path(text: str) -> bool:
    return "/" in text or text[:1] in {".", "~"} or "." in text[1:]


def _unpacks_here(use: FileUse) -> bool:
    """Return True if a call unpacks an archive, or a patch, into the folder that it is in."""
    asks = next((v for k, v in _UNPACKERS.items() if use.program in k.split()), None)
    texts = [word.text for word in use.words[1:]]
    if asks is None or (asks and not any(re.fullmatch(asks, text) for text in texts)):
        return False
    for text, following in pairwise([*texts, ""]):
        found = _UNPACK_FOLDER.fullmatch(text)
        if found and (found["folder"] or following)[:1] == "/":
            return False
    return True


def _replaces_files(call: Sequence[Word]) -> bool:
    """Return True if a call of git changes files of the work tree without naming which."""
    texts = [word.text for word in call[1:]]
    return bool(_GIT_REPLACING & set(texts)) or ("checkout" in texts and "--" not in texts)


def _shows_content(call: Sequence[Word]) -> bool:
    """Return True if a call of git shows what files hold, without naming which."""
    texts = [word.text for word in call[1:]]
    named = [text for text in texts if text[:1] != "-"]
    if "--" in texts and texts[texts.index("--") + 1 :]:
        return False
    if _GIT_CONTENT & set(named):
        return True
    return "log" in named and any(_GIT_PATCHES.match(text) for text in texts)


def _refuse_process(word: str, rule: str) -> ToolResponse:
    return tool_blocked(
        "POLICY_BLOCKED",
        f"{word}: {rule}, and no approval changes that",
        auto_recoverable=False,
    )


def _refuse_unread(error: Unreadable) -> ToolResponse:
    instead = error.instead or "write out each command with its values"
    return tool_blocked(
        "POLICY_BLOCKED",
        f"{error.word}: {error.rule}, so it is not known what the command would change",
        recovery_hint=instead,
        auto_recoverable=True,
    )
