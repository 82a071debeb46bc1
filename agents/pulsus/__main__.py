"""Start Pulsus, as `python -m pulsus` or as the console script.

Ctrl-C while Python starts or ends is handled here; errors, exit codes and signals of a command are
in `cli/main.py`.
"""

import gc
import sys

_MOST_KEYS = 100
"""Ctrl-C this often while the process ends; the next one is a traceback."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def main() -> None:
    """Run the command line and exit with its status.

    Ctrl-C ends it with one line, even while Pulsus is still being loaded.
    """
    sys.unraisablehook = _unraisable
    # What the imports make stays: to look for garbage in it each time costs a twentieth of a start.
    gc.set_threshold(10_000, 20, 20)
    try:
        from pulsus.cli.main import main as run

        run()
    except KeyboardInterrupt:
        _ignore_ctrl_c()
        sys.stderr.write("error[ABORTED]: aborted\n")
        raise SystemExit(130) from None
    finally:
        _ignore_ctrl_c()


def _ignore_ctrl_c() -> None:
    """Let no key change how it ended: all is done.

    To set a handler first calls the one that there is, so a second key still interrupts that call.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` without its start-up

    for _ in range(_MOST_KEYS):
        try:
            _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        except KeyboardInterrupt:
            continue
        break


def _unraisable(failure: "UnraisableHookArgs") -> None:
    """Honour Ctrl-C inside a callback of the interpreter, which would print it and continue.

    A thread interrupts again after this hook has ended. An interruption inside the hook would be
    printed and lost too.
    """
    if issubclass(failure.exc_type, KeyboardInterrupt):
        import _thread

        _thread.start_new_thread(_interrupt_again, ())
    else:
        sys.__unraisablehook__(failure)


def _interrupt_again() -> None:
    import _signal
    import os
    import time

    time.sleep(0.02)
    os.kill(os.getpid(), _signal.SIGINT)  # a real signal: it ends a wait of the main thread too


if __name__ == "__main__":
    main()
