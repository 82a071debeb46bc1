"""Files that a call shows or changes without naming them: of git, archives and linked folders.

`git show`, `git checkout` and `tar -x` are such calls. `agent/control/protection/protected_uses.py`
asks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.risk.file_uses import FileUse
from pulsus.commands.shell.words import Word

_GIT_CONTENT: Final = frozenset(
    {
        *(
            "show",
            "diff",
            "grep",
            "cat-file",
            "blame",
            "annotate",
            "archive",
            "bundle",
            "whatchanged",
        ),
        *("format-patch", "difftool", "range-diff", "diff-tree", "diff-index", "diff-files"),
        *("stash", "fast-export", "unpack-file", "checkout-index"),
    }
)
_GIT_PATCHES: Final = re.compile(
    r"-(?:p|u|L|W|S|G|-patch|-word-diff|-function-context|c|-cc|-stat)"
)
_GIT_REPLACING: Final = frozenset(
    {
        *("apply", "am", "pull", "merge", "rebase", "reset", "switch", "stash", "clean"),
        *("cherry-pick", "revert", "bisect", "read-tree", "checkout-index", "sparse-checkout"),
        *("filter-branch", "submodule"),
    }
)
"""Commands of git that change files of the work tree without naming them."""
_UNPACKERS: Final[Mapping[str, str]] = {
    "patch": "",
    "unzip unrar pax": "",
    "tar bsdtar gtar jar": r"-?[a-zA-Z]*x[a-zA-Z]*|--extract|--get",
    "cpio": r"-[a-z]*i[a-z]*|--extract",
    "7z 7za": r"[xe]",
    "ar": r"-?[a-zA-Z]*x[a-zA-Z]*",
}
"""Programs that write files whose names another file says, and the words that ask for it."""
_UNPACK_FOLDER: Final = re.compile(r"(?:-[CdoD]|--(?:directory|chdir)=?)(?P<folder>.*)")
_ATTRIBUTES: Final = frozenset({"chmod", "chown", "chgrp", "touch"})
_FIND_ACTIONS: Final = ("-delete", "-exec", "-ok", "-fprint", "-fls")
_FOLLOWING: Final[Mapping[str, str]] = {
    "grep egrep fgrep": "-R --dereference-recursive",
    "rg": "-L --follow",
    "ag ack": "-f --follow",
    "tar bsdtar gtar": "-h -L --dereference",
    "cpio": "-L --dereference",
    "rsync": "-L -k --copy-links --copy-dirlinks --copy-unsafe-links",
    "git": "",
}
"""Programs that look below folders, and the options with which they follow links there.

Others are taken to follow them."""
_FOLLOWING_BY_PROGRAM: Final = {
    name: options for names, options in _FOLLOWING.items() for name in names.split()
}
_UNPACKERS_BY_PROGRAM: Final = {
    name: asks for names, asks in _UNPACKERS.items() for name in names.split()
}
FIND_PATTERNS: Final = frozenset(
    {
        *("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"),
        *("-regex", "-iregex", "-lname", "-ilname"),
    }
)
"""Tests of `find` whose value is a pattern of names below its folders, and opens nothing."""
_BEGINS_TESTS: Final = re.compile(r"-(?![HLP]$|D$|O\d?$)|[(!]|\\[(!]")


def only_looks(use: FileUse) -> bool:
    """Return True if a call that names a folder around the protected places leaves them alone."""
    if use.program == "find":
        return not any(word.text.startswith(_FIND_ACTIONS) for word in use.words[1:])
    return use.program == "mkdir" or (use.only_names and use.program not in _ATTRIBUTES)


def find_expression(use: FileUse) -> range:
    """Return the places of the words of `find` behind the folders that it looks into."""
    if use.program != "find":
        return range(0)
    begins = (at for at, word in enumerate(use.words[1:], 1) if _BEGINS_TESTS.match(word.text))
    return range(next(begins, len(use.words)), len(use.words))


def follows_links(use: FileUse) -> bool:
    """Return True if the call may open what a link below its folder leads to."""
    if not use.deep or use.only_names:
        return False
    texts = [word.text for word in use.words[1:]]
    options = _FOLLOWING_BY_PROGRAM.get(use.program)
    if options is not None:
        return any(_gives(text, option) for text in texts for option in options.split())
    if use.program != "find":
        return True
    unsure = {"-L", "-H", "-follow", "-o", "-or", "!", "-not", ",", "(", "\\("} & set(texts)
    return bool(unsure) or ("-type", "f") not in pairwise(texts)


def _gives(text: str, option: str) -> bool:
    if option[:2] == "--":
        return text.startswith(option)
    return re.match(rf"-[A-Za-z0-9]*{option[1]}", text) is not None


def unpacks_here(use: FileUse) -> bool:
    """Return True if a call unpacks an archive, or a patch, into the folder that it is in."""
    asks = _UNPACKERS_BY_PROGRAM.get(use.program)
    texts = [word.text for word in use.words[1:]]
    if asks is None or (asks and not any(re.fullmatch(asks, text) for text in texts)):
        return False
    for text, following in pairwise([*texts, ""]):
        found = _UNPACK_FOLDER.fullmatch(text)
        if found and (found["folder"] or following)[:1] == "/":
            return False
    return True


def replaces_files(call: Sequence[Word]) -> bool:
    """Return True if a call of git changes files of the work tree without naming which."""
    texts = [word.text for word in call[1:]]
    return bool(_GIT_REPLACING & set(texts)) or ("checkout" in texts and "--" not in texts)


def shows_content(call: Sequence[Word]) -> bool:
    """Return True if a call of git shows what files hold, without naming which."""
    texts = [word.text for word in call[1:]]
    named = [text for text in texts if text[:1] != "-"]
    if "--" in texts and texts[texts.index("--") + 1 :]:
        return False
    if _GIT_CONTENT & set(named):
        return True
    return "log" in named and any(_GIT_PATCHES.match(text) for text in texts)
