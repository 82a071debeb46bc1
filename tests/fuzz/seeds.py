"""Complete inputs of each fuzzer in today's formats. Every search begins with them."""

import json
from array import array
from collections.abc import Callable
from pathlib import Path

from pulsus.core.compose.plans.dsl import plan_file
from pulsus.core.contract.tool_table import make_columns
from pulsus.core.memory.index_file import to_bytes
from pulsus.core.memory.request_index import PastRequest, RequestSegment, WordCounts
from pulsus.core.rankers.lexical import index_builder
from pulsus.core.storage.decision_log import log_record
from pulsus.core.types import (
    BrokenTool,
    CatalogueWarning,
    Constant,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
)
from pulsus.routing.index import index_format, value_store
from pulsus.routing.index.catalogue_builder import BuiltCatalogue
from pulsus.routing.index.file_freshness import Folder, ManifestWarning
from tests.fuzz.contract import MAX_BYTES
from tests.fuzz.index import READER
from tests.fuzz.protocol import FLOODS, KNOWS_SECRET, NONCE, PRINTS, REPORTS
from tests.ranking import tool

_NOON = "2026-03-01T12:00:00+00:00"
_TOOLS = (
    tool("storage/usage/disk_usage", "Show how full each disk is.", kind="read", intents=("df",)),
    tool("shared/save/save_report", "Write a report.", kind="write", args=("path", "text")),
)
_PAST = (
    PastRequest("how full are the disks", ("storage/usage/disk_usage",)),
    PastRequest("save it", ("shared/save/save_report",), ("storage/usage/disk_usage",), at=1e9),
)
_MODULE = '''"""Count the words of a text file.

It reads the file once.

Args:
    path (str): the file
    least (int): shorter words do not count

Returns:
    words (int): how many

Side effects: none
Kind: read
Effects:
    paths: {path}, /tmp/**
    hosts: none
    commands: none
Secrets: none
Examples:
    - inputs: {path: /tmp/a.txt}
      files: {/tmp/a.txt: {text: "a b", mtime: -60}, "/tmp/b": {base64: "AAE="}}
      output: {words: 2}
"""

from pathlib import Path


def run(path: str, least: int = 1) -> dict:
    return {"words": sum(len(w) >= least for w in Path(path).read_text().split())}
'''
_PACKAGED = '''# /// script
# requires-python = ">=3.11"
# dependencies = ["click>=8; python_version > '3' and (extra == 'a' or os_name != 'nt')"]
# ///
"""Sum."""
import click
def run(a: int) -> int: return a
'''
_COMPOSED = '''"""Two steps."""
from __future__ import annotations
from pulsus import steps
def main(*, a: str, dry_run: bool = False, **more: object) -> dict[str, object]:
    """Do it.

    Args:
        a: what
    """
    try:
        import numpy  # noqa: F401
    except ImportError:
        pass
    match a:
        case "x":
            return {"r": steps.call("d/a/t", {"a": f"{a!r:>3}"})}
    return {"r": getattr(a, "upper")(), "n": [lambda: 1]}
'''
_YAML = """name: disk_usage
intents: ["df", 'how full', plain words]
requests:
  - "how full is /srv?"
args:
  - {name: path, type: str, required: true}
returns: [rows]
hints:
  domain: storage
  action: usage
  anti_intents:
    - delete
"""
_TOML = """name = "disk_usage"
intents = ["df", 'how full']
requests = ["how full is /srv?"]
args = [{name = "path", type = "str", required = true}]
returns = ["rows"]
[hints]
domain = "storage"
action = "usage"
anti_intents = ["delete"]
"""


def made(name: str) -> tuple[bytes, ...]:
    """Return the examples of one fuzzer."""
    return tuple(_SEEDS[name]())


def _manifest() -> list[bytes]:
    constant = Constant([1, {"k": "{{"}])
    steps = (
        PlanStep("a", "d/x/one", {"p": ParamRef("path"), "n": constant}, {"r": "r"}),
        PlanStep("b", "d/x/two", {"rows": OutputRef("a", "r")}, {"out": "out"}, "0" * 64),
    )
    planned = Plan("Two steps.", steps, ("path",), ("out",))
    return [
        b"p" + plan_file.render_yaml(planned).encode(),
        b"q" + plan_file.render_json(planned).encode(),
        b"y" + _YAML.encode(),
        b"t" + _TOML.encode(),
        b"yhints: {x: 1}\nmore: {a: [1, 2.5]}\n",
    ]


def _records() -> list[bytes]:
    record = {
        "id": "rev-20260301-001",
        "run_id": "r1",
        "route_id": None,
        "name": "disk_usage.py",
        "domain": "storage",
        "action": "usage",
        "description": "Show how full each disk is.",
        "status": "stable",
        "created_by": "generator",
        "created_at": _NOON,
        "version": "1.2.0",
        "tool_hash": "sha256:00",
        "tokens_estimate": 12,
        "model": {"name": "m"},
        "changes": ["minor: more"],
        "sunset": "2027-01-01",
        "log": {"seq": 1},
        "later": [1.5, None],
    }
    route = {
        "ts": _NOON,
        "run_id": "r1",
        "route_id": None,
        "request": "how full",
        "tools": ["storage/usage/disk_usage"],
        "outcome": "accepted",
        "wrong": [],
        "told": True,
    }
    note = {
        "request": "how full",
        "route_id": None,
        "run_id": "r1",
        "status": "rejected",
        "reasons": ["ruff"],
        "created_at": _NOON,
        "sha256": None,
        "made": {"rounds": 1},
    }
    first = log_record.encode(1, _NOON, "log", {"nonce": "00"}, None, log_record.GENESIS)
    known = log_record.parse_valid(first[:-1])
    assert known
    second = log_record.encode(2, _NOON, "approve", {"tool": "a/b/c"}, "k", known.hash)
    last = log_record.parse_valid(second[:-1])
    assert last
    seal: dict[str, JsonValue]
    seal = {"segment": "decisions-000001.jsonl", "bytes": 9, "sha256": "00", "records": 2}
    seal |= {"first": 1, "last": 2, "hash": last.hash}
    sealed = log_record.encode(3, _NOON, "seal", seal, None, last.hash)
    change = {"folders": ["domains", "d"], "name": "x.py", "before": None, "after": "00"}
    journal = {"root": "/w", "files": [change], "note": {"log": {"seq": 1}}}
    head = log_record.head_bytes(log_record.Head(known.hash, 1, known.hash))
    return [
        b"m" + json.dumps(record).encode() + b"\n",
        b"a" + json.dumps(route).encode() + b"\n",
        b"c" + json.dumps(note, indent=2).encode(),
        b"l" + first,
        b"l" + first + second,
        b"l" + first + second + b"=\n" + sealed,
        b"r" + first + second + b"=\n" + sealed,
        b"h" + head,
        b"j" + json.dumps(journal).encode(),
    ]


def _index() -> list[bytes]:
    counts = WordCounts.of(_PAST, 2)
    memory = to_bytes(counts, RequestSegment.of(_PAST, counts, 7e6), {"made": "of"})
    prints = [bytes(8)] * len(_TOOLS)
    segment = index_builder.pack_index(zip(_TOOLS, prints, strict=True))
    folder = Folder(
        0,
        "/w/domains/storage/usage",
        ("domains", "storage", "usage"),
        ["a.py", "b.py"],
        bytes(64),
        array("q", [1, 2]),
        ["00", "11"],
        "tb",
        array("q", [0, 9]),
        array("i", [-1, -1]),
        ["", "df"],
        True,
        {"c.py": ("NOT_A_FILE", "is a link, not a file")},
        (ManifestWarning("a.py", "a.tool.yaml", "unknown key", "UNKNOWN_KEY"),),
    )
    broken = BrokenTool(Path("/w/x.py"), "NO_ENTRY", "no run()")
    warning = CatalogueWarning("odd", Path("/w/a.tool.yaml"), Path("/w"))
    derived = BuiltCatalogue(make_columns(_TOOLS), array("I", [0, 1]), (broken,), (warning,))
    stored = index_format.Stored("discovery-1.values", 9, 0, ("/w",), (folder,), derived)
    return [
        *(b"s" + mark + segment for mark in (b"!", b"-")),
        *(b"m" + mark + memory for mark in (b"!", b"-")),
        *(b"d" + mark + index_format.pack_index(stored, READER) for mark in (b"!", b"-")),
        *(b"v-" + value_store.to_json(value) for value in (*_TOOLS, broken)),
    ]


def _protocol() -> list[bytes]:
    done = b'{"stage": "run", "value": {"a": [1, 2.5, null, "x"]}, "ms": 3, "phase": "done"}\n'
    failed = (
        b'{"stage": "import", "ms": 1, "kind": "ValueError", "message": "no", '
        b'"trace": "Traceback", "phase": "failed"}\n'
    )
    start = b'{"phase": "ready"}\n{"ms": 2, "phase": "imported"}\n'
    unsafe = b'{"kind": "Boundary", "message": "/ is writable", "phase": "unsafe"}\n'
    said = b"p /etc/passwd\np ~/x\nh 10.0.0.1:80\nh unix:/run/x\nc /usr/bin/sh\n"
    knows = bytes([KNOWS_SECRET])
    return [
        knows + b"\xff" + start + done,
        knows + b"\0" + start + failed,
        knows + b"\1" + start + done + done,
        knows + b"\xff" + unsafe,
        b"\0\xff" + b"".join(NONCE.encode() + b" " + x for x in (start + done).splitlines(True)),
        bytes([REPORTS | PRINTS]) + b"\xff" + said,
        bytes([KNOWS_SECRET | FLOODS]) + b"\xff" + start,
        bytes([FLOODS | PRINTS | REPORTS]) + b"\xff" + said,
        b'\0\xff{"ok": true, "result": {"a": 1}}',
        b'\0\xff{"ok": false, "type": "ValueError", "message": "no", "own": true, "tool": "d/a/u"}',
        b'\0\xff{"ok": false, "stage": "result", "file": "t.py", "line": 3, "function": "run"}',
        b'\0\xff{"a": [1, 2.5, {"b": "\\u00e9"}, null, true]}',
    ]


def _contract() -> list[bytes]:
    assert len(_MODULE) < MAX_BYTES
    plain = '"""Add."""\ndef run(a: int, /, b: list[int] | None = None, *c, d=1) -> int: return a\n'
    return [text.encode() for text in (_MODULE, _COMPOSED, _PACKAGED, plain)]


def _answers() -> list[bytes]:
    piece = b'data: {"model":"m","choices":[{"delta":{"content":"a b"},"finish_reason":null}]}\n\n'
    last = (
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}],'
        b'"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
    )
    begin = (
        b'event: message_start\ndata: {"type":"message_start","message":{"model":"m",'
        b'"usage":{"input_tokens":3}}}\n\n'
    )
    delta = (
        b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"{\\"module\\": '
        b'\\"x\\"}"}}\n\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
        b'"usage":{"output_tokens":2}}\n\n'
    )
    whole = (
        b'{"model":"m","choices":[{"message":{"content":"```json\\n{\\"module\\": \\"x\\"}\\n```"},'
        b'"finish_reason":"length"}],"usage":{"prompt_tokens":1}}'
    )
    block = b'{"content":[{"type":"text","text":"a"}],"stop_reason":"max_tokens","model":"m"}'
    return [
        b"s\x20" + piece + last,
        b"a\x20" + begin + delta,
        b"o\xff" + whole,
        b"w\xff" + block,
        b"j\0<think>no</think>Here:\n```python\ndef run(a):\n    return a\n```\n",
        b'j\0{"module": "def run():\\n    pass\\n", "n": null}',
        b'j\0count it: {"text": "a b"} -> {"words": 2}',
        b'j\0{"text": "a b"} => {"words": 2}',
        b'j\0- inputs: {a: 1}\n  files: {/tmp/a: "x"}\n  output: 2\n',
        b'e\0{"error":{"message":"model \\"m\\" not found","type":"x","code":404,"param":"seed"}}',
        b"e\x1dThu, 01 Jan 2026 00:00:00 GMT\n{}",
    ]


def _command() -> list[bytes]:
    from tests.command_examples import examples

    return [command.encode() for command in examples()[::12]]


def _cost() -> list[bytes]:
    return [
        *(b"\x00    a (str): x\n", b"\x00        more\n", b"\x01    a%d (str): x\n", b"\x02/a%d, "),
        *(
            b"\x03A_B, ",
            b"\x03A_",
            b"\x04    - inputs: {text: a}\n",
            b"\x04    - {inputs: {q: 1}}\n",
        ),
        *(
            b"\x05        /tmp/%d/x/x/x/f: a\n",
            b"\x05        /tmp/f%d: a\n",
            b"\x05x/",
            b"\x06'%d': 1, ",
        ),
        *(b"\x07Args:\n", b"\x08import a%d\n", b"\x08def f%d(): pass\n", b"\x08a.", b"\x08a.b.c\n"),
        *(
            b"\x08\xd0\xb0%d = 1\n",
            b"\x08if a: pass\n",
            b"\x09a, ",
            b"\x09[",
            b'\x09"a" + ',
            b"\x09a<",
        ),
        *(b"\x0a{a}", b"\x0b# noqa ", b"\x0b ", b"\x0ca%d: int, ", b"\x0d# a%d.b.c = 1\n"),
        *(b"\x0d# /// script\n", b"\x0e- %d\n", b"\x0e? ", b"\x0f[a%d]\n", b"\x0fa%d.b.c = 1\n"),
    ]


def _goal() -> list[bytes]:
    """The first byte says what is read: an even one a goal, an odd one a facts document."""
    goals = (
        "node_health(pve1, S)",
        "live_state:node_metric('pve-1', cpu, 93.5)",
        "live_shortest_path(pve1, X, P)",
        "node_health(pve1,S), assertz(x)",
        "current_vm_host(101,H)",
    )
    documents = (
        '{"nodes": [{"name": "a", "health": "nominal"}, {"name": "b"}], '
        '"links": [{"a": "a", "b": "b", "cost": 1.5, "directed": true}]}',
        'observed_at: "2026-03-01T12:00:00Z"\nnodes:\n- {name: a, health: nominal}\n'
        "vms:\n- {vmid: 1, host: a, ha_group: db}\n"
        "metrics:\n- {node: a, metric: cpu, value: 5}\n",
    )
    return [*(b"\0" + g.encode() for g in goals), *(b"\1" + d.encode() for d in documents)]


_SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "manifest": _manifest,
    "records": _records,
    "index": _index,
    "protocol": _protocol,
    "contract": _contract,
    "cost": _cost,
    "answers": _answers,
    "command": _command,
    "goal": _goal,
}
