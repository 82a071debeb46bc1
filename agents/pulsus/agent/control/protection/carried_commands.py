"""Commands within words of programs that are no shell: `!` of git and editors, `EXEC:` of socat.

Pure. A word that may hold one is judged as a command; a wrong guess costs no more than that look.

`self_protection.py` judges what is found, to a limited depth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.inner_code import inner_scripts
from pulsus.commands.shell.command_limits import DEEPEST_WRAPPER
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import program_name, unwrap

_BANG: Final = re.compile(r"(?:^|^-c|^--cmd|[+|:/%\d.$'>\s=])!\s*(?P<command>[^\s=].*)")
"""`!` that is glued to the command behind it, where an editor or a pager may begin one."""
_TERMINAL: Final = re.compile(r"(?:^|[+|:\s])term(?:inal)?\s+(?:\+\+\S+\s+)*(?P<command>\S.*)")
_EDITOR_CODE: Final = re.compile(
    r"\b(?:system(?:list)?|job_start|term_start|jobstart|termopen|libcall(?:nr)?)\s*\("
    r"|^:?\s*(?:py3?|python3?|pyx|pythonx|lua|perl|ruby|tcl|mzscheme|exe(?:cute)?)\s+\S"
)
_PAGER: Final = re.compile(r"^\++(?:!|#|\|.)\s*(?P<command>\S.*)")
_GIT_ALIAS: Final = re.compile(r"(?:^|=)!\s*(?P<command>\S.*)")
_GIT_TRANSPORT: Final = re.compile(r"(?:^|=)ext::(?P<command>.*)")
_GIT_KEYS: Final = re.compile(
    r"(?i)(?:core\.(?:sshcommand|pager|editor|askpass|fsmonitor|gitproxy|alternaterefscommand)"
    r"|sequence\.editor|diff\.external|pager\..*|gpg\..*program|.*\.(?:cmd|command|textconv|driver"
    r"|clean|smudge|process|helper|uploadpack|receivepack|packobjectshook|path))"
)
"""Settings of git whose value is a command."""
_SOCAT: Final = re.compile(r"(?is)(?:^|!!|\s)(?:EXEC|SYSTEM|SHELL):(?P<command>.*)")
_DATABASE: Final = (
    re.compile(r"(?im)(?:^|;|-cmd=?)\s*(?:\.(?:shell|system)|\\!|system|!)\s*(?P<command>\S.*)"),
    re.compile(r"(?im)(?:^|;)\s*(?:\.once|\.output|\.import|\\o|\\g|pager|tee)\b[^|\n]*\|"
               r"\s*(?P<command>\S.*)"),
    re.compile(r"(?i)\bprogram\s*'(?P<command>[^']*)'"),
)  # fmt: skip
_LOADS_CODE: Final = re.compile(
    r"(?im)(?:^|;)\s*\.load\b|\bload_extension\s*\(|\bcreate\s+function"
)
_DEBUGGER: Final = re.compile(r"(?:^|[=\s])(?:!|shell\s|platform shell\s)\s*(?P<command>\S.*)")
_QUOTES: Final = "\"'"
_OPTIONS: Final[Mapping[str, str]] = {
    "nc ncat netcat": "-e -c --exec --sh-exec",
    "script": "-c --command",
    "flock": "-c --command",
    "man": "-P --pager -H --html",
    "tar gtar bsdtar": "-I --use-compress-program --to-command --rsh-command --info-script -F",
    "rsync": "-e --rsh",
    "tcpdump": "-z",
    "sort gsort": "--compress-program",
    "zip": "-TT --unzip-command",
    "git": "-x --exec --extcmd --upload-pack --receive-pack --tree-filter --index-filter"
    " --msg-filter --env-filter --parent-filter --commit-filter",
}
"""Options whose value is a command."""
_OPTIONS_BY_PROGRAM: Final = {
    name: options.split() for names, options in _OPTIONS.items() for name in names.split()
}
_ACTIONS: Final = re.compile(r"--checkpoint-action=exec=(?P<command>.*)")
_SSH_COMMANDS: Final = re.compile(
    r"(?i)(?:-o)?(?:proxycommand|localcommand|knownhostscommand|match\s.*\bexec)[=\s]+"
    r"(?P<command>.*)"
)
_ECHOES: Final = frozenset({"echo", "printf"})


def carried_commands(script: Script, depth: int = 0) -> Iterator[str]:
    """Yield the commands that programs of a script are given in a word, or on their input.

    Raises Unreadable for a word that loads or runs code.
    """
    if depth >= DEEPEST_WRAPPER:
        return
    for at, stage in enumerate(script.stages):
        call = unwrap(stage.words)
        name = program_name(call).casefold().removesuffix(".basic").removesuffix(".tiny")
        for text in inner_scripts(stage):
            yield from carried_commands(parse_command(text), depth + 1)
        options, read = _OPTIONS_BY_PROGRAM.get(name), _READERS.get(name)
        if options is None and read is None:
            continue
        texts = [word.text for word in call[1:]]
        if options is not None:
            yield from _option_values(texts, options)
        if read is None:
            continue
        yield from read(texts)
        if stage.fed and at and name in _READ_LINES:
            source = script.stages[at - 1].words
            if program_name(source) in _ECHOES:
                words = (word.text for word in source[1:])
                yield from read([line for word in words for line in re.split(r"\n|\\n", word)])
            elif name in _EDITORS:
                raise Unreadable(name, "the commands that it would run come from another program")


def _option_values(texts: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    for text, following in pairwise([*texts, ""]):
        for option in options:
            if text == option:
                yield following
            elif text.startswith(f"{option}=") or (
                option[1] != "-" and text.startswith(option) and text[:2] != "--"
            ):
                yield text.removeprefix(option).removeprefix("=")


def _fitting(texts: Sequence[str], *patterns: re.Pattern[str]) -> Iterator[str]:
    for text in texts:
        for pattern in patterns:
            for found in pattern.finditer(text):
                yield found["command"]


def _read_editor(texts: Sequence[str]) -> Iterator[str]:
    for before, text in pairwise(["", *texts]):
        given = text.removeprefix("+") if text[:1] == "+" else text.removeprefix("-c").lstrip()
        is_code = text[:2] in {"-c", "+:"} or text[:1] == "+" or before in {"-c", "--cmd"}
        if is_code and _EDITOR_CODE.search(given):
            raise Unreadable(text, "code of a general language is not followed")
    yield from _fitting(texts, _BANG, _TERMINAL)


def _read_git(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _GIT_ALIAS)
    for found in _fitting(texts, _GIT_TRANSPORT):
        yield re.sub(r"%(.)", lambda sign: " " if sign[1] == " " else "", found)
    for text, following in pairwise([*texts, ""]):
        key, equals, value = text.partition("=")
        if _GIT_KEYS.fullmatch(key):
            yield (value if equals else following).removeprefix("!")


def _read_socat(texts: Sequence[str]) -> Iterator[str]:
    for found in _fitting(texts, _SOCAT):
        # Options of the address follow behind a comma, and quotes may stand around it.
        for each in dict.fromkeys((found, found.partition(",")[0], found.partition("!!")[0])):
            yield each.strip(_QUOTES) if each.count(each[:1]) == 2 else each


def _read_database(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if _LOADS_CODE.search(text):
            raise Unreadable(text[:40], "it loads code that is not followed")
    yield from _fitting(texts, *_DATABASE)


def _read_debugger(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _DEBUGGER)


def _read_pager(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _PAGER)


def _read_bang(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _BANG)


def _read_tar(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _ACTIONS)


def _read_ssh(texts: Sequence[str]) -> Iterator[str]:
    yield from _fitting(texts, _SSH_COMMANDS)


_TABLE: Final[Mapping[str, Callable[[Sequence[str]], Iterator[str]]]] = {
    "vim vi ex view nvim rvim rview gvim gview vimdiff evim nex nvi elvis vile": _read_editor,
    "ed red": _read_bang,
    "less more most pg zless zmore": _read_pager,
    "mail mailx mutt ftp sftp lftp ncftp cu tip bc": _read_bang,
    "git": _read_git,
    "socat socat1": _read_socat,
    "sqlite3 sqlite duckdb psql mysql mariadb": _read_database,
    "gdb lldb": _read_debugger,
    "tar gtar bsdtar": _read_tar,
    "ssh scp": _read_ssh,
}
_READERS: Final = {name: read for names, read in _TABLE.items() for name in names.split()}
_EDITORS: Final = frozenset({"ed", "red", "ex", "vi", "vim"})
_READ_LINES: Final = frozenset(
    {*_EDITORS, "sqlite3", "sqlite", "duckdb", "psql", "mysql", "mariadb", "gdb", "lldb", "sftp"}
    | {"ftp", "lftp", "mail", "mailx", "cu", "tip", "bc"}
)
"""Programs that take commands from their input."""
