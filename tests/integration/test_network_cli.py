"""`pulsus` with hosts that dry runs may reach (spec §8, §17), against a real server."""

import http.server
import json
import subprocess
import sys
import threading

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here, records, trust
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

MODULE = "workflows/domains/web/fetch/fetch_text.py"
TOOL = '''"""Text of a page.

Args:
    url: where it is.

Returns:
    text: what it says.

Kind: read

{effects}Examples:
    - inputs: {{url: "http://{host}/"}}
      output: {{text: "hello"}}
"""

import urllib.request


def run(url: str) -> dict[str, str]:
    with urllib.request.urlopen(url, timeout=5) as reply:
        return {{"text": reply.read().decode()}}
'''


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


@pytest.fixture
def host():
    """Return the `host:port` of a server on the loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def project(tmp_path):
    """A project that has its caches."""
    need_sandbox()
    return make(tmp_path / "project")


def lay(project, host, effects="Effects:\n    hosts: 127.0.0.1\n\n"):
    path = project / MODULE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TOOL.format(host=host, effects=effects), encoding="utf-8")


def settle(project, text):
    (project / "config").mkdir(exist_ok=True)
    (project / "config/pulsus.toml").write_text(text, encoding="utf-8")
    trust(project)


def test_an_allowed_host_is_reached_and_named_in_every_report(project, host):
    lay(project, host)
    allow = ("validate", MODULE, "--allow-network", host)
    refused = pulsus_here(project, "validate", MODULE)
    assert (refused.code, "may reach" in refused.out) == (3, False), refused.out
    assert f"its dry run has no network to {host}: allow them by --allow-network" in refused.out
    text = pulsus_here(project, *allow)
    assert text.code == 0, text.out
    assert f"network: its dry run may reach {host}" in text.out
    (module,) = pulsus_here(project, *allow, "--output", "json").json["modules"]
    assert module["network"] == [host]
    assert module["effects"]["observed"]["hosts"] == [host]
    sarif = pulsus_here(project, *allow, "--output", "sarif").json
    assert sarif["runs"][0]["artifacts"][0]["properties"] == {"network": [host]}
    junit = pulsus_here(project, *allow, "--output", "junit").out
    assert f'<property name="network" value="{host}"/>' in junit
    github = pulsus_here(project, *allow, "--output", "github").out
    assert f"::notice file={MODULE},title=pulsus network::its dry run may reach {host}" in github


def test_a_verdict_that_used_the_network_is_not_cached(project, host):
    lay(project, host)
    for _ in range(2):
        done = pulsus_here(project, "validate", MODULE, "--allow-network", host, "--output", "json")
        assert (done.code, done.json["modules"][0]["cached"]) == (0, False)
    assert pulsus_here(project, "validate", MODULE).code == 3


def test_a_cached_verdict_lists_the_hosts_allowed_now(project, host):
    module = "workflows/domains/text/count"
    variable = "PULSUS_SANDBOX__TOOL_NETWORK"

    def hosts(env=None):
        done = pulsus_here(project, "validate", module, "--output", "json", env=env)
        assert done.code == 0, done.out
        return [(m["network"], m["cached"]) for m in done.json["modules"]]

    first = hosts({variable: json.dumps({"text/count/count_words": [host]})})
    again = hosts({variable: json.dumps({"text/count/count_words": [host]})})
    assert [network for network, _ in first] == [network for network, _ in again]
    assert any(network == [host] for network, _ in first)
    assert all(cached for _, cached in again)
    assert all(network == [] for network, _ in hosts())


def test_undeclared_hosts_are_reported_and_others_than_declared_refused(project, host):
    lay(project, host, effects="")
    done = pulsus_here(project, "validate", MODULE, "--allow-network", host)
    assert done.code == 0, done.out
    assert f"it reaches {host}: it counts as write" in done.out
    lay(project, host, effects="Effects:\n    hosts: api.example.org\n\n")
    done = pulsus_here(project, "validate", MODULE, "--allow-network", host)
    assert done.code == 3
    assert f"reaches {host}" in done.out


def test_a_promotion_names_the_hosts_that_its_dry_run_could_reach(project, host):
    lay(project, host)
    place = ("--domain", "web", "--action", "fetch", "--yes")
    refused = pulsus_here(project, "promote", MODULE, *place)
    assert refused.code == 3
    env = {"PULSUS_SANDBOX__TOOL_NETWORK": json.dumps({"web/fetch/fetch_text": [host]})}
    done = pulsus_here(project, "promote", MODULE, *place, "--output", "json", env=env)
    assert done.code == 0, done.out
    check("promote", done.json)
    assert done.json["validation"]["network"] == [host]
    assert records(project)[-1]["network"] == [host]
    (log,) = (project / ".pulsus/audit").glob("*.jsonl")
    approved = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [e["data"]["network"] for e in approved if e["kind"] == "approve"] == [[host]]
    assert pulsus_here(project, "audit").code == 0


def test_a_new_version_is_compared_with_the_same_hosts_allowed(project, host):
    place = ("--domain", "web", "--action", "fetch", "--yes", "--allow-network", host)
    lay(project, host)
    assert pulsus_here(project, "promote", MODULE, *place).code == 0
    path = project / MODULE
    shown = f'Examples:\n    - inputs: {{url: "http://{host}/"}}\n      output: {{text: "hello"}}'
    other = shown.replace('/"}', '/other"}')
    text = path.read_text(encoding="utf-8")
    assert shown in text
    path.write_text(text.replace(shown, other), encoding="utf-8")
    done = pulsus_here(project, "promote", MODULE, *place, "--output", "json")
    assert done.code == 0, done.out
    assert (done.json["promotion"]["bump"], done.json["promotion"]["version"]) == ("patch", "1.0.1")


def test_a_plan_names_what_its_dry_run_could_reach(project):
    settle(project, '[sandbox]\nnetwork = ["API.example.org.:443"]\n')
    done = pulsus_here(project, "route", "count the words of the text", "--plan")
    assert done.code == 0, done.err
    assert "note: its dry run may reach api.example.org:443" in done.err
    done = pulsus_here(
        project, "route", "count the words of the text", "--plan", "--output", "json"
    )
    assert "its dry run may reach api.example.org:443" in done.json["notes"]


def test_project_settings_cannot_open_a_local_host_without_the_option(project, host):
    lay(project, host)
    settle(project, f'[sandbox]\nnetwork = ["{host}"]\n')
    done = pulsus_here(project, "validate", MODULE)
    assert done.code == 2
    assert f"--allow-network {host}" in done.err
    assert pulsus_here(project, "validate", MODULE, "--allow-network", host).code == 0


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("*.example.org:443", ": a pattern is not taken; write HOST:PORT"),
        ("example.org", " has no port from 1 to 65535: write HOST:PORT"),
        ("localhost:80", " is this machine: name its address, 127.0.0.1:80"),
    ],
)
def test_an_invalid_host_is_not_told_as_a_setting_that_nobody_wrote(project, entry, why):
    done = pulsus_here(project, "validate", "workflows", "--allow-network", entry)
    assert done.code == 2
    assert done.err.splitlines() == [
        f"error[USAGE]: --allow-network {entry!r}{why}",
        "  hint: `pulsus validate --help` shows how",
    ]


def test_without_a_host_the_relay_is_not_even_loaded(project):
    script = (
        "import sys; from pulsus.cli.main import main\n"
        "try: main(['validate', 'workflows/domains/text/count', '--no-cache'])\n"
        "except SystemExit as end: code = end.code\n"
        "loaded = [m for m in sys.modules if m in ('pulsus.core.sandbox.network_relay',\n"
        "  'pulsus.config.host_names', 'pulsus.core.system.public_address',\n"
        "  'pulsus.routing.delivery.network_allowlist')]\n"
        "assert code == 0 and not loaded, (code, loaded)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
