"""Find commands whose effect is in a file that can change between two runs. Pure.

A grant for the session covers the words of a command. Of such a command the words do not say what
it does, so each run is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import layers, program_name

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
        *(
            "kubectl",
            "oc",
            "docker",
            "podman",
            "nerdctl",
            "crictl",
            "tar",
            "rsync",
            "xargs",
            "curl",
        ),
        *(
            "wget",
            "aria2c",
            "sed",
            "nft",
            "iptables-restore",
            "ip6tables-restore",
            "virsh",
            "setfacl",
        ),
        *("nginx", "haproxy", "apachectl", "lxc", "incus", "git", "rm", "wc"),
    }
)
"""Programs that take what to do from a file if an option names one."""
_ACTIONS: Final = frozenset({"compose", "stack", "build", "apply", "bake", "restore", "load", "am"})
_ARCHIVERS: Final = frozenset({"tar", "gtar", "star"})
_EXTRACTS: Final = re.compile(r"^[a-zA-Z]*x|(?:^|\s)(?:-[a-zA-Z]*x|--extract\b|--get\b)")
_SYSTEM_FOLDERS: Final = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/")


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
