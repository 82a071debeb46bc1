"""Private mount namespaces for tests: a small disk, a read-only one."""

import functools
import os
import subprocess

import pytest

WAYS = (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount"))


@functools.cache
def way():
    """Return the command that enters a mount namespace, or None if none works."""
    for command in WAYS[0 if os.geteuid() == 0 else 1 :]:
        try:
            probe = subprocess.run(
                [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, timeout=20
            )
        except FileNotFoundError:
            return None
        if probe.returncode == 0:
            return command
    return None


def read_only(folder, command, *, cwd=None):
    """Run `command` in its own mount namespace, with `folder` read-only."""
    mount = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'
    return inside(
        f'{{ {mount}; }} || exit 99; cd "$2"; shift 2; "$@"', folder, cwd or folder, *command
    )


def inside(script, *args, seconds=240):
    """Run a shell script as root of its own mount namespace.

    Skip the test if there is none, or if the script cannot mount (exit 99).
    """
    entering = way()
    if entering is None:
        pytest.skip("needs util-linux `unshare`, and root or user namespaces")
    done = subprocess.run(
        [*entering, "sh", "-uc", script, "sh", *map(str, args)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )
    if done.returncode == 99:
        pytest.skip(f"cannot mount in a namespace here: {done.stderr.strip()}")
    return done
