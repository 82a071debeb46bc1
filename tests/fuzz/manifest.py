"""YAML and TOML that people write: hints beside a tool are read or warned of (spec §15), a plan is
read or refused (§6).

The first byte chooses the form, the rest is the file.
"""

import json
from pathlib import Path

from pulsus.core.compose.plans.dsl import plan_file
from pulsus.errors import PlanInvalid
from pulsus.routing.discovery import manifest
from pulsus.routing.index import value_codec
from pulsus.routing.index.value_codec import LoadedManifest
from tests.fuzz import attempt, harmless

WORDS = (
    *(b"plan:", b"description:", b"steps:", b"- id: ", b"tool: ", b"inputs:", b"outputs:"),
    *(b"io:", b"params:", b"sha256:", b"\\\\{{", b'{"plan":', b'"steps":[{"id":'),
    *(b"name:", b"intents:", b"requests:", b"args:", b"returns:", b"hints:", b"domain:"),
    *(b"anti_intents:", b"- name:", b"required: true", b"[hints]", b"[[args]]", b"name = "),
    *(b"&a ", b"*a", b"!!python/object:x ", b"<<: ", b"--- ", b"... ", b"? ", b"|\n", b">-\n"),
    *(b"'''", b'"""', b"1979-05-27T07:32:00Z", b".inf", b"nan", b"0x", b"\\ud800", b"\\u0000"),
    *(
        b"{a: ",
        b"[[[[",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
        b"%YAML 1.1\n",
        b"{{input.a}}",
        b"{{steps.s.outputs.o}}",
    ),
)


def fuzz_one(data):
    if data[:1] in (b"p", b"q"):
        _plan(data[1:].decode("utf-8", "replace"), as_json=data[:1] == b"q")
        return
    path = Path("/w/d/a/x.tool.toml" if data[:1] == b"t" else "/w/d/a/x.tool.yaml")
    found = manifest.parse_manifest(data[1:], path)
    assert manifest.parse_manifest(data[1:], path) == found
    for warning in found.warnings:
        assert warning
        assert harmless(warning)
    _kept(found)


def _kept(found: LoadedManifest) -> None:
    """Check that the warm index returns the value that was read."""
    text = json.dumps(value_codec.encode(found)).encode("ascii")
    assert value_codec.decode(json.loads(text)) == found
    if found.manifest:
        said = found.manifest
        assert all(isinstance(t, str) for t in (*said.intents, *said.requests, *said.args))
        assert all(r == " ".join(r.split()) != "" for r in said.requests)
    else:
        assert found.warnings


def _plan(text, *, as_json):
    found, failure = attempt(
        PlanInvalid, plan_file.parse_json if as_json else plan_file.parse_yaml, text
    )
    if failure:
        assert failure.message
        assert failure.hint
        return
    assert plan_file.parse_yaml(plan_file.render_yaml(found)) == found
    assert plan_file.parse_json(plan_file.render_json(found)) == found
