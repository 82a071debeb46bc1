"""Process tools on this machine's /proc and on small copies of one."""

import os
import subprocess
import sys

import pytest

TICKS = os.sysconf("SC_CLK_TCK")


def stat_line(pid, name="x", state="S", parent=1, user=0, system=0, started=0):
    """One line of /proc/PID/stat; times in ticks."""
    return (
        f"{pid} ({name}) {state} {parent} 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 1 0 {started}"
    )


@pytest.fixture
def proc(tmp_path):
    """A function that adds a process to a copy of /proc; its root is `add.root`."""
    (tmp_path / "uptime").write_text("1000.0 1.0\n", encoding="utf-8")
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\n", encoding="utf-8")
    (tmp_path / "self").mkdir()

    def add(pid, rss=0, **fields):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(stat_line(pid, **fields), encoding="utf-8")
        (folder / "comm").write_text(fields.get("name", "x") + "\n", encoding="utf-8")
        status = "Uid:\t0\t0\t0\t0\n" + (f"VmRSS:\t {rss} kB\n" if rss else "")
        (folder / "status").write_text(status, encoding="utf-8")
        return folder

    add.root = tmp_path  # type: ignore[attr-defined]
    return add


def test_top_processes_finds_the_one_that_burns_cpu(load):
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        result = load("process/usage/top_processes").run(interval_seconds=0.5, limit=200)
    finally:
        busy.kill()
        busy.wait()
    row = next(row for row in result["rows"] if row["pid"] == busy.pid)
    assert row["cpu_percent"] > 5
    assert row["memory_bytes"] > 1_000_000
    assert "command" not in row


def test_top_processes_averages_since_the_start_without_an_interval(load, proc):
    proc(5, name="a) b (c", rss=1000, user=10 * TICKS, system=10 * TICKS, started=900 * TICKS)
    proc(6, rss=3000, user=1 * TICKS)
    result = load("process/usage/top_processes").run(interval_seconds=0, proc=str(proc.root))
    first, second = result["rows"]
    assert (first["name"], first["cpu_percent"]) == ("a) b (c", 20.0)
    assert (first["user"], first["memory_percent"]) == ("root", 25.0)
    assert second["cpu_percent"] == 0.1
    assert result["memory_bytes"] == 4000 * 1024


def test_top_processes_sorts_by_memory_and_shows_commands_on_request(load, proc):
    folder = proc(5, rss=10, user=100)
    (folder / "cmdline").write_bytes(b"/bin/x\0--flag\0" + b"\xff" * 300)
    proc(6, rss=20)
    result = load("process/usage/top_processes").run(
        sort_by="memory", interval_seconds=0, show_command=True, proc=str(proc.root)
    )
    assert [row["pid"] for row in result["rows"]] == [6, 5]
    assert result["rows"][1]["command"].startswith("/bin/x --flag")
    assert len(result["rows"][1]["command"]) == 200
    assert result["rows"][0]["command"] is None


def test_a_process_that_ends_meanwhile_is_counted_as_skipped(load, proc):
    (proc(5) / "status").unlink()
    (proc(6) / "stat").unlink()
    proc(7)
    result = load("process/usage/top_processes").run(interval_seconds=0, proc=str(proc.root))
    assert [row["pid"] for row in result["rows"]] == [7]
    assert (result["processes"], result["skipped"]) == (1, 2)


@pytest.mark.parametrize(
    "arguments",
    [{"sort_by": "disk"}, {"limit": 0}, {"interval_seconds": -1}, {"interval_seconds": 61}],
)
def test_top_processes_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("process/usage/top_processes").run(**arguments)


def test_open_files_counts_what_this_process_opens(load, tmp_path):
    tool = load("process/files/open_files")

    def mine():
        rows = tool.run(limit=0)["rows"]
        return next(row for row in rows if row["pid"] == os.getpid())

    before = mine()
    with (tmp_path / "a").open("w"), (tmp_path / "b").open("w"):
        during = mine()
    read, write = os.pipe()
    piped = mine()
    os.close(read)
    os.close(write)
    assert during["files"] == before["files"] + 2
    assert piped["pipes"] == before["pipes"] + 2
    assert during["name"]


def test_open_files_names_a_process_near_its_limit(load, proc):
    for pid, limit in ((5, "10"), (6, "unlimited")):
        folder = proc(pid, name="wörker")
        (folder / "fd").mkdir()
        (folder / "limits").write_text(
            f"Max open files   {limit}   4096  files\n", encoding="utf-8"
        )
        for number in range(9):
            (folder / "fd" / str(number)).symlink_to("socket:[1]" if number % 2 else "/var/log/x")
    result = load("process/files/open_files").run(warn_percent=89, proc=str(proc.root))
    assert result["above"] == [{"pid": 5, "name": "wörker", "used_percent": 90.0}]
    assert (result["rows"][0]["files"], result["rows"][0]["sockets"]) == (5, 4)
    assert result["rows"][1]["limit"] is None
    assert result["rows"][1]["used_percent"] is None
    assert (result["system_open"], result["ok"]) == (None, False)


def test_open_files_counts_what_it_may_not_read(load, proc):
    proc(5)
    result = load("process/files/open_files").run(proc=str(proc.root))
    assert (result["processes"], result["unreadable"], result["rows"]) == (0, 1, [])


@pytest.mark.parametrize("arguments", [{"warn_percent": 101}, {"limit": -1}])
def test_open_files_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("process/files/open_files").run(**arguments)


def test_stuck_processes_finds_a_real_zombie_and_its_parent(load):
    child = subprocess.Popen([sys.executable, "-c", ""])
    try:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        result = load("process/state/stuck_processes").run(samples=2, interval_seconds=0)
    finally:
        child.wait()
    row = next(row for row in result["rows"] if row["pid"] == child.pid)
    assert (row["state"], row["parent_pid"]) == ("zombie", os.getpid())
    assert os.getpid() in [parent["pid"] for parent in result["parents"]]
    assert result["ok"] is False


def test_a_moment_in_uninterruptible_sleep_is_not_stuck(load, proc, monkeypatch):
    folder = proc(5, name="dd", state="D")
    proc(6, name="cp", state="D", parent=5, started=500 * TICKS)
    tool = load("process/state/stuck_processes")
    monkeypatch.setattr(
        tool.time,
        "sleep",
        lambda _: (folder / "stat").write_text(stat_line(5, name="dd"), encoding="utf-8"),
    )
    result = tool.run(samples=2, proc=str(proc.root))
    (row,) = result["rows"]
    assert (row["pid"], row["parent_name"], row["age_seconds"]) == (6, "dd", 500)
    assert (result["zombies"], result["uninterruptible"], result["processes"]) == (0, 1, 2)


def test_the_kernel_function_is_null_where_the_kernel_hides_it(load, proc):
    for pid, text in ((5, "0"), (6, "io_schedule")):
        (proc(pid, state="D") / "wchan").write_text(text, encoding="utf-8")
    rows = load("process/state/stuck_processes").run(samples=1, proc=str(proc.root))["rows"]
    assert [row["waits_in"] for row in rows] == [None, "io_schedule"]


def test_a_broken_stat_line_is_passed_over(load, proc):
    (proc(5) / "stat").write_text("5 (x", encoding="utf-8")
    result = load("process/state/stuck_processes").run(samples=1, proc=str(proc.root))
    assert (result["rows"], result["processes"], result["ok"]) == ([], 0, True)


@pytest.mark.parametrize("arguments", [{"samples": 0}, {"samples": 21}, {"interval_seconds": 99}])
def test_stuck_processes_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("process/state/stuck_processes").run(**arguments)
