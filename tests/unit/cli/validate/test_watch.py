"""`validate --watch`: rounds on changes, quiet in between, and a clean end."""

import os
from pathlib import Path

import pytest

from pulsus.cli.command_session import CommandSession
from pulsus.cli.validate import watch
from pulsus.core.types import ValidationReport
from pulsus.core.validators.steps import mypy_prestart
from pulsus.core.validators.verdict_cache import CheckedModule
from pulsus.errors import UsageError


class Rounds:
    """Stands for `Validation`: notes what each round was asked."""

    def __init__(self, fails=()):
        self.asked, self.given = [], []
        self.fails = list(fails)

    def __call__(self, session, ahead=None):
        self.given.append(ahead)
        return self

    def modules(self, paths, revision):
        if self.fails and self.fails.pop(0):
            raise UsageError("a file is gone", hint="look")
        return [(path, b"") for path in paths]

    def run(self, modules, news=None):
        self.asked.append(news)
        return 3 if len(self.asked) == 1 else 0


class Clock:
    """Does the next thing instead of sleeping; at the end raises as Ctrl-C does."""

    def __init__(self, *actions):
        self.actions = list(actions)
        self.slept = []

    def __call__(self, seconds):
        self.slept.append(seconds)
        if not self.actions:
            raise KeyboardInterrupt
        self.actions.pop(0)()


def nothing():
    pass


class Mypy:
    """Stands for `Ahead`: notes that one was started, and ended."""

    def __init__(self, _early):
        self.ended = False

    def end(self):
        self.ended = True


@pytest.fixture
def watched(tmp_path, monkeypatch):
    monkeypatch.setattr(mypy_prestart, "prestart_mypy", object)
    monkeypatch.setattr(watch, "SharedPrestartedMypy", Mypy)
    module = tmp_path / "m.py"
    module.write_text("x = 1\n", encoding="utf-8")

    def call(clock, rounds):
        monkeypatch.setattr(watch, "Validation", rounds)
        return watch.watch(CommandSession(tmp_path, "text", 0), [tmp_path], None, clock)

    return module, call


def write(path, text):
    return lambda: path.write_text(text, encoding="utf-8")


def test_an_unchanged_tree_is_validated_once_and_polled_without_haste(watched):
    _, call = watched
    clock, rounds = Clock(*[nothing] * 5), Rounds()
    assert call(clock, rounds) == 3
    assert len(rounds.asked) == 1
    assert min(clock.slept) >= 0.25


def test_a_change_is_one_round_however_often_the_file_is_written(watched):
    module, call = watched
    clock = Clock(write(module, "a"), write(module, "ab"), write(module, "abc"), nothing, nothing)
    rounds = Rounds()
    assert call(clock, rounds) == 0
    assert len(rounds.asked) == 2


def test_mypy_loads_while_a_change_settles_and_is_ended_after_its_round(watched):
    module, call = watched
    clock, rounds = Clock(write(module, "a"), nothing, write(module, "b"), nothing), Rounds()
    call(clock, rounds)
    first, *others = rounds.given
    assert first is None
    assert [mypy.ended for mypy in others] == [True, True]


def test_ctrl_c_while_a_change_settles_ends_mypy(watched, monkeypatch):
    module, call = watched
    made = []

    def ahead(started):
        made.append(Mypy(started))
        return made[-1]

    monkeypatch.setattr(watch, "SharedPrestartedMypy", ahead)
    call(Clock(write(module, "a")), Rounds())
    assert [mypy.ended for mypy in made] == [True]


def test_new_gone_and_replaced_files_are_changes(watched):
    module, call = watched
    new = module.with_name("n.py")

    def replace():
        stamp = module.stat()
        module.unlink()
        module.write_text("y = 1\n", encoding="utf-8")
        os.utime(module, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    clock = Clock(write(new, ""), nothing, new.unlink, nothing, replace, nothing)
    rounds = Rounds()
    call(clock, rounds)
    assert len(rounds.asked) == 4
    assert len(set(map(id, rounds.asked))) == 1  # what one round told, the next ones know


def test_a_failed_round_is_reported_and_the_next_change_tries_again(watched, capsys):
    module, call = watched
    rounds = Rounds(fails=(False, True, False))
    assert call(Clock(write(module, "a"), nothing, write(module, "b"), nothing), rounds) == 0
    assert len(rounds.asked) == 2
    assert "a file is gone" in capsys.readouterr().err


def test_the_first_round_must_be_possible(watched):
    _, call = watched
    with pytest.raises(UsageError):
        call(Clock(), Rounds(fails=(True,)))


def checked(name, verdict, *, cached=True):
    report = ValidationReport(
        ok=verdict == "accepted",
        verdict=verdict,
        path=Path(name),
        sha256=verdict,
        steps=(),
        duration_ms=1,
        artifacts=(),
        summary="",
        cached=cached,
    )
    return CheckedModule(report)


def test_a_module_repaired_to_accepted_bytes_is_printed_again():
    news, good = watch.ChangedVerdicts(), checked("m.py", "accepted")
    bad, other = checked("m.py", "refused", cached=False), checked("n.py", "accepted")
    assert news([good, other]) == [good, other]
    assert news([bad, other]) == [bad]
    assert news([good, other]) == [good]
    assert news([good, other]) == []


def test_a_verdict_is_printed_again_after_its_module_was_gone():
    news, one, other = (
        watch.ChangedVerdicts(),
        checked("m.py", "accepted"),
        checked("n.py", "refused"),
    )
    news([one, other])
    assert news([other]) == []
    assert news([one, other]) == [one]


def test_a_verdict_that_cannot_be_cached_is_printed_every_time():
    news, lost = watch.ChangedVerdicts(), checked("m.py", "unverified", cached=False)
    assert [news([lost]), news([lost])] == [[lost], [lost]]
