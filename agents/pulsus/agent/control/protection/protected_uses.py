"""Find words of a command that name files of Pulsus (protected paths), or that lead to them.

Effect: only through `ProtectedPlaces`, which follows links.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.assigned_values import judged_scripts
from pulsus.agent.control.protection.content_files import find_in_content
from pulsus.agent.control.protection.files.destination_links import (
    copied_names,
    searched_folders,
)
from pulsus.agent.control.protection.files.path_candidates import (
    path_candidates,
    paths_in_code,
)
from pulsus.agent.control.protection.files.place_index import Relation
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.unnamed_files import (
    FIND_PATTERNS,
    find_expression,
    follows_links,
    only_looks,
    replaces_files,
    shows_content,
    unpacks_here,
)
from pulsus.agent.control.protection.inner_code import inner_scripts, require_known_code
from pulsus.agent.control.protection.own_address import OwnAddress
from pulsus.agent.control.protection.protection_refusals import BlockedWord
from pulsus.commands.call_check.piped_file_names import check_piped_file_names
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import levels
from pulsus.commands.risk.file_uses import FileUse, find_uses, rule_for_program
from pulsus.commands.risk.secret_paths import words
from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import layers, program_name, unwrap, wrappers

_DEEPEST: Final = 4
_HOME: Final = re.compile(r"(?<![\w/.~])~(?=[/;\s]|$)")
"""The home of the user that a shell runs for."""
_OWN_PATTERNS: Final = frozenset(
    {"rsync", "tar", "bsdtar", "gtar", "zip", "7z", "cpio", "scp", "duckdb", "find", "fd", "git"}
)
"""Programs that know patterns of file names themselves, quoted ones too."""


class ProtectedUses:
    """Looks at every file that a command uses, and at every command within it."""

    def __init__(self, places: ProtectedPlaces, address: OwnAddress, tables: Tables) -> None:
        self._places, self._address, self._tables = places, address, tables

    def find(self, script: Script, writes: bool, depth: int = 0) -> BlockedWord | None:
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
            if blocked is None and writes:
                blocked = self._find_in_destination(use) or self._find_in_content(use)
            if blocked is not None:
                return blocked
        for stage in script.stages:
            for text in (*inner_scripts(stage), *self._scripts_sent_here(stage)):
                if depth >= _DEEPEST:
                    raise Unreadable(text[:40], "shells within shells are followed no deeper")
                inner = parse_command(text)
                for each in (inner, *(judged_scripts(inner) if writes else ())):
                    blocked = self.find(each, writes, depth + 1)
                    if blocked is not None:
                        return blocked
        return None

    def _scripts_sent_here(self, stage: Stage) -> Iterator[str]:
        """Yield the texts that ssh would run on this machine, in the home of a user."""
        for call in layers(stage.words):
            level = next(levels(call, self._tables), None) if program_name(call) == "ssh" else None
            operands = [word.text for word in level.parsed.operands] if level is not None else []
            if len(operands) > 1 and self._address.is_own_host(host_of(operands[0])):
                user = operands[0].removeprefix("ssh://").rpartition("@")[0].partition(":")[0]
                texts = ["cd ~;", *operands[1:]]
                yield " ".join(_HOME.sub(f"~{user}", text) for text in texts)

    def _require_known_targets(self, script: Script) -> None:
        """Raise Unreadable if the words do not say what a command that writes would do."""
        for at, stage in enumerate(script.stages):
            inner = unwrap(stage.words)
            name = program_name(inner).rstrip("0123456789.")
            require_known_code(stage, inner, name)
            if "xargs" in wrappers(stage.words) and name not in words("no_readers"):
                source = program_name(script.stages[at - 1].words) if stage.fed else ""
                lists = source == "find" or rule_for_program("listers", source) is not None
                lists = lists or rule_for_program("filters", source) is not None
                if not lists:
                    raise Unreadable(source or "xargs", "it decides what is changed")
        for found in check_piped_file_names(script, self._tables, fed=False):
            raise Unreadable(found.reason.word, found.reason.rule)

    def _find_in_use(
        self, use: FileUse, writes: bool, written: frozenset[int]
    ) -> BlockedWord | None:
        """Return the first word of a call that names a protected place.

        `written` are the words as the command has them: others were filled in by `xargs`.
        """
        whole_paths = 0
        skipped = self._subcommand_words(use)
        tests = find_expression(use)
        for at, word in enumerate(use.words[1:], 1):
            if at in tests and use.words[at - 1].text in FIND_PATTERNS:
                continue
            if at in use.searched and not writes:
                candidates: Iterator[tuple[str, bool]] = paths_in_code(word.text)
            else:
                candidates = path_candidates(word, is_name=at in skipped)
            is_operand = word.text[:1] != "-" and at not in skipped and at not in tests
            whole_paths += is_operand and at not in use.searched
            filled = word.wild and id(word) not in written and word.text != "*"
            for text, whole in candidates:
                wild = word.wild or use.program in _OWN_PATTERNS
                relation = self._places.find(text, use.folders, wild=wild, filled=filled)
                if relation and self._is_blocked(relation, use, writes, whole=whole):
                    return BlockedWord(word.text, "it belongs to Pulsus itself")
                looks_below = whole and is_operand and at not in use.searched and not word.wild
                if looks_below and follows_links(use) and self._has_links(text, use):
                    return BlockedWord(word.text, "a link below it leads to Pulsus itself")
        if use.program and self._acts_on_folder(use, whole_paths, writes):
            rule = "it would change" if writes else "it would show"
            return BlockedWord(program_name(use.words), f"{rule} files of Pulsus in its folder")
        return None

    def _find_in_destination(self, use: FileUse) -> BlockedWord | None:
        """Return the folder of a writing call that leads to a protected place by a link in it."""
        for text, wild in dict.fromkeys(copied_names(use) or ()):
            if self._places.find(text, use.folders, wild=wild) == "inside":
                return BlockedWord(text, "it leads to a file of Pulsus itself")
        for text, follows in dict.fromkeys(searched_folders(use)):
            found = self._places.has_hard_links_inside(text, use.folders)
            if found or (follows and self._has_links(text, use)):
                return BlockedWord(text, "a link below it leads to Pulsus itself")
        return None

    def _find_in_content(self, use: FileUse) -> BlockedWord | None:
        """Return the path that a file names which decides what a writing call changes."""
        named = find_in_content(use, self._places)
        return BlockedWord(named, "it belongs to Pulsus itself") if named else None

    def _is_blocked(self, relation: Relation, use: FileUse, writes: bool, *, whole: bool) -> bool:
        if relation == "inside":
            return True
        if not whole:
            return False
        shows_below = use.deep and not use.only_names
        return shows_below or (writes and not only_looks(use))

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
            acts = shows_content(use.words) or (writes and replaces_files(use.words))
            return acts and self._is_in_project(use)
        if writes and unpacks_here(use):
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


def host_of(text: str) -> str:
    """Return the host that ssh is given: alone, behind a user, or in an address."""
    bare = text.removeprefix("ssh://").partition("/")[0].rpartition("@")[2]
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    return bare
