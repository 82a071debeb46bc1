"""Test if a model can do what Pulsus needs. Effects: asks the model.

Each ability is tested once, at temperature 0, with short texts. A slow model takes minutes. If it
calls tools better by JSON or natively is tested in `agent/model/protocol_probe.py`. Pulsus needs a
context of 4,096 tokens. `cli/setup/doctor_model.py` shows the findings.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence

from pulsus.core.compose.model_protocol import Message, Proposer
from pulsus.core.python_source import python_parser
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.plurals import counted
from pulsus.errors import ModelAnswerInvalid, ModelError, PulsusError
from pulsus.fast_dataclass import dataclass

NEEDED_CONTEXT = 4096
"""Tokens: a tool's contract, three examples and a request take about 2,000; a module 1,000."""
_FILLER_LINES = 250
"""About 3,000 tokens: what a server that silently cuts at 2,048 would lose the beginning of."""
_WORD = "heliotrope"
_CODE = re.compile(r"```[ \t]*(?:python|py)?[ \t]*\r?\n(.*?)```", re.S | re.I)
_SCHEMA = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "enum": ["disk_usage", "ping_host", "list_files"]},
        "count": {"type": "integer"},
    },
    "required": ["tool", "count"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One tested ability. A model without a `required` one cannot be used.

    `protocol` is the value for `agent.protocol` that the test found best.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""
    required: bool = True
    tokens_per_second: float | None = None
    context: int | None = None
    protocol: str | None = None


Probe = Callable[[Proposer], ProbeFinding]


def list_probes(clock: Callable[[], float]) -> tuple[tuple[str, str, Probe], ...]:
    """Return the tests in order, each with its question and its name. `clock` gives seconds."""
    return (
        ("which models are there", "listed", _probe_listed),
        ("does it answer", "answers", _probe_answer),
        ("does it stream, and how fast", "streams", lambda model: _probe_streaming(model, clock)),
        ("does it follow a JSON schema", "json", _probe_json),
        ("does it write Python", "python", _probe_python),
        ("is its context long enough", "context", _probe_context),
    )


def run_probes(
    model: Proposer, clock: Callable[[], float], tell: Callable[[str], None]
) -> Iterator[ProbeFinding]:
    """Yield every finding, and stop if the model does not answer. `tell` names each test."""
    for question, name, probe in list_probes(clock):
        tell(question)
        try:
            finding = probe(model)
        except ModelError as error:
            finding = describe_failure(name, error)
        yield finding
        if finding.name == "answers" and not finding.ok:
            return


def describe_failure(name: str, error: PulsusError) -> ProbeFinding:
    """Return the finding for an error."""
    return ProbeFinding(name, False, f"{error.code}: {error.message}", error.hint)


def _probe_listed(model: Proposer) -> ProbeFinding:
    try:
        found = model.models()
    except ModelError as error:
        return ProbeFinding("listed", False, f"{error.code}: {error.message}", error.hint, False)
    names = ", ".join(m.name for m in found[:10])
    if any(m.name == model.model for m in found):
        return ProbeFinding("listed", True, model.model, required=False)
    # A server with one model answers to any name.
    said = f"{model.model} is not among: {names}" if found else "the server lists none"
    return ProbeFinding("listed", False, said, "set model.name to a name it lists", required=False)


def _probe_answer(model: Proposer) -> ProbeFinding:
    answer = model.complete(
        _user_message("Reply with the one word: ready"), temperature=0.0, max_tokens=32
    )
    return ProbeFinding("answers", True, f"{one_line(answer.text, 40)!r} from {answer.model}")


def _probe_streaming(model: Proposer, clock: Callable[[], float]) -> ProbeFinding:
    pieces: list[str] = []
    times: list[float] = []

    def note(piece: str) -> None:
        pieces.append(piece)
        times.append(clock())

    ask = _user_message("Count from 1 to 30 in digits, separated by spaces.")
    answer = model.complete(ask, temperature=0.0, max_tokens=64, on_text=note)
    if len(pieces) < 2 or "".join(pieces) != answer.text:
        hint = "answers are taken whole, so nothing shows while it writes"
        return ProbeFinding("streams", False, "the answer came in one piece", hint, required=False)
    took = times[-1] - times[0]
    speed = (answer.usage.completion_tokens - 1) / took if took > 0 else None
    said = counted(len(pieces), "piece") + (f", {speed:.1f} tokens a second" if speed else "")
    return ProbeFinding("streams", True, said, tokens_per_second=speed)


def _probe_json(model: Proposer) -> ProbeFinding:
    ask = _user_message(
        "Which tool shows how full 2 disks are: disk_usage, ping_host or list_files? Answer as "
        'JSON with "tool" and "count", the number of disks.'
    )
    answer = model.complete(ask, schema=_SCHEMA, temperature=0.0, max_tokens=128)
    value = json.loads(answer.text)
    how = "asked for in words" if "schema" in answer.dropped else "taken by the server"
    right = "" if value == {"tool": "disk_usage", "count": 2} else ", though not the right one"
    return ProbeFinding("json", True, f"fits the schema ({how}){right}")


def _probe_python(model: Proposer) -> ProbeFinding:
    ask = _user_message(
        "Write one Python function `run(names: list[str]) -> dict[str, int]` that returns how "
        "often each name occurs. Answer with the code only, in one code block."
    )
    answer = model.complete(ask, temperature=0.0, max_tokens=400)
    _check_python(answer.text)
    return ProbeFinding("python", True, "run() with an argument, parsed")


def _check_python(text: str) -> None:
    blocks = _CODE.findall(text)
    try:
        tree = python_parser.read_tree(blocks[0] if blocks else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _no_python(f"the code does not parse: {error}", text) from None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not any(f.name == "run" and f.args.args for f in functions):
        raise _no_python("the code has no run() with an argument", text)


def _no_python(said: str, text: str) -> ModelAnswerInvalid:
    return ModelAnswerInvalid(
        f"{one_line(said)}: {one_line(text, 80)!r}", hint="choose a model that was trained on code"
    )


def _probe_context(model: Proposer) -> ProbeFinding:
    hint = (
        f"start the server with a context of {NEEDED_CONTEXT} tokens or more "
        "(llama.cpp: -c 8192, Ollama: OLLAMA_CONTEXT_LENGTH=8192, vLLM: --max-model-len 8192)"
    )
    stated = _stated_context(model)
    if stated:
        enough = stated >= NEEDED_CONTEXT
        return ProbeFinding("context", enough, f"{stated} tokens, as stated", hint, context=stated)
    filler = "\n".join(f"Line {n}: nothing of note here." for n in range(_FILLER_LINES))
    ask = _user_message(
        f"The word is {_WORD}.\n{filler}\nWhich word was named first? Reply with it only."
    )
    answer = model.complete(ask, temperature=0.0, max_tokens=16)
    usage = answer.usage
    if _WORD in answer.text.lower() or (not usage.estimated and usage.prompt_tokens > 2500):
        return ProbeFinding("context", True, f"{usage.prompt_tokens} tokens were read")
    said = f"the beginning of about {usage.prompt_tokens} tokens was lost"
    return ProbeFinding("context", False, said, hint)


def _stated_context(model: Proposer) -> int:
    """Return the length of the model's context by the server, or 0."""
    try:
        found: Sequence[tuple[str, int]] = [(m.name, m.context) for m in model.models()]
    except ModelError:
        return 0
    by_name = dict(found)
    return by_name.get(model.model, found[0][1] if len(found) == 1 else 0)


def _user_message(text: str) -> list[Message]:
    return [Message("user", text)]
