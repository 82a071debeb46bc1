"""Find what a call writes below a folder that it names, and links there that lead to Pulsus.

`cp`, `rsync`, `tar -x` and `unzip` may write through a symlink: they are judged here.

`agent/control/protection/protected_uses.py` and `agent/control/protection/startup_writes.py` ask
it. It opens no file.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.files.path_candidates import path_candidates
from pulsus.agent.control.protection.files.unnamed_files import only_looks
from pulsus.commands.risk.file_uses import FileUse
from pulsus.commands.risk.secret_paths import words
from pulsus.commands.shell.words import Word

TAKES_AWAY: Final = frozenset({"rm", "unlink", "rmdir", "chmod", "chown", "chgrp", "systemctl"})
"""Programs that write no text into a file."""
_COPIERS: Final = frozenset({"cp", "mv", "install", "ln", "scp", "gcp", "gmv", "ginstall", "gln"})
"""Programs whose last operand, or a folder option, is where the others go."""
_MERGERS: Final = frozenset(
    {
        *("tar", "bsdtar", "gtar", "star", "unzip", "unrar", "7z", "7za", "cpio", "pax", "rsync"),
        *(
            "patch",
            "git",
            "wget",
            "rclone",
            "unison",
            "docker",
            "podman",
            "nerdctl",
            "mount",
            "jar",
        ),
        *("dpkg", "dpkg-deb", "restic", "borg", "ar", "bsdcpio", "svn", "hg", "sshfs", "bindfs"),
        *("aria2c", "lftp", "sftp", "curl", "mirror", "busybox"),
    }
)
"""Programs that may write any name below a folder."""
_SOURCES_ONLY: Final = frozenset({"cp", "gcp", "rsync", "install", "ginstall", "scp", "tar", "zip"})
"""Copiers that leave their sources as they are."""
_KEEPS_BELOW: Final = frozenset(
    {
        "rm",
        "rmdir",
        "unlink",
        "mv",
        "gmv",
        "mkdir",
        "touch",
        "cd",
        "pushd",
        "ls",
        "stat",
        "systemctl",
    }
)
"""Programs that change no file below a folder that they name: `rm -r` takes links away."""
_DEEP_LETTERS: Final = re.compile(r"-[A-Za-z]*[rRa][A-Za-z]*")
_TEXT_ONLY: Final = frozenset({"echo", "printf", "logger", "wall", "test", "["})


_RUNNERS: Final = frozenset(
    {"ssh", "usermod", "useradd", "chsh", "strace", "ltrace", "gdb", "valgrind", "perf", "kubectl"}
    | {"oc", "crictl", "systemd-run", "watch", "machinectl", "pct", "lxc", "chroot", "systemctl"}
)
_ENGINES: Final = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose"})


def only_runs(use: FileUse) -> bool:
    """Return True for a program whose words name programs that are run, elsewhere or later."""
    if use.program in _RUNNERS:
        return True
    return use.program in _ENGINES and any(word.text in {"exec", "run"} for word in use.words[1:])


_ACCOUNTS: Final = frozenset({"useradd", "usermod", "adduser", "chsh"})
"""Programs that note a shell for a user. They write nothing into it."""
_SHELL_OPTION: Final = re.compile(r"-[A-Za-z]*s|--shell")
_PROGRAM_PATH: Final = re.compile(r"/[\w./+-]+")
_SSH_VALUES: Final = re.compile(r"-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]")
"""Options of ssh whose value is the next word."""


def _started_program(use: FileUse) -> int:
    """Return the place of the word that names a program which is run, or 0 for none."""
    if use.program in _ACCOUNTS:
        shells = (_SHELL_OPTION.fullmatch(word.text) for word in use.words)
        return next((at + 1 for at, found in enumerate(shells) if found), 0)
    if use.program != "ssh":
        return 0
    at = 1
    while at < len(use.words) and use.words[at].text[:1] == "-":
        at += 2 if _SSH_VALUES.fullmatch(use.words[at].text) else 1
    return at + 1


def _kernel_files(use: FileUse) -> Iterator[tuple[str, bool]]:
    """Yield the files that `sysctl -w kernel.core_pattern=x` writes."""
    for word in use.words[1:]:
        key, sign, _ = word.text.lstrip("-").partition("=")
        if sign:
            key = key.strip()
            yield (
                f"/proc/sys/{key if '/' in key.partition('.')[0] else key.replace('.', '/')}",
                False,
            )


def written_texts(use: FileUse) -> Iterator[tuple[str, bool]]:
    """Yield each text of a call that may be a path it writes, with True for a pattern.

    The sources of a copy are left out, and so is a file that is only opened to be read. A folder
    that single files are copied to stands for these files.
    """
    if not use.program:
        if use.words and use.words[0].text not in {"<", "<<<", "<<"}:
            yield from ((word.text, word.wild) for word in use.words[1:])
        return
    if use.program in _TEXT_ONLY or (use.only_names and only_looks(use)):
        return
    if use.program == "sysctl":
        yield from _kernel_files(use)
        return
    named = copied_names(use)
    if named is not None:
        yield from named
        return
    started = _started_program(use)
    for at, word in enumerate(use.words[1:], 1):
        if at == started and _PROGRAM_PATH.fullmatch(word.text):
            continue
        if at in use.searched and use.program not in {"sed", "awk", "gawk", "perl"}:
            continue
        for text, _ in path_candidates(word, is_name=use.program in words("no_files")):
            yield text, word.wild


def copied_names(use: FileUse) -> list[tuple[str, bool]] | None:
    """Return the names that a copier writes, or None for another program or a call that is not
    understood."""
    if use.program not in _COPIERS:
        return None
    target, operands = _copy_words(use.words[1:])
    if target is None and len(operands) < 2:
        return None
    if target is None:
        *operands, target = operands
    deep = _goes_deep(use)
    found = [] if deep else [(target.text, target.wild)]
    for source in operands:
        name = posixpath.basename(source.text)
        if name in {"", ".", ".."} or (deep and _copies_contents(use)):
            found.append((target.text, target.wild))
        else:
            found.append((posixpath.join(target.text, name), source.wild or target.wild))
            found += [(target.text, target.wild)] if deep and not _is_folder(target.text) else []
    if use.program not in _SOURCES_ONLY:
        found += [(source.text, source.wild) for source in operands]
    return found


def _copy_words(given: Sequence[Word]) -> tuple[Word | None, list[Word]]:
    """Return the folder that an option names, and the operands."""
    target: Word | None = None
    operands: list[Word] = []
    skip = False
    for word, following in pairwise([*given, Word("")]):
        text = word.text
        if skip:
            skip = False
        elif text in {"-t", "--target-directory"}:
            target, skip = following, True
        elif text.startswith("--target-directory="):
            target = Word(text.partition("=")[2], word.wild)
        elif text[:2] != "--" and text[:1] == "-" and text[-1:] == "t" and len(text) > 2:
            target, skip = following, True
        elif text[:2] == "-t" and text[2:3] == "/":
            target = Word(text[2:], word.wild)
        elif text in {"-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix", "-P"}:
            skip = True
        elif text[:1] != "-" or text == "-":
            operands.append(word)
    return target, operands


def _copies_contents(use: FileUse) -> bool:
    letters = [word.text for word in use.words[1:] if word.text[:1] == "-"]
    return any(
        text in {"--no-target-directory", "--parents"} or (text[:2] != "--" and "T" in text)
        for text in letters
    )


def _goes_deep(use: FileUse) -> bool:
    """Return True if the call goes on below the folders that it names."""
    return use.deep or any(
        text in {"--recursive", "--archive"} or _DEEP_LETTERS.fullmatch(text)
        for text in (word.text for word in use.words[1:])
    )


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - a name that no file can have is no folder


def changes_below(use: FileUse) -> bool:
    """Return True if a call that names a folder may change any file below it."""
    return (
        _goes_deep(use) or use.program in _MERGERS or use.program in {"mv", "rename", "exch", "ln"}
    )


def searched_folders(use: FileUse) -> Iterator[tuple[str, bool]]:
    """Yield each folder below which a writing call may change files that it does not name.

    True stands for a call that may also go on through symbolic links there.
    """
    if not use.program or use.program in _KEEPS_BELOW or use.program in _TEXT_ONLY:
        return
    if use.only_names and only_looks(use):
        return
    named = copied_names(use)
    if named is not None:
        yield from ((text, True) for text, wild in named if _goes_deep(use) and not wild)
        return
    follows = use.program in _MERGERS or any(
        word.text in {"-L", "-H", "--dereference", "-follow"}
        or (word.text[:1] == "-" and word.text[1:2] != "-" and {"L", "H"} & {*word.text})
        for word in use.words[1:]
    )
    for word in use.words[1:]:
        if word.text != "." or use.deep or follows:
            for text, whole in path_candidates(word, is_name=use.program in words("no_files")):
                if whole and not word.wild:
                    yield text, follows
