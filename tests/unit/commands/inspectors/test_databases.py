"""No command in SQL, redis, mongo or CQL that writes is a read."""

from __future__ import annotations

import itertools
import logging
import random
import re
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.commands.classify import classify
from pulsus.commands.inspectors import mongo, redis
from pulsus.commands.inspectors.sql import client_commands, cql, sql
from pulsus.commands.inspectors.sql.split_statements import LONGEST
from pulsus.commands.inspectors.sql.sql_functions import _known_functions
from pulsus.commands.judge_context import JudgeContext
from tests.example_counts import examples

STATEMENTS = Path(__file__).parents[3] / "fixtures" / "statements"
DIALECTS = ("postgres", "mysql", "sqlite", "duckdb", "clickhouse", "tsql")


def lines(name):
    return (STATEMENTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def is_read(opinion):
    return opinion.reads and opinion.category is None


def sql_reads(text, dialect):
    return is_read(sql.inspect((text,), dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nearly_every_statement_that_reads_is_known_to(dialect):
    statements = lines(f"{dialect}.reads")
    assert [text for text in statements if not sql_reads(text, dialect)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_statement_that_writes_is_taken_for_a_read(dialect):
    assert [text for text in lines(f"{dialect}.writes") if sql_reads(text, dialect)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_write_before_or_after_a_read_refuses_both(dialect):
    read = lines(f"{dialect}.reads")[0].rstrip(";")
    for write in lines(f"{dialect}.writes"):
        assert not sql_reads(f"{read}; {write}", dialect), write
        assert (
            not sql.inspect((read, write), dialect).reads
            or dialect not in DIALECTS
            or (sql.inspect((write,), dialect).category == "unbounded_stream")
        ), write


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "SELECT nextval\n('s')"),
        ("postgres", "SELECT nextval /* x */ ('s')"),
        ("postgres", "SELECT 1 -- x\n; DROP TABLE t"),
        ("sqlite", ".schema\n.shell rm x"),
        ("mysql", "SELECT 1;\nsystem rm x"),
        ("tsql", "SELECT 1\nGO\nDROP TABLE t"),
        ("tsql", "SELECT 'a\nGO\nDROP TABLE t'"),
    ],
)
def test_lines_hide_no_second_command(dialect, text):
    assert not sql_reads(text, dialect)


def test_what_waits_is_blocked_as_endless_and_what_writes_beside_it_still_writes():
    for text in ("SELECT pg_sleep(10)", "\\watch 1"):
        assert sql.inspect((text,), "postgres").category == "unbounded_stream"
    again = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t) SELECT * FROM t"
    assert sql.inspect((again,), "postgres").category == "unbounded_stream"
    assert sql.inspect(("SELECT * FROM system.numbers",), "clickhouse").category is not None
    assert not sql.inspect(("SELECT pg_sleep(10); DROP TABLE t",), "postgres").reads
    assert not sql.inspect(("SELECT pg_sleep(10), nextval('s')",), "postgres").reads
    assert not sql.inspect(("SELECT pg_sleep(10)", "DROP TABLE t"), "postgres").reads


def test_a_statement_too_long_or_too_deep_to_follow_is_no_read():
    assert not sql_reads("SELECT " + "1," * LONGEST + "1", "postgres")
    assert not sql_reads("SELECT " + "1," * 1500 + "1", "postgres")
    assert sql_reads("SELECT " + "1," * 400 + "1", "postgres")
    assert not sql_reads("SELECT " + "(" * 200 + "1" + ")" * 200, "postgres")
    assert not sql_reads("SELECT " + "- " * 200 + "1", "postgres")
    assert not sql_reads("SELECT " + "case when " * 200 + "1", "mysql")


def test_the_parser_says_nothing_on_the_terminal(capfd, caplog):
    logging.getLogger("sqlglot").setLevel(logging.NOTSET)
    for dialect in DIALECTS:
        for text in lines(f"{dialect}.writes"):
            sql.inspect((text,), dialect)
    sql.inspect(("EXPLAIN VACUUM",), "postgres")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=st.text(max_size=200))
@settings(max_examples=examples(60), deadline=None)
def test_no_text_makes_sql_raise(dialect, text):
    sql.inspect((text,), dialect)
    sql.inspect((f"SELECT {text}",), dialect)


def mutated(rng, statements, pieces):
    """A statement with words put in, taken out, or another's end."""
    words = re.findall(r"\w+|\s+|[^\w\s]", rng.choice(statements))
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(words) + 1)
        match rng.randrange(4):
            case 0 | 1:
                words.insert(at, rng.choice(pieces))
            case 2:
                words = words[:at] + words[at + 1 :]
            case _:
                other = re.findall(r"\w+|\s+|[^\w\s]", rng.choice(statements))
                words[at:at] = [rng.choice([" ", "; "]), *other[rng.randrange(len(other)) :]]
    return "".join(words)


@pytest.mark.seconds
def test_what_is_allowed_writes_nothing_by_sqlites_own_account():
    """Oracle: SQLite's authorizer is asked for each thing that a statement would do."""
    statements = lines("sqlite.reads") + lines("sqlite.writes")
    pieces = sorted(
        {w for s in statements for w in re.findall(r"\w+|\s+|[^\w\s]", s)} | {"--", "/*"}
    )
    rng = random.Random(20)
    reading = {
        *(sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION),
        *(sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_PRAGMA),
    }
    done: list[tuple[object, ...]] = []

    def note(action, *what):
        done.append((action, *what))
        return sqlite3.SQLITE_OK

    base = sqlite3.connect(":memory:", isolation_level=None)
    base.executescript("create table t(a, b, c, id); create table s(a); create table users(id);")
    base.set_authorizer(note)
    base.set_progress_handler(lambda: 1, 100_000)
    allowed = 0
    for _ in range(4000):
        text = mutated(rng, statements, pieces)
        if text.lstrip().startswith(".") or "explain" in text.lower():
            continue  # EXPLAIN shows a write and does not run it
        if not sql.inspect((text,), "sqlite").reads:
            continue
        done.clear()
        allowed += 1
        with suppress(sqlite3.Error):
            base.executescript(text)
        # Table-valued functions declare themselves: an update of the schema in memory.
        wrong = [a for a in done if a[0] not in reading and a[1] != "sqlite_master"]
        assert wrong == [], text
    assert allowed > 100
    base.close()


def test_functions_that_change_state_are_on_no_list():
    for dialect, name in itertools.product(DIALECTS, lines("functions.writes")):
        assert not _known_functions(dialect).has(name), (dialect, name)


@pytest.mark.parametrize("command", lines("redis.reads"))
def test_redis_commands_that_the_server_flags_readonly_are_reads(command):
    assert is_read(redis.inspect(tuple(command.split()), ""))


def test_redis_commands_that_change_anything_are_refused():
    commands = lines("redis.writes")
    assert [c for c in commands if is_read(redis.inspect(tuple(c.split()), ""))] == []


@pytest.mark.parametrize(
    ("pattern", "reads"),
    [
        *(
            (text, False)
            for text in ("requirepass", "REQUIREPASS", "requirepa\\ss", "*", "r*", "*?")
        ),
        *(
            (text, False)
            for text in ("[^a]equirepas[^b]", "requirepas[s", "r[\\]e]quirepass", "**")
        ),
        *((text, True) for text in ("save", "max*", "*-entries", "requirepas", "requirepass?", "")),
    ],
)
def test_no_pattern_of_redis_settings_means_a_password(pattern, reads):
    assert is_read(redis.inspect(("CONFIG", "GET", "save", pattern), "")) is reads


@pytest.mark.parametrize("command", lines("redis.waits"))
def test_redis_commands_that_wait_are_endless(command):
    assert redis.inspect(tuple(command.split()), "").category == "unbounded_stream"


def test_a_redis_command_that_waits_and_takes_is_no_read_in_any_time():
    assert not classify("timeout 5 redis-cli BLPOP l 0", JudgeContext()).allow
    assert classify("timeout 5 redis-cli SUBSCRIBE a", JudgeContext()).allow


@pytest.mark.parametrize("times", ["0", "-1", "00", "x", "", "1.5", "١"])
def test_repeating_a_command_for_ever_is_endless(times):
    assert redis.repeated((times,), "").category == "unbounded_stream"
    assert is_read(redis.repeated(("3",), ""))


def test_mongo_texts_that_read_are_known_to():
    assert [t for t in lines("mongo.reads") if not is_read(mongo.inspect((t,), ""))] == []


def test_no_mongo_text_that_writes_is_a_read():
    assert [t for t in lines("mongo.writes") if is_read(mongo.inspect((t,), ""))] == []
    for write in lines("mongo.writes"):
        assert not is_read(mongo.inspect((f"db.a.find(); {write}",), "")), write
        assert not is_read(mongo.inspect((f"print({write})",), "")), write
    assert not is_read(mongo.inspect(("db.a.find()\ndb.a.drop()",), ""))


@given(text=st.text(max_size=200))
@settings(max_examples=examples(150), deadline=None)
def test_no_text_makes_mongo_redis_or_cql_raise(text):
    for one in (text, f"db.a.find({text})", f"SELECT {text}"):
        mongo.inspect((one,), "")
        redis.inspect((one, text), "")
        redis.repeated((one,), "")
        cql.cql((one,), "")
        cql.influxql((one,), "")
        client_commands.postgres((one,), "")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM users LIMIT 5",
        "DESCRIBE KEYSPACES",
        "SELECT token(id) FROM t WHERE m['a'] = 'x';",
        "LIST ROLES",
    ],
)
def test_cql_that_reads(text):
    assert is_read(cql.cql((text,), ""))


@pytest.mark.parametrize(
    "text",
    [
        "TRUNCATE t",
        "SELECT 1; DROP TABLE t",
        "COPY t TO 'x'",
        "SOURCE 'x'",
        "SELECT $$a$$; TRUNCATE t",
        "SELECT 'a\\'; TRUNCATE t; --'",
        "SELECT 1 // '",
        "SELECT * FROM t; BEGIN BATCH APPLY BATCH",
        "",
    ],
)
def test_cql_that_writes(text):
    assert not is_read(cql.cql((text,), ""))


@pytest.mark.parametrize(
    "text",
    [
        "SHOW DATABASES",
        'SELECT mean("a") FROM "cpu" WHERE time > now() - 1h GROUP BY time(5m) fill(null)',
        "SELECT * FROM /^cpu.*/ WHERE host =~ /web[0-9]+/ LIMIT 1",
    ],
)
def test_influxql_that_reads(text):
    assert is_read(cql.influxql((text,), ""))


@pytest.mark.parametrize(
    "text",
    [
        "DROP DATABASE x",
        "SELECT * INTO b FROM a",
        "SHOW DATABASES; DROP DATABASE x",
        "SELECT * FROM a WHERE x =~ /'/; DROP DATABASE x -- '",
        "KILL QUERY 5",
    ],
)
def test_influxql_that_writes(text):
    assert not is_read(cql.influxql((text,), ""))


@pytest.mark.parametrize(
    "place",
    [
        "shop",
        "postgresql://app@db1:5432/shop",
        "postgres://db1/shop?sslmode=require&connect_timeout=3",
        "host=db1 user=app dbname='my shop'",
    ],
)
def test_a_connection_that_only_connects(place):
    assert client_commands.postgres((place,), "").reads


@pytest.mark.parametrize(
    "place",
    [
        "options=-cx",
        "host=a options='-c session_preload_libraries=x'",
        "service=x",
        "postgresql://db1/shop?options=-cx",
        "postgresql://db1/shop?%6fptions=-cx",
        "postgresql://db1/shop?sslmode=require&sslkey=engine:x",
        "host=a sslkey=engine:x",
        "-c",
    ],
)
def test_a_connection_that_sets_more_is_no_read(place):
    assert not client_commands.postgres((place,), "").reads


UP = "with recursive t(n) as (select 1 union all select n + 1 from t"
DOWN = "with recursive t(n) as (select 1 union all select n - 1 from t"


@pytest.mark.parametrize("client", ["psql -c", "mysql -e", "sqlite3 x", "duckdb x"])
@pytest.mark.parametrize(
    "query",
    [
        "select * from a, b",
        "select count(*) from a cross join b",
        "select * from a join b on 1=1",
        "select count(*) from a, b, c, d where a.id = b.id",
        "select (select count(*) from a, b)",
        "with x as (select * from a, b) select 1 from x",
        "select 1 union select 2 from a, b",
        "select count(*) from a where exists (select 1 from b, c, d)",
        UP + " where n > 0) select * from t",
        DOWN + " where n < 9) select * from t",
        UP.replace("+ 1", "+ 0") + " where n < 9) select * from t",
        UP + ") select * from t where n < 0 limit 9",
        UP + ") select * from t, a limit 9",
        "select repeat(repeat(repeat('x', 1000), 1000), 1000)",
        "select repeat('x', 10000) from generate_series(1, 1000000)",
    ],
)
def test_a_query_that_pairs_or_makes_rows_without_measure_is_no_read(client, query):
    assert not classify(f'{client} "{query}"').allow


ROUNDS = "with recursive t(n, s) as (select 1, name from a union all"


@pytest.mark.parametrize(
    "command",
    [
        "psql -c 'select array_fill(0, array[1000000000])'",
        "psql -c 'select array_fill(0, array[100000000])'",
        """sqlite3 x "select hex(hex(hex(hex(hex(hex(zeroblob(10000000)))))))\"""",
        """sqlite3 x "select replace(hex(zeroblob(10000)), '0', hex(zeroblob(10000)))\"""",
        f"psql -c '{ROUNDS} select n + 1, s || s from t where n < 60) select 1 from t'",
        f"psql -c '{ROUNDS} select n + 1, concat(s, s) from t where n < 60) select 1 from t'",
        f"psql -c '{ROUNDS} select n + 1, s from t, generate_series(1, 9) where n < 30) "
        "select count(*) from t'",
        """sqlite3 x "select printf('%1000000000d', 1)\"""",
        """sqlite3 x "select format('%.*c', 1000000000, 'x')\"""",
        f"psql -c '{UP}) select * from t limit 10 offset 1000000000000'",
    ],
)
def test_a_short_query_does_not_fill_the_memory(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "query",
    [
        "select * from a join b on a.id = b.id",
        "select * from a, b where a.id = b.id",
        "select * from a, b limit 10",
        "select * from a, b where a.id = 1 and b.id = 2",
        "select * from a natural join b",
        "select replace(rpad(name, 20), ' ', '.') from a",
        "with recursive t(id, path) as (select id, name from n union all select n.id, "
        "t.path || '/' || n.name from n join t on n.up = t.id) select * from t limit 100",
        "select * from a join b using (id)",
        "select a.x, s.m from a, (select max(x) as m from b) s",
        "select * from a, lateral unnest(a.x) y",
        "select * from a where exists (select 1 from b, c where b.a = a.id and c.b = b.id)",
        UP + " where n < 100) select * from t",
        "with recursive t as (select 9 as n union all select n - 1 from t where n > 0) table t",
        UP + ") select * from t limit 10",
        "explain select * from a, b",
        "select rpad(a, 20), rpad(b, 20), rpad(c, 30) from t",
    ],
)
def test_joins_and_recursion_with_an_end_stay_reads(query):
    verdict = classify(f'psql -c "{query}"')
    assert verdict.allow, verdict.reason
