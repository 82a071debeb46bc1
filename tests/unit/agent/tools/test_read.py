"""`pulsus_read`: commands, files, names, ends of files, logs."""

import os
import time

import pytest

from pulsus.agent.tools.local import log_sources
from pulsus.agent.tools.local.log_sources import LogQuestion
from tests.agent_calls import call, code, data


def read(tools, action, **args):
    return call(tools, "pulsus_read", {"action": action, **args})


def test_a_read_only_command_runs_and_counts_as_a_read_of_the_host(tools):
    outcome = read(tools, "exec", command="echo one two")
    shown = data(outcome)
    assert (shown["success"], shown["exit_code"], shown["output"]) == (True, 0, "one two\n")
    assert outcome.read == (tools.system.host.id,)
    assert outcome.wrote == ()


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        pytest.param("touch {0}", "ACTION_NOT_ALLOWED", id="a write"),
        pytest.param("sudo cat /etc/hostname", "ACTION_NOT_ALLOWED", id="sudo"),
        pytest.param("echo x > {0}", "ACTION_NOT_ALLOWED", id="a redirection"),
        pytest.param("cat /etc/shadow", "SENSITIVE_PATH", id="a secret"),
        pytest.param("no-such-program-of-pulsus {0}", "ACTION_NOT_ALLOWED", id="unknown"),
    ],
)
@pytest.mark.parametrize("consent", [None, "yes", "asked"])
def test_a_command_that_is_no_proven_read_never_runs(tools, tmp_path, command, wanted, consent):
    mark = tmp_path / "mark"
    args = {"action": "exec", "command": command.format(mark)}
    outcome = call(tools, "pulsus_read", args, consent=consent)
    assert code(outcome) == wanted
    assert outcome.response.error.blocked
    assert not mark.exists()
    assert outcome.read == ()


def test_an_endless_command_is_refused_with_its_bounded_form(tools):
    outcome = read(tools, "exec", command="tail -f /var/log/dpkg.log")
    details = outcome.response.error.details
    assert "tail -n 200" in details["suggested_rewrite"]
    assert details["auto_recoverable"] is True


def test_a_cancelled_command_ends_at_once(tools):
    began = time.monotonic()
    args = {"action": "exec", "command": "sleep 30"}
    outcome = call(tools, "pulsus_read", args, cancelled=True)
    assert time.monotonic() - began < 10
    assert code(outcome) in {"EXECUTION_FAILED", "ACTION_NOT_ALLOWED"}
    assert outcome.read == ()


def test_a_status_without_errors_is_an_answer_and_no_failure(tools, tmp_path):
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    shown = data(read(tools, "exec", command=f"grep two {tmp_path}/a.txt"))
    assert (shown["success"], shown["exit_code"]) == (False, 1)


def test_a_failed_command_is_no_read(tools, tmp_path):
    outcome = read(tools, "exec", command=f"cat {tmp_path}/missing.txt")
    assert code(outcome) == "EXECUTION_FAILED"
    assert outcome.response.error.failed
    assert outcome.read == ()


def test_a_file_is_read_with_its_size(tools, tmp_path):
    (tmp_path / "a.txt").write_text("grün\n", encoding="utf-8")
    shown = data(read(tools, "file", path=f"{tmp_path}/a.txt"))
    assert (shown["content"], shown["size_bytes"], shown["truncated"]) == ("grün\n", 6, False)


def test_a_link_to_a_secret_is_a_secret(tools, tmp_path):
    (tmp_path / "notes.txt").symlink_to("/etc/shadow")
    outcome = read(tools, "file", path=f"{tmp_path}/notes.txt")
    assert code(outcome) in {"SENSITIVE_PATH", "NOT_FOUND", "EXECUTION_FAILED"}
    if os.geteuid() == 0:
        assert code(outcome) == "SENSITIVE_PATH"


@pytest.mark.parametrize("name", [".pulsus", "workflows", "config", "logs"])
def test_files_of_pulsus_itself_are_not_read_even_through_a_link(tools, tmp_path, name):
    project = tools.system.state_dir.parent
    (project / name).mkdir(exist_ok=True)
    (project / name / "x.txt").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(project / name)
    for path in (project / name / "x.txt", tmp_path / "link" / "x.txt"):
        assert code(read(tools, "file", path=str(path))) == "SENSITIVE_PATH"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe", "a folder"])
def test_what_is_no_file_is_refused_without_waiting(tools, tmp_path, make):
    make(tmp_path / "odd")
    assert code(read(tools, "file", path=f"{tmp_path}/odd")) == "INVALID_INPUT"


def test_secrets_in_a_file_are_masked(tools, tmp_path):
    (tmp_path / "app.log").write_text("password=hunter2hunter2\nok\n", encoding="utf-8")
    for action, args in (("file", {}), ("tail", {}), ("logs", {"unit": f"{tmp_path}/app.log"})):
        path = {} if action == "logs" else {"path": f"{tmp_path}/app.log"}
        outcome = read(tools, action, **path, **args)
        if action == "logs" and not outcome.response.ok:
            continue  # a machine with a journal reads no files
        assert "hunter2" not in str(outcome.response.to_json())
    shown = data(read(tools, "exec", command=f"cat {tmp_path}/app.log"))
    assert "hunter2" not in shown["output"]


KEY = "\n".join(f"aB3{at:02}Zq7vK2mXw9Lr4TbN8cPd" for at in range(20))
PARTS = {
    "a key": f"notes\n-----BEGIN RSA PRIVATE {'KEY'}-----\n{KEY}\n-----END RSA PRIVATE KEY-----\n",
    "a key without its end": f"-----BEGIN PGP PRIVATE {'KEY BLOCK'}-----\n\n{KEY}\n",
    "a variable": "env:\n- name: DB_PASSWORD\n  value: Zq7vK2mXw9Lr4T\n",
    "a block": "password: |\n  Zq7vK2mXw9Lr4T\n",
    "a list": "tokens:\n- Zq7vK2mXw9Lr4T\n",
    "a table": "user,password\nadmin,Zq7vK2mXw9Lr4T\n",
}


@pytest.mark.parametrize("lines", [1, 2, 3, 40])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_end_of_a_file_shows_no_secret_that_begins_before_it(tools, tmp_path, part, lines):
    (tmp_path / "a.txt").write_text(f"first\n{part}", encoding="utf-8")
    outcome = read(tools, "tail", path=f"{tmp_path}/a.txt", lines=lines)
    assert "Zq7v" not in str(outcome.response.to_json())
    assert len(data(outcome)["lines"]) <= lines


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("pattern", ["", "value", "7vK2"])
def test_lines_of_a_log_show_no_secret_of_several_lines(tools, part, pattern):
    asked = LogQuestion(unit="", pattern=pattern, lines=3, since="")
    shown = log_sources._answer(tools.system, asked, f"first\n{part}", "journal")
    assert "Zq7v" not in str(shown.to_json())


def test_a_large_file_is_cut_with_a_note(tools, tmp_path):
    (tmp_path / "big.txt").write_text("x" * 100_000, encoding="utf-8")
    outcome = read(tools, "file", path=f"{tmp_path}/big.txt")
    assert len(data(outcome)["content"]) < 17_000
    assert "84000 of 100000 characters are left out" in outcome.response.meta["cut"][0]


def test_the_end_of_a_large_file_is_read_without_the_rest(tools, tmp_path):
    lines = "".join(f"line {at}\n" for at in range(200_000))
    (tmp_path / "big.log").write_text(lines, encoding="utf-8")
    shown = data(read(tools, "tail", path=f"{tmp_path}/big.log", lines=2))
    assert shown["lines"] == ["line 199998", "line 199999"]


def test_a_binary_file_is_named_as_such(tools, tmp_path):
    (tmp_path / "x.bin").write_bytes(b"a\0b")
    shown = data(read(tools, "file", path=f"{tmp_path}/x.bin"))
    assert shown["binary"] is True
    assert "content" not in shown


def test_names_are_found_by_pattern_and_folders_of_secrets_are_left_out(tools, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "app.conf").touch()
    (tmp_path / "other.txt").touch()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "app.conf").touch()
    shown = data(read(tools, "find", path=str(tmp_path), pattern="*.conf"))
    assert [each["path"] for each in shown["matches"]] == [f"{tmp_path}/sub/app.conf"]


def test_a_search_stops_when_it_is_cancelled(tools, tmp_path):
    for at in range(600):
        (tmp_path / f"f{at}").touch()
    args = {"action": "find", "path": str(tmp_path)}
    outcome = call(tools, "pulsus_read", args, cancelled=True)
    assert "cancelled" in outcome.response.meta["note"]


def test_a_read_inside_a_container_is_unavailable_and_says_so(tools):
    from dataclasses import replace

    host = tools.system.host
    container = replace(host, kind="docker_container", uid="abc", name="web", parent=host.id)
    args = {"action": "exec", "command": "echo x"}
    outcome = call(tools, "pulsus_read", args, on=[container])
    assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"


def test_needs_are_the_command_or_the_path(tools):
    tool = tools.by_name["pulsus_read"]
    needs = tool.needs({"action": "exec", "command": "ls /", "target_host": "web"})
    assert (needs.command, needs.targets, needs.checks_routing) == ("ls /", ("web",), True)
    assert tool.needs({"action": "tail", "path": "/a"}).paths == ("/a",)
