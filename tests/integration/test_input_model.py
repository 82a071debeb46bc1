"""`pulsus route` and `pulsus fill` ask a configured model about open inputs, and judge its word."""

import importlib
import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from tests.input_answers import is_about_values, points
from tests.local_model import local_model
from tests.model_server import hangs, playing, says, status
from tests.project import make, pulsus_here

SCHEMAS = Path(__file__).parents[2] / "docs/schemas"
LOOK_UP = '''"""Look up the mailbox of a staff member.

Args:
    member (str): Login name of the staff member.
    quota (int): The least quota in megabytes.

Returns:
    found (str): The mailbox.

Side effects:
    none

Kind: {kind}

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {{member: ada, quota: 5}}
      output: {{found: "ada: 5"}}
"""

from __future__ import annotations


def run(member: str, quota: int = 0) -> dict[str, str]:
    """The mailbox."""
    return {{"found": f"{{member}}: {{quota}}"}}
'''
REQUEST = "look up the mailbox of staff member zork-7"


@pytest.fixture
def project(tmp_path):
    return lay_tool(make(tmp_path / "p", warm=False))


def lay_tool(folder, kind="read"):
    module = folder / "workflows/domains/mail/find/look_up_mailbox.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(LOOK_UP.format(kind=kind), encoding="utf-8")
    return folder


def routed(project, url, *args, request=REQUEST, **env):
    given = {"PULSUS_MODEL__BASE_URL": url, "PULSUS_MODEL__NAME": "tiny", **env}
    done = pulsus_here(project, "route", request, "--plan", "--output", "json", *args, env=given)
    document = json.loads(done.out)
    assert document["selected"] == ["mail/find/look_up_mailbox"], document
    return document, done


@pytest.fixture
def doubting(monkeypatch):
    """Let the words of a request be too unsure to be used, whatever the fitted weights say."""
    # The model's answers have the real limits: that module is imported before the change.
    from pulsus.core.arguments import filler

    importlib.import_module("pulsus.core.arguments.proposals.model_confirmation")
    monkeypatch.setattr(filler, "limit_of", lambda *_: 1.1)


def valid(document, name):
    found = {page.name: json.loads(page.read_text("utf-8")) for page in SCHEMAS.glob("*.json")}
    registry = Registry().with_resources((n, Resource.from_contents(d)) for n, d in found.items())
    jsonschema.Draft202012Validator(found[name], registry=registry).validate(document)


def test_a_value_that_the_model_confirms_fills_the_required_input(project, doubting):
    with playing(points(member="zork-7")) as played:
        document, _ = routed(project, played.url)
    member = document["inputs"]["member"]
    assert (member["value"], member["source"], member["text"]) == ("zork-7", "request", "zork-7")
    assert "model" in member["by"]
    use = document["input_model"]
    assert (use["model"], use["confirmed"], use["error"]) == ("tiny", ["member"], "")
    assert len(played.bodies) == 2
    valid(document, "route.json")


def test_a_made_up_value_reaches_no_input(project, doubting):
    def lies(handler):
        asked = handler.played.asked[-1]["body"]
        names = asked["response_format"]["json_schema"]["schema"]["properties"]
        about = is_about_values(asked)
        says(json.dumps(dict.fromkeys(names, "member" if about else "root")))(handler)

    with playing(lies) as played:
        document, _ = routed(project, played.url)
    assert "member" not in document["inputs"]
    assert document["input_model"]["confirmed"] == []
    assert [missing["name"] for missing in document["missing"]] == ["member"]


def test_no_model_and_the_setting_send_nothing(project, doubting):
    with playing(points(member="zork-7")) as played:
        document, _ = routed(project, played.url, "--no-model")
        again, _ = routed(project, played.url, PULSUS_MODEL__INPUTS="false")
        third, _ = routed(project, played.url, "--no-fill")
    assert played.asked == []
    assert [d["input_model"] for d in (document, again, third)] == [None, None, None]


def test_an_input_that_an_option_gives_is_not_asked_about(project, doubting):
    with playing(points(member="zork-7")) as played:
        document, _ = routed(project, played.url, "--input", "member=ada")
    assert document["inputs"]["member"]["value"] == "ada"
    assert "member" not in (document["input_model"] or {"asked": []})["asked"]


def test_a_writing_tool_is_never_asked_about(tmp_path):
    project = lay_tool(make(tmp_path / "p", warm=False), kind="write")
    with playing(points(member="zork-7")) as played:
        document, _ = routed(project, played.url)
    assert played.asked == []
    assert "member" not in document["inputs"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (status(500, "broken"), "MODEL_"),
        (says("no JSON at all"), "MODEL_ANSWER_INVALID"),
        (says('{"zork-7": "another input"}'), "MODEL_ANSWER_INVALID"),
        (hangs(5.0), "MODEL_UNREACHABLE"),
    ],
)
def test_a_failing_model_leaves_the_result_as_without_it_and_is_named(
    answer, code, project, doubting
):
    without, _ = routed(project, "", "--no-model")
    with playing(answer) as played:
        document, done = routed(project, played.url, PULSUS_MODEL__INPUT_SECONDS="0.5")
    assert done.code == 0
    same = ("inputs", "missing", "proposed", "unused", "policy", "selected")
    assert {key: document[key] for key in same} == {key: without[key] for key in same}
    assert code in document["input_model"]["error"]
    assert any("tiny was not used for member" in note for note in document["notes"])


def test_explain_says_how_the_model_was_asked(project, doubting):
    env = {"PULSUS_MODEL__NAME": "tiny"}
    with playing(points(member="zork-7")) as played:
        env["PULSUS_MODEL__BASE_URL"] = played.url
        done = pulsus_here(project, "route", REQUEST, "--explain", env=env)
    assert "input model: tiny was asked about member" in done.out
    assert "it confirmed member" in done.out
    assert 'member=zork-7 (from "zork-7"' in done.out
    assert "model" in done.out.partition('(from "zork-7"')[2].splitlines()[0]


def test_a_secret_of_the_request_is_not_sent(project, doubting):
    request = f"{REQUEST} password=hunter2secret"
    with playing(points()) as played:
        routed(project, played.url, request=request)
    assert played.bodies
    assert "hunter2secret" not in json.dumps(played.bodies)


def test_the_trace_names_the_model_and_no_value(project, doubting):
    with playing(points(member="zork-7")) as played:
        document, _ = routed(project, played.url)
    trace = project / f"logs/runs/{document['run_id']}/steps.log"
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    (fill,) = [event for event in events if event["phase"] == "fill"]
    assert fill["model"]["confirmed"] == ["member"]
    assert "zork-7" not in json.dumps(fill)


ROW = {
    "id": "a",
    "query": "zork-7 is the one to look up",
    "tool": {
        "name": "look_up_mailbox",
        "description": "Look up the mailbox of a staff member.",
        "parameters": {
            "properties": {"member": {"type": "string", "description": "Login name."}},
            "required": ["member"],
        },
    },
}


def filled(project, url, *args, rows=(ROW,), **more):
    (project / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    env = {"PULSUS_MODEL__BASE_URL": url, "PULSUS_MODEL__NAME": "tiny", **more}
    done = pulsus_here(project, "fill", "--jsonl", "rows.jsonl", "--proposed", *args, env=env)
    return done, [json.loads(line) for line in done.out.splitlines()]


def test_fill_asks_only_with_its_flag(project, doubting):
    with playing(points(member="zork-7")) as played:
        _, (plain,) = filled(project, played.url)
        assert played.asked == []
        done, (answer,) = filled(project, played.url, "--model")
    assert done.code == 0
    assert "input_model" not in plain
    assert {**answer["args"], **{k: v["value"] for k, v in answer["proposed"].items()}} == {
        "member": "zork-7"
    }
    assert answer["input_model"]["confirmed"] == ["member"]
    valid(answer, "fill-row.json")


def test_fill_answers_every_row_though_the_model_fails(project, doubting):
    rows = [{**ROW, "id": n} for n in range(5)]
    with playing(status(401, "no")) as played:
        done, answers = filled(project, played.url, "--model", rows=rows)
    assert done.code == 0
    assert [answer["id"] for answer in answers] == list(range(5))
    assert all(answer["input_model"]["error"] for answer in answers)
    assert len(played.bodies) == 3


def test_fill_with_a_model_needs_one(project):
    done, answers = filled(project, "", "--model")
    assert (done.code, answers) == (5, [])
    assert "no language model is configured" in done.err


@pytest.mark.real_llm
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_value_of_a_real_model_stands_in_the_request(project, doubting):
    queries = ("zork-7 is the one to look up", "look up the mailbox please", "member: ada or bert?")
    rows = [{**ROW, "id": query, "query": query} for query in queries]
    with local_model() as url:
        # Other tests share the processor with the model: its limit of 30 s is not what is tested.
        patient = {"PULSUS_MODEL__INPUT_SECONDS": "300"}
        done, answers = filled(project, url, "--model", rows=rows, **patient)
    assert done.code == 0
    for answer in answers:
        found = {**answer["text"], **{k: v["text"] for k, v in answer["proposed"].items()}}
        assert all(text in answer["id"] for text in found.values())
    assert answers[0]["input_model"]["error"] == ""
