"""The system-call filter, run by a small interpreter of classic BPF."""

import struct

import pytest

from pulsus.core.sandbox import traps
from pulsus.core.sandbox.seccomp import DENIED, SHOWN, program, supported

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
ASK, TRACE = 0x7FC00000, 0x7FF00000
X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)


def verdict(code, arch, number, *args):
    """What the filter answers to that call."""
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
    assert verdict(program(cpu[0]), cpu[1], number, *args) == answer


def test_calls_of_another_processor_are_killed():
    assert verdict(program("x86_64"), 0x40000003, 11) == KILL


def test_a_processor_without_a_filter_is_named_unsupported():
    assert supported("x86_64")
    assert not supported("riscv64")
    with pytest.raises(KeyError):
        program("riscv64")


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
    assert verdict(traps.program(cpu[0]), cpu[1], number, *args) == answer


@pytest.mark.parametrize("cpu", [X86, ARM])
def test_no_call_that_is_shown_is_refused_before_it_is(cpu):
    code, names = program(cpu[0], shown=True), traps.names(cpu[0])
    refused = [name for n, name in names.items() if verdict(code, cpu[1], n) == EPERM]
    assert refused == ["socket"]  # by its family alone


@pytest.mark.parametrize("cpu", [X86, ARM])
def test_what_the_host_must_refuse_fails_where_it_is_not_asked(cpu):
    names = {name: n for n, name in traps.names(cpu[0]).items()}
    assert {verdict(program(cpu[0], shown=True), cpu[1], names[n]) for n in SHOWN} == {TRACE}
    assert {verdict(program(cpu[0]), cpu[1], names[n]) for n in SHOWN} == {EPERM}
    assert not set(SHOWN) & {*traps.FILES, *traps.OTHERS}


def test_what_is_not_shown_is_refused_either_way():
    for name, (number, _) in DENIED.items():
        if name not in SHOWN:
            assert verdict(program("x86_64", shown=True), X86[1], number) == EPERM, name
