"""Start Pulsus, as `python -m pulsus` or as the console script."""

import gc
import sys

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
        sys.stderr.write("error[ABORTED]: aborted\n")
        raise SystemExit(130) from None
    finally:
        import _signal  # type: ignore[import-not-found]  # `signal` without its start-up

        # All is done: a key pressed while the interpreter ends does not change how it ended.
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


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
