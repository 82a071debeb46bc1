"""List programs that run other programs, and variables that change which ones. Pure tables.

`adoption/script_effects/shell_walk.py` follows the commands behind `sudo`, `env`, `timeout` or
`xargs`. Wrappers that the command gate unwraps are in `commands/shell/wrappers.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pulsus.adoption.script_effects.shell_values import ScriptWord
from pulsus.core.system.word_lists import WordLists

_LISTS = WordLists(__file__)
BUILTINS = _LISTS.names("builtins")
SHELLS = frozenset(("sh", "bash", "dash", "ksh", "zsh", "ash", "mksh", "rbash"))
INTERPRETERS = re.compile(
    r"(?:python|perl|ruby|node|php|lua|pypy)[\d.]*|nodejs|deno|bun|tclsh|expect|Rscript|osascript"
    r"|groovy|java|psql|mysql|mariadb|sqlite3|mongosh?|redis-cli|ed|ex|vi|vim|m4|make|bpftrace"
)
OTHERS = re.compile(
    r"ssh|su|runuser|chroot|parallel|watch|strace|ltrace|unshare|nsenter|docker|podman|kubectl|at|time"
    r"|batch|screen|tmux|script|systemd-run|busybox|toybox|ansible|salt|pdsh|rsh|entr|dc|gdb|flock"
)
WRAPPERS: Mapping[str, str] = {
    "sudo": "ughpCRTDrt",
    "doas": "uC",
    "env": "uC",
    "nice": "n",
    "ionice": "cn",
    "nohup": "",
    "setsid": "",
    "timeout": "ks",
    "stdbuf": "ioe",
    "exec": "a",
    "command": "",
    "builtin": "",
    "xargs": "ILnPsEda",
}
"""Programs that start the one named in their words, and their options that take a word."""

_LONG = _LISTS.names("long_options")
_FLAGS = _LISTS.names("long_flags")
OWN = frozenset(("exec", "command", "builtin"))
"""Those of them that are the shell's own."""

RAISES = frozenset(("sudo", "doas"))
LOADING = re.compile(
    r"PATH|ENV|BASH_(?:ENV|CMDS|ALIASES|LOADABLES_PATH)|PROMPT_COMMAND|PS[0-4]|IFS|SHELL(?:OPTS)?"
    r"|BASHOPTS|EXECIGNORE|FPATH|HISTFILE|(?:LD|DYLD|GIT|PYTHON|PERL5?|RUBY|GCONV)_?[A-Z0-9_]*"
    r"|[A-Z]+_OPT(?:ION)?S?|(?:[A-Z]+_)?PAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|AWKPATH|AWKLIBPATH"
)
"""Variables that say which programs start, and what they load."""

_SYSTEM = re.compile(r"(?:(?:\0|/(?:usr/)?(?:local/)?s?bin|/snap/bin)(?::|$))+")


def changes_programs(name: str, value: str) -> bool:
    """Return True if a variable with this value (a word's shape) changes which programs start."""
    name = name.partition("[")[0]
    if name == "IFS":  # it takes words apart at letters only on purpose
        return bool(re.search(r"[\w./]", value))
    if re.fullmatch(r"PS[0-4]", name):
        return bool(re.search(r"[\0`]|\$\(|\$\{[^}]*\W[^}]*\}", value))
    return bool(LOADING.fullmatch(name)) and not (name == "PATH" and _SYSTEM.fullmatch(value))


def split_wrapper(base: str, call: Sequence[ScriptWord]) -> tuple[list[ScriptWord], str]:
    """Return the command in the words of a wrapper, and the doubt about it, or ''."""
    words, doubt = list(call), ""
    while words:
        shape = words[0].shape
        name, sign, value = shape.partition("=")
        if shape == "--":
            words.pop(0)
            break
        if base in ("env", "sudo") and sign and re.fullmatch(r"[A-Za-z_]\w*", name):
            doubt = (
                f"{base} sets {name}, so other programs start"
                if changes_programs(name, value)
                else doubt
            )
            words.pop(0)
        elif shape.startswith("-") and shape != "-":
            words, option_doubt = _skip_option(base, words)
            doubt = option_doubt or doubt
        else:
            break
    return (words[1:] if base == "timeout" else words), doubt


def _skip_option(base: str, words: list[ScriptWord]) -> tuple[list[ScriptWord], str]:
    """Return the words behind an option and its value, and the doubt about it, or ''."""
    shape, rest = words[0].shape, words[1:]
    if base == "env" and shape.startswith(("-S", "--split")):
        return rest, "env -S makes words of a text"
    if shape.startswith("--"):
        if shape in _LONG:
            return rest[1:], ""
        known = "=" in shape or shape in _FLAGS
        return rest, "" if known else f"what {base} starts behind {shape} only shows when it runs"
    for number, letter in enumerate(shape[1:], start=1):
        if letter in WRAPPERS[base]:
            return (rest[1:] if number == len(shape) - 1 else rest), ""
    return rest, ""
