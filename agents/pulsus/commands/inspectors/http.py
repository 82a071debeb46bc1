"""Judges what an HTTP client (curl, wget) fetches: its URLs, and `name:password`.

URLs of cloud metadata (169.254.169.254), of other schemes, and more than 100 requests are refused
here. HTTP methods such as POST are refused by `commands/tables/curl.yaml`.

If a host is allowed is decided in `gates/egress.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.content_inspector import Opinion

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
    r"169\.254\.[\d.]+|100\.100\.100\.200|168\.63\.129\.16|192\.0\.0\.192"
    r"|(?:metadata(?:\.google\.internal)?|instance-data(?:\.ec2\.internal)?)\.?"
    r"|\[::ffff:.*|.*:a9fe:.*|\[fd00:ec2::254\]"
    # Numbers that are no address as everybody writes it.
    r"|(?!(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})\Z)(?:0x[0-9a-f]*|[0-9]+)"
    r"(?:\.(?:0x[0-9a-f]*|[0-9]+))*\.?",
    re.IGNORECASE,
)
"""Addresses that give cloud machines their credentials, in every spelling."""

_HOST: Final = re.compile(r"https?://(?:[^\s/?#@]*@)?(\[[^]]*\]|[^\s/?#:'\"]+)", re.IGNORECASE)
"""Words of any program that name a machine to ask."""

_ENDLESS: Final = re.compile(
    r"[?&](follow|watch|stream)=(1|t|true|yes|on)(&|$)|/watch/", re.IGNORECASE
)
_DOCKER_ENDLESS: Final = re.compile(
    r"/events(\?(?!.*\buntil=)|$)|/stats(\?(?!.*\bstream=(0|f|false)\b)|$)|/attach\b"
)
"""Streams of the Docker API: ended by `until`, `stream=false`."""

_ASKS_ELSEWHERE: Final = re.compile(
    r"/distribution/|/plugins/privileges|/images/search|/pull\b|/search/repositories|/proxy/https?"
)
"""Requests that a daemon of containers answers with what another machine says."""

_GLOB: Final = re.compile(
    r"\{(?P<words>[^{}]*)\}|\[(?P<low>[0-9]{1,9})-(?P<high>[0-9]{1,9})(:[0-9]+)?\]"
    r"|\[[A-Za-z]-[A-Za-z](:[0-9]+)?\]"
)
_MORE: Final = re.compile(r"\[[0-9A-Za-z]+-")
"""Ranges that `_GLOB` does not count."""
_MOST_REQUESTS: Final = 100
"""Requests of one URL with curl's `{a,b}` and `[1-9]`."""


def metadata_host(text: str) -> str:
    """Return the host in `text` where cloud machines are told their credentials. Empty without
    one."""
    hosts = (found[1] for found in _HOST.finditer(text))
    return next(filter(_SECRETS.fullmatch, hosts), "")


def url(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges URLs that are fetched: http and https only, a bounded number, no stream.

    `argument` `docker` knows the streams of that API too.
    """
    for text in words:
        opinion = _judge_url(text, argument)
        if not opinion.reads or opinion.category is not None:
            return opinion
    return Opinion(reads=True, rule="asks for what is there, by HTTP")


def _judge_url(text: str, argument: str) -> Opinion:
    requests = _count_requests(text)
    found = _URL.fullmatch(_GLOB.sub("~", text))
    scheme = "://" in text.partition("?")[0]
    if found is None or (not scheme and _GUESSED.match(found["host"])):
        return Opinion(False, "not a plain http or https address", text)
    if _SECRETS.fullmatch(found["host"]):
        return Opinion(False, "a cloud machine gets its credentials there", found["host"])
    rest = found["rest"] or ""
    if requests > _MOST_REQUESTS or _MORE.search(rest):
        return Opinion(False, f"stands for more than {_MOST_REQUESTS} requests", text)
    if _ASKS_ELSEWHERE.search(rest.lower()) and (argument == "docker" or ":237" in text):
        return Opinion(False, "the daemon asks another machine for it", text)
    if _ENDLESS.search(rest) or (argument == "docker" and _DOCKER_ENDLESS.search(rest)):
        rule = "the answer need not end"
        return Opinion(reads=True, rule=rule, word=text, category="unbounded_stream")
    return Opinion(reads=True, rule="asks for what is there, by HTTP", word=text)


def _count_requests(text: str) -> int:
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
