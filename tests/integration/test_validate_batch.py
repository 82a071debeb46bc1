"""`pulsus validate` over many modules, from outside."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import psutil
import pytest
import yaml

from tests.benchmarks.validate_modules import module, write
from tests.candidates import DOCUMENTED
from tests.libraries import lend
from tests.patience import PATIENCE_SECONDS
from tests.project import PULSUS, make, pulsus, pulsus_here
from tests.sandboxes import need_sandbox

ROOT = Path(__file__).parents[2]
WRONG = DOCUMENTED.replace('"value": 2 * value', '"value": "text"')

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture(autouse=True)
def sandbox():
    need_sandbox()


@pytest.fixture
def many(tmp_path):
    """Good modules, two of one name, one that each step refuses."""
    folder = make(tmp_path / "project")
    place = folder / "mine"
    (place / "sub").mkdir(parents=True)
    sources = {
        "double.py": DOCUMENTED,
        "sub/double.py": DOCUMENTED.replace("Double", "Again double"),
        "gate.py": DOCUMENTED.replace("2 * value", "eval('1')"),
        "lint.py": DOCUMENTED.replace("2 * value", "2 * valeu"),
        "types.py": WRONG,
        "sub/types.py": WRONG,
        "loads.py": DOCUMENTED.replace('"""\n\n\ndef', '"""\n\n_X = int("x")\n\n\ndef'),
        "runs.py": DOCUMENTED.replace("2 * value", "3 * value"),
        "_skipped.py": "no module at all",
    }
    for name, text in sources.items():
        (place / name).write_text(text, encoding="utf-8")
    return folder


def verdicts(done):
    return {m["path"]: (m["status"], m["steps"][-1]["step"]) for m in done.json["modules"]}


EXPECTED = {
    "mine/double.py": ("accepted", "dry-run"),
    "mine/gate.py": ("refused", "static"),
    "mine/lint.py": ("refused", "ruff"),
    "mine/loads.py": ("refused", "import"),
    "mine/runs.py": ("refused", "dry-run"),
    "mine/sub/double.py": ("accepted", "dry-run"),
    "mine/sub/types.py": ("refused", "mypy"),
    "mine/types.py": ("refused", "mypy"),
}


def test_verdicts_do_not_depend_on_the_batch_and_follow_the_order_of_paths(many):
    done = pulsus_here(many, "validate", "mine", "--output", "json")
    assert done.code == 3
    assert verdicts(done) == EXPECTED
    assert list(verdicts(done)) == sorted(EXPECTED)
    logs = [m["artifacts"][-1] for m in done.json["modules"]]
    assert len(set(logs)) == len(logs)
    for found in done.json["modules"]:
        for artifact in found["artifacts"]:
            assert found["sha256"] in (many / artifact).read_text(encoding="utf-8")


def test_a_module_named_twice_is_validated_once(many):
    twice = ("mine/double.py", "mine/../mine/double.py")
    done = pulsus_here(many, "validate", *twice, "--output", "json")
    assert verdicts(done) == {"mine/double.py": ("accepted", "dry-run")}


@pytest.mark.seconds
def test_a_file_that_cannot_be_read_is_refused_beside_the_reports_of_the_others(many):
    for name, target in (("a9.py", "nothing"), ("loop.py", "loop.py")):
        (many / "mine" / name).symlink_to(target)
    os.mkfifo(many / "mine" / "pipe.py")
    for _ in range(2):  # the second time the verdicts on the others are cached
        done = pulsus_here(many, "validate", "mine", "--output", "json")
        assert done.code == 3
        found = {m["path"]: m["summary"] for m in done.json["modules"]}
        assert found.keys() == {*EXPECTED, "mine/a9.py", "mine/loop.py", "mine/pipe.py"}
        assert found["mine/a9.py"] == "static: is a link to nothing (LINK_BROKEN)"
        assert found["mine/loop.py"].endswith("(LINK_LOOP)")
        assert found["mine/pipe.py"] == "static: is a pipe, not a file (NOT_A_FILE)"
    assert pulsus_here(many, "validate", "mine/a9.py").code == 2
    named = pulsus_here(many, "validate", "mine/pipe.py")
    assert (named.code, named.out) == (2, "")


def test_a_module_behind_a_link_out_of_the_folder_is_refused_with_its_own_path(many, tmp_path):
    (tmp_path / "outside.py").write_text(DOCUMENTED, encoding="utf-8")
    (many / "mine" / "out.py").symlink_to(tmp_path / "outside.py")
    (many / "mine" / "same.py").symlink_to("double.py")
    done = pulsus_here(many, "validate", "mine", "--output", "json")
    assert verdicts(done) == {**EXPECTED, "mine/out.py": ("refused", "static")}
    (found,) = (one for one in done.json["modules"] if one["path"] == "mine/out.py")
    assert found["summary"] == "static: is a link out of the validated folder (LINK_OUTSIDE)"
    named = pulsus_here(many, "validate", "mine/out.py")
    assert named.code == 0, "a link that is named itself is validated"


def test_a_link_to_another_tool_of_the_catalogue_is_validated(many):
    for domain in ("one", "two"):
        (many / "workflows/domains" / domain / "double").mkdir(parents=True)
    real = "workflows/domains/one/double/twice.py"
    (many / real).write_text(DOCUMENTED, encoding="utf-8")
    (many / "workflows/domains/two/double/twice.py").symlink_to(many / real)
    done = pulsus_here(many, "validate", "workflows/domains/two", "--output", "json")
    assert verdicts(done) == {real: ("accepted", "dry-run")}


def test_a_second_run_reuses_certain_verdicts_and_repeats_the_others(many):
    pulsus_here(many, "validate", "mine")
    again = pulsus_here(many, "validate", "mine", "--output", "json")
    assert verdicts(again) == EXPECTED
    fresh = {m["path"] for m in again.json["modules"] if not m["cached"]}
    assert fresh == {"mine/loads.py", "mine/runs.py"}
    none = pulsus_here(many, "validate", "mine", "--no-cache", "--output", "json")
    assert verdicts(none) == EXPECTED
    assert not any(m["cached"] for m in none.json["modules"])


def test_promotion_does_not_use_a_cached_verdict(many):
    pulsus_here(many, "validate", "mine/double.py")
    file = many / "mine" / "double.py"
    target = ("--domain", "math", "--action", "double", "--yes", "--output", "json")
    logs = many / "logs" / "validation"
    shutil.rmtree(logs)
    done = pulsus_here(many, "promote", file, *target)
    assert done.code == 0, done.err
    assert done.json["validation"]["steps"][-1]["step"] == "dry-run"
    assert list(logs.rglob("double-dry-run.log"))


def git(folder, *args):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True, timeout=30)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_only_what_changed_since_a_revision_is_validated(many):
    git(many, "init", "-q")
    git(many, "add", "mine")
    git(many, "commit", "-qm", "work")
    none = pulsus_here(many, "validate", "mine", "--changed-since", "HEAD")
    assert (none.code, none.out) == (0, "no module to validate\n")
    (many / "mine/new.py").write_text(DOCUMENTED, encoding="utf-8")
    (many / "mine/double.py").write_text(WRONG, encoding="utf-8")
    done = pulsus_here(many, "validate", "mine", "--changed-since", "HEAD", "--output", "json")
    assert verdicts(done) == {
        "mine/double.py": ("refused", "mypy"),
        "mine/new.py": ("accepted", "dry-run"),
    }
    nope = ("--changed-since", "nope", "--output", "json")
    bad = pulsus_here(many, "validate", "mine", *nope)
    assert (bad.code, bad.json["error"]["code"]) == (2, "USAGE")


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_folder_without_git_gets_no_advice_about_revisions(tmp_path):
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "validate", "workflows", "--changed-since", "HEAD")
    assert (done.code, done.out) == (2, "")
    assert "leave out --changed-since, or run `git init` and commit first" in done.err


@pytest.mark.seconds
@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_folder_of_candidates_is_not_refused_for_the_tests_that_pulsus_wrote(many):
    tmp = many / "workflows/_tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    test = "def test_it() -> None:\n    assert True\n"
    for folder in (tmp, many / "mine/sub"):
        (folder / "test_double.py").write_text(test)
    (tmp / "double.py").write_text(DOCUMENTED)
    (tmp / "test_alone.py").write_text(DOCUMENTED)
    (many / ".gitignore").write_text("workflows/_tmp/\n")
    subprocess.run(["git", "init", "-q", many], check=True, timeout=30)
    found = pulsus_here(many, "validate", tmp, "--output", "json")
    assert [Path(one["path"]).name for one in found.json["modules"]] == [
        "double.py",
        "test_alone.py",
    ]
    assert found.code == 0, found.out
    assert not any(one["warnings"] for one in found.json["modules"]), "git need not have candidates"
    named = pulsus_here(many, "validate", tmp / "test_double.py", "--output", "json")
    assert named.code == 3, "a test that is named is validated"
    other = pulsus_here(many, "validate", "mine/sub", "--output", "json")
    assert "test_double.py" in {Path(one["path"]).name for one in other.json["modules"]}


TEST = """\
import pytest

from double import main


def test_it():
    assert main(1)
"""


def test_a_test_is_not_refused_after_its_candidate_was_promoted(many):
    """`promote` moves the module and leaves the test, with the call of the script under test."""
    tmp = many / "workflows/_tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    (tmp / "test_double.py").write_text(TEST, encoding="utf-8")
    alone = pulsus_here(many, "validate", tmp)
    assert (alone.code, alone.out) == (0, "no module to validate\n")
    assert f"{tmp}: 1 test left out, because a test is not a tool" in alone.err
    assert pulsus_here(many, "validate", tmp, "--quiet").err == ""
    (tmp / "other.py").write_text(DOCUMENTED, encoding="utf-8")
    found = pulsus_here(many, "validate", tmp, "--output", "json")
    assert verdicts(found) == {"workflows/_tmp/other.py": ("accepted", "dry-run")}
    (tmp / "test_double.py").unlink()
    (tmp / "other.py").unlink()
    empty = pulsus_here(many, "validate", tmp)
    assert (empty.code, "holds no module" in empty.err) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        "def test_it():\n    pass\n\n\ndef run():\n    pass\n",
        "def test_it():\n    pass\n\n\nasync def main():\n    pass\n",
        "def test_it():\n    pass\n\n\nrun = test_it\n",
        "import os\nif os.sep:\n\n    def run():\n        pass\n\n\ndef test_it():\n    pass\n",
        "def no_test():\n    pass\n",
        "def test_it(:\n",
    ],
)
def test_a_tool_does_not_escape_validation_by_the_name_of_a_test(many, text):
    tmp = many / "workflows/_tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    for name in ("double.py", "test_double.py", "test_alone.py"):
        (tmp / name).write_text(text if "test" in name else DOCUMENTED, encoding="utf-8")
    found = pulsus_here(many, "validate", tmp, "--output", "json")
    refused = {m["path"] for m in found.json["modules"] if m["status"] == "refused"}
    assert refused == {"workflows/_tmp/test_alone.py", "workflows/_tmp/test_double.py"}
    assert found.code == 3


def test_a_changed_step_selects_its_composition(tmp_path):
    folder = make(tmp_path / "project", "requests")
    request = "summarise the matrix then plot it as a bar chart picture"
    assert pulsus_here(folder, "route", request, "--non-interactive").code in (0, 4)
    modules = (folder / "workflows").rglob("*.py")
    composed = next(p for p in modules if "pulsus.steps" in p.read_text(encoding="utf-8"))
    shutil.copy(composed, folder / "composed.py")
    git(folder, "init", "-q")
    git(folder, "add", "workflows", "composed.py")
    git(folder, "commit", "-qm", "work")
    since = ("composed.py", "--changed-since", "HEAD", "--output", "json")
    assert pulsus_here(folder, "validate", *since).json["modules"] == []
    (step,) = (folder / "workflows").rglob("summarize_matrix.py")
    step.write_text(step.read_text(encoding="utf-8") + "\n# new\n", encoding="utf-8")
    done = pulsus_here(folder, "validate", *since)
    assert verdicts(done) == {"composed.py": ("refused", "static")}
    assert "HASH_MOVED" in done.json["modules"][0]["summary"]


@pytest.mark.seconds
def test_ctrl_c_ends_it_with_every_process(tmp_path):
    folder = make(tmp_path / "project")
    slow = DOCUMENTED.replace("    return", "    import time\n\n    time.sleep(300)\n    return")
    for number in range(6):
        (folder / f"slow{number}.py").write_text(f"{slow}\n# {number}\n", encoding="utf-8")
    running = subprocess.Popen(
        [PULSUS, "validate", *(f"slow{number}.py" for number in range(6))],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    own, until = psutil.Process(running.pid), time.monotonic() + PATIENCE_SECONDS
    seen: set[psutil.Process] = set()
    while time.monotonic() < until and not any("bwrap" in name(p) for p in seen):
        seen |= set(own.children(recursive=True))
        time.sleep(0.05)
    time.sleep(1)
    seen |= set(own.children(recursive=True))
    running.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert running.returncode == 130
    assert b"Traceback" not in err
    time.sleep(0.5)
    assert [p for p in seen if p.is_running() and name(p)] == []


def name(process):
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else process.name()
    except psutil.Error:
        return ""


@pytest.mark.seconds
def test_a_missing_mypy_or_sandbox_is_one_sentence_and_a_failure(many, tmp_path):
    code = """
import sys
from pulsus.core.validators.steps import mypy
if sys.argv[1] == "mypy":
    known = mypy.find_spec
    mypy.find_spec = lambda name: None if name == "mypy" else known(name)
else:
    from pulsus.core.sandbox.isolation import bubblewrap
    bubblewrap.bundled = lambda: []
from pulsus.cli.main import main
main(["validate", "mine/double.py", "--no-cache", "--output", sys.argv[2]])
"""
    stub = tmp_path / "bin" / "bwrap"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    stub.chmod(0o755)
    for what, path, word in (
        ("mypy", os.environ["PATH"], "CHECKER_MISSING"),
        ("bwrap", str(tmp_path), "bwrap"),
        ("bwrap", str(stub.parent), "not verified"),
    ):
        for form in ("json", "github"):
            done = subprocess.run(
                [sys.executable, "-c", code, what, form],
                cwd=many,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 3, done.stderr
            assert word in done.stdout
            if form == "json":
                (found,) = json.loads(done.stdout)["modules"]
                assert (found["status"], found["ok"]) == ("unverified", False)
                assert len(found["summary"].splitlines()) == 1


def test_logs_that_cannot_be_written_stop_it_with_one_sentence(many):
    (many / "logs").write_text("in the way", encoding="utf-8")
    done = pulsus_here(many, "validate", "mine", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "STORAGE_UNWRITABLE")


@pytest.mark.seconds
def test_validate_works_with_an_unwritable_cache(many):
    shutil.rmtree(many / ".pulsus", ignore_errors=True)
    (many / ".pulsus").mkdir()
    (many / ".pulsus" / "cache").write_text("in the way", encoding="utf-8")
    for _ in range(2):
        done = pulsus(many, "validate", "mine/double.py", "--output", "json")
        assert done.code == 0, done.err
        assert not done.json["modules"][0]["cached"]


@pytest.mark.parametrize("name", ["gate.py", "lint.py", "types.py", "runs.py", "double.py"])
def test_the_fast_path_prints_the_same_as_the_full_command(many, name):
    file = f"mine/{name}"
    run = pulsus if name == "gate.py" else pulsus_here  # one as a process of its own
    plain = run(many, "validate", file)
    shutil.rmtree(many / ".pulsus" / "cache" / "validation", ignore_errors=True)
    full = pulsus_here(many, "validate", file, "--output", "text")
    timeless = [
        re.sub(r" +\d+ (ms|MiB)|=[\d.]+s|— [\d.]+s", "", done.out) for done in (plain, full)
    ]
    assert timeless[0] == timeless[1]
    assert (plain.code, plain.err) == (full.code, full.err)
    assert (many / "logs" / "validation").is_dir()


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gate.py", ""),
        ("double.py", ""),
        ("no_such.py", ""),
        ("double.py", "[tool.pulsus]\nvalidation = 3\n"),
    ],
    ids=["refused", "accepted", "missing", "wrong settings"],
)
def test_a_prestarted_mypy_leaves_no_process_and_no_folder(many, tmp_path, name, settings):
    (many / "pyproject.toml").write_text(settings, encoding="utf-8")
    pulsus(many, "validate", f"mine/{name}", env={"TMPDIR": str(tmp_path)})
    assert [p.name for p in tmp_path.glob("pulsus-mypy-*")] == []
    here = [p for p in psutil.process_iter(["cmdline"]) if "mypy.main" in str(p.info["cmdline"])]
    assert [p for p in here if str(tmp_path) in str(p.info["cmdline"])] == []


def test_watch_refuses_json_output(many):
    done = pulsus_here(many, "validate", "mine", "--watch", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


@pytest.mark.seconds
def test_the_modules_of_the_benchmark_are_valid_and_distinct(tmp_path):
    paths = write(tmp_path, 3)
    lend(tmp_path / ".pulsus/cache/mypy")
    assert len({path.read_bytes() for path in paths}) == 3
    shown = module(2).splitlines()
    assert 55 <= len(shown) <= 70
    done = pulsus_here(tmp_path, "validate", "workflows", "--output", "json")
    assert [m["proof"] for m in done.json["modules"]] == ["behaviour"] * 3


ACTION = yaml.safe_load((ROOT / ".github/actions/validate/action.yml").read_text("utf-8"))
BASH = shutil.which("bash")


def act(project, **inputs):
    """Run the action's step as a runner does: inputs become its environment."""
    (step,) = [s for s in ACTION["runs"]["steps"] if s["name"] == "Validate"]
    given = {name: value["default"] for name, value in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    told = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    return subprocess.run(
        [str(BASH), "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=project,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")},
            "PATH": f"{PULSUS.parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
            **told,
        },
        capture_output=True,
        timeout=120,
        check=False,
        text=True,
    )


@pytest.mark.seconds
@pytest.mark.skipif(BASH is None, reason="no bash")
def test_the_action_annotates_writes_its_files_and_fails_for_a_refused_module(many):
    done = act(many, paths="mine", sarif="found.sarif", junit="found.xml")
    assert done.returncode == 3, done.stderr
    assert sum(line.startswith("::error file=mine/") for line in done.stdout.splitlines()) >= 6
    assert "❌" in (many / "summary.md").read_text(encoding="utf-8")
    (run,) = json.loads((many / "found.sarif").read_text("utf-8"))["runs"]
    assert run["results"]
    assert "<testsuites" in (many / "found.xml").read_text(encoding="utf-8")


@pytest.mark.seconds
@pytest.mark.skipif(BASH is None, reason="no bash")
def test_the_action_passes_for_accepted_modules_and_fails_for_a_missing_path(many):
    done = act(many, paths="mine/double.py mine/sub/double.py")
    assert done.returncode == 0, done.stderr
    assert "2 modules: 2 accepted" in (many / "summary.md").read_text(encoding="utf-8")
    assert act(many, paths="nowhere", sarif="x.sarif").returncode == 2


@pytest.mark.seconds
@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize("between", ["\n", " \n\t", "\r\n"], ids=["lines", "blanks", "crlf"])
def test_the_action_validates_every_line_of_paths(many, between):
    # Refused before anything slow is done, and counted all the same.
    (many / "mine/sub/gate.py").write_text((many / "mine/gate.py").read_text("utf-8"), "utf-8")
    done = act(many, paths=f"mine/gate.py{between}mine/sub/gate.py\n")
    assert done.returncode == 3, done.stderr
    assert "2 modules: 2 refused" in (many / "summary.md").read_text(encoding="utf-8")


@pytest.mark.skipif(BASH is None, reason="no bash")
def test_a_path_that_looks_like_an_option_is_not_one(many):
    done = act(many, paths="--no-cache mine/double.py")
    assert done.returncode == 2
    assert "--no-cache" in done.stderr


@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize("name", ["validate", "eval"])
def test_the_actions_install_from_their_own_repository(tmp_path, name):
    text = (ROOT / f".github/actions/{name}/action.yml").read_text("utf-8")
    action = yaml.safe_load(text)
    (step,) = [s for s in action["runs"]["steps"] if s["name"] == "Install"]
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    fake.chmod(0o755)
    place = ROOT / ".github/actions" / name
    done = subprocess.run(
        [str(BASH), "-e", "-c", step["run"]],
        env={
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "INSTALL": action["inputs"]["install"]["default"],
            "GITHUB_ACTION_PATH": str(place),
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    asked = done.stdout.splitlines()
    assert asked[:3] == ["-m", "pip", "install"]
    assert Path(asked[-1]).resolve() == ROOT


def test_every_input_of_the_action_is_used_and_documented():
    text = (ROOT / ".github/actions/validate/action.yml").read_text(encoding="utf-8")
    guide = (ROOT / "docs/guides/validate-in-ci.md").read_text(encoding="utf-8")
    for name, value in ACTION["inputs"].items():
        assert f"inputs.{name}" in text
        assert value["description"]
        assert f"`{name}`" in guide


def test_the_guide_has_a_placeholder_for_the_repository():
    guide = (ROOT / "docs/guides/validate-in-ci.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:uses: |github\.com/)([\w.-]+/pulsus)\b", guide)
    assert named == ["OWNER/pulsus"] * 3
    assert "`OWNER/pulsus`, here and below, stands for the repository" in guide


def test_the_pre_commit_hook_calls_an_existing_command(many):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "pulsus-validate"
    assert hook["require_serial"] is True
    words = hook["entry"].split()
    assert words[0] == "pulsus"
    done = pulsus_here(many, *words[1:], "mine/double.py", "mine/types.py")
    assert done.code == 3


@pytest.mark.seconds
def test_watch_validates_changes_and_ctrl_c_ends_it_with_the_last_verdict(many):
    file = many / "mine" / "double.py"
    file.write_text(WRONG, encoding="utf-8")
    watching = pexpect.spawn(
        str(PULSUS), ["validate", "mine/double.py", "--watch"], cwd=many, timeout=60
    )
    watching.expect("double.py: refused")
    for text, told in ((DOCUMENTED, "accepted"), (WRONG, r"refused \(cached\)")):
        watching.expect("watching 1 file;")
        file.write_text(text, encoding="utf-8")
        watching.expect(f"double.py: {told}")
    watching.expect("watching 1 file;")
    watching.sendintr()
    watching.expect(pexpect.EOF)
    watching.close()
    assert b"Traceback" not in (watching.before or b"")
    assert watching.exitstatus == 3


@pytest.mark.seconds
def test_a_terminal_shows_the_progress(many):
    shown = pexpect.spawn(
        str(PULSUS), ["validate", "--no-cache", "mine/double.py", "mine/runs.py"], cwd=many
    )
    shown.expect(r"\[#+\.+\] 1 of 2 modules run", timeout=60)
    shown.expect(pexpect.EOF, timeout=60)
    shown.close()
    assert shown.exitstatus == 3
