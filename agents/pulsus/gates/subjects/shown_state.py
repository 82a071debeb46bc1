"""Tell reads that cannot show the state of what they name: their output is hidden, or constant.

Such a read does not verify a write: `gates/workflow/workflow_state.py` goes on waiting.

`systemctl status nginx > /dev/null` names nginx and shows nothing, `docker inspect -f '{{.Id}}'`
prints what no restart changes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name

_WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>"})
_FORMATS: Final[Mapping[str, frozenset[str]]] = {
    "stat": frozenset({"-c", "--format", "--printf"}),
    "docker": frozenset({"-f", "--format"}),
    "podman": frozenset({"-f", "--format"}),
    "kubectl": frozenset({"-o", "--output", "--template"}),
    "oc": frozenset({"-o", "--output", "--template"}),
    "systemctl": frozenset({"-p", "-P", "--property"}),
    "find": frozenset({"-printf"}),
}
"""Options that say which facts a program prints."""
_FACTS: Final[Mapping[str, re.Pattern[str]]] = {
    "stat": re.compile(r"%[^nN%]"),
    "find": re.compile(r"%[^pPfhd%]"),
    "docker": re.compile(r"\{\{.*(?:json \.|\.(?!(?:Id|ID|Name|Names|Image)\b)[A-Za-z])"),
    "kubectl": re.compile(r"(?:json|yaml|wide)(?![\w-])|\.(?:status|spec|data|roleRef|subjects)\b"),
    "systemctl": re.compile(r"(?:^|,)(?!(?:Id|Names|Description|Documentation|FragmentPath)\b)\w"),
}
"""Parts of a format that print more than the name of a thing."""
_OTHER_NAMES: Final = {"podman": "docker", "oc": "kubectl"}
_HIDES: Final[Mapping[str, re.Pattern[str]]] = {
    "ls": re.compile(r"-[a-zA-Z]*[BI].*|--(?:ignore|hide).*"),
    "journalctl": re.compile(
        r"-U.*|--until.*|--list-boots|--disk-usage|-F.*|--field.*|-N|-[1-9]\d*|-n0|--lines=0"
    ),
    "docker": re.compile(r"--until.*|--tail=0"),
    "findmnt": re.compile(r"-[a-zA-Z]*s.*|--fstab|--tab-file.*|-F.*"),
    "sysctl": re.compile(r"-[a-zA-Z]*N.*|--names"),
    "grep": re.compile(r"-[a-zA-Z]*[qv].*|--(?:quiet|silent|invert-match)"),
}
"""Words with which a program leaves out what is there now."""
_LIMITS: Final = frozenset({"-n", "-c", "--lines", "--bytes", "--tail"})
_VERBS: Final[Mapping[str, frozenset[str]]] = {
    "docker": frozenset({"history", "version", "search"}),
    "kubectl": frozenset({"explain", "auth", "api-resources", "api-versions", "config", "version"}),
    "systemctl": frozenset({"help", "cat", "list-dependencies", "list-unit-files"}),
    "apt-cache": frozenset({"show", "search", "depends", "rdepends"}),
}
"""Verbs that show no state."""
_PASSES: Final = frozenset(
    {
        *(
            "grep",
            "egrep",
            "fgrep",
            "rg",
            "head",
            "tail",
            "sed",
            "awk",
            "gawk",
            "mawk",
            "cut",
            "tr",
        ),
        *("sort", "uniq", "cat", "column", "jq", "yq", "less", "more", "nl", "fold", "tac", "cd"),
        *("xargs", "expand", "fmt", "strings", "rev", "paste", "ls", "stat", "wc"),
    }
)
"""Filters that pass on lines, or a part of each."""
_CUTTERS: Final = frozenset({"head", "tail", "sed", "awk", "gawk", "cut", "true", "wc", "md5sum"})
"""Filters behind which a listing may have lost what it listed."""
_FINDS_SOME: Final = re.compile(
    r"-i?(?:name|path|wholename|regex|lname)|-newer\w*|-[acm](?:time|min)|-size|-empty|-user|-group"
    r"|-perm|-not|!|-prune|--filter.*|-n|--last.*|--state.*|--type.*|-t"
)
"""Options with which a listing is of some things only."""


def hides_its_output(command: str, script: Script) -> bool:
    """Return True if a command may not run its read, or sends what it prints elsewhere."""
    if "||" in command:
        return True
    return any(each.operator in _WRITES and each.fd in {"", "1", "&"} for each in script.redirects)


def shows_state(words: Sequence[Word]) -> bool:
    """Return False for a call that prints no state of what it names, whatever that is."""
    program = _known_as(program_name(words))
    texts = [word.text for word in words[1:]]
    if program in {"diff", "cmp"} and len({t for t in texts if t[:1] != "-"}) < 2:
        return False
    hides = _HIDES.get(program)
    if hides is not None and any(map(hides.fullmatch, texts)):
        return False
    if any(option in _LIMITS and value == "0" for option, value in pairwise(texts)):
        return False
    if any(text in {"-n0", "-c0"} for text in texts):
        return False
    first = next((text for text in texts if text[:1] != "-"), "")
    if first in _VERBS.get(program, frozenset()):
        return False
    facts = _FACTS.get(program)
    return facts is None or all(map(facts.search, _formats(program_name(words), texts)))


def passes_lines(words: Sequence[Word]) -> bool:
    """Return True for a filter behind which lines of its input are still to be read."""
    counts = program_name(words).endswith("grep") and any(
        re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*|--count", word.text) for word in words[1:]
    )
    return program_name(words) in _PASSES and not counts


def lists_all(words: Sequence[Word], behind: Sequence[Sequence[Word]]) -> bool:
    """Return False for a listing of some things only, by an option or a filter `behind` it."""
    if any(_FINDS_SOME.fullmatch(word.text) for word in words[1:]):
        return False
    return not any(program_name(call) in _CUTTERS for call in behind)


def _known_as(program: str) -> str:
    return _OTHER_NAMES.get(program, program)


def _formats(program: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield the values of the options that say which facts a program prints."""
    options = _FORMATS.get(program, frozenset())
    for text, following in pairwise([*texts, ""]):
        option, equals, value = text.partition("=")
        if option in options:
            yield value if equals else following
        elif text[:2] in options and text[:2] != "--" and len(text) > 2:
            yield text[2:]
