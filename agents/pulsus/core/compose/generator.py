"""A module written by a language model, and repaired until the gates accept it (spec §7).

Effect: asks the model; what judges a module is given. A round is one answer. A repeated answer is
not judged again: the next question differs (a higher temperature, a shorter context), and a second
repetition ends it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pulsus.core.compose.proposer import Completion, Message, OnText, Proposer, Usage
from pulsus.core.compose.writing import prompt_messages
from pulsus.core.compose.writing.answers import extract_module
from pulsus.core.compose.writing.prompt_messages import AnswerRefusal, PromptContext
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import GenerationReport, GenerationRound, ValidatedModule, ValidationReport
from pulsus.errors import ModelAnswerInvalid, ModelError

TEMPERATURE_STEP = 0.4
"""What a repetition adds to the temperature; a server may take no more than `HOTTEST`."""
MAX_TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A module and what the gates say of it: `refusal` is None where they accept it.

    `depth` counts the steps it passed. `final` where no other answer could fare better (no
    sandbox). `shown` is the module as the model may see it again; None: as it is.
    """

    source: bytes
    sha256: str
    refusal: AnswerRefusal | None
    report: ValidationReport | None = None
    validated: ValidatedModule | None = None
    depth: int = 0
    final: bool = False
    shown: bytes | None = None


Judge = Callable[[str], JudgedAnswer]
"""The module as the model wrote it → what the gates say of it."""


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """What came of it. `best` got furthest, None where no answer held a module.

    `failure` is the model's, where it ended the rounds.
    """

    generation: GenerationReport
    best: JudgedAnswer | None
    failure: ModelError | None = None


@dataclass
class Generator:
    """Asks one model for one module. `redact` hides secrets in what is hashed and kept.

    `told` hears of every round as it ends, `on_text` of every piece of an answer.
    """

    model: Proposer
    judge: Judge
    redact: Callable[[str], str]
    rounds: int
    seed: int
    told: Callable[[GenerationRound], None]
    on_text: OnText | None = None
    _seen: dict[str, JudgedAnswer] = field(default_factory=dict)
    _rounds: list[GenerationRound] = field(default_factory=list)
    _best: JudgedAnswer | None = None
    _used: Usage = field(default_factory=Usage)

    def generate(self, brief: PromptContext) -> GenerationResult:
        """The accepted module, or the one that got furthest and every reason against each."""
        ask = _Ask(prompt_messages.build_prompt(brief), self.model.temperature, self.seed)
        repairs, stopped, failure = 0, "", None
        while not stopped:
            try:
                answer = self._complete(ask)
            except ModelError as error:
                failure, stopped = error, f"the model failed: {error.message}"
                break
            judged, again = self._judged(answer, ask)
            if judged.refusal is None:
                break
            stopped = self._stop(judged, ask, again, repairs)
            if stopped:
                break
            repairs += not again
            ask = _next(brief, ask, _shown(judged, answer), judged.refusal, again=again)
        return GenerationResult(self._generation(repairs, stopped), self._best, failure)

    def _complete(self, ask: _Ask) -> Completion:
        """The model's answer; one without any text is an answer too, and a refused one."""
        try:
            return self.model.complete(
                ask.messages, temperature=ask.temperature, seed=ask.seed, on_text=self.on_text
            )
        except ModelAnswerInvalid as error:
            return Completion("", Usage(), error.message, "other")

    def _judged(self, answer: Completion, ask: _Ask) -> tuple[JudgedAnswer, bool]:
        """(what the gates say of the answer, whether it was given before)."""
        code = extract_module(answer.text)
        key = hashlib.sha256((code or answer.text).encode("utf-8", "replace")).hexdigest()
        again = key in self._seen
        if not again:
            self._seen[key] = self.judge(code) if code else _none(answer)
        judged = self._seen[key]
        self._used += answer.usage
        if code and (self._best is None or _rank(judged) >= _rank(self._best)):
            self._best = judged
        self._note(judged if code else None, judged.refusal, ask, answer, again=again)
        return judged, again

    def _note(
        self,
        judged: JudgedAnswer | None,
        refusal: AnswerRefusal | None,
        ask: _Ask,
        answer: Completion,
        *,
        again: bool,
    ) -> None:
        told = refusal.reasons if refusal else ()
        reasons = tuple(self.redact(strip_controls(reason)) for reason in told)
        if again:
            reasons = ("the same answer as before",)
        if answer.finish == "length":
            reasons = ("the answer was cut off: raise model.max_answer_tokens", *reasons)
        found = GenerationRound(
            number=len(self._rounds),
            temperature=ask.temperature,
            seed=ask.seed,
            prompt_hash=hash_prompt(ask.messages, self.redact),
            tokens=answer.usage.total,
            sha256=judged.sha256 if judged else None,
            step=refusal.step if refusal else None,
            reasons=reasons,
            changed=ask.changed,
        )
        self._rounds.append(found)
        self.told(found)

    def _stop(self, judged: JudgedAnswer, ask: _Ask, again: bool, repairs: int) -> str:
        """Why no further answer is asked for; "" where one is."""
        if judged.final:
            return "no answer can be verified on this machine"
        if again:
            return "the model repeats itself, though asked differently" if ask.changed else ""
        if repairs >= self.rounds:
            return f"{self.rounds} repair rounds are used up" if self.rounds else "no repair round"
        return ""

    def _generation(self, repairs: int, stopped: str) -> GenerationReport:
        return GenerationReport(
            generator="model",
            accepted=self._best is not None and self._best.refusal is None,
            provider=self.model.provider,
            model=self.model.model,
            rounds=tuple(self._rounds),
            repairs=repairs,
            prompt_tokens=self._used.prompt_tokens,
            completion_tokens=self._used.completion_tokens,
            estimated=self._used.estimated,
            stopped=stopped,
        )


@dataclass(frozen=True, slots=True)
class _Ask:
    messages: Sequence[Message]
    temperature: float
    seed: int
    changed: str | None = None


def hash_prompt(messages: Sequence[Message], redact: Callable[[str], str]) -> str:
    """SHA-256 over what was sent, without secrets."""
    sent = [[m.role, redact(m.content)] for m in messages]
    return "sha256:" + hashlib.sha256(json.dumps(sent).encode("ascii")).hexdigest()


def _next(
    brief: PromptContext, ask: _Ask, answer: str, refusal: AnswerRefusal, *, again: bool
) -> _Ask:
    """The next question; after a repetition hotter, and without what led there."""
    messages = prompt_messages.build_repair_prompt(brief, answer, refusal, short=again)
    if not again:
        return replace(ask, messages=messages, seed=ask.seed + 1, changed=None)
    hotter = max(ask.temperature, min(MAX_TEMPERATURE, ask.temperature + TEMPERATURE_STEP))
    changed = f"temperature {hotter:.2g}, without the refused answer and other tools"
    return _Ask(messages, hotter, ask.seed + 1, changed)


def _shown(judged: JudgedAnswer, answer: Completion) -> str:
    """The module as it was judged, so that lines in the reasons are its lines; else the answer."""
    source = judged.source if judged.shown is None else judged.shown
    code = source.decode("utf-8", "replace")
    return f"```python\n{code}```" if code else answer.text


def _none(answer: Completion) -> JudgedAnswer:
    what = "the answer holds no Python module"
    if not answer.text:
        what = answer.model or "the answer is empty"
    return JudgedAnswer(b"", "", AnswerRefusal("answer", (what,)))


def _rank(judged: JudgedAnswer) -> tuple[bool, int]:
    return judged.refusal is None, judged.depth
