"""Self-protection: Pulsus is no target of its own agent, nor its files, program and address.

No control level and no approval lifts this. Commands are looked at as the shell reads them. A
command that writes and cannot be read is refused.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.destination_links import (
    TAKES_AWAY,
    changes_below,
    copied_names,
    searched_folders,
    written_texts,
)
from pulsus.agent.control.protection.inner_code import inner_scripts, require_known_code
from pulsus.agent.control.protection.linked_files import TooManyNames
from pulsus.agent.control.protection.own_address import OwnAddress
from pulsus.agent.control.protection.own_process import (
    TOKENS,
    OwnProcess,
    calls_of,
    is_own_name,
)
from pulsus.agent.control.protection.path_candidates import (
    SEPARATORS,
    path_candidates,
    paths_in_code,
)
from pulsus.agent.control.protection.protected_places import ProtectedPlaces, Relation
from pulsus.agent.control.protection.startup_files import (
    StartupFiles,
    find_installed,
    find_planned,
)
from pulsus.agent.control.protection.unnamed_files import (
    FIND_PATTERNS,
    find_expression,
    follows_links,
    only_looks,
    replaces_files,
    shows_content,
    unpacks_here,
)
from pulsus.commands.call_check.piped_file_names import check_piped_file_names
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import levels
from pulsus.commands.risk.file_uses import FileUse, find_uses, rule_for_program
from pulsus.commands.risk.risk_level import calls_in_text
from pulsus.commands.risk.secret_paths import words
from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import layers, program_name, unwrap, wrappers
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse, tool_blocked

_DEEPEST: Final = 4
_OWN_ADDRESS: Final = "this is the address of Pulsus itself"
_STARTUP: Final = "the next process of Pulsus runs or reads it"
_PLANS_PULSUS: Final = "it would start Pulsus later"
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

    def __init__(
        self,
        places: ProtectedPlaces,
        own: OwnProcess,
        address: OwnAddress,
        tables: Tables,
        startup: StartupFiles | None = None,
    ) -> None:
        self._places, self._own, self._address = places, own, address
        self._tables, self._startup = tables, startup

    def refuse_paths(
        self, paths: Iterable[str], kind: CallKind, content: str = ""
    ) -> ToolResponse | None:
        """Return the refusal of a call that opens one of `paths`, or None.

        A read of a folder around them passes: the tools leave the protected places out. `content`
        is what a write would set.
        """
        for path in paths:
            relation = self._places.find(path)
            if relation == "inside" or (relation == "above" and kind == "write"):
                return self._refuse_file(_Blocked(path, "it belongs to Pulsus itself"), kind)
            if kind == "write" and self._startup is not None:
                if self._startup.find(path) == "inside":
                    return self._refuse_file(_Blocked(path, _STARTUP), kind)
                named = path.rpartition("/")[2], *TOKENS.split(content)
                if self._startup.is_scheduled(path) and any(map(self._is_own, named)):
                    return self._refuse_file(_Blocked(path, _PLANS_PULSUS), kind)
        return None

    def _is_own(self, token: str) -> bool:
        """Return True if a word of a file names Pulsus: its program or a file of it."""
        if is_own_name(token) or self._own.is_own_path(token):
            return True
        return "/" in token and self._places.find(token) == "inside"

    def refuse_names(self, names: Iterable[str]) -> ToolResponse | None:
        """Return the refusal of a write on a service or container that runs Pulsus, or None."""
        for name in names:
            if is_own_name(name.rpartition(":")[2]):
                return _refuse_process(name, "the agent does not start or stop Pulsus itself")
        return None

    def refuse_connection(self, arguments: Iterable[tuple[str, str]]) -> ToolResponse | None:
        """Return the refusal of a tool that would connect to Pulsus, or None.

        `arguments` are pairs of an argument's name and a text in its value.
        """
        reached = self._address.find_in_arguments(arguments)
        return _refuse_process(reached, _OWN_ADDRESS) if reached else None

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
        reached = self._address.find_in_command(script, verdict)
        if reached:
            return _refuse_process(reached, _OWN_ADDRESS)
        try:
            blocked = self._find_in_script(script, kind == "write", 0)
            if blocked is None and kind == "write" and self._startup is not None:
                blocked = self._find_startup(script, verdict, self._startup)
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
                for path in (word.text, *SEPARATORS.split(word.text)):
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
            if blocked is None and writes:
                blocked = self._find_in_destination(use)
            if blocked is not None:
                return blocked
        for stage in script.stages:
            for text in (*inner_scripts(stage), *self._scripts_sent_here(stage)):
                if depth >= _DEEPEST:
                    raise Unreadable(text[:40], "shells within shells are followed no deeper")
                blocked = self._find_in_script(parse_command(text), writes, depth + 1)
                if blocked is not None:
                    return blocked
        return None

    def _find_startup(
        self, script: Script, verdict: CommandVerdict, startup: StartupFiles
    ) -> _Blocked | None:
        """Return the word of a command that writes what runs later. Raises Unreadable."""
        for call in calls_of(script, verdict):
            if not call:
                continue
            if installed := find_installed(call, startup):
                return _Blocked(installed, "it changes what the next process of Pulsus runs")
            if planned := find_planned(call):
                rule = "the commands that it plans are not known here"
                raise Unreadable(planned, rule, "write the job with pulsus_file_edit")
        for use in find_uses(script, self._tables):
            for text, wild in written_texts(use):
                if startup.is_scheduled(text, use.folders) and use.program not in TAKES_AWAY:
                    rule = "what it would plan for later is not known here"
                    raise Unreadable(text, rule, "write the file with pulsus_file_edit")
                relation = startup.find(text, use.folders, wild=wild)
                if relation == "inside" or (relation == "above" and changes_below(use)):
                    return _Blocked(text, _STARTUP)
        return None

    def _scripts_sent_here(self, stage: Stage) -> Iterator[str]:
        """Yield the texts that ssh would run on this machine, in the home of a user."""
        for call in layers(stage.words):
            level = next(levels(call, self._tables), None) if program_name(call) == "ssh" else None
            operands = [word.text for word in level.parsed.operands] if level is not None else []
            if len(operands) > 1 and self._address.is_own_host(_host_of(operands[0])):
                yield " ".join(["cd ~;", *operands[1:]])

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

    def _find_in_use(self, use: FileUse, writes: bool, written: frozenset[int]) -> _Blocked | None:
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
                    return _Blocked(word.text, "it belongs to Pulsus itself")
                looks_below = whole and is_operand and at not in use.searched and not word.wild
                if looks_below and follows_links(use) and self._has_links(text, use):
                    return _Blocked(word.text, "a link below it leads to Pulsus itself")
        if use.program and self._acts_on_folder(use, whole_paths, writes):
            rule = "it would change" if writes else "it would show"
            return _Blocked(program_name(use.words), f"{rule} files of Pulsus in its folder")
        return None

    def _find_in_destination(self, use: FileUse) -> _Blocked | None:
        """Return the folder of a writing call that leads to a protected place by a link in it."""
        for text, wild in copied_names(use) or ():
            if self._places.find(text, use.folders, wild=wild) == "inside":
                return _Blocked(text, "it leads to a file of Pulsus itself")
        for text, follows in searched_folders(use):
            found = self._places.has_hard_links_inside(text, use.folders)
            if found or (follows and self._has_links(text, use)):
                return _Blocked(text, "a link below it leads to Pulsus itself")
        return None

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

    def _refuse_file(self, blocked: _Blocked, kind: CallKind) -> ToolResponse:
        code = "POLICY_BLOCKED" if kind == "write" else "SENSITIVE_PATH"
        return tool_blocked(
            "POLICY_BLOCKED" if code == "POLICY_BLOCKED" else "SENSITIVE_PATH",
            f"{blocked.word}: {blocked.rule}, and no approval changes that",
            auto_recoverable=False,
        )


def _host_of(text: str) -> str:
    """Return the host that ssh is given: alone, behind a user, or in an address."""
    bare = text.removeprefix("ssh://").partition("/")[0].rpartition("@")[2]
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    return bare


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
