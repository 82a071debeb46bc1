"""Manifests are hints (spec §15): whatever they hold, reading one never fails."""

import os
from pathlib import Path

import pytest

from pulsus.core.types import Manifest
from pulsus.routing.discovery import manifest
from pulsus.routing.index.value_codec import LoadedManifest

SPEC_EXAMPLE = """
name: "summarize_matrix"
intents: ["summarize", "statistics", "matrix"]
args:
  - name: df
    type: "DataFrame"
    required: true
returns: ["summary"]
hints:
  domain: "analysis"
  action: "summarise"
  anti_intents: ["plot", "visualise"]
"""
SAME_AS_TOML = """
name = "summarize_matrix"
intents = ["summarize", "statistics", "matrix"]
returns = ["summary"]
[[args]]
name = "df"
type = "DataFrame"
required = true
[hints]
domain = "analysis"
action = "summarise"
anti_intents = ["plot", "visualise"]
"""


@pytest.mark.parametrize(
    ("name", "text"), [("tool.yaml", SPEC_EXAMPLE), ("x.tool.toml", SAME_AS_TOML)]
)
def test_the_spec_s_example_is_read_from_yaml_and_toml(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert manifest.load_manifest(path) == LoadedManifest(
        Manifest(
            path=path,
            name="summarize_matrix",
            intents=("summarize", "statistics", "matrix"),
            anti_intents=("plot", "visualise"),
            domain="analysis",
            action="summarise",
            args=("df",),
            returns=("summary",),
        )
    )


def test_example_requests_are_read_each_once_on_one_line():
    text = b"requests: ['how  full\n  are the disks', how full are the disks, '']\n"
    loaded = manifest.parse_manifest(text, Path("x.tool.yaml"))
    assert loaded.manifest is not None
    assert loaded.manifest.requests == ("how full are the disks",)
    assert loaded.warnings == ()


def test_unknown_keys_are_named_and_the_rest_is_used():
    text = b"intents: [a]\nownr: x\nargs: [{name: a, default: 1}]\nhints: {domian: x}\n"
    loaded = manifest.parse_manifest(text, Path("/t.yaml"))
    assert loaded.manifest is not None
    assert loaded.manifest.intents == ("a",)
    assert loaded.warnings == (
        "unknown key 'ownr': the nearest is 'owner'",
        "unknown key 'hints.domian': the nearest is 'domain'",
        "unknown key 'args[0].default': the nearest is 'required'",
    )


def test_a_hint_at_the_top_of_a_manifest_is_told_its_place():
    loaded = manifest.parse_manifest(b"anti_intents: [make a backup]\n", Path("/t.yaml"))
    assert loaded.warnings == ("unknown key 'anti_intents': write it below `hints`",)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("t.yaml", b"", "not a mapping"),
        ("t.yaml", b"[1]", "not a mapping"),
        ("t.yaml", b"intents: word", "intents"),
        ("t.yaml", b"intents: [1]", "intents.0"),
        ("t.yaml", b"args: [x]", "args.0"),
        ("t.yaml", b"hints: 5", "hints"),
        ("t.yaml", b"name: {", "line"),
        ("t.yaml", b"name: *x", "aliases"),
        ("t.yaml", b"name: \xff", "not UTF-8"),
        ("t.yaml", b"name: \x07", "control characters"),
        ("t.yaml", b"[" * 50_000, "deeper"),
        ("t.toml", b"name = ", "Invalid value"),
        ("t.toml", b"name = 5", "name"),
        ("t.toml", b"a = " + b"[" * 50_000, ""),
        ("t.toml", b"a = " + b"9" * 5_000, "4300 digits"),
    ],
)
def test_a_broken_manifest_is_one_warning(name, data, said):
    loaded = manifest.parse_manifest(data, Path("/") / name)
    assert loaded.manifest is None
    assert len(loaded.warnings) == 1
    assert said in loaded.warnings[0]
    assert "\n" not in loaded.warnings[0]


@pytest.mark.timeout(10)
def test_a_key_of_very_many_parts_does_not_hold_discovery_up():
    loaded = manifest.parse_manifest(b"a." * 49_000 + b"b = 1", Path("/t.toml"))
    assert loaded.warnings == ("line 1 has more than 1000 dots",)
    assert manifest.parse_manifest(b"x = 1\n" + b"a." * 999 + b"b = 1\n", Path("/t.toml")).manifest


@pytest.mark.timeout(10)
def test_a_manifest_that_is_no_file_of_a_sensible_size_is_a_warning(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "huge.yaml").write_bytes(b"#" * (manifest.MAX_BYTES + 1))
    for name in ("pipe.yaml", "folder.yaml", "huge.yaml", "missing.yaml", "nul\0.yaml"):
        loaded = manifest.load_manifest(tmp_path / name)
        assert loaded.manifest is None
        assert len(loaded.warnings) == 1
