"""Running a promoted tool in a process of its own (contracts, `pulsus run`)."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.core.compose.plans import build_plan, module_source, pins
from pulsus.errors import (
    Aborted,
    HashMoved,
    InputPathUnusable,
    PlanInvalid,
    ToolFailed,
    UsageError,
)
from pulsus.execution import tool_process
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.tool_process import check_hash, environment_without_settings
from pulsus.execution.workers.warm_process import WarmProcess
from pulsus.execution.workers.worker_launch import FreshInterpreter, WorkerLauncher
from tests.compositions import finder, module
from tests.patience import PATIENCE_SECONDS

LAUNCHERS: dict[str, WorkerLauncher] = {"fresh": FreshInterpreter()}


@pytest.fixture(scope="module")
def warm():
    with WarmProcess() as process:
        LAUNCHERS["warm"] = process
        yield


@pytest.fixture(params=["fresh", "warm"], autouse=True)
def way(request, warm):
    """Run every test with both ways to start a worker."""
    LAUNCHERS["now"] = LAUNCHERS[request.param]
    return request.param


def run_tool(*args, **options):
    return tool_process.run_tool(*args, launcher=LAUNCHERS["now"], **options)


def run(text, steps=None, timeout_s=90.0, tool_id="a/b/tool", **inputs):
    options = {key: inputs.pop(key) for key in tuple(inputs) if key.startswith("opt_")}
    tool, source = module(tool_id, text)
    options = {key.removeprefix("opt_"): value for key, value in options.items()}
    return run_tool(tool, source, inputs, steps=steps or {}, timeout_s=timeout_s, **options)


def failure(text, error=ToolFailed, **inputs):
    with pytest.raises(error) as caught:
        run(text, **inputs)
    assert caught.value.hint
    return caught.value


def test_a_tool_gives_its_result_from_another_process():
    done = run(
        '''
        """Say who runs."""

        import os
        import sys


        def run(name: str) -> dict[str, object]:
            print("to stdout")
            print("to stderr", file=sys.stderr)
            return {"name": name, "pid": os.getpid(), "argv": sys.argv}
        ''',
        name="é",
    )
    assert isinstance(done.result, dict)
    assert done.result["name"] == "é"
    assert done.result["pid"] != os.getpid()
    assert done.result["argv"] == ["/workflows/tool.py"]
    assert (done.stdout_tail, done.stderr_tail) == ("to stdout\n", "to stderr\n")
    assert done.duration_ms > 0


def test_arguments_arrive_as_the_signature_wants_them():
    done = run(
        '''
        """Take arguments of every kind."""

        from __future__ import annotations

        from pathlib import Path


        def run(first: int, /, file: Path, *, files: list[Path] | None = None) -> list[str]:
            return [repr(first), type(file).__name__[-4:], str(files and files[0].name)]
        ''',
        first=1,
        file="/x",
        files=["/y/z"],
    )
    assert done.result == ["1", "Path", "z"]


def test_main_gets_every_input_by_name():
    text = '"""Take anything."""\n\n\ndef main(**kwargs):\n    return kwargs\n'
    assert run(text, a=1, b=[None]).result == {"a": 1, "b": [None]}


def test_output_is_passed_on_while_the_tool_runs(tmp_path):
    seen: list[bytes] = []
    first = threading.Event()

    def listen(data):
        seen.append(data)
        first.set()

    text = '''
    """Talk until told to stop."""

    import time
    from pathlib import Path


    def run(stop: Path):
        print("now")
        while not stop.exists():
            time.sleep(0.02)
        return 1
    '''
    stop = tmp_path / "stop"
    options = {"opt_on_output": listen, "stop": str(stop)}
    talker = threading.Thread(target=run, args=(text,), kwargs=options)
    talker.start()
    assert first.wait(PATIENCE_SECONDS)
    assert talker.is_alive()
    stop.touch()
    talker.join(PATIENCE_SECONDS)
    assert b"".join(seen) == b"now\n"


def test_only_the_end_of_long_output_is_stored_without_control_characters():
    text = '"""Shout."""\n\n\ndef run():\n    print("x" * 300_000 + "\\x1b[31mend")\n    return 1\n'
    tail = run(text).stdout_tail
    assert len(tail) < 9000
    assert tail.endswith("x[31mend\n")


def test_changed_bytes_never_run(tmp_path):
    mark = tmp_path / "ran"
    tool, source = module(
        "a/b/c", f'"""Mark."""\nopen({str(mark)!r}, "w")\n\n\ndef run():\n    return 1\n'
    )
    with pytest.raises(HashMoved):
        run_tool(tool, source + b"#", {}, steps={}, timeout_s=90)
    with pytest.raises(HashMoved):
        run_tool(tool, source, {}, steps={"a/b/c": (tool, b"other")}, timeout_s=90)
    assert not mark.exists()
    check_hash(tool, source, tool.sha256)


def test_the_file_on_disk_is_not_read_again(tmp_path):
    tool, source = module("a/b/c", '"""One."""\n\n\ndef run():\n    return 1\n', tmp_path)
    tool.path.write_text('"""Two."""\n\n\ndef run():\n    return 2\n', encoding="utf-8")
    assert run_tool(tool, source, {}, steps={}, timeout_s=90).result == 1


def test_pulsus_settings_do_not_reach_the_tool(monkeypatch):
    monkeypatch.setenv("PULSUS_LLM_API_KEY", "secret")
    monkeypatch.setenv("HARMLESS", "yes")
    text = '"""Read the environment."""\nimport os\n\n\ndef run():\n    return dict(os.environ)\n'
    given = run(text).result
    assert isinstance(given, dict)
    assert given["HARMLESS"] == "yes"
    assert "PULSUS_LLM_API_KEY" not in given
    assert environment_without_settings({"pulsus_x": "1", "A": "2"}) == {"A": "2"}


def test_the_working_directory_cannot_replace_a_library(tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit(9)", encoding="utf-8")
    text = '"""Where."""\nimport os\n\n\ndef run():\n    return os.getcwd()\n'
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert run(text, opt_cwd=tmp_path, opt_env=env).result == str(tmp_path)


def test_a_missing_working_directory_is_a_usage_error(tmp_path):
    text = '"""One."""\n\n\ndef run():\n    return 1\n'
    assert "cannot run in" in str(failure(text, UsageError, opt_cwd=tmp_path / "no"))


def test_stdin_is_empty():
    text = '"""Read."""\nimport sys\n\n\ndef run():\n    return sys.stdin.read()\n'
    assert run(text).result == ""


CRASH = '''
"""Fail."""

from pathlib import Path


def run(how: str):
    if how == "reject":
        raise ValueError(f"how {how!r} is refused: use another")
    if how == "parse":
        int("x")
    if how == "file":
        return Path("/no/such/file").read_text(encoding="utf-8")
    if how == "exit":
        raise SystemExit(0)
    if how == "hard":
        __import__("os")._exit(0)
    if how == "kill":
        __import__("os").kill(__import__("os").getpid(), 9)
    if how == "late":
        __import__("atexit").register(lambda: __import__("os")._exit(3))
    return 1
'''


def test_a_failure_names_the_tools_own_line_and_nothing_of_pulsus():
    error = failure(CRASH, how="file")
    assert "FileNotFoundError" in str(error)
    assert "(/workflows/tool.py:12 in run)" in str(error)
    assert error.details["type"] == "FileNotFoundError"
    assert error.details["line"] == 12
    assert "pulsus/" not in str(error)


def test_a_value_error_of_the_tool_is_about_its_inputs():
    error = failure(CRASH, UsageError, how="reject")
    assert "rejects its inputs: how 'reject' is refused" in str(error)


OPEN = '''
"""Open."""

from pathlib import Path


def run(path: str = "", folder: str = "", paths: list[str] = [], other: str = ""):
    if folder:
        return sorted(p.name for p in Path(folder).iterdir())
    for each in paths:
        Path(each).read_text(encoding="utf-8")
    return Path(other or path).read_text(encoding="utf-8")
'''


def test_a_typo_in_a_path_is_answered_with_the_path_that_exists(tmp_path):
    (tmp_path / "syslog").touch()
    text = '"""Read."""\n\n\ndef run(path: str):\n    return open(path).read()\n'
    error = failure(text, InputPathUnusable, path=str(tmp_path / "sysolg"))
    assert error.hint == f"did you mean {tmp_path}/syslog?"


@pytest.mark.parametrize("given", ["sysolg", "./sysolg", "../{here}/sysolg", "gone/../sysolg"])
@pytest.mark.parametrize("made", ["absolute", "resolve"])
def test_a_relative_path_that_the_tool_makes_absolute_is_an_input_too(
    tmp_path, monkeypatch, given, made
):
    (tmp_path / "syslog").touch()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path)
    text = (
        '"""Read."""\nfrom pathlib import Path\n\n\ndef run(path: str):\n'
        f"    return Path(path).{made}().read_text()\n"
    )
    given = given.format(here=tmp_path.name)
    error = failure(text, InputPathUnusable, path=given)
    assert f"input path={given!r} of a/b/tool: no such file or folder" in error.message
    assert "syslog?" in (error.hint or "")


def test_an_input_is_not_blamed_for_a_file_of_the_same_name_elsewhere():
    text = '"""Read."""\n\n\ndef run(path: str):\n    return open(f"/none/{path}").read()\n'
    assert " failed: " in failure(text, path="a.log").message


EXISTING = '''
"""Refuse to replace."""
import pathlib


def run(path: str{more}):
    if path.endswith(".tmp"):
        pathlib.Path(path).open("x")
    raise FileExistsError(f"{{path}} exists: choose another path")
'''


@pytest.mark.parametrize(
    ("name", "more", "hint"),
    [
        ("a.md", ", overwrite: bool = False", "replace the file with --input overwrite=true"),
        ("a.md", "", "give another path, or move the file away"),
        (".a.md.tmp", "", "a run that was killed may have left this file"),
    ],
)
def test_a_refusal_to_replace_a_file_hints_at_the_input_that_allows_it(tmp_path, name, more, hint):
    """The hint was to look at a line of the tool's code."""
    (tmp_path / name).touch()
    error = failure(EXISTING.format(more=more), path=str(tmp_path / name))
    assert name in str(error)
    assert "FileExistsError" not in str(error)
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("path", "{here}", "it is a folder, and the tool opens it as a file"),
        ("path", "{here}/", "it is a folder, and the tool opens it as a file"),
        ("path", "{here}/none.log", "no such file or folder"),
        ("path", "{here}/./none.log", "no such file or folder"),
        ("folder", "{here}/file", "the tool needs a folder here, or a part of the path is a file"),
        ("path", "{here}/file/x", "the tool needs a folder here, or a part of the path is a file"),
        ("path", "{here}/loop", "its symbolic links form a loop"),
        ("path", "{here}/" + "x" * 300, "a file name cannot be that long"),
    ],
)
def test_a_path_that_cannot_be_opened_is_no_crash_of_the_tool(name, text, reason, tmp_path):
    (tmp_path / "file").write_text("a", encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    given = text.format(here=tmp_path)
    error = failure(OPEN, InputPathUnusable, **{name: given})
    assert error.message.startswith(f"input {name}='{given[:150]}")
    assert error.message.endswith(f" of a/b/tool: {reason}")
    assert error.exit_status == 2
    assert error.details["input"] == name
    assert "Error" not in error.message


def test_the_input_with_the_list_is_named_if_one_of_its_paths_is_missing(tmp_path):
    here = tmp_path / "file"
    here.write_text("a", encoding="utf-8")
    missing = f"{here}.none"
    error = failure(OPEN, InputPathUnusable, paths=[str(here), missing])
    assert f"input paths={missing!r} of a/b/tool: no such file or folder" in error.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every file")
def test_a_path_without_permission_is_no_crash_of_the_tool(tmp_path):
    closed = tmp_path / "closed"
    closed.touch(mode=0)
    error = failure(OPEN, InputPathUnusable, path=str(closed))
    assert "no permission to open it" in error.message


@pytest.mark.parametrize(
    "error",
    [
        "PermissionError(13, 'no', path)",
        "PermissionError(1, 'no', path)",
        "FileNotFoundError(2, 'no', path.rpartition('/')[0])",
    ],
)
def test_the_path_is_blamed_for_every_error_that_names_it(error):
    text = f'"""Open."""\n\n\ndef run(path: str):\n    raise {error}\n'
    assert failure(text, InputPathUnusable, path="/a/b").details["input"] == "path"


@pytest.mark.parametrize(
    "error",
    [
        "FileNotFoundError(2, 'no', path + '.old')",
        "PermissionError(13, 'no', path.rpartition('/')[0])",
        "OSError(28, 'no space left', path)",
        "OSError('no', path)",
        "FileNotFoundError(2, 'no', path.encode())",
        "FileNotFoundError(path)",
    ],
)
def test_no_input_is_blamed_for_an_error_of_something_else(error):
    text = f'"""Open."""\n\n\ndef run(path: str):\n    raise {error}\n'
    assert " failed: " in failure(text, path="/a/b").message


def test_an_empty_input_is_not_blamed_for_the_working_folder():
    text = '"""Open."""\n\n\ndef run(path: str):\n    return open(path or ".").read()\n'
    assert "IsADirectoryError" in failure(text, path="").message


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("exit", "SystemExit"),
        ("hard", "status 0 and no result"),
        ("kill", "signal SIGKILL and no result"),
        ("late", "gave a result and then ended with status 3"),
    ],
)
def test_an_exit_status_alone_never_means_success(how, words):
    assert words in str(failure(CRASH, how=how))


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ("float('nan')", "result is nan"),
        ("{'a': [float('inf')]}", "result['a'][0]"),
        ("{1: 2}", "key of type int"),
        ("{'a': object()}", "result['a'] is a object"),
        ("{1, 2}", "a set"),
        ("b'x'", "a bytes"),
    ],
)
def test_a_result_that_is_not_json_is_a_failure_saying_where(value, where):
    assert where in str(failure(f'"""Give."""\n\n\ndef run():\n    return {value}\n'))


def test_a_result_without_end_is_a_failure():
    text = '"""Give."""\n\n\ndef run():\n    a = []\n    a.append(a)\n    return a\n'
    assert "nested" in str(failure(text))


def test_a_result_that_is_too_large_is_a_failure():
    text = '"""Give."""\n\n\ndef run():\n    return "x" * 2000\n'
    assert "the limit is 1000" in str(failure(text, opt_max_result_bytes=1000))


def test_inputs_and_results_may_be_large():
    text = '"""Give back."""\n\n\ndef run(x: str):\n    return x\n'
    big = "é" * 1_000_000
    assert run(text, x=big).result == big


def test_a_module_that_does_not_load_is_a_failure_with_its_line():
    tool, source = module(
        "a/b/c", '"""Load."""\n\nimport nothing_like_it\n\n\ndef run():\n    return 1\n'
    )
    with pytest.raises(ToolFailed, match=r"ModuleNotFoundError.*c\.py:3"):
        run_tool(tool, source, {}, steps={}, timeout_s=90)


def gone(pid):
    """Return True if the process ended; a zombie counts as ended."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")")[1].split()[0] == "Z"
        )
    except FileNotFoundError:
        return True


def wait_until_gone(file):
    pid = int(file.read_text(encoding="utf-8"))
    for _ in range(100):
        if gone(pid):
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError(f"process {pid} outlived its tool")


@contextmanager
def done_once_written(mark, action):
    """Call `action` once a tool has written the file `mark`, and never after the block."""
    ended = threading.Event()

    def watch():
        latest = time.monotonic() + PATIENCE_SECONDS
        while not ended.wait(0.02) and time.monotonic() < latest:
            if mark.exists() and mark.stat().st_size:
                action()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join(PATIENCE_SECONDS)


CHILDREN = '''
"""Start a process and {then}."""

import subprocess
import time
from pathlib import Path


def run(file: str):
    child = subprocess.Popen(["sleep", "300"])
    Path(file).write_text(str(child.pid), encoding="utf-8")
    {then}
    return 1
'''


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_a_tool_that_hangs_is_ended_with_its_children(tmp_path):
    started = time.monotonic()
    text = CHILDREN.format(then="time.sleep(300)")
    error = failure(text, file=str(tmp_path / "pid"), timeout_s=1.5)
    assert "still running after 1.5 s" in str(error)
    assert error.details["timed_out"] is True
    assert time.monotonic() - started < PATIENCE_SECONDS
    wait_until_gone(tmp_path / "pid")


def test_a_tool_whose_time_is_up_removes_its_temporary_file(tmp_path):
    text = '''
    """Wait."""

    import os
    import time
    from pathlib import Path


    def run(folder: str):
        try:
            Path(folder, "part.tmp").touch()
            if os.fork() == 0:
                os.kill(os.getpid(), 15)
            Path(folder, "seen").write_text(str(os.wait()[1]) + str(os.listdir(folder)))
            time.sleep(300)
        finally:
            Path(folder, "part.tmp").unlink()
            Path(folder, "tidied").open("a").write("once")
    '''
    assert "still running" in str(failure(text, folder=str(tmp_path), timeout_s=1.5))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["seen", "tidied"]
    assert (tmp_path / "tidied").read_text("utf-8") == "once"
    assert (tmp_path / "seen").read_text("utf-8") == "15['part.tmp']"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_a_leftover_process_does_not_delay_the_run_and_is_ended(tmp_path):
    started = time.monotonic()
    assert run(CHILDREN.format(then="pass"), file=str(tmp_path / "pid")).result == 1
    assert time.monotonic() - started < PATIENCE_SECONDS
    wait_until_gone(tmp_path / "pid")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_a_cancelled_tool_is_ended_with_its_children(tmp_path):
    cancellation = Cancellation()
    started, file = time.monotonic(), tmp_path / "pid"
    text = CHILDREN.format(then="time.sleep(300)")
    with done_once_written(file, lambda: cancellation.cancel("SIGINT")):
        error = failure(text, Aborted, file=str(file), opt_cancellation=cancellation)
    assert "SIGINT ended a/b/tool" in str(error)
    assert time.monotonic() - started < PATIENCE_SECONDS
    wait_until_gone(tmp_path / "pid")
    cancellation.close()


@pytest.mark.parametrize(
    ("kind", "told"), [("read", "it only reads"), ("write", "it may have changed something")]
)
def test_ctrl_c_says_whether_the_tool_may_have_changed_something(kind, told, tmp_path):
    tool, source = module("a/b/tool", CHILDREN.format(then="time.sleep(300)"))
    mark = tmp_path / "pid"
    press = done_once_written(mark, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt) as pressed, press:
        run_tool(replace(tool, kind=kind), source, {"file": str(mark)}, steps={}, timeout_s=90.0)
    (note,) = pressed.value.__notes__
    assert note.startswith(f"a/b/tool was ended; {told}")


def test_a_tool_that_is_cancelled_before_it_starts_gives_no_result():
    cancellation = Cancellation()
    cancellation.cancel("SIGTERM")
    text = '"""Wait."""\nimport time\n\n\ndef run():\n    time.sleep(300)\n'
    failure(text, Aborted, opt_cancellation=cancellation)
    cancellation.close()


def test_a_tool_that_ignores_signals_and_floods_its_output_is_ended():
    text = '''
    """Flood."""

    import signal


    def run():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            print("x" * 10_000)
    '''
    assert "still running" in str(failure(text, timeout_s=1.0))


def test_a_forked_copy_of_the_tool_sends_no_report():
    text = '''
    """Fork."""

    import os


    def run():
        if os.fork() == 0:
            return "child"
        os.wait()
        return "parent"
    '''
    assert run(text).result == "parent"


ROWS = '''
"""Give rows.

Returns:
    rows (list[dict[str, Any]]): The rows.
"""

from pathlib import Path
from typing import Any


def run(start: Path) -> dict[str, Any]:
    return {"rows": [{"n": len(start.parts), "t": (1, 2)}]}
'''
COUNT = '''
"""Count rows.

Returns:
    count (int): How many.
"""

from typing import Any


def run(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if rows[0]["n"] > 3:
        raise ValueError("too deep")
    return {"count": len(rows), "t": rows[0]["t"]}
'''
FIRST, SECOND = module("a/b/rows", ROWS), module("a/b/count", COUNT)


def compose(*pairs, tool_id="c/d/both"):
    tools = [tool for tool, _ in pairs]
    tool, source = module(
        tool_id, module_source.render_module(build_plan.compose_plan("", tools), tools)
    )
    known = dict(pairs)
    read = {tool.path: source for tool, source in pairs}
    return tool, source, pins.collect_step_sources(source, finder(*known), lambda path: read[path])


def test_a_composed_tool_runs_its_steps_from_the_pinned_bytes():
    tool, source, steps = compose(FIRST, SECOND)
    assert run_tool(tool, source, {"start": "/a"}, steps=steps, timeout_s=90).result == {"count": 1}


def test_a_failing_step_is_named_and_its_value_error_is_not_the_users():
    tool, source, steps = compose(FIRST, SECOND)
    with pytest.raises(ToolFailed) as caught:
        run_tool(tool, source, {"start": "/a/b/c"}, steps=steps, timeout_s=90)
    assert "in its step a/b/count: ValueError: too deep" in str(caught.value)
    assert caught.value.details["tool"] == "c/d/both"


def test_an_input_rejected_by_the_first_step_is_a_usage_error():
    picky = module("a/b/rows", ROWS.replace("    return", "    raise ValueError('no')\n    return"))
    tool, source, steps = compose(picky, SECOND)
    with pytest.raises(UsageError, match="rejects its inputs in its step a/b/rows: no"):
        run_tool(tool, source, {"start": "/"}, steps=steps, timeout_s=90)


def test_a_path_that_the_first_step_cannot_open_is_a_usage_error():
    text = ROWS.replace("    return", "    open(start)\n    return")
    tool, source, steps = compose(module("a/b/rows", text), SECOND)
    words = r"input start='/no/such' of c/d/both in its step a/b/rows: no such file"
    with pytest.raises(InputPathUnusable, match=words):
        run_tool(tool, source, {"start": "/no/such"}, steps=steps, timeout_s=90)


def test_compositions_of_compositions_run():
    tool, source, steps = compose(FIRST, SECOND)
    outer, text = module(
        "c/d/outer", module_source.render_module(build_plan.compose_plan("", [tool]), [tool])
    )
    every = {**steps, tool.id: (tool, source)}
    assert run_tool(outer, text, {"start": "/a"}, steps=every, timeout_s=90).result == {"count": 1}


def test_a_step_outside_the_plan_is_refused():
    _, source, steps = compose(FIRST)
    text = source.replace(b'call("a/b/rows"', b'call("a/b/count"')
    assert text != source
    changed, _ = module("c/d/both", text.decode())
    with pytest.raises(ToolFailed, match="'a/b/count' is not part of this plan"):
        run_tool(changed, text, {"start": "/"}, steps={**steps, "a/b/count": SECOND}, timeout_s=90)


def test_a_step_may_not_call_tools_of_its_caller():
    sneaky = module(
        "a/b/sneaky",
        """
        '''Call what is not mine.'''

        import pulsus.steps


        def run():
            return pulsus.steps.call("a/b/rows", start="/")
        """,
    )
    tool, source, steps = compose(FIRST, sneaky)
    with pytest.raises(ToolFailed, match="'a/b/rows' is not part of this plan"):
        run_tool(tool, source, {"start": "/"}, steps=steps, timeout_s=90)


def test_a_step_with_missing_or_changed_bytes_stops_the_run_before_it_starts():
    tool, source, steps = compose(FIRST, SECOND)
    with pytest.raises(PlanInvalid, match="whose bytes are missing"):
        run_tool(tool, source, {"start": "/"}, steps={}, timeout_s=90)
    other, text = module("a/b/rows", ROWS.replace("The rows", "Rows"))
    with pytest.raises(HashMoved):
        run_tool(
            tool, source, {"start": "/"}, steps={**steps, other.id: (other, text)}, timeout_s=90
        )


def test_a_missing_step_output_is_named_with_the_outputs_given():
    odd = module("a/b/rows", ROWS.replace('"rows": [', '"row": ['))
    tool, source, steps = compose(odd, SECOND)
    with pytest.raises(ToolFailed, match="step s1 gave no 'rows'; it gave: row"):
        run_tool(tool, source, {"start": "/"}, steps=steps, timeout_s=90)


def test_a_step_whose_result_is_not_json_is_the_steps_failure():
    odd = module("a/b/rows", ROWS.replace("len(start.parts)", "start"))
    tool, source, steps = compose(odd, SECOND)
    with pytest.raises(ToolFailed, match=r"result\['rows'\]\[0\]\['n'\] is a PosixPath"):
        run_tool(tool, source, {"start": "/"}, steps=steps, timeout_s=90)


def test_a_tool_cannot_bind_another_runner():
    text = '''
    """Bind."""

    import pulsus.steps


    def run():
        pulsus.steps.bind(lambda tool_id, inputs: "mine")
        return 1
    '''
    assert "a step runner is bound already" in str(failure(text))


def test_a_tools_hash_is_that_of_its_bytes():
    tool, source = FIRST
    with pytest.raises(HashMoved):
        run_tool(replace(tool, sha256="0" * 64), source, {}, steps={}, timeout_s=90)
