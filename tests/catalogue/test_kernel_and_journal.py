"""Kills by the kernel, lines of the journal."""

import json
import os

import pytest

OOM = "system/kernel/oom_kills"
TAIL = "logs/read/journal_tail"

WHEN = "2026-03-01T10:00:00+00:00"
MORE = "task_memcg=/user.slice/a.scope,task=stress,pid=77,uid=1000"
SIZES = "total-vm:99kB, anon-rss:40kB, file-rss:4kB, shmem-rss:4kB, UID:1000 pgtables:1kB"
NEW = f"""\
{WHEN} db1 kernel: stress invoked oom-killer: gfp_mask=0x100cca, order=0
{WHEN} db1 kernel: oom-kill:constraint=CONSTRAINT_NONE,{MORE}
{WHEN} db1 kernel: Out of memory: Killed process 77 (stress) {SIZES}
2026-03-01T10:00:01+00:00 db1 kernel: oom_reaper: reaped process 77 (stress), now anon-rss:0kB
"""
OLD = """\
[Sat Mar  1 10:00:00 2026] Task in /docker/abc killed as a result of limit of /docker/abc
[Sat Mar  1 10:00:00 2026] Memory cgroup out of memory: Kill process 5 (a (b)) score 1
[Sat Mar  1 10:00:00 2026] Killed process 5 (a (b)) total-vm:9kB, anon-rss:2kB, file-rss:0kB
"""


def test_a_kill_is_counted_once_and_not_again_when_its_memory_is_reaped(load, tmp_path):
    (tmp_path / "k.log").write_text(NEW + OLD, encoding="utf-8")
    result = load(OOM).run(str(tmp_path / "k.log"))
    assert result["rows"] == [
        {"time": "2026-03-01T10:00:00+00:00", "process": "stress", "pid": 77, "rss_bytes": 49152,
         "scope": "machine", "cgroup": "/user.slice/a.scope", "line": 3},
        {"time": "Sat Mar  1 10:00:00 2026", "process": "a (b)", "pid": 5, "rss_bytes": 2048,
         "scope": "cgroup", "cgroup": "/docker/abc", "line": 7},
    ]  # fmt: skip
    assert load(OOM).run(str(tmp_path / "k.log"), process="stress")["total"] == 1


def program(folder, name, text, status=0):
    (folder / name).write_text(f"#!/bin/sh\ncat <<'E'\n{text}E\nexit {status}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_oom_kills_asks_dmesg_if_there_is_no_journal(load, tmp_path, monkeypatch):
    program(tmp_path, "journalctl", "", 1)
    program(tmp_path, "dmesg", OLD)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = load(OOM).run()
    assert (result["source"], result["total"], result["error"]) == ("dmesg", 1, None)


@pytest.mark.parametrize("shown", ["", "-- No entries --\n"])
def test_a_journal_without_kernel_messages_is_an_answer(shown, load, tmp_path, monkeypatch):
    program(tmp_path, "journalctl", shown)
    program(tmp_path, "dmesg", "", 1)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = load(OOM).run()
    assert (result["source"], result["total"], result["error"]) == ("journalctl", 0, None)
    assert result["lines"] == 0


def test_a_journal_that_this_user_may_not_see_is_no_answer(load, tmp_path, monkeypatch):
    hint = "echo 'Hint: You are currently not seeing messages from the system.' >&2\n"
    program(tmp_path, "journalctl", "-- No entries --\n")
    script = tmp_path / "journalctl"
    script.write_text(script.read_text("utf-8").replace("exit 0", f"{hint}exit 0"), "utf-8")
    program(tmp_path, "dmesg", "", 1)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = load(OOM).run()
    assert (result["source"], result["rows"]) == ("", [])
    assert "not seeing messages from the system; dmesg: status 1" in result["error"].replace(
        ".", ""
    )


def test_oom_kills_says_why_the_machine_cannot_be_asked(load, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = load(OOM).run()
    assert result["source"] == ""
    assert "journalctl is not installed; dmesg is not installed" in result["error"]
    with pytest.raises(ValueError, match="too short"):
        load(OOM).run(since_hours=0)
    with pytest.raises(FileNotFoundError):
        load(OOM).run(str(tmp_path / "absent"))


def entry(number, **fields):
    stamp = {"__REALTIME_TIMESTAMP": str(1_740_823_200_000_000 + number * 1_000_000)}
    return json.dumps({**stamp, "_SYSTEMD_UNIT": "a.service", "MESSAGE": f"m{number}"} | fields)


def test_journal_tail_shows_the_last_lines_of_one_unit(load, tmp_path):
    lines = [entry(n, _SYSTEMD_UNIT="a.service" if n % 2 else "b.socket") for n in range(10)]
    lines.append(entry(11, MESSAGE=[104, 105, 255]))
    (tmp_path / "j").write_text("\n".join(lines), encoding="utf-8")
    result = load(TAIL).run("a", limit=2, export=str(tmp_path / "j"))
    assert [row["message"] for row in result["rows"]] == ["m9", "hi�"]
    sockets = load(TAIL).run("b.socket", export=str(tmp_path / "j"))
    assert (sockets["shown"], sockets["rows"][0]["level"]) == (5, "info")


def test_journal_tail_leaves_out_lines_that_are_less_severe(load, tmp_path):
    text = "\n".join(entry(n, PRIORITY=str(n)) for n in range(8)) + "\n{}\n"
    (tmp_path / "j").write_text(text, encoding="utf-8")
    result = load(TAIL).run(priority=3, export=str(tmp_path / "j"))
    assert [row["level"] for row in result["rows"]] == ["emergency", "alert", "critical", "error"]
    assert result["malformed"] == 1


def test_journal_tail_asks_journalctl_for_these_lines_of_this_unit(load, tmp_path, monkeypatch):
    script = '#!/bin/sh\necho "$@" >"$0.argv"\nprintf \'%s\\n\' \'' + entry(1) + "'\n"
    (tmp_path / "journalctl").write_text(script, encoding="utf-8")
    (tmp_path / "journalctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = load(TAIL).run("nginx", 7, 4, True)
    asked = (tmp_path / "journalctl.argv").read_text(encoding="utf-8").split()
    assert " ".join(asked) == "-o json --no-pager -q -n 7 -p 4 -b -u nginx.service"
    assert result["rows"][0]["message"] == "m1"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"limit": 0}, "limit 0 is out of range"),
        ({"priority": 8}, "priority 8 is out of range"),
        ({"unit": "-x"}, "is no name of a unit"),
        ({"unit": "a b"}, "is no name of a unit"),
    ],
)
def test_journal_tail_refuses_bad_values(load, inputs, message):
    with pytest.raises(ValueError, match=message):
        load(TAIL).run(**inputs)
