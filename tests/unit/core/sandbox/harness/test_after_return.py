"""Effects after a candidate has returned are part of its run (spec §8). Real sandboxes."""

import time

import pytest

from tests.patience import PATIENCE_SECONDS
from tests.sandboxes import sandboxed

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            """
            import threading, time
            def later():
                time.sleep(0.3)
                open("/etc/made", "w")
            def run():
                threading.Thread(target=later).start()
                return 1
            """,
            id="thread",
        ),
        pytest.param(
            """
            import threading
            def run():
                threading.Timer(0.3, open, ("/etc/made", "w")).start()
                return 1
            """,
            id="timer",
        ),
        pytest.param(
            """
            import concurrent.futures, time
            def later():
                time.sleep(0.3)
                open("/etc/made", "w")
            def run():
                concurrent.futures.ThreadPoolExecutor().submit(later)
                return 1
            """,
            id="executor",
        ),
        pytest.param(
            """
            import atexit
            def run():
                atexit.register(open, "/etc/made", "w")
                return 1
            """,
            id="exit handler",
        ),
        pytest.param(
            """
            import weakref
            class Thing: ...
            KEPT = Thing()
            def run():
                weakref.finalize(KEPT, open, "/etc/made", "w")
                return 1
            """,
            id="finalizer",
        ),
        pytest.param(
            """
            class Thing:
                def __del__(self, write=open):
                    write("/etc/made", "w")
            KEPT = Thing()
            def run():
                return 1
            """,
            id="destructor of a global",
        ),
        pytest.param(
            """
            class Thing:
                def __del__(self, write=open):
                    write("/etc/made", "w")
            def run():
                thing = Thing()
                thing.own = thing
                return 1
            """,
            id="destructor in a cycle",
        ),
        pytest.param(
            """
            import threading, time
            def later():
                open("/etc/made", "w")
                time.sleep(60)
            def run():
                threading.Thread(target=later, daemon=True).start()
                time.sleep(0.2)
                return 1
            """,
            id="daemon thread",
        ),
        pytest.param(
            """
            import multiprocessing, time
            def later():
                time.sleep(0.3)
                open("/etc/made", "w")
            def run():
                multiprocessing.get_context("fork").Process(target=later).start()
                return 1
            """,
            id="worker process",
        ),
        pytest.param(
            """
            import os, time
            def run():
                if os.fork() == 0:
                    time.sleep(0.3)
                    open("/etc/made", "w")
                return 1
            """,
            id="fork that returns too",
        ),
    ],
)
def test_effects_after_the_return_are_reported(source):
    outcome = sandboxed(source)
    assert (outcome.status, outcome.value) == ("ok", 1), outcome
    assert outcome.observed.paths == ("/etc/made",)


def test_a_thread_that_outlives_the_clock_is_a_timeout_that_names_it():
    outcome = sandboxed(
        """
        import threading, time
        def run():
            threading.Thread(target=time.sleep, args=(60,), name="slow-worker").start()
            return 1
        """,
        run_seconds=1.0,
    )
    assert (outcome.status, outcome.stage) == ("failed", "end")
    assert outcome.message == (
        "it returned, but its thread slow-worker still ran when its 1 s were over: "
        "join what it starts before it returns; it was killed"
    )


def test_an_exit_handler_that_outlives_the_clock_is_a_timeout_that_says_so():
    outcome = sandboxed(
        "import atexit, time\ndef run():\n    atexit.register(time.sleep, 60)\n    return 1",
        run_seconds=1.0,
    )
    assert "its exit handlers or finalizers still ran when their 1 s were over" in outcome.message


@pytest.mark.slow
def test_a_finalizer_does_not_use_the_seconds_that_the_run_left_over():
    outcome = sandboxed(
        """
        import time
        class Spin:
            def __del__(self, sleep=time.sleep):
                sleep(25)
        KEPT = [Spin()]
        def run():
            return 1
        """,
        run_seconds=30.0,
    )
    assert (outcome.status, outcome.stage) == ("failed", "end")
    assert "finalizers still ran when their 10 s were over" in outcome.message


def test_a_daemon_thread_that_still_runs_at_the_end_is_reported():
    outcome = sandboxed(
        """
        import threading, time
        def run():
            threading.Thread(target=time.sleep, args=(60,), name="poller", daemon=True).start()
            return 1
        """
    )
    assert outcome.status == "ok"
    assert outcome.observed.others == ("leaves thread 'poller' running",)


def test_a_bare_thread_is_reported_although_it_has_hardly_begun():
    for _ in range(10):
        outcome = sandboxed(
            """
            import _thread, time
            def run():
                _thread.start_new_thread(time.sleep, (60,))
                return 1
            """
        )
        assert outcome.observed.others == ("leaves thread 'without a name' running",)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("subprocess.Popen(['sleep', '600'])", id="child"),
        pytest.param("subprocess.Popen(['sleep', '600'], start_new_session=True)", id="session"),
        pytest.param("os.system('sleep 600 &')", id="orphan"),
    ],
)
def test_a_process_left_running_is_refused_in_one_sentence_that_names_it(start):
    began = time.monotonic()
    outcome = sandboxed(f"import os, subprocess\ndef run():\n    {start}\n    return 1")
    assert outcome.status == "failed"
    assert outcome.message == (
        "it returned, but left its process sleep running: "
        "wait for it or end it before returning; it was killed"
    )
    assert time.monotonic() - began < PATIENCE_SECONDS


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "import subprocess\ndef run():\n"
            "    p = subprocess.Popen(['sleep', '600'])\n    p.terminate()\n    return 1",
            id="ended but not waited for",
        ),
        pytest.param(
            "import subprocess\ndef run():\n    subprocess.Popen(['sleep', '0.5'])\n    return 1",
            id="soon over",
        ),
        pytest.param(
            "from multiprocessing import shared_memory\ndef run():\n"
            "    s = shared_memory.SharedMemory(create=True, size=64)\n"
            "    s.close()\n    s.unlink()\n    return 1",
            id="a tracker of shared memory",
        ),
        pytest.param(
            "import multiprocessing\ndef run():\n"
            "    return sum(multiprocessing.get_context('fork').Pool(2).map(abs, [0, -1]))",
            id="a pool that was not closed",
        ),
        pytest.param(
            "import queue, logging.handlers as h, tempfile\n"
            "KEPT = tempfile.TemporaryDirectory()\ndef run():\n    return 1",
            id="a folder removed at the end",
        ),
    ],
)
def test_ordinary_helpers_are_no_finding(body):
    outcome = sandboxed(body)
    assert (outcome.status, outcome.value) == ("ok", 1), outcome
    assert outcome.observed.others == ()


def test_an_exit_handler_that_ends_the_process_gives_no_result():
    outcome = sandboxed(
        "import atexit, os\ndef run():\n    atexit.register(os._exit, 0)\n    return 1"
    )
    assert outcome.status == "failed"
    assert outcome.message == "it returned, but then a thread or an exit handler ended its process"


def test_the_result_is_that_of_the_return_whatever_exit_handlers_change():
    outcome = sandboxed(
        """
        import atexit
        RESULT = {"a": 1}
        def run():
            atexit.register(RESULT.clear)
            return RESULT
        """
    )
    assert outcome.value == {"a": 1}


def test_output_of_an_exit_handler_is_stored():
    outcome = sandboxed(
        "import atexit\ndef run():\n    atexit.register(print, 'bye')\n    return 1"
    )
    assert "bye" in outcome.output


@pytest.mark.parametrize(
    "keeps",
    [
        "import builtins; builtins.kept = Late()",
        "import sys; sys.modules['json'] = [{'x': (Late(),)}]",
        "import json; json.kept = {1: Late()}",
        "import builtins; builtins.kept = late(); next(builtins.kept)",
        "import functools; functools.kept = functools.partial(print, Late())",
    ],
)
def test_no_finalizer_outlasts_the_run_unseen(keeps):
    outcome = sandboxed(
        f"""
        class Late:
            def __del__(self):
                open("/tmp/late", "w").close()
        def late():
            try:
                yield 1
            finally:
                open("/tmp/late", "w").close()
        def run():
            {keeps}
            return 1
        """
    )
    assert (outcome.status, outcome.value) == ("ok", 1), outcome
    assert outcome.observed.paths == ("/tmp/late",)
    assert outcome.observed.others == ()
