"""Names that one program prints for another to read files by (`find … | xargs cat`).

Other calls of `xargs` are judged in `nested_commands.py`.

Programs that print what is in a file get such names only from those that list files below known
folders, through filters that pass whole lines on. Where a text is made (`printf`, `awk`, `cut`), it
may name any file: `printf "/etc/%s" shadow | xargs cat` shows /etc/shadow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import levels
from pulsus.commands.risk.environment_queries import environment_options
from pulsus.commands.risk.file_uses import rule_for_program
from pulsus.commands.risk.secret_paths import is_secret, rules, words
from pulsus.commands.shell.refused_characters import with_plain_dashes
from pulsus.commands.shell.script_parser import Script, Stage
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name, unwrap, wrappers

_ARGUMENT_FILES: Final = frozenset({"-a", "--arg-file"})
_GIT_LISTS: Final = frozenset({"ls-files", "diff", "grep", "ls-tree"})
_PRINTF: Final = re.compile(r"""(?:%[pPfh]|\\[n0t]|["'])+""")
"""Formats of `find -printf` that print the path of a file and nothing else."""


def check_piped_file_names(script: Script, tables: Tables, *, fed: bool) -> Iterator[CallFinding]:
    """Yield a refusal of each call that reads files whose names another program makes.

    `fed`: something outside of the script writes the input of its first program.
    """
    for at, stage in enumerate(script.stages):
        call = with_plain_dashes(stage.words)
        inner = unwrap(call)
        if len(inner) < len(call) and "xargs" in wrappers(call):
            from_file = _has_option(call, _ARGUMENT_FILES)
            reads = inner and not (
                _is_limited_to_names(inner) and not environment_options(program_name(inner))
            )
        else:
            name_list = _find_name_list(inner)
            if name_list is None:
                continue
            from_file, reads = name_list != "-", True
        if at and not from_file and stage.fed and _is_literal_list(script.stages[at - 1], inner):
            continue
        if not reads or (
            not from_file and _has_only_listed_names(script, at - 1, tables, stage, fed=fed)
        ):
            continue
        source = (
            "a file" if from_file or not stage.fed else program_name(script.stages[at - 1].words)
        )
        if environment_options(program_name(inner)):
            called = " ".join(takewhile(str.isalpha, (word.text for word in inner)))
            asked = f"options of {called or program_name(inner)} that show an environment"
            printed = "that a file holds" if source == "a file" else f"that {source} prints"
            rule = f"the words {printed} may be {asked}"
            yield refusal("allow", program_name(inner), rule, "let docker ps -q list the names")
            continue
        rule = f"{source} decides which files it reads, and may name any file"
        yield refusal("allow", program_name(inner), rule, "let find list the files")


def check_found_lists(call: Sequence[Word]) -> Iterator[CallFinding]:
    """Yield a refusal of a call for each found file (`xargs`, `find -exec`) that takes the file for
    a list of other files."""
    if _find_name_list(call) is not None:
        rule = "a file that is found decides which files it reads, and may name any file"
        yield refusal("allow", program_name(call), rule)


def _is_literal_list(feeder: Stage, inner: Sequence[Word]) -> bool:
    """Return True if words of the command say which file a checksum is compared with."""
    called = [word.text for word in feeder.words]
    if program_name(inner) not in words("checksums") or not called or called[0] != "echo":
        return False
    plain = [word for word in feeder.words[1:] if not word.wild and word.text[:1] != "-"]
    named = [part for word in plain for part in word.text.split()]
    known = not any(is_secret(part) or "\\" in part for part in named)
    return known and len(plain) == len(called) - 1


def _is_limited_to_names(inner: Sequence[Word]) -> bool:
    """Return True if the program shows nothing of the content of a file that a word names."""
    name = program_name(inner)
    if name in {"find", "fd", "file", "du", "tree", "git"}:
        return name != "git" and name in words("names_only") and _find_name_list(inner) is None
    return name in words("names_only") or name in words("no_files") or name in words("no_readers")


def _find_name_list(inner: Sequence[Word]) -> str | None:
    """Return the file that an option makes the program read file names from, `-`, or None."""
    options = rule_for_program("lists", program_name(inner))
    if options is None:
        return None
    texts = [word.text for word in inner[1:]]
    for option in options.split():
        if option == "@":
            named = (text for text in texts if text[:1] == "@" and len(text) > 1)
            return next(named, None)
        for at, text in enumerate(texts):
            if text[:1] != option[:1]:
                continue
            if option in _NO_VALUE and re.fullmatch(_bundle_with(option), text):
                return "-"
            if text == option or (option[:2] != "--" and re.fullmatch(rf"-\w*{option[1:]}", text)):
                return texts[at + 1] if texts[at + 1 :] else "-"
            if text.startswith(option + "=") or (option[:2] != "--" and text.startswith(option)):
                return text.removeprefix(option).removeprefix("=")
    return None


def _bundle_with(option: str) -> str:
    """Return a pattern for the option, alone or among other letters (`-pdm`)."""
    return re.escape(option) if option[:2] == "--" else rf"-\w*{option[1:]}\w*"


_NO_VALUE: Final = frozenset(
    {
        *("--batch", "--batch-check", "--stdin", "--batch-command", "--paths-from-stdin"),
        *("-o", "--create", "-p", "--pass-through"),
    }
)


def _has_option(call: Sequence[Word], options: frozenset[str]) -> bool:
    return any(
        text in options or text.startswith("--arg-file=") or re.fullmatch(r"-[0rtx]*a.*", text)
        for text in (word.text for word in call)
    )


def _has_only_listed_names(
    script: Script, at: int, tables: Tables, reader: Stage, *, fed: bool
) -> bool:
    """Return True if the stages up to `at` print only names of files that they list."""
    if not reader.fed:
        # Nothing writes its input, or `< FILE` does.
        return not fed and not any(r.operator == "<" for r in script.redirects)
    while at >= 0:
        stage = script.stages[at]
        if not _is_line_filter(stage, tables):
            return _is_lister(script, at, tables, fed=fed)
        if not stage.fed:
            return False
        at -= 1
    return False


def _is_line_filter(stage: Stage, tables: Tables) -> bool:
    """Return True if the stage passes on some of the lines it reads, unchanged."""
    name = program_name(stage.words)
    texts = [word.text for word in stage.words[1:]]
    if name == "tr":
        return texts in (["\\n", "\\0"], ["\\n", "\\000"], ["\\0", "\\n"], ["\\000", "\\n"])
    options = rule_for_program("filters", name)
    level = next(levels(stage.words, tables), None) if options is not None else None
    if level is None or options is None:
        return False
    patterns = 1 if name in words("patterns") and not _has_pattern_option(level.parsed.given) else 0
    only = {one.name for one in level.parsed.given} <= {*options.split()}
    return only and len(level.parsed.operands) <= patterns


def _has_pattern_option(parsed: Sequence[object]) -> bool:
    return any(getattr(one, "name", "") in words("pattern_options") for one in parsed)


def _is_lister(script: Script, at: int, tables: Tables, *, fed: bool) -> bool:
    """Return True if the stage prints names of files below the folders it is given, and nothing
    else."""
    stage = script.stages[at]
    inner = unwrap(stage.words)
    through = "xargs" in wrappers(stage.words)
    if through and (
        _has_option(stage.words, _ARGUMENT_FILES)
        or not _has_only_listed_names(script, at - 1, tables, stage, fed=fed)
    ):
        return False
    return bool(inner) and _is_listing_call(inner, tables)


def _is_listing_call(inner: Sequence[Word], tables: Tables) -> bool:
    name = program_name(inner)
    if name == "find":
        return _is_find_listing(inner, tables)
    parsed = tuple(levels(inner, tables))
    if not parsed or (name == "git" and inner[1:2] and not _is_git_listing(inner)):
        return False
    known = next((v for k, v in rules()["listers"].items() if name in k.split()), None)
    if known is None:
        return False
    options = {one.name for level in parsed for one in level.parsed.given}
    needed, allowed = set(str(known["one_of"]).split()), set(str(known["also"]).split())
    return (not needed or bool(options & needed)) and options <= needed | allowed


def _is_git_listing(inner: Sequence[Word]) -> bool:
    verb = next((word.text for word in inner[1:] if word.text[:1] != "-"), "")
    texts = {word.text for word in inner}
    if verb == "ls-files":
        return True
    named = {"--name-only", "-l", "--files-with-matches", "-L", "--files-without-match"}
    return verb in _GIT_LISTS and bool(texts & named)


def _is_find_listing(inner: Sequence[Word], tables: Tables) -> bool:
    texts = [word.text for word in inner]
    for at, text in enumerate(texts):
        if text == "-printf" and not _PRINTF.fullmatch("".join(texts[at + 1 : at + 2])):
            return False
        if text in {"-ls", "-fls", "-files0-from", "-execdir", "-ok", "-okdir"}:
            return False
        if text == "-exec":
            call = list(inner[at + 1 :])
            end = next((i for i, w in enumerate(call) if w.text in {";", "+"}), len(call))
            if not _is_listing_call(call[:end], tables):
                return False
    return True
