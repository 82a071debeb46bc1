"""Pictures that a result names, shown inline by terminals that say they can. Effect: reads files.

At most four pictures of up to 4 MiB each are shown.

Kitty and Ghostty speak the protocol of kitty, iTerm2 and WezTerm that of iTerm2. The environment
names the terminal; inside tmux and screen it is not asked, because they swallow both protocols.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pulsus.core.system import regular_files

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

ImageProtocol = Literal["kitty", "iterm2"]

_PNG = b"\x89PNG\r\n\x1a\n"
_SIGNATURES = {".png": _PNG, ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff", ".gif": b"GIF8"}
_MOST_BYTES = 4 * 1024 * 1024
_MOST_PICTURES = 4
_CHUNK = 4096
"""Characters of base64 in one command of kitty's protocol (its documentation says 4096)."""


def inline_protocol(environ: Mapping[str, str]) -> ImageProtocol | None:
    """Return the protocol of the terminal in this environment; None if it shows no pictures."""
    if environ.get("TMUX") or environ.get("TERM", "").startswith(("tmux", "screen")):
        return None
    program = environ.get("TERM_PROGRAM", "")
    if environ.get("KITTY_WINDOW_ID") or environ.get("TERM") in ("xterm-kitty", "xterm-ghostty"):
        return "kitty"
    if program in ("iTerm.app", "WezTerm") or environ.get("LC_TERMINAL") == "iTerm2":
        return "iterm2"
    return None


def inline_pictures(result: JsonValue, protocol: ImageProtocol) -> Iterator[str]:
    """Yield the sequence that shows each picture which the result names by an absolute path.

    Relative paths are not followed. A file that is missing, larger than 4 MiB, or no picture is
    left out: the result names it in any case.
    """
    shown = 0
    for path in _paths(result):
        data = _picture(path, protocol)
        if data is not None and shown < _MOST_PICTURES:
            shown += 1
            yield _kitty(data) if protocol == "kitty" else _iterm2(data)


def _paths(result: JsonValue) -> Iterator[Path]:
    values = result.values() if isinstance(result, dict) else ()
    for value in values:
        if isinstance(value, str) and Path(value).suffix.lower() in _SIGNATURES:
            yield Path(value)


def _picture(path: Path, protocol: ImageProtocol) -> bytes | None:
    """Return the bytes of a picture that the protocol can show."""
    if not path.is_absolute():
        return None
    try:
        data = regular_files.read_file(path, _MOST_BYTES)[0]
    except regular_files.UnreadableFile:
        return None
    signature = _PNG if protocol == "kitty" else _SIGNATURES[path.suffix.lower()]
    return data if data.startswith(signature) else None


def _kitty(data: bytes) -> str:
    """Return the commands that send a PNG and show it (kitty graphics protocol: a=T, f=100)."""
    text = base64.standard_b64encode(data).decode("ascii")
    chunks = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
    commands = []
    for number, chunk in enumerate(chunks):
        keys = ["a=T", "f=100"] if number == 0 else []
        keys.append(f"m={int(number < len(chunks) - 1)}")
        commands.append(f"\x1b_G{','.join(keys)};{chunk}\x1b\\")
    return "".join(commands)


def _iterm2(data: bytes) -> str:
    """Return the command of iTerm2's inline images protocol."""
    text = base64.standard_b64encode(data).decode("ascii")
    return f"\x1b]1337;File=inline=1;size={len(data)}:{text}\x07"
