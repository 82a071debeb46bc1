"""The deeds of a run, in the words of the runtime, which stand beside those of the model. Pure.

The note "Nothing was changed for this request." is written here, and shown by
`cli/agent/event_view.py`. Phrases find an invented claim in some languages and in some of its
spellings (ADR 45). The code knows in any language if a call succeeded and what was changed, so the
reader is told that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pulsus.agent.answers.plain_english import is_plain_english
from pulsus.agent.answers.plain_reading import is_plain_reading
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

NOTHING_CHANGED: Final = "Nothing was changed for this request."
NO_CALL_SUCCEEDED: Final = (
    "No tool call succeeded for this request: nothing was changed, and the text is the model's own."
)
_NO_RESULT_HAS: Final = "No tool result has: {}."
_NO_RESULT_IS_ABOUT: Final = "No tool result is about: {}."
_CHANGED: Final = "Changed for this request: {}."
_NOT_CONFIRMED: Final = "Changed for this request and not confirmed: {}."
_FAILED: Final = "A change was begun and failed: {}."
NOTE_MARK: Final = "Pulsus: "
"""Begins the line in which a reader is told a note."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The deeds of one request. `succeeded` counts its calls that worked.

    `changed` are the ids of what was written, `failed` those whose write failed, and so may have
    been changed in part. `unverified` are those of both whose state was not read since. `files`
    are the edited files, each behind the id of its machine.
    """

    succeeded: int = 0
    changed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()

    def after_write(self, names: Iterable[str], *, ok: bool, files: Iterable[str] = ()) -> RunFacts:
        """Return the facts after one more write, of `names`, or of `files` on them."""
        names = tuple(names)
        changed, failed = (names, ()) if ok else ((), names)
        return RunFacts(
            self.succeeded,
            tuple(dict.fromkeys((*self.changed, *changed))),
            tuple(dict.fromkeys((*self.failed, *failed))),
            self.unverified,
            tuple(dict.fromkeys((*self.files, *((name, f) for f in files for name in names)))),
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Return the fields of `agent_final` that no model writes."""
        return {"succeeded": self.succeeded, "changed": [*self.changed]}


def run_note(
    facts: RunFacts,
    answer: str,
    question: str,
    unsupported: Sequence[str] = (),
    unread: Sequence[str] = (),
) -> str:
    """Return the sentences that a reader needs beside an answer of a model, or an empty text.

    `question` is the text of a request that asks for no change; it is empty for any other one. With
    a change, or without a call that worked, there always is a sentence. A plain reading in answer
    to a question in English has none. In every other case the reader is told that nothing was
    changed. `unsupported` are numbers of the answer that no result has, and `unread` the subjects
    of its claims that no result mentions.
    """
    if not facts.succeeded and not facts.changed and not facts.failed:
        return NO_CALL_SUCCEEDED
    missing = [
        sentence.format(", ".join(each))
        for sentence, each in ((_NO_RESULT_HAS, unsupported), (_NO_RESULT_IS_ABOUT, unread))
        if each
    ]
    if facts.changed or facts.failed:
        return " ".join([*_told_changes(facts), *missing])
    ordinary = (
        question
        and not missing
        and is_plain_english(question)
        and is_plain_reading(answer, question)
        and NOTE_MARK.strip().casefold() not in answer.casefold()
    )
    return "" if ordinary else " ".join([NOTHING_CHANGED, *missing])


def _told_changes(facts: RunFacts) -> Iterable[str]:
    confirmed = [name for name in facts.changed if name not in facts.unverified]
    open_ones = [name for name in facts.changed if name in facts.unverified]
    for sentence, names in (
        (_CHANGED, confirmed),
        (_NOT_CONFIRMED, open_ones),
        (_FAILED, facts.failed),
    ):
        if names:
            yield sentence.format(", ".join(_with_files(name, facts) for name in names))


def _with_files(name: str, facts: RunFacts) -> str:
    """Return the id of what was changed, with the edited files on it."""
    files = [file for machine, file in facts.files if machine == name]
    return f"{name} ({', '.join(files)})" if files else name


def told_in_short(fields: Mapping[str, JsonValue]) -> str:
    """Return the deeds of an `agent_final`, for the line under every answer."""
    changed = fields.get("changed")
    if not isinstance(changed, list):
        return ""
    return f"changed {', '.join(map(str, changed))}" if changed else "changed nothing"
