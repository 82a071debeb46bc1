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
        *("strings /dev/block/8:0", "cat /dev/char/1:5", "cat /dev/zvol/tank/vm1", "od /dev/root"),
        *("cat /dev/rbd/rbd/vm-100", "md5sum /dev/mtd0", "cat < /dev/nvram", "cat /dev/rfkill"),
        *("cat /proc/1/root/dev/block/8:0", "cat /d?v/block/8:0", "cd /dev && cat block/8:0"),
        *("busybox cat /dev/zram0", "vim -R /dev/sr0", "grep -c x /dev/fd0"),
    ],
)
def test_a_device_is_not_read_by_another_of_its_names(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "command",
    [
        *("ls -l /dev/block", "smartctl -a /dev/cciss/c0d0", "cat /dev/shm/x", "df /dev/root"),
        *("cat /srv/dev/app.log", "echo /dev/root", "test -e /dev/root", "iostat -x /dev/sda 1 2"),
        *("awk '$1 == \"/dev/sda1\"' /proc/mounts", "find /dev -name 'sd*'", "cat /dev/stdin"),
    ],
)
def test_what_only_names_a_device_stays_a_read(command):
    verdict = classify(command)
    assert verdict.allow, verdict.reason


@pytest.mark.parametrize(
    "path",
    [
        "/sys/kernel/tracing/instances/x/trace_pipe",
        "/sys/kernel/debug/tracing/instances/x/per_cpu/cpu0/trace_pipe_raw",
        "/sys/bus/pci/devices/0000:00:01.0/resource0",
        "/sys/class/drm/card0/device/rom",
    ],
)
def test_a_file_of_the_kernel_whose_read_does_something_is_not_read(path):
    assert not classify(f"cat {path}").allow


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
