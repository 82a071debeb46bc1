"""Run a tool in a confined child, answer its supervised calls, and clear up after it.

A run over its memory limit (out of memory: `run.max_mem_mb` in `config/settings.py`) is killed
here, and so are background processes that outlive the tool. Leftover temporary folders of killed
runs are removed by `core/system/private_folders.py`.

This process, the worker, is not confined: it lives as long as the run, and executes nothing of the
tool. Effects: forks, makes a temporary folder, kills leftover processes, removes the folder.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

from pulsus.core.system import private_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from pulsus.core.sandbox.observation.syscall_notifications import WaitingCall

_TICK_MS = 100
_AT_ONCE = 64
_THREADS = 16
END_NOW = int(signal.SIGUSR2)
"""Pulsus sends this signal to end a run with all its processes."""
_ASKING_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class NotConfined(RuntimeError):
    """The plan cannot be enforced here; the tool was not loaded."""


class SupervisedRun:
    """One confined child and all processes that it starts."""

    def __init__(self, plan: dict[str, Any], within: str = "") -> None:
        """Make the temporary folder of the run.

        `within` is the folder to make it in: for a step, that of the run it belongs to.
        """
        self._plan = plan
        self._is_step = bool(within)
        self.status: int | None = None
        self._child = 0
        self._listener = -1
        self._names = {int(number): name for number, name in plan["names"].items()}
        self._is_ended = False
        within = within or private_folders.temporary_folder(os.environ)
        self._within = within
        self.folder, self._lock = private_folders.make_folder(within, private_folders.run_prefix())
        self._answers: dict[str, Callable[[WaitingCall], Any]] = {}

    def start(self, announce: Callable[[], None], keep: tuple[int, ...]) -> bool:
        """Fork the child and confine it. Return True in the child, False here. Raises NotConfined.

        `announce` is called here before the child goes on. `keep` are descriptors that the child
        may use beside 0 to 2.
        """
        confined_pipe, confined_end = os.pipe()
        going, go = os.pipe()
        self._child = os.fork()
        if not self._child:
            self._become_child((*keep, confined_end, going))
            return True
        os.close(confined_end)
        os.close(going)
        for number in _ASKING_TO_END:
            signal.signal(number, signal.SIG_IGN)  # the tool decides; this process ends after it
        signal.signal(END_NOW, self._end_at_once)
        from pulsus.execution.confinement.supervision.run_processes import become_reaper

        become_reaper()
        self._wait_until_confined(confined_pipe)
        announce()
        os.write(go, b"1")
        os.close(go)
        return False

    def _wait_until_confined(self, confined_pipe: int) -> None:
        """Wait until the child is confined, and take its listener. Raises NotConfined."""
        from pulsus.core.sandbox.observation.syscall_notifications import take_descriptor

        message = _read_to_end(confined_pipe)
        os.close(confined_pipe)
        try:
            if not message.startswith(b"{"):
                raise NotConfined(message.decode("utf-8", "replace") or "the child ended at once")
            number = json.loads(message)["listener"]
            if number >= 0:
                self._listener = take_descriptor(self._child, number)
        except (OSError, NotConfined) as error:
            os.kill(self._child, signal.SIGKILL)
            self.clear_up()
            raise NotConfined(str(error)) from None

    def _become_child(self, keep: tuple[int, ...]) -> None:
        """Confine this process, and wait until the supervisor lets it go on."""
        # Imported here, while the parent loads its own part.
        from pulsus.execution.confinement import confine_process

        *_, confined_end, going = keep
        signal.signal(END_NOW, signal.SIG_DFL)
        private_folders.set_temp_variables(os.environ, self.folder)
        try:
            listener = confine_process.enter(self._plan, self.folder, keep)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the tool is not loaded
            os.write(confined_end, _describe_error(error).encode())
            os._exit(1)
        os.write(confined_end, json.dumps({"listener": listener}).encode("ascii"))
        os.close(confined_end)
        if os.read(going, 1) != b"1":
            os._exit(1)
        os.close(going)
        if listener >= 0:
            os.close(listener)

    def _end_at_once(self, *_: object) -> NoReturn:
        self.clear_up()
        os._exit(1)

    def _build_brokers(self) -> None:
        """Build the brokers that answer, while the tool is being loaded."""
        from pulsus.execution.confinement.supervision.file_broker import FileBroker
        from pulsus.execution.confinement.supervision.run_processes import ProcessBroker
        from pulsus.execution.confinement.supervision.socket_broker import SocketBroker

        plan = self._plan
        folders = {self.folder: self._lock}
        for path in plan["folders"]:
            with suppress(OSError):
                folders[path] = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        files = FileBroker(folders)
        hosts = None if plan["network"] == "open" else plan["hosts"]
        sockets = SocketBroker(files, plan["sockets"], hosts)
        self._processes = ProcessBroker(plan["max_processes"])
        self._answers = {**files.calls, **sockets.calls, **self._processes.calls}

    def supervise(self, also: int = -1, act: Callable[[], bool] | None = None) -> None:
        """Answer until the child has ended; then end leftover processes and remove its folder.

        `act` is called when `also` can be read, until it returns False.
        """
        self._build_brokers()
        pidfd = os.pidfd_open(self._child)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        if self._listener >= 0:
            poll.register(self._listener, select.POLLIN)
        if act is not None:
            poll.register(also, select.POLLIN)
        ended = False
        looked = time.monotonic()
        if not self._is_step:
            private_folders.sweep(
                self._within,
                private_folders.run_prefix(),
                least_age_s=private_folders.RUN_SECONDS,
            )
        while not ended:
            ready = dict(poll.poll(_TICK_MS))
            if act is not None and also in ready and not act():
                poll.unregister(also)
                act = None
            if ready.get(self._listener, 0) & select.POLLIN:
                self._answer_waiting()
            elif self._listener in ready:
                poll.unregister(self._listener)
            ended = pidfd in ready
            if time.monotonic() - looked > _TICK_MS / 1000:
                self._reap_children()
                self._check_use()
                looked = time.monotonic()
        os.close(pidfd)
        self.clear_up()

    def clear_up(self) -> None:
        """End the processes that are left of the run and remove its folder."""
        from pulsus.execution.confinement.supervision.run_processes import end_all

        self._reap_children()
        end_all(self._note_end)
        private_folders.remove(self.folder)

    def end_like_it(self) -> NoReturn:
        """End this process with the status of the child."""
        status = 0 if self.status is None else self.status
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)

    def _answer_waiting(self) -> None:
        from pulsus.core.sandbox.observation.syscall_notifications import receive

        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        for _ in range(_AT_ONCE):
            if not dict(poll.poll(0)).get(self._listener, 0) & select.POLLIN:
                return
            question = receive(self._listener)
            if question is not None:
                self._answer_call(question)

    def _answer_call(self, q: WaitingCall) -> None:
        from pulsus.core.sandbox.observation.syscall_notifications import AnsweredLater, LetRun

        act = self._answers.get(self._names.get(q.number, ""))
        try:
            if act is None:
                raise PermissionError(errno.EPERM, "not carried out here")
            result = act(q)
        except LetRun:
            q.let_run()
        except AnsweredLater:
            pass
        except OSError as error:
            q.fail(error.errno or errno.EPERM)
        except Exception:  # noqa: BLE001 - what is asked is the tool's; nothing is carried out then
            q.fail(errno.EINVAL)
        else:
            q.answer(result or 0)  # a call without a result returns 0
            if result is not None and not isinstance(result, int):
                os.close(result.number)

    def _check_use(self) -> None:
        """End the run if it uses too much memory or too many threads."""
        from pulsus.execution.confinement.supervision.run_processes import measure_use

        if self._is_ended:
            return
        most: int = self._plan["max_mem_mb"]
        threads = self._plan["max_processes"] * _THREADS
        bytes_held, threads_held = measure_use()
        if bytes_held > most << 20:
            self._end_over_limit(f"held more than run.max_mem_mb = {most} MB")
        elif threads_held > threads:
            self._end_over_limit(
                f"had more than {threads} threads, {_THREADS} for each of max_processes"
            )

    def _end_over_limit(self, why: str) -> None:
        from pulsus.execution.confinement.supervision.run_processes import descendants

        self._is_ended = True
        sys.stderr.write(f"the tool and what it started {why} and were ended\n")
        sys.stderr.flush()
        for process in descendants():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def _reap_children(self) -> None:
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self._note_end(process, status)

    def _note_end(self, process: int, status: int) -> None:
        if process == self._child:
            self.status = status


def _describe_error(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _read_to_end(pipe: int) -> bytes:
    data = b""
    while more := os.read(pipe, 4096):
        data += more
    return data
