"""Twenty questions to a real 1.5B model: `pulsus agent` beside a plain loop.

Each row is appended to AGENT_ROWS, if that names a file. AGENT_ARMS and AGENT_QUESTIONS narrow a
run. The server is that of `tests/local_model.py` with the model `1.5b`. AGENT_PLAIN_URL names a
second one, for the plain loop: then both arms get each question one after the other, and each
server keeps the prompt of its arm in its cache. No such question begins after AGENT_SECONDS.
"""

import json
import os
import subprocess
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from pulsus.agent.agent_session import AgentSession, AskOptions
from pulsus.bootstrap import build
from pulsus.bootstrap.build_agent_session import make_agent_session
from pulsus.execution.cancellation import Cancellation
from tests.benchmarks.agent_plain_loop import CountingModel, most_asked_tools, run_plain_loop
from tests.benchmarks.agent_questions import QUESTIONS, prepared_place
from tests.local_model import local_model
from tests.project import PULSUS

pytestmark = [pytest.mark.bench, pytest.mark.real_llm, pytest.mark.timeout(5400)]

ROOT = Path(__file__).parents[2]
ARMS = ("plain", "pulsus")
SHUFFLED = Random(20).sample(QUESTIONS, len(QUESTIONS))
"""In an order that does not depend on the kind of question: a run that stops early is a sample."""
READ_SECONDS = "1800"
PLAIN_TOOLS = 15


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_LLM_MODEL", "1.5b")
    folder = tmp_path / "project"
    subprocess.run((PULSUS, "init", str(folder)), check=True, capture_output=True)
    return folder


def settings(url):
    return {
        "model": {
            "base_url": url,
            "name": "local",
            "read_seconds": float(READ_SECONDS),
            "total_seconds": 3600.0,
        },
        # The estimate counts the schema of the answer, which this server keeps out of the prompt:
        # for the plain loop with all its tools that is two thirds of 8,192.
        "agent": {"temperature": 0.0, "run_seconds": 3600.0, "context_tokens": 16384},
    }


def ask_pulsus(made, question):
    """Return the answer, the calls and the model of one request in a session of its own."""
    models: list[CountingModel] = []
    events: list[Any] = []
    cancellation = Cancellation()

    def make_model():
        models.append(CountingModel(made.parts.make_model()))
        return models[-1]

    session = AgentSession(replace(made.parts, make_model=make_model))
    try:
        end = anyio.run(session.ask, question, AskOptions(events.append, cancellation)).end
    finally:
        cancellation.close()
    results = [each.fields for each in events if each.name == "agent_tool_result"]
    calls = [
        {"tool": one["tool"], "ok": one["ok"], "code": (one.get("error") or {}).get("code")}
        for one in results
    ]
    proposed = [dict(call.args) for each in models[0].proposals for call in each.calls]
    calls = [{**one, "args": args} for one, args in zip(calls, proposed, strict=False)]
    return end.summary if end.exit_status == 0 else "", calls, models[0]


def ask_plain(made, question):
    ids = {
        tool.tool.id: name
        for name, tool in made.parts.tools.by_name.items()
        if hasattr(tool, "tool")
    }
    asked = most_asked_tools(ROOT / "config/golden.jsonl", list(ids), PLAIN_TOOLS)
    catalogue = [ids[one] for one in asked]
    model = CountingModel(made.parts.make_model())
    end = run_plain_loop(made, model, question, catalogue, made.parts.max_turns)
    return end.text, end.calls, model


def test_twenty_questions_to_a_real_small_model(project, tmp_path, capsys, monkeypatch):
    arms = os.environ.get("AGENT_ARMS", ",".join(ARMS)).split(",")
    ends = time.monotonic() + float(os.environ.get("AGENT_SECONDS", "inf"))
    rows = []
    with local_model() as url, prepared_place(tmp_path / "reports") as place:
        monkeypatch.chdir(project)
        plain_url = os.environ.get("AGENT_PLAIN_URL", url)
        ask = {
            "plain": partial(ask_plain, session_of(project, plain_url)),
            "pulsus": partial(ask_pulsus, session_of(project, url)),
        }
        for questions in asked_together(alone=plain_url == url):
            if plain_url != url and time.monotonic() > ends:
                break
            rows += [ask_one(arm, ask[arm], each, place) for arm in arms for each in questions]
    for arm in arms:
        of_arm = [row for row in rows if row["arm"] == arm]
        with capsys.disabled():
            print(json.dumps(summary(arm, of_arm)))


def session_of(project, url):
    return make_agent_session(build(project, settings(url)), None)


def ask_one(arm, ask, question, place):
    """Return the row of one question to one arm, and append it to AGENT_ROWS."""
    began = time.monotonic()
    answer, calls, model = ask(question.words(place))
    worked = any(call["ok"] for call in calls)
    row = {
        "arm": arm,
        "question": question.name,
        "right": worked and question.truth(place)(answer),
        "worked": worked,
        "answer": answer,
        "calls": calls,
        "prompt_tokens": model.prompt_tokens(),
        "answer_tokens": model.answer_tokens(),
        "turns": len(model.proposals),
        "seconds": round(time.monotonic() - began, 1),
    }
    if path := os.environ.get("AGENT_ROWS"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return row


def asked_together(*, alone):
    """Return the questions that one arm gets before the other: all, if there is one server."""
    names = os.environ.get("AGENT_QUESTIONS", "")
    wanted = [each for each in SHUFFLED if not names or each.name in names.split(",")]
    return [wanted] if alone else [[each] for each in wanted]


def summary(arm, rows):
    """Return the figures of one arm."""
    refusals = Counter(call["code"] for row in rows for call in row["calls"] if call["code"])
    return {
        "arm": arm,
        "questions": len(rows),
        "right": sum(row["right"] for row in rows),
        "prompt_tokens": round(sum(row["prompt_tokens"] for row in rows) / len(rows)),
        "answer_tokens": round(sum(row["answer_tokens"] for row in rows) / len(rows)),
        "seconds": round(sum(row["seconds"] for row in rows)),
        "errors": dict(refusals),
        "wrong": [row["question"] for row in rows if not row["right"]],
    }
