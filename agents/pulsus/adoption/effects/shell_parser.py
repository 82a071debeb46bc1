"""A shell script as its simple commands, wherever they stand (POSIX sh, bash, ksh). Pure.

Bodies of loops, branches, functions, subshells and substitutions are commands like any other: what
may run is told, not when. A text that cannot be followed raises `Unreadable` with its line.
"""

from __future__ import annotations

import re

from pulsus.adoption.effects.shell_values import (
    ARITHMETIC,
    ASSIGNED,
    ENDS,
    GOES_ON,
    HOLE,
    PLACE,
    Here,
    Piece,
    Redirect,
    Simple,
    Unreadable,
    Word,
)  # fmt: skip
from pulsus.adoption.effects.shell_words import META, Scanner

MAX_DEPTH = 40
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\())")
_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")


def commands(text: str, first_line: int = 1) -> tuple[list[Simple], frozenset[str]]:
    """(every simple command, the names of functions). Raises Unreadable."""
    reader = _Reader(text, first_line, 0)
    try:
        reader.run(frozenset())
    except RecursionError:
        raise Unreadable(first_line, "it nests too deep") from None
    return reader.found + reader._scan.inside, frozenset(reader.functions)


class _Reader:
    def __init__(self, text: str, first_line: int, depth: int) -> None:
        self._scan = Scanner(text, first_line, self._nested)
        self._depth, self._pending = depth, list[Here]()
        self.found: list[Simple] = []
        self.functions: set[str] = set()
        self._known = {
            **dict.fromkeys(ENDS, self._trailing),
            **dict.fromkeys(("for", "select"), self._for),
            "case": self._case,
            "[[": self._test,
            "function": self._named,
            "time": self._timed,
        }

    def run(self, until: frozenset[str]) -> str:
        """Read commands up to one of these; which one it was, `""` at the end of the text."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._scan.stop("it nests too deep")
        ordered = sorted(until, key=len, reverse=True)
        while True:
            self._space(newlines=True)
            closed = next((each for each in ordered if self._closes(each)), "")
            if closed or self._scan.ended:
                break
            self._one()
        if until and not closed:
            raise self._scan.stop(f"{' or '.join(ordered)} is missing")
        self._depth -= 1
        return closed

    def _nested(self, text: str | None, line: int) -> None:
        """Commands in a substitution: here up to their `)`, or in a text of their own."""
        if text is None:
            self.run(frozenset(")"))
            self._scan.at += 1
            return
        inner = _Reader(text, line, self._depth)
        inner.run(frozenset())
        self._take(inner)

    def _take(self, inner: _Reader) -> None:
        self.found += inner.found + inner._scan.inside
        self.functions |= inner.functions

    def _closes(self, until: str) -> bool:
        if not self._scan.sees(until):
            return False
        end = self._scan.at + len(until)
        after = self._scan.text[end : end + 1]
        return not until[-1].isalpha() or after in META

    def _one(self) -> None:
        scan = self._scan
        if scan.sees("((") and scan.arithmetic(2):
            self._trailing()
        elif scan.sees("("):
            scan.at += 1
            self.run(frozenset(")"))
            scan.at += 1
            self._trailing()
        elif scan.text[scan.at] in ";&|" and not scan.sees("&>"):
            scan.at += 1
        elif scan.sees(")"):
            raise scan.stop("a ) that closes nothing")
        else:
            self._command()

    def _trailing(self) -> None:
        """Redirections behind a compound command."""
        line, found = self._scan.line, list[Redirect]()
        self._space()
        while one := self._redirect():
            found.append(one)
            self._space()
        if found:
            self.found.append(Simple(line, (), (), tuple(found)))

    def _command(self) -> None:
        scan, line = self._scan, self._scan.line
        if ASSIGNED.match(scan.text, scan.at) or _REDIRECT.match(scan.text, scan.at):
            self._simple(line, [])
            return
        start = scan.at
        word = scan.word()
        if scan.at == start:
            raise scan.stop(f"{scan.text[start : start + 1]!r} is not expected here")
        name = None if word.quoted else word.text
        known = self._known.get(name or "")
        if known:
            known()
        elif name and _PARENTHESES.match(scan.text, scan.at):
            self._function(name)
        elif name not in GOES_ON:
            self._simple(line, [word])

    def _named(self) -> None:
        """`function NAME`."""
        self._space()
        self._function(self._scan.word().raw)

    def _timed(self) -> None:
        """`time`, the shell's own, has one option."""
        self._space()
        self._scan.at += 2 if self._closes("-p") else 0

    def _function(self, name: str) -> None:
        self.functions.add(name)
        if found := _PARENTHESES.match(self._scan.text, self._scan.at):
            self._scan.at = found.end()

    def _simple(self, line: int, words: list[Word]) -> None:
        scan = self._scan
        assigned: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        while True:
            self._space()
            one = self._redirect()
            if one:
                redirects.append(one)
                continue
            if not scan.in_word():
                break
            match = None if words else ASSIGNED.match(scan.text, scan.at)
            if match:
                scan.at = match.end()
                if match[2] and not PLACE.fullmatch(match[2]):
                    place = Word(line, "[", match[2])
                    self.found.append(Simple(line, (Word(line, ARITHMETIC, "(("), place)))
                assigned.append((match[1], self._value()))
            else:
                words.append(scan.word())
        self.found.append(Simple(line, tuple(words), tuple(assigned), tuple(redirects)))

    def _redirect(self) -> Redirect | None:
        scan = self._scan
        match = _REDIRECT.match(scan.text, scan.at)
        if not match:
            return None
        scan.at = match.end()
        self._space()
        word = scan.word()
        if match[2] not in ("<<", "<<-"):
            return Redirect(match[2], word)
        here = Here(word.shape, match[2] == "<<-", word.quoted)
        self._pending.append(here)
        return Redirect(match[2], None, here)

    def _value(self) -> Word:
        """What stands behind `NAME=`: nothing, a word, or the words of an array."""
        scan = self._scan
        if not scan.sees("("):
            return scan.word()
        line, start = scan.line, scan.at
        scan.at += 1
        shape = " ".join([HOLE, *(each.shape for each in self._words(")"))])
        return Word(line, shape, scan.text[start : scan.at], splits=True)

    def _words(self, end: str, between: str = "") -> list[Word]:
        """The words up to `end`."""
        scan, found = self._scan, list[Word]()
        while True:
            self._space(newlines=True)
            before = scan.at
            if scan.sees(end):
                scan.at += len(end)
                return found
            if between and scan.sees(between):
                scan.at += 1
            elif not scan.ended:
                found.append(scan.word())
            if scan.at == before:
                raise scan.stop(f"{end} is missing")

    def _case(self) -> None:
        scan = self._scan
        self._space()
        scan.word()
        self._space(newlines=True)
        if scan.word().raw != "in":
            raise scan.stop("a case without in")
        while True:
            self._space(newlines=True)
            if self._closes("esac"):
                break
            scan.at += 1 if scan.sees("(") else 0
            self._words(")", "|")
            closed = self.run(frozenset((";;", ";&", ";;&", "esac")))
            scan.at += 0 if closed == "esac" else len(closed)
        scan.at += 4
        self._trailing()

    def _for(self) -> None:
        scan = self._scan
        self._space()
        if scan.sees("(("):
            scan.arithmetic(2)
            return
        name, line, words = scan.word(), scan.line, list[Word]()
        self._space(newlines=True)
        if self._closes("in"):
            scan.at += 2
            self._space()
            while scan.in_word():
                words.append(scan.word())
                self._space()
        given = words or [Word(line, f"{HOLE}.", name.raw)]
        self.found.append(Simple(line, (), tuple((name.shape, each) for each in given)))

    def _test(self) -> None:
        """`[[ … ]]`, where `<`, `(` and `&&` are words like others."""
        scan, line = self._scan, self._scan.line
        words = [Word(line, "[[", "[[")]
        while True:
            self._space(newlines=True)
            if scan.ended:
                raise scan.stop("]] is missing")
            if self._closes("]]"):
                scan.at += 2
                self.found.append(Simple(line, tuple(words)))
                self._trailing()
                return
            if scan.in_word():
                words.append(scan.word())
            else:
                scan.at += 1

    def _space(self, *, newlines: bool = False) -> None:
        scan = self._scan
        while not scan.ended:
            char = scan.text[scan.at]
            if char in " \t":
                scan.at += 1
            elif scan.sees("\\\n"):
                scan.at += 2
            elif char == "#":
                scan.at = scan.line_end
            elif char == "\n" and newlines:
                scan.at += 1
                pending, self._pending = self._pending, []
                for here in pending:
                    self._document(here)
            else:
                return

    def _document(self, here: Here) -> None:
        line, rows = self._scan.line, self._scan.rows(here)
        here.body = "".join(rows) if here.quoted else self._expanded("".join(rows), line)

    def _expanded(self, body: str, line: int) -> str:
        """The document, whose substitutions run, with a HOLE for each."""
        inner, piece = _Reader(body, line, self._depth), Piece()
        while not inner._scan.ended:
            inner._scan.double(piece)
        self._take(inner)
        return "".join(piece.shape)
