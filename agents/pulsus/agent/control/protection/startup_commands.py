"""Commands that change what runs later without naming a file: installers, crontab, `git config`.

Writes of files are found by `startup_writes.py`. Effect: only through `StartupFiles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.files.startup_files import STARTED_NAMES, StartupFiles
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name

_INSTALLERS: Final = re.compile(
    r"(?:pip|pip\d[\d.]*|uv|poetry|pipenv|pdm|hatch|rye|conda|mamba|micromamba|easy_install)"
)
_INSTALLS: Final = frozenset(
    {
        *("install", "uninstall", "sync", "add", "remove", "update", "upgrade", "develop", "lock"),
        *("self", "venv", "init", "clean", "build", "run", "env", "python", "create", "use"),
    }
)
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
_ELSEWHERE: Final = ("--target", "-t", "--prefix", "--root", "--python", "-p", "--name", "-n")
_PLANNED: Final = frozenset({"crontab", "at", "batch", "fcrontab"})


def find_installed(call: Sequence[Word], startup: StartupFiles) -> str:
    """Return the word of a call that changes the packages of this Python, or "".

    An environment is another one only if the program lies in it, by its whole path, or an option
    names its folder.
    """
    name, texts = program_name(call).casefold(), [word.text for word in call[1:]]
    if _PYTHON.fullmatch(name):
        module = next((b for a, b in pairwise(texts) if a == "-m"), "")
        if module.partition(".")[0] in {"pip", "ensurepip", "venv", "easy_install", "uv"}:
            installs = module != "pip" or bool(_INSTALLS & set(texts))
            return module if installs and not _is_elsewhere(call, startup) else ""
        return texts[0] if texts[:1] and texts[0].rpartition("/")[2] == "setup.py" else ""
    if name == "easy_install" or (_INSTALLERS.fullmatch(name) and _INSTALLS & set(texts)):
        return "" if _is_elsewhere(call, startup) else name
    if name == "git" and "config" in texts and {"--global", "--system"} & set(texts):
        return next(text for text in texts if text in {"--global", "--system"})
    if name == "update-alternatives" and STARTED_NAMES & set(texts):
        return next(text for text in texts if text in STARTED_NAMES)
    return ""


def _is_elsewhere(call: Sequence[Word], startup: StartupFiles) -> bool:
    """Return True if the packages of another environment are changed, for certain."""
    places = [*_given_folders(call)]
    if not places and call[0].text[:1] == "/":
        places = [call[0].text.rpartition("/")[0]]
    usual = {"/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"}
    return bool(places) and all(
        place[:1] == "/" and place.rstrip("/") not in usual and startup.find(place) is None
        for place in places
    )


def _given_folders(call: Sequence[Word]) -> Iterator[str]:
    texts = [word.text for word in call[1:]]
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        option, equals, value = text.partition("=")
        if option in _ELSEWHERE:
            yield value if equals else following


_JOB_READERS: Final = frozenset(
    {"cat", "head", "tail", "grep", "diff", "cmp", "wc", "sysctl", "systemd-tmpfiles"}
)
_WRITES_STATE: Final = re.compile(r"-[a-zA-Z]*[sl].*|--(?:state|log).*")


def only_reads_jobs(program: str, call: Sequence[Word]) -> bool:
    """Return True for a call that reads a file of a job, or applies it now: `logrotate -f FILE`."""
    if program == "logrotate":
        return not any(_WRITES_STATE.fullmatch(word.text) for word in call[1:])
    return program in _JOB_READERS


def find_planned(call: Sequence[Word]) -> str:
    """Return the program of a call that plans commands which nothing here can read, or ""."""
    name, texts = program_name(call).casefold(), [word.text for word in call[1:]]
    if name not in _PLANNED:
        return ""
    looks = (
        {"-l", "-r", "-d", "-c", "-u"} & set(texts) if name == "at" else {"-l", "-r"} & set(texts)
    )
    return "" if looks else name
