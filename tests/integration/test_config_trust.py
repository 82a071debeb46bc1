"""`pulsus config trust`, and every command with settings that are not approved."""

import json
import os

import pytest

from pulsus import bootstrap
from pulsus.cli.setup import config_trust_command
from pulsus.config.user_state import UserState
from tests.project import COUNT, PULSUS, make, pulsus_here, trust
from tests.unit.cli.test_help_pages import WITHOUT_APPROVED_SETTINGS

PYTHON = '[tools]\npython = "evil/bin/python"\n'
STOPPED = [
    ["route", COUNT, "--plan"],
    [COUNT, "--run", "--non-interactive"],
    ["explain", COUNT],
    ["run", "count_words", "--input", "text=a b"],
    ["validate", "workflows/domains/text"],
    ["validate", "workflows/domains/text/count/count_words.py"],
    ["generate", COUNT, "--scaffold"],
    ["promote", "workflows/domains/text/count/count_words.py", "--action", "count"],
    ["rollback", "count_words"],
    ["tools", "list"],
    ["eval", "requests.jsonl"],
    ["commands", "classify", "df -h"],
    ["gc"],
    ["place", "--facts", "facts.yaml"],
    ["approvals", "list"],
    ["deprecate", "count_words"],
]
WORKING = [
    (["--help"], 0),
    (["--version"], 0),
    (["run", "--help"], 0),
    (["config", "show"], 0),
    (["config", "trust", "--list"], 0),
    (["audit"], 1),
    (["doctor"], 3),
    (["init"], 0),
    (["diff", "plan.yaml", "plan.yaml"], 0),
]


def setting(folder, text):
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def unapproved(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("trust") / "project", "requests", warm=False)
    saved = pulsus_here(folder, "plan", COUNT, "-o", "plan.yaml")
    assert saved.code == 0, saved.err
    return setting(folder, PYTHON)


@pytest.mark.parametrize("args", STOPPED, ids=" ".join)
def test_a_command_that_uses_settings_stops_before_they_are_approved(unapproved, args):
    done = pulsus_here(unapproved, *args, "--output", "json")
    assert done.code == 4, done.out + done.err
    error = done.json["error"]
    assert error["code"] == "CONFIG_UNTRUSTED"
    assert 'config/pulsus.toml:2 sets tools.python = "evil/bin/python"' in error["message"]
    assert "pulsus config trust tools.python" in error["hint"]
    assert "PULSUS_TOOLS__PYTHON" in error["hint"]
    (row,) = error["details"]["settings"]
    assert (row["file"], row["line"], row["state"]) == ("config/pulsus.toml", 2, "unapproved")


def test_the_hint_names_the_variable_of_every_setting_that_is_not_approved(tmp_path):
    text = '[sandbox]\nnetwork = ["api.example.org:443"]\nmax_mem_mb = 99999\n'
    done = pulsus_here(setting(tmp_path, text), "gc")
    assert done.code == 4
    assert "PULSUS_SANDBOX__MAX_MEM_MB and PULSUS_SANDBOX__NETWORK instead" in done.err


def test_the_fix_of_a_blocked_pattern_does_not_drop_the_built_in_blocks(tmp_path):
    wrong = pulsus_here(setting(tmp_path, '[policy]\nblock = ["kexec", "dmesg | head"]\n'), "gc")
    fix = 'block = ["@default", "kexec", "dmesg"]'
    assert wrong.code == 2
    assert f"belongs to the shell. Write: {fix}\n" in wrong.err
    followed = pulsus_here(setting(tmp_path, f"[policy]\n{fix}\n"), "gc")
    assert followed.code == 0, followed.err


def test_a_block_list_without_the_built_in_one_is_told_how_to_keep_it(tmp_path):
    keep = 'replaces the built-in list: add "@default" to keep it'
    alone = pulsus_here(setting(tmp_path, '[policy]\nblock = ["dmesg"]\n'), "gc")
    assert alone.code == 4
    assert f"hint: it {keep}, or approve it with `pulsus config trust policy.block`" in alone.err
    text = '[policy]\nblock = ["dmesg"]\negress = "allow"\n'
    several = pulsus_here(setting(tmp_path, text), "gc")
    assert f"hint: policy.block {keep}; `pulsus config trust policy.block" in several.err


def test_a_misspelt_setting_is_not_revoked_without_a_word(tmp_path):
    setting(tmp_path, "")
    done = pulsus_here(tmp_path, "config", "trust", "--revoke", "sandbox.networ")
    assert done.code == 2
    assert "nothing is approved under that name" in done.err
    assert "did you mean sandbox.network" in done.err
    known = pulsus_here(tmp_path, "config", "trust", "--revoke", "sandbox.network")
    assert (known.code, known.out) == (0, "sandbox.network had no approval here\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_approval_is_revoked_if_another_key_is_misspelt(tmp_path, form):
    folder = setting(tmp_path, "[compose]\nmax_steps = 40\n")
    trust(folder)
    revoke = ["config", "trust", "--revoke", "compose.max_steps"]
    done = pulsus_here(folder, *revoke, "--revoke", "nosuch.key", "--output", form)
    assert done.code == 2
    kept = pulsus_here(folder, *revoke, "--output", "json")
    assert kept.json["revoked"] == ["compose.max_steps"]


@pytest.mark.parametrize("named", ["~nosuchuser/bin/python", f"{'x' * 300}/bin/python"])
@pytest.mark.parametrize("args", [["gc"], ["config", "trust", "tools.python"]], ids=" ".join)
def test_no_name_of_a_program_stops_the_question_with_a_traceback(tmp_path, args, named):
    setting(tmp_path, f"[tools]\npython = {json.dumps(named)}\n")
    assert pulsus_here(tmp_path, *args).code == 4
    (asked,) = bootstrap.inspect(tmp_path, {"cache_enabled": False}).standings
    told = list(config_trust_command._program_lines(tmp_path, asked))
    assert told == ["this file does not exist yet"]


@pytest.mark.parametrize("named", ["~nosuchuser/bin/python", f"{'x' * 300}/bin/python"])
def test_a_program_that_cannot_exist_is_a_settings_error_and_no_traceback(tmp_path, named):
    named_by = {"PULSUS_TOOLS__PYTHON": named}
    folder = make(tmp_path / "project", warm=False)
    done = pulsus_here(
        folder, "validate", "workflows/domains/text", "--output", "json", env=named_by
    )
    assert (done.code, done.json["error"]["code"]) == (2, "CONFIG_INVALID")


def test_a_nul_in_a_setting_is_refused_without_a_traceback(tmp_path):
    setting(tmp_path, '[tools]\npython = "a\\u0000b"\n')
    done = pulsus_here(tmp_path, "gc")
    assert done.code == 2
    assert "error[CONFIG_INVALID]: setting tools.python" in done.err
    assert "a NUL character is not allowed" in done.err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# note\n[compose]\n\nmax_steps = 0\n", 4),
        ("\nranker.weights.doc = -1\n", 2),
        ('[access]\nallow = []\nkinds = ["read", "x"]\n', 3),
        ('\naccess = "x"\n', 2),
        ('[tools]\npython = "a\\u0000b"\n', 2),
        ('[policy]\nallow = ["@read"]\nblock = ["@default", "a | b"]\n', 3),
        ('[policy]\nallow = ["@read"]\ntarget_block = {x = ["a | b"]}\n', 1),
        ("[policy]\nhigh_seconds = 5.0\nlow_seconds = 9.0\n", 3),
        ("\n[ranker]\nweights = {name = 0, doc = 0, history = 0}\n", 2),
    ],
    ids=lambda each: str(each)[-24:],
)
def test_a_wrong_value_in_a_file_is_found_without_a_search(tmp_path, text, line):
    done = pulsus_here(setting(tmp_path, text), "gc")
    assert done.code == 2
    assert f"  hint: correct it in config/pulsus.toml:{line}\n" in done.err


def test_a_wrong_value_in_pyproject_is_told_with_its_line(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.pulsus.compose]\nmax_steps = 0\n")
    assert "correct it in pyproject.toml:2\n" in pulsus_here(tmp_path, "gc").err


def test_a_wrong_variable_is_not_blamed_on_the_settings_file(tmp_path):
    folder = setting(tmp_path, '[policy]\nallow = ["@read"]\n')
    given = {"PULSUS_POLICY__BLOCK": '["@default", "a | b"]'}
    assert "correct it in PULSUS_POLICY__BLOCK\n" in pulsus_here(folder, "gc", env=given).err


def test_validating_one_file_as_editors_do_stops_too(unapproved):
    done = pulsus_here(unapproved, "validate", "workflows/domains/text/count/count_words.py")
    assert done.code == 4
    assert "CONFIG_UNTRUSTED" in done.err


@pytest.mark.parametrize(("args", "code"), WORKING, ids=lambda v: str(v))
def test_a_report_works_without_approval(unapproved, args, code):
    assert pulsus_here(unapproved, *args).code == code


def test_every_command_whose_help_has_no_exit_status_for_unapproved_settings_was_tried():
    tried = {" ".join(word for word in args if word.isalpha()) for args, _ in WORKING}
    assert tried >= WITHOUT_APPROVED_SETTINGS


@pytest.mark.seconds
def test_every_report_names_an_unapproved_value(unapproved):
    shown = pulsus_here(unapproved, "config", "show", "tools")
    assert "NOT APPROVED" in shown.out
    rows = pulsus_here(unapproved, "config", "show", "tools", "--output", "json").json["settings"]
    assert rows == [
        {
            "key": "tools.python",
            "value": "evil/bin/python",
            "origin": "config/pulsus.toml",
            "trust": "unapproved",
        }
    ]
    checks = pulsus_here(unapproved, "doctor", "--output", "json").json["checks"]
    (check,) = [c for c in checks if c["name"] == "settings"]
    assert not check["ok"]
    assert "tools.python" in check["found"]
    audited = pulsus_here(unapproved, "audit", "--output", "json").json
    (finding,) = [f for f in audited["findings"] if f["code"] == "SETTING_UNAPPROVED"]
    assert (finding["path"], finding["line"]) == ("config/pulsus.toml", 2)
    assert finding["level"] == "error"


def test_an_approved_value_is_used_and_reports_say_so(tmp_path):
    folder = setting(make(tmp_path / "project", warm=False), "[compose]\nmax_steps = 9\n")
    trust(folder)
    assert pulsus_here(folder, "route", COUNT, "--plan").code == 0
    assert "approved" in pulsus_here(folder, "config", "show", "compose").out
    audited = pulsus_here(folder, "audit", "--output", "json")
    assert audited.code == 0
    assert "SETTING_APPROVED" in [f["code"] for f in audited.json["findings"]]
    revoked = pulsus_here(folder, "config", "trust", "--revoke", "compose.max_steps")
    assert (revoked.code, revoked.out) == (0, "revoked compose.max_steps\n")
    assert pulsus_here(folder, "route", COUNT, "--plan").code == 4


@pytest.mark.parametrize("options", [[], ["--non-interactive"]])
def test_without_a_terminal_nothing_is_approved(unapproved, options):
    done = pulsus_here(unapproved, "config", "trust", "tools.python", *options)
    assert done.code == 4
    assert "error[APPROVAL_REQUIRED]: tools.python (config/pulsus.toml:2)" in done.err
    assert pulsus_here(unapproved, "tools", "list").code == 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "one of KEY, --all, --list and --revoke KEY is needed"),
        (["tools.python", "--list"], "one of KEY"),
        (["tools.pyton"], "there is no setting 'tools.pyton'"),
    ],
)
def test_a_mistake_in_the_call_is_a_usage_error(unapproved, args, message):
    done = pulsus_here(unapproved, "config", "trust", *args)
    assert done.code == 2
    assert message in done.err


def test_approving_a_setting_that_needs_no_approval_succeeds(unapproved):
    done = pulsus_here(unapproved, "config", "trust", "model.name")
    assert (done.code, done.out) == (0, "nothing to approve\n")


def test_an_unapproved_table_of_the_project_judges_nothing(tmp_path):
    folder = make(tmp_path / "project", "tables", warm=False)
    (folder / "config/commands/rm.yaml").write_text(
        "program: rm\nsource: ours\nsummary: lists\nflags: -r -f\noperands: [[path*]]\n"
        "examples: {allowed: [rm x], refused: [rm -z]}\n"
    )
    for command in ("sh -c 'rm x'", "xargs rm < /dev/null", "acme list"):
        done = pulsus_here(folder, "commands", "classify", command, "--output", "json")
        assert (done.code, done.json["allow"]) == (6, False), command
    done = pulsus_here(folder, "commands", "classify", "rm -rf x", "--output", "json")
    assert (done.code, done.json["allow"]) == (6, False)
    assert "pulsus config trust config/commands" in done.json["reason"]
    assert pulsus_here(folder, "commands", "classify", "df -h").code == 0
    checked = pulsus_here(folder, "commands", "check", "config/commands/acme.yaml")
    assert checked.code == 0, checked.out
    trust(folder)
    assert pulsus_here(folder, "commands", "classify", "acme list -n 3").code == 0
    (folder / "config/commands/new.yaml").write_text("program: new\n")
    assert pulsus_here(folder, "commands", "classify", "acme list -n 3").code == 6


def test_an_unapproved_table_is_not_listed_like_one_in_use(tmp_path):
    folder = make(tmp_path / "project", "tables", warm=False)
    listed = pulsus_here(folder, "commands", "list", "acme")
    assert "project, not approved" in listed.out
    assert "(project, not approved: " in pulsus_here(folder, "commands", "show", "acme").out
    checked = pulsus_here(folder, "commands", "check")
    assert "not in use: config/commands/acme.yaml" in checked.err
    trust(folder)
    assert "not approved" not in pulsus_here(folder, "commands", "list", "acme").out
    assert "not in use" not in pulsus_here(folder, "commands", "check").err


@pytest.mark.parametrize(
    "text",
    ['network = ["127.0.0.1:8080"]', 'tool_network = {"text/count/count_words" = ["10.0.0.1:80"]}'],
)
def test_a_local_address_is_refused_before_anyone_is_asked_to_approve_it(tmp_path, text):
    folder = setting(make(tmp_path / "project", warm=False), f"[sandbox]\n{text}\n")
    for words in (["--all"], [f"sandbox.{text.partition(' ')[0]}"]):
        done = pulsus_here(folder, "config", "trust", *words)
        assert done.code == 2, done.err
        assert "hosts of the public internet only" in done.err
        assert "approval at a terminal" not in done.err


def test_a_secret_in_a_value_is_neither_printed_nor_recorded(tmp_path):
    text = '[model]\nbase_url = "https://me:hunter2hunter2@models.example/v1"\n'
    folder = setting(make(tmp_path / "project", warm=False), text)
    done = pulsus_here(folder, "tools", "list", "--output", "json")
    listed = pulsus_here(folder, "config", "trust", "--list", "--output", "json")
    assert "hunter2" not in done.out + done.err + listed.out


def talk(folder, args, *answers):
    """Exit status and everything shown, after answering each prompt in turn."""
    pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    child = pexpect.spawn(
        str(PULSUS),
        args,
        cwd=str(folder),
        env={**clean, "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 200),
    )
    shown = ""
    for prompt, answer in answers:
        child.expect_exact(prompt)
        shown += child.before + prompt
        child.send(answer)
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, shown + child.before


@pytest.mark.seconds
@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_at_a_terminal_old_and_new_value_are_shown_before_the_question(tmp_path):
    folder = setting(
        make(tmp_path / "project", warm=False), '[policy]\nallow = ["@read", "rm *"]\n'
    )
    code, shown = talk(folder, ["config", "trust", "policy.allow"], ("[y/N]", "n\n"))
    assert code == 4
    assert "policy.allow in config/pulsus.toml:2 of" in shown
    assert 'old: ["@read"] (default)' in shown
    assert 'new: ["@read", "rm *"]' in shown
    assert 'added: "rm *"' in shown
    assert UserState.of(folder).read("trust.json") is None or "rm *" not in str(
        UserState.of(folder).read("trust.json")
    )
    code, shown = talk(folder, ["config", "trust", "--all"], ("[y/N]", "y\n"))
    assert (code, "approved policy.allow for" in shown) == (0, True)
    record = json.loads(UserState.of(folder).read("trust.json") or b"")["approvals"][-1]
    assert (record["project"], record["key"], record["value"]) == (
        *(str(folder.resolve()), "policy.allow"),
        ["@read", "rm *"],
    )
    setting(folder, '[policy]\nallow = ["@read", "rm -r *"]\n')
    code, shown = talk(folder, ["config", "trust", "policy.allow"], ("[y/N]", "\x04"))
    assert code == 4
    assert 'old: ["@read", "rm *"] (approved)' in shown


@pytest.mark.seconds
@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_a_replaced_interpreter_and_one_that_does_not_exist_are_named_in_the_question(tmp_path):
    folder = setting(make(tmp_path / "project", warm=False), PYTHON)
    asked = ["config", "trust", "tools.python"]
    code, shown = talk(folder, asked, ("[y/N]", "y\n"))
    assert code == 0
    shown = " ".join(shown.split())  # long paths fold its lines elsewhere
    assert "this file does not exist yet" in shown
    assert "made or replaced" not in shown
    program = folder / "evil/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text("other\n", encoding="utf-8")
    code, shown = talk(folder, asked, ("[y/N]", "n\n"))
    assert code == 4
    shown = " ".join(shown.split())
    assert "does not exist" not in shown
    assert (
        "changed: the program, or the pyvenv.cfg of its environment, was made or replaced since 2"
        in shown
    )
