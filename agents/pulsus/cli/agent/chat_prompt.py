"""The input line of `pulsus chat`: history, completion, and an end from another thread.

Earlier input is kept in `.pulsus/chat_history`, with secrets masked. The chat itself is
`cli/agent/chat_loop.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.history import FileHistory, InMemoryHistory

from pulsus.agent.mentions.mention_parser import Mention
from pulsus.cli.agent.slash_commands import COMMANDS
from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

    from pulsus.core.telemetry.redaction import Redactor

_WORD = late_pattern(r"(?:^|(?<=\s))([@/][^\s@]*)$")
_PLAIN = late_pattern(r"[\w][\w.:/-]*\Z")


class PromptWoken(Exception):
    """The input line was left because something else needs the person."""


class ChatCompleter(Completer):
    """Completes `/commands` at the start of a line, and `@names` of resources anywhere."""

    def __init__(self) -> None:
        self.names: Mapping[str, str] = {}
        """Names of resources with their ids. A name of several resources is not among them."""

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        """Yield what the word before the cursor may become."""
        found = _WORD.search(document.text_before_cursor)
        if found is None:
            return
        word, start = found[1], -len(found[1])
        if word.startswith("/"):
            if found.start(1) == 0:
                for name, about in COMMANDS.items():
                    if name.startswith(word):
                        yield Completion(name, start, display_meta=about)
            return
        for name, resource_id in self.names.items():
            if name.casefold().startswith(word[1:].casefold()):
                text = f"@{name}" if _PLAIN.match(name) else f'@"{name}"'
                yield Completion(text, start, display_meta=resource_id)

    def structured(self, mentions: tuple[Mention, ...]) -> list[Mention]:
        """Return the mentions whose names are completions, with their ids."""
        return [
            Mention("structured", one.name, self.names[one.name])
            for one in mentions
            if one.form == "at" and one.name in self.names
        ]


class RedactedHistory(FileHistory):
    """Earlier input in a file, without secrets."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        super().__init__(str(path))
        self._redactor = redactor

    def store_string(self, string: str) -> None:
        """Append one input."""
        super().store_string(self._redactor.redact(string))


class ChatPrompt:
    """Asks for lines. `wake` leaves a line that is being edited; its text is kept for the next."""

    def __init__(self, completer: ChatCompleter, history: Path | None, redactor: Redactor) -> None:
        kept = RedactedHistory(history, redactor) if history else InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(history=kept, completer=completer)
        self._woken = threading.Event()
        self._draft = ""

    def ask(self, message: str) -> str:
        """Return a line. Raises PromptWoken, KeyboardInterrupt for Ctrl-C, EOFError for Ctrl-D."""
        draft, self._draft = self._draft, ""
        return self._session.prompt(message, default=draft, pre_run=self._leave_if_woken)

    def ask_plainly(self, message: str) -> str | None:
        """Return a line that is neither completed nor remembered; None at the end of the input."""
        plain: PromptSession[str] = PromptSession(history=InMemoryHistory())
        try:
            return plain.prompt(f"{message} ").strip()
        except EOFError:
            return None

    def wake(self) -> None:
        """Leave the line that is being edited, or the next one. May be called by any thread."""
        self._woken.set()
        loop = self._session.app.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._exit)

    def settle(self) -> None:
        """Forget an earlier `wake`: what it was for is being handled."""
        self._woken.clear()

    def _leave_if_woken(self) -> None:
        loop = self._session.app.loop
        assert loop is not None
        loop.call_soon(self._exit)

    def _exit(self, *_: Any) -> None:
        app = self._session.app
        if self._woken.is_set() and app.is_running and app.future and not app.future.done():
            self._draft = self._session.default_buffer.text
            app.exit(exception=PromptWoken())
