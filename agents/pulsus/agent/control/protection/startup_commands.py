"""Commands that change what runs later without naming a file: installers, crontab, `git config`.

`pip install`, `crontab` and `at` are found here.

Writes of files are found by `startup_writes.py`, and the list of such files is
`agent/control/protection/files/startup_files.py`. Effect: only through `StartupFiles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.files.program_files import table_programs
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
    return _changed_settings(name, texts)


def _changed_settings(name: str, texts: Sequence[str]) -> str:
    """Return the word that changes the links, libraries or settings of programs, or ""."""
    operands = [text for text in texts if text[:1] != "-"]
    match name:
        case "update-alternatives" if not _SHOWS_LINKS & set(texts):
            known = STARTED_NAMES | table_programs()
            given = (text for text in texts if text.rpartition("/")[2] in known)
            return next(given, "") or next((text for text in texts if text in _ALL_LINKS), "")
        case "ldconfig":
            other = (text for text in texts if re.match(r"-[a-zA-Z]*[fCr]|--[^vp]", text))
            return next(other, "") or next(iter(operands), "")
        case "kubectl" | "oc" if "config" in operands:
            return next((text for text in texts if _RUNS_PROGRAM.search(text)), "")
        case "kubectl" | "oc" if operands[:1] == ["krew"]:
            return "krew"
        case "docker":
            changes = "context" in operands and not _CONTEXTS.isdisjoint(operands)
            changes = changes or {"plugin", "install"} <= {*operands}
            return operands[0] if changes or operands[:1] == ["login"] else ""
        case _ if name in _OWN_SETTINGS:
            first = {*texts[:1]}
            called = (
                words
                for words in _OWN_SETTINGS[name]
                if {*words.split()} <= ({*texts} if " " in words else first)
            )
            return next(called, "")
        case _ if _PIP.fullmatch(name) and operands[:1] == ["config"]:
            return next((text for text in operands if text in {"set", "unset", "edit"}), "")
        case _:
            return ""


_OWN_SETTINGS: Final[Mapping[str, Sequence[str]]] = {
    "aws": ("configure set", "configure import", "configure sso"),
    "go": ("env -w", "env -u"),
    "helm": ("plugin install", "plugin update", "plugin uninstall"),
    "gh": ("alias set", "alias import", "extension install", "extension upgrade", "config set"),
    "glab": ("alias set", "config set"),
    "npm": ("config set", "config edit", "set"),
    "yarn": ("config set",),
    "pnpm": ("config set",),
    "rustup": ("default", "override set", "toolchain link", "toolchain install", "set"),
    "cargo": ("install",),
    "conda": ("config",),
    "gcloud": ("components", "config set"),
    "az": ("extension add", "extension update", "config set"),
    "krew": ("install",),
    "git-lfs": ("install",),
}
"""Calls that change the settings or plug-ins of a client, which its next read obeys."""
_SHOWS_LINKS: Final = frozenset({"--display", "--query", "--list", "--get-selections"})
_ALL_LINKS: Final = frozenset({"--all", "--set-selections"})
_RUNS_PROGRAM: Final = re.compile(r"--(?:exec|auth-provider)|\.exec\b|\bexec\.")
_CONTEXTS: Final = frozenset({"use", "create", "import", "update", "rm", "remove"})
_PIP: Final = re.compile(r"pip[\d.]*")
_KNOWN_SETTINGS: Final = re.compile(
    r"/(?:etc|run|usr/lib|lib|usr/local/lib)/sysctl(?:\.conf|\.d/[\w.-]+)"
)


def find_loaded_settings(call: Sequence[Word]) -> str:
    """Return the file from which `sysctl -p FILE` sets what nothing here has read, or ""."""
    texts = [word.text for word in call[1:]]
    if program_name(call) != "sysctl":
        return ""
    loads = any(re.match(r"-[a-zA-Z]*[pf]|--(?:load|file)", text) for text in texts)
    files = [re.sub(r"^-[pf]|^--(?:load|file)=", "", text) for text in texts if loads]
    given = (text for text in files if text[:1] not in {"", "-"} and not text.isalpha())
    return next((text for text in given if not _KNOWN_SETTINGS.fullmatch(text)), "")


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
