"""System tools on this machine and on files as other machines have them."""

import os
import stat
import time
from pathlib import Path

import pytest

AS_ROOT = os.geteuid() == 0


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def program(path, script):
    """An executable shell script, for a folder put at the front of PATH."""
    written(path, f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


# --- load average


def test_load_average_of_this_machine(load):
    result = load("system/load/load_average").run(limit_per_core=1e9)
    assert [row["minutes"] for row in result["rows"]] == [1, 5, 15]
    assert result["cores"] == os.cpu_count()
    assert result["ok"] is True


@pytest.mark.parametrize(
    ("text", "trend"),
    [
        ("4.00 2.00 1.00 1/9 1", "rising"),
        ("0.10 1.00 4.00 1/9 1", "falling"),
        ("0.08 0.05 0.00 1/9 1", "steady"),
    ],
)
def test_the_trend_compares_one_minute_with_fifteen(load, tmp_path, text, trend):
    path = written(tmp_path / "loadavg", text)
    result = load("system/load/load_average").run(cores=2, loadavg=path)
    assert result["trend"] == trend
    assert result["rows"][0]["per_core"] == float(text.split()[0]) / 2


@pytest.mark.parametrize("text", ["", "up 3 days", "1,0 2,0 3,0 1/2 3"])
def test_a_file_that_is_no_load_average_is_refused(load, tmp_path, text):
    with pytest.raises(ValueError, match="no load average: give"):
        load("system/load/load_average").run(loadavg=written(tmp_path / "x", text))


@pytest.mark.parametrize("arguments", [{"limit_per_core": 0}, {"cores": -1}])
def test_load_average_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("system/load/load_average").run(**arguments)


# --- kernel and uptime


@pytest.fixture
def machine(tmp_path):
    """The arguments that describe a small machine below tmp_path."""
    for name, text in {
        "sys/kernel/hostname": "büro\n",
        "sys/kernel/osrelease": "6.1.0\n",
        "sys/kernel/version": "#1 SMP\n",
        "uptime": "59.9 1\n",
        "stat": "cpu 1 2\nbtime 0\n",
    }.items():
        written(tmp_path / name, text)
    names = written(tmp_path / "os-release", '# c\nNAME=\'My "OS"\'\nID=my\nBAD="open\nnothing\n')
    flag = str(tmp_path / "reboot-required")
    return {"proc": str(tmp_path), "os_release": names, "reboot_flag": flag}


def test_kernel_and_uptime_of_this_machine(load):
    result = load("system/info/kernel_uptime").run()
    assert result["kernel"] == os.uname().release
    assert result["hostname"] == os.uname().nodename
    assert result["uptime_seconds"] > 0


def test_kernel_uptime_of_a_machine_just_booted(load, machine):
    result = load("system/info/kernel_uptime").run(**machine)
    assert (result["hostname"], result["uptime"]) == ("büro", "0 h 0 min")
    assert result["booted_at"] == "1970-01-01T00:00:00+00:00"
    assert (result["distribution"], result["distribution_id"]) == ('My "OS"', "my")
    assert result["distribution_version"] is None
    assert (result["reboot_required"], result["reboot_packages"]) == (False, [])


def test_uptime_speaks_of_one_day_in_the_singular(load):
    words = load("system/info/kernel_uptime")._words
    assert words(86_400 + 3600 + 60) == "1 day 1 h 1 min"
    assert words(400 * 86_400) == "400 days 0 h 0 min"


def test_packages_that_ask_for_a_reboot_are_named_once(load, machine, tmp_path):
    written(tmp_path / "reboot-required", "")
    written(tmp_path / "reboot-required.pkgs", "libc6\nlinux\nlibc6\n")
    result = load("system/info/kernel_uptime").run(**machine)
    assert result["reboot_packages"] == ["libc6", "linux"]
    assert result["reboot_required"] is True


def test_kernel_uptime_without_boot_time_or_os_release_says_what_is_missing(
    load, machine, tmp_path
):
    tool = load("system/info/kernel_uptime")
    with pytest.raises(FileNotFoundError):
        tool.run(**machine | {"os_release": str(tmp_path / "absent")})
    written(tmp_path / "stat", "cpu 1 2\n")
    with pytest.raises(ValueError, match="no btime line: give"):
        tool.run(**machine)


# --- users

PASSWD = """root:x:0:0:root:/root:/bin/bash
toor:x:0:0::/root:/bin/sh
sync:x:4:65534:sync:/bin:/bin/sync
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
jürgen:x:1001:27:Jürgen:/home/j:
guest::1002:1002:::/bin/bash
+::::::
# comment
half:x:1003
"""


@pytest.fixture
def accounts(tmp_path):
    return {
        "passwd": written(tmp_path / "passwd", PASSWD),
        "group": written(tmp_path / "group", "sudo:x:27:\nwheel:x:10:guest,other\nbad\n"),
        "shadow": written(tmp_path / "shadow", "root:$6$abc$def:1::::::\njürgen:!$6$x:1::::::\n"),
    }


def test_local_users_of_this_machine(load):
    result = load("system/users/local_users").run(shadow="")
    assert "root" in result["root_rights"]
    assert {row["password"] for row in result["rows"]} <= {"unknown", "empty", "locked", "set"}


def test_local_users_sees_rights_by_id_by_primary_and_by_secondary_group(load, accounts):
    result = load("system/users/local_users").run(**accounts)
    assert result["root_rights"] == ["root", "toor", "jürgen", "guest"]
    assert result["can_log_in"] == ["root", "toor", "jürgen", "guest"]
    assert (result["extra_root"], result["empty_password"]) == (["toor"], ["guest"])
    assert result["ok"] is False


def test_local_users_never_returns_a_hash(load, accounts):
    result = load("system/users/local_users").run(**accounts)
    assert {r["user"]: r["password"] for r in result["rows"]} == {
        "root": "set",
        "toor": "unknown",
        "sync": "unknown",
        "jürgen": "locked",
        "guest": "empty",
        "nobody": "unknown",
    }
    assert "$6$" not in repr(result)


def test_local_users_can_leave_out_daemons(load, accounts):
    result = load("system/users/local_users").run(people_only=True, **accounts)
    assert [row["user"] for row in result["rows"]] == ["root", "toor", "jürgen", "guest"]


@pytest.mark.skipif(AS_ROOT, reason="root may read every file")
def test_an_unreadable_shadow_leaves_passwords_unknown(load, accounts, tmp_path):
    (tmp_path / "shadow").chmod(0)
    rows = load("system/users/local_users").run(**accounts)["rows"]
    assert rows[0]["password"] == "unknown"


# --- time


@pytest.mark.parametrize(
    ("text", "synchronised", "offset", "server"),
    [
        pytest.param("NTP=yes\nNTPSynchronized=no\n", False, None, None, id="timedatectl show"),
        pytest.param(
            "               Local time: Mon\nSystem clock synchronized: yes\n",
            True,
            None,
            None,
            id="timedatectl",
        ),
        pytest.param(
            "NTPSynchronized=yes\n  Server: 1.2.3.4 (ntp.example)\n  Offset: -1min 2.5s\n",
            True,
            62.5,
            "ntp.example",
            id="timesyncd ahead",
        ),
        pytest.param(
            "Reference ID    : 00000000 ()\nSystem time     : 3.5 seconds fast of NTP time\n"
            "Leap status     : Not synchronised\n",
            False,
            3.5,
            None,
            id="chrony lost",
        ),
    ],
)
def test_time_sync_reads_what_each_service_says(load, tmp_path, text, synchronised, offset, server):
    result = load("system/time/time_sync").run(saved=written(tmp_path / "t", text))
    assert (result["synchronised"], result["server"]) == (synchronised, server)
    assert result["offset_seconds"] == offset
    assert result["ok"] is (synchronised and offset is None)


def test_time_sync_asks_the_programs_of_this_machine(load, tmp_path, monkeypatch):
    program(tmp_path / "chronyc", "echo 'Leap status     : Normal'")
    program(tmp_path / "timedatectl", "echo no bus >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    result = load("system/time/time_sync").run()
    assert (result["synchronised"], result["sources"]) == (True, ["chronyc tracking"])
    assert result["errors"] == [
        "timedatectl show: no bus",
        "timedatectl timesync-status: no bus",
    ]


def test_time_sync_falls_back_on_the_kernel_and_never_waits_forever(load, tmp_path, monkeypatch):
    program(tmp_path / "chronyc", "exec sleep 30")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    tool = load("system/time/time_sync")
    monkeypatch.setattr(tool, "COMMANDS", (("chronyc",), ("no-such-program",)))
    begun = time.monotonic()
    result = tool.run(timeout_seconds=0.3)
    assert time.monotonic() - begun < 10
    assert result["errors"][:2] == [
        "chronyc: no answer within 0.3 seconds",
        "no-such-program: No such file or directory",
    ]
    assert result["sources"] in (["kernel"], [])


@pytest.mark.parametrize(
    "arguments", [{"limit_seconds": -1}, {"timeout_seconds": 0}, {"limit_seconds": float("nan")}]
)
def test_time_sync_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("system/time/time_sync").run(**arguments)


def test_time_sync_refuses_a_file_of_something_else(load, tmp_path):
    with pytest.raises(ValueError, match="no known output: save"):
        load("system/time/time_sync").run(saved=written(tmp_path / "t", "hello\n"))


# --- updates

APT = """Listing...
zlib1g/jammy-updates,now 1:1.2.11-2 amd64 [upgradable from: 1:1.2.11-1]
bash/jammy-security 5.1-6 arm64 [aktualisierbar von: 5.1-5]
N: There is 1 additional version.
"""


def test_pending_updates_puts_security_first(load, tmp_path):
    path = written(tmp_path / "apt", APT)
    result = load("system/packages/pending_updates").run(saved=path)
    assert [row["package"] for row in result["rows"]] == ["bash", "zlib1g"]
    assert result["rows"][1]["origins"] == ["jammy-updates"]
    assert (result["count"], result["security_count"], result["ok"]) == (2, 1, False)


def test_pending_updates_of_an_up_to_date_machine(load, tmp_path):
    path = written(tmp_path / "apt", "Listing... Done\n")
    result = load("system/packages/pending_updates").run(saved=path, security_only=True)
    assert (result["rows"], result["count"], result["ok"]) == ([], 0, True)


@pytest.mark.parametrize("text", ["", "bash: apt: command not found\n"])
def test_a_file_that_is_no_apt_output_is_refused(load, tmp_path, text):
    with pytest.raises(ValueError, match="no apt output: save"):
        load("system/packages/pending_updates").run(saved=written(tmp_path / "apt", text))


@pytest.mark.parametrize(
    ("script", "error"),
    [
        pytest.param(None, "apt is not on this machine", id="no apt"),
        pytest.param("echo broken >&2; exit 100", "apt ended with 100: broken", id="apt fails"),
        pytest.param("exec sleep 30", "apt took longer than 0.5 seconds", id="apt hangs"),
    ],
)
def test_pending_updates_says_why_it_does_not_know(load, tmp_path, monkeypatch, script, error):
    if script:
        program(tmp_path / "apt", script)
    monkeypatch.setenv("PATH", str(tmp_path) + (":/bin" if script else ""))
    result = load("system/packages/pending_updates").run(timeout_seconds=0.5)
    assert error in result["error"]
    assert (result["ok"], result["count"], result["rows"]) == (False, None, [])


def test_pending_updates_asks_apt_in_english_and_tells_the_age_of_its_lists(
    load, tmp_path, monkeypatch
):
    program(tmp_path / "bin/apt", 'echo "Listing... $LC_ALL $*"; echo "a/b-security 2 all [x: 1]"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    listing = tmp_path / "lists/one"
    written(listing, "")
    os.utime(listing, (time.time() - 7200,) * 2)
    result = load("system/packages/pending_updates").run(lists=str(tmp_path / "lists"))
    assert result["security_count"] == 1
    assert result["lists_age_hours"] == 2.0


# --- kernel parameters


@pytest.fixture
def settings(tmp_path):
    for name, text in {
        "vm/swappiness": "60\n",
        "net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
        "net/ipv4/conf/eth0.5/forwarding": "0\n",
        "kernel/hostname": "büro\n",
    }.items():
        written(tmp_path / "sys" / name, text)
    return str(tmp_path / "sys")


def test_kernel_parameters_of_this_machine(load):
    result = load("system/kernel/kernel_parameters").run(pattern="kernel.osrelease")
    assert [(row["name"], row["value"]) for row in result["rows"]] == [
        ("kernel.osrelease", os.uname().release)
    ]
    assert result["ok"] is True


def test_kernel_parameters_lists_everything_with_dots_inside_names_kept(load, settings):
    result = load("system/kernel/kernel_parameters").run(root=settings)
    assert [row["name"] for row in result["rows"]] == [
        "kernel.hostname",
        "net.ipv4.conf.eth0/5.forwarding",
        "net.ipv4.tcp_rmem",
        "vm.swappiness",
    ]
    assert result["rows"][1]["value"] == "0"
    assert result["rows"][2]["value"] == "4096 131072 6291456"


def test_kernel_parameters_understands_both_spellings_and_numbers(load, settings):
    expected = {"net/ipv4/conf/eth0.5/forwarding": 0, "vm.swappiness": 10}
    result = load("system/kernel/kernel_parameters").run(expected=expected, root=settings)
    assert result["differing"] == ["vm.swappiness"]
    assert [row["differs"] for row in result["rows"]] == [False, True]


def test_kernel_parameters_cannot_leave_its_folder(load, settings, tmp_path):
    written(tmp_path / "secret", "x")
    for name in ("../secret", "vm...secret", "..secret", ""):
        result = load("system/kernel/kernel_parameters").run(expected={name: "x"}, root=settings)
        assert result["rows"][0]["value"] is None
        assert result["ok"] is False


def test_kernel_parameters_refuses_a_line_that_is_no_setting(load, settings, tmp_path):
    path = written(tmp_path / "conf", "; c\n\nvm.swappiness = 60\nvm.overcommit\n")
    with pytest.raises(ValueError, match=r"line 4 is 'vm\.overcommit': write it as"):
        load("system/kernel/kernel_parameters").run(expected_file=path, root=settings)
    with pytest.raises(FileNotFoundError):
        load("system/kernel/kernel_parameters").run(root=str(tmp_path / "absent"))


ZONES = Path("/usr/share/zoneinfo")


@pytest.mark.skipif(not (ZONES / "Europe/Berlin").exists(), reason="no zone database")
def test_the_time_zone_is_that_of_the_link_and_a_conflict_is_said(load, tmp_path):
    local, name = tmp_path / "localtime", tmp_path / "timezone"
    local.symlink_to(ZONES / "Europe/Berlin")
    name.write_text("# set by hand\nEurope/Berlin\n", encoding="utf-8")
    run = load("system/time/time_zone").run
    summer = run(str(local), str(name), "2026-07-01T10:00:00Z")
    assert (summer["zone"], summer["utc_offset"], summer["daylight_saving"], summer["ok"]) == (
        "Europe/Berlin",
        "+02:00",
        True,
        True,
    )
    assert run(str(local), str(name), "2026-01-01")["abbreviation"] == "CET"
    name.write_text("Asia/Tokyo\n", encoding="utf-8")
    assert "leads to Europe/Berlin" in run(str(local), str(name))["conflict"]


def test_a_machine_without_a_zone_file_is_on_utc_and_a_broken_one_is_said(load, tmp_path):
    run = load("system/time/time_zone").run
    found = run(str(tmp_path / "none"), str(tmp_path / "no"), "2026-03-01T10:00:00+02:00")
    assert (found["zone"], found["local_time"]) == ("UTC", "2026-03-01T08:00:00+00:00")
    broken = tmp_path / "localtime"
    broken.write_text("Europe/Berlin", encoding="utf-8")
    with pytest.raises(ValueError, match="is no zone file"):
        run(str(broken))
    broken.unlink()
    broken.symlink_to("/nowhere/zone")
    with pytest.raises(ValueError, match="does not exist"):
        run(str(broken))
