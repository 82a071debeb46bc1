"""The system-call filter, run by a small interpreter of classic BPF."""

import struct

import pytest

from pulsus.core.sandbox.isolation.seccomp_filter import (
    ABSENT,
    DENIED,
    HIGHEST,
    IDLE,
    SHOWN,
    build_filter,
    supported,
)
from pulsus.core.sandbox.observation import traced_syscalls

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
ASK, TRACE = 0x7FC00000, 0x7FF00000
DONE = 0x00050000  # succeeds, and nothing is carried out
X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)


def verdict(code, arch, number, *args):
    """Return the filter's answer to that call."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *(*args, *[0] * (6 - len(args))))
    steps = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    at = value = 0
    while True:
        kind, yes, no, k = steps[at]
        at += 1
        match kind:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, k)
            case 0x54:
                value &= k
            case 0x06:
                return k
            case 0x15 | 0x35 | 0x45:
                taken = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[kind]
                at += yes if taken else no
            case _:
                raise AssertionError(kind)


@pytest.mark.parametrize(
    ("cpu", "number", "args", "answer"),
    [
        (X86, 0, (), ALLOW),
        (X86, 101, (), EPERM),
        (X86, 165, (), EPERM),
        (X86, 319, (), EPERM),
        (X86, 435, (), ENOSYS),
        (X86, 56, (0x01200011,), ALLOW),
        (X86, 56, (0x10000011,), EPERM),
        (X86, 56, (0x00020011,), EPERM),
        (X86, 41, (1,), ALLOW),
        (X86, 41, (2,), ALLOW),
        (X86, 41, (40,), EPERM),
        (X86, 53, (1,), ALLOW),
        (X86, 53, (30,), EPERM),
        (X86, 16, (1, 0x5412), EPERM),
        (X86, 16, (1, 0x5401), ALLOW),
        (X86, 9, (0, 4096, 3, 0x21), EPERM),
        (X86, 9, (0, 4096, 3, 0x23), EPERM),
        (X86, 9, (0, 4096, 3, 0x22), ALLOW),
        (X86, 9, (0, 4096, 3, 0x01), ALLOW),
        (ARM, 222, (0, 4096, 3, 0x21), EPERM),
        (X86, 157, (1, 0), EPERM),
        (X86, 157, (15, 0), ALLOW),
        (ARM, 167, (1, 0), EPERM),
        (X86, 0x40000000 | 101, (), KILL),
        (ARM, 63, (), ALLOW),
        (ARM, 117, (), EPERM),
        (ARM, 279, (), EPERM),
        (ARM, 220, (0x10000000,), EPERM),
        (ARM, 220, (17,), ALLOW),
        (ARM, 198, (40,), EPERM),
        (ARM, 29, (1, 0x5412), EPERM),
    ],
)
def test_the_filter_answers(cpu, number, args, answer):
    assert verdict(build_filter(cpu[0]), cpu[1], number, *args) == answer


@pytest.mark.parametrize("cpu", [X86, ARM], ids=["x86_64", "aarch64"])
@pytest.mark.parametrize("shown", [False, True])
def test_a_call_that_is_newer_than_the_list_does_not_exist(cpu, shown):
    code = build_filter(cpu[0], shown=shown)
    for number in (HIGHEST + 1, 500, 547, 4096, 0x3FFFFFFF):
        assert verdict(code, cpu[1], number) == ENOSYS, number
    gap = range(336, 424) if cpu is X86 else range(295, 424)
    assert {verdict(code, cpu[1], number) for number in gap} == {ENOSYS}


@pytest.mark.parametrize("cpu", [X86, ARM], ids=["x86_64", "aarch64"])
def test_no_entry_of_another_width_is_open(cpu):
    other = 0x40000003 if cpu is X86 else 0x40000028  # i386, arm
    assert {verdict(build_filter(cpu[0]), other, number) for number in range(600)} == {KILL}
    if cpu is X86:
        wide = [0x40000000 | number for number in range(600)]
        assert {verdict(build_filter(cpu[0]), cpu[1], number) for number in wide} == {KILL}


@pytest.mark.parametrize("cpu", [X86, ARM], ids=["x86_64", "aarch64"])
def test_the_calls_that_libc_needs_are_there(cpu):
    needed = [449, 453, 454, 455, 456, 462]  # futexes, shadow stack, mseal
    needed += [0, 1, 3, 13] if cpu is X86 else [63, 64, 57, 134]
    assert {verdict(build_filter(cpu[0]), cpu[1], number) for number in needed} == {ALLOW}


@pytest.mark.parametrize(("cpu", "column"), [(X86, 0), (ARM, 1)], ids=["x86_64", "aarch64"])
def test_no_table_of_calls_contradicts_another(cpu, column):
    numbers = [pair[column] for table in (DENIED, ABSENT, IDLE) for pair in table.values()]
    shown = {**traced_syscalls.FILES, **traced_syscalls.OTHERS}
    numbers += [trap.numbers[column] for trap in shown.values()]
    numbers = [number for number in numbers if number >= 0]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) <= HIGHEST


@pytest.mark.parametrize(
    ("cpu", "number", "args", "answer"),
    [
        pytest.param(X86, 294, (), EPERM, id="inotify"),
        pytest.param(ARM, 27, (), EPERM, id="inotify on aarch64"),
        pytest.param(X86, 301, (), EPERM, id="fanotify"),
        pytest.param(X86, 206, (), ENOSYS, id="AIO"),
        pytest.param(ARM, 0, (), ENOSYS, id="AIO on aarch64"),
        pytest.param(X86, 278, (), EPERM, id="vmsplice"),
        pytest.param(X86, 467, (), ENOSYS, id="open_tree_attr"),
        pytest.param(X86, 450, (), ENOSYS, id="set_mempolicy_home_node"),
        pytest.param(X86, 457, (), ENOSYS, id="statmount"),
        pytest.param(X86, 458, (), ENOSYS, id="listmount"),
        pytest.param(X86, 461, (), ENOSYS, id="lsm_list_modules"),
        pytest.param(X86, 162, (), DONE, id="sync"),
        pytest.param(X86, 306, (), DONE, id="syncfs"),
        pytest.param(X86, 74, (), DONE, id="fsync"),
        pytest.param(ARM, 83, (), DONE, id="fdatasync on aarch64"),
        pytest.param(X86, 26, (0, 4096, 4), DONE, id="msync that waits"),
        pytest.param(X86, 26, (0, 4096, 1), ALLOW, id="msync that asks"),
        pytest.param(X86, 221, (3, 0, 0, 4), DONE, id="fadvise that forgets"),
        pytest.param(X86, 54, (3, 1, 7), DONE, id="SO_SNDBUF"),
        pytest.param(X86, 54, (3, 1, 33), DONE, id="SO_RCVBUFFORCE"),
        pytest.param(X86, 54, (3, 1, 2), ALLOW, id="SO_REUSEADDR"),
        pytest.param(X86, 54, (3, 6, 7), ALLOW, id="an option of TCP"),
        pytest.param(ARM, 208, (3, 1, 8), DONE, id="SO_RCVBUF on aarch64"),
    ],
)
def test_calls_that_reveal_or_load_the_host_are_denied(cpu, number, args, answer):
    assert verdict(build_filter(cpu[0]), cpu[1], number, *args) == answer


def test_calls_of_another_processor_are_killed():
    assert verdict(build_filter("x86_64"), 0x40000003, 11) == KILL


def test_a_processor_without_a_filter_is_named_unsupported():
    assert supported("x86_64")
    assert not supported("riscv64")
    with pytest.raises(KeyError):
        build_filter("riscv64")


@pytest.mark.parametrize(
    ("cpu", "number", "args", "answer"),
    [
        pytest.param(X86, 0, (), ALLOW, id="read"),
        pytest.param(X86, 1, (), ALLOW, id="write to what is open"),
        pytest.param(X86, 257, (0, 1, 0o2000000), ALLOW, id="open to read"),
        pytest.param(X86, 257, (0, 1, 0o1), ASK, id="open to write"),
        pytest.param(X86, 257, (0, 1, 0o100), ASK, id="create"),
        pytest.param(X86, 2, (1, 0o2), ASK, id="old open"),
        pytest.param(ARM, 56, (0, 1, 0o1000), ASK, id="empty"),
        pytest.param(X86, 437, (), ASK, id="openat2, whose flags are in memory"),
        pytest.param(X86, 44, (1, 2, 3, 0, 0), ALLOW, id="send to who is connected"),
        pytest.param(X86, 44, (1, 2, 40, 0, 0), ASK, id="a question to who is connected"),
        pytest.param(X86, 44, (1, 2, 9000, 0, 0), ALLOW, id="much to who is connected"),
        pytest.param(X86, 72, (3, 1), ALLOW, id="flags of a descriptor"),
        pytest.param(X86, 72, (3, 8), ASK, id="owner of a descriptor"),
        pytest.param(X86, 72, (3, 6), ASK, id="lock"),
        pytest.param(X86, 141, (0, 0, 5), ALLOW, id="its own priority"),
        pytest.param(X86, 141, (0, 1, 5), ASK, id="another's priority"),
        pytest.param(X86, 141, (2, 0, 5), ASK, id="priority of a user"),
        pytest.param(X86, 302, (0, 7, 1), ALLOW, id="its own limits"),
        pytest.param(X86, 302, (1, 7, 1), ASK, id="another's limits"),
        pytest.param(X86, 251, (1, 0, 5), ALLOW, id="its own priority on disks"),
        pytest.param(X86, 16, (3, 0x5412), ASK, id="typing into a terminal"),
        pytest.param(X86, 16, (3, 0x8901), ASK, id="owner of a socket"),
        pytest.param(X86, 44, (1, 2, 3, 0, 7), ASK, id="send to somebody"),
        pytest.param(X86, 44, (1, 2, 3, 0, 1 << 32), ASK, id="send to a high address"),
        pytest.param(X86, 41, (2, 1), ALLOW, id="stream socket"),
        pytest.param(X86, 41, (2, 3 | 0o2000000), ASK, id="raw socket"),
        pytest.param(X86, 41, (16, 3 | 0o2000000), ALLOW, id="socket to ask the kernel"),
        pytest.param(X86, 41, (16, 2), ALLOW, id="datagrams to ask the kernel"),
        pytest.param(X86, 59, (), ASK, id="execve"),
        pytest.param(ARM, 129, (), ASK, id="kill"),
        pytest.param(ARM, 0xFFFF, (), ALLOW, id="no such call"),
        pytest.param(X86, 16, (3, 0x40086602), ASK, id="attributes of a file"),
        pytest.param(X86, 16, (3, 0x5401), ALLOW, id="another ioctl"),
        pytest.param(X86, 169, (), ASK, id="reboot"),
        pytest.param(ARM, 142, (), ASK, id="reboot on aarch64"),
        pytest.param(X86, 317, (1, 8), EPERM, id="a second listener"),
        pytest.param(X86, 317, (1, 0), ALLOW, id="a filter of its own"),
    ],
)
def test_only_calls_that_may_change_something_are_shown_to_the_host(cpu, number, args, answer):
    assert verdict(traced_syscalls.build_trace_filter(cpu[0]), cpu[1], number, *args) == answer


@pytest.mark.parametrize("cpu", [X86, ARM])
def test_no_call_that_is_shown_is_refused_before_it_is(cpu):
    code, names = build_filter(cpu[0], shown=True), traced_syscalls.names(cpu[0])
    refused = [name for n, name in names.items() if verdict(code, cpu[1], n) == EPERM]
    assert refused == ["socket"]  # by its family alone


@pytest.mark.parametrize("cpu", [X86, ARM])
def test_shown_calls_fail_without_a_listener(cpu):
    names = {name: n for n, name in traced_syscalls.names(cpu[0]).items()}
    assert {verdict(build_filter(cpu[0], shown=True), cpu[1], names[n]) for n in SHOWN} == {TRACE}
    assert {verdict(build_filter(cpu[0]), cpu[1], names[n]) for n in SHOWN} == {EPERM}
    assert not set(SHOWN) & {*traced_syscalls.FILES, *traced_syscalls.OTHERS}


def test_denied_calls_that_are_not_shown_fail_in_both_filters():
    for name, (number, _) in DENIED.items():
        if name not in SHOWN:
            assert verdict(build_filter("x86_64", shown=True), X86[1], number) == EPERM, name
