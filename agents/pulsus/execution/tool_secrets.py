"""Find the secrets of a real run by the names in the docstring, and mask them in its output.

A missing secret is an error before the run. A tool gets the secrets that it names, and no other
environment variable that looks like one. A dry run has an empty environment and gets none. A secret
that comes in pieces (chunks) of a stream is masked too. Secrets that no tool names, also known
values of the environment, are hidden everywhere by `core/telemetry/redaction.py`. Effect: reads the
environment and the files that `NAME_FILE` variables name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from pulsus.core.telemetry.redaction import MARK
from pulsus.core.types import JsonValue, ToolSpec
from pulsus.errors import InputMissing, PulsusError, UsageError

MAX_SECRET_BYTES = 64 * 1024

_FOLDERS = ("PWD", "OLDPWD")
_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD"
    r"|CREDENTIALS?|COOKIES?)(?:_|\Z)|PASSWORD|PASSWD"
)

OnOutput = Callable[[bytes], None]


def read_secrets(tools: Iterable[ToolSpec], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values of every secret that these tools name, by name.

    A value comes from the variable of that name, or from the file that `NAME_FILE` names. Raises
    InputMissing that names the missing ones, and UsageError for a file that cannot be read. No
    error holds a value.
    """
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for tool in tools:
        for name in tool.secrets:
            value = environ.get(name) or _read_secret_file(name, environ.get(f"{name}_FILE"))
            if value:
                found[name] = value
            else:
                missing.setdefault(name, tool.id)
    if missing:
        listed = ", ".join(f"{name} (for {tool_id})" for name, tool_id in missing.items())
        first = next(iter(missing))
        raise InputMissing(
            f"a secret has no value: {listed}",
            hint=f"set the variable {first}, or {first}_FILE to a file that holds it",
            secrets=list(missing),
        )
    return found


def environment_with_secrets(
    environ: Mapping[str, str], secrets: Mapping[str, str]
) -> dict[str, str]:
    """Return a tool's environment: without secrets, but for those that it names."""
    allowed = {
        name: value
        for name, value in environ.items()
        if name in _FOLDERS or not (_SECRET.search(name.upper()) or value in secrets.values())
    }
    return {**allowed, **secrets}


class SecretMask:
    """Masks values that are written plainly, percent-encoded or as JSON.

    No value is too short: a tool that names a secret wants it hidden.
    """

    def __init__(self, values: Iterable[str]) -> None:
        spelt = {each for value in values for each in _secret_spellings(value)}
        longest_first = sorted(spelt, key=lambda each: (-len(each), each))
        self._spelt = [each.encode("utf-8", "surrogateescape") for each in longest_first]
        self._text = re.compile("|".join(map(re.escape, longest_first))) if spelt else None

    def text(self, text: str) -> str:
        """Return the text without the values."""
        return self._text.sub(MARK, text) if self._text else text

    def value(self, value: JsonValue) -> JsonValue:
        """Return the same JSON value without them."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(key): self.value(item) for key, item in value.items()}
            case int() | float() if not isinstance(value, bool) and self.text(str(value)) == MARK:
                return MARK
            case _:
                return value

    def error(self, error: PulsusError) -> PulsusError:
        """Return the same error without them in its message and details."""
        error.message, error.hint = self.text(error.message), self.text(error.hint)
        error.args = (error.message,)
        error.details = {key: self._mask_detail(value) for key, value in error.details.items()}
        return error

    def output(self, on_output: OnOutput) -> MaskedStream:
        """Return a filter that passes a child's output on without the values.

        A value may come in pieces.
        """
        return MaskedStream(on_output, self._spelt)

    def _mask_detail(self, value: object) -> object:
        return self.value(value) if isinstance(value, str | list | dict) else value


class MaskedStream:
    """Passes bytes on, but holds back a possible beginning of a value until `close`."""

    def __init__(self, on_output: OnOutput, values: list[bytes]) -> None:
        self._on_output, self._values = on_output, values
        self._held = b""
        self._any = re.compile(b"|".join(map(re.escape, values))) if values else None

    def __call__(self, chunk: bytes) -> None:
        data = self._held + chunk
        if self._any:
            data = self._any.sub(MARK.encode("ascii"), data)
        keep = max((_partial_length(data, value) for value in self._values), default=0)
        self._held = data[len(data) - keep :]
        if passed := data[: len(data) - keep]:
            self._on_output(passed)

    def close(self) -> None:
        """Pass on the bytes that were held back."""
        rest, self._held = self._held, b""
        if rest:
            self._on_output(rest)


def _partial_length(data: bytes, value: bytes) -> int:
    """Return how many of the last bytes are a beginning of the value."""
    longest = min(len(data), len(value) - 1)
    return next((n for n in range(longest, 0, -1) if data.endswith(value[:n])), 0)


def _read_secret_file(name: str, path: str | None) -> str:
    if not path:
        return ""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_SECRET_BYTES + 1)
        if len(data) > MAX_SECRET_BYTES:
            raise UsageError(
                f"{name}_FILE: {path} is larger than {MAX_SECRET_BYTES} bytes",
                hint="name a file that holds the secret alone",
            )
        return data.decode("utf-8").rstrip("\r\n")
    except OSError as error:
        raise UsageError(
            f"{name}_FILE: {path} cannot be read: {error.strerror}",
            hint="name a file that this user can read",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{name}_FILE: {path} is not UTF-8 text", hint="save it as text") from None


def _secret_spellings(value: str) -> tuple[str, ...]:
    value = value.strip()
    if not value:
        return ()
    return value, quote(value, safe=""), json.dumps(value)[1:-1]
