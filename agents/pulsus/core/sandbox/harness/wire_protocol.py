"""Send messages from the sandbox to its host: JSON lines behind a secret (spec §8, §17).

Here it is decided if a result is JSON: a NaN, a key that is no text, or a class is refused.
`core/sandbox/sandbox_session.py` checks again and refuses forged messages.

Used on both sides. Inside, it is loaded at every start and must not be slow: `json` costs as much
as the interpreter itself, so a checked value is written here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Send = Callable[[str, dict[str, object]], None]


def check_json(value: object, levels: int = 100) -> None:
    """Raise ValueError saying where a result is not plain JSON with finite numbers."""
    todo: list[tuple[str, object, int]] = [("result", value, 0)]
    while todo:
        where, item, depth = todo.pop()
        if depth > levels:
            raise ValueError(f"{where[:60]} is nested more than {levels} levels deep")
        if type(item) is dict:
            for key, inner in item.items():
                if type(key) is not str:
                    raise ValueError(f"{where} has a key of type {type(key).__name__}: use str")
                _check_leaf(where, key)
                todo.append((f"{where}[{key[:40]!r}]", inner, depth + 1))
        elif type(item) is list or type(item) is tuple:
            todo.extend((f"{where}[{i}]", inner, depth + 1) for i, inner in enumerate(item))
        else:
            _check_leaf(where, item)


def _check_leaf(where: str, item: object) -> None:
    if type(item) is float and (item != item or item in (float("inf"), float("-inf"))):
        raise ValueError(f"{where} is {item}: results hold finite numbers only")
    if type(item) is str and not item.isascii():
        try:
            item.encode("utf-8")
        except UnicodeEncodeError:
            text = f"{where} holds half a character: decode bytes with errors='replace'"
            raise ValueError(text) from None
    if item is not None and type(item) not in (str, int, bool, float):
        raise ValueError(f"{where} is a {type(item).__name__}: results hold JSON values only")


def encode(value: object) -> str:
    """Return a value that passes `check_json` as one line of ASCII JSON."""
    if type(value) is dict:
        return "{" + ", ".join(f"{_quote_text(k)}: {encode(v)}" for k, v in value.items()) + "}"
    if type(value) is list or type(value) is tuple:
        return "[" + ", ".join(map(encode, value)) + "]"
    if type(value) is str:
        return _quote_text(value)
    if type(value) is bool or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value)


def _quote_text(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from json.encoder import encode_basestring_ascii

    return encode_basestring_ascii(text)


def channel(fd: int, nonce: str) -> Send:
    """Return a function that sends one message to the host.

    Later patches of the candidate do not reach it.
    """
    import posix  # what `os` wraps, without its start-up

    own = posix.dup(fd)  # not inheritable, so no child of the candidate gets it
    posix.close(fd)
    write, text = posix.write, encode

    def send(phase: str, body: dict[str, object]) -> None:
        data = f"{nonce} {text({**body, 'phase': phase})}\n".encode("ascii")
        while data:
            data = data[write(own, data) :]

    return send


def line_in(error: BaseException, filename: str) -> int:
    """Return the innermost line of that file that the failure came through, or 0."""
    line: int | None = 0
    try:
        if isinstance(error, SyntaxError) and error.filename == filename:
            line = error.lineno
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == filename:
                line = trace.tb_lineno
            trace = trace.tb_next
    except BaseException:  # noqa: BLE001 - the candidate may have written the error's class
        return 0
    return line if type(line) is int else 0


def describe(error: BaseException) -> dict[str, object]:
    """Return a short description of a failure, from the candidate's frames on."""
    import traceback

    kind = type(error).__name__
    try:
        message = str(error)[:500].encode("utf-8", "backslashreplace").decode("utf-8")
    except BaseException as second:  # noqa: BLE001 - the candidate wrote __str__
        message = f"(its text cannot be read: {type(second).__name__})"
    try:
        lines = "".join(traceback.format_exception(error, limit=-8))[-4000:]
        trace = lines.encode("utf-8", "backslashreplace").decode("utf-8")
    except BaseException:  # noqa: BLE001 - as above
        trace = ""
    return {"kind": str(kind)[:100], "message": message, "trace": trace}
