"""One HTTP exchange with a model's server; `retries.py` repeats it. Effect: network.

The server is not trusted. Received bytes are counted and capped, compressed answers are refused,
and every wait has a timeout (settings `model.connect_seconds` and its like). Redirects are not
followed, because a key would go with them. Proxies and TLS certificates are chosen here.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, Self

from pulsus import __version__
from pulsus.fast_dataclass import dataclass

Why = Literal["connect", "timeout", "dropped", "too_long", "unreadable"]


class WireFailed(Exception):
    """The exchange did not end with a whole answer."""

    def __init__(self, why: Why, reason: str) -> None:
        super().__init__(reason)
        self.why = why
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """Limits of one exchange: seconds to wait, and bytes of an answer to read."""

    connect: float
    read: float
    total: float
    bytes: int


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. `body` None means GET. If `local`, proxies of the environment do not apply."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None
    local: bool


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer. Header names are in lower case. Reading `chunks` may raise WireFailed."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@contextlib.contextmanager
def exchange(request: HttpRequest, limits: ExchangeLimits) -> Iterator[HttpAnswer]:
    """Give the answer to `request`, to read inside the block. Raises WireFailed."""
    import httpx2

    wait = {"connect": limits.connect, "read": limits.read, "write": limits.read, "pool": None}
    timeout = httpx2.Timeout(
        **{k: v if v is None else min(v, limits.total) for k, v in wait.items()}
    )
    headers = {
        "user-agent": f"pulsus/{__version__}",
        "accept-encoding": "identity",
        **request.headers,
    }
    with (
        _wire_failures(),
        Deadline(limits.total) as deadline,
        _ended_by(deadline, limits.total),
        httpx2.Client(
            trust_env=not request.local, timeout=timeout, verify=_tls_context(request)
        ) as client,
        client.stream(
            "GET" if request.body is None else "POST",
            request.url,
            content=request.body,
            headers=headers,
            extensions={"trace": deadline.watch},
            follow_redirects=False,
        ) as response,
    ):
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise WireFailed("unreadable", f"it sent {encoding!r} though that was not asked for")
        found = {k.lower(): v for k, v in response.headers.items()}
        yield HttpAnswer(
            response.status_code, found, _limit_bytes(response.iter_raw(), limits.bytes)
        )


def _tls_context(request: HttpRequest) -> ssl.SSLContext:
    """Return the trusted certificates. Plain HTTP to this machine needs none: that saves time.

    To other hosts the connection may go through a proxy with TLS.
    """
    import httpx2

    if request.local and request.url.lower().startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context()


def _limit_bytes(chunks: Iterator[bytes], most: int) -> Iterator[bytes]:
    with _wire_failures():
        for chunk in chunks:
            most -= len(chunk)
            if most < 0:
                raise WireFailed("too_long", "the answer is longer than is taken")
            yield chunk


@contextlib.contextmanager
def _ended_by(deadline: Deadline, seconds: float) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if deadline.expired:
            raise WireFailed("timeout", f"no whole answer within {seconds:.3g} s") from error
        raise
    if deadline.expired:
        raise WireFailed("timeout", f"no whole answer within {seconds:.3g} s")


@contextlib.contextmanager
def _wire_failures() -> Iterator[None]:
    """Raise the errors of the HTTP client as WireFailed."""
    import httpx2

    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        raise WireFailed("connect", str(error) or type(error).__name__) from error
    except httpx2.TimeoutException as error:
        raise WireFailed("timeout", "it was silent for too long") from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise WireFailed("unreadable", str(error)) from error
    except httpx2.RequestError as error:
        raise WireFailed("dropped", str(error) or type(error).__name__) from error


class Deadline:
    """Shut the watched connection after `seconds`, in a timer thread.

    A read timeout starts anew with every byte, so a server that drips would never reach it.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(seconds, 0.001), self._end_on_timeout)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._connection = None

    def watch(self, event: str, info: dict[str, Any]) -> None:
        """Take note of a connection: the `trace` callback of the HTTP client."""
        extra = getattr(info.get("return_value"), "get_extra_info", None)
        if extra is None or not event.endswith(".complete"):
            return
        found = extra("socket")
        with self._lock:
            self._connection = found if isinstance(found, socket.socket) else None
            if self.expired:
                self._shut_connection()

    def _end_on_timeout(self) -> None:
        with self._lock:
            self.expired = True
            self._shut_connection()

    def _shut_connection(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                # Not the TLS object's own: that would take its state from under a reader.
                socket.socket.shutdown(self._connection, socket.SHUT_RDWR)
