"""The packages that the server needs: the extra `web`.

The hint that installs an extra is made in `install_hint.py`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from pulsus.errors import ExtraMissing

_SERVER: Final = ("starlette", "uvicorn", "sse_starlette", "jwt", "prometheus_client", "anyio")
_ACCOUNTS: Final = ("argon2",)


def require_web_extra(*, server: bool = True) -> None:
    """Raise ExtraMissing if a package is not installed. Accounts need fewer than the server."""
    wanted = (*_ACCOUNTS, *(_SERVER if server else ()))
    lacking = [name for name in wanted if find_spec(name) is None]
    if lacking:
        purpose = "pulsus serve" if server else "pulsus users"
        raise ExtraMissing.of(purpose, lacking, "web,agent")
