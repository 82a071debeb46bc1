"""Convert a shell script: getopts, `case` options, `$1` and later words. Pure: it is not run.

It also writes the wrapper code that calls the shell (`subprocess.run`). A script above 100,000
bytes, or for another shell, is refused. If it only reads is decided in
`adoption/script_effects/shell_effects.py`.

The script is embedded as text and given to its shell. Which words it takes is read line by line,
which finds the usual forms and says where it is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulsus.adoption.parsed_script import (
    NotAdoptable,
    ParsedScript,
    Style,
    ToolParameter,
    python_name,
)
from pulsus.adoption.script_effects.python_summary import SECRET
from pulsus.adoption.script_effects.shell_walk import collect_facts
from pulsus.adoption.shell import shell_defaults, shell_usage, shell_words
from pulsus.core.python_source.python_literals import write_text as quoted
from pulsus.core.telemetry.sanitize import one_line

MAX_BYTES = 100_000  # Linux takes at most 128 KiB in one argument of a program
SHELLS = ("bash", "sh", "dash", "ksh")
RUNS = "_called"

_SHEBANG = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S+)")
_GETOPTS = re.compile(r"\bgetopts\s+[\"']?:?([A-Za-z0-9:]+)[\"']?\s+(\w+)")
_OPTION = r"-{1,2}\w[\w-]*"
_BRANCH = re.compile(rf"^\s*\(?({_OPTION}(?:\s*\|\s*{_OPTION})*)\s*\)\s*(.*)$")
_LETTER = re.compile(r"^\s*\(?[\"']?([A-Za-z0-9])[\"']?\)\s*(.*)$")
_SETS = re.compile(r"(\w+)=[\"']?\$\{?(?:OPTARG|2|1#\*=)")
_FUNCTION = re.compile(r"^\s*(?:function\s+)?([\w-]+)\s*\(\s*\)\s*\{|^\s*function\s+([\w-]+)\s*\{")
_VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]{2,})\b")
_READ = re.compile(
    r"(?:^|[;&|({!]|\b(?:do|then|else|while|until|if)\b)\s*(?:\w*=\S*\s+)*read(?=\s|$|;)"
)
_LOOP = re.compile(r"\b(?:while|until)\b")
_SET_VARIABLES = """before = "".join(f'export {name}="$1"; shift; ' for name in variables)"""
_UNSEEN = ("what its programs touch is not seen by a dry run: complete Effects:",)
_HELP = ("h", "help", "version", "V")


def parse_shell_script(script: str, name: str) -> ParsedScript:
    """Return the parsed script called `name`. Raises NotAdoptable."""
    shell = name_shell(script)
    if len(script.encode("utf-8")) > MAX_BYTES:
        raise NotAdoptable(f"it is longer than {MAX_BYTES} bytes: split it")
    bare = [_strip_comment(line) for line in script.split("\n")]
    lines = _drop_single_quoted("\n".join(bare)).split("\n")
    top, bare_top = _lines_outside_functions(lines), _lines_outside_functions(bare)
    parameters, notes = _find_options(bare_top)
    constants = shell_defaults.find_constants(bare_top)
    more, more_notes = shell_words.find_words(top, [p.name for p in parameters], constants)
    parameters += more
    notes += more_notes
    variables = [*shell_defaults.find_variables(script, bare_top, [p.name for p in parameters])]
    if notes:
        parameters.append(
            ToolParameter("arguments", "list[str] | None", "None", "Further words for it.", "rest")
        )
    notes += [*_note_own_path(lines), *_note_input_reads(lines)]
    facts = collect_facts(script, shell)
    assigned = set(re.findall(r"(?:^|\s)([A-Z][A-Z0-9_]+)=", script))
    wanted = {v for line in lines for v in _VARIABLE.findall(line)} - assigned
    summary, body = _leading_comment(script)
    usage = shell_usage.find_usage(script)
    summary = summary or usage.summary
    parameters = [*map(usage.describe, usage.name_words(parameters)), *variables]
    return ParsedScript(
        summary=summary,
        body=body,
        parameters=tuple(parameters),
        code=_write_code(script, shell, name, takes_variables=bool(variables)),
        kind=facts.kind,
        effects=facts.effects,
        secrets=tuple(sorted(v for v in wanted if SECRET.search(v))),
        notes=(*notes, *facts.notes, *(_UNSEEN if facts.kind == "write" else ())),
        runs=RUNS,
    )


def name_shell(script: str) -> str:
    """Return the shell that the first line names. Raises NotAdoptable."""
    found = _SHEBANG.match(script)
    shell = found[1].rpartition("/")[2] if found else "bash"
    if shell not in SHELLS:
        raise NotAdoptable(f"it is for {shell}: scripts for {', '.join(SHELLS)} can be adopted")
    return shell


def _strip_comment(line: str) -> str:
    return "" if line.lstrip().startswith("#") else re.sub(r"\s#\s.*$", "", line)


def _drop_single_quoted(text: str) -> str:
    """Return the text without the contents of single quotes: no shell expands those."""
    characters: list[str] = []
    single = double = escaped = False
    for char in text:
        if single:
            single = char != "'"
        elif escaped:
            escaped = False
        elif char == "'" and not double:
            single = True
        elif char == '"':
            double = not double
        escaped = char == "\\" and not single
        if not single or char in "'\n":
            characters.append(char)
    return "".join(characters)


def _lines_outside_functions(lines: list[str]) -> list[str]:
    """Return the lines outside functions: only there `$1` is a word of the script."""
    outside: list[str] = []
    inside = False
    for line in lines:
        opened = _FUNCTION.match(line)
        if opened and not inside:
            inside = not line.rstrip().endswith("}")
        elif inside:
            inside = not line.startswith("}")
        else:
            outside.append(line)
    return outside


def _find_options(lines: list[str]) -> tuple[list[ToolParameter], list[str]]:
    found: dict[str, ToolParameter] = {}
    notes: list[str] = []
    for letter, takes in _getopts_letters(lines):
        _add_option(found, *_name_and_hint(lines, _LETTER, letter, takes), flag=f"-{letter}")
    for number, line in enumerate(lines):
        branch = _BRANCH.match(line)
        if not branch:
            continue
        flags = [f.strip() for f in branch[1].split("|") if f.strip(" -")]
        flag = next((f for f in flags if f.startswith("--")), flags[0] if flags else "")
        if not flag or flag.strip("-") in _HELP:
            continue
        block = _branch_block(lines, number, branch[2])
        sets = _SETS.search(block)
        takes = bool(sets) or "shift 2" in block or "$2" in block
        _add_option(found, python_name(flag), "str | None" if takes else "bool", flag=flag)
    if any(re.search(r"\bgetopt\b", line) for line in lines):
        notes.append("it uses getopt: options that are not listed go in `arguments`")
    return list(found.values()), notes


def _add_option(found: dict[str, ToolParameter], name: str, hint: str, *, flag: str) -> None:
    style: Style = "flag" if hint == "bool" else "separate"
    default = "False" if hint == "bool" else "None"
    found.setdefault(name, ToolParameter(name, hint, default, f"Its option {flag}.", style, flag))


def _getopts_letters(lines: list[str]) -> Iterator[tuple[str, bool]]:
    for line in lines:
        found = _GETOPTS.search(line)
        if found:
            for letter, colon in re.findall(r"([A-Za-z0-9])(:?)", found[1]):
                if letter not in _HELP:
                    yield letter, bool(colon)


def _name_and_hint(
    lines: list[str], branch: re.Pattern[str], letter: str, takes: bool
) -> tuple[str, str]:
    """Return name and hint of an option. The variable that its branch sets names it."""
    hint = "str | None" if takes else "bool"
    for number, line in enumerate(lines):
        found = branch.match(line)
        if found and found[1] == letter:
            block = _branch_block(lines, number, found[2])
            sets = _SETS.search(block) if takes else re.search(r"(\w+)=", block)
            if sets:
                return python_name(sets[1]), hint
    return f"option_{letter.lower()}", hint


def _branch_block(lines: list[str], number: int, first: str) -> str:
    """Return a branch's commands, up to its `;;`."""
    rows = [first]
    for line in lines[number + 1 : number + 20]:
        if ";;" in rows[-1]:
            break
        rows.append(line)
    return "\n".join(rows)


def _note_own_path(lines: list[str]) -> list[str]:
    return [
        f"line {number}: it looks for files beside itself, where it no longer is"
        for number, line in enumerate(lines, start=1)
        if re.search(r"BASH_SOURCE|dirname\s+[\"']?\$\{?0", line)
    ]


def _note_input_reads(lines: list[str]) -> Iterator[str]:
    """Yield a note for each `read` without a pipe, a file or a text: a tool gets no input."""
    before = ""
    for number, line in enumerate(lines, start=1):
        found = _READ.search(line)
        loop = found and _LOOP.search(line)
        behind = "\n".join(lines[number - 1 :])
        fed = re.search(r"(?<!\|)\|(?!\|)", f"{before} {line[: found.start()]}") if found else None
        has_input = found and ("<" in line[found.end() :] or re.search(r"\s-\w*u", line))
        if found and not (fed or has_input or (loop and re.search(r"\bdone\s*<", behind))):
            yield f"line {number}: it reads its standard input, and a tool gets none"
        if line.strip():
            before = line[-3:] if re.search(r"\|\s*\\?\s*\Z", line) else ""


def _leading_comment(script: str) -> tuple[str, str]:
    """Return the first line of the script's first comment, and the rest."""
    found: list[str] = []
    for line in script.split("\n")[1 if script.startswith("#!") else 0 :]:
        words = line.lstrip("#").strip()
        if line.startswith("#") and shell_usage.is_synopsis(words):
            continue  # it says how the script is called, which the contract says of the tool
        if line.startswith("#") and (words or found):
            found.append(words)
        elif found or line.strip():
            break
    return (one_line(found[0]), "\n".join(found[1:]).strip()) if found else ("", "")


def _write_code(script: str, shell: str, name: str, *, takes_variables: bool) -> str:
    """Return code that holds the script as text and gives it to its shell.

    Variables are set by a line before the script, from words: the program that starts, and the
    environment in which it is found, stay those of the caller.
    """
    taken, first, words = "words: list[str]", "_SCRIPT", "*words"
    if takes_variables:
        taken += ", variables: dict[str, str]"
        first, words = "before + _SCRIPT", "*variables.values(), *words"
    before = f"    {_SET_VARIABLES}\n" if takes_variables else ""
    return f'''_SCRIPT = {_embed_script(script)}


def {RUNS}({taken}) -> dict[str, Any]:
    """Return the script's exit status and output. It gets no input."""
{before}    done = subprocess.run(
        ["{shell}", "-c", {first}, {quoted(name)}, {words}],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    sys.stderr.write(done.stderr)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # a signal
    return {{"exit_status": status, "stdout": done.stdout}}
'''


def _embed_script(script: str) -> str:
    """Return a literal of the script, line by line as it is written if that is possible."""
    text = script if script.endswith("\n") else script + "\n"
    plain = all(c.isprintable() or c in "\n\t" for c in text)
    if plain and "'''" not in text:
        return f"r'''{text}'''"
    if plain and '"""' not in text:
        return f'r"""{text}"""'
    rows = "".join(f"    {quoted(line)}\n" for line in text.splitlines(keepends=True))
    return f"(\n{rows})"
