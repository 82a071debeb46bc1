"""Asking a model for a module, and again (routing spec §7)."""

import hashlib

import pytest

from pulsus.core.compose.generator import Generator, JudgedAnswer
from pulsus.core.compose.writing.module_from_answer import extract_module
from pulsus.core.compose.writing.prompt_messages import AnswerRefusal, PromptContext
from pulsus.core.telemetry.redaction import redact
from pulsus.errors import ModelAnswerInvalid, ModelUnreachable
from tests.generation import MODULE, RULES, fenced, module
from tests.scripted import Scripted

BRIEF = PromptContext("count vowels", RULES, ("re",), neighbours=("an existing tool",))
BAD, WORSE = module(body="    import os"), module(body="    import socket")


def judge(code):
    """Accepts MODULE; of the others BAD got further."""
    source = code.encode()
    refusal = (
        None if code == MODULE else AnswerRefusal("mypy", (f"no {len(code)}",), "detail", "case")
    )
    digest = hashlib.sha256(source).hexdigest()
    return JudgedAnswer(source, digest, refusal, depth=5 if code == BAD else 3)


def generate(*answers, rounds=2, judge=judge):
    model = Scripted(*answers)
    told: list = []
    generator = Generator(model, judge, redact, rounds, 7, told.append)
    made = generator.generate(BRIEF)
    return made, model, told


def test_an_accepted_first_answer_costs_one_question():
    made, model, told = generate(fenced(MODULE))
    assert made.generation.accepted
    assert (made.generation.repairs, len(model.asked), len(told)) == (0, 1, 1)
    assert made.best.source == MODULE.encode()


def test_a_repair_prompt_has_the_reasons_the_checker_output_and_the_failing_example():
    _, model, _ = generate(fenced(BAD), fenced(MODULE))
    messages = model.asked[1][0]
    assert [m.role for m in messages] == ["system", "user", "assistant", "user"]
    assert BAD in messages[2].content
    assert all(word in messages[3].content for word in ("mypy", "detail", "case"))


def test_the_system_prompt_never_changes_between_questions():
    _, model, _ = generate(fenced(BAD), fenced(BAD), fenced(WORSE), fenced(MODULE))
    assert len({messages[0].content for messages, _ in model.asked}) == 1


def test_repairs_end_after_the_allowed_rounds_and_keep_every_reason():
    made, model, _ = generate(fenced(BAD), fenced(WORSE), fenced(module(head="# x")), rounds=2)
    assert not made.generation.accepted
    assert len(model.asked) == 3
    assert made.generation.stopped == "2 repair rounds are used up"
    assert [r.reasons for r in made.generation.rounds].count(()) == 0


def test_the_answer_that_passed_the_most_steps_is_kept():
    made, _, _ = generate(fenced(BAD), fenced(WORSE), fenced(WORSE + "\n# more"))
    assert made.best.source == BAD.encode()


def test_a_repeated_answer_is_not_judged_again_and_the_next_question_differs():
    judged = []

    def counted(code):
        judged.append(code)
        return judge(code)

    made, model, _ = generate(fenced(BAD), fenced(BAD), fenced(MODULE), judge=counted)
    assert judged == [BAD, MODULE]
    before, after = model.asked[1], model.asked[2]
    assert after[1]["temperature"] > before[1]["temperature"]
    assert after[1]["seed"] != before[1]["seed"]
    assert len(after[0]) < len(before[0])
    assert "an existing tool" not in after[0][1].content
    assert made.generation.accepted
    assert made.generation.rounds[2].changed
    assert made.generation.repairs == 1


def test_a_model_that_only_repeats_itself_is_stopped():
    made, model, _ = generate(fenced(BAD), fenced(BAD), fenced(BAD), rounds=9)
    assert len(model.asked) == 3
    assert "repeats itself" in made.generation.stopped


def test_answers_without_a_module_leave_no_candidate():
    made, _, _ = generate("I cannot.", "Sorry.", "No.")
    assert made.best is None
    assert made.generation.rounds[0].reasons == ("the answer holds no Python module",)


def test_an_empty_answer_is_a_refused_round_and_not_a_failure():
    made, _, _ = generate(ModelAnswerInvalid("the answer is empty"), fenced(MODULE))
    assert made.generation.accepted
    assert made.generation.rounds[0].reasons == ("the answer is empty",)


def test_a_model_failure_in_a_repair_keeps_the_earlier_answer():
    made, _, _ = generate(fenced(BAD), ModelUnreachable("it is gone"))
    assert isinstance(made.failure, ModelUnreachable)
    assert made.best.source == BAD.encode()
    assert "it is gone" in made.generation.stopped


def test_no_repair_is_requested_if_the_machine_cannot_verify():
    made, model, _ = generate(
        fenced(BAD),
        judge=lambda code: JudgedAnswer(
            code.encode(), "x", AnswerRefusal("import", ()), final=True
        ),
    )
    assert len(model.asked) == 1
    assert "verified" in made.generation.stopped


def test_secrets_are_in_no_recorded_reason_and_change_no_prompt_hash():
    def leaky(code):
        return JudgedAnswer(b"", "x", AnswerRefusal("dry-run", ("password=hunter2-hunter2",)))

    made, _, _ = generate(fenced(BAD), rounds=0, judge=leaky)
    assert "hunter2" not in str(made.generation)


@pytest.mark.parametrize(
    "answer",
    [
        MODULE,
        fenced(MODULE),
        f"```\n{MODULE}```",
        f"```py\n{MODULE}\n```\n",
        f"```bash\npip install x\n```\n\n```python\n{MODULE}```",
        f"```python\nprint(1)\n```\nand\n```python\n{MODULE}```",
        f"<think>\n```python\nx = 1\n```\n</think>\n```python\n{MODULE}```",
        f"```python\n{MODULE}",
        MODULE.replace("\n", "\r\n"),
    ],
)
def test_the_module_is_found_with_any_kind_of_fence(answer):
    assert extract_module(answer) == MODULE


def test_the_module_is_found_in_a_json_answer():
    import json

    assert extract_module(json.dumps({"module": MODULE})) == MODULE
    assert extract_module(json.dumps({"module": fenced(MODULE)})) == MODULE


@pytest.mark.parametrize("answer", ["", "I cannot do that.", "```python\n```", '{"module": 1}'])
def test_an_answer_without_code_gives_no_module(answer):
    assert extract_module(answer) is None
