"""Write the tool's module of an adopted script: docstring (contract), code, entry point. Pure.

The wrapper that calls the shell of a shell script is written in `adoption/shell/shell_script.py`. A
write without `dry_run` gets that parameter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pulsus.adoption.parsed_script import (
    ParsedScript,
    ToolParameter,
    required_first,
    variable_statements,
    word_statements,
)
from pulsus.core.compose.writing.caller_examples import dump_examples
from pulsus.core.python_source.python_literals import write_docstring, write_text
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import Example

DRY_RUN = ToolParameter("dry_run", "bool", "False", "List the words and run nothing.", "flag")

_HEADER = re.compile(r"[A-Za-z -]{1,20}:")
_PYTHON = '''
def _called(words: list[str]) -> dict[str, Any]:
    """Return the script's exit status and output for these words on its command line."""
    raw, errors, before, status = io.BytesIO(), io.StringIO(), sys.argv, 0
    output = io.TextIOWrapper(raw, "utf-8", write_through=True)
    sys.argv = [{name}, *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            _script()
    except SystemExit as end:
        if end.code is not None:
            status = end.code & 0xFF if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            errors.write(end.code)
    finally:
        sys.argv = before
    if status == 2 and "usage:" in errors.getvalue().lower():  # from argparse or click
        raise ValueError(errors.getvalue().strip())
    sys.stderr.write(errors.getvalue())
    output.flush()
    return {{"exit_status": status, "stdout": raw.getvalue().decode("utf-8", "replace")}}
'''


def render_module(
    script: ParsedScript, name: str, origin: str, examples: Sequence[Example] = ()
) -> str:
    """Return the module's source. `origin` is the name of the script's file."""
    parameters = required_first(tool_parameters(script))
    dry = DRY_RUN in parameters
    parts = [
        write_docstring(_write_contract(script, parameters, origin, examples)),
        _write_imports(script, parameters),
        f"{script.code.rstrip()}\n",
    ]
    if script.runs != "_called":
        parts.append(_PYTHON.format(name=write_text(name)))
    parts.append(_write_entry(script, parameters, dry=dry))
    return "\n".join(parts)


def tool_parameters(script: ParsedScript) -> list[ToolParameter]:
    """Return the tool's parameters. A write tool without `dry_run` gets one."""
    own = list(script.parameters)
    has = any(each.name == DRY_RUN.name and each.hint == "bool" for each in own)
    return own if script.kind != "write" or has else [*own, DRY_RUN]


def _write_entry(script: ParsedScript, parameters: list[ToolParameter], *, dry: bool) -> str:
    variables = variable_statements(script.parameters)
    lines = ["words: list[str] = []", *word_statements(script.parameters), *variables]
    call = "_called(words, variables)" if variables else "_called(words)"
    if dry:
        lines += ["if dry_run:"]
        lines += ['    return {"ran": False, "words": words, "exit_status": 0, "stdout": ""}']
    more = '"ran": True, "words": words, ' if script.kind == "write" else ""
    lines.append(f"return {{{more}**{call}}}" if more else f"return {call}")
    declared = "".join(f"    {each.declared},\n" for each in parameters)
    head = (
        f"def run(\n{declared}) -> dict[str, Any]:" if declared else "def run() -> dict[str, Any]:"
    )
    docstring = '    """Return the output and exit status of the script for these arguments."""'
    return "\n".join(("", head, docstring, *(f"    {line}" for line in lines), ""))


def _write_imports(script: ParsedScript, parameters: list[ToolParameter]) -> str:
    shell = script.runs == "_called"
    wanted = {"sys"} | ({"subprocess"} if shell else {"contextlib", "io"})
    hints = " ".join(f"{each.hint} {each.default}" for each in parameters)
    lines = [f"from __future__ import {', '.join(script.future)}\n"] if script.future else []
    lines += [f"import {each}" for each in sorted(wanted - script.bound)]
    if "Path" in hints and "Path" not in script.bound:
        lines.append("from pathlib import Path")
    typing = ["Any"] + (["Literal"] if "Literal[" in hints else [])
    typing = [each for each in typing if each not in script.bound]
    lines += [f"from typing import {', '.join(typing)}"] if typing else []
    return "\n" + "\n".join(lines) + "\n"


def _write_contract(
    script: ParsedScript,
    parameters: list[ToolParameter],
    origin: str,
    examples: Sequence[Example],
) -> str:
    summary = one_line(script.summary, 150) or f"Run {origin}"
    if _HEADER.match(summary):
        summary = f"Script: {summary}"
    if not summary.endswith((".", "!", "?", "…")):
        summary += "."
    body = "\n".join(_description_lines(script.body))
    parts = [
        summary,
        body,
        f"Adopted from {one_line(origin, 100)}: its command line is made from the arguments.",
        _write_section(
            "Args:", (f"{p.name} ({p.hint}): {_describe_parameter(p)}" for p in parameters)
        ),
        _write_section("Returns:", _return_lines(script)),
        _write_section(
            "Side effects:", ["none" if script.kind == "read" else "Those of the script."]
        ),
        f"Kind: {script.kind}",
        _write_section("Effects:", _effect_lines(script, parameters)),
        f"Secrets: {', '.join(script.secrets) or 'none'}",
        _write_section("Examples:", dump_examples(examples).split("\n")) if examples else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _return_lines(script: ParsedScript) -> Iterator[str]:
    if script.kind == "write":
        yield "ran (bool): False in a dry run."
        yield "words (list[str]): The words of the script's command line."
    yield "exit_status (int): The exit status of the script."
    yield "stdout (str): The output of the script."


def _effect_lines(script: ParsedScript, parameters: list[ToolParameter]) -> Iterator[str]:
    if script.effects is None:
        return
    paths = [f"the given {p.name}" for p in parameters if "Path" in p.hint]
    paths += script.effects.paths
    yield f"paths: {', '.join(paths) or 'none'}"
    yield f"hosts: {', '.join(script.effects.hosts) or 'none'}"
    yield f"commands: {', '.join(script.effects.commands) or 'none'}"


def _description_lines(body: str) -> Iterator[str]:
    """Yield the script's description so that no line of it looks like a section."""
    for line in body.splitlines():
        plain = "".join(c if c.isprintable() else " " for c in line).rstrip()
        yield f"- {plain}" if _HEADER.match(plain) else plain


def _describe_parameter(parameter: ToolParameter) -> str:
    """Return the script's help text, or say that it has none: a guess would read like a fact."""
    text = one_line(parameter.text, 200)
    if text:
        return text
    named = parameter.flag.startswith("-") and parameter.flag != "--"
    spoken = f"The {parameter.name.replace('_', ' ').strip()}"
    what = f"Option {parameter.flag}" if named else spoken
    return f"{what}; the script has no help text for it."


def _write_section(header: str, lines: Iterable[str]) -> str:
    rows = [f"    {line}" for line in lines]
    return "\n".join((header, *rows)) if rows else ""
