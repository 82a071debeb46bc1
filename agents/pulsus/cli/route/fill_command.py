"""`pulsus fill`: values of requests for the inputs of given tools, one answer a row.

The values are found in `core/arguments/filler.py`. A row above 4 MiB is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.core.system.jsonl import InvalidRow, bounded_lines, parse_row
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.arguments.filler import Filling
    from pulsus.core.arguments.inputs import Fillable
    from pulsus.core.types import InputModelUse
    from pulsus.routing.inputs.ask_model_for_inputs import InputModel

LONGEST = 4 << 20
"""Bytes of a row that are read."""

EPILOG = page_end(
    "pulsus fill --jsonl requests.jsonl > values.jsonl",
    "pulsus fill --jsonl - --proposed < requests.jsonl",
    "pulsus fill --jsonl requests.jsonl --model  # asks the model of the settings",
    notes=(
        """A row of FILE, on one line (broken here to fit). parameters is a JSON Schema:
  {"id": "1", "query": "5 biggest files in /var", "tool": {"name": "biggest",
   "description": "List the largest files.", "parameters": {"properties":
   {"folder": {"type": "string"}, "limit": {"type": "integer"}}}}}""",
    ),
    exits={
        0: "every row was answered",
        2: "usage, settings, or an invalid row",
        5: "--model, and no model is configured",
        130: "interrupted",
    },
)


@click.command(epilog=EPILOG)
@click.option(
    "--jsonl",
    "rows",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    metavar="FILE",
    help="Read rows {id, query, tool} or {id, query, steps} from FILE (-: standard input).",
)
@click.option("--proposed", is_flag=True, help="Add values that a person would be asked about.")
@click.option(
    "--model",
    "with_model",
    is_flag=True,
    help="Ask the configured model about inputs that the words leave open.",
)
@common("ndjson", default="ndjson")
def command(session: CommandSession, rows: Path, proposed: bool, with_model: bool) -> None:
    """Show which inputs of a tool a request fills, and from which words.

    FILE has one row of JSON a line: the request (query) and the tool it is for (tool), or several
    tools in order (steps). Each tool gets one line of answer: `args` are the values that a run
    would use without asking, `confidence` is the probability of each, and `text` the words it came
    from. An invalid row gets an error, and the others are still answered. --output text prints
    lines for people. With --model a row may take seconds.
    """
    invalid = 0
    model = _connect(session) if with_model else None
    with click.open_file(str(rows), "rb") as source:
        for number, line in enumerate(bounded_lines(source, LONGEST), 1):
            if not line.strip():
                continue
            try:
                answers = list(_answers(_parse_request(line), model, proposed=proposed))
            except InvalidRow as error:
                invalid += 1
                answers = [_refusal(line, number, str(error))]
            for answer in answers:
                console.result(_as_text(answer) if session.output == "text" else _as_line(answer))
    if invalid:
        console.warn(f"{invalid} invalid {'row' if invalid == 1 else 'rows'}: see their errors")
        raise SystemExit(2)


def _as_line(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"


def _as_text(answer: Mapping[str, Any]) -> str:
    """Return the row's id, and a line for each value with its words and probability."""
    if "error" in answer:
        error, key = answer["error"], "" if answer["id"] is None else f"{answer['id']}: "
        return f"{key}{one_line(error['message'])}\n  hint: {error['hint']}\n"
    lines = [
        _value_line(name, value, answer["confidence"][name], answer["text"][name])
        for name, value in answer["args"].items()
    ]
    lines += [
        _value_line(f"{name}?", each["value"], each["p"], each["text"])
        for name, each in answer.get("proposed", {}).items()
    ]
    lines += [f"  not used: {one_line(text)}" for text in answer.get("unused", ())]
    return "\n".join((f"{answer['id']}:" + ("" if lines else " no value"), *lines)) + "\n"


def _value_line(name: str, value: Any, p: float, words: str) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return f"  {name} = {one_line(shown)}  (p {p:.2f}, from {one_line(words)!r})"


def _parse_request(line: bytes) -> dict[str, Any]:
    row = parse_row(line, LONGEST)
    if not isinstance(row, dict):
        raise InvalidRow("it is no object with id, query and tool")
    if not isinstance(row.get("query"), str):
        raise InvalidRow("it has no query, or one that is no text")
    if not _is_id(row.get("id")):
        raise InvalidRow("it has no id, or one that is neither a text nor a whole number")
    return row


def _is_id(key: object) -> bool:
    return isinstance(key, str | int) and not isinstance(key, bool)


def _connect(session: CommandSession) -> InputModel:
    """Return the configured model. Raises LlmNotConfigured, ConfigError and others."""
    from pulsus.routing.inputs.ask_model_for_inputs import InputModel

    model = session.app.model(session.app.settings.model.input_seconds)
    return InputModel(model.model, lambda: model, lambda _: None)


def _answers(
    row: Mapping[str, Any], model: InputModel | None, *, proposed: bool
) -> Iterator[dict[str, Any]]:
    from pulsus.core.arguments.filler import fill

    now = _moment(row.get("now"))
    if "steps" not in row:
        tool = _tool(row.get("tool"))
        found = fill(row["query"], tool, now=now)
        if model is None:
            yield _answer(row["id"], found, proposed=proposed)
            return
        about = (str(row["tool"].get("name", "")), str(row["tool"].get("description", "")))
        found, use = model.improve(row["query"], about, tool, found, now=now)
        yield _answer(row["id"], found, proposed=proposed) | _model_use(found, use)
        return
    steps = row["steps"]
    if not isinstance(steps, list) or not steps:
        raise InvalidRow("its steps are no list of tools")
    for number, found in enumerate(_filled_steps(row["query"], steps, now)):
        yield _answer(f"{row['id']}#{number}", found, proposed=proposed)


def _filled_steps(query: str, steps: Sequence[Any], now: datetime | None) -> list[Filling]:
    """Fill each step from its own clause; an input named as an earlier output is wired."""
    from pulsus.core.arguments.step_filler import fill_steps
    from pulsus.core.compose.selection.cut_points import find_pieces

    if not all(isinstance(step, dict) for step in steps):
        raise InvalidRow("a step is no object with a tool")
    tools = [_tool(step.get("tool")) for step in steps]
    wired: list[set[str]] = []
    outputs: set[str] = set()
    for step in steps:
        wired.append(set(outputs))
        given = step["tool"].get("outputs")
        outputs |= set(given) if isinstance(given, dict) else set()
    clauses = [query[piece.start : piece.end] for piece in find_pieces(query)]
    return fill_steps(query, tools, clauses, fixed=wired, now=now)


def _tool(tool: Any) -> Fillable:
    from pulsus.core.arguments.inputs import from_schema

    parameters = tool.get("parameters") if isinstance(tool, dict) else None
    if not isinstance(parameters, dict):
        raise InvalidRow("it has no tool with parameters (JSON Schema)")
    properties = parameters.get("properties") or {}
    if not isinstance(properties, dict) or not all(map(_is_object, properties.values())):
        raise InvalidRow("the properties of its tool are no object of schemas")
    return from_schema(tool)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _moment(text: object) -> datetime | None:
    """Return the moment of the request, for times of day; None if the row names none."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        raise InvalidRow(f"its now, {text!r}, is no ISO 8601 time") from None


def _answer(key: str | int, found: Filling, *, proposed: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "schema_version": 1,
        "id": key,
        "args": {value.name: value.value for value in found.filled},
        "confidence": {value.name: round(value.p, 4) for value in found.filled},
        "text": {value.name: value.text for value in found.filled},
    }
    if proposed:
        body["proposed"] = {
            value.name: {"value": value.value, "p": round(value.p, 4), "text": value.text}
            for value in found.values
            if value.state == "propose"
        }
        body["unused"] = list(found.unused)
    return body


def _model_use(found: Filling, use: InputModelUse | None) -> dict[str, Any]:
    """Return who gave each value its words, and how the model was asked; null if it was not."""
    from pulsus.cli.render.outcome_json import input_model

    return {
        "by": {value.name: list(value.by) for value in found.filled},
        "input_model": input_model(use),
    }


def _refusal(line: bytes, number: int, why: str) -> dict[str, Any]:
    try:
        key = json.loads(line.decode("utf-8-sig")).get("id")
    except (ValueError, RecursionError, AttributeError):
        key = None
    key = key if _is_id(key) else None
    error = UsageError(
        f"row {number}: {why}",
        hint='give {"id": "a", "query": "…", "tool": {"name": …, "parameters": …}}',
        line=number,
    )
    empty: dict[str, Any] = {"args": {}, "confidence": {}, "text": {}}
    return {"schema_version": 1, "id": key, **empty, "error": console.error_body(error)["error"]}
