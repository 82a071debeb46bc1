"""Twenty questions to a real 1.5B model: `pulsus agent` beside a plain loop.

Each row is printed as JSON and appended to AGENT_ROWS, if that names a file. AGENT_ARMS and
AGENT_QUESTIONS narrow a run. The server is that of `tests/local_model.py` with the model `1.5b`.
"""

import json
import os
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from pulsus.agent.agent_session import AgentSession, AskOptions
from pulsus.bootstrap import build
from pulsus.bootstrap.agent_session import make_agent_session
from pulsus.execution.cancellation import Cancellation
from tests.benchmarks.agent_plain_loop import CountingModel, most_asked_tools, run_plain_loop
from tests.benchmarks.agent_questions import QUESTIONS, prepared_place
from tests.local_model import local_model
from tests.project import PULSUS

pytestmark = [pytest.mark.bench, pytest.mark.real_llm, pytest.mark.timeout(5400)]

ROOT = Path(__file__).parents[2]
ARMS = ("plain", "pulsus")
"""One after the other, so that the server keeps the long prompt of the plain loop in its cache."""
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
        "agent": {"temperature": 0.0, "run_seconds": 3600.0},
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


def ask_plain(made, question, catalogue):
    model = CountingModel(made.parts.make_model())
    end = run_plain_loop(made, model, question, catalogue, made.parts.max_turns)
    return end.text, end.calls, model


def test_twenty_questions_to_a_real_small_model(project, tmp_path, capsys, monkeypatch):
    arms = os.environ.get("AGENT_ARMS", ",".join(ARMS)).split(",")
    wanted = (
        os.environ.get("AGENT_QUESTIONS", "").split(",")
        if "AGENT_QUESTIONS" in os.environ
        else None
    )
    rows = []
    with local_model() as url, prepared_place(tmp_path / "reports") as place:
        monkeypatch.chdir(project)
        app = build(project, settings(url))
        made = make_agent_session(app, None)
        tools = {
            tool.tool.id: name
            for name, tool in made.parts.tools.by_name.items()
            if hasattr(tool, "tool")
        }
        catalogue = [
            tools[one]
            for one in most_asked_tools(ROOT / "config/golden.jsonl", list(tools), PLAIN_TOOLS)
        ]
        for arm in arms:
            for question in QUESTIONS:
                if wanted is not None and question.name not in wanted:
                    continue
                text, began = question.words(place), time.monotonic()
                if arm == "plain":
                    answer, calls, model = ask_plain(made, text, catalogue)
                else:
                    answer, calls, model = ask_pulsus(made, text)
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
                rows.append(row)
                if path := os.environ.get("AGENT_ROWS"):
                    with Path(path).open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
        for arm in arms:
            of_arm = [row for row in rows if row["arm"] == arm]
            with capsys.disabled():
                print(json.dumps(summary(arm, of_arm)))


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
