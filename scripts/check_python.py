"""Stop early, with the fix, where this Python cannot carry the project."""

import importlib.util
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this runs before anything is installed
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"Pulsus needs Python 3.11 or newer, this is {found}: make PYTHON=python3.12 ...")
if importlib.util.find_spec("ensurepip") is None:
    sys.exit(
        "this Python cannot create virtual environments: install its venv module "
        "(Debian and Ubuntu: apt install python3-venv) or name another: make PYTHON=... demo"
    )
