"""`pulsus commands`: one verdict, many, and the tables they come from (docs/commands.md)."""

import json
import os
import subprocess
import sys

import pytest

from pulsus.commands.tables import SHIPPED
from tests.integration.test_json_schemas import check
from tests.integration.test_plugins import path, register
from tests.project import FIXTURES, PULSUS, make, pulsus, pulsus_here


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("commands") / "project", "tables", warm=False)


def answers(done):
    return [json.loads(line) for line in done.out.splitlines()]


def rows(folder, *lines):
    file = folder / "rows.jsonl"
    file.write_bytes(
        b"".join(
            line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
        )
    )
    return file


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("df -h | sort -k5", 0),
        ("sort -o a b", 6),
        ("tail -f log", 6),
        ("cat /etc/shadow", 6),
        ("nobody-knows-it", 6),
        ("", 6),
        ("ls; $(x)", 6),
    ],
)
def test_the_exit_status_says_whether_a_command_is_allowed(project, command, code):
    done = pulsus_here(project, "commands", "classify", command)
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith("allowed: " if code == 0 else "refused: ")


def test_a_command_of_bytes_that_are_no_text_is_refused(project):
    done = subprocess.run(
        [os.fsencode(PULSUS), b"commands", b"classify", b"ls \xff\xfe", b"--output", b"json"],
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (6, b"")
    assert json.loads(done.stdout)["allow"] is False


def test_exactly_one_of_command_and_rows_is_asked_for(project):
    assert pulsus_here(project, "commands", "classify").code == 2
    file = rows(project, {"command": "ls"})
    assert pulsus_here(project, "commands", "classify", "ls", "--jsonl", file).code == 2
    done = pulsus_here(project, "commands", "classify", "ls", "-l")
    assert done.code == 2


def test_a_bad_row_gets_an_answer_and_stops_nothing(project):
    file = rows(
        project,
        {"id": "a", "command": "ls"},
        b"{not json\n",
        b"\n",
        {"id": 7, "command": "rm -rf /"},
        {"id": "no command"},
        {"id": "wrong", "command": ["ls"]},
        {"id": 1.5, "command": "ls"},
        b'"ls"\n',
        b'{"command": NaN}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"command": "' + b"x" * (1 << 21) + b'"}\n',
        {"id": "\ud800", "command": "ls \ud800"},
        {"id": "last", "command": "pwd", "more": 1},
    )
    done = pulsus(project, "commands", "classify", "--jsonl", file)
    assert (done.code, done.err) == (0, "")
    found = answers(done)
    assert [each["id"] for each in found] == [
        *("a", None, 7, "no command", "wrong", None, None, None, None, None, None),
        *("\ud800", "last"),
    ]
    assert [each["id"] for each in found if each["allow"]] == ["a", "last"]
    assert sum("error" in each for each in found) == 9
    for each in found:
        check("commands-row", each)


def test_rows_are_answered_as_they_come(project):
    running = subprocess.Popen(
        [PULSUS, "commands", "classify", "--jsonl", "-"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with running:
        assert running.stdin is not None
        assert running.stdout is not None
        for number in range(3):
            running.stdin.write(json.dumps({"id": number, "command": "ls"}).encode() + b"\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["id"] == number
        running.stdin.close()
        assert running.stdout.read() == b""
    assert running.returncode == 0


def test_a_row_without_a_line_end_is_answered(project):
    done = pulsus_here(
        project, "commands", "classify", "--jsonl", rows(project, b'{"command":"ls"}')
    )
    assert [each["allow"] for each in answers(done)] == [True]


def test_standard_input_is_not_read_where_nobody_is_there(project):
    done = pulsus(project, "commands", "classify", "--jsonl", "-", "--non-interactive")
    assert done.code == 2
    assert "--non-interactive" in done.err


def test_one_verdict_is_the_same_alone_and_among_rows(project):
    for command in ("df -h", "tail -f log", "sort -o x y"):
        one = pulsus_here(project, "commands", "classify", command, "--output", "json").json
        row = rows(project, {"command": command})
        (many,) = answers(pulsus_here(project, "commands", "classify", "--jsonl", row))
        assert {key: one[key] for key in many} == many


def test_an_explanation_shows_phase_words_and_table_and_what_would_be_allowed(project):
    done = pulsus_here(project, "commands", "classify", "uniq 'a b' c", "--explain")
    assert done.code == 6
    assert "uniq.yaml, shipped" in done.out
    assert "1 uniq 'a b' c" in done.out
    assert "would be allowed" in done.out
    shown = pulsus_here(
        project, "commands", "classify", "uniq a b", "--explain", "--output", "json"
    )
    found = shown.json["explanation"]
    assert [p["phase"] for p in found["phases"] if p["answer"] == "refused"] == ["allow"]
    assert found["stages"][0]["words"] == ["uniq", "a", "b"]
    for command in found["would_be_allowed"]:
        assert pulsus_here(project, "commands", "classify", command).code == 0


def test_a_command_with_controls_does_not_drive_the_terminal(project):
    done = pulsus_here(project, "commands", "classify", "ls \x1b[2J\u202e", "--explain")
    assert done.code == 6
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_a_projects_own_table_is_used_and_shown(project):
    assert pulsus_here(project, "commands", "classify", "acme list -n 3").code == 0
    assert pulsus_here(project, "commands", "classify", "acme push mail").code == 6
    done = pulsus_here(project, "commands", "classify", "acme list", "--explain")
    assert "table: config/commands/acme.yaml" in done.out
    listed = pulsus_here(project, "commands", "list", "acme", "--output", "json").json["programs"]
    assert [(p["program"], p["origin"], p["path"]) for p in listed] == [
        ("acme", "project", "config/commands/acme.yaml")
    ]
    shown = pulsus_here(project, "commands", "show", "acme")
    assert "it empties the queue" in shown.out


def test_a_projects_own_table_comes_before_the_one_that_ships(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config/commands").mkdir(parents=True)
    (folder / "config/commands/df.yaml").write_text(
        "program: df\nsource: ours\nnever: it hangs here\nexamples: {refused: [df]}\n"
    )
    assert pulsus_here(folder, "commands", "classify", "df -h").code == 6


def test_a_table_that_cannot_be_read_refuses_its_program(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config/commands").mkdir(parents=True)
    (folder / "config/commands/df.yaml").write_text("program: df\nflags: [-h\n")
    done = pulsus_here(folder, "commands", "classify", "df -h")
    assert done.code == 6
    assert "its table cannot be read" in done.out
    assert pulsus_here(folder, "commands", "show", "df").code == 2
    checked = pulsus_here(folder, "commands", "check", "config/commands/df.yaml")
    assert checked.code == 3
    assert "TABLE_INVALID" in checked.out


def test_an_unknown_program_is_told_to_be_refused(project):
    done = pulsus_here(project, "commands", "show", "nobody-knows-it")
    assert done.code == 2
    assert "every call of it is refused" in done.err


def test_the_check_of_a_table_finds_every_kind_of_mistake(project):
    done = pulsus_here(project, "commands", "check", "wrong.yaml", "--output", "json")
    assert done.code == 3
    assert {f["code"] for f in done.json["findings"]} == {
        *("KIND_UNKNOWN", "OPTION_UNKNOWN", "CONTRADICTION", "EXAMPLE_REFUSED", "EXAMPLE_ALLOWED"),
    }
    assert pulsus_here(project, "commands", "check", "config/commands/acme.yaml").code == 0


def test_without_a_file_every_table_that_is_used_is_checked(project):
    done = pulsus_here(project, "commands", "check", "--output", "json")
    assert done.json["tables"] == len(list(SHIPPED.iterdir())) + 1
    assert done.json["ok"] == (not done.json["findings"])


def test_a_policy_may_hold_what_is_a_read(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text(
        '[policy]\nblock = ["dmesg"]\n[policy.target_block]\n"prod-*" = ["df"]\n'
    )
    done = pulsus_here(folder, "commands", "classify", "dmesg --color=never", "--output", "json")
    assert done.code == 6
    assert (done.json["allow"], done.json["policy"], done.json["policy_rule"]) == (
        *(False, "block"),
        "dmesg",
    )
    assert done.json["intent"] == "read_only_certain"
    assert "policy" in done.json["reason"]
    assert pulsus_here(folder, "commands", "classify", "df -h").code == 0
    assert pulsus_here(folder, "commands", "classify", "df -h", "--target", "prod-1").code == 6
    assert pulsus_here(folder, "commands", "classify", "df -h | sort").code == 0


def test_a_plugin_adds_a_table_and_the_inspector_it_names(project, tmp_path):
    register(tmp_path / "site", "example", "pulsus_example")
    env = path(tmp_path / "site", FIXTURES / "example_plugin")
    assert pulsus(project, "commands", "classify", "greetctl -q 'show x'").code == 6
    assert pulsus(project, "commands", "classify", "greetctl -q 'show x'", env=env).code == 0
    assert pulsus(project, "commands", "classify", "greetctl -q 'drop x'", env=env).code == 6
    table = FIXTURES / "example_plugin/commands/greetctl.yaml"
    assert pulsus(project, "commands", "check", table, env=env).code == 0
    assert pulsus(project, "commands", "check", table).code == 3


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("1 / 0", "its inspector failed"),
        ("'reads'", "no opinion"),
        ("exit(0)", "its inspector failed"),
    ],
)
def test_an_inspector_that_answers_nonsense_refuses(project, tmp_path, answer, says):
    site = tmp_path / "site"
    register(site, "example", "pulsus_example")
    (site / "pulsus_example.py").write_text(
        "from pathlib import Path\n"
        "from pulsus.plugins.hookspecs import hookimpl\n"
        "@hookimpl\ndef pulsus_command_tables():\n"
        f"    return [{str(FIXTURES / 'example_plugin/commands')!r}]\n"
        "@hookimpl\ndef pulsus_content_inspectors():\n"
        f"    return {{'greeting': lambda words, argument: {answer}}}\n"
    )
    done = pulsus(project, "commands", "classify", "greetctl -q 'show x'", env=path(site))
    assert done.code == 6
    assert says in done.out


def test_an_inspector_that_ships_is_not_replaced(project, tmp_path):
    site = tmp_path / "site"
    register(site, "example", "pulsus_example")
    (site / "pulsus_example.py").write_text(
        "from pulsus.plugins.hookspecs import hookimpl\n"
        "@hookimpl\ndef pulsus_content_inspectors():\n    return {'path': print}\n"
    )
    done = pulsus(project, "commands", "classify", "ls", env=path(site))
    assert done.code == 0
    assert "there is a kind called path already" in done.err


def test_the_gate_is_used_without_the_rest_of_pulsus():
    code = (
        "import sys; from pulsus.commands import classify; assert classify('df -h').allow; "
        "print(sorted({'pydantic', 'click', 'numpy', 'sqlglot', 'pluggy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_folder_of_the_shipped_tables_holds_nothing_else():
    assert {file.suffix for file in SHIPPED.iterdir()} == {".yaml"}


def test_a_table_that_is_not_read_for_its_ending_is_a_finding(tmp_path):
    folder = make(tmp_path / "project", "tables", warm=False)
    (folder / "config/commands/zed.yml").write_text("program: zed\n", encoding="utf-8")
    done = pulsus_here(folder, "commands", "check")
    assert done.code == 3
    assert "call it zed.yaml" in done.out


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("nosuch --list", "`pulsus commands list` has the known programs"),
        ("rm x", "risk 3 is for somebody to approve"),
        ("ls $HOME", "with values instead of variables"),
        ("cat /etc/shadow", "docs/command-safety.md says what counts as a secret"),
        ("find . -delete", "--explain` shows what would be allowed"),
        ("tail -f x", "allowed instead: tail -n 200 x"),
    ],
)
def test_a_refusal_tells_a_way_out(project, command, told):
    assert told in pulsus_here(project, "commands", "classify", command).out


def test_a_read_that_the_policy_does_not_name_is_told_so(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text('[policy]\nallow = ["dmesg"]\n', encoding="utf-8")
    done = pulsus_here(folder, "commands", "classify", "df -h")
    assert done.code == 6
    assert "no pattern that the policy allows is about it" in done.out
    assert "[policy] in config/pulsus.toml decides" in done.out


@pytest.mark.parametrize("words", [("ls", "-Z"), ("df", "/var"), ("ls", "--frob")])
def test_a_command_without_quotes_is_told_to_be_quoted(project, words):
    done = pulsus_here(project, "commands", "classify", *words)
    assert done.code == 2
    assert "in quotes" in done.err
