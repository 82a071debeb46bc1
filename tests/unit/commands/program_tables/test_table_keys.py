"""Each key of a table is shown by a call that it allows or refuses."""

from __future__ import annotations

import pytest

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.program_table import BadTable, node

TABLES: dict[str, dict[str, object]] = {
    "plain": {"style": "words", "operands": [["text*"]]},
    "alone": {"flags": "-l -d", "apart": ["-l | -d"], "operands": [["path*"]]},
    "last": {"flags": "-a", "values": {"-P": "word"}, "detached": "-P", "operands": [["path*"]]},
    "near": {"style": "dash", "values": {"-l": "word"}, "joined": "-l", "operands": [["path?"]]},
    "first": {"style": "dash", "stops": True, "flags": "-p", "operands": [["path?"]]},
    "shut": {
        "style": "dash",
        "closed": True,
        "values": {"-name": "text"},
        "refused": {"-delete": "it deletes"},
        "operands": [["path*"]],
    },
    "paced": {
        "flags": "-r",
        "values": {"-n": "word"},
        "needs": [{"one_of": "-n", "when": "-r", "else": "unbounded_stream", "why": "repeats"}],
    },
    "wrap": {"style": "posix", "operands": [["word", "command+"]]},
    "tree": {
        "refused": {"-w --write": "it writes a file"},
        "subcommands": {"show": {"flags": "-w", "subcommands": {"all": {}}}, "list": {}},
    },
    "other": {
        "style": "posix",
        "refused": {"-w --write": "it writes a file"},
        "subcommands": {"list": {"refused": {"--write": "it writes a list"}}, "show": {}},
    },
    "verbs": {"refused": {"purge -x": "it empties it"}, "operands": [["text*"]]},
    "open": {"harmless": True, "operands": [["path*"]]},
}


class Given(Tables):
    def get(self, program):
        return node(TABLES[program], program) if program in TABLES else None


def read(command):
    return examine(command, JudgeContext(tables=Given())).deciding.is_read


@pytest.mark.parametrize(
    "command",
    [
        "plain -x --delete *",
        "alone -l a",
        "last -aP x y",
        "near -l32 a",
        "first -p a",
        "shut -name *JPG",
        "shut a* -name b",
        "paced -rn 5",
        "paced -n 5",
        "wrap 5 open *.txt",
    ],
)
def test_what_a_key_is_there_to_allow_is_allowed(command):
    assert read(command)


@pytest.mark.parametrize(
    "command",
    [
        "alone -ld a",
        "last -Pa x y",
        "near -l32 a b",
        "near -x32 a",
        "first a -p",
        "shut -name *e",
        "shut *",
        "shut -*",
        "paced -r",
        "wrap a* open b",
        "wrap 5 alone *",
    ],
)
def test_what_a_key_is_there_to_refuse_is_refused(command):
    assert not read(command)


def test_a_table_with_apart_that_is_not_two_sets_is_invalid():
    with pytest.raises(BadTable, match="apart holds"):
        node({"flags": "-a -b", "apart": ["-a -b"]}, "x")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("/[0-9]+/", "is a read only with a whole number here"),
        (
            "/[0-9]+x/",
            "is a read only with words of another form (`pulsus commands show acme` has it)",
        ),
        ("/[a-z.]+/", "is a read only with small letters and . here"),
        (
            "/(?!@)[ab]+/",
            "is a read only with words of another form (`pulsus commands show acme` has it)",
        ),
        ("/(?#letters a and b)(?!@)[ab]+/", "is a read only with letters a and b here"),
        ("=up|=down", "is a read only with down or up here"),
    ],
)
def test_a_refusal_never_shows_a_pattern_as_written(kind, told):
    class One(Tables):
        def get(self, program):
            return node({"operands": [[kind]]}, program)

    assert told in examine("acme x@", JudgeContext(tables=One())).deciding.reason.rule


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("tree list -w x", "it writes a file"),
        ("tree list --write=x", "it writes a file"),
        ("tree show all --write x", "it writes a file"),
        ("other show --write", "it writes a file"),
        ("other list --write", "it writes a list"),
    ],
)
def test_an_option_that_is_refused_above_is_refused_below_with_the_same_reason(command, told):
    assert examine(command, JudgeContext(tables=Given())).deciding.reason.rule == told


def test_a_letter_means_the_same_below_only_where_options_hold_there_too():
    found = examine("other show -w", JudgeContext(tables=Given())).deciding
    assert found.reason.rule.startswith("not an option")


def test_what_is_refused_above_and_listed_below_reads_there():
    assert read("tree show -w all")


def test_a_refused_first_operand_gets_its_reason():
    found = examine("verbs purge a", JudgeContext(tables=Given())).deciding
    assert (found.is_read, found.reason.rule) == (False, "it empties it")
    assert read("verbs a purge")
    assert read("verbs -- -x")
