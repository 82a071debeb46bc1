"""Secrets away from their name: in other lines, columns and fields. None comes through."""

import time

import pytest

from pulsus.core.telemetry.redaction import Redactor, redact, redact_value

S = "Zq7vK2mXw9Lr4TbN8cPd"
"""A part of every secret: it may stand in no redacted text."""

B64 = "Zq7vK2mXw9Lr4TbN8cPdZGVm"


def block(kind: str, dashes: str = "-----") -> str:
    """Return a key, from pieces: no scanner takes this file for a leak."""
    blank = " " if dashes == "----" else ""
    lines = [f"{dashes}{blank}BEGIN {kind}{blank}{dashes}", f"MIIE{S}", S]
    return "\n".join([*lines, f"{dashes}{blank}END {kind}{blank}{dashes}"])


LINES = [
    "notes\n" + block("RSA PRIVATE KEY") + "\nend",
    block("PGP PRIVATE KEY BLOCK"),
    block("SSH2 ENCRYPTED PRIVATE KEY", "----"),
    "\n".join(block("RSA PRIVATE KEY").split("\n")[:-1]),
    "\n".join(block("RSA PRIVATE KEY").split("\n")[1:]),
    f"env:\n- name: DB_PASSWORD\n  value: {S}",
    f"- value: {S}\n  name: DB_PASSWORD",
    f"password: |\n  {S}",
    f"password: >-\n    {S}",
    f"password:\n  {S}",
    f"tokens:\n- {S}",
    f"kind: Secret\nstringData:\n  a: {S}",
    f"Private-Lines: 1\n{S}\nPrivate-MAC: {'9f86d081' * 5}",
    f"user,password\nadmin,{S}",
    f'"password":\n  "{S}"',
    f"password=\n{S}",
]
TEXTS = [
    *LINES,
    f"2026 [Note] A temporary password is generated for root@localhost: {S}",
    f"Password (again): {S}",
    f"password[0]={S}",
    f"db.password.value={S}",
    f"password: correct {S} battery",
    f"  - passphrase: correct {S}",
    f"PVEAuthCookie=PVE:root@pam:6543F1AB::{S}{S}==",
    f"ticket is PVE:root@pam:6543F1AB::{S}{S}==",
    f"olcRootPW: {S}",
    f"olcRootPW:: {B64}",
    f"userPassword:: {B64}",
    f"unicodePwd:: {B64}",
    f"admin:$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ${S}{S}",
    f"hash $P$B{S}9Lr4TbN8cP",
    f"pbkdf2_sha256$260000$abc${S}{S}",
    f"password\\u003d{S}",
    f'"password\\u0022:\\u0022{S}"',
    f'"password":{{"value":"{S}"}}',
    f'"secret": {{"type": "x", "data": "{S}"}}',
    f'{{"ParameterKey":"DbPassword","ParameterValue":"{S}"}}',
    f'{{"ParameterValue":"{S}","ParameterKey":"DbPassword"}}',
    f'{{"Value":"{S}","Key":"password"}}',
    f"<key>password</key>\n<string>{S}</string>",
    f"<string>password</string><string>{S}</string>",
    f'<setting name="password"><value>{S}</value></setting>',
    *(f"{name}={S}" for name in ("jwt", "auth", "ticket", "sessionid", "auth_key", "my_auth_key")),
    f"PASSWORD=$'{S}'",
    f"Please use the following password to proceed:\n\n{S}\n",
    f"user password\nadmin {S}",
    f" user | password \n------+----------\n admin | {S}\n",
    f"| user | password |\n|------|----------|\n| admin | {S} |\n| bob | {S}x |",
    f"+----------+\n| password |\n+----------+\n| {S} |\n+----------+",
    f" password \n----------\n {S}\n(1 row)",
    f"-[ RECORD 1 ]\nuser     | admin\npassword | {S}",
    f'user;api_key\n"a;b";{S}',
    f"user\tpassword\nadmin\t{S}",
    "user,password\nadmin,hunter",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_away_from_its_name_does_not_come_through(text):
    once = redact(text)
    assert not any(part in once for part in (S, B64, "hunter")), once
    assert redact(once) == once


@pytest.mark.parametrize("text", LINES)
def test_a_secret_of_several_lines_does_not_come_through_as_a_list_of_lines(text):
    once = redact_value({"rows": [{"lines": text.split("\n")}]})
    assert S not in str(once)
    assert redact_value(once) == once


def test_lines_without_a_secret_stay_apart_and_texts_of_several_lines_stay_together():
    lines = ["a", "", "b\nc", "password: x1", "d\ne"]
    assert redact_value(list(lines)) == [*lines[:3], "password: [redacted]", "d\ne"]
    assert redact_value(["b64", "x" * 9, 4, None]) == ["b64", "x" * 9, 4, None]


def test_an_item_that_only_alone_shows_a_secret_does_not_come_through_in_a_list():
    alone = '"x" : PSK "Zq7vK2mXw9"'
    assert redact(alone) != alone
    assert "Zq7v" not in str(redact_value(["first", alone, "last"]))


@pytest.mark.parametrize("named", ["name", "Key", "ParameterKey", "variable_name"])
def test_a_row_of_a_list_of_settings_hides_its_value_however_its_fields_are_named(named):
    value = {"name": "value", "Key": "Value"}.get(named, named.replace("Key", "Value"))
    value = value.replace("_name", "_value")
    assert redact_value({named: "DbPassword", value: "x"}) == {
        named: "DbPassword",
        value: "[redacted]",
    }
    assert redact_value({named: "Home", value: "x"}) == {named: "Home", value: "x"}


SAFE = [
    "| Setting | Token |\n|---|---|\n| `port=5432` | at this port |\n| a | `x` |",
    "| Name | Secret |\n|---|---|\n| the key of a host | it is kept in a file |",
    "name,token\nbob,none\nann,12",
    "id,password_set\n1,yes",
    " user | password \n------+----------\n bob  | \n ann  | NULL\n",
    "from a.b import token\nfrom pulsus.core.types import JsonValue",
    "from a import token\nfrom b1 import JsonValue2",
    "read the password\nfrom the prompt",
    "password file path\nread /etc/x1 /srv/a1",
    "Failed password for root from 10.0.0.1 port 22: ssh2",
    "the password of bob was changed: no",
    "invalid password for user bob: Permission denied",
    "ticket=12 auth=none session=off sid=4 nonce=0 salt=on",
    "auth: enabled, jwt: RS256, ticket: PROJ-12",
    "session_id: chat-20260301-120000",
    '{"value": "/root", "name": "HOME"}',
    "- value: /root\n  name: HOME\n- name: x",
    "- name: DB_PASSWORD_FILE\n  value: /run/x",
    "<key>color</key>\n<string>red</string>",
    "tokens[0] == parts and secrets[name] = value",
    "The keys are these:\n\nabc\n",
    "Token list:\n\ntest_reader_2\n",
    "price is $8 and $14 and a$P$b",
    "std::token and Secret",
]


@pytest.mark.parametrize("text", SAFE)
def test_columns_and_fields_that_hold_no_secret_stay(text):
    assert redact(text) == text
    assert redact_value(text.split("\n")) == text.split("\n")


UNITS = [
    "password\n", "user,password\n", "a|password\n", "a|b\n", "| password |\n| x |\n", '"password,',
    "password (", "password[", "password a ", "password: [redacted] a ", "olcRootPW:", "cookie=",
    "auth_", "auth_key=", "password |", 'password":{', "value: a ", "value: a,name: ", "a\n\n",
    "<key>password", '<a name="password">', "Zq7vK2mXw9Lr4\n", "password:\nZq7vK2mXw9Lr4\n",
    "$P$", "pbkdf2_sha256$", "$argon2id$a,b=", "PVE:a:", "a password b\n", "password;", '"a",',
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_place_makes_the_time_grow_with_the_square_of_a_text(unit):
    def seconds(size):
        text = unit * (size // len(unit))
        started = time.process_time()
        Redactor().redact(text)
        return time.process_time() - started

    small = large = 0.0
    for _ in range(3):  # a busy machine is slow now and then; a square always is
        small, large = seconds(2_000), seconds(32_000)
        if large < 0.01 + small * 16 * 3:
            return
    pytest.fail(f"{small:.3f} s for 2 kB, {large:.3f} s for 32 kB")
