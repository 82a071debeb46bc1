"""Find calls that type at a terminal for a person, or that open this machine to a container. Pure.

`tmux send-keys`, `xdotool` and `docker run --privileged` are found here.

A person answers questions of Pulsus at a terminal. A call that types there would answer for the
person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name

_TYPISTS: Final = frozenset(
    {
        *("ttyecho", "conspy", "chvt", "openvt", "xdotool", "ydotool", "wtype", "dotool", "xte"),
        *("evemu-event", "evemu-play", "loadkeys", "dtach", "abduco", "byobu", "zellij", "kitty"),
        *("wall", "write", "mesg", "reset", "tset", "setterm", "setleds", "setmetamode"),
        *("setkeycodes", "kbd_mode", "kbdrate", "deallocvt", "setfont", "unicode_start", "ydotool"),
        *("unicode_stop", "write.ul", "getty", "agetty", "vlock", "resizecons"),
        *("kitten", "wezterm", "ydotoold", "reptyr", "tmate", "ttysnoop", "peekfd", "uinput"),
    }
)
"""Programs whose purpose is to type, or to enter the terminal of another program."""
_LOOKS: Final = re.compile(
    r"new(?:-session)?|ls|list-.*|has(?:-session)?|show-.*|info|capture-pane"
)
"""Commands of tmux that type nothing and end nothing."""
_TMUX_VALUES: Final = frozenset({"-L", "-S", "-f", "-c", "-T"})
_ENGINES: Final = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose"})
_OPENS: Final = re.compile(
    r"--privileged(?:=true)?|--(?:pid|userns|uts|cgroupns)=host|--device(?:=.*)?"
    r"|--cap-add(?:=.*)?|--security-opt(?:=.*)?"
)
"""Options that let a container reach the processes or the devices of this machine."""
_HOST_SPACES: Final = frozenset({"--pid", "--userns", "--uts"})
_MACHINE_FOLDERS: Final = re.compile(
    r"/(?:proc|dev|sys|run|var/run|var/lib/docker|var/lib/containers)?(?:/.*)?"
)


def find_typing(call: Sequence[Word]) -> str:
    """Return the word of a call that types at a terminal or ends one, or an empty text."""
    name = program_name(call).casefold()
    texts = [word.text for word in call[1:]]
    if name in _TYPISTS:
        return name
    if name == "stty":
        return next((text for text in texts if text[:2] == "-F" or text[:3] == "--f"), "")
    if name == "tmux":
        return _tmux_command(texts)
    if name == "screen":
        acting = (text for text in texts if re.fullmatch(r"-[A-Za-z]*[XxDR][A-Za-z]*", text))
        return next(acting, "")
    return ""


def _tmux_command(texts: Sequence[str]) -> str:
    """Return the first command of a call of tmux that does more than to look, or begin a session.

    A line of tmux may hold several commands, with `;` between them.
    """
    begins, skip = True, False
    for text in texts:
        if skip:
            skip = False
        elif begins and text[:1] == "-":
            skip = text in _TMUX_VALUES
        elif begins:
            if _LOOKS.fullmatch(text) is None:
                return text
            begins = False
        begins = begins or text in {";", "\\;"} or text.endswith(";")
    return ""


def find_opened_machine(call: Sequence[Word]) -> str:
    """Return the word that gives a container the processes or devices of this machine."""
    if program_name(call).casefold() not in _ENGINES:
        return ""
    texts = [word.text for word in call[1:]]
    for text, following in pairwise([*texts, ""]):
        if _OPENS.fullmatch(text) or (text in _HOST_SPACES and following == "host"):
            return text
        bound = following if text in {"-v", "--volume", "--mount"} else text
        bound = re.sub(r"^(?:-v|--volume=|--mount=)", "", bound)
        source = re.search(r"(?:^|,)(?:source|src)=([^,]*)", bound)
        place = source[1] if source else bound.partition(":")[0]
        is_bind = source is not None or (":" in bound and bound[:1] == "/")
        if is_bind and _MACHINE_FOLDERS.fullmatch(place.rstrip("/") or "/"):
            return text
    return ""
