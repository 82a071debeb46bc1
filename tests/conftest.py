"""Set-up that every test shares."""

import gc
import hashlib
import json
import os
import shutil
import signal
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

from tests import example_counts, forked_mypy, import_order, libraries, required_tests, row_samples

# Whoever started the suite (nohup, a shell in the background) may have had signals ignored, which
# every process below would inherit.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test reads or changes the state folder of the user who runs the suite.
_STATE_HOME = tempfile.mkdtemp(prefix="pulsus-tests-state-")
os.environ["XDG_STATE_HOME"] = _STATE_HOME
# Workers share the warm project, whose caches count only for the secret that they were made with.
if _RUN := os.environ.get("PYTEST_XDIST_TESTRUNUID"):
    Path(_STATE_HOME, "pulsus").mkdir(mode=0o700)
    Path(_STATE_HOME, "pulsus/cache.key").write_bytes(hashlib.sha256(_RUN.encode()).digest())
    Path(_STATE_HOME, "pulsus/cache.key").chmod(0o600)
_LIBRARIES = libraries.begin()

AGREED: dict[str, dict[str, bool]] = defaultdict(dict)
"""By case file, whether each case passed. A test names its case by `record_property("case", …)`."""

COUNTED: dict[str, dict[str, object]] = {}
"""By case file, the counts of a test that asks all its cases: `record_property("counted", …)`."""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by the marker
def pytest_collection_modifyitems(items):
    """Mark the rows that the fast suite leaves out."""
    row_samples.mark(items)


def pytest_configure(config):
    """Choose how many examples property tests try, before any of them is imported."""
    example_counts.choose(config.option.markexpr)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(config))


class _Failures:
    """Names each failure when it happens: a run of half an hour may be ended before its summary."""

    def __init__(self, config):
        self._config = config

    def pytest_runtest_logreport(self, report):
        if report.failed:
            terminal = self._config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})")


def pytest_unconfigure():
    """Remove the folders of this process."""
    for folder in filter(None, (_STATE_HOME, _LIBRARIES)):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Keep the collected tests out of garbage collection: they live to the end of the run."""
    gc.disable()
    try:
        import_order.import_own_files(session.config)
        return (yield)
    finally:
        gc.freeze()
        # Ten times as rarely as usual: hardly any test makes cycles, and each look costs time.
        gc.set_threshold(7_000, 20, 20)
        gc.enable()


@pytest.fixture(scope="session")
def loaded_mypy():
    """Let type checks in this process fork a mypy that is loaded already."""
    with forked_mypy.installed():
        yield


def pytest_collection_finish(session):
    """Replace `os.fsync` in this process. It takes a quarter of the suite's time.

    No test cuts the power. Benchmarks keep the real one, and so do commands in processes of their
    own. A test of the order of writes and syncs sets its own function.
    """
    if not any(item.get_closest_marker("bench") for item in session.items):
        os.fsync = _look_only


def _look_only(fd):
    os.fstat(fd)  # what is not open is refused as by the real one


def pytest_runtest_logreport(report):
    """Note a case's outcome; with parallel workers this runs in the process that gathers them."""
    for name, value in report.user_properties:
        if name == "case" and (report.when == "call" or report.failed):
            file, _, case = value.partition("/")
            AGREED[file][case] = AGREED[file].get(case, True) and report.passed
        if name == "counted" and report.when == "call":
            COUNTED[value["file"]] = {key: value[key] for key in value if key != "file"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Fail a test that CI has to run and that was skipped."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        required_tests.refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Fail a file that CI has to run and that was skipped as a whole."""
    report = yield
    if report.skipped:
        required_tests.refuse_skip(report)
    return report


def pytest_sessionfinish(session):
    """Write `cases-report.json` to the folder PULSUS_REPORT names."""
    folder = os.environ.get("PULSUS_REPORT")
    if not folder or not (AGREED or COUNTED) or hasattr(session.config, "workerinput"):
        return
    report = dict(sorted(COUNTED.items()))
    for file, cases in sorted(AGREED.items()):
        bad = sorted(case for case, agreed in cases.items() if not agreed)
        counts = {"agree": len(cases) - len(bad), "total": len(cases), "contested": 0}
        report[file] = {**counts, "disagreements": bad}
    path = Path(folder, "cases-report.json")
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
