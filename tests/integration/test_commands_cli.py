"""`pulsus commands`: one verdict, many, and the tables they come from (docs/commands.md)."""

import json
import os
import signal
import subprocess
import sys

import pytest

from pulsus.commands.program_tables.loader import SHIPPED
from tests.integration.test_json_schemas import check
from tests.integration.test_plugins import path, register
from tests.project import FIXTURES, PULSUS, make, pulsus, pulsus_here, trust


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("commands") / "project", "tables", warm=False)
    trust(folder)
    return folder


def answers(done):
    return [json.loads(line) for line in done.out.splitlines()]


def settings(folder, text):
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text(text, encoding="utf-8")
    trust(folder)


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


def test_a_command_that_is_not_utf_8_is_refused(project):
    done = subprocess.run(
        [os.fsencode(PULSUS), b"commands", b"classify", b"ls \xff\xfe", b"--output", b"json"],
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (6, b"")
    assert json.loads(done.stdout)["allow"] is False


def test_a_command_and_rows_exclude_each_other(project):
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
        b'{"command": "rm x", "command": "ls"}\n',
        {"id": "nowhere", "command": "ls", "target": ""},
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
        *("a", None, None, 7, "no command", "wrong", None, None, None, None, "nowhere"),
        *(None, None, None, "\ud800", "last"),
    ]
    assert [each["id"] for each in found if each["allow"]] == ["a", "last"]
    bad = [each for each in found if "error" in each]
    assert [each["error"]["details"]["line"] for each in bad] == [2, 3, *range(5, 15)]
    assert [each["reason"].partition(": ")[2] for each in bad] == [
        bad[0]["reason"].partition(": ")[2],
        "it is empty",
        "it has no command, or one that is no text",
        "it has no command, or one that is no text",
        "its id is neither a text nor a whole number",
        "it is no object with a command",
        "it is no JSON: NaN is no JSON value",
        "it is no JSON: 'command' is given twice",
        "its target is no name",
        bad[9]["reason"].partition(": ")[2],
        "it is nested too deeply",
        f"it is longer than {1 << 20} bytes",
    ]
    for each in found:
        check("commands-row", each)


def test_fail_on_refused_sets_the_exit_status(project):
    mixed = rows(project, {"command": "ls"}, {"command": "rm x"}, {"command": 1})
    done = pulsus_here(project, "commands", "classify", "--jsonl", mixed, "--fail-on-refused")
    assert done.code == 6
    assert "2 rows not allowed" in done.err
    assert [each["allow"] for each in answers(done)] == [True, False, False]
    reads = rows(project, {"command": "ls"})
    done = pulsus_here(project, "commands", "classify", "--jsonl", reads, "--fail-on-refused")
    assert (done.code, done.err) == (0, "")


def test_a_row_is_judged_for_its_own_target(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\n[policy.target_block]\n"db*" = ["df"]\n')
    given = rows(folder, {"command": "df"}, {"command": "df", "target": "db1"})
    found = answers(pulsus_here(folder, "commands", "classify", "--jsonl", given))
    assert [each["allow"] for each in found] == [True, False]
    done = pulsus_here(folder, "commands", "classify", "--jsonl", given, "--target", "db2")
    assert [each["allow"] for each in answers(done)] == [False, False]


@pytest.mark.parametrize("command", ["--help", "-h", "--jsonl=/dev/null", "--output=json"])
def test_a_command_that_looks_like_an_option_is_judged_after_two_dashes(project, command):
    done = pulsus_here(project, "commands", "classify", "--", command)
    assert done.code == 6
    assert done.out.startswith("refused: ")


def test_a_target_without_a_name_is_refused(project):
    done = pulsus_here(project, "commands", "classify", "ls", "--target", "")
    assert done.code == 2
    assert "names no target" in done.err


def test_ctrl_c_does_not_mention_promotion(project):
    running = subprocess.Popen(
        [PULSUS, "commands", "classify", "--jsonl", "-"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write('{"command": "ls"}\n')
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err == "error[ABORTED]: aborted; nothing was changed\n"


def test_an_allowed_pipe_names_all_its_programs(project):
    done = pulsus_here(project, "commands", "classify", "df -h | sort -k5 | tail -n 3")
    assert done.out.startswith("allowed: df, sort, tail: each only reads, and ends by itself\n")
    done = pulsus_here(project, "commands", "classify", "psql -c 'select 1' | sort")
    assert done.out.startswith("allowed: psql, sort: each only reads, and ends by itself; ")


def test_rows_are_answered_before_the_input_ends(project):
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


def test_a_last_row_without_a_line_end_is_answered(project):
    done = pulsus_here(
        project, "commands", "classify", "--jsonl", rows(project, b'{"command":"ls"}')
    )
    assert [each["allow"] for each in answers(done)] == [True]


def test_standard_input_is_not_read_when_non_interactive(project):
    done = pulsus(project, "commands", "classify", "--jsonl", "-", "--non-interactive")
    assert done.code == 2
    assert "--non-interactive" in done.err


def test_a_verdict_is_the_same_alone_and_among_rows(project):
    for command in ("df -h", "tail -f log", "sort -o x y"):
        one = pulsus_here(project, "commands", "classify", command, "--output", "json").json
        row = rows(project, {"command": command})
        (many,) = answers(pulsus_here(project, "commands", "classify", "--jsonl", row))
        assert {key: one[key] for key in many} == many


def test_an_explanation_shows_phase_words_table_and_reads_of_the_program(project):
    done = pulsus_here(project, "commands", "classify", "uniq 'a b' c", "--explain")
    assert done.code == 6
    assert "uniq.yaml, shipped" in done.out
    assert "1 uniq 'a b' c" in done.out
    assert "examples of reads of this program" in done.out
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
    trust(folder)
    assert pulsus_here(folder, "commands", "classify", "df -h").code == 6


def test_a_table_that_cannot_be_read_refuses_its_program(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config/commands").mkdir(parents=True)
    (folder / "config/commands/df.yaml").write_text("program: df\nflags: [-h\n")
    trust(folder)
    done = pulsus_here(folder, "commands", "classify", "df -h")
    assert done.code == 6
    assert "its table cannot be read" in done.out
    assert pulsus_here(folder, "commands", "show", "df").code == 2
    checked = pulsus_here(folder, "commands", "check", "config/commands/df.yaml")
    assert checked.code == 3
    assert "TABLE_INVALID" in checked.out


def test_the_error_for_an_unknown_program_says_that_its_calls_are_refused(project):
    done = pulsus_here(project, "commands", "show", "nobody-knows-it")
    assert done.code == 2
    assert "every call of it is refused" in done.err


def test_the_check_of_a_table_finds_every_kind_of_mistake(project):
    done = pulsus_here(project, "commands", "check", "wrong.yaml", "--output", "json")
    assert done.code == 3
    assert {f["code"] for f in done.json["findings"]} == {
        *("KIND_UNKNOWN", "OPTION_UNKNOWN", "CONTRADICTION", "EXAMPLE_REFUSED", "EXAMPLE_ALLOWED"),
        "EXAMPLES_ELSEWHERE",
    }
    assert pulsus_here(project, "commands", "check", "config/commands/acme.yaml").code == 0


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Every table checked once, among them two that are not read, beside a plugin that fails."""
    base = tmp_path_factory.mktemp("checked")
    folder = make(base / "project", "tables", warm=False)
    own_table(folder, "zed.yml", "program: zed\n")
    for name in ("acmed.toml", "acmed", "README.md", ".gitkeep"):
        own_table(folder, name, "program: acmed\n")
    (folder / "config/commands/sub").mkdir()
    own_table(folder, "sub/foo.yaml", "program: foo\n")
    register(base / "site", "broken", "pulsus_broken")
    (base / "site/pulsus_broken.py").write_text("1 / 0\n", encoding="utf-8")
    return pulsus(folder, "commands", "check", "--output", "json", env=path(base / "site"))


@pytest.mark.seconds
def test_without_a_file_every_table_that_is_used_is_checked(checked):
    assert (checked.code, checked.json["ok"]) == (3, False)
    assert checked.json["tables"] == len(list(SHIPPED.glob("*.yaml"))) + 1
    found = {(each["path"], each["code"]) for each in checked.json["findings"]}
    assert found == {
        ("config/commands/zed.yml", "TABLE_INVALID"),
        ("config/commands/sub/foo.yaml", "TABLE_INVALID"),
        ("plugin broken", "PLUGIN_FAILED"),
    }
    check("commands-check", checked.json)


@pytest.mark.seconds
def test_a_table_with_a_wrong_file_ending_is_a_finding(checked):
    (found,) = (f for f in checked.json["findings"] if f["path"].endswith(".yml"))
    assert "call it zed.yaml" in found["fix"]


@pytest.mark.seconds
def test_a_file_that_is_never_read_as_a_table_is_a_warning(checked):
    unread = [each for each in checked.json["warnings"] if "is not read" in each]
    assert unread == [
        f"config/commands/{name} is not read: a table is called PROGRAM.yaml"
        for name in ("acmed", "acmed.toml")
    ]


@pytest.mark.seconds
def test_a_table_in_a_sub_folder_is_a_finding(checked):
    (found,) = (f for f in checked.json["findings"] if "/sub/" in f["path"])
    assert (found["path"], found["code"]) == ("config/commands/sub/foo.yaml", "TABLE_INVALID")
    assert found["fix"] == "move it to commands/"


@pytest.mark.seconds
def test_a_failed_plugin_is_a_finding_of_the_check(checked):
    (found,) = (f for f in checked.json["findings"] if f["code"] == "PLUGIN_FAILED")
    assert found["program"] == "broken"
    assert "ZeroDivisionError" in found["reason"]


def test_a_policy_can_block_a_read(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text(
        '[policy]\nblock = ["dmesg"]\n[policy.target_block]\n"prod-*" = ["df"]\n'
    )
    trust(folder)
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


@pytest.mark.seconds
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
def test_an_invalid_answer_of_an_inspector_refuses_the_command(project, tmp_path, answer, says):
    site = tmp_path / "site"
    register(site, "example", "pulsus_example")
    (site / "pulsus_example.py").write_text(
        "from pathlib import Path\n"
        "from pulsus.plugins.api import hookimpl\n"
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
        "from pulsus.plugins.api import hookimpl\n"
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
    found = [file for file in SHIPPED.iterdir() if file.name != "__pycache__"]
    assert {file.suffix for file in found} == {".yaml"}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "give a command in quotes"),
        (
            "df | sort",
            "policy: require_approval, because it has several parts; not needed here: every "
            "part is a read\n",
        ),
        ("sudo df", "hint: leave out sudo: `df` is allowed\n"),
        ("sudo -n df -h | head", "hint: leave out sudo: `df -h | head` is allowed\n"),
        ("sudo rm x", "no form of it is known that would be allowed"),
        ("cat /dev/zero", "fixed number of bytes: `head -c 100 /dev/zero` is allowed\n"),
        ("cat x /dev/zero", "put `timeout N` in front: `timeout 1 cat x /dev/zero` is allowed\n"),
        ("mount", "hint: write `mount -l`\n"),
        (
            "mount /dev/sda1 /mnt",
            "the agent runs a command of risk 3 only with the approval of a person",
        ),
        ("nosuch --list", "`pulsus commands list` has the known programs"),
        ("rm x", "the agent runs a command of risk 3 only with the approval of a person"),
        ("ls $HOME", "with values instead of variables"),
        ("cat /etc/shadow", "no setting allows it; names and sizes may be asked for"),
        ("rm -rf /etc", "it is blocked: policy.block (as it ships) has rm <system>"),
        ("find . -delete", "--explain` shows calls of the program that read"),
        ("tail -f x", "allowed instead: tail -n 200 x"),
        ("vim x", "no form of it is known that would be allowed"),
    ],
)
def test_a_refusal_offers_an_allowed_command(project, command, told):
    assert told in pulsus_here(project, "commands", "classify", command).out


@pytest.mark.parametrize("command", ["curl -L https://a.example", "wget -qO- https://a.example"])
def test_no_host_is_asked_for_where_naming_one_changes_nothing(project, command):
    done = pulsus_here(project, "commands", "classify", command, "--known", "a.example")
    assert done.code == 6
    (hint,) = [line for line in done.out.splitlines() if line.startswith("  hint: ")]
    assert "no host can be named for it: leave out what makes the place unknown" in hint
    assert hint.endswith(", or a person has to approve it")
    assert "--known" not in hint


def test_a_host_is_asked_for_where_naming_it_allows_the_read(project):
    ask = ("commands", "classify", "curl https://a.example")
    assert "name the host with --known HOST" in pulsus_here(project, *ask).out
    assert pulsus_here(project, *ask, "--known", "a.example").code == 0


@pytest.mark.parametrize("line", ["df -h", "df --help", "df -h /", "--explain df -h"])
def test_an_unquoted_command_with_help_does_not_exit_as_allowed(project, line):
    done = pulsus_here(project, "commands", "classify", *line.split())
    assert (done.code, done.out) == (2, "")
    assert "hint: give the whole command as one word, in quotes" in done.err


@pytest.mark.parametrize("line", ["-h", "--help", "--explain --help", "--known db1 -h"])
def test_help_without_a_command_shows_the_page(project, line):
    done = pulsus_here(project, "commands", "classify", *line.split())
    assert (done.code, done.out.startswith("Usage: pulsus commands classify")) == (0, True)


def test_a_misspelt_program_is_told_the_nearest_name(project):
    done = pulsus_here(project, "commands", "show", "journalct")
    assert (done.code, "hint: did you mean journalctl?" in done.err) == (2, True)


def test_a_phase_named_allow_does_not_read_as_an_answer(project):
    done = pulsus_here(project, "commands", "classify", "mount")
    assert "decided by phase allow (operands and values)\n" in done.out


def test_the_hint_on_an_unapproved_table_does_not_ask_for_a_table(tmp_path):
    folder = tmp_path / "config/commands"
    folder.mkdir(parents=True)
    (folder / "acme.yaml").write_text("program: acme\nsummary: lists\nsubcommands:\n  list: {}\n")
    done = pulsus_here(tmp_path, "commands", "classify", "acme list")
    assert "`pulsus config trust config/commands` asks" in done.out
    assert "hint: the program has a table, which is not used: mend or approve it" in done.out


@pytest.mark.parametrize("command", ["git push", "frobnicate", "sort -o a b"])
def test_the_answer_does_not_call_a_known_program_unknown_to_the_policy(project, command):
    done = pulsus_here(project, "commands", "classify", command)
    said = "policy: require_approval, because no pattern of policy.allow matches it\n"
    assert said in done.out


@pytest.mark.parametrize(
    ("command", "variant"),
    [
        pytest.param("find /srv -name core -delete", "find /srv -name core", id="flag"),
        pytest.param("uniq a --skip-chars=3 --output=x", None, id="unknown"),
        pytest.param("sort -o a b", None, id="its value is not known"),
        pytest.param("find *.c -delete", None, id="a pattern"),
        pytest.param("git push", None, id="no option"),
    ],
)
def test_examples_of_a_table_are_not_offered_as_the_refused_command(project, command, variant):
    shown = pulsus_here(project, "commands", "classify", command, "--explain").out
    _, _, rest = shown.partition("\nwould be allowed\n")
    variants, _, examples = rest.partition("\nexamples of reads of this program\n")
    assert variants.split("\n")[:1] == [f"  {variant}" if variant else ""]
    assert ("examples of reads of this program" in shown) or examples == ""


@pytest.mark.seconds
def test_a_program_that_shares_a_table_has_a_summary_of_its_own(project):
    rows = pulsus_here(project, "commands", "list", "--output", "json").json["programs"]
    said = {row["program"]: row["summary"] for row in rows}
    assert [
        name for name, summary in said.items() if not summary or summary.startswith("as ")
    ] == []
    assert said["gitui"] == "always refused: works on a terminal only (same table as visudo)"
    assert said["sha1sum"].endswith("(same table as md5sum)")
    assert not said["sha1sum"].startswith("always refused")


def test_an_open_quote_is_named(project):
    done = pulsus_here(project, "commands", "classify", "ls 'unclosed")
    assert done.out.startswith("refused: 'unclosed: a quote is not closed\n")


def test_the_answer_says_that_no_policy_names_the_read(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\nallow = ["dmesg"]\n')
    done = pulsus_here(folder, "commands", "classify", "df -h")
    assert done.code == 6
    assert "no pattern of policy.allow matches it" in done.out
    assert "it is a read; policy.allow (set in config/pulsus.toml) decides" in done.out


def test_a_refusal_of_the_policy_says_so_and_where_it_is_set(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\nblock = ["@default", "dmesg"]\n')
    told = "the policy blocks it, by dmesg in policy.block"
    done = pulsus_here(folder, "commands", "classify", "dmesg", "--explain")
    assert done.out.startswith(f"refused: dmesg: {told}\n")
    assert "decided by the policy\n" in done.out
    assert "policy.block (set in config/pulsus.toml) decides" in done.out
    assert f"  policy          refused\n    {told}\n" in done.out
    found = pulsus_here(
        folder, "commands", "classify", "dmesg", "--output", "json", "--explain"
    ).json
    check("commands-classify", found)
    assert (found["decided_by"], found["policy_setting"]) == ("policy", "policy.block")
    assert found["explanation"]["policy"] == {"answer": "refused", "why": told}
    assert found["error"]["details"] | {"phase": "allow"} == {
        "phase": "allow",
        "word": "dmesg",
        "rule": told,
        "decided_by": "policy",
        "policy": "block",
        "policy_rule": "dmesg",
        "policy_setting": "policy.block",
        "code": "POLICY_BLOCKED",
    }


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("cat /etc/shadow", "SENSITIVE_PATH"),
        ("reboot", "POLICY_BLOCKED"),
        ("mkdir x", "APPROVAL_REQUIRED"),
        ("ping -c 1 example.org", "APPROVAL_REQUIRED"),
        ("touch x", "ACTION_NOT_ALLOWED"),
    ],
)
def test_an_error_also_has_the_code_of_a_tool_envelope(tmp_path, command, code):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\nallow = ["@default", "touch **"]\n')
    done = pulsus_here(folder, "commands", "classify", command, "--output", "json")
    assert done.code == 6
    assert done.json["error"]["code"] == "COMMAND_REFUSED"
    assert done.json["error"]["details"]["code"] == code


def test_no_refused_command_is_offered_instead(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    offered = pulsus_here(folder, "commands", "classify", "ping 127.0.0.1", "--output", "json").json
    assert offered["rewrite"] == "ping -c 4 127.0.0.1"
    for command in ("ping example.com", "watch dmesg"):
        settings(folder, '[policy]\nblock = ["@default", "dmesg"]\n')
        done = pulsus_here(folder, "commands", "classify", command, "--explain")
        assert "instead" not in done.out
        shown = pulsus_here(
            folder, "commands", "classify", command, "--explain", "--output", "json"
        ).json
        assert shown["rewrite"] is None
        for other in shown["explanation"]["would_be_allowed"]:
            assert pulsus_here(folder, "commands", "classify", other).code == 0


def test_a_policy_of_a_parent_folder_is_not_dropped_silently(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\nblock = ["dmesg"]\n')
    below = folder / "a/b"
    below.mkdir(parents=True)
    ask = ("commands", "classify", "dmesg")
    done = pulsus_here(below, *ask, "--output", "json")
    told = f"policy and tables of {folder} are not used"
    assert told in done.err
    assert told in done.json["warnings"][0]
    check("commands-classify", done.json)
    assert pulsus_here(below, *ask, "--project", folder).err == ""
    assert pulsus_here(below, *ask, "--project", ".").err == ""
    assert pulsus_here(below, *ask, "-q").err == ""
    given = rows(below, {"command": "dmesg"})
    (row,) = answers(pulsus_here(below, "commands", "classify", "--jsonl", given, "-q"))
    assert told in row["warnings"][0]
    check("commands-row", row)
    settings(below, "")
    assert pulsus_here(below, *ask).err == ""


def test_a_world_writable_parent_folder_is_not_mentioned(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    settings(folder, '[policy]\nblock = ["dmesg"]\n')
    (folder / "sub").mkdir()
    folder.chmod(0o777)
    assert pulsus_here(folder / "sub", "commands", "classify", "ls").err == ""


@pytest.mark.parametrize("words", [("ls", "-Z"), ("df", "/var"), ("ls", "--frob")])
def test_the_error_for_an_unquoted_command_asks_for_quotes(project, words):
    done = pulsus_here(project, "commands", "classify", *words)
    assert done.code == 2
    assert "in quotes" in done.err


def own_table(folder, name, text):
    (folder / "config/commands").mkdir(parents=True, exist_ok=True)
    (folder / f"config/commands/{name}").write_text(text, encoding="utf-8")


NEVER = (
    "program: stat\nsource: ours\nsummary: ours\nnever: it hangs\nexamples: {refused: [stat x]}\n"
)


def test_effects_on_other_tables_are_listed_apart_from_findings(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    own_table(folder, "stat.yaml", NEVER)
    trust(folder)
    xargs = SHIPPED / "xargs.yaml"
    done = pulsus_here(folder, "commands", "check", xargs, "--output", "json")
    assert (done.code, done.json["findings"]) == (0, [])
    check("commands-check", done.json)
    assert done.json["effects"]
    for effect in done.json["effects"]:
        assert effect["because"] == ["config/commands/stat.yaml"]
        assert "was meant to refuse it" in effect["fix"]
    shown = pulsus_here(folder, "commands", "check", xargs)
    assert "config/commands/stat.yaml decides otherwise than 1 example of other tables" in shown.out


@pytest.mark.seconds
def test_a_failed_plugin_is_a_warning_in_the_check_of_one_table(project, tmp_path):
    register(tmp_path / "site", "broken", "pulsus_broken")
    (tmp_path / "site/pulsus_broken.py").write_text("1 / 0\n", encoding="utf-8")
    one = pulsus(
        project, "commands", "check", "config/commands/acme.yaml", env=path(tmp_path / "site")
    )
    assert (one.code, "plugin broken failed" in one.err) == (0, True)


@pytest.mark.seconds
def test_a_broken_table_is_named_by_the_list_and_hides_no_other(tmp_path):
    folder = make(tmp_path / "project", "tables", warm=False)
    (folder / "config/commands/df.yaml").write_text("program: df\nflags: [-h\n")
    trust(folder)
    done = pulsus_here(folder, "commands", "list", "--output", "json")
    listed = {each["program"]: each["origin"] for each in done.json["programs"]}
    assert done.code == 0
    assert "the table of df cannot be read, so each call of it is refused: " in done.err
    assert "df" not in listed
    assert (listed["acme"], listed["du"]) == ("project", "shipped")


@pytest.mark.parametrize(
    ("key", "meant"), [("targt", "target"), ("Known", "known"), ("commands", "command")]
)
def test_a_mistyped_key_of_a_row_is_one_warning(project, key, meant):
    told = f"rows have a key {key!r}, which does not count; did you mean {meant!r}?"
    row = {"command": "df -h", key: "db1"}
    done = pulsus_here(project, "commands", "classify", "--jsonl", rows(project, row, row))
    assert [each["allow"] for each in answers(done)] == [True, True]
    assert " ".join(done.err.split()).count(told) == 1


def test_other_keys_of_a_row_are_not_reported_as_mistyped(project):
    row = rows(project, {"id": 1, "command": "df -h", "label": "read", "source": "x"})
    assert pulsus_here(project, "commands", "classify", "--jsonl", row).err == ""


@pytest.mark.parametrize("command", ["df -h | tee out", "df -h | sort -o out"])
def test_the_explanation_of_a_refused_pipe_does_not_say_that_it_runs(project, command):
    done = pulsus_here(project, "commands", "classify", command, "--explain")
    assert done.code == 6
    assert "  policy: require_approval, because it has several parts\n" in done.out
    assert "  policy          needs approval\n" in done.out
    found = pulsus_here(
        project, "commands", "classify", command, "--explain", "--output", "json"
    ).json
    check("commands-classify", found)
    assert found["explanation"]["policy"]["answer"] == "needs approval"


@pytest.mark.seconds
def test_rows_judged_in_parallel_keep_their_order_and_one_warning(project):
    commands = ("ls", "rm x", "df -h", "reboot", "cat a.txt")
    lines: list[object] = [
        {"id": n, "command": commands[n % 5], "targett": "a"} for n in range(200)
    ]
    lines[7] = b"no row\n"
    file = rows(project, *lines)
    whole = pulsus(project, "commands", "classify", "--jsonl", file)
    piped = subprocess.run(
        [PULSUS, "commands", "classify", "--jsonl", "-"],
        cwd=project,
        input=file.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert whole.out == piped.stdout.decode()
    assert [each["id"] for each in answers(whole)] == [None if n == 7 else n for n in range(200)]
    assert whole.err.count("targett") == 1
    assert answers(whole)[7]["error"]["details"]["line"] == 8
