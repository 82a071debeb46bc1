"""`python -m pulsus`, and the console script."""

import sys


def main() -> None:
    """Run the command line and leave with its exit status.

    Ctrl-C ends it with one line even while Pulsus is still being loaded.
    """
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


if __name__ == "__main__":
    main()
