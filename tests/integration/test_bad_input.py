"""Careless and hostile use of the command line: one clear error, nothing half-written.

See docs/exit-codes.md. Commands run in this process if a process of their own would show no more.
Streams, folders, disks and environments need the real command.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.namespaces import inside, read_only
from tests.project import PULSUS, make, pulsus, pulsus_here, records
from tests.promotions import tree
from tests.sandboxes import need_sandbox

ROOT = Path(__file__).parents[2]
GREETER = "workflows/domains/demo/greet/say_hello.py"
HELLO = "say hello, a friendly greeting for a person"
RUN_ID = re.compile(r"run-\d{8}-\d{6}-[0-9a-f]+")
PROMOTE = ("promote", GREETER, "--domain", "demo", "--action", "greet", "--yes")


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing was routed or promoted yet."""
    return make(tmp_path / "project")


def told(done, code, status):
    """The command failed with one clear error: code, reason and hint, and nothing on stdout."""
    assert "Traceback" not in done.err + done.out
    lines = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert lines[0].startswith(f"error[{code}]: "), done.err
    assert lines[1].startswith("  hint: "), done.err
    assert len(lines) == 2, done.err
    assert (done.code, done.out) == (status, "")
    return lines[0]


def told_in_json(done, code, status):
    """The same as one JSON document."""
    document = done.json
    assert list(document)[:2] == ["schema_version", "ok"]
    assert (document["ok"], document["error"]["code"]) == (False, code)
    assert document["error"]["message"]
    assert document["error"]["hint"]
    assert done.code == status
    assert "error[" not in done.err
    return document["error"]


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param("", id="empty"),
        pytest.param("  \t ", id="spaces"),
        pytest.param("?!…", id="no words"),
        pytest.param("full disks " * 10_000, id="100 kB"),
        pytest.param("\x1b[31m\x07\x08\x01", id="control characters"),
        pytest.param("say hello to 'a\x07b'", id="a control character in a value"),
        pytest.param(os.fsdecode(b"full \xff\xfe disks"), id="not UTF-8"),
    ],
)
def test_an_invalid_request_is_refused_before_anything_is_written(fresh, request_):
    before = tree(fresh)
    told(pulsus_here(fresh, request_), "REQUEST_INVALID", 2)
    assert tree(fresh) == before


@pytest.mark.seconds
def test_a_refused_request_is_one_json_document(fresh):
    done = pulsus(fresh, "route", "", "--output", "json")
    assert told_in_json(done, "REQUEST_INVALID", 2)["message"] == "the request '' has no words"


@pytest.mark.parametrize(
    "request_",
    [
        "wie voll sind die Festplatten",
        "насколько заполнены диски в /var",
        "磁盘有多满",
        "كم امتلاء الأقراص",
        "💾💾💾",
        "a\u0300" * 1500,
        "'" * 3999 + "a",
        "9" * 3999,
        "10.0.0.1 " * 400,
        "and then " * 400,
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
def test_a_request_that_no_tool_understands_is_one_clear_answer(fresh, request_):
    done = pulsus_here(fresh, "route", request_, "--plan", "--output", "json")
    assert "Traceback" not in done.err
    if done.code == 2:  # without a letter or digit there is no request
        assert done.json["error"]["code"] == "REQUEST_INVALID"
        return
    assert (done.code, done.json["policy"], done.json["inputs"]) == (5, "generate", {})
    assert done.json["error"]["hint"]


def test_a_bare_request_in_a_pipe_says_that_nothing_ran_and_what_runs_it(promoted):
    said = "add --run to run it"
    assert said in pulsus_here(promoted, HELLO).err
    for other in ((HELLO, "--run"), (HELLO, "--plan"), (HELLO, "-q"), ("route", HELLO)):
        assert said not in pulsus_here(promoted, *other).err


def test_escape_sequences_in_a_request_reach_neither_terminal_nor_trace(fresh):
    done = pulsus_here(fresh, "route", "say\x1b[31m\u202e hello\x9b1m", "--plan", "--explain")
    assert done.code == 0, done.err
    (log,) = (fresh / "logs/runs").glob("*/steps.log")
    for text in (done.out, done.err, log.read_text("utf-8")):
        assert not {"\x1b", "\u202e", "\x9b"} & set(text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("route", HELLO, "--expalin"), "--explain", id="misspelt flag"),
        pytest.param(("--explain", HELLO), 'pulsus "REQUEST" --explain', id="flag first"),
        pytest.param(("valdate",), "did you mean `pulsus validate`?", id="misspelt command"),
        pytest.param(("tool", "list"), "did you mean `pulsus tools`?", id="singular"),
        pytest.param(("usage",), "did you mean `pulsus --help`?", id="usage"),
        pytest.param(("version",), "did you mean `pulsus --version`?", id="version"),
        pytest.param(("plan", "show", "p.yaml"), "hint: pulsus show p.yaml", id="verb of a file"),
        pytest.param(("route", HELLO, "--output", "yaml"), "'text', 'json'", id="unknown form"),
        pytest.param(("route",), "REQUEST", id="no request"),
        pytest.param(("tools",), "`pulsus tools --help`", id="no subcommand"),
        pytest.param(("tools", "lst"), "pulsus tools --help", id="unknown subcommand"),
        pytest.param(("validate",), "PATH", id="no path"),
        pytest.param(("config", "show", "ranker.treshold"), "ranker.threshold", id="setting"),
        pytest.param(("validate", "nope.py"), "'nope.py' does not exist", id="no such file"),
        pytest.param(("validate", "nope.py"), "correct the path", id="no such file: the fix"),
        pytest.param(("promote", GREETER, "--yes"), "--action", id="no action"),
        pytest.param(
            ("promote", "workflows", "--action", "a"),
            "is a folder, and a file is expected",
            id="a folder",
        ),
        pytest.param(
            ("tools", "list", "--project", "/nope"), "'/nope' does not exist", id="project"
        ),
    ],
)
def test_a_wrong_call_names_the_correct_one(fresh, arguments, says):
    done = pulsus_here(fresh, *arguments)
    told(done, "USAGE", 2)
    assert says in done.err


def test_a_misspelt_command_is_a_json_error_with_output_json(fresh):
    error = told_in_json(pulsus_here(fresh, "valdate", "--output", "json"), "USAGE", 2)
    assert "did you mean `pulsus validate`?" in error["message"]


def test_common_options_mean_the_same_before_the_subcommand(fresh):
    behind = pulsus_here(fresh, "tools", "list", "--output", "json")
    assert pulsus_here(fresh, "--output", "json", "tools", "list").out == behind.out
    assert pulsus_here(fresh.parent, "--project", fresh, "tools", "list").code == 0
    assert pulsus_here(fresh, "--output", "json", HELLO, "--plan").json["policy"] == "select"
    error = told_in_json(pulsus_here(fresh, "--output", "json", "route", ""), "REQUEST_INVALID", 2)
    assert error["details"] == {}


@pytest.mark.parametrize("line", [("--expalin", "x"), ("valdate",), ("tools",), ()], ids=str)
def test_a_wrong_call_is_a_json_error_with_output_json_in_front(fresh, line):
    told_in_json(pulsus_here(fresh, "--output", "json", *line), "USAGE", 2)


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("tools list zzz", "no tool's id starts with 'zzz'; `pulsus tools list` shows every id"),
        ("tools list storge/", "no tool's id starts with 'storge/'; did you mean storage?"),
        (
            "tools list say_helo",
            "no tool's id starts with 'say_helo'; did you mean demo/greet/say_hello?",
        ),
        (
            "commands list zzz",
            "no program's name starts with 'zzz'; `pulsus commands list` shows every name",
        ),
        (
            "commands list journlctl",
            "no program's name starts with 'journlctl'; did you mean journalctl?",
        ),
    ],
)
def test_a_prefix_that_no_name_has_is_a_warning_with_the_similar_names(fresh, line, warning):
    done = pulsus_here(fresh, *line.split())
    assert (done.code, done.out) == (0, "")
    assert f"warning: {warning}\n" in done.err


def test_a_missing_workflows_folder_is_one_error(fresh):
    (fresh / "workflows").rename(fresh / "elsewhere")
    for arguments in ((HELLO,), ("tools", "list"), ("run", "say_hello")):
        done = pulsus_here(fresh, *arguments)
        assert "`pulsus init`" in done.err
        told(done, "WORKFLOWS_MISSING", 2)


@pytest.mark.parametrize("command", ["show", "resume", "replay", "undo"])
def test_a_look_for_a_run_where_none_was_ever_is_no_storage_error(tmp_path, command):
    told(pulsus(tmp_path, "runs", command, "run-1"), "RUN_NOT_FOUND", 2)
    assert list(tmp_path.iterdir()) == []


def test_a_list_of_runs_where_none_was_ever_is_empty_and_makes_no_state(tmp_path):
    done = pulsus(tmp_path, "runs", "list", "--output", "json")
    assert (done.code, done.json["runs"]) == (0, [])
    assert list(tmp_path.iterdir()) == []
    assert "run this in the project" in pulsus(tmp_path, "runs", "list").err


def test_a_file_where_the_workflows_folder_belongs_is_one_error(tmp_path):
    (tmp_path / "workflows").write_text("")
    told(pulsus_here(tmp_path, HELLO), "WORKFLOWS_MISSING", 2)
    told(pulsus_here(tmp_path, "init"), "STORAGE_UNWRITABLE", 2)


def test_a_linked_workflows_folder_is_a_catalogue(fresh):
    (fresh / "workflows").rename(fresh / "shared")
    (fresh / "workflows").symlink_to("shared")
    assert "demo/greet/say_hello" in pulsus_here(fresh, "tools", "list").out


@pytest.mark.parametrize("command", [(HELLO,), ("validate", GREETER), PROMOTE], ids=lambda c: c[0])
def test_a_file_in_place_of_the_log_folder_is_named(fresh, command):
    (fresh / "logs").write_text("mine")
    before = tree(fresh / "workflows")
    done = pulsus_here(fresh, *command)
    told(done, "STORAGE_UNWRITABLE", 2)
    assert f"{fresh / 'logs'} is not a folder" in done.err
    assert tree(fresh / "workflows") == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"99\n", "newer Pulsus", id="newer"),
        pytest.param(b"one\xff", "not a version number", id="garbage"),
        pytest.param(b"", "version is empty", id="empty"),
        pytest.param(None, "Is a directory", id="a folder"),
    ],
)
def test_state_of_a_newer_or_unreadable_version_is_refused(fresh, content, says):
    version = fresh / ".pulsus/version"
    version.unlink(missing_ok=True)
    version.mkdir() if content is None else version.write_bytes(content)
    before = {place: tree(fresh / place) for place in ("workflows", ".pulsus/index")}
    assert says in told(pulsus_here(fresh, HELLO), "STATE_CORRUPT", 2)
    assert {place: tree(fresh / place) for place in before} == before


@pytest.mark.sandbox
def test_state_of_a_newer_version_is_not_promoted_into(fresh):
    need_sandbox()
    (fresh / ".pulsus/version").write_text("99\n")
    before = tree(fresh / "workflows")
    told(pulsus_here(fresh, *PROMOTE), "STATE_CORRUPT", 2)
    assert tree(fresh / "workflows") == before


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"\x00\xff" * 50, id="noise"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"format": 1}\n', id="no checksum"),
    ],
)
def test_a_damaged_index_is_rebuilt_with_one_warning(fresh, damage):
    assert pulsus_here(fresh, "tools", "list").err == ""
    index = fresh / ".pulsus/index/discovery.idx"
    index.write_bytes(damage)
    first, second = pulsus_here(fresh, "tools", "list"), pulsus_here(fresh, "tools", "list")
    assert (first.code, first.err.count("warning: ")) == (0, 1)
    assert "discovery index rebuilt" in first.err
    assert (second.code, second.err, second.out) == (0, "", first.out)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda kept: b"", id="empty"),
        pytest.param(lambda kept: kept[:100], id="cut short"),
        pytest.param(lambda kept: kept[:-9] + b"x" + kept[-8:], id="one byte"),
        pytest.param(lambda kept: b"{}" + kept[2:], id="of another format"),
    ],
)
def test_a_damaged_ranking_index_is_rebuilt_with_one_warning(fresh, damage):
    kept = fresh / ".pulsus/index/ranking.bin"
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    first, second = pulsus_here(fresh, HELLO, "--plan"), pulsus_here(fresh, HELLO, "--plan")
    assert first.err.count("ranking.bin rebuilt") == 1
    assert second.err == ""
    assert "demo/greet/say_hello" in first.out
    assert first.out == second.out
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("name", ["memory.bin", "synonyms.json", "parser.json", "settings-*.json"])
@pytest.mark.parametrize("damage", [lambda _: b"", lambda kept: kept[:-9], lambda _: b"\xff\n{}"])
def test_any_other_damaged_cache_is_rebuilt_with_one_warning(fresh, name, damage):
    (fresh / "config").mkdir(exist_ok=True)
    # Of a project that sets nothing, no settings are kept.
    (fresh / "config/pulsus.toml").write_text("[compose]\nmax_steps = 8\n", encoding="utf-8")
    first = pulsus_here(fresh, HELLO, "--plan")
    kept = max((fresh / ".pulsus/index").glob(name), key=lambda file: file.stat().st_mtime_ns)
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    second, third = pulsus_here(fresh, HELLO, "--plan"), pulsus_here(fresh, HELLO, "--plan")
    assert second.err.count("warning: ") == 1
    assert f"warning: {kept.name} rebuilt" in second.err
    assert (first.err, third.err) == ("", "")
    assert first.out == second.out == third.out
    assert kept.read_bytes() == whole


@pytest.fixture(scope="module")
def promoted(tmp_path_factory):
    """A project with one promoted tool."""
    need_sandbox()
    folder = make(tmp_path_factory.mktemp("promoted"))
    assert pulsus_here(folder, *PROMOTE).code == 0
    return folder


@pytest.fixture
def record(promoted):
    """Return its metadata.jsonl, put back afterwards."""
    path = promoted / "workflows/domains/demo/greet/metadata.jsonl"
    whole = path.read_bytes()
    yield path
    path.write_bytes(whole)


@pytest.mark.sandbox
def test_a_corrupt_promotion_record_is_named_by_file_and_line(promoted, record):
    record.write_bytes(record.read_bytes() + b'{"id": \n' + record.read_bytes())
    before = tree(promoted / "workflows")
    for arguments in ((HELLO,), ("run", "say_hello"), PROMOTE):
        assert f"{record}:2: " in told(pulsus_here(promoted, *arguments), "METADATA_CORRUPT", 2)
    done = pulsus_here(promoted, HELLO, "--output", "json")
    assert told_in_json(done, "METADATA_CORRUPT", 2)["details"] == {"path": str(record)}
    assert pulsus_here(promoted, "tools", "list").code == 0
    assert tree(promoted / "workflows") == before


@pytest.mark.sandbox
def test_a_record_cut_short_is_passed_over_with_one_warning(promoted, record):
    record.write_bytes(record.read_bytes() + b'{"id": "rev-2026')
    for arguments in (("run", "say_hello"), (HELLO, "--explain")):
        done = pulsus_here(promoted, *arguments)
        assert (done.code, done.err.count("warning: ")) == (0, 1), done.err
        assert f"{record}: ignored a last line that was cut short" in done.err
        assert pulsus_here(promoted, *arguments, "-q").err == ""


@pytest.mark.sandbox
def test_only_the_promoted_bytes_are_run(promoted):
    greeter = promoted / GREETER
    original = greeter.read_bytes()
    other = ("run", "text/count/count_words", "--input", "text=a")
    told(pulsus_here(promoted, *other), "NOT_PROMOTED", 6)
    greeter.write_bytes(original + b"# changed by hand\n")
    done = pulsus_here(promoted, "run", "say_hello")
    greeter.write_bytes(original)
    told(done, "NOT_PROMOTED", 6)
    assert f"pulsus promote {GREETER} --domain demo --action greet" in done.err


@pytest.mark.sandbox
def test_an_unknown_or_ambiguous_tool_is_not_run(promoted):
    done = pulsus_here(promoted, "run", "say_helo")
    told(done, "TOOL_NOT_FOUND", 2)
    assert "did you mean demo/greet/say_hello?" in done.err
    twin = promoted / "workflows/shared_tools/welcome/say_hello.py"
    twin.parent.mkdir()
    twin.write_bytes((promoted / GREETER).read_bytes())
    done = pulsus_here(promoted, "run", "say_hello")
    twin.unlink()
    twin.parent.rmdir()
    line = told(done, "TOOL_AMBIGUOUS", 2)
    assert "demo/greet/say_hello, shared/welcome/say_hello" in line


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("pair", "says"),
    [
        pytest.param("person", "NAME=VALUE", id="no value"),
        pytest.param("", "NAME=VALUE", id="empty"),
        pytest.param("persn=Ada", "did you mean 'person'?", id="misspelt"),
        pytest.param("person:=[1", "it is not JSON", id="bad JSON"),
        pytest.param("person:=5", "it is not of type str", id="wrong type"),
        pytest.param("person=@/nope", "No such file", id="no such file"),
        pytest.param("person=@/dev/zero", "larger than", id="endless file"),
    ],
)
def test_an_input_that_does_not_fit_is_named(promoted, pair, says):
    done = pulsus_here(promoted, "run", "say_hello", "--input", pair)
    told(done, "USAGE", 2)
    assert says in done.err


@pytest.mark.parametrize(
    ("line", "page"),
    [
        ("audit --accept-break", "audit"),
        ("run disk_usage --input", "run"),
        ("eval --floor", "eval"),
        ("config trust --revoke", "config trust"),
        ("-q config trust --revoke", "config trust"),
        ("count words --input", "route"),
    ],
)
def test_an_option_without_its_value_does_not_lead_to_a_page_without_it(fresh, line, page):
    done = pulsus_here(fresh, *line.split())
    told(done, "USAGE", 2)
    assert f"  hint: `pulsus {page} --help` shows how" in done.err.splitlines()


def test_a_misspelt_input_of_a_route_is_named_before_the_missing_one(fresh):
    request = ("count the words of the text", "--run", "--input", "txt=a")
    done = pulsus_here(fresh, *request)
    told(done, "USAGE", 2)
    assert "did you mean 'text'?" in done.err


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("folder.py", id="a folder called x.py"),
        pytest.param("pipe.py", id="a pipe"),
        pytest.param("dangling.py", id="a link to nothing"),
        pytest.param("loop.py", id="a link to itself"),
        pytest.param("/dev/zero", id="a device"),
    ],
)
def test_a_path_that_is_no_regular_file_is_refused_without_waiting(fresh, path):
    (fresh / "folder.py").mkdir()
    os.mkfifo(fresh / "pipe.py")
    (fresh / "dangling.py").symlink_to("nowhere.py")
    (fresh / "loop.py").symlink_to("loop.py")
    told(pulsus_here(fresh, "validate", path), "USAGE", 2)


@pytest.mark.parametrize(
    ("target", "value"),
    [
        pytest.param(("--domain", "demo", "--action", "../../etc"), "../../etc", id="traversal"),
        pytest.param(("--domain", "Demo", "--action", "greet"), "Demo", id="capital"),
        pytest.param(("--action", "class"), "class", id="keyword"),
        pytest.param(("--domain", "shared", "--action", "greet"), "shared", id="reserved"),
    ],
)
def test_a_target_outside_the_catalogue_is_refused_before_validation(fresh, target, value):
    assert value in told(
        pulsus_here(fresh, "promote", GREETER, *target, "--yes"), "TARGET_REFUSED", 6
    )
    assert not (fresh / "logs").exists()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        pytest.param("config/pulsus.toml", "ranker = 5", "ranker", id="value for a section"),
        pytest.param("config/pulsus.toml", "tresh", "pulsus.toml", id="no TOML"),
        pytest.param("config/pulsus.toml", "log_dir = 5", "log_dir", id="wrong type"),
        pytest.param("pyproject.toml", "tool.pulsus = 5", "tool.pulsus", id="no table"),
        pytest.param(
            "pyproject.toml",
            "[tool.pulsus.ranker]\ntreshold = 1",
            "ranker.threshold",
            id="misspelt",
        ),
    ],
)
def test_a_wrong_settings_file_is_one_error(fresh, file, text, says):
    (fresh / file).parent.mkdir(exist_ok=True)
    (fresh / file).write_text(text)
    done = pulsus_here(fresh, "tools", "list")
    told(done, "CONFIG_INVALID", 2)
    assert says in done.err


def test_a_pyproject_without_our_section_is_ignored(fresh):
    (fresh / "pyproject.toml").write_text("tool = 5")
    assert pulsus_here(fresh, "tools", "list").code == 0


def test_a_settings_variable_of_the_wrong_type_is_one_error(fresh):
    done = pulsus_here(fresh, "tools", "list", env={"PULSUS_NON_INTERACTIVE": "perhaps"})
    assert 'non_interactive = "perhaps"' in told(done, "CONFIG_INVALID", 2)


def test_files_that_are_no_tools_are_listed_with_their_reason(fresh):
    folder = fresh / "workflows/domains/demo/greet"
    (folder / "huge.py").write_text('"""Doc."""\n' + "x = 1\n" * 300_000)
    (folder / "deep.py").write_text("(" * 50_000)
    (folder / "folder.py").mkdir()
    (folder / "bytes.py").write_bytes(b"\xff\xfe")
    done = pulsus_here(fresh, "tools", "check", "--output", "json")
    assert done.code == 3
    found = {Path(f["path"]).name: f["code"] for f in done.json["findings"]}
    assert found["huge.py"] == "TOO_LARGE"
    assert found["deep.py"] == "SYNTAX_ERROR"
    assert found["folder.py"] == "NOT_A_FILE"
    assert "bytes.py" in found
    assert pulsus_here(fresh, HELLO, "--plan").code == 0


def raw(folder, *args, **options):
    """The command with the streams that are given; stdout and stderr are captured otherwise."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    given = {**pipes, "env": env, "timeout": 60, **options}
    return subprocess.run([PULSUS, *args], cwd=folder, check=False, **given)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "arguments",
    [("tools", "list"), ("tools", "list", "--output", "json"), ("--help",), ("valdate",)],
    ids=" ".join,
)
def test_a_closed_pipe_is_no_error(fresh, arguments):
    script = f'"{PULSUS}" {" ".join(arguments)} 2>&1 | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=fresh, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == ("2" if arguments == ("valdate",) else "0")


def test_a_result_that_cannot_be_written_is_one_error(fresh):
    with Path("/dev/full").open("wb") as full:
        done = raw(fresh, "tools", "list", stdout=full)
    assert done.returncode == 75
    assert done.stderr.startswith(b"error[DISK_FULL]: cannot write standard output")
    assert b"Traceback" not in done.stderr


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("closed", "option", "status"),
    [
        ("<&-", "--plan", "0"),
        (">&-", "--plan", "0"),
        ("2>&-", "--plan", "0"),
        ("<&- >&- 2>&-", "", "4"),
    ],
)
@pytest.mark.sandbox
def test_a_closed_stream_neither_crashes_nor_becomes_a_file_of_ours(
    tmp_path, closed, option, status
):
    need_sandbox()
    project = make(tmp_path / "project")
    script = f'"{PULSUS}" "{HELLO}" {option} {closed}; echo $? > status'
    done = subprocess.run(["bash", "-c", script], cwd=project, capture_output=True, check=False)
    assert (project / "status").read_text().strip() == status, done.stderr
    assert b"Traceback" not in done.stderr
    (log,) = (project / "logs/runs").glob("*/steps.log")
    assert all(json.loads(line)["phase"] for line in log.read_text("utf-8").splitlines())


@pytest.mark.seconds
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8:strict"])
def test_no_encoding_of_the_terminal_crashes_a_command(fresh, encoding):
    env = {"PYTHONIOENCODING": encoding}
    done = raw(fresh, "explain", HELLO, env=os.environ | env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ("τ" if encoding != "latin-1" else "\\u03c4") in done.stdout.decode("utf-8")
    name = os.fsdecode(b"\xff\x1b[31m.py")
    (fresh / name).write_bytes(b"")
    done = raw(fresh, "validate", name, env=os.environ | env)
    assert done.returncode == 3, done.stderr
    assert not {"\x1b", "\udcff"} & set(done.stdout.decode("utf-8"))


def test_json_names_a_file_whose_name_is_not_utf_8(fresh):
    name = os.fsdecode(b"\xff\x1b[31m.py")
    (fresh / name).write_bytes(b"")
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = raw(fresh, "validate", name, "--output", "json", env=strict)
    assert done.returncode == 3, done.stderr
    assert not {"\x1b", "\udcff"} & set(done.stdout.decode("utf-8"))
    assert json.loads(done.stdout)["modules"][0]["path"] == name


def test_a_name_with_a_line_break_forges_no_line(fresh):
    done = pulsus_here(fresh, "run", "x\nerror[FORGED]: y")
    assert done.err.count("error[") == 1 + done.err.count("\\nerror[")
    done = pulsus_here(fresh, "validate", "x\nerror[FORGED]: y")
    assert [line for line in done.err.splitlines() if line.startswith("error[FORGED]")] == []


@pytest.mark.seconds
def test_an_empty_environment_is_enough(fresh):
    done = raw(fresh, "tools", "list", env={})
    assert (done.returncode, done.stderr) == (0, b"")
    done = raw(fresh, "tools", "list", env={"HOME": "/nonexistent", "LANG": "xx_XX", "TERM": "odd"})
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.seconds
def test_no_command_makes_a_home_that_does_not_exist(fresh, tmp_path):
    home = tmp_path / "nonexistent"
    env = {"HOME": str(home), "PATH": os.defpath}
    for asked in (["say hello"], ["run", "say_hello"], ["tools", "list"], ["doctor"]):
        done = raw(fresh, *asked, env=env)
        assert b"Traceback" not in done.stderr, asked
    assert b"absent  user state" in raw(fresh, "doctor", env=env).stdout
    done = raw(fresh, "audit", env=env)
    assert done.returncode == 0
    assert b"nonexistent', which is no folder here" in done.stderr
    assert b"set HOME, or XDG_STATE_HOME" in done.stderr
    assert not home.exists()


def test_a_current_folder_that_is_gone_is_one_error(fresh, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1"; rmdir "$1"; shift; exec "$@"'

    def there(*args):
        return subprocess.run(
            ["bash", "-c", script, "bash", str(gone), str(PULSUS), *args],
            capture_output=True,
            text=True,
            check=False,
        )

    done = there("tools", "list")
    assert done.stderr.startswith("error[USAGE]: the current folder cannot be used")
    assert done.returncode == 2
    gone.mkdir()
    assert there("tools", "list", "--project", str(fresh)).returncode == 0


@pytest.mark.seconds
def test_a_read_only_checkout_can_be_read(fresh):
    index = fresh / ".pulsus/index/discovery.idx"
    index.unlink()  # reading starts with what cannot be kept
    done = read_only(fresh, (PULSUS, "tools", "list"))
    assert done.returncode == 0, done.stderr
    assert "demo/greet/say_hello" in done.stdout
    assert done.stderr.startswith("warning: discovery index not saved: ")
    assert len(done.stderr.splitlines()) == 1
    script = '"$0" tools show say_hello && "$0" config show && "$0" gc && "$0" plugins list'
    done = read_only(fresh, ("sh", "-c", script, PULSUS))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.seconds
@pytest.mark.parametrize("line", [(HELLO, "--plan"), (HELLO, "--explain"), ("explain", HELLO)])
def test_plan_and_explain_work_in_a_read_only_checkout(fresh, line):
    writable = pulsus_here(fresh, *line)
    done = read_only(fresh, (PULSUS, *line))
    assert not RUN_ID.search(done.stdout), "an id that nothing knows"
    known = [text for text in writable.out.splitlines() if not RUN_ID.search(text)]
    assert done.stdout.splitlines() == known, done.stderr
    assert done.returncode == 0
    logs = [text for text in done.stderr.splitlines() if "this run is not logged" in text]
    assert len(logs) == (line[0] != "explain")
    assert all(f"cannot write {fresh}/logs/" in text for text in logs)
    # On a slow machine the files have meanwhile grown old enough to be remembered.
    young = [text for text in done.stderr.splitlines() if "discovery index not saved" in text]
    assert done.stderr.count("\n") == len(logs) + len(young)


def test_plan_works_in_a_read_only_checkout_without_caches(tmp_path):
    fresh = make(tmp_path / "project", warm=False)
    done = read_only(fresh, (PULSUS, HELLO, "--plan"))
    assert (done.returncode, "demo/greet/say_hello" in done.stdout) == (0, True)
    assert all(text.startswith("warning: ") for text in done.stderr.splitlines()), done.stderr
    assert done.stderr.count("\n") == 2


def test_a_run_in_a_read_only_checkout_is_refused_and_names_plan_and_explain(fresh):
    done = read_only(fresh, (PULSUS, HELLO, "--dry-run"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[STORAGE_UNWRITABLE]: cannot write " in done.stderr
    assert "`pulsus explain` work without a writable log folder" in done.stderr


@pytest.mark.seconds
@pytest.mark.parametrize("command", [(HELLO,), ("validate", GREETER), PROMOTE], ids=lambda c: c[0])
def test_a_read_only_logs_folder_is_one_error(fresh, command):
    (fresh / "logs").mkdir()
    before = tree(fresh / "workflows")
    done = read_only(fresh / "logs", (PULSUS, *command), cwd=fresh)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error[STORAGE_UNWRITABLE]: cannot write {fresh}/logs/")
    assert len(done.stderr.splitlines()) == 2
    assert (done.stdout, tree(fresh / "workflows")) == ("", before)


DISK_SECONDS = 1200
"""For forty commands: on a busy machine ten seconds each, and none may hang."""


@pytest.mark.sandbox
def test_a_promotion_stands_if_its_metrics_cannot_be_written(fresh):
    need_sandbox()
    (fresh / "logs").mkdir()
    (fresh / "logs/metrics").write_text("where a folder is needed", encoding="utf-8")
    done = pulsus_here(fresh, HELLO, "--non-interactive")
    assert (done.code, done.err.count("error[")) == (2, 1)
    assert f"cannot write {fresh}/logs/metrics: " in done.err
    assert "demo/greet/say_hello is promoted all the same (rev-" in done.err
    assert [each["name"] for each in records(fresh)] == ["say_hello.py"]


def disk(tmp_path_factory, forms, *pages):
    """Rows of `tests.integration.small_disk`."""
    folder = tmp_path_factory.mktemp("disk")
    arguments = (sys.executable, "-m", "tests.integration.small_disk", folder, forms, *pages)
    done = inside('cd "$1"; shift; exec "$@"', ROOT, *arguments, seconds=DISK_SECONDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return disk(tmp_path_factory, "both", 0)


def check_full(rows):
    for row in rows:
        case = {key: row[key] for key in ("command", "pages", "json", "code", "err")}
        assert "Traceback" not in row["err"] + row["out"], case
        assert row["empty"] == row["torn"] == [], (case, row)
        # Where the disk is full only after a promotion, that one is whole, and the error says so.
        done = "is promoted all the same (rev-" in row["out"] + row["err"]
        made = {Path(name).name for name in row["catalogue"]}
        assert made >= {"CHANGELOG.md", "metadata.jsonl"} if done else made == set(), (case, row)
        pairs = {Path(name).stem for name in row["candidates"]}
        assert len(row["candidates"]) == 2 * len(pairs), "a candidate has its note"
        if row["json"]:
            document = json.loads(row["out"])
            assert document["error"]["code"] == "DISK_FULL", case
            assert document["error"]["hint"]
        else:
            assert row["err"].count("error[") == row["err"].count("error[DISK_FULL]: ") == 1, case
            assert row["err"].splitlines()[-1].startswith("  hint: "), case


@pytest.mark.seconds
@pytest.mark.parametrize("command", ["route", "compose", "validate", "promote", "init"])
def test_a_full_disk_is_one_error_and_leaves_nothing_half_written(full, command):
    rows = [row for row in full if row["command"] == command]
    assert [row["code"] for row in rows] == [75, 75]
    check_full(rows)


@pytest.mark.slow
@pytest.mark.timeout(DISK_SECONDS + 60)
def test_a_disk_that_fills_up_midway_leaves_nothing_half_written(tmp_path_factory):
    rows = disk(tmp_path_factory, "alternating", 1, 2, 3, 5, 8, 12, 16, 24)
    stopped = [row for row in rows if row["code"] == 75]
    assert {row["command"] for row in stopped} >= {"route", "validate", "promote", "init"}
    check_full(stopped)
    assert all("Traceback" not in row["err"] for row in rows)
    assert {row["code"] for row in rows} <= {0, 3, 4, 75}


def deny(project, pattern):
    (project / "config").mkdir(exist_ok=True)
    text = f'[access]\ndeny = ["{pattern}"]\n'
    (project / "config/pulsus.toml").write_text(text, encoding="utf-8")


def test_a_filter_that_excludes_every_tool_is_named(fresh):
    deny(fresh, "*")
    done = pulsus_here(fresh, HELLO, "--plan", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (5, "NOTHING_FITS")
    assert "access.deny = ['*'] exclude all 8 tools" in done.json["error"]["message"]
    assert "access.deny = ['*'] exclude all 8 tools" in pulsus_here(fresh, "explain", HELLO).out


def test_a_filter_that_matches_no_tool_is_one_warning(fresh):
    deny(fresh, "demo/greet/say_helo")
    done = pulsus_here(fresh, HELLO, "--plan")
    assert done.code == 0
    warnings = [line for line in done.err.splitlines() if "access.deny" in line]
    assert len(warnings) == 1
    assert "did you mean demo/greet/say_hello" in warnings[0]
    assert "access.deny" in pulsus_here(fresh, "run", "say_hello").err
    assert "access.deny" not in pulsus_here(fresh, HELLO, "--plan", "-q").err


@pytest.mark.sandbox
@pytest.mark.parametrize("pattern", ["demo/*", "say_hello"])
def test_a_denied_tool_is_not_run_by_its_id(promoted, pattern):
    deny(promoted, pattern)
    done = pulsus_here(promoted, "run", "say_hello", "--input", "person=Ada")
    (promoted / "config/pulsus.toml").unlink()
    line = told(done, "POLICY_BLOCKED", 6)
    assert f"not allowed by access.deny pattern '{pattern}'" in line
    assert pulsus_here(promoted, "run", "say_hello", "--input", "person=Ada").code == 0


def test_a_denied_tool_asks_for_no_input_first(promoted):
    deny(promoted, "say_hello")
    done = pulsus_here(promoted, "run", "say_hello")
    (promoted / "config/pulsus.toml").unlink()
    told(done, "POLICY_BLOCKED", 6)


def test_doctor_goes_on_where_the_settings_cannot_be_read(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text("[tools]\n[tools]\npython = ''\n", encoding="utf-8")
    done = pulsus_here(folder, "doctor", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "CONFIG_INVALID")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert checks["python"]["ok"]
    assert not checks["settings"]["ok"]
    assert "[tools] twice" in checks["settings"]["found"]
    text = pulsus_here(folder, "doctor")
    assert text.code == 2
    assert "remove line 2" in " ".join(text.out.split())


def test_a_slip_in_a_command_keeps_the_whole_request(tmp_path):
    project = make(tmp_path / "project", warm=False)
    done = pulsus(project, "rout", "how full", "--plan")
    assert done.code == 2
    assert "pulsus route 'rout how full'" in done.err


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (("runs", "list", "--limit", "abc"), "'abc' is no whole number.", "give 1 to 1000"),
        (("runs", "list", "--limit", "5000"), "5000 is out of range.", "give 1 to 1000"),
        (("place", "--time-limit", "x"), "'x' is no number.", "give 0.1 to 3600"),
        (("eval", "--limit", "x"), "'x' is no whole number.", "give 1 or more"),
        (("fill", "--jsonl", "."), "'.' is a folder, and a file is expected.", "name a file"),
        (("tools", "adopt", "."), "'.' is a folder, and a file is expected.", "name a file"),
        (("commands", "check", "."), "'.' is a folder, and a file is expected.", "name a file"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_in_words_of_the_user(fresh, arguments, says, hint):
    done = pulsus_here(fresh, *arguments)
    told(done, "USAGE", 2)
    shown = " ".join(done.err.split())
    assert says in shown
    assert (
        f"hint: {hint}; `pulsus {' '.join(arguments[: -2 if '-' in arguments[-2] else -1])}"
        in shown
    )


@pytest.mark.parametrize("name", ["notes.md", "m.csv", "README"])
def test_a_file_that_is_no_python_is_a_wrong_call_and_no_refused_module(tmp_path, name):
    project = make(tmp_path / "project", warm=False)
    (project / name).write_text("def run():\n    return 1\n", encoding="utf-8")
    for call in (("validate", name), ("promote", name, "--action", "x")):
        done = pulsus_here(project, *call)
        told(done, "USAGE", 2)
        assert f"{name} is no .py file" in done.err


def test_a_sunset_that_is_no_day_is_shown_the_form(tmp_path):
    project = make(tmp_path / "project", warm=False)
    asked = ("deprecate", "a", "--replacement", "b", "--sunset", "tomorrow")
    done = pulsus(project, *asked)
    assert done.code == 2
    assert "YYYY-MM-DD" in done.err
    assert "%Y" not in done.err


def test_a_deprecation_does_not_ask_for_an_option_that_was_given(tmp_path):
    project = make(tmp_path / "project", warm=False)
    for given, lacking in (("--replacement", "--sunset"), ("--sunset", "--replacement")):
        value = "b" if given == "--replacement" else "2099-01-01"
        done = pulsus_here(project, "deprecate", "a", given, value)
        assert told(done, "USAGE", 2) == f"error[USAGE]: a deprecation needs {lacking}"


@pytest.mark.seconds
def test_gc_names_what_it_counts(tmp_path):
    project = make(tmp_path / "project", warm=False)
    assert "old candidates, logs or runs would be removed" in pulsus(project, "gc", "--dry-run").out


@pytest.mark.seconds
def test_accepting_without_need_says_so(tmp_path):
    project = make(tmp_path / "project", warm=False)
    assert "no record waits for you" in pulsus(project, "audit", "--accept-records").out
    done = pulsus(project, "audit", "--accept-break", "just to try")
    assert "nothing to accept: there is no damage" in done.err


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("call", "given", "reason"),
    [
        (("run", "duplicate_entries", "--input", "path=/etc"), "/etc", "it is a folder"),
        (("run", "hash_file", "--input", "path=/etc/none"), "/etc/none", "no such file"),
        (("find duplicate files in /etc", "--run", "-q"), "/etc", "it is a folder"),
    ],
)
def test_a_folder_or_a_missing_file_for_a_shipped_tool_is_a_usage_error(
    call, given, reason, tmp_path
):
    state = ("--state-dir", tmp_path / ".state", "--non-interactive")
    done = pulsus_here(ROOT, *call, *state)
    line = told(done, "USAGE", 2)
    assert re.search(rf"input path='{given}' of \S+: {reason}", line)
    assert "Error:" not in line
    # A request may have found the wrong tool; `run` names it.
    assert ("pulsus feedback last --right TOOL" in done.err) == (call[0] != "run")


@pytest.mark.seconds
def test_a_folder_inside_a_project_is_told_where_the_project_is(tmp_path):
    project = make(tmp_path / "project", warm=False)
    below = project / "docs" / "notes"
    below.mkdir(parents=True)
    done = pulsus(below, "route", HELLO)
    told(done, "WORKFLOWS_MISSING", 2)
    assert f"the project above is '{project}'" in done.err


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (("run", "plan.yaml"), "a plan file is run with: pulsus apply plan.yaml"),
        (("run", HELLO), f"a request in words is run with: pulsus route '{HELLO}' --run"),
        (("run", "say_helo"), "did you mean demo/greet/say_hello?"),
        (("tools", "remove", "demo/greet/say_helo"), "did you mean demo/greet/say_hello?"),
        (("rollback", "say_helo"), "did you mean demo/greet/say_hello?"),
    ],
)
def test_what_is_no_tool_is_answered_with_the_command_or_name_that_was_meant(tmp_path, call, hint):
    project = make(tmp_path / "project", warm=False)
    assert pulsus(project, *PROMOTE).code == 0
    done = pulsus(project, *call)
    told(done, "TOOL_NOT_FOUND", 2)
    assert hint in done.err


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ('state_dir = "abc\n', "a text ends on its own line: close its quotes there"),
        ("[tool.pulsus.ranker]\ntau = 0.5\n", "write ranker.tau"),
        ("[tools]\npython = .venv/bin/python\n", 'put text in quotes (name = "text")'),
        ("[serve]\nhost = 10.0.0.1\n", 'put text in quotes (name = "text")'),
        ("log_dir = logs\n", 'put text in quotes (name = "text")'),
    ],
)
def test_a_mistake_in_the_settings_is_answered_with_its_own_way_out(fresh, lines, hint):
    settings = fresh / "config" / "pulsus.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(lines, encoding="utf-8")
    done = pulsus_here(fresh, HELLO)
    told(done, "CONFIG_INVALID", 2)
    assert hint in done.err


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("verb", "meant"), [("apply", "run"), ("show", "tools show")], ids=["apply", "show"]
)
def test_a_tool_in_the_place_of_a_plan_is_answered_with_its_own_command(tmp_path, verb, meant):
    project = make(tmp_path / "project", warm=False)
    assert pulsus(project, *PROMOTE).code == 0
    done = pulsus(project, verb, "say_hello")
    told(done, "USAGE", 2)
    assert f"for the tool of this name: pulsus {meant} demo/greet/say_hello" in done.err


TEST_OF_VOWELS = "from vowels import {}\n\n\ndef test_it():\n    assert {}\n"


@pytest.mark.parametrize("imported", ["run", "run, main", "count"])
def test_a_test_beside_a_candidate_is_not_refused_as_if_it_were_a_broken_tool(fresh, imported):
    folder = fresh / "cand"
    folder.mkdir()
    test = TEST_OF_VOWELS.format(imported, imported)
    (folder / "test_vowels.py").write_text(test, encoding="utf-8")
    (folder / "vowels.py").write_text("def count():\n    return 1\n", encoding="utf-8")
    why = "it is named like a test, and only in workflows/_tmp are tests left out: move it to your"
    found = pulsus_here(fresh, "validate", "cand", "--output", "json").json["modules"]
    told_of = {row["path"]: row["steps"][0]["message"] for row in found}
    assert why in told_of["cand/test_vowels.py"]
    assert why not in told_of["cand/vowels.py"]
    promoted = pulsus_here(fresh, "promote", "cand/test_vowels.py", "--action", "count", "--yes")
    assert promoted.code == 3
    assert why in promoted.err
    assert "hint: name the module that it tests: cand/vowels.py" in promoted.err


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("pair", "says", "hint"),
    [
        ("person:=8", "input person:=8: it is not of type str but a number", "write person=8: :="),
        ("person:=[1, 2]", "it is not of type str but a list", "write 'person=[1, 2]': :="),
        ("person:=null", "it is not of type str but null", "write a value of type str"),
    ],
)
def test_a_json_number_for_a_text_is_not_shown_as_a_text(promoted, pair, says, hint):
    done = pulsus_here(promoted, "run", "say_hello", "--input", pair)
    assert says in told(done, "USAGE", 2)
    assert f"hint: {hint}" in done.err


def test_a_list_for_for_each_is_answered_with_the_keys_of_for_each(fresh):
    step = "{id: a, tool: demo/greet/say_hello, for_each: [a, b]}"
    (fresh / "p.yaml").write_text(f"plan: {{steps: [{step}]}}\n", encoding="utf-8")
    done = pulsus_here(fresh, "plan", "--file", "p.yaml")
    assert "for_each" in told(done, "PLAN_INVALID", 2)
    assert "hint: write `key: value` pairs with the keys items and limit" in done.err


def test_feedback_on_the_last_run_of_a_new_project_does_not_blame_gc(fresh):
    done = pulsus_here(fresh, "feedback", "last", "--none")
    assert "no request was routed in this project yet" in told(done, "RUN_NOT_FOUND", 2)
    assert "gc" not in done.err
