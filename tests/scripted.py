"""A proposer with scripted answers. Only tests use it."""

from collections import deque

from pulsus.core.compose.model_protocol import Completion, ServedModel, Usage
from pulsus.llm.structured_answers import json_answer


class Scripted:
    """Gives the texts in order (an exception is raised); asked for more, it fails the test.

    `asked` holds each call: the messages and the options.
    """

    provider = "scripted"
    model = "script"
    temperature = 0.3

    def __init__(self, *texts):
        self._left = deque(texts)
        self.asked = []
        self.spent = Usage()

    def complete(self, messages, **options):
        """Return the next text, checked against the schema if there is one."""
        self.asked.append((tuple(messages), options))
        assert self._left, f"the script is over; asked: {messages[-1].content[:200]!r}"
        text = self._left.popleft()
        if isinstance(text, Exception):
            raise text
        usage = Usage(sum(len(m.content) for m in messages) // 4 + 1, len(text) // 4 + 1, True)
        self.spent += usage
        if options.get("on_text"):
            options["on_text"](text)
        if options.get("schema") is not None:
            text = json_answer(text, options["schema"])
        return Completion(text, usage, self.model, "stop")

    def models(self):
        """Return the only model of this server."""
        return [ServedModel(self.model)]
