"""Ask a model for a module, and for repairs until the gates accept it (spec §7).

The retries after a refused answer are limited by `generator.rounds` (`config/settings.py`); retries
of a failed HTTP request are in `llm/http/retries.py`, and the token budget is in
`llm/budgeted_model.py`. Answers are judged in `routing/generation/acceptance.py`, by the guardrails
of `core/compose/guardrails/all_rules.py` too. The prompts are `core/compose/prompts/*.j2`, filled
in by `core/compose/writing/prompt_messages.py`.

Effect: asks the model. The caller passes in the function that judges a module. A round is one
answer. A repeated answer is not judged again. The next question then has a higher temperature and a
shorter context, and a second repetition ends the rounds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pulsus.core.compose.model_protocol import Completion, Message, OnText, Proposer, Usage
from pulsus.core.compose.writing import prompt_messages
from pulsus.core.compose.writing.module_from_answer import extract_module
from pulsus.core.compose.writing.prompt_messages import AnswerRefusal, PromptContext
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import GenerationReport, GenerationRound, ValidatedModule, ValidationReport
from pulsus.errors import ModelAnswerInvalid, ModelError

TEMPERATURE_STEP = 0.4
"""Added to the temperature after a repeated answer, up to `MAX_TEMPERATURE`."""
MAX_TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A module from an answer, with the verdict of the gates. `refusal` is None if they accept it.

    `depth` counts the steps that it passed. `final` means that no other answer can do better, for
    example because there is no sandbox. `shown_source` is the module as the model may see it again;
    None shows it unchanged.
    """

    source: bytes
    sha256: str
    refusal: AnswerRefusal | None
    report: ValidationReport | None = None
    validated: ValidatedModule | None = None
    depth: int = 0
    final: bool = False
    shown_source: bytes | None = None


Judge = Callable[[str], JudgedAnswer]
"""Return the verdict of the gates on a module as the model wrote it."""


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """The result of all rounds. `best` passed the most steps; None if no answer holds a module.

    `failure` is the error of the model if it ended the rounds.
    """

    generation: GenerationReport
    best: JudgedAnswer | None
    failure: ModelError | None = None


@dataclass
class Generator:
    """Asks one model for one module. `redact` hides secrets in all that is hashed and recorded.

    `on_round` is called after every round, `on_text` with every piece of an answer.
    """

    model: Proposer
    judge: Judge
    redact: Callable[[str], str]
    rounds: int
    seed: int
    on_round: Callable[[GenerationRound], None]
    on_text: OnText | None = None
    _seen: dict[str, JudgedAnswer] = field(default_factory=dict)
    _rounds: list[GenerationRound] = field(default_factory=list)
    _best: JudgedAnswer | None = None
    _used: Usage = field(default_factory=Usage)

    def generate(self, brief: PromptContext) -> GenerationResult:
        """Return the accepted module, or the best one, with the reasons against each answer."""
        messages = prompt_messages.build_prompt(brief)
        question = _ModelQuestion(messages, self.model.temperature, self.seed)
        repairs, stopped, failure = 0, "", None
        while not stopped:
            try:
                answer, problem = self._request_answer(question)
            except ModelError as error:
                failure, stopped = error, f"the model failed: {error.message}"
                break
            judged, repeated = self._judge_answer(answer, problem, question)
            if judged.refusal is None:
                break
            stopped = self._find_stop_reason(judged, question, repeated, repairs)
            if not stopped:
                # A repetition costs no repair round: the model has not seen new reasons.
                repairs += not repeated
                quoted = _quote_module(judged, answer)
                question = _build_next_question(
                    brief, question, quoted, judged.refusal, repeated=repeated
                )
        return GenerationResult(self._build_report(repairs, stopped), self._best, failure)

    def _request_answer(self, question: _ModelQuestion) -> tuple[Completion, str]:
        """Return the model's answer, and "" or the reason why it is invalid.

        An invalid answer is a refused round, not a failure of the model: the next one may be good.
        """
        try:
            answer = self.model.complete(
                question.messages,
                temperature=question.temperature,
                seed=question.seed,
                on_text=self.on_text,
            )
        except ModelAnswerInvalid as error:
            return Completion("", Usage(), "", "other"), error.message
        return answer, "the answer holds no Python module" if answer.text else "the answer is empty"

    def _judge_answer(
        self, answer: Completion, problem: str, question: _ModelQuestion
    ) -> tuple[JudgedAnswer, bool]:
        """Return the verdict on the answer, and True if the same answer was given before.

        `problem` is the reason of the refusal if the answer holds no module.
        """
        code = extract_module(answer.text)
        key = hashlib.sha256((code or answer.text).encode("utf-8", "replace")).hexdigest()
        repeated = key in self._seen
        if not repeated:
            missing = JudgedAnswer(b"", "", AnswerRefusal("answer", (problem,)))
            self._seen[key] = self.judge(code) if code else missing
        judged = self._seen[key]
        self._used += answer.usage
        # Of two modules that are equally good, the later one has answered more of the reasons.
        if code and (self._best is None or _rank_answer(judged) >= _rank_answer(self._best)):
            self._best = judged
        self._record_round(judged, question, answer, repeated=repeated)
        return judged, repeated

    def _record_round(
        self, judged: JudgedAnswer, question: _ModelQuestion, answer: Completion, *, repeated: bool
    ) -> None:
        refusal = judged.refusal
        texts = refusal.reasons if refusal else ()
        reasons = tuple(self.redact(strip_controls(text)) for text in texts)
        if repeated:
            reasons = ("the same answer as before",)
        if answer.finish == "length":
            reasons = ("the answer was cut off: raise model.max_answer_tokens", *reasons)
        last = GenerationRound(
            number=len(self._rounds),
            temperature=question.temperature,
            seed=question.seed,
            prompt_hash=hash_prompt(question.messages, self.redact),
            tokens=answer.usage.total,
            sha256=judged.sha256 or None,
            step=refusal.step if refusal else None,
            reasons=reasons,
            changed=question.changed,
        )
        self._rounds.append(last)
        self.on_round(last)

    def _find_stop_reason(
        self, judged: JudgedAnswer, question: _ModelQuestion, repeated: bool, repairs: int
    ) -> str:
        """Return why the rounds end here, or "" if another answer is requested."""
        if judged.final:
            return "no answer can be verified on this machine"
        if repeated:
            # The first repetition gets one more question, with another temperature and context.
            return (
                "the model repeats itself, even for a changed question" if question.changed else ""
            )
        if repairs >= self.rounds:
            return f"{self.rounds} repair rounds are used up" if self.rounds else "no repair round"
        return ""

    def _build_report(self, repairs: int, stopped: str) -> GenerationReport:
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
class _ModelQuestion:
    messages: Sequence[Message]
    temperature: float
    seed: int
    changed: str | None = None


def hash_prompt(messages: Sequence[Message], redact: Callable[[str], str]) -> str:
    """Return the SHA-256 of the messages without secrets, with its prefix."""
    # Redacted first: the hash is logged, and short secrets could be guessed from it.
    sent = [[m.role, redact(m.content)] for m in messages]
    return "sha256:" + hashlib.sha256(json.dumps(sent).encode("ascii")).hexdigest()


def _build_next_question(
    brief: PromptContext,
    last: _ModelQuestion,
    answer: str,
    refusal: AnswerRefusal,
    *,
    repeated: bool,
) -> _ModelQuestion:
    """Return the next question; after a repetition it is hotter and has a shorter context."""
    messages = prompt_messages.build_repair_prompt(brief, answer, refusal, short=repeated)
    if not repeated:
        return replace(last, messages=messages, seed=last.seed + 1, changed=None)
    hotter = max(last.temperature, min(MAX_TEMPERATURE, last.temperature + TEMPERATURE_STEP))
    changed = f"temperature {hotter:.2g}, without the refused answer and other tools"
    return _ModelQuestion(messages, hotter, last.seed + 1, changed)


def _quote_module(judged: JudgedAnswer, answer: Completion) -> str:
    """Return the judged module in a fence, or the answer if it holds no module.

    Line numbers in the reasons refer to the module as it was judged.
    """
    source = judged.source if judged.shown_source is None else judged.shown_source
    code = source.decode("utf-8", "replace")
    return f"```python\n{code}```" if code else answer.text


def _rank_answer(judged: JudgedAnswer) -> tuple[bool, int]:
    return judged.refusal is None, judged.depth
