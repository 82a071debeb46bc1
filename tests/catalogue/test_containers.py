"""Saved container output."""

import gzip
import json

import pytest

COLUMNS = "{:<15}{:<13}{:<10}{:<32}{:<36}{}\n"
PS = "".join(
    COLUMNS.format(*cells)
    for cells in (
        ("CONTAINER ID", "IMAGE", "COMMAND", "STATUS", "PORTS", "NAMES"),
        ("0123456789ab", "nginx:1.27", '"/run…"', "Up 2 days (healthy)", "80/tcp, 81/tcp", "web"),
        ("1123456789ab", "db:16", '"db"', "Up 2 days (unhealthy)", "5432/tcp", "db"),
        ("2123456789ab", "job:1", '"job"', "Exited (137) 10 minutes ago", "", "job-1"),
        ("3123456789ab", "job:1", '"job"', "Exited (0) 10 minutes ago", "", "job-2"),
        ("4123456789ab", "loop:1", '"loop"', "Restarting (1) 5 seconds ago", "", "loop"),
        ("5123456789ab", "box", '"sh"', "Up 1 hour (Paused)", "", "box"),
    )
)


def saved(tmp_path, text):
    file = tmp_path / "saved.txt"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_container_list_reads_the_table_and_puts_trouble_first(load, tmp_path):
    result = load("containers/list/container_list").run(saved(tmp_path, PS))
    assert [row["name"] for row in result["rows"]] == [
        "job-1",
        "loop",
        "db",
        "box",
        "job-2",
        "web",
    ]
    assert result["states"] == {"exited": 2, "paused": 1, "restarting": 1, "running": 2}
    assert (result["unhealthy"], result["failed"]) == (["db"], ["job-1", "loop"])
    web = result["rows"][-1]
    assert web["ports"] == "80/tcp, 81/tcp"
    assert (web["health"], web["exit_code"], web["id"]) == ("healthy", None, "0123456789ab")


def test_container_list_reads_json_of_docker_and_podman(load, tmp_path):
    tool = load("containers/list/container_list")
    docker = {"ID": "aaa", "Image": "x:1", "Names": "web", "State": "running"} | {
        "Status": "Up 3 minutes (health: starting)",
        "Ports": "80/tcp",
    }
    row = tool.run(saved(tmp_path, json.dumps(docker) + "\n"))["rows"][0]
    assert (row["name"], row["health"], row["ports"]) == ("web", "starting", "80/tcp")
    podman = {"Id": "b" * 64, "Image": "y", "Names": ["job"], "State": "exited", "ExitCode": 2} | {
        "Status": "Exited (2) 3 minutes ago",
        "Ports": [{"host_ip": "", "container_port": 80, "host_port": 8080, "protocol": "tcp"}],
    }
    result = tool.run(saved(tmp_path, json.dumps([podman])))
    assert result["failed"] == ["job"]
    assert result["rows"][0]["ports"] == "0.0.0.0:8080->80/tcp"


def test_container_list_filters_and_refuses_other_files(load, tmp_path):
    tool = load("containers/list/container_list")
    assert tool.run(saved(tmp_path, PS), state="unhealthy")["total"] == 1
    assert tool.run(saved(tmp_path, PS), name="JOB:")["total"] == 2
    assert tool.run(saved(tmp_path, ""))["rows"] == []
    with pytest.raises(ValueError, match="STATUS and NAMES"):
        tool.run(saved(tmp_path, "hello world\n"))
    with pytest.raises(ValueError, match="damaged JSON"):
        tool.run(saved(tmp_path, '{"ID": \n'))
    with pytest.raises(ValueError, match="'gone' is not known"):
        tool.run(saved(tmp_path, PS), state="gone")


def entry(log, second, stream="stdout"):
    time = f"2025-03-01T10:{second // 60:02}:{second % 60:02}.123456789Z"
    return json.dumps({"log": log, "stream": stream, "time": time}) + "\n"


def test_container_log_summary_counts_restarts_by_the_first_line(load, tmp_path):
    log = tmp_path / "x-json.log.gz"
    with gzip.open(log, "wt", encoding="utf-8") as stream:
        for start in (0, 60, 120):
            stream.write(entry(f"2025-03-01 10:00:00 listening on 80{start}\n", start))
            stream.write(entry(f"[ERROR] request {start} failed: ü\n", start + 1, "stderr"))
            stream.write(entry("warn: slow; no error\n", start + 2))
    result = load("containers/logs/container_log_summary").run(str(log))
    assert result["restarts"] == 2
    assert result["rows"][0]["message"] == "[ERROR] request <n> failed: ü"
    assert result["rows"][0]["count"] == 3
    assert (result["errors"], result["warnings"], result["stderr"]) == (3, 3, 3)
    assert result["lines_per_minute"] == pytest.approx(4.43)


def test_container_log_summary_joins_the_pieces_of_a_long_line(load, tmp_path):
    log = tmp_path / "x-json.log"
    log.write_text(
        entry("x" * 16384, 0) + entry("other\n", 0, "stderr") + entry("ERROR tail\n", 1),
        encoding="utf-8",
    )
    result = load("containers/logs/container_log_summary").run(str(log))
    assert (result["lines"], result["stdout"], result["bytes"]) == (2, 1, 16384 + 11 + 6)


def test_container_log_summary_counts_damaged_lines(load, tmp_path):
    log = tmp_path / "x-json.log"
    log.write_bytes(b'\0\0\0\n{"log": 5}\n[]\n\xff\n' + entry("fine\n", 0).encode())
    tool = load("containers/logs/container_log_summary")
    result = tool.run(str(log))
    assert (result["lines"], result["malformed"], result["restarts"]) == (1, 3, 0)
    assert result["lines_per_minute"] is None
    with pytest.raises(ValueError, match="is no pattern"):
        tool.run(str(log), start_pattern="(")


def test_container_log_summary_refuses_a_log_of_another_format(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text("2025-03-01 ERROR no route\nok\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"none of the 2 lines of .*app\.log is in the format"):
        load("containers/logs/container_log_summary").run(str(log))
    log.write_text("", encoding="utf-8")
    assert load("containers/logs/container_log_summary").run(str(log))["lines"] == 0


STATS = (
    "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O           "
    "BLOCK I/O        PIDS\n"
    "0123456789ab   web       {web}%     1.5GiB / 2GiB         75.00%    1.2kB / 0B        "
    "8.19kB / 1.5GB   5\n"
    "1123456789ab   db        12.00%    100MiB / 100MiB       100.00%   --                "
    "0B / 0B          31\n"
)


def test_container_stats_reads_a_table_with_units(load, tmp_path):
    result = load("containers/resources/container_stats").run(
        saved(tmp_path, STATS.format(web=150.5))
    )
    web, db = result["rows"]
    assert (web["name"], web["memory_bytes"], web["memory_limit_bytes"]) == (
        "web",
        1610612736,
        2147483648,
    )
    assert (web["network_in_bytes"], web["disk_write_bytes"]) == (1200, 1_500_000_000)
    assert db["network_in_bytes"] is None
    assert (result["busy"], result["full"]) == (["web"], ["db"])
    assert result["cpu_percent"] == 162.5


def test_container_stats_keeps_the_last_sample_and_the_peak(load, tmp_path):
    screen = "\x1b[2J\x1b[H"
    text = "".join(screen + STATS.format(web=cpu) for cpu in (10.0, 95.0, 20.0))
    web = load("containers/resources/container_stats").run(saved(tmp_path, text))["rows"][0]
    assert (web["cpu_percent"], web["peak_cpu_percent"], web["samples"]) == (20.0, 95.0, 3)


def test_container_stats_reads_json_and_refuses_other_files(load, tmp_path):
    tool = load("containers/resources/container_stats")
    line = {"Name": "a", "CPUPerc": "1.00%", "MemUsage": "5MiB / 1GiB", "MemPerc": "0.49%"} | {
        "NetIO": "1MB / 2MB",
        "BlockIO": "0B / 0B",
        "PIDs": "3",
    }
    row = tool.run(saved(tmp_path, json.dumps(line) + "\n"))["rows"][0]
    assert (row["memory_bytes"], row["pids"], row["network_out_bytes"]) == (5242880, 3, 2000000)
    assert tool.run(saved(tmp_path, ""))["total"] == 0
    with pytest.raises(ValueError, match="no `docker stats` table"):
        tool.run(saved(tmp_path, "hello\n"))
    with pytest.raises(ValueError, match="damaged JSON"):
        tool.run(saved(tmp_path, "{broken\n"))
