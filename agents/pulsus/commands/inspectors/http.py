"""What an HTTP client's words say: methods, URLs, options that send or write (curl, wget).

The options are those of curl(1) 8.9 and wget(1) 1.21; their tables refuse or bound each of them, a
test compares the two.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from pulsus.commands.content import Opinion

READ_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"})
"""Methods that ask for nothing to be changed (RFC 9110 §9.2.1), and CONNECT, which only tunnels."""

CURL_WRITES: Final = frozenset(
    {
        *("-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode"),
        *("--json", "-F", "--form", "--form-string", "-T", "--upload-file", "-o", "--output"),
        *("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"),
        *("--output-dir", "--create-dirs", "-c", "--cookie-jar", "-D", "--dump-header", "-K"),
        *("--config", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save"),
        *("--hsts", "--alt-svc", "-Q", "--quote", "-a", "--append", "--mail-from"),
        *("--mail-rcpt", "-t", "--telnet-option", "--remove-on-error", "--xattr"),
    }
)
"""Options of curl that send data, write a file, or bring further options along."""

CURL_LETTERS: Final = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"
"""Short options of curl that take a value, in the same word or the next."""

WGET_WRITES: Final = frozenset(
    {
        *("-O", "--output-document", "-o", "--output-file", "-a", "--append-output", "-P"),
        *("--directory-prefix", "--post-data", "--post-file", "--body-data", "--body-file"),
        *("--method", "--save-cookies", "--warc-file", "--warc-cdx", "--warc-tempdir"),
        *("--warc-dedup", "--rejected-log", "--hsts-file", "-i", "--input-file", "-e"),
        *("--execute", "--config", "--input-metalink", "--use-askpass"),
    }
)
"""Options of wget that send data, write a file, or bring further options along."""

_URL: Final = re.compile(
    r"""(?:https?://)?
        (?:[^\s/?#@\\*]+@)?                                 # user:password; @FILE names a file
        (?P<host>[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]+(?:%25\w+)?\])
        (?::[0-9]{1,5})?
        (?P<rest>[/?#][^\s\\]*)?""",
    re.VERBOSE | re.IGNORECASE,
)
_GUESSED: Final = re.compile(r"(ftp|dict|ldap|imap|smtp|pop3)\.", re.IGNORECASE)
"""Beginnings of host names that curl takes for another protocol where no scheme is written."""

_SECRETS: Final = re.compile(
    r"169\.254\.[\d.]+|[0-9]{5,}|0[0-9x].*|\[::ffff:.*|.*:a9fe:.*|metadata(\.google\.internal)?|100\.100\.100\.200|\[fd00:ec2::254\]",
    re.IGNORECASE,
)
"""Where cloud machines are told their credentials, and addresses written so as not to show it."""

_ENDLESS: Final = re.compile(
    r"[?&](follow|watch|stream)=(1|t|true|yes|on)(&|$)|/watch/", re.IGNORECASE
)
_DOCKER_ENDLESS: Final = re.compile(
    r"/events(\?(?!.*\buntil=)|$)|/stats(\?(?!.*\bstream=(0|f|false)\b)|$)|/attach\b"
)
"""Streams of the Docker API: ended by `until`, `stream=false`."""

_GLOB: Final = re.compile(
    r"\{(?P<words>[^{}]*)\}|\[(?P<low>[0-9]{1,9})-(?P<high>[0-9]{1,9})(:[0-9]+)?\]"
    r"|\[[A-Za-z]-[A-Za-z](:[0-9]+)?\]"
)
_MORE: Final = re.compile(r"\[[0-9A-Za-z]+-")
"""Ranges that `_GLOB` does not count."""
_MOST_REQUESTS: Final = 100
"""Requests of one URL with curl's `{a,b}` and `[1-9]`."""


def http_method_mutates(method: str) -> bool:
    """Whether a request by `method` may change something; an unknown method may."""
    name = method.strip().upper()
    return bool(name) and name not in READ_METHODS


def curl_short_cluster(word: str) -> str:
    """The letters of a bundle of curl's short options (`-sXPOST`: `sX`); empty where it is none."""
    if not re.match(r"-[^-].", word):
        return ""
    letters = ""
    for letter in word[1:]:
        letters += letter
        if letter in CURL_LETTERS:
            break
    return letters if len(letters) > 1 else ""


def curl_args_have_http_url(words: Sequence[str]) -> bool:
    """Whether an operand or `--url` among curl's arguments begins with http:// or https://."""
    bare = [word.strip("\"'") for word in words]
    urls = [word.removeprefix("--url=") for word in bare]
    return any(re.match(r"https?://", url, re.IGNORECASE) for url in urls)


def curl_command_writes(words: str | Sequence[str]) -> bool:
    """Whether a call of curl sends a change or writes a file, by its options alone."""
    rest = list(_split(words)[1:])
    while rest:
        word = rest.pop(0)
        name, value = _option(word)
        if name in CURL_WRITES or any(f"-{letter}" in CURL_WRITES for letter in _letters(word)):
            return True
        if name in {"-X", "--request"}:
            method = value if value or not rest else rest.pop(0)
            if http_method_mutates(method):
                return True
    return False


def wget_option_writes(word: str) -> bool:
    """Whether `word` is an option of wget that sends data or writes a file."""
    if word.startswith("--"):
        return word.partition("=")[0] in WGET_WRITES
    return word[:1] == "-" and any(f"-{letter}" in WGET_WRITES for letter in word[1:2])


def _split(words: str | Sequence[str]) -> Sequence[str]:
    if not isinstance(words, str):
        return words
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()


def _letters(word: str) -> str:
    return curl_short_cluster(word) or (word[1:2] if word[:1] == "-" else "")


def _option(word: str) -> tuple[str, str]:
    """The option that takes the rest of `word`, and that rest."""
    if word.startswith("--"):
        name, _, value = word.partition("=")
        return name, value
    letters = _letters(word)
    return (f"-{letters[-1:]}", word[1 + len(letters) :]) if letters else ("", "")


def url(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges URLs that are fetched: http and https only, a bounded number, no stream.

    `argument` `docker` knows the streams of that API too.
    """
    for text in words:
        opinion = _url(text, argument)
        if not opinion.reads or opinion.category is not None:
            return opinion
    return Opinion(reads=True, rule="asks for what is there, by HTTP")


def _url(text: str, argument: str) -> Opinion:
    requests = _requests(text)
    found = _URL.fullmatch(_GLOB.sub("~", text))
    scheme = "://" in text.partition("?")[0]
    if found is None or (not scheme and _GUESSED.match(found["host"])):
        return Opinion(False, "not a plain http or https address", text)
    if _SECRETS.fullmatch(found["host"]):
        return Opinion(False, "a cloud machine is told its credentials there", found["host"])
    rest = found["rest"] or ""
    if requests > _MOST_REQUESTS or _MORE.search(rest):
        return Opinion(False, f"stands for more than {_MOST_REQUESTS} requests", text)
    if _ENDLESS.search(rest) or (argument == "docker" and _DOCKER_ENDLESS.search(rest)):
        rule = "the answer need not end"
        return Opinion(reads=True, rule=rule, word=text, category="unbounded_stream")
    return Opinion(reads=True, rule="asks for what is there, by HTTP", word=text)


def _requests(text: str) -> int:
    """How many addresses curl makes of `text`."""
    count = 1
    for found in _GLOB.finditer(text):
        if found["words"] is not None:
            count *= found["words"].count(",") + 1
        elif found["low"] is not None:
            count *= max(1, int(found["high"]) - int(found["low"]) + 1)
        else:
            count *= 26
    return count


def user(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges `name:password`: without the colon, the program asks for the password."""
    if all(":" in word for word in words):
        return Opinion(reads=True, rule="a name and what proves it")
    rule = "the password is asked for: write NAME:PASSWORD"
    return Opinion(reads=False, rule=rule, word=words[0], category="interactive_repl")
