"""Start mypy for commands in this process as a fork of one that is loaded already.

To import mypy takes three quarters of the time of a module's type check, and hundreds of tests of
whole commands validate a module. Tests of the step itself, and commands that are processes of their
own, start mypy as users do.
"""

import contextlib
import json
import os
import platform
import socket
import sys
import threading

from pulsus.core.validators.steps import mypy_prestart

_WAITING = mypy_prestart.WAIT  # before a test puts something else there

SERVER = """
import ctypes, gc, json, os, signal, socket, sys
gc.disable()
sys.modules["psutil"] = None
import mypy.main
gc.freeze()
asked = socket.socket(fileno=int(sys.argv[1]))
while True:
    text, fds, _, _ = socket.recv_fds(asked, 65536, 3)
    if not text:
        break
    # The parent of the new process is that of this one, as if it had been started there.
    if ctypes.CDLL(None).syscall(56, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        folder, environment = json.loads(text)
        os.setpgid(0, 0)
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        asked.send(str(os.getpid()).encode())
        os.closerange(3, 256)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        gc.enable()
        order = sys.stdin.readline()
        if order:
            mypy.main.main(args=json.loads(order))
        os._exit(0)
    for fd in fds:
        os.close(fd)
"""
"""The number and flag are `clone` with CLONE_PARENT on x86-64."""


@contextlib.contextmanager
def installed():
    """Within the block, `os.posix_spawn` forks the waiting mypy, and starts all else as before."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        yield
        return
    spawn, lock = os.posix_spawn, threading.Lock()
    server = contextlib.ExitStack()
    started: list[socket.socket] = []

    def ask(folder, environment, fds):
        with lock:
            if not started:
                started.append(server.enter_context(_server(spawn)))
            socket.send_fds(started[0], [json.dumps([folder, environment]).encode()], fds)
            return int(started[0].recv(32))

    def spawned(path, argv, env, **options):
        if argv[:1] != [sys.executable] or argv[-2:-1] != [_WAITING]:
            return spawn(path, argv, env, **options)
        fds = [theirs for _, theirs, _ in options["file_actions"]]
        return ask(argv[-1], env, fds)

    os.posix_spawn = spawned
    try:
        yield
    finally:
        os.posix_spawn = spawn
        server.close()


@contextlib.contextmanager
def _server(spawn):
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            pid = spawn(
                sys.executable,
                [sys.executable, "-I", "-B", "-c", SERVER, str(theirs.fileno())],
                mypy_prestart.make_environment("/nonexistent"),
                setpgroup=0,
            )
        yield ours
    os.waitpid(pid, 0)
