"""Devices and files of the kernel are no files to read."""

import pytest

from pulsus.commands import classify


@pytest.mark.parametrize(
    ("command", "category"),
    [
        ("cat /dev/zero", "unbounded_stream"),
        ("cat /dev/urandom", "unbounded_stream"),
        ("head -n 1 /dev/random", "unbounded_stream"),
        ("head -c -5 /dev/zero", "unbounded_stream"),
        ("tail /dev/full", "unbounded_stream"),
        ("cat < /dev/zero", "unbounded_stream"),
        ("tail -n 5 /proc/kmsg", "unbounded_stream"),
        ("cat /sys/kernel/debug/tracing/trace_pipe", "unbounded_stream"),
        ("od /dev/input/event0", "unbounded_stream"),
        ("cat /dev/ttyUSB0", "unbounded_stream"),
        ("cat /dev/ur*", "unbounded_stream"),
        ("cat /*/zero", "unbounded_stream"),
        ("cat /proc/self/cwd/../../dev/zero", "unbounded_stream"),
        ("cat /var/run/../dev/zero", "unbounded_stream"),
        ("cat /proc/self/root/dev/zero", "unbounded_stream"),
        ("cd /dev && cat zero", "unbounded_stream"),
        ("cd / ; cd dev ; head zero", "unbounded_stream"),
        ("env -C /dev cat zero", "unbounded_stream"),
        ("grep -r x /sys", "unbounded_stream"),
        ("find /dev -name zero -exec cat {} +", "unbounded_stream"),
        ("ls /dev/zero | xargs cat", "unbounded_stream"),
        ("wc --files0-from=/dev/zero", "unbounded_stream"),
        ("cat /dev/tty", "tty_flag"),
        ("timeout 5 cat /dev/tty", "tty_flag"),
        ("cat /dev/pts/0", "tty_flag"),
        ("cat /dev/console", "tty_flag"),
    ],
)
def test_what_never_ends_or_is_a_terminal_is_not_read(command, category):
    verdict = classify(command)
    assert not verdict.allow
    assert verdict.category == category


@pytest.mark.parametrize(
    "command",
    [
        *("cat /dev/watchdog", "head -c 1 /dev/nst0", "timeout 5 cat /dev/watchdog0"),
        *("timeout 5 cat /proc/kmsg", "timeout 5 grep -r x /sys/kernel/tracing"),
        *("stty -F /dev/watchdog", "file -s /dev/watchdog0", "blkid /dev/watchdog"),
    ],
)
def test_a_device_that_does_something_when_it_is_opened_is_not_opened(command):
    verdict = classify(command)
    assert not verdict.allow
    assert verdict.category is None


@pytest.mark.parametrize("command", ["timeout 5 cat /dev/ttyUSB0", "head -c 9 /dev/ttyS0"])
def test_a_serial_line_is_not_opened_for_a_while(command):
    assert not classify(command).allow
    assert classify("stty -aF /dev/ttyS0").allow


@pytest.mark.parametrize(
    "command", ["strings /dev/sda", "head -c 512 /dev/nvme0n1", "od < /dev/vda1"]
)
def test_a_whole_disk_is_not_read_past_the_permissions_of_its_files(command):
    assert classify(command).sensitive


@pytest.mark.parametrize(
    "command",
    [
        "head -c 16 /dev/urandom",
        "head -c16 /dev/urandom",
        "head --bytes=16 /dev/urandom",
        "head -c 16 < /dev/zero",
        "od -An -N 8 -t x1 /dev/random",
        "timeout 1 cat /dev/zero",
        "cat /dev/null",
        "ls -l /dev/tty /dev/zero",
        "stat /dev/kmsg",
        "wc -l /dev/stdin",
        "find /dev -name 'tty*'",
        "find / -name core -exec ls -l {} +",
        "df | grep /dev/sda1",
        "smartctl -a /dev/sda",
        "grep -r x /sys/class/net",
    ],
)
def test_so_many_bytes_and_what_is_only_asked_about_are_allowed(command):
    verdict = classify(command)
    assert verdict.allow, verdict.reason
