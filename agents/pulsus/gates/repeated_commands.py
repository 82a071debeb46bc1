"""Say which commands a grant for the session may cover, and whose effect is in a file. Pure.

The allowlist of commands that "allow for this session" may cover. Grants themselves are kept in
`agent/control/session_grants.py`.

A grant covers the words of a command. So it may cover only commands of which the words alone say
what they do: proven reads, and the calls that are listed here with every option. Each run of
another one is asked about. That a file decides what a command does is also told to a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.script_parser import Redirect, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import layers, program_name
from pulsus.fast_dataclass import dataclass

_READS_PROGRAM: Final = re.compile(
    r"(?:ba|da|z|k|a|fi|mk|c|tc|ya)?sh|source|\.|python[\d.]*|pypy[\d.]*|perl|ruby|node|nodejs|deno"
    r"|bun|php|lua[\d.]*|tclsh|expect|Rscript|guile|osascript|pwsh|java|dotnet|go|cargo|rake|just"
    r"|g?make|ninja|cmake|ant|mvn|gradle|gradlew|task|invoke|fab|tox|nox|npm|npx|yarn|pnpm|pipx|uvx"
    r"|ansible(?:-.*)?|salt(?:-.*)?|puppet|chef-.*|terraform|tofu|pulumi|packer|vagrant|helm|helmfile"
    r"|kustomize|docker-compose|podman-compose|skaffold|systemd-run|at|batch|parallel|run-parts"
    r"|logrotate|systemd-tmpfiles|patch|cpio|awk|gawk|mawk|nawk|ed|ex|vim?|psql|mysql|mariadb"
    r"|sqlite3|mongosh?|redis-cli|gdb|m4|envsubst|certbot|borgmatic|rsnapshot|duplicity|restic"
    r"|nix(?:-.*)?|nixos-rebuild|guix|dpkg|rpm|snap|flatpak|tmux|screen"
    r"|unzip|bsdtar|unrar|7z[arz]?|pax|jar|unar|dump|restore|unsquashfs"
)
"""Programs that do what a file says, or what a program in their folder says."""
_FILE_OPTION: Final = re.compile(
    r"-f|-i|-[fk].+|-T|-K|-a|--(?:filename|file|files-from|files0-from|from-file|config|compose-file"
    r"|kustomize|script|playbook|values|env-file|input-file|arg-file|exclude-from|restore)(?:=.*)?"
)
_FILE_READERS: Final = frozenset(
    {
        *("kubectl", "oc", "docker", "podman", "nerdctl", "crictl", "tar", "rsync", "xargs"),
        *("curl", "wget", "aria2c", "sed", "nft", "iptables-restore", "ip6tables-restore"),
        *("virsh", "setfacl", "nginx", "haproxy", "apachectl", "lxc", "incus", "git", "rm", "wc"),
    }
)
"""Programs that take what to do from a file if an option names one."""
_ACTIONS: Final = frozenset({"compose", "stack", "build", "apply", "bake", "restore", "load", "am"})
_ARCHIVERS: Final = frozenset({"tar", "gtar", "star"})
_EXTRACTS: Final = re.compile(r"^[a-zA-Z]*x|(?:^|\s)(?:-[a-zA-Z]*x|--extract\b|--get\b)")
_SYSTEM_FOLDERS: Final = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/")


@dataclass(frozen=True, slots=True)
class _Repeatable:
    """Calls of a program that a grant may cover.

    `operands` is what the words that are no options look like, with a space between them. `flags`
    are options without a value, `values` those with one.
    """

    operands: re.Pattern[str]
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


def _calls(operands: str, flags: str = "", values: str = "") -> _Repeatable:
    operands = operands.replace("NAME", r"[A-Za-z0-9][\w.@:-]*").replace("PATH", r"[^\s-]\S*")
    return _Repeatable(re.compile(operands), frozenset(flags.split()), frozenset(values.split()))


_ENGINE: Final = _calls(
    r"(?:(?:container )?(?:start|stop|restart|kill|pause|unpause|rm)|(?:image|volume|network) rm)"
    r"(?: NAME)+",
    "-f --force",
    "-t --time -s --signal",
)
_CLUSTER: Final = _calls(
    r"(?:delete|scale|cordon|uncordon|drain|label|annotate|taint"
    r"|rollout (?:restart|undo|pause|resume))(?: [A-Za-z0-9][\w.:,=-]*(?:/[\w.=:-]+)?-?)+",
    "--now --force --overwrite --ignore-daemonsets --delete-emptydir-data --all",
    "-n --namespace -l --selector --replicas --grace-period --timeout --context",
)
_GUESTS: Final = _calls(r"(?:start|stop|shutdown|reboot|reset|suspend|resume) \d+")
_CONTAINERS: Final = _calls(r"(?:start|stop|restart|pause)(?: NAME)+")
_OWNER: Final = _calls(r"NAME PATH(?: PATH)*", "-R -h -v --recursive --no-dereference")
_FOLDERS: Final = _calls(r"PATH(?: PATH)*", "-p -v --parents", "-m --mode")
_REPEATABLE: Final[Mapping[str, _Repeatable]] = {
    "systemctl": _calls(
        r"(?:start|stop|restart|reload|try-restart|reload-or-restart|try-reload-or-restart"
        r"|reset-failed)(?: NAME)+",
        "--no-block --quiet -q --no-pager --no-ask-password --user --system",
    ),
    "service": _calls(r"NAME (?:start|stop|restart|reload)"),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _ENGINE),
    **dict.fromkeys(("kubectl", "oc"), _CLUSTER),
    **dict.fromkeys(("qm", "pct"), _GUESTS),
    **dict.fromkeys(("lxc", "incus"), _CONTAINERS),
    "virsh": _calls(r"(?:start|shutdown|reboot|reset|suspend|resume|destroy) NAME"),
    "supervisorctl": _calls(r"(?:start|stop|restart)(?: NAME)+"),
    "rm": _calls(r"PATH(?: PATH)*", "-f -r -R -d -v -rf -fr -Rf -fR --force --recursive"),
    "unlink": _calls("PATH"),
    **dict.fromkeys(("mkdir", "rmdir"), _FOLDERS),
    "touch": _calls(r"PATH(?: PATH)*", "-a -m -c -h --no-create"),
    "truncate": _calls(r"PATH(?: PATH)*", "-c --no-create", "-s --size"),
    "chmod": _calls(r"[0-7ugoa][0-7ugoarwxXst=+,-]* PATH(?: PATH)*", "-R -v --recursive"),
    **dict.fromkeys(("chown", "chgrp"), _OWNER),
    "tar": _calls(r"PATH(?: PATH)*", "", "-cf -czf -cjf -cJf -cvf -czvf -cjvf -cJvf"),
    "journalctl": _calls("", "--rotate --flush --sync", "--vacuum-size --vacuum-time"),
    "ssh": _calls(r"[A-Za-z0-9][\w.@-]*", "-T -q -n -4 -6", "-p -l"),
}
"""Programs that change things and whose words alone say what: no file, no inner program."""
_NEEDS_VALUE: Final = frozenset({"tar", "truncate", "journalctl"})
_VALUE: Final = re.compile(r"[\w/.,=+%@-]+")
"""A value of an option. It has no `:`, because with one `tar` connects to another machine."""
_AROUND: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"\S*{name}{options}")
    for name, options in {
        **dict.fromkeys(("sudo", "doas"), r"(?: -n| -u [\w-]+)*(?: --)?"),
        "timeout": r"(?: -k [\d.]+[smhd]?| -s \w+)* [\d.]+[smhd]?",
        "nice": r"(?: -n -?\d+)?",
        "ionice": r"(?: -[cn] ?\d)*",
        "nohup": "",
        "setsid": "",
    }.items()
}
"""Programs that run another one, with the words that may stand before it."""
_SIMPLE: Final = re.compile(r"\S+")
_DEEPEST: Final = 3


def may_be_repeated(command: str, *, reads: bool, depth: int = 0) -> bool:
    """Return True if a grant may cover a command. `reads` says that the gate has proven a read."""
    try:
        script = parse_command(command)
    except Unreadable:
        return False
    if any(stage.assignments for stage in script.stages):
        return False
    if reads:
        return not is_decided_by_files(command)
    if not all(map(_goes_nowhere, script.redirects)):
        return False
    return all(_is_repeatable(stage.words, depth) for stage in script.stages)


def _goes_nowhere(redirect: Redirect) -> bool:
    """Return True for a redirection that writes no file, and reads none."""
    target = redirect.target.text
    if redirect.operator in {">&", "<&"}:
        return target in {"1", "2"}
    return redirect.operator != "<" and target == "/dev/null"


def _is_repeatable(words: Sequence[Word], depth: int) -> bool:
    """Return True if a call is listed, with each of its words, and so is all around it."""
    if not words or any(word.wild or not _SIMPLE.fullmatch(word.text) for word in words):
        return False
    around = [*layers(words)]
    for outer, inner in pairwise(around):
        before = " ".join(word.text for word in outer[: len(outer) - len(inner)])
        known = _AROUND.get(program_name(outer))
        if not _is_usual_place(outer) or known is None or known.fullmatch(before) is None:
            return False
    call = around[-1]
    rule = _REPEATABLE.get(program_name(call)) if call else None
    return rule is not None and _is_usual_place(call) and _fits(call, rule, depth)


def _is_usual_place(call: Sequence[Word]) -> bool:
    return "/" not in call[0].text or call[0].text.rpartition("/")[0] + "/" in _SYSTEM_FOLDERS


def _fits(call: Sequence[Word], rule: _Repeatable, depth: int) -> bool:
    """Return True if a rule lists every option of a call, and its operands look as it says."""
    texts = [word.text for word in call[1:]]
    operands: list[str] = []
    valued, at = False, 0
    while at < len(texts):
        text = texts[at]
        option, equals, value = text.partition("=")
        if text[:1] != "-":
            operands.append(text)
            if program_name(call) == "ssh":
                return _fits_remote(operands, texts[at + 1 :], rule, depth)
        elif option in rule.values:
            at += not equals
            given = value if equals else "".join(texts[at : at + 1])
            if _VALUE.fullmatch(given) is None:
                return False
            valued = True
        elif text not in rule.flags:
            return False
        at += 1
    if program_name(call) in _NEEDS_VALUE and not (valued or not operands):
        return False
    return rule.operands.fullmatch(" ".join(operands)) is not None


def _fits_remote(
    operands: Sequence[str], command: Sequence[str], rule: _Repeatable, depth: int
) -> bool:
    """Return True if a grant may cover what ssh runs on another machine."""
    if depth >= _DEEPEST or not command or rule.operands.fullmatch(operands[0]) is None:
        return False
    return may_be_repeated(" ".join(command), reads=False, depth=depth + 1)


def is_decided_by_files(command: str) -> bool:
    """Return True if a file that may change says what `command` does, or if it cannot be read."""
    try:
        script = parse_command(command)
    except Unreadable:
        return True
    if any(redirect.operator == "<" for redirect in script.redirects):
        return True
    calls = (call for stage in script.stages for call in layers(stage.words) if call)
    return any(map(is_call_decided_by_files, calls))


def is_call_decided_by_files(call: Sequence[Word]) -> bool:
    """Return the same for one call of a program."""
    program, name = call[0].text, program_name(call)
    if call[0].wild or ("/" in program and not program.startswith(_SYSTEM_FOLDERS)):
        return True
    if _READS_PROGRAM.fullmatch(name):
        return True
    texts = [word.text for word in call[1:]]
    if name in _ARCHIVERS and texts[:1] and _EXTRACTS.search(" ".join(texts)):
        return True
    takes = any(map(_FILE_OPTION.fullmatch, texts)) or bool(_ACTIONS & {*texts})
    return name in _FILE_READERS and takes
