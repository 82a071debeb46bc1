"""A secret that is written as the bytes of a dump is hidden; other dumps stay as they are."""

import base64
import json

import pytest

from pulsus.core.telemetry.redaction import Redactor, redact
from tests.redaction_time import check_time_is_linear

WORD = "hunter2-" + "aB3xY9"
TEXT = f"DB_PASSWORD={WORD}\nuser=bob and more text here\n"
PLAIN = "the quick brown fox jumps over the lazy dog\nuser=bob and more text here\n"


def rows(data, size=16):
    return [(at, data[at : at + size]) for at in range(0, len(data), size)]


def shown(data):
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def words(data, size, order="big"):
    cut = [data[at : at + size] for at in range(0, len(data), size)]
    return [(each if order == "big" else each[::-1]).hex() for each in cut]


def octal(data):
    pairs = [data[at : at + 2].ljust(2, b"\0") for at in range(0, len(data), 2)]
    return [f"{int.from_bytes(pair, 'little'):06o}" for pair in pairs]


def cell(byte):
    return r"\n" if byte == 10 else chr(byte)


def lines(form):
    return lambda data: "\n".join(form(at, row) for at, row in rows(data))


DUMPS = {
    "xxd": lines(lambda at, row: f"{at:08x}: {' '.join(words(row, 2)):39}  {shown(row)}"),
    "xxd -g1": lines(lambda at, row: f"{at:08x}: {row.hex(' '):47}  {shown(row)}"),
    "xxd -p": lambda data: "\n".join(row.hex() for _, row in rows(data, 30)),
    "xxd -p, one line": lambda data: f"dump: {data.hex()} end",
    "xxd -i": lambda data: ",\n".join(
        "  " + ", ".join(f"0x{byte:02x}" for byte in row) for _, row in rows(data, 12)
    ),
    "xxd -b": lambda data: "\n".join(
        f"{at:08x}: {' '.join(f'{byte:08b}' for byte in row)}  {shown(row)}"
        for at, row in rows(data, 6)
    ),
    "hexdump -C": lines(
        lambda at, row: f"{at:08x}  {row[:8].hex(' '):23}  {row[8:].hex(' '):23}  |{shown(row)}|"
    ),
    "hexdump": lines(lambda at, row: f"{at:07x} {' '.join(words(row, 2, 'little'))}"),
    "od": lines(lambda at, row: f"{at:07o} {' '.join(octal(row))}"),
    "od -tx1": lines(lambda at, row: f"{at:07o} {row.hex(' ')}"),
    "od -tx4": lines(lambda at, row: f"{at:07o} {' '.join(words(row, 4, 'little'))}"),
    "od -An -tx1": lines(lambda at, row: f" {row.hex(' ')}"),
    "od -b": lines(lambda at, row: f"{at:07o} {' '.join(f'{byte:03o}' for byte in row)}"),
    "od -c": lines(lambda at, row: f"{at:07o}{''.join(f'{cell(byte):>4}' for byte in row)}"),
    "od -An -c": lines(lambda at, row: "".join(f"{cell(byte):>4}" for byte in row)),
    "od -An -tu1": lines(lambda at, row: "".join(f"{byte:>4}" for byte in row)),
    "base64": lambda data: base64.encodebytes(data).decode(),
    "base64 -w0": lambda data: base64.b64encode(data).decode(),
    "base64 -w20": lambda data: "\n".join(
        row for _, row in rows(base64.b64encode(data).decode(), 20)
    ),
    "base64 -w0, a piece": lambda data: f"saw {base64.b64encode(data).decode()[2:61]} there",
    "base64url": lambda data: base64.urlsafe_b64encode(b"?" + data).decode(),
    "base32": lambda data: base64.b32encode(data).decode(),
}


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_a_dump_of_a_secret_does_not_come_through(dump):
    before, after = "$ dump /etc/app.env", "$ echo done"
    padding = b"aa " if dump is DUMPS["base64 -w0, a piece"] else b""
    text = dump(padding + TEXT.encode())
    found = redact(f"{before}\n{text}\n{after}")
    assert "[redacted]" in found
    assert found.startswith(before)
    assert found.endswith(after)
    assert not any(line in found for line in text.splitlines() if len(line) > 8)


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_a_dump_without_a_secret_stays(dump):
    text = dump(PLAIN.encode())
    assert redact(text) == text


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_a_dump_of_a_known_secret_without_a_name_does_not_come_through(dump):
    known = "Zq-known/secret+Zq-and-more"
    text = dump(f"aaaaaa {known} zzzzzzzzzz zzzzzzzzz".encode())
    assert redact(text) == text
    found = Redactor((known,)).redact(text)
    assert "[redacted]" in found


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_a_redacted_dump_is_not_redacted_again(dump):
    once = redact(dump(TEXT.encode()))
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "sha256 " + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "d41d8cd98f00b204e9800998ecf8427e  password.txt",
        "/usr/lib/python3/dist-packages/password/token",
        "hosts\npasswd\nshadow\ngroup\nservices\nprotocols",
        "  1  22  333  44\n  5   6    7   8",
        "00:16:3e:aa:bb:cc and 2001:0db8:85a3:0000",
        "commit 95f45e9f 79953801 d3365a62 4be608f3",
        json.dumps({"rows": [[1, 2, 3], [44, 55, 66]]}, indent=1),
    ],
)
def test_what_only_resembles_a_dump_stays(text):
    assert redact(text) == text


UNITS = [
    "   a", "  68", "ab ", "0x61, ", "AAAA\n", "YWJj", "0000000 ", "  12 34\n", "deadbeef: 6161 ",
    "a b c d ", "A2", "1 2 3 ", "    ", "\n", "0 ", "61:", "   \n", "00000000: 6161\n", "6161\n",
    "cGFzc3dvcmQ9aHVudGVyMg\n", "70617373776f72643d61316231 ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_dump_makes_the_time_grow_with_the_square_of_a_text(unit):
    check_time_is_linear(unit)
