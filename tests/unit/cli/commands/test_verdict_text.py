"""The text on a command: hints that work when they are followed, and who decides."""

import re

import pytest

from pulsus.cli.commands import verdict_text
from pulsus.commands import classify
from pulsus.commands.explain_verdict import explain
from pulsus.commands.shell.wrappers import PRIVILEGED
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.gate_answer import answer_command

OFFERED = re.compile(r"`([^`]+)` is allowed$")


def answered(command, **policy):
    return answer_command(CommandPolicy(PolicyConfig(**policy)), classify(command))


def hint_on(command):
    return verdict_text.way_out(answered(command), "default", explain(command))


def text_on(command, **policy):
    found = explain(command)
    lines = verdict_text.verdict(answered(command, **policy), found.parts, "", explain=False)
    return " ".join("\n".join(lines).split())


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("cat /dev/zero", "head -c 100 /dev/zero"),
        ("cat /dev/urandom", "head -c 100 /dev/urandom"),
        ("cat -v /dev/full", "head -c 100 /dev/full | cat -v"),
        ("cat < /dev/random", "head -c 100 < /dev/random"),
        ("cat /dev/zero | head -c 5", "head -c 5 /dev/zero"),
        ("cat /dev/zero | head -c5 | od -x", "head -c5 /dev/zero | od -x"),
        ("cat /dev/urandom | od -N 16", "od -N 16 /dev/urandom"),
        ("cat /dev/zero | head -n 5", "head -c 100 /dev/zero | head -n 5"),
        ("cat /dev/urandom | base64 | head -c 8", "head -c 100 /dev/urandom | base64 | head -c 8"),
        ("cat /dev/zero; df", "head -c 100 /dev/zero; df"),
        ("od -x /dev/urandom", "head -c 100 /dev/urandom | od -x"),
        ("md5sum /dev/zero", "head -c 100 /dev/zero | md5sum"),
        ("head -n 5 /dev/zero", "head -c 100 /dev/zero | head -n 5"),
        ("sort /dev/urandom | head -n 1", "head -c 100 /dev/urandom | sort | head -n 1"),
        ("grep x /dev/zero", "timeout 1 grep x /dev/zero"),
        ("cat /etc/hosts /dev/zero", "timeout 1 cat /etc/hosts /dev/zero"),
        ("sudo df", "df"),
    ],
)
def test_a_hint_is_a_command_that_the_gate_allows(command, offered):
    found = OFFERED.search(hint_on(command))
    assert found is not None, hint_on(command)
    assert found[1] == offered
    assert not classify(command).allow
    assert classify(offered).allow


@pytest.mark.parametrize(
    "command",
    [
        *("cat /dev/kmsg", "cat /dev/hwrng", "cat /dev/input/event0", "cat /proc/kmsg"),
        *("cat /dev/ttyS0", "cat /dev/rtc0", "cat /dev/tty", "ls; cat /dev/zero"),
    ],
)
def test_no_number_of_bytes_is_offered_of_a_device_that_is_not_read_at_all(command):
    assert "head -c 100" not in hint_on(command)
    assert OFFERED.search(hint_on(command)) is None


def test_a_pipe_that_head_ends_is_not_told_to_use_head():
    reason = str(classify("cat /dev/zero | head -c 5").reason)
    assert reason == (
        "/dev/zero: it does not end by itself, and Pulsus does not rely on head to end it; "
        "let head read it directly"
    )
    for other in ("cat /dev/zero; head -c 5 x", "cat /dev/zero | wc -c", "cat /dev/zero | head"):
        assert str(classify(other).reason) == (
            "/dev/zero: it does not end; head -c N reads N bytes of it"
        )


@pytest.mark.parametrize("program", sorted(PRIVILEGED))
def test_the_text_says_why_a_command_with_more_rights_is_refused_and_allowed(program):
    allowed = {"allow": ("@read", f"{program} df")}
    assert (
        f"together: with {program} it is no read, whatever the policy says about the command "
        "behind it. The read tool follows the gate and refuses it; a tool that may write follows "
        "the policy and may run it unasked"
    ) in text_on(f"{program} df", **allowed)


def test_the_text_says_who_decides_where_gate_and_policy_differ():
    reload = "systemctl reload nginx"
    assert "together: it is no read, although the policy allows it. The read tool" in text_on(
        reload, allow=(reload,)
    )
    asks = "together: it is a read, and the policy decides: Pulsus runs it once a person approves"
    assert asks in text_on("df", allow=("ls",))
    assert asks in text_on("curl https://example.org")
    blocks = "together: it is a read, and the policy decides: Pulsus never runs it"
    assert blocks in text_on("df", block=("df",))


@pytest.mark.parametrize("command", ["df", "df | sort", "rm x", "doas df", "cat /etc/shadow"])
def test_no_line_reconciles_a_gate_and_a_policy_that_agree(command):
    assert "together" not in text_on(command)
