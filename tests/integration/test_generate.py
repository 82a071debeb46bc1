"""Generate a module, validate and promote it: real server, real sandbox (routing spec §7)."""

import json
import re
import shlex

import pytest

from pulsus.approvals.approver_protocol import Approve, Discard
from pulsus.bootstrap import build
from pulsus.errors import PlanUnwirable
from pulsus.routing.delivery.route_run import GenerationRequest, RouteOptions
from tests.generation import GIVEN, MODULE, OTHER, REQUEST, WRONG, fenced, module
from tests.integration.test_json_schemas import check
from tests.model_server import playing, says, status
from tests.project import COMPOSE, COUNT, NOTHING, events, make, pulsus_here, records
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

PLACE = ("--domain", "text", "--action", "count", "--name", "count_vowels")
BAD = module(counts=WRONG)
GOOD = (fenced(MODULE),)


@pytest.fixture
def project(tmp_path):
    need_sandbox()
    return make(tmp_path / "project")


@pytest.fixture
def ask(project):
    """Run `pulsus` with a model that gives these answers, and check its JSON against the schema."""

    def run(*args, answers=GOOD, env=None):
        with playing(*map(says, answers)) as server:
            model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
            done = pulsus_here(project, *args, "--output", "json", env=model | (env or {}))
        if done.code != 2:  # a wrong call is answered with the error alone
            check(args[0], done.json)
        run.asked = server.bodies  # type: ignore[attr-defined]
        return done

    return run


def candidate(project):
    (path,) = (project / "workflows/_tmp").glob("route_*.py")
    return path


def note(project):
    return json.loads(candidate(project).with_suffix(".json").read_text("utf-8"))


def test_an_unused_and_a_forgotten_import_are_repaired_without_another_round(project, ask):
    counts = '    return {"vowels": len(re.findall("[aeiou]", text))}'
    written = fenced(module(head="from collections import Counter", counts=counts))
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, answers=(written,))
    assert done.code == 4, done.out
    assert done.json["generation"]["repairs"] == 0
    text = candidate(project).read_text("utf-8")
    assert "Counter" not in text
    assert "\nimport re\n" in text


@pytest.mark.seconds
def test_an_unclosed_docstring_is_repaired_without_another_round(ask):
    unclosed = MODULE.replace('"""\n\nfrom __future__', "\nfrom __future__")
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, answers=(fenced(unclosed),))
    assert done.code == 4, done.out
    assert done.json["generation"]["repairs"] == 0


@pytest.mark.seconds
def test_the_command_in_the_hint_promotes_a_proven_module_and_records_its_model(project, ask):
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE)
    assert done.code == 4, done.out
    assert done.json["validation"]["proof"] == "behaviour"
    assert done.json["generation"]["accepted"]
    assert not records(project)
    path = candidate(project)
    program, *args = shlex.split(done.json["error"]["hint"].partition(": ")[2])
    assert program == "pulsus"
    promoted = pulsus_here(project, *args, "--output", "json")
    assert promoted.code == 0, promoted.out
    (record,) = records(project)
    model = record["model"]
    assert record["name"] == "count_vowels.py"
    assert (model["provider"], model["name"], model["rounds"]) == ("openai", "tiny", 0)
    assert model["prompt_hash"].startswith("sha256:")
    assert (model["tokens"], record["tokens_estimate"]) == (18, 18)
    assert "seed" in model
    assert "temperature" in model
    assert not path.exists()
    ran = pulsus_here(project, "run", "count_vowels", "--input", "text=audio", "--output", "json")
    assert ran.json["result"] == {"vowels": 4}


@pytest.mark.seconds
def test_an_unattended_promotion_needs_two_different_examples_and_a_target(project, ask):
    shape = ask("generate", REQUEST, *PLACE, "--non-interactive")
    assert (shape.code, shape.json["validation"]["proof"]) == (4, "shape")
    assert any("proof: shape" in text for text in shape.json["notes"])
    assert shape.json["generation"]["behaviours"] == 0
    assert ask("generate", REQUEST, *GIVEN, *PLACE, "--non-interactive").code == 4
    assert not records(project)
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--non-interactive")
    assert done.code == 0, done.out
    assert done.json["promotion"]["path"].endswith("text/count/count_vowels.py")
    (record,) = records(project)
    assert record["proof"] == "behaviour"


@pytest.mark.seconds
def test_one_of_two_examples_is_hidden_and_unproven_boundaries_are_reported(ask):
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE)
    (told,) = [note for note in done.json["notes"] if "checked with" in note]
    assert told == "checked with 2 examples, one of them hidden from the model"
    (open_,) = [note for note in done.json["notes"] if "not proven at the boundary" in note]
    assert 'text = "" (empty)' in open_
    assert {"argument": "text", "value": "", "why": "empty"} in done.json["generation"][
        "boundaries"
    ]
    again = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE)
    assert told in again.json["notes"]
    assert done.json["generation"]["held_back"] == 1


TABLE = '    return {"vowels": {4: 2, 6: 0}.get(len(text), 1)}'
THIRD = ("--example", '{"text": "audio"} -> {"vowels": 4}')


@pytest.mark.seconds
def test_a_lookup_table_of_the_examples_is_not_promoted_unattended(project, ask):
    by_length = [fenced(module(counts=TABLE))]
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--non-interactive", answers=by_length)
    assert done.code == 3, done.out
    assert "a table of its examples" in done.json["error"]["message"]
    assert not records(project)


@pytest.mark.seconds
def test_the_hidden_example_decides_and_is_never_sent_to_the_model(project, ask):
    said = f'{REQUEST}, where {{"text": "audio"}} -> {{"vowels": 4}}'
    given = ("generate", said, *GIVEN, *OTHER, *THIRD, *PLACE, "--non-interactive")
    answers = [fenced(module(counts=TABLE)), fenced(MODULE)]
    done = ask(*given, answers=answers)
    assert done.code == 0, done.out
    first, second = done.json["generation"]["rounds"]
    assert (first["step"], second["step"]) == ("dry-run", None)
    assert "not shown" in first["reasons"][0]
    assert done.json["generation"]["held_back"] == 1
    assert "checked with 3 examples, one of them hidden from the model" in done.json["notes"]
    asked = json.dumps([body["messages"] for body in ask.asked])
    assert "rhythm" in asked
    assert "audio" not in asked
    assert "text: audio" in (project / done.json["promotion"]["path"]).read_text("utf-8")


@pytest.mark.seconds
def test_a_module_that_reads_its_examples_out_of_memory_is_refused(project, ask):
    reads = """    found: list[int] = []
    with open("/proc/self/maps", encoding="utf-8") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            start, _, end = line.split()[0].partition("-")
            if "heap" not in line:
                continue
            memory.seek(int(start, 16))
            told = memory.read(int(end, 16) - int(start, 16))
            at = told.find(b"{text: " + text.encode() + b"}")
            found += [told[at + len(text) + 32] - 48] if at >= 0 else []
    return {"vowels": found[0] if found else -1}"""
    done = ask(
        *("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--rounds", "0", "--non-interactive"),
        answers=[fenced(module(counts=reads))],
    )
    assert done.code == 3, done.out
    assert "without the examples" in done.json["error"]["message"]
    assert not records(project)


@pytest.mark.seconds
def test_refusals_are_sent_with_lines_of_the_module_without_the_hidden_example(ask):
    forbidden = module(body="    import os\n    os.getcwd()")
    mistyped = module(counts='    size: int = "a"\n    return {"vowels": size}')
    answers = [fenced(forbidden), fenced(mistyped), fenced(MODULE)]
    ask("generate", REQUEST, *GIVEN, *OTHER, *THIRD, *PLACE, answers=answers)
    *_, answer, told = ask.asked[1]["messages"]
    (line,) = [n for n, text in enumerate(answer["content"].splitlines()) if "import os" in text]
    assert f"line {line}: imports os" in told["content"]  # the fence is a line of its own
    told = ask.asked[2]["messages"][-1]
    assert '[assignment], in `size: int = "a"`' in told["content"]


def test_a_round_is_traced_and_repaired_by_its_reasons_and_no_secret_is_sent(project, ask):
    key = "c0ffee-c0ffee-c0ffee"
    done = ask(
        "generate",
        f"{REQUEST} {key}",
        *GIVEN,
        *PLACE,
        answers=[fenced(BAD), fenced(MODULE)],
        env={"PULSUS_LLM_API_KEY": key},
    )
    assert done.json["generation"]["repairs"] == 1
    told = ask.asked[1]["messages"][-1]["content"]
    assert "expected 2, got 4" in told
    assert "text: echo" in told
    assert key not in json.dumps([body["messages"] for body in ask.asked])
    rounds = [e for e in events(project) if e["phase"] == "generate"]
    assert [e["round"] for e in rounds] == [0, 1]
    assert rounds[0]["reasons"]
    assert key not in json.dumps(events(project))
    assert key not in json.dumps(note(project))


def test_contradictory_examples_are_refused_without_asking_the_model(project, ask):
    other = ("--example", '{"text": "echo"} -> {"vowels": 3}')
    done = ask("generate", REQUEST, *GIVEN, *other, *PLACE)
    assert (done.code, done.json["error"]["code"]) == (2, "EXAMPLES_IMPOSSIBLE")
    assert not ask.asked


@pytest.mark.parametrize(
    "wrong", ['{"text": "echo"} -> {"vowels": 3}', '{"te-xt": "echo"} -> {"vowels": 2}']
)
def test_impossible_examples_are_refused_before_a_model_is_missed(project, wrong):
    given = (*GIVEN, "--example", wrong)
    for more in ((), ("--scaffold",)):
        done = pulsus_here(project, "generate", REQUEST, *given, *more, "--output", "json")
        assert (done.code, done.json["error"]["code"]) == (2, "EXAMPLES_IMPOSSIBLE")


def test_examples_of_wildcards_do_not_allow_an_unattended_promotion(project, ask):
    loose = (
        "--example",
        '{"text": "a"} -> {"vowels": "..."}',
        "--example",
        '{"text": "b"} -> "..."',
    )
    done = ask("generate", REQUEST, *loose, *PLACE, "--non-interactive")
    assert done.code == 4, done.out
    assert done.json["validation"]["proof"] == "shape"
    assert done.json["generation"]["behaviours"] == 0
    assert not records(project)


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_answer_with_terminal_codes_is_refused_and_not_printed(project, form):
    hostile = MODULE.replace("Count the", "Count \\x1b[2J\\u202e the \x1b[31m\u2066", 1)
    with playing(says(fenced(hostile))) as server:
        env = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        done = pulsus_here(
            project,
            *("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--rounds", "0", "--non-interactive"),
            *("--output", form),
            env=env,
        )
    assert done.code == 3, done.out
    assert not set(done.out + done.err) & set("\x1b\u202e\u2066")
    assert not records(project)


@pytest.mark.seconds
def test_a_routed_request_never_promotes_a_generated_module_unattended(project, ask):
    request = NOTHING + ' as in {"text": "echo"} -> {"vowels": 2} and {"text": ""} -> {"vowels": 0}'
    done = ask("route", request, "--non-interactive")
    assert done.code == 4, done.out
    assert done.json["policy"] == "generate"
    assert done.json["validation"]["proof"] == "behaviour"
    assert not records(project)


def test_a_wrong_module_that_lint_and_types_accept_is_refused_by_the_callers_example(project, ask):
    done = ask("generate", REQUEST, *GIVEN, *PLACE, "--rounds", "0", answers=[fenced(BAD)])
    assert done.code == 3
    (answer,) = done.json["generation"]["rounds"]
    assert answer["step"] == "dry-run"
    assert "expected 2, got 4" in answer["reasons"][0]
    assert note(project)["status"] == "failed"
    assert any("expected 2, got 4" in reason for reason in note(project)["reasons"])


def test_examples_of_the_model_do_not_replace_those_of_the_caller(project, ask):
    cheat = BAD.replace("- inputs: {text: echo}", "- inputs: {text: ''}\n      output: {vowels: 0}")
    done = ask("generate", REQUEST, *GIVEN, *PLACE, "--rounds", "0", answers=[fenced(cheat)])
    assert done.code == 3
    assert "text: echo" in candidate(project).read_text("utf-8")


def test_a_module_that_breaks_the_guardrails_never_runs(project, ask, tmp_path):
    canary = tmp_path / "canary"
    bad = module(head="import os", body=f"    os.system('touch {canary}')")
    done = ask("generate", REQUEST, *GIVEN, *PLACE, "--rounds", "0", answers=[fenced(bad)])
    assert done.code == 3
    (answer,) = done.json["generation"]["rounds"]
    assert answer["step"] == "guardrails"
    assert "imports os" in answer["reasons"][0]
    assert [s["step"] for s in done.json["validation"]["steps"]] == ["static", "guardrails"]
    promoted = pulsus_here(
        project, "promote", candidate(project), *PLACE, "--yes", "--output", "json"
    )
    assert promoted.code == 3
    assert not records(project)


@pytest.mark.seconds
def test_a_candidate_that_waits_for_approval_is_reused_without_asking_the_model(ask):
    first = ask("generate", REQUEST, *GIVEN, *PLACE)
    second = ask("generate", REQUEST, *GIVEN, *PLACE)
    assert (len(ask.asked), second.code) == (0, first.code)
    assert any("offered again" in text for text in second.json["notes"])
    ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE)
    assert len(ask.asked) == 1
    ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--regenerate")
    assert len(ask.asked) == 1


@pytest.mark.seconds
def test_a_rejected_or_edited_candidate_is_not_promoted_unattended(project, ask):
    both = ("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--non-interactive")
    ask(*both, "--dry-run")
    path = candidate(project)
    data = note(project) | {"status": "rejected", "reasons": ["too slow"]}
    path.with_suffix(".json").write_text(json.dumps(data), encoding="utf-8")
    done = ask(*both)
    assert done.code == 4
    assert "too slow" in done.json["error"]["message"]
    assert note(project)["status"] == "rejected"
    path.write_text(path.read_text("utf-8") + "\n# edited\n", encoding="utf-8")
    done = ask(*both)
    assert done.code == 4
    assert records(project) == []


@pytest.mark.seconds
def test_an_edited_candidate_is_not_overwritten(project, ask):
    ask("generate", REQUEST, *GIVEN, *PLACE, "--rounds", "0", answers=[fenced(BAD)])
    path = candidate(project)
    mended = path.read_text("utf-8").replace("len(text)", 'sum(c in "aeiou" for c in text)')
    path.write_text(mended, encoding="utf-8")
    done = ask("generate", REQUEST, *GIVEN, *PLACE)
    assert len(ask.asked) == 0
    assert done.json["validation"]["status"] == "accepted"
    assert path.read_text("utf-8") == mended


def test_generate_without_a_model_names_the_setting_and_writes_nothing(project):
    done = pulsus_here(project, "generate", REQUEST, "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (5, "LLM_NOT_CONFIGURED")
    assert "model.base_url" in done.json["error"]["hint"]
    assert not (project / "workflows/_tmp").exists()


def test_an_unavailable_model_is_a_temporary_failure(project):
    with playing(status(503, "loading")) as server:
        env = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__RETRIES": "0"}
        done = pulsus_here(project, "generate", REQUEST, "--output", "json", env=env)
    assert done.code == 75
    assert not (project / "workflows/_tmp").exists()


def test_a_plan_that_cannot_be_wired_is_generated(project, ask, monkeypatch):
    def unwirable(*_):
        raise PlanUnwirable("s2 has nowhere to take 'rows' from")

    monkeypatch.setattr("pulsus.routing.plan_preview.compose_plan", unwirable)
    done = ask("route", COMPOSE)
    assert done.json["policy"] == "generate"
    assert "'rows'" in done.json["reason"]
    assert len(ask.asked) == 1
    alone = pulsus_here(project, "route", COMPOSE, "--output", "json")
    assert (alone.code, alone.json["error"]["code"]) == (5, "PLAN_UNWIRABLE")


@pytest.mark.seconds
def test_the_summary_says_why_a_tool_is_written_although_one_fits(project, monkeypatch):
    with playing(says(fenced(MODULE)), says(fenced(MODULE))) as server:
        env = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        asked = pulsus_here(project, "generate", COUNT, *GIVEN, "--dry-run", env=env)
        assert "a new tool was asked for, though text/count/count_words fits" in asked.out, asked
        monkeypatch.setattr("pulsus.routing.plan_preview.compose_plan", _unwirable)
        routed = pulsus_here(project, "route", COMPOSE, env=env)
    assert "no plan: s2 has nowhere to take 'rows' from" in routed.out
    assert "serves every part" not in asked.out + routed.out


def _unwirable(*_):
    raise PlanUnwirable("s2 has nowhere to take 'rows' from")


def test_route_run_does_not_run_a_generated_module(ask):
    request = f"{REQUEST} of the sort"
    done = ask("route", request, "--run", "--input", "text=a")
    assert "result" not in done.json


def test_plan_and_explain_do_not_ask_the_model(ask):
    for flags in (["--plan"], ["--explain"]):
        done = ask("route", NOTHING, *flags)
        assert (done.code, done.json["error"]["code"]) == (5, "NOTHING_FITS")
        assert not ask.asked
    assert ask("explain", NOTHING).code == 0
    assert not ask.asked


@pytest.mark.parametrize(
    ("command", "answers"), [("generate", [fenced(BAD), "no"]), ("route", ["no"])]
)
def test_an_answer_without_a_module_counts_as_a_round(command, answers, ask):
    request = REQUEST if command == "generate" else NOTHING
    flags = [*GIVEN, *PLACE] if command == "generate" else []
    done = ask(command, request, *flags, answers=answers)
    assert len(done.json["generation"]["rounds"]) >= len(answers)


def test_a_dry_run_validates_and_does_not_promote(project, ask):
    done = ask("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--dry-run", "--non-interactive")
    assert done.code == 0
    assert done.json["validation"]["ok"]
    assert not records(project)
    assert candidate(project).is_file()


def test_a_name_that_is_taken_is_refused(project, ask):
    taken = ("--domain", "text", "--action", "count", "--name", "count_words")
    done = ask("generate", COUNT, *GIVEN, *taken)
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


@pytest.mark.seconds
def test_a_skeleton_fails_validation_until_its_body_is_written(project):
    done = pulsus_here(project, "generate", REQUEST, *GIVEN, "--scaffold", "--output", "json")
    assert done.code == 0, done.out
    assert done.json["generation"]["generator"] == "template"
    path, test = (
        project / "workflows/_tmp" / "count_vowels_sentence.py",
        project / done.json["generation"]["test"],
    )
    assert test == path.with_name("test_count_vowels_sentence.py")
    assert test.is_file()
    assert any("not written" in text for text in done.json["notes"])
    refused = pulsus_here(project, "validate", path)
    assert refused.code == 3
    assert "not written yet" in refused.out
    again = pulsus_here(project, "generate", REQUEST, *GIVEN, "--scaffold")
    assert again.code == 2
    written = path.read_text("utf-8").rpartition("    raise")[0] + '    return {"vowels": 2}\n'
    path.write_text(written, encoding="utf-8")
    assert pulsus_here(project, "validate", path).code == 0


def test_a_skeleton_does_not_replace_that_of_another_request(project):
    first = ("generate", REQUEST, "--scaffold")
    assert pulsus_here(project, *first).code == 0
    path = project / "workflows/_tmp" / "count_vowels_sentence.py"
    before = path.read_bytes()
    other = ("generate", "count the vowels in each sentence", "--scaffold")
    for more in ((), ("--regenerate",)):
        refused = pulsus_here(project, *other, *more)
        assert (refused.code, "--name NAME" in refused.err) == (2, True), refused.err
    assert path.read_bytes() == before
    assert pulsus_here(project, *other, "--name", "vowels_each").code == 0
    assert (project / "workflows/_tmp" / "vowels_each.py").is_file()
    outside = pulsus_here(project, *other, "--name", "../outside")
    assert (outside.code, "TARGET_REFUSED" in outside.err) == (6, True)
    assert pulsus_here(project, *first, "--regenerate").code == 0


def test_no_command_that_is_offered_after_a_skeleton_is_refused_as_a_second_one(project, ask):
    assert pulsus_here(project, "generate", REQUEST, "--scaffold").code == 0
    routed, done = (
        pulsus_here(project, command, REQUEST, "--output", "json")
        for command in ("route", "generate")
    )
    for each in (routed, done):
        hint = each.json["error"]["hint"]
        assert "go on with workflows/_tmp/count_vowels_sentence.py" in hint
        assert "--scaffold" not in hint
    (kept,) = done.json["kept"]
    regenerate = shlex.split(kept["commands"]["regenerate"])[1:]
    assert regenerate == ["generate", REQUEST, "--regenerate"]
    assert ask(*regenerate, *GIVEN, *OTHER).json["generation"]["accepted"]


def test_no_printed_command_forgets_the_options_of_the_call(project, ask):
    request = "count the vowels of an error log"
    ask("generate", request, *GIVEN, *PLACE, "--rounds", "0", answers=[fenced(BAD)])
    shown = pulsus_here(project, "generate", request, *GIVEN, *PLACE)
    assert "domain=text action=count (given)" in shown.out
    lines = dict(re.findall(r"  (promote|regenerate): pulsus (.*)", shown.out))
    promote, regenerate = shlex.split(lines["promote"]), shlex.split(lines["regenerate"])
    assert promote == ["promote", str(candidate(project).relative_to(project)), *PLACE]
    assert regenerate == ["generate", request, "--regenerate", *PLACE, *GIVEN]
    assert ask(*regenerate).json["generation"]["accepted"]
    done = pulsus_here(project, *promote, "--yes", "--output", "json")
    assert done.json["promotion"]["path"].endswith("text/count/count_vowels.py"), done.out
    shared = pulsus_here(project, "generate", REQUEST, "--scaffold", "--action", "count")
    assert "domain=shared action=count (action given)" in shared.out


def test_no_printed_command_shows_a_secret_of_an_example(project, ask):
    key = "c0ffee-c0ffee-c0ffee"
    given = ("--example", f'{{"text": "{key}"}} -> {{"vowels": 6}}')
    env = {"PULSUS_LLM_API_KEY": key}
    ask("generate", REQUEST, *given, *PLACE, "--rounds", "0", answers=[fenced(BAD)], env=env)
    shown = pulsus_here(project, "generate", REQUEST, *given, *PLACE, env=env)
    assert "regenerate: pulsus generate" in shown.out
    assert key not in shown.out + shown.err


def test_the_guessed_folder_of_a_skeleton_is_called_a_guess(project):
    done = pulsus_here(project, "generate", REQUEST, "--scaffold")
    assert "are a guess: choose your own in the next command" in done.out
    place = ("--domain", "text", "--action", "count", "--name", "vowels")
    said = pulsus_here(project, "generate", REQUEST, "--scaffold", *place)
    assert "a guess" not in said.out


@pytest.mark.parametrize(("given", "guessed"), [("domain", "action"), ("action", "domain")])
def test_only_the_given_option_of_a_skeleton_is_called_given(project, given, guessed):
    place = {"domain": "text", "action": "count"}[given]
    said = pulsus_here(project, "generate", REQUEST, "--scaffold", f"--{given}", place)
    assert f" ({given} given)" in said.out
    assert f"note: the {guessed} above is a guess" in said.out


class PersonAtTerminal:
    """Gives examples, then decides."""

    def __init__(self, answer, *examples, reuse=False):
        self.examples, self.answer, self.again = list(examples), answer, reuse
        self.problems: list = []
        self.seen: list = []

    def clarify(self, question, understands):
        raise AssertionError("asked though the place was said")

    def example(self, problem):
        self.problems.append(problem)
        return self.examples.pop(0) if self.examples else None

    def decide(self, proposal):
        self.seen.append(proposal)
        return self.answer

    def reuse(self, module, status, reasons):
        self.seen.append(status)
        return self.again


def interactive(project, person, answers, monkeypatch, **wanted):
    with playing(*map(says, answers)) as server:
        monkeypatch.setenv("PULSUS_MODEL__BASE_URL", server.url)
        options = GenerationRequest(
            forced=True, domain="text", action="count", name="count_vowels", **wanted
        )
        app = build(project, {})
        outcome = app.router(person).route(REQUEST, RouteOptions(wanted=options))
    return outcome, server.bodies


def test_a_person_is_asked_for_examples_and_sees_the_strength_of_the_proof(project, monkeypatch):
    person = PersonAtTerminal(Approve(), "echo has two", '{"text": "echo"} -> {"vowels": 2}')
    outcome, _ = interactive(project, person, [fenced(MODULE)], monkeypatch)
    assert outcome.promotion
    assert outcome.validation
    assert outcome.validation.proof == "behaviour"
    assert "cannot be read" in person.problems[1]
    assert any("written by" in text for text in person.seen[0].notes)


def test_the_approval_prompt_says_that_no_example_proves_the_behaviour(project, monkeypatch):
    person = PersonAtTerminal(Discard("too little"))
    outcome, _ = interactive(project, person, [fenced(MODULE)], monkeypatch)
    assert any("proof: shape" in text for text in person.seen[0].notes)
    assert outcome.promotion is None
    assert note(project)["status"] == "rejected"


@pytest.mark.seconds
def test_a_rejected_module_is_offered_for_debugging_or_a_new_one_is_generated(project, monkeypatch):
    interactive(project, PersonAtTerminal(Discard("no")), [fenced(MODULE)], monkeypatch)
    keep = PersonAtTerminal(Discard("still no"), reuse=True)
    _, asked = interactive(project, keep, [fenced(MODULE)], monkeypatch)
    assert (keep.seen[0], asked) == ("rejected", [])
    anew = PersonAtTerminal(Discard("no"), reuse=False)
    _, asked = interactive(project, anew, [fenced(MODULE)], monkeypatch)
    assert len(asked) == 1


@pytest.mark.seconds
def test_a_module_that_reads_other_files_is_not_promoted_unattended(project, ask):
    reads = """    extra = 0
    for name in ("/etc/" + "shadow" + text[:0],):
        try:
            extra = len(Path(name).read_text(encoding="utf-8"))
        except OSError:
            extra = 0
    return {"vowels": sum(c in "aeiou" for c in text) + extra}"""
    code = module(counts=reads).replace(
        "from typing import Any", "from pathlib import Path\nfrom typing import Any"
    )
    given = ("generate", REQUEST, *GIVEN, *OTHER, *PLACE, "--non-interactive")
    done = ask(*given, answers=[fenced(code)])
    assert done.code == 4, done.out
    assert "it reads /etc/shadow" in done.json["error"]["message"]
    assert not records(project)
