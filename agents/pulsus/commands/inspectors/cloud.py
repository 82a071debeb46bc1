"""Judge calls of clouds' clients by the names of their operations.

Patterns of read operations (`describe-*`, `list-*`) and of those that show secrets are in
`cloud.yaml`.

aws is `SERVICE OPERATION --option value…`, az is `GROUP… VERB --option value…`, linode-cli is
`GROUP ACTION ID… --option value…`. None of them takes an operation from anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pulsus.commands.content_inspector import Opinion
from pulsus.commands.shipped_data import rules_of

_RULES: Final[Mapping[str, Any]] = rules_of(Path(__file__).with_suffix(".yaml"))


def _compile_pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_RULES["patterns"][name]))


def _word_set(name: str) -> frozenset[str]:
    return frozenset(_RULES["words"][name].split())


_AZ_SECRETS: Final = _compile_pattern("az_secrets")
_AWS_SECRETS: Final = _compile_pattern("aws_secrets")
_SECRETS: Final = _compile_pattern("secrets")
_AWS_READS: Final = _compile_pattern("aws_reads")
_AWS_GETS: Final = _compile_pattern("aws_gets")
_AZ_READS: Final = _compile_pattern("az_reads")
_LINODE_READS: Final = _compile_pattern("linode_reads")
_LINODE_SECRETS: Final = _compile_pattern("linode_secrets")
_MANY: Final = _word_set("many")
_AWS_REFUSED: Final = _word_set("aws_refused")
_AZ_NO_GROUPS: Final = _word_set("az_no_groups")
_AZ_REFUSED: Final = _word_set("az_refused")
_AZ_SHORT: Final = _word_set("az_short")
_AWS_ALSO: Final = frozenset(_RULES["aws_also"])
_AZ_SECRET_GROUPS: Final = tuple(tuple(group.split()) for group in _RULES["az_secret_groups"])
_HARMLESS: Final = re.compile(
    r"[a-z]*(name|names|arn|arns|status|state|runtime|version|revision|modified|size|memory|timeout"
    r"|handler|id|ids|type|family|cpu|count|length|zone|region|created|date|time)",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_OPTION: Final = re.compile(r"--[a-z0-9]+(-[a-z0-9]+)*(=.*)?", re.DOTALL)

_AZ_ALSO: Final = frozenset({"version"})
_OF_A_FILE: Final = {"aws": re.compile(r"(^|=)fileb?://"), "az": re.compile(r"(^|=)@.", re.DOTALL)}
"""Values for which a client takes what stands in a file."""
_LINODE_REFUSED: Final = ("--as-user", "--debug")


def inspect(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge a call of a cloud's client; `argument` is aws, az or linode."""
    of_a_file = _OF_A_FILE.get(argument)
    if of_a_file and (sent := next(filter(of_a_file.search, words), None)):
        return _refuse_word(sent, "it sends the content of that file")
    return _CLIENTS[argument](words)


def _judge_aws(words: Sequence[str]) -> Opinion:
    if len(words) < 2 or not all(_PLAIN.fullmatch(word) for word in words[:2]):
        return _refuse_word(words[0], "a service and an operation are not named by plain words")
    service, operation = words[:2]
    if (service, operation) in {("ssm", "start-session"), ("ecs", "execute-command")}:
        return replace(_refuse_word(operation, "it opens a session"), category="interactive_repl")
    if words[:2] == ("s3", "cp") and words[2:4][-1:] == ("-",) and words[2].startswith("s3://"):
        return _refuse_options(words[4:], _AWS_REFUSED, frozenset()) or _accept_call(
            "aws", "s3 cp … -"
        )
    known = f"{service} {operation}" in _AWS_ALSO
    named = _AWS_READS.fullmatch(operation) or _AWS_GETS.fullmatch(operation)
    if not known and not named:
        return _refuse_word(operation, "not a known read operation of aws")
    if _SECRETS.search(operation) and not known:
        return _refuse_word(operation, "it can print a secret")
    if any(word.lower().rpartition("=")[2] == "userdata" for word in words[2:]):
        return _refuse_word(operation, "it prints the start-up data of a machine, with its secrets")
    if _AWS_SECRETS.fullmatch(f"{service} {operation}") and not _is_query_harmless(words[2:]):
        return _refuse_word(
            operation, "it prints environments or keys, if --query picks nothing else"
        )
    one = 1 if service == "s3" or operation == "tail" else 0
    refused = _AWS_REFUSED if operation != "tail" else (*_AWS_REFUSED, "--follow")
    return _refuse_options(words[2:], refused, frozenset(), operands=one) or _accept_call(
        "aws", operation
    )


def _is_query_harmless(words: Sequence[str]) -> bool:
    """Return True if `--query` selects only parts that hold no secret, by the last name of each
    path."""
    values = [word[8:] for word in words if word.startswith("--query=")]
    values += [b for a, b in pairwise(words) if a == "--query"]
    if len(values) != 1:
        return False
    query = re.sub(r"'[^']*'|`[^`]*`|[=<>!]=?|&&|\|\|", "", values[0])
    if re.search(r"[@*](?!\])|\[\s*\]\s*$|\bvalues\b|to_\w+\(", query):
        return False
    ends = re.findall(r"([A-Za-z]+)\s*(?=[\],}|)]|$)", query)
    return bool(ends) and all(_HARMLESS.fullmatch(end) for end in ends)


def _judge_az(words: Sequence[str]) -> Opinion:
    path = _words_before_options(words)
    if not path or not all(_PLAIN.fullmatch(word) for word in path):
        return _refuse_word(words[0], "a group and a verb are not named by plain words")
    verb = path[-1]
    if path[0] in {"interactive", "login"}:
        return replace(_refuse_word(verb, "it asks"), category="interactive_repl")
    if " ".join(path) not in _AZ_ALSO and (len(path) < 2 or not _AZ_READS.fullmatch(verb)):
        return _refuse_word(verb, "not a known read verb of az")
    if any(word in _AZ_NO_GROUPS for word in path):
        return _refuse_word(verb, "the words before it are no group of az that is known to read")
    secret = any(_SECRETS.search(word) or _AZ_SECRETS.fullmatch(word) for word in path)
    if secret or any(path[: len(group)] == group for group in _AZ_SECRET_GROUPS):
        return _refuse_word(verb, "it can print a secret")
    return _refuse_options(
        words[len(path) :], _AZ_REFUSED, _AZ_SHORT, several=True
    ) or _accept_call("az", verb)


def _judge_linode(words: Sequence[str]) -> Opinion:
    path = _words_before_options(words)
    if len(path) < 2 or not all(_PLAIN.fullmatch(word) for word in path[:2]):
        return _refuse_word(words[0], "a group and an action are not named by plain words")
    if not _LINODE_READS.fullmatch(path[1]) or path[0] in {"configure", "obj", "image-upload"}:
        return _refuse_word(path[1], "not a known read action of linode-cli")
    if _LINODE_SECRETS.search(path[1]):
        return _refuse_word(path[1], "it can print a secret")
    rest = words[len(path) :]
    return _refuse_options(rest, _LINODE_REFUSED, frozenset()) or _accept_call(
        "linode-cli", path[1]
    )


def _words_before_options(words: Sequence[str]) -> Sequence[str]:
    end = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:end]


def _refuse_options(
    words: Sequence[str],
    refused: Collection[str],
    short: frozenset[str],
    *,
    operands: int = 0,
    several: bool = False,
) -> Opinion | None:
    """Return a refusal of the options, or None.

    An option has one value, and those of `_MANY` any number (`several`: each may). A further word
    may be the file that a result is written to. `operands` may stand before the options.
    """
    room: float = operands
    for word in words:
        if not word.startswith("-"):
            room -= 1
        elif word in short:
            room = float("inf") if several else 1
        elif not _OPTION.fullmatch(word):
            return _refuse_word(word, "not a plain option")
        elif word == "--follow":
            return Opinion(
                False, "it follows and does not end; leave it out", word, "unbounded_stream"
            )
        elif any(one.startswith(word.partition("=")[0]) for one in refused):
            return _refuse_word(word, "it chooses a file or server to write to or read from")
        else:
            room = float("inf") if several or word in _MANY else 1
        if room < 0:
            return _refuse_word(word, "one word too many for a call that reads")
    return None


def _refuse_word(word: str, rule: str) -> Opinion:
    return Opinion(reads=False, rule=rule, word=word)


def _accept_call(client: str, word: str) -> Opinion:
    return Opinion(reads=True, rule=f"what {client} calls so only reads", word=word)


_CLIENTS: Final[Mapping[str, Callable[[Sequence[str]], Opinion]]] = {
    "aws": _judge_aws,
    "az": _judge_az,
    "linode": _judge_linode,
}
