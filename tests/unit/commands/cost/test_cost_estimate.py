"""A command's own words say how long it runs (ADR 30)."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from pulsus.commands import classify
from pulsus.commands.cost.quantities import number, seconds
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.lasts_declaration import infer_durations, parse_durations
from pulsus.commands.program_tables.program_table import BadTable
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.gate_answer import answer_command

WITHOUT_LIMIT = [
    "top -b -n 99999999",
    "top -b -n 5 -d 99999",
    "ping -c 1000000 127.0.0.1",
    "ping -c 5 -i 100000 127.0.0.1",
    "ping -w 999999 127.0.0.1",
    "ping -c 3 -w 999999 127.0.0.1",
    "fping -C 99999999 -p 1000 127.0.0.1",
    "fping -g 10.0.0.0/8",
    "mtr -r -c 99999999 127.0.0.1",
    "traceroute -w 99999 127.0.0.1",
    "vmstat 1 99999",
    "vmstat 99999 2",
    "iostat 60 99999999",
    "iostat -x sda 60 9999",
    "sar 60 99999999",
    "free -s 60 -c 99999999",
    "arcstat 60 99999999",
    "zpool iostat tank 99999 2",
    "jstat -gc 123 1000 99999999",
    "mongostat -n 99999 60",
    "mysqladmin -i60 -c 99999999 status",
    "redis-cli -r 1000000 -i 10 ping",
    "redis-cli -i 3600 -r 1000 ping",
    "tailscale ping -c 99999999 web1",
    "udevadm settle -t 99999999",
    "qm wait 100 -timeout 99999999",
    "pg_isready -t 999999",
    "kubectl wait --for=condition=ready pod/x --timeout=99h",
    "kubectl rollout status deploy/x --timeout=100h",
    "openssl speed -seconds 9999999 rsa2048",
    "openssl rand 99999999999",
    "dig +tries=99999999 +time=99999999 @127.0.0.1 x",
    "dig +retry=9999 +timeout=9999 x",
    "host -R 99999 x",
    "nc -z h 1-65535",
    "nc -zw 99999 h 1",
    "snmpwalk -t 99999 -r 99999 -v2c -c public h",
    "curl --retry 999 --retry-delay 999 http://127.0.0.1/",
    "curl -m 99999999 http://127.0.0.1/",
    "wget -qO- --tries=999 --waitretry=99999 --retry-connrefused http://127.0.0.1:9/",
    "head -c 1T /dev/zero",
    "od -N 99999999999999 /dev/zero",
    "sleep 99999",
    "sleep 1e9",
    "sleep 300; sleep 300; sleep 300",
    "seq 1 1000000000000",
    "seq 0 0.0000001 1000",
    "printf '%999999999999d' 1",
    "printf '%9999999d' 1",
    "date +%999999999Y",
    "find . -printf '%1000000000p'",
    "stat -c %.1000000000n f",
    "git log --format='%<(2000000000)%s'",
    "ls --time-style=+%1000000000Y",
    "docker ps --format '{{printf \"%1000000000s\" .ID}}'",
    "ps -o pid:1000000000",
    "factor 12345678901234567890123456789012345678901234567",
    "timeout 2h tail -f x",
    "timeout 9d cat /dev/zero",
    "ssh h sleep 99999",
    "ls | xargs -I{} timeout 60 tail -f -- {}",
    "timeout 400 tail -f a; timeout 400 tail -f b",
    'psql -c "select * from generate_series(1,1000000000000)"',
    'psql -c "select * from generate_series(1,100000) a, generate_series(1,100000) b"',
    "psql -c \"select * from generate_series(now(), 'infinity', '1 s')\"",
    'clickhouse-client -q "select number from system.numbers limit 999999999999"',
    "psql -c \"select repeat('x', 1000000000000)\"",
    'duckdb x.db "select * from range(1000000000000)"',
    'clickhouse-client -q "select * from numbers(100000000000000)"',
    'psql -c "with recursive t(n) as (select 1 union all select n+1 from t where true) '
    'select count(*) from t"',
    'psql -c "with recursive t(n) as (select 1 union all select n+1 from t) '
    'select count(*) from t limit 1"',
    'sqlite3 x.db "with t(n) as (select 1 union all select n+1 from t) select count(*) from t"',
]


def test_a_count_or_time_without_a_sane_limit_is_not_allowed():
    verdicts = {command: classify(command) for command in WITHOUT_LIMIT}
    assert [command for command, verdict in verdicts.items() if verdict.allow] == []
    costs = {c: (v.category, v.cost) for c, v in verdicts.items() if "factor" not in c}
    assert costs == dict.fromkeys(costs, ("unbounded_stream", "unbounded"))


@pytest.mark.parametrize(
    ("command", "cost"),
    [
        ("df -h", "low"),
        ("ping -c 3 127.0.0.1", "low"),
        ("vmstat 1 5", "low"),
        ("sleep 2", "low"),
        ("seq 1 1000000", "low"),
        ("head -c 16 /dev/urandom", "low"),
        ("timeout 5 tail -f x", "low"),
        ("timeout 9d ls", "low"),
        ("curl -m 10 http://localhost/", "low"),
        ("find src -name x", "low"),
        ("grep -r x src", "low"),
        ("ls /", "low"),
        ("vmstat 1 60", "high"),
        ("sleep 31", "high"),
        ("sleep 20; sleep 20", "high"),
        ("timeout 60 tail -f x", "high"),
        ("timeout 60 cat /dev/zero", "high"),
        ("find / -name x", "high"),
        ("find //. -name x", "high"),
        ("du -sh /*", "high"),
        ("ls | xargs -I{} timeout 2 tail -f -- {}", "high"),
        ("tree /usr/", "high"),
        ("ls -R /", "high"),
        ("pg_dump x", "high"),
        ("hdparm -t /dev/sda", "high"),
        ("openssl speed sha256", "high"),
        ("cryptsetup benchmark", "high"),
        ("dpkg -V", "high"),
        ('psql -c "select * from generate_series(1,100)"', "low"),
        (
            "psql -c \"select * from generate_series('2024-01-01'::date, '2024-12-31', '1 day')\"",
            "low",
        ),
        (
            'psql -c "with recursive t(n) as (select 1 union all select n+1 from t where n < 9) '
            'select * from t"',
            "low",
        ),
    ],
)
def test_a_read_says_what_it_costs(command, cost):
    verdict = classify(command)
    assert verdict.allow, verdict.reason
    assert verdict.cost == cost


def test_the_limits_of_the_settings_count():
    quick = replace(JudgeContext(), low_seconds=1.0, high_seconds=5.0)
    assert not classify("sleep 6", quick).allow
    assert classify("sleep 3", quick).cost == "high"
    patient = replace(JudgeContext(), high_seconds=86_400.0)
    assert classify("timeout 2h tail -f x", patient).allow


@pytest.mark.parametrize(
    ("setting", "decision"), [("approve", "require_approval"), ("block", "block")]
)
def test_a_policy_can_ask_before_an_expensive_read(setting, decision):
    policy = CommandPolicy(PolicyConfig(high_cost=setting))
    said = answer_command(policy, classify("find / -name x"))
    assert (said.allow, said.ruling.decision, said.ruling.rule) == (False, decision, "cost")
    assert answer_command(policy, classify("find . -name x")).allow


def test_limits_in_the_wrong_order_are_an_error_of_the_settings():
    with pytest.raises(ValueError, match="low_seconds"):
        PolicyConfig(low_seconds=60.0, high_seconds=30.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5.0),
        (".5", 0.5),
        ("1h30m", 5400.0),
        ("200ms", 0.2),
        ("5m0s", 300.0),
        ("2 d", 172800.0),
        ("1e3", 1000.0),
        ("0x10", 16.0),
        ("1:30", 90.0),
        ("", None),
        ("abc", None),
        ("5x", None),
    ],
)
def test_times_are_read_as_programs_read_them(text, expected):
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5.0),
        ("1T", 1024.0**4),
        ("2MiB", 2 * 1024.0**2),
        ("1e999", inf),
        ("x", None),
        ("1q", None),
    ],
)
def test_sizes_are_read_as_programs_read_them(text, expected):
    assert number(text) == expected


def test_long_names_of_options_say_how_long_a_table_without_a_declaration_runs():
    found = infer_durations(frozenset({"--timeout", "--retries", "--format"}))
    assert found is not None
    assert infer_durations(frozenset({"--format", "-t"})) is None


def test_a_declaration_that_names_no_role_is_no_table():
    for raw in ({"cont": "-c"}, {"count": "c"}, {"count": "-c/x"}, {"count": 5}):
        with pytest.raises(BadTable):
            parse_durations(raw, "acme")
