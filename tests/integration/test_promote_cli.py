"""`pulsus promote` by several processes at once, and by careless people (spec §10)."""

import json
import subprocess
from collections import Counter

import pytest

from tests.project import PULSUS, make, pulsus_here, records
from tests.promotions import tree
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

GREETER = "workflows/domains/demo/greet/say_hello.py"


@pytest.fixture
def project(tmp_path):
    need_sandbox()
    return make(tmp_path / "project")


def test_a_promotion_approved_with_yes_still_shows_the_warnings_of_the_proof(project):
    path = module(project, "unsaid")
    path.write_text(path.read_text("utf-8").replace("Kind: read\n", ""), "utf-8")
    place = ("--domain", "demo", "--action", "greet")
    done = pulsus_here(project, "promote", path, *place, "--yes")
    assert done.code == 0
    assert "warning: " in done.err
    assert "Kind" in done.err
    assert "warning" not in pulsus_here(project, "promote", path, *place, "--yes", "-q").err


def module(project, name, greeting="Hello"):
    """A candidate outside the catalogue that greets in its own way."""
    text = (project / GREETER).read_text("utf-8").replace("Hello,", f"{greeting},")
    path = project / f"{name}.py"
    path.write_text(text, "utf-8")
    return path


def at_once(project, *lines):
    """Run `pulsus promote` with each line of arguments, all at the same time."""
    started = [
        subprocess.Popen(
            [PULSUS, "promote", *map(str, line), "--yes", "--output", "json"],
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for line in lines
    ]
    ended = [process.communicate(timeout=120) for process in started]
    assert [p.returncode for p in started] == [0] * len(lines), [e[1] for e in ended]
    return [json.loads(out)["promotion"] for out, _ in ended]


def test_eight_promotions_at_once_are_all_on_record(project):
    """Four in one action, four in others of the same domain, so that they share their files."""
    places = [("greet", f"hello_{n}") for n in range(4)] + [
        (f"greet_{n}", "hello") for n in range(4)
    ]
    before = tree(project / "workflows")
    lines = [
        (
            module(project, f"module_{n}", f"Hi{n}"),
            "--domain",
            "demo",
            "--action",
            a,
            "--name",
            name,
        )
        for n, (a, name) in enumerate(places)
    ]
    made = at_once(project, *lines)
    assert all(m["created"] for m in made)
    found = records(project)
    assert len(found) == len({r["id"] for r in found}) == 8
    assert {(r["action"], r["name"]) for r in found} == {(a, f"{name}.py") for a, name in places}
    assert {r["id"] for r in found} == {m["revision"] for m in made}
    changelog = (project / "workflows/domains/demo/CHANGELOG.md").read_text("utf-8")
    for record in found:
        assert changelog.count(record["id"]) == 1
        assert f"## demo/{record['action']}/{record['name'][:-3]} 1.0.0" in changelog
    for (action, name), (source, *_) in zip(places, lines, strict=True):
        file = project / f"workflows/domains/demo/{action}/{name}.py"
        assert file.read_bytes() == source.read_bytes()
    new = {n for n in tree(project / "workflows") if n not in before}
    assert not [n for n in new if "tmp" in n]
    assert not (project / ".pulsus/promotion.json").exists()
    ran = pulsus_here(project, "run", "hello_2", "--output", "json")
    assert ran.json["result"] == {"greeting": "Hi2, world!"}


def test_four_promotions_of_the_same_tool_at_once_are_one_record(project):
    source = module(project, "hello")
    made = at_once(project, *[(source, "--domain", "demo", "--action", "greet")] * 4)
    assert Counter(m["created"] for m in made) == {True: 1, False: 3}
    assert len({m["revision"] for m in made}) == 1
    (record,) = records(project)
    assert (record["name"], record["version"]) == ("hello.py", "1.0.0")


def test_four_versions_of_one_tool_at_once_are_four_revisions_in_a_row(project):
    lines = [
        (
            module(project, f"v{n}", f"Hi{n}"),
            "--domain",
            "demo",
            "--action",
            "greet",
            "--name",
            "hi",
        )
        for n in range(4)
    ]
    made = at_once(project, *lines)
    assert sorted(m["version"] for m in made) == ["1.0.0", "2.0.0", "3.0.0", "4.0.0"]
    last = records(project)[-1]
    assert last["version"] == "4.0.0"
    winner = next(m for m in made if m["revision"] == last["id"])
    source = lines[made.index(winner)][0]
    assert (project / "workflows/domains/demo/greet/hi.py").read_bytes() == source.read_bytes()


def test_promotion_waits_for_a_lock_and_names_its_holder(project):
    (project / "config").mkdir(exist_ok=True)
    (project / "config/pulsus.toml").write_text("[storage]\nlock_seconds = 0.2\n")
    lock = project / ".pulsus/locks/promote.lock"
    lock.parent.mkdir(exist_ok=True)
    holder = subprocess.Popen(["flock", str(lock), "sleep", "60"])
    try:
        done = pulsus_here(
            project, "promote", GREETER, "--domain", "demo", "--action", "greet", "--yes"
        )
    finally:
        holder.kill()
        holder.wait()
    assert done.code == 75
    assert done.err.startswith("error[BUSY]: another promotion held ")
    assert records(project) == []


def test_an_unrecorded_file_in_the_catalogue_is_not_overwritten(project):
    source = module(project, "say_hello", "Howdy")
    before = tree(project / "workflows")
    done = pulsus_here(project, "promote", source, "--domain", "demo", "--action", "greet", "--yes")
    assert done.code == 6
    assert "error[TARGET_REFUSED]" in done.err
    assert tree(project / "workflows") == before


def test_promoting_again_changes_nothing_and_new_results_are_a_major_version(project):
    place = ("--domain", "demo", "--action", "greet", "--name", "hi")
    assert pulsus_here(project, "promote", module(project, "one"), *place, "--yes").code == 0
    before = tree(project / "workflows")
    done = pulsus_here(project, "promote", module(project, "one"), *place, "--yes")
    assert (done.code, "already promoted, unchanged" in done.out) == (0, True)
    assert tree(project / "workflows") == before
    text = (project / "one.py").read_text("utf-8")
    (project / "one.py").write_text(f"{text}# a comment\n", "utf-8")
    done = pulsus_here(project, "promote", "one.py", *place, "--yes")
    assert "version=1.0.1" in done.out
    done = pulsus_here(project, "promote", module(project, "one", "Howdy"), *place, "--yes")
    assert "version=2.0.0" in done.out
    assert 'gives greeting = "Howdy, ' in done.out


@pytest.mark.parametrize("flags", [(), ("--non-interactive",)], ids=["no terminal", "unattended"])
def test_promotion_without_approval_is_refused(project, flags):
    before = tree(project / "workflows")
    done = pulsus_here(project, "promote", GREETER, "--domain", "demo", "--action", "greet", *flags)
    assert done.code == 4
    assert "error[APPROVAL_REQUIRED]" in done.err
    assert tree(project / "workflows") == before


def test_a_refused_module_is_not_promoted_and_its_log_is_named(project):
    bad = project / "bad.py"
    bad.write_text('"""Doc."""\n\n\ndef run() -> int:\n    return "x"\n')
    before = tree(project / "workflows")
    done = pulsus_here(project, "promote", bad, "--domain", "demo", "--action", "greet", "--yes")
    assert done.code == 3
    assert "error[VALIDATION_FAILED]" in done.err
    assert tree(project / "workflows") == before
    body = pulsus_here(
        project, "promote", bad, "--domain", "demo", "--action", "a", "--yes", "--output", "json"
    ).json
    assert (body["ok"], body["promotion"]) == (False, None)
    log = project / body["validation"]["artifacts"][-1]
    assert "refused" in log.read_text("utf-8")
