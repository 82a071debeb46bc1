"""Find what a read would send to another machine, beside what the user said (issue, Egress).

It decides if a read could leak data (exfiltration), and limits the words, numbers and calls that a
session may send without a question to a person. Allowed hosts are decided in `gates/egress.py`.

Data that was read in a run must not leave it as a host name, a URL or words of a query.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pulsus.agent.call_digest import call_digest
from pulsus.agent.control.session_words import SessionWords, texts_in
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, INDEX
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.core.types import JsonValue
from pulsus.gates.egress import is_this_machine

_MOST_SHOWN: Final = 5
_USUAL_PORTS: Final = frozenset(
    {
        *(22, 25, 53, 80, 110, 143, 389, 443, 465, 587, 636, 853, 993, 995, 1433, 1521, 1883),
        *(2375, 2376, 2379, 3000, 3306, 4222, 5000, 5432, 5601, 5672, 6379, 6443, 8000, 8006),
        *(8080, 8086, 8123, 8200, 8443, 8500, 9000, 9042, 9090, 9092, 9093, 9100, 9200, 10250),
        *(11211, 15672, 27017),
    }
)
"""Ports of well-known services carry no words. Any other number may."""
_RELAY_PORTS: Final = frozenset(
    {
        *(53, 1080, 3128, 3129, 3142, 4873, 5000, 5001, 5353, 7890, 8053, 8081, 8082, 8118),
        *(8123, 8888, 9050, 9115, 9116),
    }
)
"""Ports of proxies, probers, resolvers and registries, which pass on what they are sent."""
_USUAL_PORT_TEXTS: Final = frozenset(map(str, _USUAL_PORTS))


_MOST_WORDS: Final = 4
"""Words that were said and that a command may send in an order of its own, each word once.

A request of 16 words is an alphabet of 4 bits a word: four words carry 16 bits at most, and a usual
path such as `/api/v1/health` has three."""
_MOST_WORDS_OF_A_SESSION: Final = 8
"""Such words that all calls of a session together may send, each text once: 40 bits of 32 words."""
_MOST_TEXTS: Final = 16
"""Hosts and texts that different commands may send after one message of the user, in an order of
the model's. Options count too: each other command is one more choice."""
_MOST_CALLS_OF_A_SESSION: Final = 100
"""Different commands and calls of tools that leave this machine unasked in one session."""
_LONGEST_SHOWN: Final = 80
_MOST_DIGITS: Final = 4
"""Digits of small numbers that a command may send unsaid: a few counts and limits, no text."""
_MOST_DIGITS_OF_A_SESSION: Final = 8
"""Digits that all commands of a session together may send so, each number of a program once."""


def find_unsaid_words(verdict: CommandVerdict, words: SessionWords) -> str:
    """Return which unsaid words would be sent, and where to; or an empty text."""
    for each in verdict.destinations:
        if is_this_machine(each.host) and each.port not in _RELAY_PORTS:
            continue
        own = each.host in {CONFIGURED, INDEX}
        host = "" if own else each.host.removeprefix("@")
        unsaid = words.unsaid_pieces(" ".join((host, *each.sends)))
        port = str(each.port) if each.port in _USUAL_PORTS else ""
        unsaid = [piece for piece in unsaid if piece != port]
        if unsaid:
            where = host or f"the host that {each.program} connects to"
            return f"it would send {', '.join(map(repr, unsaid[:_MOST_SHOWN]))} to {where}"
    return _find_spelled_text(verdict, words) or _find_many_numbers(verdict, words)


def _find_spelled_text(verdict: CommandVerdict, words: SessionWords) -> str:
    """Return that known words in an order of the model's could be a text, or an empty text.

    A text that was said as it stands passes. So does the same path for several hosts.
    """
    away = [each for each in verdict.destinations if not is_this_machine(each.host)]
    hosts = sorted({each.host.removeprefix("@") for each in away}, key=len, reverse=True)
    texts = dict.fromkeys(text for each in away for text in each.sends)
    rows: dict[tuple[str, ...], None] = {}
    for text in texts:
        if words.was_said_as_it_stands(text):
            continue
        host = next((host for host in hosts if host in text), "")
        rest = text.replace(host, "", 1) if host else text
        signs = words.odd_signs(text.replace(host, "x", 1) if host else text)
        if signs:
            return f"it would send the signs {signs[:_LONGEST_SHOWN]!r} to {away[0].host}"
        rows[tuple(words.pieces_of(rest))] = None
    many = [piece for row in rows for piece in row]
    repeats = next((row for row in rows if len({*row}) < len(row)), None)
    if repeats is None and len(many) <= _MOST_WORDS:
        return ""
    row = " ".join(repeats or many)
    return f"it would send the words {row[:_LONGEST_SHOWN]!r} in this order to {away[0].host}"


def _find_many_numbers(verdict: CommandVerdict, words: SessionWords) -> str:
    """Return that small numbers are sent which together could be a text, or an empty text."""
    numbers = [number for _, number in _numbers_sent(verdict, words)]
    return _describe_numbers(verdict, numbers) if sum(map(len, numbers)) > _MOST_DIGITS else ""


def _numbers_sent(verdict: CommandVerdict, words: SessionWords) -> list[tuple[str, str]]:
    """Return the small numbers that were not said and leave this machine, with their program."""
    away = [each for each in verdict.destinations if not is_this_machine(each.host)]
    sent = dict.fromkeys(
        (each.program, each.sends or (each.host, str(each.port or ""))) for each in away
    )
    return [(name, n) for name, texts in sent for n in words.small_numbers(" ".join(texts))]


def _describe_numbers(verdict: CommandVerdict, numbers: Sequence[str]) -> str:
    host = next(each.host for each in verdict.destinations if not is_this_machine(each.host))
    return f"it would send the numbers {', '.join(numbers[:_MOST_SHOWN])} to {host}"


class SentNumbers:
    """The small numbers that commands sent in one session without a question to a person.

    A row of commands with a few digits each could spell a text, so all of them together stay few.
    """

    def __init__(self, words: SessionWords) -> None:
        self._words = words
        self._sent: set[tuple[str, str]] = set()

    def find_many(self, verdict: CommandVerdict) -> str:
        """Return that a command would send too many numbers, or an empty text.

        Effect: counts the numbers of a command that is not asked about. A program that sends the
        same number again counts once.
        """
        numbers = _numbers_sent(verdict, self._words)
        sent = self._sent | {*numbers}
        if sum(len(number) for _, number in sent - self._sent) == 0:
            return ""
        if sum(len(number) for _, number in sent) > _MOST_DIGITS_OF_A_SESSION:
            return _describe_numbers(verdict, [number for _, number in numbers])
        self._sent = sent
        return ""


class SentTexts:
    """The texts of known words that commands and tools sent without a question to a person.

    Which of the known words are sent, with which options, and in which order, could spell a text, a
    few bits each. So all of them together stay few: after each message of the user, and in the
    whole session those that the user did not write as they stand. Two calls are the same only if
    their whole parsed commands are equal.
    """

    def __init__(self, words: SessionWords) -> None:
        self._words = words
        self._chosen = 0
        self._last = ""
        self._calls: set[str] = set()
        self._rows: dict[str, int] = {}

    def begin_message(self) -> None:
        """Take note that the user said something: what is sent from now on may be for that."""
        self._chosen = 0

    def find_many(self, verdict: CommandVerdict) -> str:
        """Return that a command would send too many texts, or an empty text.

        Effect: counts the texts of a command that is not asked about.
        """
        away = [each for each in verdict.destinations if not is_this_machine(each.host)]
        rows = {
            text: self._length(text.replace(each.host, "", 1))
            for each in away
            for text in each.sends
        }
        texts = [
            f"{each.program} {each.host} {text}"
            for each in away
            for text in each.sends or (str(each.port or ""),)
        ]
        return self._count(_parsed(verdict.command), texts, rows)

    def find_many_arguments(self, tool: str, args: Mapping[str, JsonValue]) -> str:
        """Return that the arguments of a tool would send too many texts, or an empty text.

        Effect: counts those of a call that is not asked about.
        """
        values = [(name, text) for name, each in args.items() for text in texts_in(each)]
        rows = {text: self._length(text) for _, text in values if text not in _USUAL_PORT_TEXTS}
        if sum(rows.values()) > _MOST_WORDS:
            return f"the words {' '.join(rows)[:_LONGEST_SHOWN]!r} in this order"
        signs = next(filter(None, (self._words.odd_signs(text) for text in rows if rows[text])), "")
        if signs:
            return f"the signs {signs[:_LONGEST_SHOWN]!r}"
        text = " ".join((tool, *(f"{name}={text}" for name, text in values)))
        return self._count(call_digest(tool, args), [text], rows)

    def _length(self, text: str) -> int:
        """Return how many words of a text are in an order of the model's own."""
        said = self._words.was_said_as_it_stands(text)
        return 0 if said else len(self._words.pieces_of(text))

    def _count(self, call: str, texts: Sequence[str], rows: Mapping[str, int]) -> str:
        """Return what is too much, or count the texts. The same call again at once is free."""
        if not texts or call == self._last:
            return ""
        texts = [*dict.fromkeys(texts)]
        chosen = self._chosen + len(texts)
        known, calls = {**self._rows, **rows}, self._calls | {call}
        before = sum(self._rows.values())
        many = sum(known.values()) > max(_MOST_WORDS_OF_A_SESSION, before)
        many = many or len(calls) > max(_MOST_CALLS_OF_A_SESSION, len(self._calls))
        if many or chosen > _MOST_TEXTS:
            row = "; ".join(texts)[:_LONGEST_SHOWN]
            return (
                f"after others it would send {row!r}, and all of them in this order could be a text"
            )
        self._chosen, self._rows, self._calls, self._last = chosen, known, calls, call
        return ""


def _parsed(command: str) -> str:
    """Return what two commands have in common that the shell reads alike, with every option."""
    try:
        return repr(parse_command(command))
    except Unreadable:
        return command


class SentArguments:
    """The small numbers that catalogue tools sent in one session without a question to a person."""

    def __init__(self, words: SessionWords) -> None:
        self._words = words
        self._sent: set[tuple[str, str]] = set()

    def find_unsaid(self, args: Mapping[str, JsonValue]) -> str:
        """Return what the arguments would send and the user did not say, or an empty text.

        Effect: counts the small numbers of a call that sends nothing else. The digits of all calls
        in the session together stay few, because a row of calls could spell a text.
        """
        numbers: set[tuple[str, str]] = set()
        for name, value in args.items():
            for text in texts_in(value):
                if text in _USUAL_PORT_TEXTS:
                    continue
                unsaid = self._words.unsaid_pieces(text)
                if unsaid:
                    return repr(unsaid[0])
                numbers |= {(name, each) for each in self._words.small_numbers(text)}
        sent = self._sent | numbers
        if numbers and sum(len(each) for _, each in sent) > _MOST_DIGITS:
            return f"the numbers {', '.join(sorted(each for _, each in numbers)[:_MOST_SHOWN])}"
        self._sent = sent
        return ""


def hosts_named_before(verdict: CommandVerdict, words: SessionWords) -> tuple[str, ...]:
    """Return the hosts of the command that the user, the settings or discovery named."""
    return tuple(each.host for each in verdict.destinations if words.was_named_before(each.host))
